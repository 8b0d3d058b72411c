"""What a log line may say: the route of a request, never its address."""

from __future__ import annotations

import logging


class RouteInsteadOfPath(logging.Filter):
    """Replace the path in Django's request records by the route that matched it.

    An invite link carries its secret in the path, and Django logs the path of every refused request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if request is not None and isinstance(record.args, tuple):
            match = getattr(request, "resolver_match", None)
            route = f"/{match.route}" if match else "(no such page)"
            path = getattr(request, "path", None)
            record.args = tuple(route if argument == path else argument for argument in record.args)
        return True
