"""Which items cannot reach the answers they want with today's people: why, how many, and what is asked for it."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate import claim_sql
from annotate.models import (
    Assignment,
    Candidate,
    Exclusion,
    Item,
    ItemRevision,
    Membership,
    Person,
    QualificationAttempt,
    Stage,
    StageItem,
)
from annotate.reaching import OutOfReach, Place, Reader, Why, out_of_reach, reads
from annotate.services.excluding import exclude_person, lift_exclusion
from annotate.services.gold_labels import note_hands
from annotate.services.reaching import Shortage, reach
from annotate.services.submitting import skip_assignment
from tests.factories import (
    make_annotation,
    make_annotator,
    make_assignment,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

# The pure part


def test_three_readers_are_enough_for_three_answers():
    readers = [Reader(1), Reader(2), Reader(3)]
    assert out_of_reach([Place(10, wanted=3, free=3)], readers, {}) == []
    # One answered it, so two are left for the two that are missing.
    assert out_of_reach([Place(10, wanted=3, free=2)], readers, {10: {1}}) == []


def test_the_widest_reason_is_the_one_that_is_told():
    english, tamil = Reader(1, ("en",), "A"), Reader(2, ("ta", "en"), "B")
    places = [
        Place(10, wanted=3, free=3),
        Place(11, wanted=2, free=2, language="ta"),
        Place(12, wanted=2, free=2, language="en-GB", author_group="B"),
        Place(13, wanted=2, free=2, language="en"),
        Place(14, wanted=1, free=1, language="ta-IN"),
    ]
    found = out_of_reach(places, [english, tamil], {13: {2, 99}, 14: {1}})
    assert found == [
        OutOfReach(places[0], Why.ROLE, n_eligible=2, n_able=2),
        OutOfReach(places[1], Why.LANGUAGE, n_eligible=1, n_able=1),
        OutOfReach(places[2], Why.GROUP, n_eligible=1, n_able=1),
        OutOfReach(places[3], Why.MET, n_eligible=1, n_able=2),
    ]
    assert [one.n_missing for one in found] == [1, 1, 1, 1]


def test_languages_are_read_as_the_claim_reads_them():
    assert reads((), "ta")
    assert reads(("en",), "")
    assert reads(("EN",), "en-GB")
    assert not reads(("en",), "eng")
    assert not reads(("en-GB",), "en")


# The rows


def brute_force(stage: Stage) -> dict[int, int]:
    """How many people each item with a free place could be given to: one question a person, as the claim asks it."""
    short = StageItem.objects.short_of_answers().filter(stage=stage, purpose="")
    found = dict.fromkeys(short.values_list("pk", flat=True), 0)
    members = Membership.objects.active().filter(project=stage.project, role__in=stage.roles)
    excluded = Exclusion.objects.standing().filter(project=stage.project, person__isnull=False).values("person")
    for member in members.exclude(person__in=excluded).select_related("person"):
        condition, parameters = claim_sql.eligible(member.languages)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT place.id FROM annotate_stageitem place "
                f"WHERE place.stage_id = %(stage)s AND {claim_sql.CLAIMABLE} AND {condition}",
                {"stage": stage.pk, "person": member.person_id} | parameters,
            )
            for (pk,) in cursor.fetchall():
                found[pk] += 1
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(12))
def test_everybody_at_once_is_counted_as_the_claim_counts_each(seed: int):
    draw = random.Random(seed)
    project = make_project()
    written, label = make_stage(project, kind="author"), make_stage(project, overlap=2, is_cross_group=True)
    judging = make_stage(project, kind="adjudicate", roles=["adjudicator", "admin"])
    people = [
        make_member(
            project,
            draw.choice(["annotator", "annotator", "annotator", "adjudicator", "viewer"]),
            languages=draw.choice([[], ["en"], ["ta"], ["en", "TA"]]),
            group=draw.choice(["", "A", "B"]),
            state=draw.choice(["active", "active", "active", "paused"]),
        )
        for _ in range(6)
    ]
    outsider = make_annotator()
    for person in draw.sample(people, draw.choice([0, 0, 1])):
        exclude_person(project=project, person=person, by=outsider, reason="drawn")
    for person in draw.sample(people, draw.choice([0, 0, 1])):
        Person.objects.filter(pk=person.pk).update(is_active=False)
    for stage in (label, written):
        for _ in range(8):
            item = make_stage_item(
                stage,
                make_item(project, language=draw.choice(["", "en", "en-GB", "ta"])),
                author=draw.choice([None, *people]),
                author_group=draw.choice(["", "A", "B"]),
                wanted=draw.choice([1, 2, 3]),
            )
            StageItem.objects.filter(pk=item.pk).update(language=draw.choice(["", "en", "en-GB", "ta"]))
            for person in draw.sample([*people, outsider], 3):
                item.refresh_from_db()
                if item.active + item.done >= item.wanted:
                    break
                what = draw.choice(["answer", "hold", "skip", "expired", "nothing"])
                if what == "answer":
                    make_annotation(item, person, {"label": "yes"})
                elif what == "hold":
                    make_assignment(item, person)
                elif what == "skip":
                    skip_assignment(assignment=make_assignment(item, person), reason="broken")
                elif what == "expired":
                    now = timezone.now()
                    Assignment.objects.create(
                        stage=stage,
                        stage_item=item,
                        person=person,
                        state="expired",
                        leased_at=now,
                        lease_expires_at=now,
                    )
    for source in StageItem.objects.filter(stage=label)[:5]:
        about = make_stage_item(judging, source.revision.item, source=source)
        if draw.random() < 0.5:
            make_assignment(about, draw.choice(people))
    for source in StageItem.objects.filter(stage=judging)[:2]:
        make_stage_item(written, source.revision.item, source=source, rank=100 + source.rank)
    auditing = make_stage(project, kind="audit")
    for audited in StageItem.objects.filter(stage=label)[2:6]:
        candidate = Candidate.objects.create(
            project=project, revision=audited.revision, content=[], content_hash=str(audited.pk)
        )
        place = make_stage_item(auditing, audited.revision.item, candidate=candidate)
        if draw.random() < 0.5:
            make_assignment(place, draw.choice(people))
    audits = list(StageItem.objects.filter(stage=auditing))
    for audited in audits[:2]:
        make_stage_item(judging, audited.revision.item, source=audited)
    for place in draw.sample([*StageItem.objects.filter(stage=label), *audits], 5):
        note_hands(place.revision.item, draw.choice(people), draw.choice([None, outsider, *people]))
    found = reach([label, written, judging, auditing])
    for stage in (label, written, judging, auditing):
        free = {row.pk: row.wanted - row.done - row.active for row in StageItem.objects.filter(stage=stage)}
        expected = {pk: n for pk, n in brute_force(stage).items() if n < free[pk]}
        assert {one.place.pk: one.n_eligible for one in found[stage.pk].items} == expected


@pytest.mark.django_db
def test_shortages_say_how_many_for_what_reason_and_how_many_people_it_takes():
    project = make_project()
    stage = make_stage(project, overlap=3)
    english = [make_member(project, languages=["en"]) for _ in range(3)]
    tamil = make_member(project, languages=["ta"])
    for _ in range(7):
        make_stage_item(stage, make_item(project, language="ta"), language="ta")
    met = make_stage_item(stage, make_item(project), language="en")
    skip_assignment(assignment=make_assignment(met, english[0]), reason="broken")
    make_stage_item(stage, make_item(project), language="en")  # within reach

    found = reach([stage])[stage.pk]

    assert found.n_people == 4
    assert found.shortages == [
        Shortage(Why.LANGUAGE, 7, n_missing=2, n_eligible=1, n_able=1, free=3, wanted=3, language="ta"),
        Shortage(Why.MET, 1, n_missing=1, n_eligible=2, n_able=3, free=3, wanted=3),
    ]
    assert tamil not in english


@pytest.mark.django_db
def test_somebody_who_is_paused_or_deactivated_is_nobody_who_could_answer():
    project = make_project()
    stage = make_stage(project, overlap=2)
    make_stage_item(stage)
    first, second = make_member(project), make_member(project)
    assert not reach([stage])[stage.pk].items
    Membership.objects.filter(person=first).update(state="paused")
    Person.objects.filter(pk=second.pk).update(is_active=False)
    (one,) = reach([stage])[stage.pk].items
    assert (one.why, one.n_eligible, one.n_missing) == (Why.ROLE, 0, 2)


@pytest.mark.django_db
def test_somebody_who_is_excluded_is_nobody_who_could_answer_until_that_is_lifted():
    stage = make_stage(overlap=2)
    make_stage_item(stage)
    first, _second = make_member(stage.project), make_member(stage.project)
    admin = make_member(stage.project, "admin")
    made = exclude_person(project=stage.project, person=first, by=admin, reason="too fast")
    (one,) = reach([stage])[stage.pk].items
    assert (one.why, one.n_eligible, one.n_missing) == (Why.ROLE, 1, 1)
    # Of another project they are no less than before.
    elsewhere = make_stage(overlap=1)
    make_stage_item(elsewhere)
    elsewhere.project.memberships.create(person=first, role="annotator")
    assert not reach([elsewhere])[elsewhere.pk].items
    lift_exclusion(exclusion=made, by=admin)
    assert not reach([stage])[stage.pk].items


@pytest.mark.django_db
def test_whoever_can_no_longer_qualify_is_nobody_who_could_answer():
    stage = make_stage(overlap=1, qualification_size=4, qualification_mark=3)
    make_stage_item(stage)
    person = make_member(stage.project)
    for number in (1, 2):
        assert not reach([stage])[stage.pk].items
        QualificationAttempt.objects.create(
            stage=stage, person=person, number=number, state="failed", ended_at=timezone.now()
        )
    assert reach([stage])[stage.pk].n_people == 0
    QualificationAttempt.objects.filter(number=1).update(set_aside_at=timezone.now())
    assert not reach([stage])[stage.pk].items


@pytest.mark.django_db
def test_twenty_thousand_items_and_forty_people_cost_as_many_statements_as_two():
    def statements(stages: list[Stage]) -> int:
        with CaptureQueriesContext(connection) as queries:
            reach(stages)
        return len(queries)

    project = make_project()
    stage = make_stage(project, overlap=3)
    people = [make_member(project, languages=["en"]) for _ in range(40)]
    make_stage_item(stage, make_item(project, language="ta"), language="ta")
    few = statements([stage])
    n_items = 20_000
    items = Item.objects.bulk_create(Item(project=project, external_id=f"n-{n}") for n in range(n_items))
    revisions = ItemRevision.objects.bulk_create(
        ItemRevision(item=item, content=[["question", "?"]], content_hash=str(n)) for n, item in enumerate(items)
    )
    places = StageItem.objects.bulk_create(
        StageItem(
            stage=stage,
            revision=revision,
            rank=n + 1,
            wanted=3,
            done=1,
            language="ta" if n % 20 == 0 else "en",
        )
        for n, revision in enumerate(revisions)
    )
    now = timezone.now()
    Assignment.objects.bulk_create(
        Assignment(
            stage=stage,
            stage_item=place,
            person=people[n % 40],
            state="submitted",
            slot=0,
            leased_at=now,
            lease_expires_at=now + timedelta(minutes=1),
        )
        for n, place in enumerate(places)
    )

    assert statements([stage]) == few
    assert statements([stage, make_stage(project), make_stage(project)]) == few
    found = reach([stage])[stage.pk]
    assert Counter(one.why for one in found.items) == {Why.LANGUAGE: 1_001}
