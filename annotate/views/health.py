"""What a load balancer and whoever restarts processes ask; for everybody, and it tells nothing that names anybody."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.services.health import Part, examine


@require_safe
@never_cache
def live(request: HttpRequest) -> HttpResponse:
    """This process answers. Nothing else is asked: a database that is away is no reason to restart the web server."""
    return JsonResponse({"status": "live"})


@require_safe
@never_cache
def ready(request: HttpRequest) -> HttpResponse:
    """503 while no request could be answered; "degraded" where only the work behind the pages waits."""
    health = examine()
    status = "not ready" if not health.is_ready else "degraded" if health.is_degraded else "ready"
    parts = {part.name: _described(part) for part in health.parts}
    return JsonResponse({"status": status, "parts": parts}, status=200 if health.is_ready else 503)


def _described(part: Part) -> dict[str, Any]:
    told: dict[str, Any] = {"state": part.state}
    if part.heard_seconds_ago is not None:
        told["heard_seconds_ago"] = part.heard_seconds_ago
    return told
