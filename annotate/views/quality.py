"""How people work: checks, signals, attempts to qualify and shares of the work, and the decisions that stand."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.answers import fields_from_json, get_field_type
from annotate.checks_forms import DecideForm, FloorForm, ReasonForm
from annotate.exceptions import WorkNotPossible
from annotate.models import Annotation, Exclusion, Person, Project, Stage
from annotate.services import excluding, qualifying, quality_page
from annotate.services.flags import history_of_flag
from annotate.shown import shown_item
from annotate.views.doors import PersonRequest, project_read_by, project_run_by, signed_in
from annotate.views.files import csv_file
from annotate.views.navigation import project_page


@require_safe
@signed_in
def quality(request: PersonRequest, slug: str) -> HttpResponse:
    """The people of one stage side by side, the items whose answer is known, and who did how much."""
    project = project_read_by(request.user, slug)
    stages = quality_page.stages_with_people(project)
    stage = _stage(request, stages)
    contributed, shares = quality_page.contribution_rows(project, stage)
    curve = contributed.curve
    floor = FloorForm(request.GET).seconds()
    found = quality_page.stage_quality(stage, floor=floor) if stage else None
    page = project_page(project, request.user, "people")
    context = page | {
        "stages": stages,
        "stage": stage,
        "found": found,
        "floor_chosen": floor,
        "rows": found.rows[: quality_page.PAGE] if found else [],
        "n_rows": len(found.rows) if found else 0,
        "curve": curve,
        "n_not_counted": contributed.n_left_out,
        "shares": shares[:10],
        "points": _points(curve.curve),
        # Exclusions are for admins: they name who decided.
        "left_out": quality_page.left_out(project) if page["may_run"] else [],
        "reason_form": ReasonForm(),
    }
    return render(request, "annotate/quality.html", context)


@require_safe
@signed_in
def signals_csv(request: PersonRequest, slug: str) -> StreamingHttpResponse:
    project = project_read_by(request.user, slug)
    stage = _stage(request, quality_page.stages_with_people(project))
    if stage is None:
        raise Http404
    found = quality_page.stage_quality(stage, floor=FloorForm(request.GET).seconds())
    return csv_file(f"{slug}-{stage.slug}-signals.csv", quality_page.signal_rows(found))


@require_safe
@signed_in
def contribution_csv(request: PersonRequest, slug: str) -> StreamingHttpResponse:
    project = project_read_by(request.user, slug)
    stage = _stage(request, quality_page.stages_with_people(project))
    _, shares = quality_page.contribution_rows(project, stage)
    head = ["project", "stage", "rank", "person", "answers", "share_so_far"]
    rows = ([slug, stage.slug if stage else "", rank, *row] for rank, row in enumerate(shares, start=1))
    return csv_file(f"{slug}-contribution.csv", [head, *rows])


@require_POST
@signed_in
def qualification_decide(request: PersonRequest, slug: str, stage_slug: str, pseudonym: str) -> HttpResponse:
    """Let somebody pass, or give them their attempts anew; with a reason."""
    project = project_run_by(request.user, slug)
    stage = get_object_or_404(Stage.objects.run_by(request.user), project=project, slug=stage_slug)
    person = get_object_or_404(Person.objects.filter(memberships__project=project), pseudonym=pseudonym)
    form = ReasonForm(request.POST)
    back = f"{reverse('quality', args=[slug])}?stage={stage_slug}"
    if not form.is_valid():
        messages.error(request, _("Nothing was decided: give a reason."))
        return redirect(back)
    reason = form.cleaned_data["reason"]
    try:
        if request.POST.get("step") == "pass":
            qualifying.let_pass(stage=stage, person=person, by=request.user, reason=reason)
            messages.success(request, _("The stage is open to {person} now.").format(person=pseudonym))
        else:
            n = qualifying.set_aside(stage=stage, person=person, by=request.user, reason=reason)
            words = ngettext("{n} attempt is set aside.", "{n} attempts are set aside.", n)
            messages.success(request, words.format(n=n))
    except WorkNotPossible as refusal:
        messages.error(request, str(refusal))
    return redirect(back)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def answer(request: PersonRequest, slug: str, annotation_id: int) -> HttpResponse:
    """One answer with what is known of it; POST leaves it out of every figure."""
    project = project_run_by(request.user, slug)
    rows = Annotation.objects.run_by(request.user).filter(assignment__stage__project=project)
    found: Annotation = get_object_or_404(
        rows.select_related(
            "stage_version", "assignment__person", "assignment__stage", "assignment__stage_item__revision__item"
        ),
        pk=annotation_id,
    )
    form = DecideForm(request.POST or None)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            made = excluding.exclude_annotation(annotation=found, by=request.user, **form.cleaned_data)
            messages.success(request, words_of_exclusion(made))
            return redirect("answer", slug, annotation_id)
        status = 422
    return render(request, "annotate/answer.html", _answer_context(request, project, found, form), status=status)


def words_of_exclusion(made: Exclusion) -> str:
    """What a decision did, for the page that follows it."""
    said = _("Excluded. The votes on the items concerned are counted again.")
    n = made.freed_places.count()
    if not made.collects_again:
        return said
    freed = ngettext(
        "{n} place is free, and others are asked.", "{n} places are free, and others are asked.", n
    ).format(n=f"{n:,}")
    return f"{said} {freed}"


def words_of_lifting(lifted: Exclusion) -> str:
    """What became of the places that a lifted decision had freed."""
    said = _("Lifted. The answers count again.")
    returned = list(lifted.freed_places.values_list("has_returned", flat=True))
    n_taken = returned.count(False)
    if not n_taken:
        return said
    n_back = returned.count(True)
    return ngettext(
        "Lifted. {back} of {all} answers count again; the place of {n} was taken by somebody else meanwhile, and it is "
        "kept as surplus.",
        "Lifted. {back} of {all} answers count again; the places of {n} were taken by others meanwhile, and they are "
        "kept as surplus.",
        n_taken,
    ).format(back=f"{n_back:,}", all=f"{n_back + n_taken:,}", n=f"{n_taken:,}")


def _answer_context(request: PersonRequest, project: Project, found: Annotation, form: DecideForm) -> dict[str, Any]:
    assignment = found.assignment
    revision = assignment.stage_item.revision
    fields = fields_from_json(found.stage_version.fields)
    settlements = history_of_flag(found) if found.is_flagged else []
    exclusions = Exclusion.objects.of_answer(found).select_related("decided_by", "lifted_by")
    return project_page(project, request.user, "people") | {
        "annotation": found,
        "assignment": assignment,
        "stage": assignment.stage,
        "item": shown_item(
            external_id=revision.item.external_id,
            language=revision.language,
            content=revision.content,
            shown_keys=found.stage_version.shown_keys,
        ),
        "values": [
            (spec.caption, get_field_type(spec.type).in_words(found.answer[spec.name], spec))
            for spec in fields
            if found.answer.get(spec.name) is not None
        ],
        "settlements": settlements,
        "is_flag_settled": any(one.reopened_at is None for one in settlements),
        "exclusions": exclusions.order_by("-decided_at"),
        "is_excluded": any(one.lifted_at is None for one in exclusions),
        "form": form,
    }


def _stage(request: PersonRequest, stages: list[Stage]) -> Stage | None:
    """The one that the address names, else the first."""
    asked = request.GET.get("stage")
    if asked is None:
        return stages[0] if stages else None
    found = next((stage for stage in stages if stage.slug == asked), None)
    if found is None:
        raise Http404
    return found


def _points(curve: tuple[float, ...]) -> str:
    """The curve as an SVG polyline in a square of 100, with equal steps for people from left to right."""
    n = len(curve) - 1
    if n < 1:
        return ""
    # A thousand people need no thousand points.
    step = max(1, n // 200)
    places = [*range(0, n, step), n]
    return " ".join(f"{100 * place / n:.2f},{100 - 100 * curve[place]:.2f}" for place in places)
