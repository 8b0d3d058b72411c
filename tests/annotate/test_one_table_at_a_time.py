"""A table is read once: its questions are given out one after another, whoever else is at work on it."""

from __future__ import annotations

import itertools
import random

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotate import claim_sql
from annotate.models import Assignment, Item, Person, Stage, StageItem
from annotate.services import assigning, projects, submitting
from annotate.services.assigning import NothingLeft
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.annotate.test_queue_race import in_threads, work_until_nothing_is_left
from tests.factories import make_item, make_item_set, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db

TABLE = {"type": "table", "title": "Ada", "sections": [["", [["Born", "1815"]]]]}


def make_table(stage: Stage, n_questions: int, **fields) -> list[StageItem]:
    table = make_item(stage.project)
    return [make_stage_item(stage, make_question(table), **fields) for _ in range(n_questions)]


def make_question(table: Item) -> Item:
    content = [["question", "When was she born?"], ["table", TABLE]]
    return make_item(table.project, content, root=table, parent=table)


def make_tables(n_tables: int = 4, n_questions: int = 9, **fields) -> Stage:
    stage = make_stage(make_project(), **{"shown_keys": ["question", "table"]} | fields)
    for _ in range(n_tables):
        make_table(stage, n_questions)
    return stage


def answer(stage: Stage, person: Person, taken: Assignment) -> Assignment | NothingLeft:
    return submitting.submit_and_claim_next(
        assignment=taken,
        answer={"label": "yes"},
        client_key=f"key-{taken.pk}",
        stage_version=stage.versions.get(is_current=True),
        languages=[],
    ).next


def answered_by(person: Person) -> list[StageItem]:
    done = Assignment.objects.filter(person=person, state="submitted").order_by("finished_at", "pk")
    return [one.stage_item for one in done.select_related("stage_item")]


def visits(places: list[StageItem]) -> list[int]:
    """The tables somebody worked on, each as often as they came to it."""
    return [root for root, _ in itertools.groupby(places, key=lambda place: place.root_id)]


def test_a_person_begins_with_a_tables_first_question_and_reads_each_table_once():
    stage = make_tables(order="seeded", seed=7)
    StageItem.objects.update(wanted=6)
    for _ in range(6):
        person = make_member(stage.project)
        held = assigning.claim_next(stage=stage, person=person)
        # The draw decides for a table; its first question is where to begin.
        assert held.stage_item.rank == assigning.starting_draw(stage, person) % 36 // 9 * 9
        while isinstance(held, Assignment):
            held = answer(stage, person, held)
        places = answered_by(person)
        assert len(places) == 36
        assert len(visits(places)) == 4
        for _, of_table in itertools.groupby(places, key=lambda place: place.root_id):
            ranks = [place.rank for place in of_table]
            assert ranks == sorted(ranks)


def test_several_people_at_once_each_stay_with_their_table():
    stage = make_tables(overlap=3)
    people = [make_member(stage.project) for _ in range(5)]
    held = {person: assigning.claim_next(stage=stage, person=person) for person in people}
    chance = random.Random(3)
    while at_work := [person for person in people if isinstance(held[person], Assignment)]:
        person = chance.choice(at_work)
        held[person] = answer(stage, person, held[person])
    assert_queue_is_sound(stage)
    assert StageItem.objects.filter(stage=stage, done=3).count() == 36
    for person in people:
        tables = visits(answered_by(person))
        assert len(tables) == len(set(tables)), "nobody comes back to a table they had left"


@pytest.mark.django_db(transaction=True)
def test_ten_people_at_the_same_moment_stay_with_their_tables_and_every_place_is_taken_once():
    stage = make_tables(n_tables=6, n_questions=5, overlap=3)
    people = [make_member(stage.project) for _ in range(10)]
    in_threads(lambda person: work_until_nothing_is_left(stage, person), people)
    assert_queue_is_sound(stage)
    assert StageItem.objects.filter(stage=stage, done=3).count() == 30
    # A question that somebody else is answering at that very moment is passed over, and comes before the next table
    # unless it is held to the end: only at the last question of a table may somebody have to come back.
    coming_back = sum(len(tables) - len(set(tables)) for tables in (visits(answered_by(one)) for one in people))
    assert coming_back <= 6


def test_a_question_that_is_given_back_comes_before_the_next_table():
    stage = make_tables(n_tables=2, n_questions=4, order="sequential")
    first, second = make_member(stage.project), make_member(stage.project)
    kept = assigning.claim_next(stage=stage, person=first)
    held = assigning.claim_next(stage=stage, person=second)
    held = answer(stage, second, held)
    assert [kept.stage_item.rank, held.stage_item.rank] == [0, 2]
    submitting.skip_assignment(assignment=kept, reason="broken")
    held = answer(stage, second, held)
    assert held.stage_item.rank == 0
    held = answer(stage, second, held)
    assert held.stage_item.rank == 3


def test_a_skip_stays_with_the_table_too():
    stage = make_tables(n_tables=2, n_questions=3, order="sequential")
    person = make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=person)
    seen = [held.stage_item.rank]
    for _ in range(3):
        done = submitting.skip_and_claim_next(assignment=held, reason="broken", languages=[])
        held = done.next
        seen.append(held.stage_item.rank)
    assert seen == [0, 1, 2, 3]


def test_questions_that_a_draw_has_scattered_stand_together_in_the_queue():
    stage = make_stage(make_project(), order="sequential")
    tables = [make_item(stage.project) for _ in range(3)]
    scattered = [make_question(tables[n % 3]) for n in range(9)]
    alone = make_item(stage.project)
    item_set = make_item_set(stage.project, [*scattered[:4], alone, *scattered[4:]])
    projects.add_items_to_stage(stage=stage, item_set=item_set)
    in_queue = list(StageItem.objects.filter(stage=stage).order_by("rank").select_related("revision"))
    assert [place.root_id for place in in_queue] == [
        *[tables[0].pk] * 3,
        *[tables[1].pk] * 3,
        *[tables[2].pk] * 3,
        None,
    ]
    assert [place.rank for place in in_queue] == list(range(10))
    # Each table where its first question stood, its questions in the order of the set.
    of_first = [place.revision.item_id for place in in_queue[:3]]
    assert of_first == [scattered[n].pk for n in (0, 3, 6)]


def test_every_place_in_a_queue_names_the_root_of_its_item():
    stage = make_stage(make_project())
    table = make_item(stage.project)
    item_set = make_item_set(stage.project, [make_question(table), make_item(stage.project)])
    projects.add_items_to_stage(stage=stage, item_set=item_set)
    for place in StageItem.objects.select_related("revision__item"):
        assert place.root_id == place.revision.item.root_id


def page_of(stage: Stage, person: Person) -> str:
    cache.clear()
    client = Client()
    client.force_login(person)
    return client.get(reverse("work", args=[stage.project.slug, stage.slug])).content.decode()


def test_the_page_says_which_of_a_tables_questions_it_is():
    stage = make_tables(n_tables=2, n_questions=3, order="sequential")
    person = make_member(stage.project)
    assert "Question 1 of 3 about this table" in page_of(stage, person)
    held = Assignment.objects.get(person=person)
    answer(stage, person, held)
    assert "Question 2 of 3 about this table" in page_of(stage, person)


def test_the_number_is_of_the_table_and_says_nothing_of_others_answers():
    stage = make_tables(n_tables=1, n_questions=3, order="sequential")
    first = make_member(stage.project)
    submitting.submit_annotation(
        assignment=assigning.claim_next(stage=stage, person=first),
        answer={"label": "yes"},
        client_key="key",
        stage_version=stage.versions.get(),
    )
    assert "Question 2 of 3 about this table" in page_of(stage, make_member(stage.project))
    # What is out of the queue is no question any more.
    StageItem.objects.filter(rank=0).update(state="withdrawn")
    Assignment.objects.filter(state="leased").update(state="withdrawn", slot=None)
    StageItem.objects.update(active=0)
    assert "Question 1 of 2 about this table" in page_of(stage, make_member(stage.project))


def test_an_item_by_itself_and_one_among_hundreds_have_no_such_line():
    stage = make_stage(make_project())
    make_stage_item(stage)
    assert "in-root" not in page_of(stage, make_member(stage.project))
    crowded = make_tables(n_tables=1, n_questions=claim_sql.MOST_OF_A_ROOT + 1)
    assert "in-root" not in page_of(crowded, make_member(crowded.project))


def test_items_that_hang_together_without_a_table_are_not_called_one():
    stage = make_stage(make_project(), order="sequential")
    group = make_item(stage.project)
    for _ in range(2):
        make_stage_item(stage, make_item(stage.project, root=group))
    assert "1 of 2 that belong together" in page_of(stage, make_member(stage.project))


def test_a_claim_within_a_root_reads_an_index_and_a_bounded_part_of_the_root():
    stage = make_tables(n_tables=3, n_questions=30)
    person = make_member(stage.project)
    assigning.claim_next(stage=stage, person=person)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    statement, parameters = claim_sql.take_place([], where=claim_sql.AFTER_CURSOR, wait=False, stays_with_root=True)
    explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")  # ninety rows are read faster than any index
        cursor.execute(f"{explain} {statement}", {"stage": stage.pk, "person": person.pk} | parameters)
        plan = "\n".join(str(row) for row in cursor.fetchall())
    assert "SCAN place" not in plan
    assert "SCAN alike" not in plan
    assert "Seq Scan on annotate_stageitem" not in plan
