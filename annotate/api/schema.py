"""The OpenAPI document: made of the views themselves, once in the life of a process."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from annotate.api.permissions import ANY


class Operation(AutoSchema):
    """An operation is called after its view, and says which scope it needs."""

    def get_operation_id(self) -> str:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self.view).__name__).lower()
        return f"{self.method.lower()}_{name}"

    def get_description(self) -> str:
        scope = self.view.scopes.get(self.method, ANY)
        words = f"Needs the scope `{scope}`." if scope else "Any token may ask."
        return f"{super().get_description().strip()}\n\n{words}".strip()


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "annotate.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token of /account/tokens/: `Bearer gp_...`."}


def add_errors(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Whatever is no success has the form of errors.Error."""
    text = {"type": "string"}
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = {
        "type": "object",
        "description": "Why a request was refused; nothing was changed.",
        "properties": {
            "error": text | {"description": "The name of the rule, for programs."},
            "message": text | {"description": "For people."},
            "fields": {
                "type": "object",
                "additionalProperties": text,
                "description": "What was wrong with each field, by its path.",
            },
            "problems": {
                "type": "array",
                "items": {"type": "object", "additionalProperties": {}},
                "description": "What was wrong in a file, by line and column.",
            },
            "votes_hash": text | {"description": "Of the votes as they are now, where a decision was made on others."},
        },
        "required": ["error", "message"],
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["default"] = {"description": "Refused.", "content": content}
    _drop_marks(result)
    return result


def _drop_marks(node: Any) -> None:
    """The generator's own marks of enums, of use to a hook that is not used here."""
    if isinstance(node, dict):
        node.pop("x-spec-enum-id", None)
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _drop_marks(inner)


@cache
def document() -> bytes:
    # About a second of work: never for each request of whoever asks.
    from drf_spectacular.generators import SchemaGenerator
    from drf_spectacular.renderers import OpenApiJsonRenderer

    rendered: bytes = OpenApiJsonRenderer().render(SchemaGenerator().get_schema(request=None, public=True))
    return rendered


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """For everybody: it says what there is for those who have a token, and nothing of what is stored."""
    return HttpResponse(document(), content_type="application/vnd.oai.openapi+json")
