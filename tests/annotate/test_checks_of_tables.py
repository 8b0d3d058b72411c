"""Checks where items hang together: a table is never left for one, and the rate is kept all the same."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection

from annotate import claim_sql
from annotate.checking import Standing
from annotate.models import Annotation, Assignment, Item, Participation, Person, QualificationAttempt, Stage, StageItem
from annotate.services import assigning, checks, counting, projects, qualifying, submitting
from annotate.services.assigning import Left, NothingLeft
from annotate.services.resolving import resolve_due
from evaluation.services.recounting import recount
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.annotate.test_one_table_at_a_time import answer, make_question, make_table, page_of
from tests.annotate.test_queue_race import in_threads
from tests.factories import make_item, make_item_set, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

EVERY = 10


def study(
    *, n_tables: int = 3, n_questions: int = 9, check_tables: tuple[int, ...] = (), every: int = EVERY, **fields: Any
) -> Stage:
    """Tables of work, and tables whose questions are all checks; check_tables: how many questions each has."""
    stage = make_stage(
        make_project(),
        **{"overlap": 1, "order": "sequential", "check_every": every, "seed": 5, "shown_keys": ["question", "table"]}
        | fields,
    )
    for _ in range(n_tables):
        make_table(stage, n_questions)
    for n in check_tables:
        set_apart(stage, questions_of(make_item(stage.project), n))
    return stage


def questions_of(table: Item, n: int) -> list[Item]:
    found = [make_question(table) for _ in range(n)]
    for item in found:
        item.golds.create(field="label", answers=["yes"], version=1)
    return found


def set_apart(stage: Stage, items: list[Item], purpose: str = "check") -> checks.SetApart:
    item_set = make_item_set(stage.project, items)
    return checks.set_apart(stage=stage, item_set=item_set, purpose=purpose, by=None)


def work_through(stage: Stage, person: Person, *, limit: int = 1_000) -> list[StageItem]:
    """What the person was given, in the order of giving."""
    given: list[StageItem] = []
    held = assigning.claim_next(stage=stage, person=person)
    while isinstance(held, Assignment) and len(given) < limit:
        given.append(StageItem.objects.get(pk=held.stage_item_id))
        held = answer(stage, person, held)
    return given


def stretches(given: list[StageItem]) -> list[list[StageItem]]:
    return [list(of_table) for _, of_table in itertools.groupby(given, key=lambda place: place.root_id)]


def test_no_table_is_left_for_a_check_and_the_rate_holds():
    # 90 questions, and of every ten items one is a check: ten of a hundred. Those that come due in the last table come
    # no more: nobody is kept when the work is done.
    stage = study(n_tables=10, check_tables=(1,) * 15)
    for _ in range(4):
        StageItem.objects.filter(purpose="").update(done=0, wanted=1)
        given = work_through(stage, make_member(stage.project))
        kinds = Counter(place.purpose for place in given)
        assert kinds[""] == 90
        assert 8 <= kinds["check"] <= 10
        assert [len(of_table) for of_table in stretches(given) if not of_table[0].purpose] == [9] * 10
        Assignment.objects.filter(stage=stage, purpose="").update(slot=None)


def test_checks_come_when_a_table_ends_as_many_as_have_come_due():
    # Of every two one is a check: eight questions in, several are owed, and all are paid before the next table.
    stage = study(n_tables=3, n_questions=8, check_tables=(1,) * 40, every=2)
    given = stretches(work_through(stage, make_member(stage.project)))
    assert not given[0][0].purpose
    assert sum(len(of_table) for of_table in given if of_table[0].purpose) >= 16
    assert [len(of_table) for of_table in given if not of_table[0].purpose] == [8, 8, 8]


def test_a_table_of_checks_is_read_through_and_counts_for_all_of_them():
    stage = study(n_tables=8, check_tables=(3, 3, 3))
    person = make_member(stage.project)
    given = stretches(work_through(stage, person))
    of_checks = [of_table for of_table in given if of_table[0].purpose]
    # 72 questions: about eight checks come due, which two tables of three pay, or three.
    assert 2 <= len(of_checks) <= 3
    assert all(len(of_table) == 3 for of_table in of_checks)
    assert all([one.rank for one in of_table] == sorted(one.rank for one in of_table) for of_table in of_checks)
    assert Participation.objects.get(person=person).checks_owed in (-2, -1, 0, 1)


def test_the_same_person_gets_the_same_checks_at_the_same_places():
    stage = study(n_tables=6, check_tables=(1,) * 9)
    person = make_member(stage.project)
    first = [place.pk for place in work_through(stage, person)]
    StageItem.objects.update(done=0)
    Participation.objects.all().delete()
    Annotation.objects.all().delete()
    Assignment.objects.all().delete()
    assert [place.pk for place in work_through(stage, person)] == first


def test_a_question_of_a_table_is_a_check_in_its_place_among_the_others():
    stage = study(n_tables=3)
    item = StageItem.objects.get(rank=12).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    done = set_apart(stage, [item])
    assert (done.n_moved, done.n_added) == (1, 0)
    given = work_through(stage, make_member(stage.project))
    assert [place.rank for place in given] == list(range(27))
    assert [place.rank for place in given if place.purpose] == [12]


@pytest.mark.parametrize("rank", [9, 13, 17])
def test_the_series_of_a_table_has_no_gap_where_its_check_is(rank: int):
    stage = study(n_tables=3)
    item = StageItem.objects.get(rank=rank).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [item])
    person = make_member(stage.project)
    told = []
    held = assigning.claim_next(stage=stage, person=person)
    while isinstance(held, Assignment):
        told.append(held.stage_item.in_root)
        held = answer(stage, person, held)
    assert told == [(n, 9) for n in range(1, 10)] * 3


def test_a_table_that_others_are_nearly_through_with_is_begun_with_its_check_all_the_same():
    stage = study(n_tables=2, n_questions=5, overlap=2)
    item = StageItem.objects.get(rank=5).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [item])
    StageItem.objects.filter(rank__in=[*range(5), 6, 7]).update(done=2)
    given = work_through(stage, make_member(stage.project))
    assert [place.rank for place in given] == [5, 8, 9]


def test_a_check_whose_table_has_its_answers_comes_by_itself_and_otherwise_with_its_table():
    stage = study(n_tables=3, n_questions=4, every=2)
    item = StageItem.objects.get(rank=9).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [item])
    StageItem.objects.filter(rank__gte=8, purpose="").update(done=1)
    given = work_through(stage, make_member(stage.project))
    assert [place.rank for place in given] == [0, 1, 2, 3, 9, 4, 5, 6, 7]


def test_a_new_check_takes_its_table_to_the_end_of_the_queue_with_it():
    stage = study(n_tables=3)
    table = Item.objects.get(pk=StageItem.objects.get(rank=4).root_id)
    done = set_apart(stage, questions_of(table, 2))
    assert (done.n_added, done.begun) == (2, ())
    in_queue = list(StageItem.objects.order_by("rank"))
    assert [len(of_table) for of_table in stretches(in_queue)] == [9, 9, 11]
    assert in_queue[-1].root_id == table.pk
    told = []
    person = make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=person)
    while isinstance(held, Assignment):
        told.append(held.stage_item.in_root)
        held = answer(stage, person, held)
    assert told == [*[(n, 9) for n in range(1, 10)] * 2, *[(n, 11) for n in range(1, 12)]]


def test_a_table_that_somebody_has_begun_gets_no_new_question():
    stage = study(n_tables=2)
    held = assigning.claim_next(stage=stage, person=make_member(stage.project))
    table = Item.objects.get(pk=held.stage_item.root_id)
    (question,) = questions_of(table, 1)
    done = set_apart(stage, [question])
    assert (done.n_added, done.begun) == (0, (question.external_id,))
    assert list(StageItem.objects.order_by("rank").values_list("rank", flat=True)) == list(range(18))


def test_work_that_comes_after_its_tables_checks_stands_with_them():
    stage = study(n_tables=1)
    table = make_item(stage.project)
    set_apart(stage, questions_of(table, 1))
    later = [make_question(table) for _ in range(4)]
    assert projects.add_items_to_stage(stage=stage, item_set=make_item_set(stage.project, later)) == 4
    of_table = StageItem.objects.filter(root=table).order_by("rank")
    ranks = [place.rank for place in of_table]
    assert ranks == list(range(ranks[0], ranks[0] + 5))
    person = make_member(stage.project)
    given = work_through(stage, person)
    assert [len(one) for one in stretches(given)] == [9, 5]


def test_checks_of_several_tables_in_one_set_stand_table_by_table():
    stage = study(n_tables=1)
    tables = [make_item(stage.project) for _ in range(2)]
    first, second = (questions_of(table, 2) for table in tables)
    set_apart(stage, [first[0], second[0], first[1], second[1]])
    found = StageItem.objects.filter(purpose="check").order_by("rank")
    assert [place.root_id for place in found] == [tables[0].pk, tables[0].pk, tables[1].pk, tables[1].pk]


def test_a_skip_of_a_check_is_a_check_met_and_stays_with_its_table():
    stage = study(n_tables=3, n_questions=4, check_tables=(2, 2), every=4)
    person = make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=person)
    while not held.purpose:
        held = answer(stage, person, held)
    owed, first = Participation.objects.get().checks_owed, held
    held = submitting.skip_and_claim_next(assignment=held, reason="broken", languages=[]).next
    assert held.purpose == "check"
    assert held.stage_item.root_id == first.stage_item.root_id
    assert Participation.objects.get().checks_owed <= owed
    submitting.skip_assignment(assignment=held, reason="broken")
    held = assigning.claim_next(stage=stage, person=person)
    assert (held.purpose, held.stage_item.rank) == ("", 4)


def test_a_check_whose_lease_ran_out_comes_again_before_anything_else():
    stage = study(n_tables=3, n_questions=4, check_tables=(3,), every=4)
    person = make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=person)
    while not held.purpose:
        held = answer(stage, person, held)
    held = answer(stage, person, held)
    for _ in range(2):
        met = held.stage_item_id
        Assignment.objects.filter(pk=held.pk).update(state="expired", slot=None)
        StageItem.objects.filter(pk=met).update(active=0)
        again = assigning.claim_next(stage=stage, person=person)
        assert again.stage_item_id == met
        held = answer(stage, person, again)
    assert (held.purpose, held.stage_item.rank) == ("", 4)
    assert_queue_is_sound(stage)


def test_without_a_rate_there_are_no_checks_and_no_gaps():
    stage = study(n_tables=2, check_tables=(2,))
    item = StageItem.objects.get(rank=3).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [item])
    Stage.objects.update(check_every=0)
    stage.refresh_from_db()
    person = make_member(stage.project)
    told = []
    held = assigning.claim_next(stage=stage, person=person)
    while isinstance(held, Assignment):
        assert not held.purpose
        told.append(held.stage_item.in_root)
        held = answer(stage, person, held)
    assert told == [*[(n, 8) for n in range(1, 9)], *[(n, 9) for n in range(1, 10)]]
    assert Participation.objects.get().checks_owed == 0


def test_what_there_was_no_check_for_is_not_owed_when_some_are_added():
    stage = study(n_tables=8, n_questions=6, check_tables=(1,), every=3)
    person = make_member(stage.project)
    work_through(stage, person, limit=31)
    for _ in range(12):
        set_apart(stage, questions_of(make_item(stage.project), 1))
    given = stretches(work_through(stage, person, limit=12))
    # Not the ten that had come due before, one after another: those of the last table, and what comes due meanwhile.
    runs = itertools.groupby(given, lambda of_table: bool(of_table[0].purpose))
    assert 1 <= max(len(list(run)) for is_check, run in runs if is_check) <= 5


def test_items_to_qualify_with_hang_on_no_table():
    stage = study(n_tables=2, n_questions=5, check_tables=(1,) * 4, qualification_size=2, qualification_mark=1)
    pool = questions_of(Item.objects.get(pk=StageItem.objects.get(rank=0).root_id), 4)
    set_apart(stage, pool, purpose="qualification")
    taken_out = StageItem.objects.get(rank=7).revision.item
    taken_out.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [taken_out], purpose="qualification")
    assert set(StageItem.objects.filter(purpose="qualification").values_list("root", flat=True)) == {None}
    person = make_member(stage.project)
    assert assigning.claim_next(stage=stage, person=person) == NothingLeft(Left.NOT_QUALIFIED)
    qualifying.begin(stage=stage, person=person, languages=[])
    attempt = work_through(stage, person)
    assert [place.purpose for place in attempt] == ["qualification"] * 2
    assert Participation.objects.get().checks_owed == 0
    resolve_due()
    assert QualificationAttempt.objects.get().state == "passed"
    assert "Question 1 of 5 about this table" in page_of(stage, person)
    given = work_through(stage, person)
    # Of the table's questions one was taken out of the series; the others have no gap.
    assert [len(of_table) for of_table in stretches(given) if not of_table[0].purpose] == [5, 4]
    # Made a check, what nobody was given to qualify is a question of its table again.
    spare = StageItem.objects.filter(purpose="qualification", assignments=None).select_related("revision__item")[0]
    set_apart(stage, [spare.revision.item])
    spare.refresh_from_db()
    assert spare.root_id == spare.revision.item.root_id


def test_a_check_at_the_very_end_is_still_an_item_that_is_left():
    stage = study(n_tables=1, n_questions=3)
    item = StageItem.objects.get(rank=2).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [item])
    person = make_member(stage.project)
    told = []
    held = assigning.claim_next(stage=stage, person=person)
    while isinstance(held, Assignment):
        cache.clear()
        shown = counting.progress(stage, person)
        told.append(
            (bool(held.purpose), shown.mine_total - shown.mine_done, shown.everyone_wanted - shown.everyone_done)
        )
        held = answer(stage, person, held)
    assert told == [(False, 2, 2), (False, 1, 1), (True, 1, 1)]
    cache.clear()
    shown = counting.progress(stage, person)
    assert (shown.mine_done, shown.mine_total) == (3, 3)
    assert shown.everyone_done == shown.everyone_wanted


def test_no_number_of_a_stage_with_tables_tells_a_check_from_work():
    stage = study(n_tables=6, check_tables=(2, 1, 1), every=5, overlap=2)
    item = StageItem.objects.get(rank=12).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [item])
    person, seen = make_member(stage.project), []

    def shown() -> tuple[int, int, int, int]:
        cache.clear()
        told = counting.progress(stage, person)
        return (told.mine_done, told.mine_total, told.everyone_done, told.everyone_wanted)

    held = assigning.claim_next(stage=stage, person=person)
    while isinstance(held, Assignment) and len(seen) < 40:
        before, is_check = shown(), bool(held.purpose)
        held = answer(stage, person, held)
        seen.append((is_check, tuple(b - a for a, b in zip(before, shown(), strict=True))))
    assert {moved for _, moved in seen} == {(1, 0, 1, 0)}
    assert {is_check for is_check, _ in seen} == {True, False}


def test_checks_that_stand_out_among_tables_are_told_to_who_sets_them_apart():
    stage = study(n_tables=2)
    assert checks.n_standing_out(stage) == 0
    set_apart(stage, [make_item(stage.project, gold={"label": ["yes"]})])
    set_apart(stage, questions_of(make_item(stage.project), 2))
    assert checks.n_standing_out(stage) == 1
    # Where work stands by itself too, nobody can tell.
    make_stage_item(stage)
    assert checks.n_standing_out(stage) == 0


def test_a_standing_counts_what_is_due_and_what_was_met():
    standing = Standing().after_one(is_check=False, is_due=True).after_one(is_check=False, is_due=True)
    assert (standing.n_met, standing.checks_owed) == (2, 2)
    assert standing.after_one(is_check=True, is_due=False).checks_owed == 1


@pytest.mark.django_db(transaction=True)
def test_people_who_read_tables_at_the_same_moment_leave_none_for_a_check():
    stage = study(n_tables=8, n_questions=5, check_tables=(1,) * 6, every=6, overlap=2, order="seeded")
    item = StageItem.objects.get(rank=12).revision.item
    item.golds.create(field="label", answers=["yes"], version=1)
    set_apart(stage, [item])
    people = [make_member(stage.project) for _ in range(6)]

    def work(person: Person) -> list[StageItem]:
        return work_through(stage, person)

    found = in_threads(work, people)
    assert_queue_is_sound(stage)
    assert StageItem.objects.filter(purpose="", done=2).count() == 39
    resolve_due()
    assert [str(difference) for difference in recount(repair=False)] == []
    for given in found:
        tables = [of_table[0].root_id for of_table in stretches(given)]
        # A question given back at that very moment may bring somebody back to a table, a check never does.
        assert len(tables) - len(set(tables)) <= 1
    assert sum(place.purpose != "" for given in found for place in given) >= 6


@pytest.mark.parametrize("owes_check", [False, True])
def test_a_claim_with_checks_reads_indexes_alone(owes_check: bool):
    stage = study(n_tables=3, n_questions=30, check_tables=(2, 2, 2))
    person = make_member(stage.project)
    assigning.claim_next(stage=stage, person=person)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    statement, parameters = claim_sql.take_place(
        [], where=claim_sql.AFTER_CURSOR, wait=False, stays_with_root=True, has_checks=True, owes_check=owes_check
    )
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    own = {"stage": stage.pk, "person": person.pk, "factor": 3, "offset": 5}
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")  # a hundred rows are read faster than any index
        cursor.execute(f"{explain} {statement}", own | parameters)
        plan = "\n".join(str(row) for row in cursor.fetchall())
    for name in ("place", "alike", "beside", "first", "work"):
        assert f"SCAN {name}" not in plan
    assert "Seq Scan on annotate_stageitem" not in plan
