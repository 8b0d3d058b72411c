"""The home of a project, and making one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.exceptions import NameTaken
from annotate.models import Membership, Person, Stage
from annotate.project_forms import NewProjectForm, ProjectForm
from annotate.protocols import HumanPart, human_part
from annotate.services import assigning, needs, overview, projects
from annotate.services.counting import StageCounts
from annotate.services.protocols import protocol_title
from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in
from annotate.views.navigation import project_page


@require_safe
@signed_in
def project(request: PersonRequest, slug: str) -> HttpResponse:
    row = project_read_by(request.user, slug)
    page = project_page(row, request.user, "project")
    funnel = overview.funnel(row)
    days = overview.answers_per_day(row)
    context = page | {
        "facts": overview.facts(row),
        "protocol_title": protocol_title(row),
        "funnel": [{"row": one, "outcomes": _outcomes(one.counts)} for one in funnel],
        "today": days[-1].n_answers,
        "bars": _bars(days),
        "waiting": _waiting(request.user, funnel),
        "needs": needs.needs(row, funnel) if page["may_run"] else [],
    }
    return render(request, "annotate/project.html", context)


@require_POST
@signed_in
def project_leases(request: PersonRequest, slug: str) -> HttpResponse:
    """Give back the places of leases that ran out, where no scheduler does."""
    row = project_run_by(request.user, slug)
    n_back = sum(assigning.expire_leases(stage=stage) for stage in row.stages.all())
    said = ngettext("%(n)s place is free again.", "%(n)s places are free again.", n_back)
    messages.success(request, said % {"n": f"{n_back:,}"})
    return redirect("project", slug)


def _waiting(person: Person, funnel: list[overview.FunnelRow]) -> list[dict[str, Any]]:
    """What waits, role by role; is_mine: the reader may take it, and gets the way there."""
    mine = set(Stage.objects.workable_by(person).values_list("pk", flat=True)) if funnel else set()
    words = dict(Membership.Role.choices)
    return [
        {"what": one, "role": words.get(one.role, one.role), "is_mine": one.stage.pk in mine}
        for one in overview.waiting_for(funnel)
    ]


def _bars(days: list[overview.Day]) -> list[dict[str, Any]]:
    """One bar a day for partials/days.html, the highest 64 units high; a day with few answers stays visible."""
    most = max(day.n_answers for day in days)
    bars = []
    for n, day in enumerate(days):
        height = max(1, round(64 * day.n_answers / most)) if day.n_answers else 0
        place = {"x": 40 * n + 5, "middle": 40 * n + 20, "y": 66 - height, "height": height}
        bars.append({"day": day.date, "n_answers": day.n_answers} | place)
    return bars


def _outcomes(counts: StageCounts) -> list[dict[str, Any]]:
    """The segments of a stage's bar, in answers."""
    return [
        {"label": _("answered"), "count": counts.done, "kind": "is-people"},
        {"label": _("being answered"), "count": counts.active, "kind": "is-people-open"},
        {"label": _("to come"), "count": max(0, counts.waiting), "kind": "is-waiting"},
    ]


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def project_new(request: PersonRequest) -> HttpResponse:
    # Participants come to answer; whoever makes a project runs it and sees everything in it.
    if not request.user.is_staff:
        raise PermissionDenied
    # By name only: the pages of protocols are on the model side.
    protocol = human_part(request.GET.get("protocol", request.POST.get("protocol", "")))
    form = NewProjectForm(request.POST or None, initial=_first_values(protocol))
    if request.method == "POST" and form.is_valid():
        try:
            made = projects.create_project(by=request.user, **form.cleaned_data)
        except NameTaken as refusal:
            form.add_error("slug", str(refusal))
        else:
            return (
                redirect("project-protocol", made.slug, protocol.name) if protocol else redirect("project", made.slug)
            )
    context = {"form": form, "protocol": protocol}
    return render(request, "annotate/project_new.html", context, status=422 if form.is_bound else 200)


def _first_values(protocol: HumanPart | None) -> dict[str, Any]:
    return {"title": protocol.title, "current_date": protocol.current_date} if protocol else {}


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def project_settings(request: PersonRequest, slug: str) -> HttpResponse:
    row = project_run_by(request.user, slug)
    guidelines = row.guideline_versions.filter(stage=None).order_by("-number").first()
    stored = {name: getattr(row, name) for name in ProjectForm.base_fields if name != "guidelines"}
    form = ProjectForm(
        request.POST if request.method == "POST" else None,
        initial=stored | {"guidelines": guidelines.markdown if guidelines else ""},
    )
    if form.is_bound and form.is_valid():
        changed = dict(form.cleaned_data)
        markdown = changed.pop("guidelines")
        projects.change_project(project=row, by=request.user, **changed)
        if markdown or guidelines:
            projects.write_guidelines(project=row, by=request.user, markdown=markdown)
        messages.success(request, _("Saved."))
        return redirect("project", slug)
    context = project_page(row, request.user, "") | {"form": form, "guidelines": guidelines}
    return render(request, "annotate/project_settings.html", context, status=422 if form.is_bound else 200)
