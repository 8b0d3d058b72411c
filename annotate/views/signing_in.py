"""Coming in and going out: code or password, invitation, and the answer that was on its way meanwhile."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib.auth import login, logout
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotate.addresses import client_address
from annotate.exceptions import GoldpanelError, InviteNotValid
from annotate.forms import CodeForm, PasswordForm
from annotate.models import Membership, Person
from annotate.person_token import person_token
from annotate.services import people

BACKEND = "django.contrib.auth.backends.ModelBackend"

# A new code travels to the next page in a signed cookie: in the session it would lie readable in the database.
NEW_CODE_COOKIE = "new_code"
NEW_CODE_SECONDS = 300

# The forms whose words are carried through signing in.
KEPT_FORMS = frozenset({"work-submit", "work-revise", "work-skip"})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters("code", "password", "kept")
def sign_in(request: HttpRequest) -> HttpResponse:
    """One page for codes and for passwords. With `Accept: application/json` the answer is for a script."""
    if request.method != "POST":
        following = _safe_path(request, request.GET.get("next", ""))
        if request.user.is_authenticated and not wants_json(request):
            return redirect(following or "home")
        return render(request, "annotate/sign_in.html", {"next": following})
    try:
        person = _whoever_signs_in(request)
    except GoldpanelError as refusal:
        return _refused(request, str(refusal), refusal.http_status)
    # Rotates the session key and the CSRF token; whoever was signed in before leaves nothing behind.
    login(request, person, backend=BACKEND)
    if wants_json(request):
        answer = {"ok": True, "csrf_token": get_token(request), "person_token": person_token(person)}
        return JsonResponse(answer)
    if kept := _kept(request.POST.get("kept_path", ""), request.POST.get("kept", "")):
        return render(request, "annotate/send_again.html", {"kept": kept})
    return redirect(_safe_path(request, request.POST.get("next", "")) or "home")


@require_POST
@never_cache
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation. Looking at it takes nothing, so that a mail scanner that follows links uses none up."""
    try:
        if request.method != "POST":
            invite = people.open_invite(token=token)
            return render(
                request,
                "annotate/invite.html",
                {
                    "project_title": invite.project.title,
                    "description": invite.project.description,
                    "inviting_as": Membership.Role(invite.role).label,
                    "known_as": str(request.user) if request.user.is_authenticated else "",
                },
            )
        known = request.user if isinstance(request.user, Person) else None
        person, code = people.accept_invite(token=token, person=known)
    except InviteNotValid as refusal:
        return render(request, "annotate/invite.html", {"error": str(refusal)}, status=refusal.http_status)
    response = redirect("home")
    if code is not None:
        login(request, person, backend=BACKEND)
        response.set_signed_cookie(
            NEW_CODE_COOKIE,
            code,
            max_age=NEW_CODE_SECONDS,
            path=reverse("home"),
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
    return response


def wants_json(request: HttpRequest) -> bool:
    """Whether a script asks, which shows what happened by itself."""
    return "application/json" in request.headers.get("Accept", "")


def take_new_code(request: HttpRequest) -> str:
    """The code of a person who has just joined, for the one page that shows it; that page deletes the cookie."""
    return request.get_signed_cookie(NEW_CODE_COOKIE, default="", max_age=NEW_CODE_SECONDS) or ""


def sign_in_to_send(request: HttpRequest) -> HttpResponse:
    """A form arrived without a session, from a browser without scripts: its words are carried through signing in."""
    context = {"next": "", "kept": _kept(request.path, json.dumps(_posted(request)))}
    return render(request, "annotate/sign_in.html", context, status=401)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form from before the last sign-in. An answer is shown to be sent again, anything else to be loaded again."""
    kept = _kept(request.path, json.dumps(_posted(request))) if request.user.is_authenticated else None
    return render(request, "annotate/send_again.html", {"kept": kept}, status=403)


def _whoever_signs_in(request: HttpRequest) -> Person:
    address = client_address(
        request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""), settings.TRUSTED_PROXIES
    )
    if "username" in request.POST or "password" in request.POST:
        form: CodeForm | PasswordForm = PasswordForm(request.POST)
        sign_in_with = people.sign_in_with_password
    else:
        form = CodeForm(request.POST)
        sign_in_with = people.sign_in_with_code  # type: ignore[assignment]
    if not form.is_valid():
        refusal = GoldpanelError(" ".join(str(error) for errors in form.errors.values() for error in errors))
        refusal.http_status = 422
        raise refusal
    return sign_in_with(address=address, **form.cleaned_data)


def _refused(request: HttpRequest, message: str, status: int) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"ok": False, "error": message}, status=status)
    by_password = "username" in request.POST
    context: dict[str, Any] = {
        "next": _safe_path(request, request.POST.get("next", "")),
        "kept": _kept(request.POST.get("kept_path", ""), request.POST.get("kept", "")),
        "username": request.POST.get("username", ""),
        "password_error" if by_password else "code_error": message,
    }
    return render(request, "annotate/sign_in.html", context, status=status)


def _safe_path(request: HttpRequest, path: str) -> str:
    """A path of this site to go on to, else nothing."""
    is_ours = path.startswith("/") and url_has_allowed_host_and_scheme(
        path, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return path if is_ours else ""


def _posted(request: HttpRequest) -> list[tuple[str, str]]:
    return [(name, value) for name, values in request.POST.lists() for value in values if name != "csrfmiddlewaretoken"]


def _kept(path: str, posted: str) -> dict[str, Any] | None:
    """A form to be sent again: {path, fields, posted}; None unless it is an answer on its way to its own address."""
    try:
        if resolve(path).url_name not in KEPT_FORMS:
            return None
        fields = QueryDict(mutable=True)
        for name, value in json.loads(posted):
            fields.appendlist(str(name), str(value))
        # JSON may carry half a character, which no page can.
        fields.urlencode()
    except (Resolver404, ValueError, TypeError, RecursionError):
        return None
    return {
        "path": path,
        "posted": posted,
        "fields": [(name, value) for name, values in fields.lists() for value in values],
    }
