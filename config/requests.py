"""A line in the log for each request: method, route, status, duration, and the pseudonym of who asked."""

from __future__ import annotations

import logging
import time

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject, empty

from config.logs import REQUESTS, route_of

logger = logging.getLogger(REQUESTS)


class LoggedRequests(WSGIHandler):
    """Django's handler, which notes how long each answer took. No middleware: those cost a call for every layer."""

    def get_response(self, request: HttpRequest) -> HttpResponseBase:  # type: ignore[override]  # the stubs are narrower
        begun = time.perf_counter()
        response = super().get_response(request)
        if logger.isEnabledFor(logging.INFO):
            # Of a streamed answer this is the time to its beginning.
            log_request(request, response.status_code, time.perf_counter() - begun)
        return response


def log_request(request: HttpRequest, status: int, seconds: float) -> None:
    route = route_of(request)
    if request.resolver_match is None and request.path_info.startswith(settings.STATIC_URL):
        route = f"{settings.STATIC_URL}*"
    fields = {"route": route, "status": status, "duration_ms": round(seconds * 1000, 1), "person": _pseudonym(request)}
    logger.info("%s %s %d", request.method, route, status, extra=fields | {"method": request.method})


def _pseudonym(request: HttpRequest) -> str:
    """Who asked, if that was looked up for the answer: the log asks the database nothing."""
    person = getattr(request, "user", None)
    if isinstance(person, SimpleLazyObject) and person._wrapped is empty:  # type: ignore[attr-defined]
        return ""
    return getattr(person, "pseudonym", "")
