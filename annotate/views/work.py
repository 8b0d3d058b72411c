"""The page where people work: the item they hold, their answer, and the next item."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.answers import AnswerInvalid, FieldSpec, fields_for_item, get_field_type, readings
from annotate.claim_sql import MOST_OF_A_ROOT
from annotate.desk import Desk, desk_at, form_seen, guidelines_seen
from annotate.exceptions import (
    AssignmentNotOpen,
    MembershipPaused,
    StageNotOpen,
    StaleDraft,
    VotesChanged,
)
from annotate.forms import AnswerForm, SkipForm
from annotate.models import Annotation, Assignment, Stage, StageItem, StageVersion
from annotate.person_token import person_token
from annotate.services import assigning, counting, hinting, submitting
from annotate.services.assigning import Left, NothingLeft
from annotate.services.counting import PersonCounts
from annotate.services.qualifying import Phase, told_to
from annotate.services.qualifying import progress_of as qualification_progress
from annotate.services.quality import own_checks
from annotate.services.questions import unread_answers
from annotate.services.showing import given_to
from annotate.shown import ShownItem, shown_item
from annotate.templatetags.content import kind_of
from annotate.views import adjudication, audit, fresh_item, judging, recruiting, review
from annotate.views.at_work import at_work, held_assignment, is_by_script, signed_person
from annotate.views.guidelines import guidelines_beside
from annotate.views.qualifying import words_of
from annotate.views.sheets import Sheet
from annotate.wording import said

SUMMARY_LENGTH = 60

# Kinds of stages whose page has more than an item and a form.
SHEETS: dict[str, Sheet] = {
    Stage.Kind.ADJUDICATE: adjudication.SHEET,
    Stage.Kind.REVIEW: review.SHEET,
    Stage.Kind.JUDGE: judging.SHEET,
    Stage.Kind.AUDIT: audit.SHEET,
}

# Stands for an assignment's token, in which no colon occurs.
ANY_TOKEN = ":token:"


@require_safe
@at_work
def work(request: HttpRequest, project: str, stage: str) -> HttpResponse:
    """The item in hand, or the next one. Asking again, or from a second tab, gives the same item."""
    desk = desk_at(person=signed_person(request), project=project, stage=stage)
    if desk is None or not desk.may_take:
        raise Http404
    recruiting.keep_to_stage(request, desk)
    return _page(request, desk, _next(desk))


@require_POST
@at_work
def submit(request: HttpRequest, token: str) -> HttpResponse:
    """Store the answer; the response that acknowledges it carries the next item."""
    assignment, seconds, desk = held_assignment(request, token)
    version = _version_seen(request, desk)
    form = _form(request, assignment, version)
    if not form.is_valid() or form.is_look:
        status = 200 if form.is_look and is_by_script(request) else 422
        return _page(request, desk, assignment, version=version, form=form, status=status)
    guidelines = _guidelines_seen(request, desk)
    stored = {
        "assignment": assignment,
        "answer": form.answer,
        "client_key": form.cleaned_data["client_key"],
        "stage_version": version,
        "circumstances": form.circumstances(guideline_version_id=guidelines, held_seconds=seconds),
    }
    annotation: Annotation | None
    mine: PersonCounts | None
    try:
        if (sheet := SHEETS.get(desk.stage.kind)) and sheet.store:
            annotation, mine = sheet.store(form, stored, False), None
            following = _next(desk)
        elif desk.may_take:
            done = submitting.submit_and_claim_next(**stored, languages=desk.languages, standing=desk.standing)
            annotation, following, mine = done.annotation, done.next, done.mine
            if done.is_another:
                return _answered_before(request, desk, assignment, version, form, annotation)
        else:
            # Somebody whose membership was paused meanwhile: what they did is kept, nothing more is handed out.
            annotation, following, mine = submitting.submit_annotation(**stored), NothingLeft(Left.PAUSED), None
    except AnswerInvalid as refusal:
        form.field_errors = refusal.errors
        return _page(request, desk, assignment, version=version, form=form, status=refusal.http_status)
    except AssignmentNotOpen as refusal:
        form.add_error(None, str(refusal))
        return _page(request, desk, assignment, version=version, form=form, status=refusal.http_status, is_open=False)
    except VotesChanged as refusal:
        form.add_error(None, str(refusal))
        return _page(request, desk, assignment, version=version, form=form, status=refusal.http_status)
    return _page(request, desk, following, last=annotation, mine=mine)


@require_http_methods(["GET", "HEAD", "POST"])
@at_work
def revise(request: HttpRequest, token: str) -> HttpResponse:
    """Change an answer that was given: GET shows it in its form, POST stores it and goes on."""
    assignment, _, desk = held_assignment(request, token)
    given = _current(assignment)
    if request.method != "POST":
        if desk.seat is None:
            # Whose membership is paused sees nothing of the project; an answer on its way is told why it stays.
            raise Http404
        version = given.stage_version
        return _page(request, desk, assignment, version=version, revising=given)
    version = _version_seen(request, desk)
    form = _form(request, assignment, version)
    if not form.is_valid() or form.is_look:
        status = 200 if form.is_look and is_by_script(request) else 422
        return _page(request, desk, assignment, version=version, form=form, revising=given, status=status)
    stored = {
        "assignment": assignment,
        "answer": form.answer,
        "client_key": form.cleaned_data["client_key"],
        "stage_version": version,
        "circumstances": form.circumstances(guideline_version_id=_guidelines_seen(request, desk)),
    }
    try:
        if desk.seat is None:
            raise MembershipPaused
        if (sheet := SHEETS.get(desk.stage.kind)) and sheet.store:
            annotation = sheet.store(form, stored, True)
        else:
            annotation = submitting.revise_annotation(**stored)
    except AnswerInvalid as refusal:
        form.field_errors = refusal.errors
        status = refusal.http_status
        return _page(request, desk, assignment, version=version, form=form, revising=given, status=status)
    except (AssignmentNotOpen, MembershipPaused, StageNotOpen, VotesChanged) as refusal:
        form.add_error(None, str(refusal))
        status = refusal.http_status
        return _page(request, desk, assignment, version=version, form=form, revising=given, status=status)
    return _page(request, desk, _next(desk), last=annotation)


@require_POST
@at_work
def skip(request: HttpRequest, token: str) -> HttpResponse:
    """Give the item back with a reason; the response carries the next one."""
    assignment, _, desk = held_assignment(request, token)
    form = SkipForm(request.POST)
    if not form.is_valid():
        problem = " ".join(said(str(error)) for errors in form.errors.values() for error in errors)
        return _page(request, desk, assignment, problem=problem, status=422)
    try:
        if desk.may_take:
            done = submitting.skip_and_claim_next(
                assignment=assignment, languages=desk.languages, standing=desk.standing, **form.cleaned_data
            )
            following, mine = done.next, done.mine
        else:
            submitting.skip_assignment(assignment=assignment, **form.cleaned_data)
            following, mine = NothingLeft(Left.PAUSED), None
    except AssignmentNotOpen as refusal:
        return _page(request, desk, assignment, problem=str(refusal), status=refusal.http_status, is_open=False)
    return _page(request, desk, following, mine=mine)


@require_POST
@at_work
def draft(request: HttpRequest, token: str) -> HttpResponse:
    """Autosave, for the page's script. 409 is quiet: the words are stored elsewhere, newer."""
    assignment, _, desk = held_assignment(request, token)
    version = _version_seen(request, desk)
    form = _form(request, assignment, version)
    if not form.is_valid():
        fields = {name: said(error) for name, error in form.field_errors.items()}
        return JsonResponse({"error": "invalid", "fields": fields}, status=422)
    version_sent = form.cleaned_data["draft_version"] or 0
    try:
        submitting.save_draft(assignment=assignment, draft=form.draft(), version=version_sent)
    except StaleDraft as refusal:
        return JsonResponse({"error": "stale", "message": said(str(refusal))}, status=refusal.http_status)
    read = {name: said(reading) for name, reading in readings(form.specs, form.answer).items()}
    return JsonResponse({"version": version_sent, "readings": read})


@require_POST
@at_work
def hints(request: HttpRequest, token: str) -> HttpResponse:
    """What the author might look at again, for the page's script, while they type. Nothing is stored."""
    assignment, _, desk = held_assignment(request, token)
    version = _version_seen(request, desk)
    fields = submitting.fields_asked(assignment, version)
    if not hinting.gives_hints(desk.stage, fields):
        raise Http404
    form = AnswerForm(request.POST, fields=fields)
    form.is_valid()  # what cannot be read has no hints; the draft says so
    typed = form.answer | form.typed
    told = hinting.hints_for(assignment, fields, typed)
    found = [dataclasses.asdict(hint) | {"text": said(hint.text)} for hint in told]
    return JsonResponse({"hints": found})


@require_POST
@at_work
def renew(request: HttpRequest, token: str) -> HttpResponse:
    """A sign of work: the lease runs from now. 409 where the place is gone."""
    assignment = held_assignment(request, token).assignment
    return HttpResponse(status=204 if assigning.renew_lease(assignment=assignment) else 409)


def _answered_before(
    request: HttpRequest,
    desk: Desk,
    assignment: Assignment,
    version: StageVersion,
    form: AnswerForm,
    given: Annotation | None,
) -> HttpResponse:
    """Other words than those that count, from a second tab: whether they shall count instead is the person's to say."""
    assert given is not None
    counts = _summary(given.stage_version.specs, given.answer)
    problem = _(
        "You have answered this item before, in another tab: “%(answer)s”. What you wrote here is not stored yet."
    )
    form.add_error(None, problem % {"answer": counts})
    return _page(request, desk, assignment, version=version, form=form, revising=given, status=409)


def _next(desk: Desk) -> Assignment | NothingLeft:
    if not desk.may_take:
        return NothingLeft(Left.PAUSED)
    return assigning.claim_next(stage=desk.stage, person=desk.person, languages=desk.languages, standing=desk.standing)


def _current(assignment: Assignment) -> Annotation:
    given = Annotation.objects.filter(assignment=assignment, is_current=True).select_related("stage_version")
    return get_object_or_404(given)


def _form(request: HttpRequest, assignment: Assignment, version: StageVersion) -> AnswerForm:
    sheet = SHEETS.get(assignment.stage.kind)
    form = sheet.form if sheet else AnswerForm
    return form(request.POST, fields=submitting.fields_asked(assignment, version))


def _version_seen(request: HttpRequest, desk: Desk) -> StageVersion:
    """The form the person had before them. Raises Http404."""
    version = form_seen(desk, _number(request.POST.get("stage_version")))
    if version is None:
        raise Http404
    return version


def _guidelines_seen(request: HttpRequest, desk: Desk) -> int | None:
    return guidelines_seen(desk, _number(request.POST.get("guideline_version")))


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 19 else None


def _page(
    request: HttpRequest,
    desk: Desk,
    outcome: Assignment | NothingLeft,
    *,
    version: StageVersion | None = None,
    form: AnswerForm | None = None,
    revising: Annotation | None = None,
    last: Annotation | None = None,
    mine: PersonCounts | None = None,
    problem: str = "",
    is_open: bool = True,
    status: int = 200,
) -> HttpResponse:
    """The item with its form, or why there is none: a fragment for the script, else the page, or the way to it.

    version, form: what was sent, where it comes back with an error. last, mine: known from what was just stored.
    """
    is_fragment = is_by_script(request)
    if status == 200 and revising is None and (ended := recruiting.way_out(request, desk, outcome)):
        return ended
    if request.method == "POST" and status == 200 and not is_fragment:
        # So that reloading the page, or going back to it, sends nothing again.
        return redirect("work", desk.stage.project.slug, desk.stage.slug)
    context: dict[str, Any] = {
        "project": desk.stage.project,
        "stage": desk.stage,
        "instruction": (version or desk.version).instruction,
        "person_token": person_token(desk.person),
        "progress": counting.progress(desk.stage, desk.person, mine, is_at_work=_is_next(outcome, revising)),
        "guideline_version": desk.guideline_id,
        "guidelines": _guidelines(request, desk, is_fragment),
        "pins": desk.pins,
        "has_new_guidelines": desk.has_new_guidelines,
        "answers": unread_answers(project=desk.stage.project, person=desk.person) if desk.has_unread_answers else [],
        "last_answer": None if revising else _last_answer(desk, last),
        "idle_seconds": settings.IDLE_SECONDS,
    }
    if (isinstance(outcome, NothingLeft) and outcome.kind == Left.NOT_QUALIFIED) or _is_to_qualify(outcome):
        told = told_to(desk.stage, desk.person)
        context |= {"qualification": told, "progress": qualification_progress(told)}
        if told.phase == Phase.COUNTING and "counted" in request.GET:
            # The page asks every few seconds, and there is nothing new to show.
            return HttpResponse(status=204)
    if isinstance(outcome, NothingLeft):
        if outcome.kind == Left.NOT_QUALIFIED:
            context["empty"] = words_of(context["qualification"])
        else:
            context["empty"] = _why_empty(outcome, desk.stage) | {"own_checks": own_checks(desk.stage, desk.person)}
    else:
        context |= _form_context(outcome, version or desk.version, form, revising)
        context |= {"is_open": is_open, "revising": revising is not None, "skip_options": _skip_options()}
        if problem:
            context["form_error"] = problem
    sheet = None if isinstance(outcome, NothingLeft) else SHEETS.get(desk.stage.kind)
    context["part"] = sheet.template if sheet else fresh_item.TEMPLATE
    if is_fragment and status == 200 and not sheet and (fragment := fresh_item.fresh_item(request, context)):
        return HttpResponse(fragment)
    template = context["part"] if is_fragment else "annotate/work.html"
    return render(request, template, context, status=status)


def _form_context(
    assignment: Assignment, version: StageVersion, form: AnswerForm | None, revising: Annotation | None
) -> dict[str, Any]:
    """The item and the form: as it was sent, else as the earlier answer, else as the draft has it."""
    revision = assignment.stage_item.revision
    specs = fields_for_item(version.specs, revision.content, revision.language)
    errors: Mapping[str, str] = {}
    error = ""
    client_key = secrets.token_urlsafe(16)
    draft = assignment.draft if isinstance(assignment.draft, dict) else {}
    if form is not None:
        answer: Mapping[str, Any] = {name: form.data.get(name) for name in form.data} | form.answer | form.typed
        errors = form.field_errors
        error = _form_error(form)
        # The same key: nothing was stored under it, and a second click on the form before must not become a second
        # answer.
        client_key = form.cleaned_data.get("client_key") or client_key
        flags = {"is_flagged": "flag" in form.data, "note": form.data.get("flag_note", "")}
        active_seconds = form.cleaned_data.get("active_seconds")
    elif revising is not None:
        answer = revising.answer
        flags = {"is_flagged": revising.is_flagged, "note": revising.flag_note}
        active_seconds = None
    else:
        answer = draft.get("answer") or {}
        flags = {"is_flagged": draft.get("is_flagged", False), "note": draft.get("flag_note", "")}
        active_seconds = draft.get("active_seconds")
    shown = None
    if sheet := SHEETS.get(assignment.stage.kind):
        shown = sheet.show(assignment, form, revising, answer)
        answer = shown.answer
    given = given_to(assignment, version)
    asks_for_hints = hinting.gives_hints(assignment.stage, specs)
    found = hinting.hints_for(assignment, specs, answer) if asks_for_hints else []
    # What is refused says so already.
    read = readings([spec for spec in specs if spec.name not in errors], answer)
    item = shown_item(
        external_id=revision.item.external_id,
        language=revision.language,
        content=given.content,
        shown_keys=given.shown_keys,
        captions=given.captions,
    )
    return {
        "assignment": assignment,
        "in_root": _in_root(assignment.stage_item, item),
        "gives_hints": asks_for_hints,
        "beside": given.beside,
        "addresses": {
            "answer": _address("work-submit" if revising is None else "work-revise", assignment),
            "draft": _address("work-draft", assignment),
            "renew": _address("work-renew", assignment),
            "skip": _address("work-skip", assignment),
            "ask": _address("work-ask", assignment),
            "hints": _address("work-hints", assignment) if asks_for_hints else "",
        },
        "item": item,
        "fields": [
            {
                "spec": spec,
                "value": get_field_type(spec.type).to_form(answer.get(spec.name), spec),
                "error": errors.get(spec.name, ""),
                "reading": read.get(spec.name, ""),
                "name": spec.name,
                "hints": [hint for hint in found if hint.field == spec.name],
                **(shown.fields.get(spec.name, {}) if shown else {}),
            }
            for spec in specs
        ],
        "stage_version": version.pk,
        "client_key": client_key,
        "flags": flags,
        "active_seconds": active_seconds,
        "attention": (form.data.get("attention", "") if form else "" if revising else draft.get("attention", "")),
        "form_error": error,
        **(shown.context if shown else {}),
    }


def _in_root(place: StageItem, item: ShownItem) -> dict[str, Any] | None:
    """Which of the questions about one table it is; None where it stands by itself, or among too many to count."""
    if place.root_id is not None and place.in_root is None:
        assigning.count_in_root(place)
    position, n = place.in_root or (0, 0)
    if not 1 < n < MOST_OF_A_ROOT:
        return None
    is_table = any(kind_of(block["value"]) in ("table", "grid") for block in item["blocks"])
    return {"root": place.root_id, "position": position, "n": n, "is_table": is_table}


def _address(name: str, assignment: Assignment) -> str:
    """`reverse` costs as much as a field of the form, and a page has five addresses that differ in the token alone."""
    return _address_of_any(name).replace(ANY_TOKEN, assignment.token)


@cache
def _address_of_any(name: str) -> str:
    return reverse(name, args=[ANY_TOKEN])


def _skip_options() -> SafeString:
    return _skip_options_in(get_language())


@cache
def _skip_options_in(language: str) -> SafeString:
    """Made once in each language that pages speak, which is the active one."""
    return render_to_string("annotate/partials/skip_options.html", {"reasons": Assignment.SkipReason.choices})


def _form_error(form: AnswerForm) -> str:
    if form.field_errors:
        return ""
    messages = list(form.non_field_errors()) + [error for name in form.fields for error in form.errors.get(name, [])]
    return " ".join(said(str(message)) for message in messages)


def _guidelines(request: HttpRequest, desk: Desk, is_fragment: bool) -> dict[str, Any] | None:
    """With what is pinned beside them. A fragment carries them only where the page shows older ones than there are."""
    guidelines, pins = _number(request.POST.get("guideline_version")), request.POST.get("pins.seen", desk.pins)
    if is_fragment and guidelines in (None, desk.guideline_id) and pins == desk.pins:
        return None
    return guidelines_beside(desk)


def _last_answer(desk: Desk, last: Annotation | None) -> dict[str, str] | None:
    """What the person answered last, and where it can be changed."""
    if desk.stage.state == Stage.State.CLOSED:
        return None
    if last is None:
        mine = Annotation.objects.filter(
            is_current=True,
            assignment__stage=desk.stage,
            assignment__person=desk.person,
            assignment__state=Assignment.State.SUBMITTED,
        )
        last = mine.select_related("assignment", "stage_version").order_by("-assignment__finished_at", "-pk").first()
    if last is None:
        return None
    version = desk.version if last.stage_version_id == desk.version.pk else last.stage_version
    return {
        "summary": _summary(version.specs, last.answer),
        "url": _address("work-revise", last.assignment),
    }


def _summary(specs: Sequence[FieldSpec], answer: Mapping[str, Any]) -> str:
    """The first value that was given, as its author knows it."""
    for spec in specs:
        value = answer.get(spec.name)
        if value is not None:
            text = get_field_type(spec.type).in_words(value, spec)
            return text if len(text) <= SUMMARY_LENGTH else f"{text[: SUMMARY_LENGTH - 1]}…"
    return _("no answer")


def _is_next(outcome: Assignment | NothingLeft, revising: Annotation | None) -> bool:
    return isinstance(outcome, Assignment) and revising is None


def _is_to_qualify(outcome: Assignment | NothingLeft) -> bool:
    return isinstance(outcome, Assignment) and outcome.purpose == StageItem.Purpose.QUALIFICATION


def _why_empty(left: NothingLeft, stage: Stage) -> dict[str, str]:
    """Why there is no item, and what comes next, in words."""
    if stage.kind in submitting.DECIDED and left.kind in _NOTHING_TO_DECIDE:
        title, text, following = _NOTHING_TO_DECIDE[left.kind](left.n_short, stage.kind == Stage.Kind.REVIEW)
        return {"kind": left.kind.value, "title": title, "text": text, "next": following}
    if left.kind == Left.ALL_TAKEN:
        minutes = max(1, round((left.seconds_to_return or 0) / 60))
        title = _("All are taken at the moment")
        text = ngettext(
            "Others are working on the last %(n)s item that you could take.",
            "Others are working on the last %(n)s items that you could take.",
            left.n_held,
        ) % {"n": f"{left.n_held:,}"}
        following = ngettext(
            "The first may come back within a minute: whoever leaves an item lying gives it back.",
            "The first may come back within %(n)s minutes: whoever leaves an item lying gives it back.",
            minutes,
        ) % {"n": f"{minutes:,}"}
    elif left.kind == Left.NOBODY_ELIGIBLE:
        short = ngettext(
            "%(n)s item still needs answers of other people.",
            "%(n)s items still need answers of other people.",
            left.n_short,
        ) % {"n": f"{left.n_short:,}"}
        title = _("You have done everything you can here")
        has_met_all = left.n_met == left.n_short
        met = _("You have met them all.") if has_met_all else _("They are in other languages or your own.")
        text = f"{short} {met}"
        following = _("When items are added, you find them here.")
    elif left.kind == Left.PAUSED:
        is_closed = stage.state == Stage.State.CLOSED
        title = _("This stage is closed") if is_closed else _("This stage hands out nothing at the moment")
        text = _("All your answers are stored.")
        following = "" if is_closed else _("It goes on here when it is opened again.")
    else:
        title = _("All done")
        text = _("Every item has the answers it needs.")
        following = _("When items are added, you find them here.")
    return {"kind": left.kind.value, "title": title, "text": text, "next": following}


def _others_decide(n: int, is_review: bool) -> tuple[str, str, str]:
    waits = ngettext(
        "{n} item waits for the decision of somebody else.", "{n} items wait for the decision of somebody else.", n
    )
    why = _("You answered or wrote it, have decided it already, or it is in a language you do not read.")
    return _("Nothing here is yours to decide"), f"{waits.format(n=f'{n:,}')} {why}", _decided_next(is_review)


def _nothing_waits(n: int, is_review: bool) -> tuple[str, str, str]:
    return _("All done"), _("No item waits for a decision at the moment."), _decided_next(is_review)


def _decided_next(is_review: bool) -> str:
    if is_review:
        return _("What people have written or answered meanwhile, you find here.")
    return _("When people disagree on another item, you find it here, the most disputed first.")


_NOTHING_TO_DECIDE = {Left.DONE: _nothing_waits, Left.NOBODY_ELIGIBLE: _others_decide}
