"""What a token's scopes open. Whose rows they are is decided by the doors, as on the pages."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

# For what any token may ask.
ANY = ""


class HasScope(BasePermission):
    """The token has the scope that the view names for the method; a method without one opens for nobody."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.auth is None:
            return False
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method.lower() not in view.http_method_names or not hasattr(view, method.lower()):
            return True  # 405 is said instead
        needed = view.scopes.get(method)
        if needed is None:
            return False
        self.message = f"This token lacks the scope “{needed}”."
        return needed == ANY or needed in request.auth.scopes
