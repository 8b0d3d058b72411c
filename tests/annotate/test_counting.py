"""Each number of progress means one thing, and none passes its limit."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.models import Assignment, Person, StageItem
from annotate.services import projects, resolving
from annotate.services.counting import (
    PersonCounts,
    Progress,
    StageCounts,
    person_counts,
    progress,
    progress_of,
    stage_counts,
)
from annotate.services.submitting import skip_assignment, submit_annotation
from tests.factories import (
    make_annotation,
    make_assignment,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


def test_an_empty_stage_counts_nothing():
    stage = make_stage()
    assert stage_counts([stage]) == {stage.pk: StageCounts()}
    assert stage_counts([]) == {}


def test_every_number_has_its_own_meaning():
    stage = make_stage(make_project(), overlap=2)
    people = [make_member(stage.project) for _ in range(3)]
    # 0: two votes that agree. 1: a tie. 2: one answer, one at work. 3: skipped once. 4: review. 5: withdrawn.
    items = [make_stage_item(stage) for _ in range(6)]
    for label_pair, item in [(("yes", "yes"), items[0]), (("yes", "no"), items[1])]:
        for person, label in zip(people, label_pair, strict=False):
            make_annotation(item, person, {"label": label})
    make_annotation(items[2], people[0], {"label": "yes"})
    make_assignment(items[2], people[1])
    skip_assignment(assignment=make_assignment(items[3], people[0]), reason="broken")
    StageItem.objects.filter(pk=items[4].pk).update(state="review")
    make_annotation(items[5], people[0], {"label": "yes"})
    StageItem.objects.filter(pk=items[5].pk).update(state="withdrawn")
    assert answer_late(items[0], people[2]).slot is None
    resolving.resolve_due()

    counts = stage_counts([stage])[stage.pk]

    assert counts == StageCounts(
        n_items=5,  # the withdrawn one is apart
        n_short=2,  # items 2 and 3
        n_review=1,
        n_withdrawn=1,
        wanted=10,
        active=1,
        done=5,  # 2 + 2 + 1
        surplus=1,
        skipped=1,
        n_complete=2,
        undecided=1,  # the tie
        uncounted=0,
    )
    assert counts.waiting == 10 - 5 - 1


def answer_late(item: StageItem, person: Person) -> Assignment:
    """An answer to an item whose lease ran out and whose places are all taken."""
    now = timezone.now()
    late = Assignment.objects.create(
        stage=item.stage, stage_item=item, person=person, state="expired", leased_at=now, lease_expires_at=now
    )
    submit_annotation(
        assignment=late, answer={"label": "no"}, client_key="late", stage_version=item.stage.versions.get()
    )
    late.refresh_from_db()
    return late


def test_progress_never_passes_the_whole_after_the_overlap_was_lowered():
    stage = make_stage(make_project(), overlap=3)
    admin = make_member(stage.project, "admin")
    item = make_stage_item(stage)
    for _ in range(2):
        make_annotation(item, make_member(stage.project), {"label": "yes"})
    projects.change_stage(
        stage=stage,
        by=admin,
        title=stage.title,
        overlap=1,
        lease_minutes=30,
        order="seeded",
        is_closed_book=True,
        time_limit_seconds=None,
        permitted_sources="",
    )
    counts = stage_counts([stage])[stage.pk]
    assert (counts.wanted, counts.done, counts.waiting) == (2, 2, 0)


def test_mine_and_everyones_are_apart():
    stage = make_stage(make_project(), overlap=2, order="sequential")
    me, other = make_member(stage.project), make_member(stage.project)
    items = [make_stage_item(stage) for _ in range(4)]
    for item in items[:3]:
        submit_annotation(
            assignment=make_assignment(item, other),
            answer={"label": "yes"},
            client_key="k",
            stage_version=stage.versions.get(),
        )
    submit_annotation(
        assignment=make_assignment(StageItem.objects.get(pk=items[0].pk), me),
        answer={"label": "no"},
        client_key="k",
        stage_version=stage.versions.get(),
    )
    assert person_counts(me, [stage]) == {stage.pk: PersonCounts(answered=1)}
    # Item 0 is complete; 1, 2 and 3 may still be mine.
    assert progress(stage, me) == Progress(mine_done=1, mine_total=4, everyone_done=4, everyone_wanted=8)


def test_my_total_is_never_below_what_i_did():
    # Everything done; what I did includes a surplus answer.
    everyone = StageCounts(n_items=2, wanted=2, done=2, n_complete=2)
    assert progress_of(everyone, PersonCounts(answered=3)).mine_total == 3


def test_a_person_who_is_new_has_done_nothing():
    stage = make_stage()
    assert person_counts(make_member(stage.project), [stage]) == {stage.pk: PersonCounts()}


def test_any_number_of_stages_takes_the_same_queries():
    project = make_project()
    one, *others = [make_stage(project) for _ in range(4)]
    person = make_member(project)
    for stage in (one, *others):
        make_stage_item(stage)
    with CaptureQueriesContext(connection) as few:
        stage_counts([one]), person_counts(person, [one])
    with CaptureQueriesContext(connection) as many:
        stage_counts([one, *others]), person_counts(person, [one, *others])
    assert len(many) == len(few) == 4


def test_everyones_progress_is_counted_once_in_a_while():
    stage = make_stage()
    person = make_member(stage.project)
    progress(stage, person)
    with CaptureQueriesContext(connection) as again:
        progress(stage, person)
    assert len(again) == 1
