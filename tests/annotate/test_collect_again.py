"""Exclude and collect again: places become free, somebody else fills them, and lifting gives back what is left."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Annotation, Assignment, Event, Exclusion, FreedPlace, Person, Resolution, Stage
from annotate.services import assigning, counting, excluding, quality_page, submitting
from annotate.services.assigning import Left, NothingLeft
from annotate.services.exporting import answer_rows
from annotate.services.resolving import resolve_due
from evaluation.matrices import Standing, read_people, units_of_stage
from evaluation.services.recounting import recount
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import make_item, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def study(n_items: int = 3, overlap: int = 2) -> Stage:
    stage = make_stage(make_project(), overlap=overlap, order="sequential")
    for _ in range(n_items):
        make_stage_item(stage, make_item(stage.project, gold={"label": ["yes"]}))
    return stage


def work_through(stage: Stage, person: Person, label: str = "yes") -> int:
    n = 0
    taken = assigning.claim_next(stage=stage, person=person)
    while isinstance(taken, Assignment):
        n += 1
        taken = submitting.submit_and_claim_next(
            assignment=taken, answer={"label": label}, client_key=f"key-{taken.pk}",
            stage_version=stage.versions.get(is_current=True), languages=[],
        ).next  # fmt: skip
    return n


def exclude(stage: Stage, person: Person, **fields: Any) -> Exclusion:
    return excluding.exclude_person(
        project=stage.project,
        person=person,
        by=make_member(stage.project, "admin"),
        reason="Failed the checks.",
        rule="3 of 5 checks missed",
        **{"collects_again": True} | fields,
    )


def statuses(stage: Stage) -> list[tuple[str, str]]:
    head, *rows = answer_rows(project=stage.project)
    return sorted((row[head.index("person")], row[head.index("status")]) for row in rows)


def all_is_sound(stage: Stage) -> None:
    resolve_due()
    assert_queue_is_sound(stage)
    assert [str(difference) for difference in recount(repair=False)] == []


def test_excluding_alone_asks_nobody_else():
    stage = study()
    careless, careful, third = (make_member(stage.project) for _ in range(3))
    work_through(stage, careless, "no")
    work_through(stage, careful)
    exclude(stage, careless, collects_again=False)
    assert assigning.claim_next(stage=stage, person=third) == NothingLeft(Left.DONE)
    assert not FreedPlace.objects.exists()


def test_changing_an_answer_does_not_take_its_exclusion_back():
    stage = study(n_items=1, overlap=1)
    person = make_member(stage.project)
    work_through(stage, person, "no")
    excluding.exclude_annotation(
        annotation=Annotation.objects.get(), by=make_member(stage.project, "admin"), reason="A slip."
    )
    submitting.revise_annotation(
        assignment=Assignment.objects.get(), answer={"label": "yes"}, client_key="r", stage_version=stage.versions.get()
    )
    all_is_sound(stage)
    assert not Annotation.objects.counted().exists()
    assert Resolution.objects.get().status == "no_votes"
    assert statuses(stage) == [(person.pseudonym, "excluded"), (person.pseudonym, "superseded")]


def test_freed_places_go_to_somebody_else_and_the_votes_are_theirs():
    stage = study()
    careless, careful, third = (make_member(stage.project) for _ in range(3))
    work_through(stage, careless, "no")
    work_through(stage, careful)
    resolve_due()
    assert set(Resolution.objects.values_list("status", flat=True)) == {"tie"}
    exclusion = exclude(stage, careless)
    all_is_sound(stage)
    counts = counting.stage_counts([stage])[stage.pk]
    assert (counts.done, counts.wanted, counts.n_short, counts.surplus) == (3, 6, 3, 0)
    # Whoever was excluded does not get the items again.
    assert assigning.claim_next(stage=stage, person=careless).kind == Left.NOBODY_ELIGIBLE
    assert work_through(stage, third) == 3
    all_is_sound(stage)
    assert set(Resolution.objects.values_list("status", "answer")) == {("unanimous", "yes")}
    assert statuses(stage) == sorted(
        [(careless.pseudonym, "excluded")] * 3
        + [(careful.pseudonym, "counted")] * 3
        + [(third.pseudonym, "counted")] * 3
    )
    assert Event.objects.get(verb="person.excluded").detail["n_freed"] == 3
    assert exclusion.freed_places.count() == 3


def test_lifting_gives_back_the_places_that_nobody_has_taken():
    stage = study()
    careless, careful, third = (make_member(stage.project) for _ in range(3))
    work_through(stage, careless, "no")
    work_through(stage, careful)
    exclusion = exclude(stage, careless)
    taken = assigning.claim_next(stage=stage, person=third)
    submitting.submit_annotation(
        assignment=taken, answer={"label": "yes"}, client_key="k", stage_version=stage.versions.get()
    )
    excluding.lift_exclusion(exclusion=exclusion, by=make_member(stage.project, "admin"))
    all_is_sound(stage)
    assert sorted(exclusion.freed_places.values_list("has_returned", flat=True)) == [False, True, True]
    mine = [status for person, status in statuses(stage) if person == careless.pseudonym]
    assert sorted(mine) == ["counted", "counted", "surplus"]
    detail = Event.objects.get(verb="exclusion.lifted").detail
    assert (detail["n_returned"], detail["n_taken"]) == (2, 1)
    assert counting.stage_counts([stage])[stage.pk].surplus == 1


def test_one_answer_is_collected_again():
    stage = study(n_items=2, overlap=1)
    careless, other = make_member(stage.project), make_member(stage.project)
    work_through(stage, careless, "no")
    annotation = Annotation.objects.order_by("pk").first()
    exclusion = excluding.exclude_annotation(
        annotation=annotation, by=make_member(stage.project, "admin"), reason="A slip.", collects_again=True
    )
    all_is_sound(stage)
    assert work_through(stage, other) == 1
    all_is_sound(stage)
    people = read_people(stage=stage, units=units_of_stage(stage=stage, field="label"), field="label")
    standings = [row.standing for row in people.answers if row.annotation == annotation.pk]
    assert standings == [Standing.EXCLUDED]
    assert people.outcomes() == {"answered": 2, "excluded": 1}
    assert exclusion.freed_places.count() == 1


def test_an_answer_that_comes_after_the_exclusion_gives_up_its_place_too():
    stage = study(n_items=1, overlap=1)
    careless, other = make_member(stage.project), make_member(stage.project)
    held = assigning.claim_next(stage=stage, person=careless)
    exclusion = exclude(stage, careless)
    submitting.submit_annotation(
        assignment=held, answer={"label": "no"}, client_key="k", stage_version=stage.versions.get()
    )
    all_is_sound(stage)
    assert exclusion.freed_places.count() == 1
    assert work_through(stage, other) == 1
    all_is_sound(stage)


def test_a_place_stays_free_for_as_long_as_any_decision_stands():
    stage = study(n_items=1, overlap=1)
    careless, admin = make_member(stage.project), make_member(stage.project, "admin")
    work_through(stage, careless, "no")
    of_answer = excluding.exclude_annotation(
        annotation=Annotation.objects.get(), by=admin, reason="A slip.", collects_again=True
    )
    of_person = exclude(stage, careless)
    excluding.lift_exclusion(exclusion=of_answer, by=admin)
    all_is_sound(stage)
    assert Assignment.objects.get().slot is None
    excluding.lift_exclusion(exclusion=of_person, by=admin)
    all_is_sound(stage)
    assert Assignment.objects.get().slot == 0


def test_the_same_number_is_told_by_counts_agreement_and_export():
    stage = study(n_items=4, overlap=2)
    careless, careful, third = (make_member(stage.project) for _ in range(3))
    work_through(stage, careless, "no")
    work_through(stage, careful)
    exclude(stage, careless)
    work_through(stage, third)
    all_is_sound(stage)
    exported = [status for _, status in statuses(stage)]
    people = read_people(stage=stage, units=units_of_stage(stage=stage, field="label"), field="label")
    counts = counting.stage_counts([stage])[stage.pk]
    assert exported.count("counted") == Annotation.objects.counted().count() == counts.done == 8
    assert people.outcomes() == {"answered": 8, "excluded": 4}
    assert exported.count("excluded") == 4


def test_a_decision_that_names_an_earlier_revision_is_about_the_answer():
    # An admin has the page of an answer open while its author changes it.
    stage = study(n_items=1, overlap=1)
    person, other, admin = make_member(stage.project), make_member(stage.project), make_member(stage.project, "admin")
    work_through(stage, person, "no")
    first = Annotation.objects.get()
    newer = submitting.revise_annotation(
        assignment=Assignment.objects.get(), answer={"label": "yes"}, client_key="r", stage_version=stage.versions.get()
    )
    about = {"by": admin, "reason": "A slip.", "collects_again": True}
    exclusion = excluding.exclude_annotation(annotation=first, **about)
    all_is_sound(stage)
    assert exclusion.freed_places.count() == 1
    assert excluding.exclude_annotation(annotation=newer, **about) == exclusion
    assert [one.n_answers for one in quality_page.left_out(stage.project)] == [1]
    listed, _ = quality_page.answers_of(stage.project, person)
    assert [row.status for row in listed] == ["excluded"]
    client = Client()
    client.force_login(admin)
    page = client.get(reverse("answer", args=[stage.project.slug, newer.pk]))
    assert [one.pk for one in page.context["exclusions"]] == [exclusion.pk]
    assert page.context["is_excluded"]
    assert work_through(stage, other) == 1
    excluding.lift_exclusion(exclusion=exclusion, by=admin)
    all_is_sound(stage)
    assert [row.has_returned for row in exclusion.freed_places.all()] == [False]
