"""What a log line may say, and how it is written.

A line names the route of a request, never its address; the type of an error and where it came from, never the values
in its message; a person by pseudonym. What is known to be secret is struck out of whatever is left.
"""

from __future__ import annotations

import json
import logging
import os
import re
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from config.env import PROJECT, SETTINGS

REQUESTS = "config.requests"
# What a record may carry into a line beside its message. Nothing else that is attached to it is written.
FIELDS = ("method", "route", "status", "duration_ms", "person")
# Errors whose messages hold names and reasons, but no values of anybody's data.
TELLING = {"AttributeError", "ImportError", "NameError", "OSError", "OperationalError"}
MAX_REASON = 300
# Shorter ones are no secret worth the name, and striking them out would mangle words.
MIN_SECRET = 8


def format_of(values: Mapping[str, Any]) -> str:
    """json or text, by the values of `read_settings`: what was asked for, or what the mode is for."""
    return values["GOLDPANEL_LOG_FORMAT"] or ("json" if values["GOLDPANEL_MODE"] == "production" else "text")


def configuration(log_format: str, level: str) -> dict[str, Any]:
    """Django's LOGGING: every line to stderr as json or text; `level` is that of our own loggers."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"route": {"()": "config.logs.RouteInsteadOfPath"}, "values": {"()": "config.logs.TypeOfError"}},
        "formatters": {
            "json": {"()": "config.logs.JsonLines"},
            "text": {"()": "config.logs.TextLines", "fmt": "{asctime} {levelname} {name} {message}", "style": "{"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": log_format,
                "filters": ["route", "values"],
            }
        },
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            **{name: {"level": level} for name in ("annotate", "evaluation", "config")},
            # A line for each request is for machines that read lines; at a terminal it buries what matters.
            REQUESTS: {"level": "INFO" if log_format == "json" else "WARNING"},
            # Django's own loggers mail tracebacks to admins unless told otherwise.
            "django": {"handlers": ["console"], "level": "WARNING", "propagate": False},
            # The development server writes whole addresses, queries and invitations included.
            "django.server": {"handlers": [], "level": "CRITICAL", "propagate": False},
            "_granian": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        },
    }


def route_of(request: Any) -> str:
    """The pattern that matched: `/join/<str:token>/`, not the token."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match else "(no such page)"


class RouteInsteadOfPath(logging.Filter):
    """Replace the path in Django's request records by the route that matched it.

    An invite link carries its secret in the path, and Django logs the path of every refused request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if request is not None and isinstance(record.args, tuple):
            route = route_of(request)
            path = getattr(request, "path", None)
            record.args = tuple(route if argument == path else argument for argument in record.args)
        return True


class TypeOfError(logging.Filter):
    """Replace errors among a record's arguments, and what libraries made of them, by the type of the error.

    The message of an error may quote what somebody wrote: a constraint's refusal holds the row.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "celery.app.trace" and isinstance(record.args, Mapping) and record.exc_info:
            kind = record.exc_info[0]
            record.args = {**record.args, "exc": kind.__name__ if kind else "error", "traceback": ""}
        elif record.name == "django.security.csrf" and isinstance(record.args, tuple):
            # "Referer checking failed - <address> does not match ...": the reason is enough.
            record.args = tuple(str(argument).partition(" - ")[0] for argument in record.args)
        elif record.name == "asyncio":
            # Its second line is the future, with the error's message.
            record.msg, record.args = record.getMessage().partition("\n")[0], None
        elif isinstance(record.args, tuple):
            record.args = tuple(_told(one) if isinstance(one, BaseException) else one for one in record.args)
        return True


class JsonLines(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, process, message, the FIELDS there are, and the error."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": struck_out(record.getMessage().strip()),
        }
        request: Any = getattr(record, "request", None)
        if hasattr(request, "method"):
            line |= {"method": request.method, "route": route_of(request)}
            if status := getattr(record, "status_code", None):
                line["status"] = status
        line |= {name: value for name in FIELDS if (value := getattr(record, name, None)) not in (None, "")}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = [{"type": _told(error), "at": list(_frames(error))} for error in _chain(record.exc_info[1])]
        # ASCII: a terminal or collector with another encoding loses no line.
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """For people at a terminal. Debug pages show everything anyway, so there the whole traceback is written, too."""

    def formatException(self, exc_info: Any) -> str:
        from django.conf import settings

        if settings.DEBUG:
            return super().formatException(exc_info)
        lines = []
        for error in _chain(exc_info[1]):
            lines += [_told(error), *(f"  {frame}" for frame in _frames(error))]
        return "\n".join(lines)

    def format(self, record: logging.LogRecord) -> str:
        return struck_out(super().format(record))


def struck_out(text: str) -> str:
    """The text with every secret of this installation replaced: for what a library may say of its own accord."""
    pattern = _secrets()
    return pattern.sub("[secret]", text) if pattern else text


@cache
def _secrets() -> re.Pattern[str] | None:
    from django.conf import settings

    found = {settings.SECRET_KEY, settings.CODE_KEY}
    for setting in SETTINGS:
        if setting.secret and (value := os.environ.get(setting.name, "")):
            parts = urlsplit(value) if "://" in value else None
            found |= {value} if parts is None else {parts.password or "", unquote(parts.password or "")}
    for name, value in os.environ.items():
        if name.startswith("GOLDPANEL_KEY_") and not name.endswith("_HOSTS"):
            found.add(value)
    long_ones = sorted((secret for secret in found if len(secret) >= MIN_SECRET), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, long_ones))) if long_ones else None


def _told(error: BaseException) -> str:
    """The error's type, and the first line of its message where that kind of message tells nothing of anybody."""
    kind = type(error)
    name = kind.__name__
    # By name: django.db and the drivers each have an OperationalError, and neither is to be imported for this.
    if TELLING & {base.__name__ for base in kind.__mro__} and str(error):
        return struck_out(f"{name}: {str(error).splitlines()[0][:MAX_REASON]}")
    return name


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from, as a traceback shows them."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _frames(error: BaseException) -> Iterator[str]:
    """Where it passed, outermost first: file, line and function, never the values."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        shown = path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else Path(*path.parts[-3:])
        yield f"{shown}:{line} {frame.f_code.co_name}"
