"""Hidden checks: who meets which of them when, what their first answers come to, and that they count nowhere else."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from annotate.checking import check_is_due, order_of_checks
from annotate.exceptions import StageNotReady, WorkNotPossible
from annotate.models import Annotation, Assignment, CheckResult, Event, Person, Resolution, Stage, StageItem
from annotate.services import assigning, checks, counting, gold_labels, projects, submitting
from annotate.services.assigning import Left, NothingLeft
from annotate.services.resolving import resolve_due
from evaluation.services.recounting import recount
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import SHORT_ANSWER, make_item, make_item_set, make_member, make_stage, make_stage_item


def positions(who: str, *, every: int, n: int, seed: int = 7) -> list[int]:
    return [n_met for n_met in range(n) if check_is_due(seed=seed, who=who, n_met=n_met, every=every)]


def test_each_block_of_ten_has_one_check_at_a_place_of_its_own():
    found = positions("ab12", every=10, n=1_000)
    assert [place // 10 for place in found] == list(range(100))
    assert len({place % 10 for place in found}) == 10
    assert found == positions("ab12", every=10, n=1_000)
    assert found != positions("cd34", every=10, n=1_000)
    assert found != positions("ab12", every=10, n=1_000, seed=8)


@pytest.mark.parametrize("every", [2, 3, 10])
def test_nobody_begins_with_a_check(every: int):
    assert not any(0 in positions(f"person {n}", every=every, n=every) for n in range(200))


def test_checks_alone_are_refused():
    with pytest.raises(ValueError, match="room for others"):
        check_is_due(seed=1, who="a", n_met=3, every=1)


def test_everybody_has_an_order_of_their_own():
    orders = set()
    for n in range(50):
        factor, offset = order_of_checks(seed=3, who=f"person {n}")
        assert 1 <= factor < 1_000_003
        orders.add(min(range(10), key=lambda rank, f=factor, o=offset: (rank * f + o) % 1_000_003))
    assert len(orders) > 5


# In a stage


def study(*, n_items: int = 12, n_checks: int = 3, every: int = 4, **fields: Any) -> Stage:
    """A stage with work, and checks whose gold label is yes."""
    stage = make_stage(**{"overlap": 1, "order": "sequential", "check_every": every, "seed": 11} | fields)
    for _ in range(n_items):
        make_stage_item(stage)
    gold = [make_item(stage.project, gold={"label": ["yes"]}) for _ in range(n_checks)]
    checks.set_apart(stage=stage, item_set=make_item_set(stage.project, gold), purpose="check", by=None)
    return stage


def work_through(stage: Stage, person: Person, label: str = "yes", limit: int = 1_000) -> list[Assignment]:
    """Answer whatever comes, at most so many."""
    given: list[Assignment] = []
    taken = assigning.claim_next(stage=stage, person=person)
    while isinstance(taken, Assignment) and len(given) < limit:
        given.append(taken)
        taken = submitting.submit_and_claim_next(
            assignment=taken,
            answer={"label": label},
            client_key=f"key-{taken.pk}",
            stage_version=stage.versions.get(is_current=True),
            languages=[],
        ).next
    return given


@pytest.mark.django_db
def test_checks_come_at_their_places_and_each_person_gets_each_once():
    stage = study(n_items=40, n_checks=5, every=4, overlap=2)
    person = make_member(stage.project)
    given = work_through(stage, person)
    at = [n for n, assignment in enumerate(given) if assignment.purpose]
    expected = positions(person.pseudonym, every=4, n=45, seed=stage.seed)
    assert at == expected[:5]
    assert len({assignment.stage_item_id for assignment in given}) == len(given) == 45
    other = make_member(stage.project)
    assert Counter(one.purpose for one in work_through(stage, other)) == {"": 40, "check": 5}
    assert_queue_is_sound(stage)


@pytest.mark.django_db
def test_reading_on_goes_by_the_work_and_not_by_the_checks():
    stage = study(n_items=8, n_checks=2, every=4)
    given = work_through(stage, make_member(stage.project))
    assert [one.stage_item.rank for one in given if not one.purpose] == list(range(8))


@pytest.mark.django_db
def test_checks_keep_nobody_when_the_work_is_done():
    stage = study(n_items=6, n_checks=3, every=3)
    work_through(stage, make_member(stage.project))
    assert assigning.claim_next(stage=stage, person=make_member(stage.project)) == NothingLeft(Left.DONE)


@pytest.mark.django_db
def test_a_check_is_in_no_count_and_no_vote():
    stage = study(n_items=6, n_checks=2, every=3)
    work_through(stage, make_member(stage.project), label="no")
    resolve_due()
    counts = counting.stage_counts([stage])[stage.pk]
    assert (counts.n_items, counts.wanted, counts.done, counts.n_short, counts.surplus) == (6, 6, 6, 0, 0)
    assert (counts.n_checks, counts.checks_done) == (2, 2)
    assert Annotation.objects.counted().count() == 6
    assert not Resolution.objects.exclude(stage_item__purpose="").exists()
    assert not StageItem.objects.due().exists()
    assert [str(difference) for difference in recount(repair=False)] == []


@pytest.mark.django_db
def test_checks_that_a_stage_counts_are_counted_and_compared():
    stage = make_stage(overlap=1, order="sequential", check_every=2, seed=1)
    for _ in range(3):
        make_stage_item(stage)
    gold = make_item_set(stage.project, [make_item(stage.project, gold={"label": ["yes"]})])
    checks.set_apart(stage=stage, item_set=gold, purpose="counted_check", by=None)
    work_through(stage, make_member(stage.project))
    resolve_due()
    assert Annotation.objects.counted().count() == 4
    assert Resolution.objects.get(stage_item__purpose="counted_check").n_votes == 1
    assert CheckResult.objects.get().is_right is True
    assert [str(difference) for difference in recount(repair=False)] == []


@pytest.mark.django_db
def test_the_first_answer_is_what_is_compared():
    stage = study(n_items=4, n_checks=1, every=2)
    person = make_member(stage.project)
    work_through(stage, person, label="no")
    check = Assignment.objects.get(purpose="check")
    version = stage.versions.get(is_current=True)
    submitting.revise_annotation(assignment=check, answer={"label": "yes"}, client_key="again", stage_version=version)
    resolve_due()
    result = CheckResult.objects.get()
    assert (result.is_right, result.gold_versions) == (False, [["label", 1]])


@pytest.mark.django_db
def test_answers_are_compared_by_what_they_mean():
    stage = make_stage(kind="answer", form=SHORT_ANSWER, check_every=2)
    item = make_item(stage.project, gold={"answer": ["12 months", "about a year"]})
    version = stage.versions.get()
    fields = checks.fields_from_json(version.fields)
    golds = list(item.golds.all())
    assert checks.compare(fields, {"answer": "365 days"}, golds) == (True, [["answer", 1]])
    assert checks.compare(fields, {"answer": "2 years"}, golds) == (False, [["answer", 1]])
    assert checks.compare(fields, {}, golds) == (False, [["answer", 1]])
    assert checks.compare(fields, {"answer": "one year"}, []) == (None, [])


@pytest.mark.django_db
def test_a_number_in_a_file_is_compared_as_a_number():
    stage = make_stage(form=[{"name": "n", "type": "number", "caption": "How many?", "decides": True}])
    item = make_item(stage.project, gold={"n": ["12"]})
    fields = checks.fields_from_json(stage.versions.get().fields)
    assert checks.compare(fields, {"n": "12.0"}, item.golds.all())[0] is True
    assert checks.compare(fields, {"n": "13"}, item.golds.all())[0] is False


@pytest.mark.django_db
def test_a_repaired_gold_label_judges_again():
    stage = study(n_items=4, n_checks=1, every=2)
    work_through(stage, make_member(stage.project), label="no")
    resolve_due()
    assert CheckResult.objects.get().is_right is False
    item = StageItem.objects.get(purpose="check").revision.item
    gold_labels.write_gold(
        item=item, field="label", answers=["no"], origin="expert", made_by=make_member(stage.project, "admin")
    )
    resolve_due()
    result = CheckResult.objects.get()
    assert (result.is_right, result.gold_versions) == (True, [["label", 2]])


@pytest.mark.django_db
def test_three_equal_skips_take_no_check_from_the_others():
    stage = study(n_items=9, n_checks=1, every=2)
    check = StageItem.objects.get(purpose="check")
    for _ in range(3):
        person = make_member(stage.project)
        taken = assigning.claim_next(stage=stage, person=person)
        while not taken.purpose:
            taken = submitting.skip_and_claim_next(assignment=taken, reason="other", languages=[]).next
        submitting.skip_assignment(assignment=taken, reason="broken")
        StageItem.objects.filter(stage=stage).exclude(state="open").update(state="open")
    check.refresh_from_db()
    assert (check.state, check.active, check.done) == ("open", 0, 0)


@pytest.mark.django_db
def test_only_items_with_gold_that_nobody_met_are_set_apart():
    stage = make_stage(check_every=0)
    answered, fresh, bare = (
        make_item(stage.project, gold=gold) for gold in ({"label": ["yes"]}, {"label": ["no"]}, {})
    )
    for item in (answered, fresh):
        make_stage_item(stage, item)
    person = make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=person)
    assert held.stage_item.revision.item in (answered, fresh)
    met = held.stage_item.revision.item
    item_set = make_item_set(stage.project, [answered, fresh, bare])
    done = checks.set_apart(stage=stage, item_set=item_set, purpose="check", by=None)
    assert (done.n_added, done.n_moved, done.without_gold, done.answered) == (
        0, 1, (bare.external_id,), (met.external_id,),
    )  # fmt: skip
    again = checks.set_apart(stage=stage, item_set=item_set, purpose="check", by=None)
    assert (again.n_added, again.n_moved, again.n_known) == (0, 0, 1)
    assert Event.objects.filter(verb="stage.set_apart").count() == 1


@pytest.mark.django_db
def test_rules_that_could_not_be_kept_are_refused():
    stage, admin = make_stage(), None
    rules: dict[str, Any] = {"tells_checks": False, "qualification_size": 0, "qualification_mark": 0}
    with pytest.raises(WorkNotPossible, match="no checks in this stage"):
        checks.change_rules(stage=stage, by=admin, check_every=10, **rules)
    with pytest.raises(WorkNotPossible, match="Every item would be a check"):
        checks.change_rules(stage=stage, by=admin, check_every=1, **rules)
    with pytest.raises(WorkNotPossible, match="More right answers"):
        checks.change_rules(
            stage=stage, by=admin, check_every=0, **rules | {"qualification_size": 2, "qualification_mark": 3}
        )
    with pytest.raises(WorkNotPossible, match="need 4 items to qualify with, and there are 0"):
        checks.change_rules(
            stage=stage, by=admin, check_every=0, **rules | {"qualification_size": 2, "qualification_mark": 1}
        )
    assert not Event.objects.filter(verb="stage.checks_changed").exists()


@pytest.mark.django_db
def test_a_stage_with_checks_alone_does_not_open():
    stage = study(n_items=0, n_checks=2, state="draft")
    with pytest.raises(StageNotReady, match="no items"):
        projects.open_stage(stage=stage, by=make_member(stage.project, "admin"))


@pytest.mark.django_db
def test_another_overlap_leaves_checks_open_to_everybody():
    stage = study()
    projects.change_stage(
        stage=stage, by=make_member(stage.project, "admin"), title="S", overlap=2, lease_minutes=5, order="seeded",
        is_closed_book=True, time_limit_seconds=None, permitted_sources="",
    )  # fmt: skip
    assert set(StageItem.objects.filter(purpose="check").values_list("wanted", flat=True)) == {StageItem.EVERYBODY}
    assert set(StageItem.objects.filter(purpose="").values_list("wanted", flat=True)) == {2}


# What somebody could learn from numbers


@pytest.mark.django_db
def test_no_number_of_mine_or_everyones_tells_a_check_from_work():
    stage = study(n_items=30, n_checks=5, every=5, overlap=2)
    person = make_member(stage.project)
    seen = []
    taken = assigning.claim_next(stage=stage, person=person)
    while isinstance(taken, Assignment) and len(seen) < 25:
        before = _progress(stage, person)
        taken_purpose = taken.purpose
        taken = submitting.submit_and_claim_next(
            assignment=taken, answer={"label": "yes"}, client_key=f"key-{taken.pk}",
            stage_version=stage.versions.get(is_current=True), languages=[],
        ).next  # fmt: skip
        after = _progress(stage, person)
        seen.append((bool(taken_purpose), tuple(b - a for a, b in zip(before, after, strict=True))))
    assert {moved for _, moved in seen} == {(1, 0, 1, 0)}
    assert {is_check for is_check, _ in seen} == {True, False}


def _progress(stage: Stage, person: Person) -> tuple[int, int, int, int]:
    everyone, mine = counting.stage_counts([stage])[stage.pk], counting.person_counts(person, [stage])[stage.pk]
    told = counting.progress_of(everyone, mine, check_every=stage.check_every)
    return (told.mine_done, told.mine_total, told.everyone_done, told.everyone_wanted)
