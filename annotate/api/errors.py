"""Every refusal in one form: {error, message, fields, problems}. `http_status` is mapped here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import SuspiciousOperation
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from annotate.answers import AnswerInvalid, FieldSpecInvalid
from annotate.exceptions import GoldpanelError
from annotate.sources.errors import SourceError

# What the platform refuses with, each with its own http_status.
REFUSALS = (GoldpanelError, AnswerInvalid, FieldSpecInvalid, SourceError)

INVALID, NOT_FOUND = 422, 404


class TooLarge(APIException):
    status_code = 413
    default_code = "too_large"
    default_detail = "The request is larger than this installation takes."


def explain(refusal: Exception, context: dict[str, Any]) -> Response | None:
    """The response to an exception; None for a fault of ours, which stays one."""
    if isinstance(refusal, REFUSALS):
        return Response(_of_ours(refusal), status=refusal.http_status)
    if isinstance(refusal, SuspiciousOperation):
        # Too many fields or files in a form.
        refusal = ParseError("The request could not be read.")
    response = exception_handler(refusal, context)
    if response is None:
        return None
    if isinstance(refusal, ValidationError):
        fields = dict(_flat(response.data, ""))
        message = " ".join(f"{path}: {words}" if path else words for path, words in fields.items())
        response.status_code = INVALID
        response.data = {"error": "invalid", "message": message, "fields": fields}
    elif response.status_code == NOT_FOUND:
        # The same words for all: which row was missed would tell a stranger what exists.
        message = "There is no such thing, or it is not this token's to see."
        response.data = {"error": "not_found", "message": message}
    else:
        detail = response.data["detail"]
        response.data = {"error": detail.code, "message": str(detail)}
    return response


def _of_ours(refusal: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"error": _name(refusal), "message": str(refusal)}
    if isinstance(refusal, AnswerInvalid):
        body["fields"] = refusal.errors
    if problems := getattr(refusal, "problems", None):
        body["problems"] = problems
    if votes_hash := getattr(refusal, "votes_hash", ""):
        body["votes_hash"] = votes_hash
    return body


def _name(refusal: Exception) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(refusal).__name__).lower()


def _flat(detail: Any, path: str) -> Iterator[tuple[str, str]]:
    """(path of the field, words) of nested errors, such as ("fields[0].name", "This field is required.")."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            # Numbers stand for places in a list; errors of the whole have no name of their own.
            at = f"[{name}]" if isinstance(name, int) else f".{name}" if path else str(name)
            yield from _flat(inner, path if name in ("non_field_errors", "__all__") else f"{path}{at}")
    elif isinstance(detail, list) and any(isinstance(inner, dict | list) for inner in detail):
        for place, inner in enumerate(detail):
            yield from _flat(inner, f"{path}[{place}]")
    elif isinstance(detail, list):
        if detail:
            yield path, " ".join(str(words) for words in detail)
    else:
        yield path, str(detail)
