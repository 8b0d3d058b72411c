"""My work: what I did today and before, my answers, and after a stage closed where they differ from the decision."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotate.exceptions import DecidedNotShown
from annotate.models import Membership, Stage
from annotate.services import days_of_work, decided, own_work
from annotate.views.doors import PersonRequest, own_stage, project_joined_by, signed_in
from annotate.views.navigation import project_page
from annotate.views.paging import row_before

DAYS = 31


@require_safe
@signed_in
def my_work(request: PersonRequest, slug: str) -> HttpResponse:
    project = project_joined_by(request.user, slug)
    role = Membership.objects.active().filter(project=project, person=request.user).values_list("role", flat=True)[0]
    days = days_of_work.days_of(project, request.user, most=DAYS)
    stages = own_work.stages_of(project, request.user, role)
    context = project_page(project, request.user, "my-work") | {
        "today": days_of_work.today_of(project, days),
        "days": days,
        "stages": [
            {"work": one, "why_not": _why_not_shown(one.stage), "may_take": role in one.stage.roles} for one in stages
        ],
    }
    return render(request, "annotate/my_work.html", context)


@require_safe
@signed_in
def my_answers(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """My answers in one stage, each with the way to change it while that is possible."""
    stage = own_stage(request.user, slug, stage_slug)
    project = stage.project
    answers, has_more = own_work.page_of_answers(stage, request.user, after=row_before(request))
    context = project_page(project, request.user, "my-work") | {
        "stage": stage,
        "answers": answers,
        "has_more": has_more,
        "last": answers[-1].pk if answers else 0,
        "is_first": not row_before(request),
        "may_change": stage.state != Stage.State.CLOSED,
    }
    return render(request, "annotate/my_answers.html", context)


@require_safe
@signed_in
def my_decided(request: PersonRequest, slug: str, stage_slug: str) -> HttpResponse:
    """My answers in a closed stage beside what was decided."""
    stage = own_stage(request.user, slug, stage_slug)
    project = stage.project
    context: dict[str, Any] = project_page(project, request.user, "my-work") | {"stage": stage}
    try:
        decided.check_shows_decided(stage)
    except DecidedNotShown as refusal:
        return render(
            request, "annotate/my_decided.html", context | {"why_not": str(refusal)}, status=refusal.http_status
        )
    captions = {"": _("All"), decided.DIFFERED: _("Differed"), decided.SAME: _("The same"), decided.SPLIT: _("Split")}
    only = request.GET.get("show", "")
    only = only if only in captions else ""
    after = row_before(request)
    verdicts = decided.verdicts_of(stage, request.user)
    compared, has_more = decided.page_of_compared(stage, verdicts, only=only, after=after)
    address = reverse("my-decided", args=[slug, stage_slug])
    context |= {
        "counts": decided.count_verdicts(verdicts),
        "compared": compared,
        "chips": [
            {
                "label": label,
                "url": f"{address}?{urlencode({'show': name})}" if name else address,
                "current": name == only,
            }
            for name, label in captions.items()
        ],
        "only": only,
        "next_url": f"{address}?{urlencode({'show': only, 'after': compared[-1].mine.pk})}" if has_more else "",
        "first_url": f"{address}?{urlencode({'show': only})}" if after else "",
    }
    return render(request, "annotate/my_decided.html", context)


def _why_not_shown(stage: Stage) -> str:
    """ "" where what was decided may be seen."""
    if stage.kind not in decided.VOTED:
        return _("nothing is voted on")
    if stage.state != Stage.State.CLOSED:
        return _("when the stage is closed")
    try:
        decided.check_shows_decided(stage)
    except DecidedNotShown as refusal:
        return str(refusal)
    return ""
