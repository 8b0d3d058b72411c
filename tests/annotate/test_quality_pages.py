"""The pages about quality: what an admin sees and decides, and what somebody who qualifies is told."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import (
    Annotation,
    Assignment,
    CheckResult,
    Exclusion,
    Membership,
    Person,
    QualificationAttempt,
    Stage,
    StageItem,
)
from annotate.person_token import person_token
from annotate.services import assigning, excluding, submitting
from annotate.services.resolving import resolve_due
from tests.annotate.test_checks import study, work_through
from tests.annotate.test_qualifying import answer_attempt
from tests.annotate.test_qualifying import study as qualified_study
from tests.api_client import ApiClient
from tests.factories import make_item, make_item_set, make_member

pytestmark = pytest.mark.django_db


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.fixture
def stage() -> Stage:
    return study(n_items=12, n_checks=3, every=4, overlap=2)


def quality_page(stage: Stage, person: Person, query: str = "") -> str:
    response = signed_in(person).get(reverse("quality", args=[stage.project.slug]) + query)
    assert response.status_code == 200
    return text_of(response.content.decode())


def test_the_page_tells_of_each_person_what_is_known(stage: Stage):
    careless, careful = make_member(stage.project), make_member(stage.project)
    work_through(stage, careless, "no")
    work_through(stage, careful, "yes")
    resolve_due()
    Annotation.objects.filter(assignment__person=careful).update(active_seconds=30)
    Annotation.objects.filter(assignment__person=careless).update(active_seconds=3)
    page = quality_page(stage, make_member(stage.project, "viewer"))
    assert "Signals, never a verdict" in page
    assert "0 of 3 0.0 – 56.1 %" in page
    assert "3 of 3 43.9 – 100.0 %" in page
    # The median of twelve threes and twelve thirties.
    assert "The median of 24 timed answers is 16 s; an answer below 6 s counts as fast." in page
    assert "100 No others 0, n 12" in page
    assert "not watched" in page
    assert "1 of 2 people gave at least half of the 24 counted answers." in page
    assert "Gini coefficient 0.00" in page
    # A viewer has no buttons.
    assert "Lift" not in page


def test_what_is_not_known_is_said_and_is_no_number(stage: Stage):
    person = make_member(stage.project)
    work_through(stage, person, limit=1)
    page = quality_page(stage, make_member(stage.project, "admin"))
    assert "no check yet" in page
    assert "no shared item" in page
    assert "nobody else has answered" in page
    assert "Gini coefficient undefined: one person alone." in page


def test_a_stage_without_answers_and_a_project_without_stages_say_so(stage: Stage):
    admin = make_member(stage.project, "admin")
    assert "Nobody has answered here yet" in quality_page(stage, admin)
    Stage.objects.update(state="draft")
    assert "No stage to look at yet" in quality_page(stage, admin)


def test_the_number_of_queries_does_not_grow_with_people(stage: Stage):
    client = signed_in(make_member(stage.project, "admin"))
    address = reverse("quality", args=[stage.project.slug])
    numbers = []
    for n in (1, 3):
        for _ in range(n):
            work_through(stage, make_member(stage.project), limit=4)
        resolve_due()
        excluding.exclude_person(
            project=stage.project, person=make_member(stage.project), by=make_member(stage.project, "admin"), reason="r"
        )
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        numbers.append(len(queries))
    assert numbers[0] == numbers[1]


def test_the_floor_can_be_chosen_and_nonsense_is_passed_over(stage: Stage):
    work_through(stage, make_member(stage.project))
    Annotation.objects.update(active_seconds=9)
    admin = make_member(stage.project, "admin")
    assert "an answer below 10 s counts as fast" in quality_page(stage, admin, "?floor=10")
    assert "an answer below 3 s counts as fast" in quality_page(stage, admin, "?floor=soon")


def test_the_tables_can_be_downloaded(stage: Stage):
    person = make_member(stage.project)
    work_through(stage, person, "no")
    resolve_due()
    client = signed_in(make_member(stage.project, "viewer"))
    found = client.get(reverse("quality-signals", args=[stage.project.slug]))
    (row,) = csv.DictReader(io.StringIO(b"".join(found.streaming_content).decode()))
    assert (row["person"], row["answers"], row["checks"], row["checks_right"]) == (person.pseudonym, "12", "3", "0")
    assert (row["longest_run"], row["most_frequent"], row["agreement"], row["excluded"]) == ("12", "no", "", "no")
    found = client.get(reverse("quality-contribution", args=[stage.project.slug]))
    (row,) = csv.DictReader(io.StringIO(b"".join(found.streaming_content).decode()))
    assert (row["rank"], row["person"], row["answers"], row["share_so_far"]) == ("1", person.pseudonym, "12", "1.0")


def test_a_program_reads_the_same_numbers(stage: Stage):
    person = make_member(stage.project)
    work_through(stage, person, "no")
    resolve_due()
    api = ApiClient(make_member(stage.project, "viewer"), "read")
    told = api.get(f"projects/{stage.project.slug}/stages/{stage.slug}/quality/").json()
    (row,) = told["people"]
    assert (row["person"], row["answers"], row["checks"], row["checks_right"]) == (person.pseudonym, 12, 3, 0)
    assert (row["most_frequent"], row["longest_run"], row["agreement"]) == ("no", 12, None)


def told_of(stage: Stage, person: Person) -> tuple[dict[str, str], dict[str, object]]:
    """The row about somebody in the file, and what a program reads of them."""
    viewer = make_member(stage.project, "viewer")
    found = signed_in(viewer).get(reverse("quality-signals", args=[stage.project.slug]))
    rows = csv.DictReader(io.StringIO(b"".join(found.streaming_content).decode()))
    in_file = next(row for row in rows if row["person"] == person.pseudonym)
    people = (
        ApiClient(viewer, "read").get(f"projects/{stage.project.slug}/stages/{stage.slug}/quality/").json()["people"]
    )
    return in_file, next(row for row in people if row["person"] == person.pseudonym)


TIMES, STAGE_TIMES = {"median_seconds", "fast_answers"}, {"stage_median_seconds", "floor_seconds"}
RUNS = {"longest_run", "most_frequent", "most_frequent_share", "others_share"}
WATCHED = {"answers_with_paste", "pasted_characters", "answers_page_left", "away_seconds"}
CHECKED, QUALIFIED = {"checks_right", "checks_lower", "checks_upper"}, {"qualified"}


def nothing_is_known(stage: Stage, person: Person) -> set[str]:
    taken = assigning.claim_next(stage=stage, person=person)
    submitting.skip_assignment(assignment=taken, reason="broken")
    # Who did no work stands in the table for a check that they skipped.
    Assignment.objects.update(purpose="check")
    StageItem.objects.filter(pk=taken.stage_item_id).update(purpose="check")
    return TIMES | STAGE_TIMES | RUNS | WATCHED | CHECKED | QUALIFIED | {"agreement"}


def a_program_answered_alone(stage: Stage, person: Person) -> set[str]:
    work_through(stage, person, limit=1)
    Annotation.objects.update(active_seconds=None)
    return TIMES | STAGE_TIMES | WATCHED | CHECKED | QUALIFIED | {"agreement", "others_share"}


def a_program_among_people(stage: Stage, person: Person) -> set[str]:
    work_through(stage, person)
    work_through(stage, make_member(stage.project))
    resolve_due()
    Annotation.objects.update(active_seconds=7)
    Annotation.objects.filter(assignment__person=person).update(active_seconds=None)
    return TIMES | WATCHED | QUALIFIED


def answers_without_a_value(stage: Stage, person: Person) -> set[str]:
    work_through(stage, person, limit=1)
    Annotation.objects.update(answer={}, active_seconds=7, n_pastes=0, pasted_characters=0, n_away=0, away_seconds=0)
    return RUNS | CHECKED | QUALIFIED | {"agreement"}


def checks_that_wait(stage: Stage, person: Person) -> set[str]:
    work_through(stage, person)
    work_through(stage, make_member(stage.project))
    Annotation.objects.update(active_seconds=7, n_pastes=0, pasted_characters=0, n_away=0, away_seconds=0)
    return CHECKED | QUALIFIED


def everything_is_known(stage: Stage, person: Person) -> set[str]:
    checks_that_wait(stage, person)
    resolve_due()
    # Whatever it is, and 0 is a number: nothing pasted, no fast answer, no check right.
    CheckResult.objects.update(is_right=False)
    Stage.objects.update(qualification_size=1, qualification_mark=1)
    return set()


@pytest.mark.parametrize(
    "history",
    [
        nothing_is_known,
        a_program_answered_alone,
        a_program_among_people,
        answers_without_a_value,
        checks_that_wait,
        everything_is_known,
    ],
)
def test_what_is_not_known_is_no_nought_in_the_file_nor_for_a_program(history, stage: Stage):
    person = make_member(stage.project)
    unknown = history(stage, person)
    in_file, read = told_of(stage, person)
    reasons = dict(one.split(": ") for one in in_file.pop("unknown").split("; ") if one)
    assert {column for column, value in in_file.items() if value == ""} == set(reasons) == unknown
    assert all(reasons.values())
    told = read.pop("unknown")
    assert told == reasons
    assert {column for column, value in read.items() if value is None} == unknown - STAGE_TIMES


def test_why_a_check_says_nothing_is_told_apart(stage: Stage):
    person = make_member(stage.project)
    work_through(stage, person)
    assert "not compared yet" in told_of(stage, person)[1]["unknown"]["checks_right"]
    Assignment.objects.filter(purpose="check").update(state="skipped", slot=None, skip_reason="other")
    assert told_of(stage, person)[1]["unknown"]["checks_right"] == "every check skipped"
    Assignment.objects.filter(purpose="check").update(purpose="")
    assert told_of(stage, person)[1]["unknown"]["checks_right"] == "no check met"


def test_a_person_is_left_out_collected_again_and_taken_back_with_the_numbers_told(stage: Stage):
    careless, careful = make_member(stage.project), make_member(stage.project)
    work_through(stage, careless, "no")
    client = signed_in(make_member(stage.project, "admin"))
    client.post(
        reverse("person-exclude", args=[stage.project.slug, careless.pseudonym]),
        {"reason": "Missed the checks.", "rule": "3 of 3", "collects_again": "on"},
    )
    page = text_of(client.get(reverse("quality", args=[stage.project.slug])).content.decode())
    assert "12 places are free, and others are asked." in page
    assert f"12 answers of {careless.pseudonym} rule: 3 of 3 Missed the checks." in page
    work_through(stage, careful, limit=4)
    other = make_member(stage.project)
    work_through(stage, other, limit=4)
    Stage.objects.update(overlap=1)
    exclusion = Exclusion.objects.get()
    response = client.post(reverse("exclusion-lift", args=[stage.project.slug, exclusion.pk]), {"from": "quality"})
    assert response.url == reverse("quality", args=[stage.project.slug])
    n_taken = exclusion.freed_places.filter(has_returned=False).count()
    said = text_of(client.get(response.url).content.decode())
    if n_taken:
        assert f"Lifted. {12 - n_taken} of 12 answers count again" in said
    assert "Nothing: no decision stands" in said


def test_whoever_is_excluded_is_handed_nothing_more_unless_that_is_asked_for(stage: Stage):
    project, careless = stage.project, make_member(stage.project)
    client = signed_in(make_member(project, "admin"))
    address = reverse("person-exclude", args=[project.slug, careless.pseudonym])
    page = reverse("person", args=[project.slug, careless.pseudonym])
    assert 'name="pauses"' in (before := client.get(page).content.decode())
    assert "checked" in before.split('name="pauses"')[1].split(">")[0]

    client.post(address, {"reason": "Looked things up."})
    assert Membership.objects.get(person=careless).state == "active"
    assert "Still gets items, and what they answer counts nowhere" in client.get(page).content.decode()

    client.post(reverse("exclusion-lift", args=[project.slug, Exclusion.objects.get().pk]))
    client.post(address, {"reason": "Looked things up.", "pauses": "on"})
    assert Membership.objects.get(person=careless).state == "paused"
    assert "Still gets items" not in client.get(page).content.decode()
    assert signed_in(careless).get(reverse("work", args=[project.slug, stage.slug])).status_code == 404


def test_the_only_admin_is_not_excluded_and_paused(stage: Stage):
    admin = make_member(stage.project, "admin")
    client = signed_in(admin)
    address = reverse("person-exclude", args=[stage.project.slug, admin.pseudonym])

    response = client.post(address, {"reason": "Mine do not count.", "pauses": "on"})
    assert response.status_code == 409
    assert "only active admin" in response.content.decode()
    assert not Exclusion.objects.exists()

    assert client.post(address, {"reason": "Mine do not count."}).status_code == 302
    assert Exclusion.objects.get().person == admin


def test_one_answer_has_a_page_where_it_is_left_out(stage: Stage):
    person = make_member(stage.project)
    work_through(stage, person, "no")
    client = signed_in(make_member(stage.project, "admin"))
    listed = client.get(reverse("person-answers", args=[stage.project.slug, person.pseudonym])).content.decode()
    annotation = Annotation.objects.filter(assignment__purpose="").latest("pk")
    address = reverse("answer", args=[stage.project.slug, annotation.pk])
    assert address in listed
    assert "check, in no figure" in listed
    page = text_of(client.get(address).content.decode())
    assert "Is it so? No" in page
    assert "Pasted not watched" in page
    assert client.post(address, {"reason": ""}).status_code == 422
    response = client.post(address, {"reason": "A slip of the hand.", "collects_again": "on"}, follow=True)
    page = text_of(response.content.decode())
    assert "1 place is free, and others are asked." in page
    assert "A slip of the hand. Excluded" in page
    response = client.post(
        reverse("exclusion-lift", args=[stage.project.slug, Exclusion.objects.get().pk]), follow=True
    )
    assert response.redirect_chain[-1][0] == address


def test_items_are_set_apart_and_rules_made_on_the_page_of_the_stage():
    stage = study(n_items=3, n_checks=0, every=0)
    client = signed_in(make_member(stage.project, "admin"))
    gold = [make_item(stage.project, gold={"label": ["yes"]}) for _ in range(3)]
    item_set = make_item_set(stage.project, [*gold, make_item(stage.project)])
    names = [stage.project.slug, stage.slug]
    rules = {"check_every": "10", "qualification_size": "0", "qualification_mark": "0"}
    refused = client.post(reverse("stage-checks", args=names), rules)
    assert refused.status_code == 409
    assert "There are no checks in this stage yet" in refused.content.decode()
    done = client.post(reverse("stage-apart", args=names), {"item_set": item_set.pk, "purpose": "check"}, follow=True)
    assert "3 items set apart. 1 has no gold label and stays as it is." in done.content.decode()
    assert StageItem.objects.filter(purpose="check").count() == 3
    saved = client.post(reverse("stage-checks", args=names), rules | {"tells_checks": "on"}, follow=True)
    assert "Saved. What people did so far stays as it was judged." in saved.content.decode()
    stage.refresh_from_db()
    assert (stage.check_every, stage.tells_checks) == (10, True)


# Somebody who qualifies


def work_page(client: Client, stage: Stage, **headers: str):
    return client.get(reverse("work", args=[stage.project.slug, stage.slug]), headers=headers)


def begin(client: Client, stage: Stage, person: Person):
    return client.post(
        reverse("work-qualify", args=[stage.project.slug, stage.slug]), {"person": person_token(person)}, follow=True
    )


def test_the_work_page_says_where_somebody_stands():
    stage = qualified_study()
    person = make_member(stage.project)
    client = signed_in(person)
    page = text_of(work_page(client, stage).content.decode())
    assert "Before this stage You answer 3 items first. To go on, 2 of them must be right." in page
    page = text_of(begin(client, stage, person).content.decode())
    assert "Before this stage: 1 of 3" in page
    assert "you 0 of 3" in page
    answer_attempt(stage, person, ["no", "no", "yes"])
    page = text_of(work_page(client, stage).content.decode())
    assert "Your answers are being counted" in page
    # The page asks every two seconds, and is told nothing until there is something to tell.
    asked = client.get(
        reverse("work", args=[stage.project.slug, stage.slug]) + "?counted", headers={"HX-Request": "true"}
    )
    assert (asked.status_code, asked.content) == (204, b"")
    resolve_due()
    page = text_of(work_page(client, stage).content.decode())
    assert "Not enough were right this time 1 of 3 are right; 2 are needed. One attempt is left" in page
    answer_attempt(stage, person, ["no", "no", "yes"])
    resolve_due()
    page = text_of(work_page(client, stage).content.decode())
    assert "This stage stays closed to you 1 of 3 are right; 2 are needed. No attempt is left." in page
    page = text_of(begin(client, stage, person).content.decode())
    assert "No attempt is left." in page


def test_an_attempt_is_begun_by_whoever_the_page_was_made_for():
    stage = qualified_study()
    person, other = make_member(stage.project), make_member(stage.project)
    address = reverse("work-qualify", args=[stage.project.slug, stage.slug])
    assert signed_in(person).post(address, {"person": person_token(other)}).status_code == 409
    assert not QualificationAttempt.objects.exists()


def test_an_admin_decides_about_a_qualification_with_a_reason():
    stage = qualified_study()
    person = make_member(stage.project)
    for _ in range(2):
        answer_attempt(stage, person, ["no", "no", "no"])
        resolve_due()
    client = signed_in(make_member(stage.project, "admin"))
    address = reverse("qualification-decide", args=[stage.project.slug, stage.slug, person.pseudonym])
    assert "Nothing was decided: give a reason." in client.post(address, {"step": "pass"}, follow=True).content.decode()
    page = client.post(address, {"step": "pass", "reason": "The label was wrong."}, follow=True).content.decode()
    assert f"The stage is open to {person.pseudonym} now." in page
    assert "let pass" in page
    page = client.post(address, {"step": "set_aside", "reason": "Again."}, follow=True).content.decode()
    assert "3 attempts are set aside." in page


def test_what_checks_came_to_is_told_when_the_stage_is_closed(stage: Stage):
    person = make_member(stage.project)
    work_through(stage, person)
    resolve_due()
    client = signed_in(person)
    assert "whose answer was known" not in work_page(client, stage).content.decode()
    Stage.objects.filter(pk=stage.pk).update(state="closed")
    page = text_of(work_page(client, stage).content.decode())
    assert "Of 3 items whose answer was known, you had 3 right." in page
