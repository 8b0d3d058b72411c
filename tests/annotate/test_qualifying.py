"""Qualifying for a stage: a random subset, two attempts, a total only, and a stage that opens for those who pass."""

from __future__ import annotations

from typing import Any

import pytest

from annotate.exceptions import StageNotReady, WorkNotPossible
from annotate.models import (
    Annotation,
    Assignment,
    Event,
    Participation,
    Person,
    QualificationAttempt,
    QualificationPlace,
    Stage,
    StageItem,
)
from annotate.services import assigning, checks, counting, projects, qualifying, submitting
from annotate.services.assigning import Left, NothingLeft
from annotate.services.qualifying import Phase, Told, told_to
from annotate.services.resolving import resolve_due
from evaluation.services.recounting import recount
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import make_item, make_item_set, make_member, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def study(*, size: int = 3, mark: int = 2, n_pool: int = 8, n_items: int = 4, **fields: Any) -> Stage:
    """A stage with work, and items to qualify with whose gold label is yes."""
    stage = make_stage(**{"overlap": 2, "order": "sequential", "seed": 5} | fields)
    for _ in range(n_items):
        make_stage_item(stage)
    pool = [make_item(stage.project, gold={"label": ["yes"]}) for _ in range(n_pool)]
    checks.set_apart(stage=stage, item_set=make_item_set(stage.project, pool), purpose="qualification", by=None)
    Stage.objects.filter(pk=stage.pk).update(qualification_size=size, qualification_mark=mark)
    stage.refresh_from_db()
    return stage


def answer_attempt(stage: Stage, person: Person, labels: list[str]) -> Assignment | NothingLeft:
    """Begin an attempt and answer it; what comes after it."""
    qualifying.begin(stage=stage, person=person, languages=[])
    taken = assigning.claim_next(stage=stage, person=person)
    for label in labels:
        assert isinstance(taken, Assignment)
        assert taken.purpose == "qualification"
        taken = submitting.submit_and_claim_next(
            assignment=taken,
            answer={"label": label},
            client_key=f"key-{taken.pk}",
            stage_version=stage.versions.get(is_current=True),
            languages=[],
        ).next
    return taken


def test_nothing_is_handed_out_before_somebody_qualifies():
    stage = study()
    person = make_member(stage.project)
    assert assigning.claim_next(stage=stage, person=person) == NothingLeft(Left.NOT_QUALIFIED)
    assert told_to(stage, person) == Told(Phase.NOT_BEGUN, n_items=3, mark=2)


def test_enough_right_answers_open_the_stage():
    stage = study()
    person = make_member(stage.project)
    assert answer_attempt(stage, person, ["yes", "no", "yes"]) == NothingLeft(Left.NOT_QUALIFIED)
    assert told_to(stage, person).phase == Phase.COUNTING
    resolve_due()
    assert told_to(stage, person) == Told(Phase.PASSED, n_items=3, mark=2, n_right=2, n_done=3, n_left=1)
    taken = assigning.claim_next(stage=stage, person=person)
    assert taken.purpose == ""


def test_too_few_leave_one_attempt_with_other_items_and_then_none():
    stage = study()
    person = make_member(stage.project)
    answer_attempt(stage, person, ["yes", "no", "no"])
    resolve_due()
    assert told_to(stage, person) == Told(Phase.FAILED, n_items=3, mark=2, n_right=1, n_done=3, n_left=1)
    assert assigning.claim_next(stage=stage, person=person) == NothingLeft(Left.NOT_QUALIFIED)
    answer_attempt(stage, person, ["no", "no", "no"])
    resolve_due()
    told = told_to(stage, person)
    assert (told.phase, told.n_right, told.n_left) == (Phase.FAILED, 0, 0)
    drawn = QualificationPlace.objects.values_list("stage_item", flat=True)
    assert len(set(drawn)) == 6
    with pytest.raises(WorkNotPossible, match="No attempt is left"):
        qualifying.begin(stage=stage, person=person, languages=[])


def test_the_draw_is_random_and_the_same_again():
    stage = study(n_pool=30, size=5, mark=3)
    drawn = []
    for _ in range(3):
        attempt = qualifying.begin(stage=stage, person=make_member(stage.project), languages=[])
        drawn.append(list(attempt.places.order_by("position").values_list("stage_item", flat=True)))
    assert len({tuple(sorted(items)) for items in drawn}) == 3
    assert all(len(set(items)) == 5 for items in drawn)


def test_beginning_twice_is_one_attempt():
    stage = study()
    person = make_member(stage.project)
    first = qualifying.begin(stage=stage, person=person, languages=[])
    assert qualifying.begin(stage=stage, person=person, languages=[]) == first
    assert QualificationAttempt.objects.count() == 1


def test_the_first_answer_counts_and_a_skipped_item_is_not_right():
    stage = study(size=2, mark=1)
    person = make_member(stage.project)
    qualifying.begin(stage=stage, person=person, languages=[])
    version = stage.versions.get(is_current=True)
    taken = assigning.claim_next(stage=stage, person=person)
    submitting.submit_annotation(assignment=taken, answer={"label": "no"}, client_key="1", stage_version=version)
    submitting.revise_annotation(assignment=taken, answer={"label": "yes"}, client_key="2", stage_version=version)
    taken = assigning.claim_next(stage=stage, person=person)
    left = submitting.skip_and_claim_next(assignment=taken, reason="broken", languages=[]).next
    assert left == NothingLeft(Left.NOT_QUALIFIED)
    resolve_due()
    assert told_to(stage, person).n_right == 0


def test_what_was_answered_to_qualify_is_in_no_figure():
    stage = study()
    person = make_member(stage.project)
    answer_attempt(stage, person, ["yes", "yes", "yes"])
    resolve_due()
    assert not Annotation.objects.counted().exists()
    counts = counting.stage_counts([stage])[stage.pk]
    assert (counts.n_items, counts.wanted, counts.done, counts.surplus) == (4, 8, 0, 0)
    assert counting.person_counts(person, [stage])[stage.pk].answered == 0
    assert not Participation.objects.filter(n_answered__gt=0).exists()
    assert [str(difference) for difference in recount(repair=False)] == []
    told = qualifying.progress_of(told_to(stage, person))
    assert (told.mine_done, told.mine_total) == (3, 3)


def test_an_attempt_is_ended_once_however_often_its_items_are_looked_at():
    stage = study()
    answer_attempt(stage, make_member(stage.project), ["yes", "yes", "no"])
    places = list(StageItem.objects.filter(purpose="qualification"))
    checks.score(places)
    for place in places:
        qualifying.end_attempts([place])
    assert Event.objects.filter(verb="qualification.passed").count() == 1


def test_an_admin_lets_somebody_pass_or_gives_the_attempts_back():
    stage = study()
    person, admin = make_member(stage.project), make_member(stage.project, "admin")
    for _ in range(2):
        answer_attempt(stage, person, ["no", "no", "no"])
        resolve_due()
    assert qualifying.set_aside(stage=stage, person=person, by=admin, reason="A gold label was wrong.") == 2
    assert told_to(stage, person).phase == Phase.NOT_BEGUN
    # Six of eight items are met: too few for another attempt, which is said.
    with pytest.raises(WorkNotPossible, match="Too few items are left"):
        qualifying.begin(stage=stage, person=person, languages=[])
    qualifying.let_pass(stage=stage, person=person, by=admin, reason="Passed by hand.")
    assert assigning.claim_next(stage=stage, person=person).purpose == ""
    with pytest.raises(WorkNotPossible, match="qualified already"):
        qualifying.let_pass(stage=stage, person=person, by=admin, reason="Again.")
    verbs = Event.objects.filter(verb__startswith="qualification.").values_list("verb", flat=True)
    assert sorted(verbs) == [
        "qualification.begun", "qualification.begun", "qualification.failed", "qualification.failed",
        "qualification.let_pass", "qualification.set_aside", "qualification.set_aside",
    ]  # fmt: skip


def test_somebody_who_passed_can_be_asked_anew():
    stage = study(n_pool=12)
    person, admin = make_member(stage.project), make_member(stage.project, "admin")
    answer_attempt(stage, person, ["yes", "yes", "yes"])
    resolve_due()
    qualifying.set_aside(stage=stage, person=person, by=admin, reason="New guidelines.")
    assert assigning.claim_next(stage=stage, person=person) == NothingLeft(Left.NOT_QUALIFIED)


def test_who_is_let_pass_in_the_middle_goes_on_with_the_work():
    stage = study()
    person, admin = make_member(stage.project), make_member(stage.project, "admin")
    qualifying.begin(stage=stage, person=person, languages=[])
    held = assigning.claim_next(stage=stage, person=person)
    qualifying.let_pass(stage=stage, person=person, by=admin, reason="Known from another study.")
    # What is in somebody's hands may be finished.
    following = submitting.submit_and_claim_next(
        assignment=held, answer={"label": "yes"}, client_key="k", stage_version=stage.versions.get(), languages=[]
    ).next
    assert following.purpose == ""
    resolve_due()
    assert_queue_is_sound(stage)


def test_a_stage_opens_only_with_items_for_two_attempts():
    stage = study(n_pool=5, state="draft")
    with pytest.raises(StageNotReady, match="need 6 items to qualify with, and there are 5"):
        projects.open_stage(stage=stage, by=make_member(stage.project, "admin"))


def test_only_items_in_the_persons_languages_are_drawn():
    stage = study(n_pool=0)
    pool = [make_item(stage.project, gold={"label": ["yes"]}, language=tag) for tag in ("en", "de") * 4]
    checks.set_apart(stage=stage, item_set=make_item_set(stage.project, pool), purpose="qualification", by=None)
    attempt = qualifying.begin(stage=stage, person=make_member(stage.project), languages=["de"])
    assert set(attempt.places.values_list("stage_item__language", flat=True)) == {"de"}
