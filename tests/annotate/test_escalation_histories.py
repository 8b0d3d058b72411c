"""Escalation under any history of answers, changes, exclusions and counts: who is asked, how often, what stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from annotate.models import Assignment, Exclusion, Resolution, StageItem
from annotate.resolution import Status, resolve
from annotate.services import assigning, resolving, submitting
from annotate.services.excluding import exclude_person, lift_exclusion
from annotate.stage_kinds import adjudication_fields
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

N_PEOPLE = 8
WHO = st.integers(0, N_PEOPLE - 1)
# Three meanings, each in several words: equal keys are equal answers.
WORDS = ("365 days", "12 months", "one year", "two", "2", "nine")
MEANINGS = {"365 days": "year", "12 months": "year", "one year": "year", "two": "2", "2": "2", "nine": "9"}
STEPS = st.one_of(
    st.tuples(st.sampled_from(["answer", "answer", "answer", "revise"]), WHO, st.sampled_from(WORDS)),
    st.tuples(st.sampled_from(["exclude", "lift"]), WHO),
    st.tuples(st.just("count"), st.just(0)),
)


@given(n=st.integers(1, 3), k=st.integers(0, 2), m=st.integers(1, 2), steps=st.lists(STEPS, max_size=24))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_rounds_follow_the_rule_and_are_never_taken_back(n, k, m, steps):
    project = make_project()
    judges = make_stage(project, kind="adjudicate", roles=["adjudicator"], form=adjudication_fields(SHORT_ANSWER))
    stage = make_stage(
        project, kind="answer", overlap=n, escalate_by=k, escalate_times=m, adjudicated_in=judges, form=SHORT_ANSWER
    )
    place = make_stage_item(stage)
    version = stage.versions.get(is_current=True)
    admin, people = make_member(project, "admin"), [make_member(project) for _ in range(N_PEOPLE)]
    said: dict[int, str] = {}
    excluded: set[int] = set()
    most_wanted, rounds = n, 1
    # In the end everything is counted.
    for number, (step, who, *words) in enumerate([*steps, ("count", 0)]):
        person = people[who]
        if step == "answer":
            held = assigning.claim_next(stage=stage, person=person)
            # Whoever was asked is asked no more, in whatever round; everybody else is while there is a place.
            place.refresh_from_db()
            is_free = who not in said and len(said) < place.wanted
            assert isinstance(held, Assignment) == is_free
            if isinstance(held, Assignment):
                submitting.submit_annotation(
                    assignment=held, answer={"answer": words[0]}, client_key="k", stage_version=version
                )
                said[who] = words[0]
        elif step == "revise" and who in said:
            mine = Assignment.objects.get(stage=stage, person=person)
            submitting.revise_annotation(
                assignment=mine, answer={"answer": words[0]}, client_key=f"k{number}", stage_version=version
            )
            said[who] = words[0]
        elif step == "exclude" and who not in excluded:
            exclude_person(project=project, person=person, by=admin, reason="a test")
            excluded.add(who)
        elif step == "lift" and who in excluded:
            lift_exclusion(exclusion=Exclusion.objects.standing().get(person=person), by=admin)
            excluded.remove(who)
        elif step == "count":
            # Twice: counting again what is counted opens no further round.
            resolving.resolve_due()
            StageItem.objects.filter(pk=place.pk).update(due_at=None)
            resolving.resolve_due()
        place.refresh_from_db()
        assert place.wanted >= most_wanted
        assert place.round >= rounds
        most_wanted, rounds = place.wanted, place.round
        assert place.wanted == n + (place.round - 1) * k
        assert place.round <= (1 + m if k else 1)
        assert_queue_is_sound(stage)
    votes = [MEANINGS[words] for who, words in said.items() if who not in excluded]
    expected = resolve(votes).status
    resolution = Resolution.objects.filter(stage_item=place).first()
    if resolution is not None:
        assert resolution.status == expected.value
    waits = StageItem.objects.filter(stage=judges, state="open").exists()
    undecided = expected in (Status.TIE, Status.PLURALITY, Status.NO_VOTES)
    is_complete = len(said) == place.wanted
    asked_all = not k or place.round == 1 + m
    if resolution is not None and undecided and is_complete:
        # More people are asked while there are rounds; then an adjudicator is.
        assert asked_all
        assert waits
    if resolution is not None and not undecided:
        assert not waits


QUESTIONS = 40


def in_other_words(answer: str) -> list[str]:
    """What two further people may write who mean the same: other case, blanks around it, a number in words."""
    numbers = {"1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight"}
    # Beside a remark in brackets a number is read as text, and its words are others.
    words = answer if "(" in answer else " ".join(numbers.get(word, word) for word in answer.split())
    return [f" {answer.upper()} " if not any(map(str.isdigit, answer)) else f" {answer} ", words]


@pytest.mark.shared_data
def test_equality_of_keys_finds_the_majorities_on_published_answers(shared_path: Callable[[str], Path]):
    """Three people mean what TempTabQA published, each in words of their own; of every other item one does not."""
    rows = json.loads(shared_path("data/temptabqa/qapairs/dev-set/dev-set.json").read_text(encoding="utf-8"))
    project = make_project(current_date="December 2022")
    stage = make_stage(project, kind="answer", overlap=3, escalate_by=3, form=SHORT_ANSWER)
    people = [make_member(project) for _ in range(3)]
    # The published answers that are awkward on purpose come first.
    awkward = ("(1986)", "decreased", "Billion", "1,352,642,280", "11years", "~ 45", "41/3", "terms")
    rows.sort(key=lambda row: not any(part in row["answer"] for part in awkward))
    expected = {}
    for n, row in enumerate(rows[:QUESTIONS]):
        item = make_item(project, [["question", row["question"]]], external_id=f"q{n}")
        same = [row["answer"], *in_other_words(row["answer"])]
        given = same if n % 2 else [*same[:2], "something else"]
        place = make_stage_item(stage, item)
        for person, answer in zip(people, given, strict=True):
            make_annotation(place, person, {"answer": answer})
        expected[item.external_id] = "unanimous" if n % 2 else "majority"
    resolving.resolve_due()
    found = {
        row.stage_item.revision.item.external_id: row.status
        for row in Resolution.objects.filter(stage_item__stage=stage).select_related("stage_item__revision__item")
    }
    assert found == expected
    # Nobody further is asked.
    assert set(stage.stage_items.values_list("round", "wanted")) == {(1, 3)}


@pytest.mark.shared_data
def test_published_answers_in_other_units_are_one_answer(shared_path: Callable[[str], Path]):
    """Every published answer of so many years, as months: the two and the answer itself are unanimous."""
    found = set()
    for name in ("dev", "head", "tail", "train"):
        path = shared_path(f"data/temptabqa/qapairs/{name}-set/{name}-set.json")
        for row in json.loads(path.read_text(encoding="utf-8")):
            number, _, unit = row["answer"].partition(" ")
            if number.isdecimal() and unit.casefold() in ("years", "year"):
                found.add((row["answer"], int(number)))
    assert len(found) > 10
    project = make_project()
    stage = make_stage(project, kind="answer", overlap=2, form=SHORT_ANSWER)
    people = [make_member(project) for _ in range(2)]
    for answer, years in sorted(found):
        place = make_stage_item(stage)
        make_annotation(place, people[0], {"answer": answer})
        make_annotation(place, people[1], {"answer": f"{12 * years} months"})
    resolving.resolve_due()
    assert set(Resolution.objects.filter(stage_item__stage=stage).values_list("status", flat=True)) == {"unanimous"}
