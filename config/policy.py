"""The content security policy, put into words once: it is the same for every page."""

from __future__ import annotations

from dataclasses import asdict

from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER = "Content-Security-Policy"


class SamePolicy(CSPMiddleware):
    """django-csp's, for a project where no view changes the policy and no page needs a nonce."""

    policy = ""

    def process_request(self, request: HttpRequest) -> None:
        pass

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not self.policy:
            self.policy = build_policy(**asdict(self.get_policy_parts(request, response)))
        response.headers.setdefault(HEADER, self.policy)
        return response
