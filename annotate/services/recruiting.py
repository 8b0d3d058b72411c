"""People who come from Prolific: one seat a person, work in one stage, and the code they go back with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.exceptions import SeatRefused, StudyNotOpen
from annotate.models import (
    Assignment,
    ImportedAnnotator,
    Membership,
    Person,
    ProlificSeat,
    ProlificStudy,
    Stage,
    StageItem,
)
from annotate.prolific import LinkRefused, Ticket, read_link
from annotate.services.assigning import Left, NothingLeft, take_back_leases
from annotate.services.people import new_person_from_outside
from annotate.services.qualifying import Phase, told_to
from annotate.wording import _

# Kinds of stages that annotators take.
RECRUITED_KINDS = frozenset({Stage.Kind.LABEL, Stage.Kind.ANSWER, Stage.Kind.REWRITE, Stage.Kind.AUTHOR})
OUTCOME = ProlificSeat.Outcome
# Nothing comes by waiting; what others hold may come back.
_NO_WORK = (Left.DONE, Left.NOBODY_ELIGIBLE, Left.PAUSED)


@transaction.atomic
def change_study(*, stage: Stage, by: Person, settings: Mapping[str, Any]) -> ProlificStudy:
    """Let people come to a stage from Prolific, or change how. The link stays what it is."""
    study, is_new = ProlificStudy.objects.update_or_create(stage=stage, defaults=settings)
    events.record(
        actor=by,
        verb="prolific.opened" if is_new else "prolific.changed",
        subject=stage,
        project_id=stage.project_id,
        is_open=study.is_open,
        is_signed=bool(study.keys),
        n_answers=study.n_answers,
    )
    return study


def open_study(*, link: str, parameters: Mapping[str, str], host: str) -> tuple[ProlificStudy, Ticket]:
    """The study behind a link, and who comes; nothing is stored. Raises StudyNotOpen, SeatRefused."""
    study: ProlificStudy | None = (
        ProlificStudy.objects.filter(link=link, is_open=True).select_related("stage__project").first()
    )
    if study is None:
        raise StudyNotOpen
    try:
        ticket = read_link(parameters, study=study.study_id, keys=study.keys, host=host, now=timezone.now().timestamp())
    except LinkRefused as refusal:
        raise SeatRefused(refusal.args[0]) from refusal
    return study, ticket


@transaction.atomic
def take_seat(*, study: ProlificStudy, ticket: Ticket) -> Person:
    """The person's seat: a new one, or the one they took before, however often and from where they come.

    Raises SeatRefused for somebody new when all seats are taken or the stage is not open, and for whoever was shut out.
    """
    # Two tabs at once: the second waits, and finds the first one's seat. The number of seats is kept, too.
    study = ProlificStudy.objects.select_for_update(no_key=True).get(pk=study.pk)
    project = study.stage.project
    known = ImportedAnnotator.objects.filter(project=project, name=ticket.person).select_related("person").first()
    person: Person | None = known.person if known else None
    if person is not None:
        is_member = Membership.objects.filter(person=person, project=project, state=Membership.State.ACTIVE).exists()
        if not (person.is_active and is_member):
            raise SeatRefused(_("This place is closed. Please return your submission on Prolific."))
        if ProlificSeat.objects.filter(study=study, person=person).exists():
            return person
    if study.stage.state != Stage.State.OPEN:
        # Else they would be told at once that no work is left, and go back with the code for it.
        raise SeatRefused(_("This study hands out nothing at the moment. Please return your submission on Prolific."))
    if study.seats.count() >= study.max_people:
        raise SeatRefused(_("All places are taken. Please return your submission on Prolific."))
    if person is None:
        person = _new_person(study, ticket)
    seat = ProlificSeat.objects.create(study=study, person=person)
    events.record(actor=person, verb="prolific.seat_taken", subject=seat, project_id=project.pk)
    return person


def _new_person(study: ProlificStudy, ticket: Ticket) -> Person:
    project = study.stage.project
    try:
        with transaction.atomic():
            person = new_person_from_outside(project=project)
            ImportedAnnotator.objects.create(project=project, name=ticket.person, person=person)
    except IntegrityError as twice:
        # Through another stage of the project, at the same moment: the next click finds the person.
        raise SeatRefused(_("Please open the link once more.")) from twice
    return person


def seat_of(*, link: str, person: Person) -> ProlificSeat | None:
    """The person's own seat, whether or not the study still lets people in."""
    seats = ProlificSeat.objects.filter(study__link=link, person=person)
    seat: ProlificSeat | None = seats.select_related("study__stage__project").first()
    return seat


def look_at_end(*, seat: ProlificSeat, left: NothingLeft | None = None) -> ProlificSeat:
    """End the seat if its person is done, cannot qualify, or finds no work; an end stays what it was.

    left: why nothing is handed out, where the caller has asked for work.
    """
    if seat.outcome == OUTCOME.UNDER_WAY and (outcome := _outcome(seat, left)):
        _end(seat, outcome)
    return seat


def _outcome(seat: ProlificSeat, left: NothingLeft | None) -> str:
    stage, person = seat.study.stage, seat.person
    given = Assignment.objects.filter(stage=stage, person=person, state=Assignment.State.SUBMITTED)
    if given.exclude(purpose=StageItem.Purpose.QUALIFICATION).count() >= seat.study.n_answers:
        return OUTCOME.DONE
    if left is None:
        return OUTCOME.UNDER_WAY
    if left.kind == Left.NOT_QUALIFIED:
        told = told_to(stage, person)
        return OUTCOME.SCREENED_OUT if told.phase == Phase.FAILED and not told.n_left else OUTCOME.UNDER_WAY
    return OUTCOME.NO_WORK if left.kind in _NO_WORK else OUTCOME.UNDER_WAY


@transaction.atomic
def _end(seat: ProlificSeat, outcome: str) -> None:
    # By condition: of two tabs one ends it.
    rows = ProlificSeat.objects.filter(pk=seat.pk, outcome=OUTCOME.UNDER_WAY)
    if rows.update(outcome=outcome, ended_at=Now()):
        events.record(
            actor=seat.person,
            verb="prolific.seat_ended",
            subject=seat,
            project_id=seat.study.stage.project_id,
            outcome=outcome,
        )
        take_back_leases(person=seat.person, by=seat.person)
    seat.refresh_from_db(fields=["outcome", "ended_at"])


@transaction.atomic
def put_down(*, seat: ProlificSeat) -> None:
    """Give back what was handed out to somebody whose seat has ended."""
    take_back_leases(person=seat.person, by=seat.person)


def code_of(seat: ProlificSeat) -> str:
    """The completion code for how the seat ended; "": there is none."""
    study = seat.study
    codes = {
        OUTCOME.DONE: study.code_done,
        OUTCOME.SCREENED_OUT: study.code_screened_out,
        OUTCOME.NO_WORK: study.code_no_work,
    }
    return codes.get(OUTCOME(seat.outcome), "")


def seats_by_outcome(study: ProlificStudy) -> list[tuple[str, int]]:
    """(outcome in words, how many seats), in their order."""
    counts = Counter(study.seats.values_list("outcome", flat=True))
    return [(label, counts[value]) for value, label in OUTCOME.choices if counts[value]]
