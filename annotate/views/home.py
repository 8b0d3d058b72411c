"""Where everybody lands: the stages I work on, the projects I read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from annotate.models import Membership, Person, Project, Stage
from annotate.querysets import READING_ROLES
from annotate.services.counting import StageCounts, person_counts, progress_of, stage_counts
from annotate.services.questions import n_unread_by_project
from annotate.services.submitting import DECIDED
from annotate.views.doors import signed_in
from annotate.views.navigation import WORKING_ROLES
from annotate.views.signing_in import NEW_CODE_COOKIE, take_new_code

# Where what waits came of other people's work.
JUDGING = (Stage.Kind.ADJUDICATE, Stage.Kind.REVIEW, Stage.Kind.AUDIT)


@require_safe
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    person = request.user
    assert isinstance(person, Person)
    context = {
        "pseudonym": "" if person.is_staff else person.pseudonym,
        "new_code": take_new_code(request),
        "my_stages": _my_stages(person),
        "my_records": _my_records(person),
        "my_projects": _my_projects(person),
    }
    response = render(request, "annotate/home.html", context)
    if NEW_CODE_COOKIE in request.COOKIES:
        response.delete_cookie(NEW_CODE_COOKIE, path=reverse("home"), samesite="Lax")
    return response


def _my_stages(person: Person) -> list[dict[str, object]]:
    """Stages that hand something out to this person, with mine and everyone's progress apart."""
    rows = Stage.objects.workable_by(person).select_related("project").order_by("project__title", "project", "position")
    stages = list(rows)
    everyone, mine = stage_counts(stages), person_counts(person, stages)
    shown: list[dict[str, object]] = []
    for stage in stages:
        progress = progress_of(everyone[stage.pk], mine[stage.pk], check_every=stage.check_every)
        is_done = progress.mine_done > 0 and progress.mine_done == progress.mine_total
        shown.append(
            {
                "title": stage.title,
                "project_title": stage.project.title,
                "url": reverse("work", args=[stage.project.slug, stage.slug]),
                "state": stage.state,
                "note": _note(stage, everyone[stage.pk]),
                "progress": progress,
                "may_go_on": stage.state == Stage.State.OPEN and not is_done,
            }
        )
    # What there is to do stands first, and the first of it has the button that draws the eye.
    return sorted(shown, key=lambda one: not one["may_go_on"])


def _my_records(person: Person) -> list[dict[str, object]]:
    """Projects in which the person works: what they did there, also in stages that are closed, and what they asked."""
    rows = Membership.objects.active().filter(person=person, role__in=WORKING_ROLES).select_related("project")
    unread = n_unread_by_project(person)
    return [
        {
            "title": row.project.title,
            "url": reverse("my-work", args=[row.project.slug]),
            "questions_url": reverse("my-questions", args=[row.project.slug]),
            "n_unread": unread.get(row.project_id, 0),
        }
        for row in rows.order_by("project__title", "project")
    ]


def _note(stage: Stage, counts: StageCounts) -> str:
    if stage.state == Stage.State.OPEN and counts.n_short == 0:
        if stage.kind in DECIDED:
            return _("Nothing waits for a decision at the moment.")
        return _("Every item has the answers it needs.")
    if stage.state == Stage.State.OPEN and stage.kind in JUDGING:
        # What others could not settle: how much of it there is says whether it is worth an evening.
        words = ngettext("%(n)s item waits for you.", "%(n)s items wait for you.", counts.n_short)
        return words % {"n": f"{counts.n_short:,}"}
    return ""


def _my_projects(person: Person) -> list[dict[str, object]]:
    projects = list(Project.objects.visible_to(person).order_by("title", "pk").prefetch_related("stages"))
    memberships = Membership.objects.active().filter(person=person, role__in=READING_ROLES)
    roles = {membership.project_id: membership.get_role_display() for membership in memberships}
    return [
        {
            "title": project.title,
            "url": reverse("project", args=[project.slug]),
            "role": roles[project.pk],
            "summary": _summary(list(project.stages.all())) + (_(", sample data") if project.is_sample else ""),
        }
        for project in projects
    ]


def _summary(stages: list[Stage]) -> str:
    if not stages:
        return _("no stages yet")
    n_open = sum(stage.state == Stage.State.OPEN for stage in stages)
    words = ngettext("%(n)s stage, %(n_open)s open", "%(n)s stages, %(n_open)s open", len(stages))
    return words % {"n": len(stages), "n_open": n_open}
