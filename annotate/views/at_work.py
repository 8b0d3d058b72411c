"""What the pages where people work have in common: who may come in, and what is said to whom when it fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.functional import LazyObject
from django.views.decorators.vary import vary_on_headers

from annotate.desk import Held, held_by
from annotate.exceptions import OtherPersonSignedIn
from annotate.models import Person
from annotate.person_token import is_token_of
from annotate.views.signing_in import sign_in_to_send, wants_json

View = Callable[..., HttpResponse]

NEVER_KEPT = "max-age=0, no-cache, no-store, must-revalidate, private"


def is_by_script(request: HttpRequest) -> bool:
    """Whether the page's script asks and wants a fragment. As request.htmx, which reads all headers for this one."""
    return request.META.get("HTTP_HX_REQUEST") == "true"


def at_work(view: View) -> View:
    """For pages that hold what somebody is writing: never cached, never answered with a redirect that loses it."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return _signed_out(request)
        try:
            return view(request, *args, **kwargs)
        except OtherPersonSignedIn as refusal:
            # Neither the item nor the answer: they are not for whoever is signed in now. The page keeps the text.
            if wants_json(request):
                return JsonResponse({"error": "person", "message": str(refusal)}, status=refusal.http_status)
            return render(request, "annotate/other_person.html", status=refusal.http_status)

    return _never_kept(vary_on_headers("HX-Request", "Accept")(inner))


def _never_kept(view: View) -> View:
    """As never_cache, in a constant: the header is the same for every page."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        response.headers["Cache-Control"] = NEVER_KEPT
        return response

    return inner


def _signed_out(request: HttpRequest) -> HttpResponse:
    if request.headers.get("HX-Request") == "true" or wants_json(request):
        # The script asks for the code over the page and sends the same form again.
        return HttpResponse(status=401)
    if request.method == "POST":
        return sign_in_to_send(request)
    return redirect_to_login(request.get_full_path())


def signed_person(request: HttpRequest) -> Person:
    person = request.user
    assert isinstance(person, Person)  # at_work let nobody else in
    # Whoever stands behind `request.user`: each look at a column through it costs five times as much.
    return person._wrapped if isinstance(person, LazyObject) else person


def held_assignment(request: HttpRequest, token: str) -> Held:
    """The signed-in person's own assignment, if they are who opened the form. Raises Http404, OtherPersonSignedIn."""
    person = signed_person(request)
    sent = request.POST.get("person", "")
    if sent and not is_token_of(person, sent):
        raise OtherPersonSignedIn
    held = held_by(person=person, token=token)
    if held is None:
        raise Http404
    if request.method == "POST" and not sent:
        raise OtherPersonSignedIn
    return held
