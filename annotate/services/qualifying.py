"""Attempts to qualify for a stage: begun by its person, ended by a worker, and what an admin decides about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from annotate import claim_sql, events
from annotate.checking import attempt_seed
from annotate.exceptions import WorkNotPossible
from annotate.models import (
    Assignment,
    CheckResult,
    Membership,
    Person,
    QualificationAttempt,
    QualificationPlace,
    Stage,
    StageItem,
)
from annotate.sampling import draw_simple
from annotate.services.checks import MAX_ATTEMPTS
from annotate.services.counting import Progress
from annotate.statements import run
from annotate.wording import _

STATE = QualificationAttempt.State
ENDED = (Assignment.State.SUBMITTED, Assignment.State.SKIPPED)


class Phase(StrEnum):
    """Where somebody stands with a stage's qualification."""

    NOT_BEGUN = "not_begun"
    UNDER_WAY = "under_way"
    COUNTING = "counting"  # everything is answered, and a worker counts
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True)
class Told:
    """All that its person hears of a qualification: a total, and never which answers were right.

    n_items, mark, n_right: of the attempt under way or the last one. n_left: attempts that are open to them.
    """

    phase: Phase
    n_items: int
    mark: int
    n_right: int | None = None
    n_done: int = 0
    n_left: int = MAX_ATTEMPTS


def told_to(stage: Stage, person: Person) -> Told:
    """Where the person stands, in at most two queries, without a look at a gold label."""
    attempts = list(QualificationAttempt.objects.in_force().filter(stage=stage, person=person).order_by("number"))
    if not attempts:
        return Told(Phase.NOT_BEGUN, stage.qualification_size, stage.qualification_mark)
    last, n_left = attempts[-1], max(0, MAX_ATTEMPTS - len(attempts))
    if last.state == STATE.OPEN:
        n_done = _answered(last)
        phase = Phase.COUNTING if n_done >= last.n_items else Phase.UNDER_WAY
        return Told(phase, last.n_items, last.mark, n_done=n_done, n_left=n_left)
    phase = Phase.PASSED if last.state == STATE.PASSED else Phase.FAILED
    return Told(phase, last.n_items, last.mark, n_right=last.n_right, n_done=last.n_items, n_left=n_left)


def progress_of(told: Told) -> Progress:
    """As the work page shows it while somebody qualifies."""
    return Progress(told.n_done, told.n_items, told.n_done, told.n_items)


@transaction.atomic
def begin(*, stage: Stage, person: Person, languages: Sequence[str]) -> QualificationAttempt:
    """Draw the items of the person's next attempt; the one under way, if there is one.

    Raises WorkNotPossible for a stage without qualification, somebody who has passed or has no attempt left, and where
    too few items are left that they have not met.
    """
    if not stage.qualification_size or stage.state != Stage.State.OPEN:
        raise WorkNotPossible(_("There is nothing to qualify for at the moment."))
    # One tab after the other: both ask for the next attempt, and there is one.
    seats = Membership.objects.filter(project=stage.project_id, person=person)
    list(seats.select_for_update(no_key=True).values_list("pk"))
    attempts = list(QualificationAttempt.objects.filter(stage=stage, person=person).order_by("number"))
    in_force: list[QualificationAttempt] = [attempt for attempt in attempts if attempt.set_aside_at is None]
    if in_force and in_force[-1].state == STATE.OPEN:
        return in_force[-1]
    if any(attempt.state == STATE.PASSED for attempt in in_force):
        raise WorkNotPossible(_("You have qualified already."))
    if len(in_force) >= MAX_ATTEMPTS:
        raise WorkNotPossible(_("No attempt is left."))
    number = attempts[-1].number + 1 if attempts else 1
    seed = attempt_seed(seed=stage.seed, who=person.pseudonym, number=number)
    pool = _pool(stage, person, languages)
    if len(pool) < stage.qualification_size:
        raise WorkNotPossible(
            _("Too few items are left for another attempt. Whoever runs this study can let you in, or add some.")
        )
    attempt: QualificationAttempt = QualificationAttempt.objects.create(
        stage=stage,
        person=person,
        number=number,
        seed=seed,
        n_items=stage.qualification_size,
        mark=stage.qualification_mark,
    )
    drawn = draw_simple([str(pk) for pk in pool], stage.qualification_size, seed=seed)
    QualificationPlace.objects.bulk_create(
        QualificationPlace(attempt=attempt, stage_item_id=pool[place], position=position)
        for position, place in enumerate(drawn)
    )
    events.record(
        actor=person, verb="qualification.begun", subject=attempt, project_id=stage.project_id, number=number, seed=seed
    )
    return attempt


def end_attempts(places: Sequence[StageItem]) -> None:
    """End the attempts whose last item was answered: right enough, or not. The caller holds the places' locks.

    Each is ended once, whichever of its answers a worker looks at first.
    """
    mine = Assignment.objects.filter(
        stage_item=OuterRef("stage_item"), person=OuterRef("attempt__person"), state__in=ENDED
    )
    open_ = QualificationAttempt.objects.filter(state=STATE.OPEN, places__stage_item__in=places).distinct().values("pk")
    waiting = QualificationPlace.objects.filter(~Exists(mine), attempt=OuterRef("pk"))
    rows = QualificationAttempt.objects.filter(~Exists(waiting), pk__in=list(open_.values_list("pk", flat=True)))
    for attempt in rows.select_related("stage").select_for_update(of=("self",)).order_by("pk"):
        n_right = CheckResult.objects.filter(
            is_right=True,
            assignment__person=attempt.person_id,
            assignment__stage_item__in=attempt.places.values("stage_item"),
        ).count()
        attempt.n_right, attempt.ended_at = n_right, Now()
        attempt.state = STATE.PASSED if n_right >= attempt.mark else STATE.FAILED
        attempt.save(update_fields=["n_right", "ended_at", "state"])
        events.record(
            verb=f"qualification.{attempt.state}",
            subject=attempt,
            project_id=attempt.stage.project_id,
            person=attempt.person.pseudonym,
            n_right=n_right,
            mark=attempt.mark,
        )


@transaction.atomic
def let_pass(*, stage: Stage, person: Person, by: Person, reason: str) -> QualificationAttempt:
    """Open the stage to somebody whatever their attempts came to. Raises WorkNotPossible if it is open to them."""
    attempts = _locked_attempts(stage, person)
    if any(attempt.state == STATE.PASSED for attempt in attempts if attempt.set_aside_at is None):
        raise WorkNotPossible(_("This person has qualified already."))
    # One under way is over: what its person answered stays, and judges nobody.
    for attempt in attempts:
        if attempt.state == STATE.OPEN:
            attempt.state, attempt.ended_at, attempt.set_aside_at = STATE.FAILED, Now(), Now()
            attempt.save(update_fields=["state", "ended_at", "set_aside_at"])
    passed: QualificationAttempt = QualificationAttempt.objects.create(
        stage=stage,
        person=person,
        number=attempts[-1].number + 1 if attempts else 1,
        state=STATE.PASSED,
        ended_at=Now(),
        decided_by=by,
        reason=reason,
    )
    events.record(
        actor=by,
        verb="qualification.let_pass",
        subject=passed,
        project_id=stage.project_id,
        person=person.pseudonym,
        reason=reason,
    )
    return passed


@transaction.atomic
def set_aside(*, stage: Stage, person: Person, by: Person, reason: str) -> int:
    """Give somebody their attempts back, or ask for them anew from somebody who has passed; how many are set aside.

    What they answered stays on record. Items they have met are drawn for them no more.
    """
    in_force = [attempt for attempt in _locked_attempts(stage, person) if attempt.set_aside_at is None]
    for attempt in in_force:
        if attempt.state == STATE.OPEN:
            attempt.state, attempt.ended_at = STATE.FAILED, Now()
        attempt.set_aside_at, attempt.decided_by, attempt.reason = Now(), by, reason
        attempt.save(update_fields=["state", "ended_at", "set_aside_at", "decided_by", "reason"])
        events.record(
            actor=by,
            verb="qualification.set_aside",
            subject=attempt,
            project_id=stage.project_id,
            person=person.pseudonym,
            reason=reason,
        )
    return len(in_force)


def _locked_attempts(stage: Stage, person: Person) -> list[QualificationAttempt]:
    list(
        Membership.objects.filter(project=stage.project_id, person=person)
        .select_for_update(no_key=True)
        .values_list("pk")
    )
    rows = QualificationAttempt.objects.filter(stage=stage, person=person).order_by("number")
    return list(rows.select_for_update(of=("self",)))


def _pool(stage: Stage, person: Person, languages: Sequence[str]) -> list[int]:
    statement, parameters = claim_sql.may_be_drawn(languages)
    with connection.cursor() as cursor:
        run(cursor, statement, {"stage": stage.pk, "person": person.pk} | parameters)
        return [pk for pk, _ in cursor.fetchall()]


def _answered(attempt: QualificationAttempt) -> int:
    return Assignment.objects.filter(
        person=attempt.person_id,
        state__in=ENDED,
        stage_item__in=QualificationPlace.objects.filter(attempt=attempt).values("stage_item"),
    ).count()
