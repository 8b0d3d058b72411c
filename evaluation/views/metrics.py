"""The figures of this installation for a monitoring server, which shows a token; without one set there is no page."""

from __future__ import annotations

import logging

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.metrics import CONTENT_TYPE, exposition
from evaluation.services.metrics import measure

logger = logging.getLogger(__name__)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    if not settings.METRICS_TOKEN:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        return HttpResponse(exposition(measure()), content_type=CONTENT_TYPE)
    except (DatabaseError, InterfaceError) as problem:
        logger.error("No metrics, the database does not answer: %s", problem)
        return HttpResponse("The database does not answer.\n", content_type="text/plain", status=503)
