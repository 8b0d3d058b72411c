"""Requests that cannot be answered as they are: refused at the door, once for all pages, and so that it is heard."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.template.loader import render_to_string

Handler = Callable[[HttpRequest], HttpResponse]


class RefuseNul:
    """No address and no cookie has a NUL: PostgreSQL takes none in any text, and each look-up would be an error.

    Forms refuse it field by field, with words for whoever pasted one.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if carries_nul(request):
            return bad_request(request)
        return self.get_response(request)


class HearOut:
    """Read what is left of a form or an upload that was answered before it had come: a refusal must be heard.

    The web server closes a connection on which something is left unread, and from about 64 kB on the answer is often
    lost with it: a program whose token has expired would see a broken connection instead of 401.
    """

    MAX_BYTES = 16_000_000
    CHUNK = 65_536

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.META.get("CONTENT_LENGTH"):
            n_read = 0
            try:
                while n_read < self.MAX_BYTES and (chunk := request.read(self.CHUNK)):
                    n_read += len(chunk)
            except UnreadablePostError:
                pass  # nobody is there to hear
        return response


def carries_nul(request: HttpRequest) -> bool:
    # In a quoted cookie \000 is a NUL.
    return (
        "\x00" in request.path_info
        or "%00" in request.META.get("QUERY_STRING", "")
        or "\\000" in request.META.get("HTTP_COOKIE", "")
    )


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """The page for a request that cannot be read.

    Django's own checks the CSRF token and so reads the form once more: for a body in another encoding or above the
    limit it would fail for the very reason it is shown, and the connection would end without an answer.
    """
    return HttpResponse(render_to_string("400.html"), status=400)
