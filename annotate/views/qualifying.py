"""Where somebody stands with the qualification of a stage, in words, and the button that begins an attempt."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotate.desk import desk_at
from annotate.exceptions import OtherPersonSignedIn, WorkNotPossible
from annotate.models import Person
from annotate.person_token import is_token_of
from annotate.services import qualifying
from annotate.services.qualifying import Phase, Told
from annotate.views.at_work import at_work
from annotate.views.recruiting import keep_to_stage


@require_POST
@at_work
def qualify(request: HttpRequest, project: str, stage: str) -> HttpResponse:
    """Begin the next attempt; its first item is on the work page."""
    person = request.user
    assert isinstance(person, Person)  # at_work let nobody else in
    desk = desk_at(person=person, project=project, stage=stage)
    if desk is None or not desk.may_take:
        raise Http404
    keep_to_stage(request, desk)
    if not is_token_of(person, request.POST.get("person", "")):
        raise OtherPersonSignedIn
    try:
        qualifying.begin(stage=desk.stage, person=person, languages=desk.languages)
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    return redirect("work", project, stage)


def words_of(told: Told) -> dict[str, Any]:
    """For the context of the work page while nothing is handed out: what is so, and what comes next.

    begin: what stands on the button of the next attempt; "" without one.
    """
    rule = ngettext(
        "You answer {n} item first. To go on, {mark} must be right.",
        "You answer {n} items first. To go on, {mark} of them must be right.",
        told.n_items,
    ).format(n=f"{told.n_items:,}", mark=f"{told.mark:,}")
    result = _("{right} of {n} are right; {mark} are needed.").format(
        right=f"{told.n_right or 0:,}", n=f"{told.n_items:,}", mark=f"{told.mark:,}"
    )
    if told.phase == Phase.COUNTING:
        title = _("Your answers are being counted")
        text = _("It takes a few seconds. All of them are stored.")
        following, begin = _("This page goes on by itself."), ""
    elif told.phase == Phase.FAILED and told.n_left:
        title, text = _("Not enough were right this time"), result
        following = _("One attempt is left, with other items. Read the guidelines again before you begin.")
        begin = _("Begin the second attempt")
    elif told.phase == Phase.FAILED:
        title, text = _("This stage stays closed to you"), result
        following, begin = _("No attempt is left. Thank you for your time: what you answered is kept."), ""
    else:
        title, text = _("Before this stage"), rule
        following = _("There are two attempts. Afterwards you hear how many were right, not which.")
        begin = _("Begin")
    return {"kind": "not_qualified", "title": title, "text": text, "next": following, "begin": begin}
