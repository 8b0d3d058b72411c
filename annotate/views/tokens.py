"""The API tokens of whoever is signed in: made, shown once, revoked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate.exceptions import TokenNotPossible
from annotate.models import ApiToken
from annotate.services import tokens
from annotate.token_forms import TokenForm
from annotate.views.doors import PersonRequest, signed_in
from annotate.wording import _


@require_safe
@signed_in
def token_list(request: PersonRequest) -> HttpResponse:
    return _page(request)


@require_POST
@signed_in
def token_new(request: PersonRequest) -> HttpResponse:
    """Make a token. It stands in this one response and nowhere else."""
    form = TokenForm(request.POST, person=request.user)
    if not form.is_valid():
        return _page(request, status=422, form=form)
    try:
        token, text = tokens.make_token(person=request.user, **form.cleaned_data)
    except TokenNotPossible as refusal:
        form.add_error(None, str(refusal))
        return _page(request, status=refusal.http_status, form=form)
    return _page(request, new_token=token, new_text=text)


@require_POST
@signed_in
def token_revoke(request: PersonRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(ApiToken.objects.held_by(request.user), pk=token_id)
    tokens.revoke_token(token=token, by=request.user)
    messages.success(request, _("Revoked: it opens nothing any more."))
    return redirect("tokens")


def _page(request: PersonRequest, *, status: int = 200, **shown: Any) -> HttpResponse:
    context: dict[str, Any] = {
        "tokens": ApiToken.objects.held_by(request.user).live().order_by("-pk"),
        "form": TokenForm(person=request.user),
    }
    return render(request, "annotate/tokens.html", context | shown, status=status)
