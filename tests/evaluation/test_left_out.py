"""Which decisions took what from a report: the oldest of several, on its day, as it stands when the report is made."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Annotation, Exclusion
from annotate.services.excluding import exclude_annotation, exclude_item, exclude_person, lift_exclusion
from evaluation.left_out import read_left_out
from evaluation.matrices import read_people, read_units
from evaluation.reports.account import ANSWER, ITEM, PERSON, Decision
from tests.evaluation.studies import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return make_study(n_items=8, n_people=3)


def read(study, units=None):
    units = units or read_units(item_set=study.item_set, field="label")
    people = read_people(stage=study.stage, item_set=study.item_set, units=units, field="label")
    return read_left_out(stage=study.stage, item_set=study.item_set, units=units, people=people, runs=study.runs)


def told(removed):
    return {(one.decision.scope, one.decision.rule): (one.count, one.n_items, one.n_people) for one in removed}


def person_out(study, number, rule="speed", **fields):
    return exclude_person(project=study.project, person=study.people[number], by=study.admin, reason="why", rule=rule)


def item_out(study, number, rule="bad item"):
    return exclude_item(item=study.items[number], by=study.admin, reason="why", rule=rule)


def answer_of(study, person, item):
    return Annotation.objects.get(
        assignment__person=study.people[person], assignment__stage_item__revision__item=study.items[item]
    )


def test_without_a_decision_nothing_is_left_out(study):
    found = read(study)
    assert (found.n_items, found.items, found.people) == (8, [], [])
    assert found.runs == {run.pk: [] for run in study.runs}


def test_an_answer_belongs_to_the_item_then_the_person_then_itself(study):
    Annotation.objects.update(answer={"label": "yes"})
    item_out(study, 0)
    person_out(study, 0)
    exclude_annotation(annotation=answer_of(study, 0, 1), by=study.admin, reason="a slip")
    exclude_annotation(annotation=answer_of(study, 1, 0), by=study.admin, reason="a slip")
    found = told(read(study).people)
    assert (
        found[ITEM, "bad item"][0]
        == study.stage.assignments.filter(
            state__in=["submitted", "skipped"], stage_item__revision__item=study.items[0]
        ).count()
    )
    assert found[PERSON, "speed"] == (7, 7, 1)
    # Its own decision stands, and took nothing that was not gone.
    assert found[ANSWER, "a slip"] == (0, 0, 0)


def test_of_several_decisions_about_an_item_the_oldest_counts_and_each_run_loses_its_answer(study):
    item_out(study, 0, rule="ambiguous")
    item_out(study, 0, rule="trivial")
    found = read(study)
    assert told(found.items) == {(ITEM, "ambiguous"): (1, 0, 0)}
    assert {run: told(removed) for run, removed in found.runs.items()} == {
        run.pk: {(ITEM, "ambiguous"): (1, 1, 0)} for run in study.runs
    }


def test_a_lifted_decision_counts_nowhere(study):
    lift_exclusion(exclusion=person_out(study, 0), by=study.admin)
    lift_exclusion(exclusion=item_out(study, 0), by=study.admin)
    found = read(study)
    assert (found.n_items, found.items, found.people) == (8, [], [])


def test_a_decision_about_an_earlier_revision_leaves_out_the_answer_as_it_is_now(study):
    answer = answer_of(study, 1, 2)
    exclude_annotation(annotation=answer, by=study.admin, reason="a slip")
    Annotation.objects.filter(pk=answer.pk).update(is_current=False)
    answer.pk, answer.number, answer.client_key = None, answer.number + 1, "changed"
    answer.save()
    assert told(read(study).people) == {(ANSWER, "a slip"): (1, 1, 1)}


def test_the_day_is_that_of_the_projects_time_zone_and_equal_decisions_of_two_days_stand_apart(study):
    person_out(study, 0)
    person_out(study, 1)
    first, second = Exclusion.objects.order_by("pk")
    Exclusion.objects.filter(pk=first.pk).update(decided_at=datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    Exclusion.objects.filter(pk=second.pk).update(decided_at=datetime(2026, 3, 1, 12, 0, tzinfo=UTC))
    type(study.project).objects.filter(pk=study.project.pk).update(time_zone="Asia/Shanghai")
    study.stage.project.refresh_from_db()
    assert [one.decision for one in read(study).people] == [
        Decision(PERSON, "speed", "2026-03-01"),
        Decision(PERSON, "speed", "2026-03-02"),
    ]


def test_decisions_that_come_and_go_while_a_report_is_made_leave_its_account_adding_up(study):
    gone = item_out(study, 0)
    units = read_units(item_set=study.item_set, field="label")
    lift_exclusion(exclusion=gone, by=study.admin)
    item_out(study, 1)
    found = read(study, units)
    # Seven items were read; what left out the eighth was lifted, and one of the seven is left out only now.
    assert (found.n_items, found.items) == (8, [])
    assert told(found.people) == {}


def test_as_many_statements_however_many_decisions_there_are(study):
    def statements():
        units = read_units(item_set=study.item_set, field="label")
        people = read_people(stage=study.stage, item_set=study.item_set, units=units, field="label")
        with CaptureQueriesContext(
            connection,
        ) as queries:
            read_left_out(stage=study.stage, item_set=study.item_set, units=units, people=people, runs=study.runs)
        return len(queries)

    item_out(study, 0)
    person_out(study, 0)
    few = statements()
    for number in range(1, 5):
        item_out(study, number)
    person_out(study, 1)
    assert statements() == few
