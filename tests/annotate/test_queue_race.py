"""Fifty people at once, with real threads, connections and commits, on whichever database the tests run."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from django.db import connection, transaction
from django.db.models import Count
from django.db.models.functions import Now

from annotate.checking import Standing
from annotate.models import Annotation, Assignment, Event, Membership, Person, Stage, StageItem
from annotate.services import assigning, excluding, importing, projects, resolving, submitting
from annotate.services.assigning import Left, NothingLeft
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import (
    YES_NO,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db(transaction=True)

N_PEOPLE, OVERLAP, N_ITEMS = 50, 3, 40


def in_threads(work, people: list[Person]) -> list:
    """work(person) for all at once, each on a connection of their own."""
    start = threading.Barrier(len(people))

    def run(person: Person):
        try:
            start.wait(timeout=60)
            return work(person)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        return list(pool.map(run, people))


def work_until_nothing_is_left(stage: Stage, person: Person) -> NothingLeft:
    version = stage.versions.get(is_current=True)
    taken = assigning.claim_next(stage=stage, person=person, languages=[])
    while isinstance(taken, Assignment):
        taken = submitting.submit_and_claim_next(
            assignment=taken,
            answer={"label": "yes"},
            client_key=f"key-{taken.pk}",
            stage_version=version,
            languages=[],
        ).next
    return taken


@pytest.mark.parametrize("order", ["sequential", "seeded"])
def test_fifty_people_at_overlap_three_give_exact_counts(order):
    stage = make_stage(make_project(), overlap=OVERLAP, order=order)
    for _ in range(N_ITEMS):
        make_stage_item(stage)
    people = [make_member(stage.project) for _ in range(N_PEOPLE)]

    endings = in_threads(lambda person: work_until_nothing_is_left(stage, person), people)

    per_item = Assignment.objects.filter(state="submitted", slot__isnull=False).values("stage_item")
    counts = per_item.annotate(
        n=Count("pk"), n_people=Count("person", distinct=True), n_slots=Count("slot", distinct=True)
    )
    assert {(row["n"], row["n_people"], row["n_slots"]) for row in counts} == {(OVERLAP, OVERLAP, OVERLAP)}
    assert len(counts) == N_ITEMS
    assert Annotation.objects.count() == N_ITEMS * OVERLAP
    assert Event.objects.filter(verb="annotation.submitted").count() == N_ITEMS * OVERLAP
    assert StageItem.objects.filter(active=0, done=OVERLAP, due_at__isnull=False).count() == N_ITEMS
    assert_queue_is_sound(stage)
    # Each heard the truth at their moment: others held the rest, they had met the rest, or all was done.
    assert {ending.kind for ending in endings} <= {Left.DONE, Left.ALL_TAKEN, Left.NOBODY_ELIGIBLE}
    assert assigning.claim_next(stage=stage, person=make_member(stage.project)) == NothingLeft(Left.DONE)


def test_fifty_people_who_want_the_last_places_get_them_once():
    stage = make_stage(make_project(), overlap=OVERLAP, order="sequential")
    make_stage_item(stage)
    people = [make_member(stage.project) for _ in range(N_PEOPLE)]

    got = in_threads(lambda person: assigning.claim_next(stage=stage, person=person, languages=[]), people)

    assert sum(isinstance(one, Assignment) for one in got) == OVERLAP
    assert {one.kind for one in got if isinstance(one, NothingLeft)} == {Left.ALL_TAKEN}
    assert_queue_is_sound(stage)


def test_ten_tabs_of_one_person_share_one_item():
    stage = make_stage(make_project(), overlap=OVERLAP, order="sequential")
    for _ in range(N_ITEMS):
        make_stage_item(stage)
    person = make_member(stage.project)

    got = in_threads(lambda same: assigning.claim_next(stage=stage, person=same, languages=[]), [person] * 10)

    assert len({one.pk for one in got}) == 1
    assert Assignment.objects.count() == 1
    assert_queue_is_sound(stage)


def test_ten_clicks_on_submit_store_one_answer_and_take_one_item():
    stage = make_stage(make_project(), overlap=OVERLAP, order="sequential")
    for _ in range(N_ITEMS):
        make_stage_item(stage)
    person = make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=person)
    version = stage.versions.get(is_current=True)

    def click(_: Person):
        return submitting.submit_and_claim_next(
            assignment=Assignment.objects.select_related("stage", "person").get(pk=held.pk),
            answer={"label": "no"},
            client_key="the same form",
            stage_version=version,
            languages=[],
        )

    results = in_threads(click, [person] * 10)

    assert {result.annotation.pk for result in results} == {Annotation.objects.get().pk}
    assert len({result.next.pk for result in results}) == 1
    assert Assignment.objects.count() == 2
    assert_queue_is_sound(stage)


def test_late_answers_and_expiry_at_once_lose_nothing():
    """Leases that ran out are swept, claimed by others and answered late, all at the same moment."""
    stage = make_stage(make_project(), overlap=1, order="sequential")
    for _ in range(10):
        make_stage_item(stage)
    late = [make_member(stage.project) for _ in range(10)]
    held = {person.pk: assigning.claim_next(stage=stage, person=person, languages=[]) for person in late}
    Assignment.objects.update(lease_expires_at="2000-01-01T00:00:00Z")
    fast = [make_member(stage.project) for _ in range(10)]
    version = stage.versions.get(is_current=True)

    def work(person: Person) -> None:
        if person.pk not in held:
            work_until_nothing_is_left(stage, person)
            return
        submitting.submit_annotation(
            assignment=held[person.pk], answer={"label": "no"}, client_key="late", stage_version=version
        )

    in_threads(work, late + fast)

    assert_queue_is_sound(stage)
    assert StageItem.objects.filter(done=1, active=0).count() == 10
    # Every late answer is there; each is counted unless somebody else's was first.
    assert Annotation.objects.filter(client_key="late").count() == 10
    assert Assignment.objects.filter(state="submitted", slot__isnull=False).count() == 10


def add_items(stage: Stage, by: Person, answered: Annotation) -> None:
    item_set = make_item_set(stage.project, [make_item(stage.project)])
    projects.add_items_to_stage(stage=stage, item_set=item_set, by=by)


def reword(stage: Stage, by: Person, answered: Annotation) -> None:
    projects.change_form(stage=stage, by=by, fields=YES_NO, shown_keys=["question"], instruction="Look twice.")


def change(stage: Stage, by: Person, answered: Annotation, overlap: int = OVERLAP + 1) -> None:
    how = {name: getattr(stage, name) for name in ("title", "lease_minutes", "order", "is_closed_book")}
    projects.change_stage(stage=stage, by=by, overlap=overlap, time_limit_seconds=None, permitted_sources="", **how)


def import_items(stage: Stage, by: Person, answered: Annotation) -> None:
    file = io.BytesIO(b'{"id": "new", "question": "Is it new?"}\n')
    importing.import_file(project=stage.project, by=by, stage=stage, file=file, name="more.jsonl")


STAFF_STEPS = {
    "raise the overlap": change,
    "lower the overlap": lambda stage, by, answered: change(stage, by, answered, overlap=1),
    "pause the stage": lambda stage, by, answered: projects.pause_stage(stage=stage, by=by),
    "close the stage": lambda stage, by, answered: projects.close_stage(stage=stage, by=by),
    "add items": add_items,
    "import items": import_items,
    "reword the form": reword,
    "write guidelines": lambda stage, by, answered: projects.write_guidelines(
        project=stage.project, stage=stage, by=by, markdown="Think."
    ),
    "exclude the person": lambda stage, by, answered: excluding.exclude_person(
        project=stage.project, person=answered.assignment.person, by=by, reason="a test"
    ),
    "exclude the answer": lambda stage, by, answered: excluding.exclude_annotation(
        annotation=answered, by=by, reason="a test"
    ),
    "pause the member": lambda stage, by, answered: projects.pause_member(
        membership=Membership.objects.get(person=answered.assignment.person), by=by
    ),
    "count the votes": lambda stage, by, answered: resolving.resolve_due(),
    "end leases": lambda stage, by, answered: assigning.expire_leases(stage=stage),
}


@pytest.mark.parametrize("step", STAFF_STEPS)
def test_no_step_of_staff_and_an_answer_wait_for_one_another(step):
    """The step begins in the middle of an answer: its item is locked, the row that takes the next one unwritten."""
    stage = make_stage(make_project(), overlap=OVERLAP, order="sequential")
    for _ in range(3):
        make_stage_item(stage)
    admin = make_member(stage.project, "admin")
    person = make_member(stage.project)
    first, second = (
        submitting.submit_annotation(
            assignment=assigning.claim_next(stage=stage, person=who, languages=[]),
            answer={"label": "yes"},
            client_key="first",
            stage_version=stage.versions.get(is_current=True),
        )
        for who in (person, make_member(stage.project))
    )
    StageItem.objects.update(due_at="2000-01-01T00:00:00Z")
    held = assigning.claim_next(stage=stage, person=person, languages=[])

    def staff() -> None:
        try:
            STAFF_STEPS[step](stage, admin, first)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            submitting.submit_annotation(
                assignment=held,
                answer={"label": "no"},
                client_key="second",
                stage_version=stage.versions.get(is_current=True),
            )
            StageItem.objects.filter(pk=second.assignment.stage_item_id).update(due_at=Now())
            waiting = pool.submit(staff)
            # Long enough for the step to have taken every lock it can get.
            wait([waiting], timeout=0.4)
            taken = assigning.take_place(stage=stage, person=person, languages=[], standing=Standing())
            assigning.move_on(stage=stage, person=person, taken=taken)
        waiting.result(timeout=30)

    assert Annotation.objects.filter(client_key="second").exists()
    assert Assignment.objects.filter(pk=taken.pk, state="leased").exists()
    assert_queue_is_sound(stage)
