"""What becomes of an item somebody holds: a draft, an answer, a changed answer, or a skip.

Each begins with one conditional update of the assignment. It is the lock: of two requests for the same step only one
finds the state it needs, and the other gets the first one's result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from django.db import connection, models, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from annotate import claim_sql, events
from annotate.answers import FieldSpec, JsonValue, fields_for_item, validate_answer
from annotate.auditing import check_correction, labels_in
from annotate.checking import Standing
from annotate.exceptions import AnswerBelongsElsewhere, AssignmentNotOpen, StageNotOpen, StaleDraft
from annotate.models import Annotation, Assignment, Person, Stage, StageItem, StageVersion
from annotate.rewriting import check_rewriting, claim_of
from annotate.services import assigning
from annotate.services.assigning import NothingLeft
from annotate.services.candidates import content_beside
from annotate.services.counting import GONE, PersonCounts
from annotate.stage_options import rewrite_options
from annotate.statements import one_row
from annotate.wording import _

Answer: TypeAlias = Mapping[str, JsonValue]

SUBMITTED = "annotation.submitted"

# Kinds of stages whose answers decide about those of others: services/adjudicating.py, services/vetting.py.
DECIDED = frozenset({Stage.Kind.ADJUDICATE, Stage.Kind.REVIEW})

# So many people skipping an item for the same reason say something about the item.
SKIPS_FOR_REVIEW = 3


class Attention(NamedTuple):
    """What a page counted while an answer was given: never what was pasted, nor where somebody went."""

    n_pastes: int
    pasted_characters: int
    n_away: int
    away_seconds: int

    @classmethod
    def read(cls, text: str) -> Attention | None:
        """From four numbers with commas between; None for anything else."""
        if not _ATTENTION.fullmatch(text):
            return None
        return cls(*(int(number) for number in text.split(",")))

    def __str__(self) -> str:
        return ",".join(str(number) for number in self)


_ATTENTION = re.compile(r"[0-9]{1,7}(,[0-9]{1,7}){3}")


@dataclass(frozen=True)
class Circumstances:
    """What is stored beside an answer. attention: None where no page watched, as for a program.

    active_seconds is what the browser measured (with focus and input); never more than the wall time is kept. None:
    nothing measured it, which is not the same as no time.
    held_seconds: how long the item has been held, by the database's clock, where the caller has read it already.
    """

    guideline_version_id: int | None = None
    held_seconds: float | None = None
    active_seconds: int | None = None
    is_flagged: bool = False
    flag_note: str = ""
    attention: Attention | None = None


class Acknowledged(NamedTuple):
    """What the response to an answer or a skip carries.

    mine: what the person did in this stage so far; None if the request was a repetition and changed nothing.
    is_another: other words were given before, in another tab; `annotation` has those, and these are not stored.
    """

    annotation: Annotation | None
    next: Assignment | NothingLeft
    mine: PersonCounts | None
    is_another: bool = False


@transaction.atomic
def submit_annotation(
    *,
    assignment: Assignment,
    answer: Answer,
    client_key: str,
    stage_version: StageVersion,
    circumstances: Circumstances | None = None,
    is_decision: bool = False,
) -> Annotation:
    """Store the answer of a leased assignment; the same submission again returns the same annotation.

    An answer that comes after its lease ran out is stored too: with a place if one is free, else as surplus.
    is_decision: it comes from the service that knows what follows from deciding about others' answers.
    Raises AnswerInvalid, AnswerBelongsElsewhere, or AssignmentNotOpen (skipped or withdrawn), writing nothing.
    """
    _refuse_bare_decision(assignment, is_decision)
    annotation, is_new = _store(assignment, answer, client_key, stage_version, circumstances)
    if is_new and not _is_to_qualify(assignment):
        assigning.move_on(
            stage=assignment.stage,
            person=assignment.person,
            answered=1,
            active_seconds=annotation.active_seconds or 0,
            checks_owed=_more_owed(assignment),
        )
    return annotation


def submit_and_claim_next(
    *,
    assignment: Assignment,
    answer: Answer,
    client_key: str,
    stage_version: StageVersion,
    circumstances: Circumstances | None = None,
    languages: Sequence[str],
    standing: Standing | None = None,
) -> Acknowledged:
    """`submit_annotation` and, in the same transaction, the claim of the item that the response carries.

    languages: what the person reads, from their membership; empty means everything. standing: before this answer, where
    the caller has read it.
    """
    stage, person = assignment.stage, assignment.person
    before = standing or assigning.standing_of(stage, person)
    _refuse_bare_decision(assignment, is_decision=False)
    form = circumstances or Circumstances()
    if _may_go_at_once(assignment, before):
        if form.held_seconds is None:
            form = replace(form, held_seconds=_held_seconds(assignment))
        annotation = _new_annotation(assignment, answer, client_key, stage_version, form)
        if done := _store_and_take_next(annotation, languages, before):
            return done
        # No lease any more: another click was faster, or the answer is late. The steps below tell them apart.
    taken, mine = None, None
    with transaction.atomic():
        annotation, is_new = _store(assignment, answer, client_key, stage_version, circumstances)
        standing = _standing_after(before, assignment, has_ended=is_new)
        if is_new:
            if stage.state == Stage.State.OPEN:
                taken = assigning.take_place(
                    stage=stage,
                    person=person,
                    languages=languages,
                    standing=standing,
                    stays_with_root=_may_have_left_a_root(assignment),
                )
            if not _is_to_qualify(assignment):
                mine = assigning.move_on(
                    stage=stage,
                    person=person,
                    taken=taken,
                    answered=1,
                    active_seconds=annotation.active_seconds or 0,
                    checks_owed=standing.checks_owed - before.checks_owed,
                    keeps_debt=_may_still_owe(standing, assignment, taken),
                )
    # Outside: looking further waits for rows of others, and must not make them wait for this answer's item.
    following = taken or assigning.claim_next(stage=stage, person=person, languages=languages, standing=standing)
    is_another = (
        not is_new
        and annotation.client_key != client_key
        and annotation.answer != _validated(assignment, answer, stage_version)
    )
    return Acknowledged(annotation, following, mine, is_another)


@transaction.atomic
def revise_annotation(
    *,
    assignment: Assignment,
    answer: Answer,
    client_key: str,
    stage_version: StageVersion,
    circumstances: Circumstances | None = None,
    is_decision: bool = False,
) -> Annotation:
    """Store a newer answer beside the first one; the newest counts. The same request again returns the same.

    Raises AssignmentNotOpen where nothing was submitted, StageNotOpen where the stage is closed.
    """
    form = circumstances or Circumstances()
    _refuse_bare_decision(assignment, is_decision)
    if assignment.stage.state == Stage.State.CLOSED:
        raise StageNotOpen(_("This stage is closed: answers can no longer be changed. Your text is kept below."))
    validated = _validated(assignment, answer, stage_version)
    # Lock before looking: two revisions at once must not both become number 2.
    locked = Assignment.objects.select_for_update().filter(pk=assignment.pk, state=Assignment.State.SUBMITTED)
    row = locked.values_list("slot").first()
    if row is None:
        raise AssignmentNotOpen
    (slot,) = row
    given = Annotation.objects.filter(assignment=assignment)
    earlier: Annotation | None = given.filter(client_key=client_key).first()
    if earlier is not None:
        return earlier
    before: Annotation = given.get(is_current=True)
    wall_seconds, active_seconds = _seconds((timezone.now() - before.created_at).total_seconds(), form)
    Annotation.objects.filter(pk=before.pk).update(is_current=False)
    annotation = Annotation.objects.create(
        assignment=assignment,
        stage_version=stage_version,
        guideline_version_id=form.guideline_version_id,
        number=before.number + 1,
        answer=validated,
        is_flagged=form.is_flagged,
        flag_note=form.flag_note,
        active_seconds=active_seconds,
        wall_seconds=wall_seconds,
        client_key=client_key,
        **(form.attention._asdict() if form.attention else {}),
    )
    if slot is not None:
        StageItem.objects.filter(pk=assignment.stage_item_id).update(due_at=Now())
    _record("annotation.revised", assignment, annotation, number=annotation.number)
    if not _is_to_qualify(assignment):
        assigning.move_on(stage=assignment.stage, person=assignment.person, active_seconds=active_seconds or 0)
    return annotation


@transaction.atomic
def skip_assignment(*, assignment: Assignment, reason: str, note: str = "") -> None:
    """Give the item back with a reason; the person does not get it again.

    Three equal reasons take the item out of the queue until somebody reviews it. Skipping again changes nothing;
    raises AssignmentNotOpen where an answer was submitted or the item withdrawn.
    """
    if _give_up(assignment, reason, note) and not _is_to_qualify(assignment):
        assigning.move_on(
            stage=assignment.stage, person=assignment.person, skipped=1, checks_owed=_more_owed(assignment)
        )


def skip_and_claim_next(
    *,
    assignment: Assignment,
    reason: str,
    note: str = "",
    languages: Sequence[str],
    standing: Standing | None = None,
) -> Acknowledged:
    """`skip_assignment` and, in the same transaction, the claim of the item that the response carries."""
    stage, person = assignment.stage, assignment.person
    before = standing or assigning.standing_of(stage, person)
    taken, mine = None, None
    with transaction.atomic():
        is_skipped = _give_up(assignment, reason, note)
        standing = _standing_after(before, assignment, has_ended=is_skipped)
        if is_skipped:
            if stage.state == Stage.State.OPEN:
                taken = assigning.take_place(
                    stage=stage,
                    person=person,
                    languages=languages,
                    standing=standing,
                    stays_with_root=_may_have_left_a_root(assignment),
                )
            if not _is_to_qualify(assignment):
                mine = assigning.move_on(
                    stage=stage,
                    person=person,
                    taken=taken,
                    skipped=1,
                    checks_owed=standing.checks_owed - before.checks_owed,
                    keeps_debt=_may_still_owe(standing, assignment, taken),
                )
    following = taken or assigning.claim_next(stage=stage, person=person, languages=languages, standing=standing)
    return Acknowledged(None, following, mine)


@transaction.atomic
def save_draft(*, assignment: Assignment, draft: dict[str, Any], version: int) -> None:
    """Keep unfinished words with the assignment, and its lease alive.

    version: the number of this draft, which its writer raises with each attempt. Raises StaleDraft, writing nothing,
    if other words are stored under this number or a higher one (another tab wrote), or the answer was submitted: a
    leftover draft never covers an answer. The same draft again is no conflict.
    """
    # Words typed after the lease ran out are kept too: the answer will be taken, so losing them helps nobody.
    open_ = Assignment.objects.filter(pk=assignment.pk, state__in=[Assignment.State.LEASED, Assignment.State.EXPIRED])
    # The lease first: one that ran out takes its place before its own row (services/assigning.py).
    assigning.renew_lease(assignment=assignment)
    if open_.filter(draft_version__lt=version).update(draft=draft, draft_version=version):
        return
    if open_.values_list("draft_version", "draft").first() != (version, draft):
        raise StaleDraft


def _is_to_qualify(assignment: Assignment) -> bool:
    """What comes before the stage is none of its work: no progress counts it."""
    return assignment.purpose == StageItem.Purpose.QUALIFICATION


def _may_have_left_a_root(assignment: Assignment) -> bool:
    """Whether there may be more about the same table."""
    return assignment.stage_item.root_id is not None


def _standing_after(before: Standing, assignment: Assignment, *, has_ended: bool) -> Standing:
    is_of_work = has_ended and not _is_to_qualify(assignment)
    return assigning.standing_after(before, assignment) if is_of_work else before


def _more_owed(assignment: Assignment) -> int:
    """How many checks more the person of an item that has ended owes. A look that only stages with checks pay for."""
    if not assignment.stage.check_every:
        return 0
    before = assigning.standing_of(assignment.stage, assignment.person)
    return assigning.standing_after(before, assignment).checks_owed - before.checks_owed


def _may_still_owe(standing: Standing, ended: Assignment, taken: Assignment | None) -> bool:
    """Whether what is owed may come later: not where work of another root was taken although a check was owed."""
    if taken is None or taken.purpose or standing.checks_owed <= 0:
        return True
    root = taken.stage_item.root_id
    return root is not None and root == ended.stage_item.root_id


def _store(
    assignment: Assignment,
    answer: Answer,
    client_key: str,
    stage_version: StageVersion,
    circumstances: Circumstances | None,
) -> tuple[Annotation, bool]:
    """The annotation, and whether it is new: an earlier one is returned if it was stored before."""
    form = circumstances or Circumstances()
    annotation = _new_annotation(assignment, answer, client_key, stage_version, form)
    if connection.vendor == "postgresql" and form.held_seconds is not None and _store_at_once(annotation):
        return annotation, True
    # No lease any more: another click was faster, or the answer is late. The steps below tell them apart.
    rows = Assignment.objects.filter(pk=assignment.pk)
    # "A submit outranks any draft": a late autosave meets a newer version and a state that takes no drafts.
    ending: dict[str, Any] = {
        "state": Assignment.State.SUBMITTED,
        "finished_at": Now(),
        "draft": None,
        "draft_version": F("draft_version") + 1,
    }
    place = StageItem.objects.filter(pk=assignment.stage_item_id)
    is_surplus = False
    if _end_leased(rows, ending):
        place.update(active=F("active") - 1, done=F("done") + 1, due_at=Now())
    elif _end_expired(rows, place, ending):
        free = place.exclude(state__in=GONE).filter(active__lt=F("wanted") - F("done"))
        if free.update(done=F("done") + 1, due_at=Now()):
            assigning.hold_slot(assignment=assignment)
        else:
            # Somebody else has answered in the meantime. The work is kept, exported and marked; it counts nowhere.
            is_surplus = True
    elif _end_leased(rows, ending):
        # Another tab of its author has opened the item anew between the two looks.
        place.update(active=F("active") - 1, done=F("done") + 1, due_at=Now())
    else:
        return _earlier(assignment, client_key), False
    if form.held_seconds is None:
        annotation.wall_seconds, annotation.active_seconds = _seconds(_held_seconds(assignment), form)
    annotation.save(force_insert=True)
    _record(SUBMITTED, assignment, annotation, **({"surplus": True} if is_surplus else {}))
    return annotation, True


def _new_annotation(
    assignment: Assignment, answer: Answer, client_key: str, stage_version: StageVersion, form: Circumstances
) -> Annotation:
    """Not stored yet. Raises AnswerInvalid, AnswerBelongsElsewhere."""
    annotation = Annotation(
        assignment=assignment,
        stage_version=stage_version,
        guideline_version_id=form.guideline_version_id,
        answer=_validated(assignment, answer, stage_version),
        is_flagged=form.is_flagged,
        flag_note=form.flag_note,
        client_key=client_key,
        **(form.attention._asdict() if form.attention else {}),
    )
    if form.held_seconds is not None:
        annotation.wall_seconds, annotation.active_seconds = _seconds(form.held_seconds, form)
    return annotation


def _held_seconds(assignment: Assignment) -> float:
    rows = Assignment.objects.filter(pk=assignment.pk)
    leased_at, clock = rows.annotate(clock=Now()).values_list("leased_at", "clock").get()
    seconds: float = (clock - leased_at).total_seconds()
    return seconds


def _may_go_at_once(assignment: Assignment, standing: Standing) -> bool:
    """Whether the answer and the next item can be one statement: for work in an open stage, on PostgreSQL."""
    return (
        connection.vendor == "postgresql"
        and assignment.stage.state == Stage.State.OPEN
        and standing.is_qualified
        and not _is_to_qualify(assignment)
    )


def _store_and_take_next(annotation: Annotation, languages: Sequence[str], before: Standing) -> Acknowledged | None:
    """What `submit_and_claim_next` does with a lease, in one statement; None, writing nothing, where it is gone."""
    assignment = annotation.assignment
    stage, person = assignment.stage, assignment.person
    standing = _standing_after(before, assignment, has_ended=True)
    stored = assigning.store_and_take_next(
        stage=stage,
        person=person,
        languages=languages,
        standing=standing,
        stays_with_root=_may_have_left_a_root(assignment),
        annotation=_columns(annotation),
        event=_columns_of_event(annotation),
        done={
            "assignment": assignment.pk,
            "ended_root": assignment.stage_item.root_id,
            "active_seconds": annotation.active_seconds or 0,
            "checks_owed": standing.checks_owed - before.checks_owed,
            "owes_check": standing.checks_owed > 0,
        },
    )
    if stored is None:
        return None
    annotation_id, mine, taken = stored
    _is_stored(annotation, annotation_id)
    # Once round the end of the stage, or where others hold what is left.
    following = taken or assigning.claim_next(stage=stage, person=person, languages=languages, standing=standing)
    return Acknowledged(annotation, following, mine)


def _store_at_once(annotation: Annotation) -> bool:
    """What `_store` does with a leased assignment, in one statement; False, writing nothing, without one."""
    of_annotation, of_event = _columns(annotation), _columns_of_event(annotation)
    parameters = {f"annotation.{column}": value for column, value in of_annotation.items()}
    parameters |= {f"event.{column}": value for column, value in of_event.items()}
    stored = one_row(
        claim_sql.store_answer(tuple(of_annotation), tuple(of_event)),
        parameters | {"assignment": annotation.assignment_id},
    )
    if stored is None:
        return False
    _is_stored(annotation, stored[0])
    return True


def _is_stored(annotation: Annotation, pk: int) -> None:
    annotation.pk = pk
    annotation._state.adding = False


def _columns_of_event(annotation: Annotation) -> dict[str, Any]:
    """Of the event that goes with a new answer, but for the answer's id, which the statement knows."""
    assignment = annotation.assignment
    event = events.row(
        verb=SUBMITTED, subject=annotation, project_id=assignment.stage.project_id, actor=assignment.person
    )
    columns = _columns(event)
    del columns["subject_id"]
    return columns


def _end_leased(rows: models.QuerySet[Assignment], ending: dict[str, Any]) -> int:
    return rows.filter(state=Assignment.State.LEASED).update(**ending)


def _end_expired(rows: models.QuerySet[Assignment], place: models.QuerySet[StageItem], ending: dict[str, Any]) -> int:
    """End an assignment whose lease ran out, its place locked; without one, no lock is kept.

    The place first: whoever offers the item again holds it and reaches for this assignment.
    """
    if not rows.filter(state=Assignment.State.EXPIRED).exists():
        return 0
    with transaction.atomic():
        list(place.select_for_update().values_list("pk"))
        n_ended = rows.filter(state=Assignment.State.EXPIRED).update(**ending)
        if not n_ended:
            transaction.set_rollback(True)
        return n_ended


def _columns(row: models.Model) -> dict[str, Any]:
    """Column -> value of a new row for PostgreSQL, whose driver takes all values as they are, but for JSON."""
    values = row.__dict__
    return {
        column: field.get_db_prep_save(values[name], connection) if is_json else values[name]
        for column, name, is_json, field in _columns_of(type(row))
    }


@cache
def _columns_of(model: type[models.Model]) -> list[tuple[str, str, bool, models.Field[Any, Any]]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    return [(str(field.column), field.attname, isinstance(field, models.JSONField), field) for field in fields]


def _earlier(assignment: Assignment, client_key: str) -> Annotation:
    """What the first of two submissions stored: for the same key the same row, for another key what counts now."""
    given = Annotation.objects.filter(assignment=assignment)
    earlier: Annotation | None = given.filter(client_key=client_key).first() or given.filter(is_current=True).first()
    if earlier is None:
        raise AssignmentNotOpen
    return earlier


def _give_up(assignment: Assignment, reason: str, note: str) -> bool:
    """Mark as skipped and free the place; False if it was skipped before."""
    rows = Assignment.objects.filter(pk=assignment.pk)
    ending: dict[str, Any] = {
        "state": Assignment.State.SKIPPED,
        "slot": None,
        "finished_at": Now(),
        "skip_reason": reason,
        "skip_note": note,
    }
    place = StageItem.objects.filter(pk=assignment.stage_item_id)
    # Each of them leaves the place locked, which the count below relies on.
    if _end_leased(rows, ending):
        place.update(active=F("active") - 1)
    elif _end_expired(rows, place, ending):
        pass
    elif _end_leased(rows, ending):
        place.update(active=F("active") - 1)
    elif rows.filter(state=Assignment.State.SKIPPED).exists():
        return False
    else:
        raise AssignmentNotOpen
    # Counted under the lock of the stage item: of two third skips at once, the later one sees the earlier.
    alike = Assignment.objects.filter(
        stage_item=assignment.stage_item_id, state=Assignment.State.SKIPPED, skip_reason=reason
    )
    if assignment.purpose:
        # Others get it all the same, and who runs the study sees how often it was skipped; a worker looks whether an
        # attempt has ended.
        place.update(due_at=Now())
    elif alike.count() >= SKIPS_FOR_REVIEW:
        place.filter(state=StageItem.State.OPEN).update(state=StageItem.State.REVIEW)
    events.record(
        actor=assignment.person,
        verb="assignment.skipped",
        subject=assignment,
        project_id=assignment.stage.project_id,
        reason=reason,
    )
    return True


def _refuse_bare_decision(assignment: Assignment, is_decision: bool) -> None:
    """An answer to others' answers says from which of them it came, and is refused where they have changed."""
    if assignment.stage.kind in DECIDED and not is_decision:
        raise AnswerBelongsElsewhere(_("Decisions about others' answers are made on the page of this stage."))


def _validated(assignment: Assignment, answer: Answer, stage_version: StageVersion) -> dict[str, JsonValue]:
    """The answer, checked against the form its author saw, which need not be the newest one."""
    if stage_version.stage_id != assignment.stage_id:
        raise AnswerBelongsElsewhere
    fields = fields_asked(assignment, stage_version)
    validated = validate_answer(fields, answer)
    if assignment.stage.kind == Stage.Kind.REWRITE:
        options = rewrite_options(assignment.stage.options)
        content = assignment.stage_item.revision.content
        check_rewriting(fields, validated, claim_of(content, stage_version.shown_keys, options))
    elif assignment.stage.kind == Stage.Kind.AUDIT:
        check_correction(fields, validated, labels_in(content_beside(assignment.stage_item_id)))
    return validated


def fields_asked(assignment: Assignment, stage_version: StageVersion) -> tuple[FieldSpec, ...]:
    """The fields of a form beside the item of an assignment, with the columns that the item names."""
    fields = stage_version.specs
    if assignment.stage.kind == Stage.Kind.ADJUDICATE:
        # A bad item has no answer; what else must be there, services/adjudicating.py says.
        fields = tuple(replace(field, required=False) for field in fields)
    # The content is read only for a form that looks into it: every answer passes here.
    if not any(field.columns_from for field in fields):
        return fields
    return fields_for_item(fields, assignment.stage_item.revision.content)


def _seconds(held: float, form: Circumstances) -> tuple[int, int | None]:
    """Wall and active seconds; a browser cannot have been active for longer than the item was held."""
    wall = max(0, round(held))
    return wall, None if form.active_seconds is None else max(0, min(form.active_seconds, wall))


def _record(verb: str, assignment: Assignment, annotation: Annotation, **detail: Any) -> None:
    person: Person = assignment.person
    events.record(actor=person, verb=verb, subject=annotation, project_id=assignment.stage.project_id, **detail)
