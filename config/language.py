"""Which language a page speaks: the one chosen in this browser, else the first of its own that there is."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

# What programs read is the same wherever they stand.
FOR_PROGRAMS = ("/api/", "/health/", "/metrics")


class PageLanguage:
    """Django's own middleware, without addresses that carry a language and without languages for programs.

    What is made outside of a request (files, reports, archives, the log) is made in English.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(FOR_PROGRAMS):
            return self.get_response(request)
        language = translation.get_language_from_request(request)
        if language == settings.LANGUAGE_CODE:
            response = self.get_response(request)
        else:
            with translation.override(language):
                response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response
