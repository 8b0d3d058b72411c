"""The figures of a project's people: what checks came to, who may hear it when, and who did how much."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.models import Assignment, CheckResult, Stage
from annotate.services import excluding, quality, submitting
from annotate.services.quality import CheckFigures
from annotate.services.resolving import resolve_due
from tests.annotate.test_checks import study, work_through
from tests.factories import make_annotation, make_member, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


def test_check_figures_are_by_person_with_their_interval():
    stage = study(n_items=12, n_checks=3, every=3, overlap=2)
    good, bad = make_member(stage.project), make_member(stage.project)
    work_through(stage, good, "yes")
    work_through(stage, bad, "no")
    figures = quality.check_figures(project=stage.project)
    assert figures[good.pk] == CheckFigures(n_waiting=3)
    assert (figures[good.pk].share, figures[good.pk].interval) == (None, None)
    resolve_due()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        figures = quality.check_figures(project=stage.project, stage=stage)
    assert len(queries) == 1
    assert figures == {good.pk: CheckFigures(n=3, n_right=3), bad.pk: CheckFigures(n=3)}
    lower, upper = figures[good.pk].interval
    assert 0.4 < lower < 0.5
    assert upper == 1.0
    assert quality.check_figures(project=stage.project, people=[bad.pk]).keys() == {bad.pk}


def test_own_checks_are_told_after_the_stage_or_in_whole_blocks():
    stage = study(n_items=60, n_checks=14, every=4)
    person = make_member(stage.project)
    work_through(stage, person)
    resolve_due()
    CheckResult.objects.filter(pk__in=CheckResult.objects.order_by("-pk").values("pk")[:4]).update(is_right=False)
    assert CheckResult.objects.count() == 14
    assert quality.own_checks(stage, person) is None
    stage.tells_checks = True
    assert quality.own_checks(stage, person).n == 10
    stage.state = Stage.State.CLOSED
    assert quality.own_checks(stage, person) == CheckFigures(n=14, n_right=10)
    assert quality.own_checks(stage, make_member(stage.project)) is None


def test_nine_checks_are_told_of_only_when_the_stage_is_closed():
    stage = study(n_items=40, n_checks=9, every=4, tells_checks=True)
    person = make_member(stage.project)
    work_through(stage, person)
    resolve_due()
    assert quality.own_checks(stage, person) is None


def test_items_that_many_got_wrong_come_first():
    stage = study(n_items=12, n_checks=2, every=3, overlap=3)
    first = stage.stage_items.filter(purpose="check").order_by("rank").first()
    first.revision.item.golds.update(answers=["no"])
    for _ in range(2):
        work_through(stage, make_member(stage.project), "yes")
    resolve_due()
    found = quality.check_items(stage)
    assert [(one.place.pk == first.pk, one.n, one.n_right) for one in found] == [(True, 2, 0), (False, 2, 2)]


def test_signals_are_of_first_answers_to_work_alone():
    stage = study(n_items=6, n_checks=2, every=3)
    person = make_member(stage.project)
    work_through(stage, person, "no")
    given = Assignment.objects.filter(purpose="").order_by("pk").first()
    submitting.revise_annotation(
        assignment=given, answer={"label": "yes"}, client_key="again", stage_version=stage.versions.get()
    )
    with CaptureQueriesContext(connection) as queries:
        found = quality.stage_signals(stage)
    assert len(queries) == 3
    mine = found.people[person.pk]
    assert (mine.n, mine.longest_run, mine.top_key, mine.top_share) == (6, 6, "no", 1.0)


def test_contribution_counts_what_figures_count():
    stage = make_stage(overlap=3)
    places = [make_stage_item(stage) for _ in range(3)]
    busy, lazy = make_member(stage.project), make_member(stage.project)
    for place in places:
        make_annotation(place, busy, {"label": "yes"})
    make_annotation(places[0], lazy, {"label": "yes"})
    found = quality.contribution(project=stage.project)
    assert found.people == [(busy.pk, 3), (lazy.pk, 1)]
    assert (found.curve.n_answers, found.curve.n_people, found.curve.share_of(1)) == (4, 2, 0.75)
    assert found.n_left_out == 0


def test_contribution_leaves_out_what_is_left_out_and_says_how_much():
    """An item, an answer and a person: each answer once, also where two reasons leave it out."""
    stage = make_stage(overlap=3)
    admin = make_member(stage.project, "admin")
    places = [make_stage_item(stage) for _ in range(4)]
    busy, lazy, careless = (make_member(stage.project) for _ in range(3))
    given = {place.pk: make_annotation(place, busy, {"label": "yes"}) for place in places}
    for place in places[:2]:
        make_annotation(place, lazy, {"label": "yes"})
        make_annotation(place, careless, {"label": "no"})
    excluding.exclude_item(item=places[0].revision.item, by=admin, reason="broken", rule="bad item")
    excluding.exclude_annotation(annotation=given[places[2].pk], by=admin, reason="pasted")
    excluding.exclude_person(project=stage.project, person=careless, by=admin, reason="careless")
    with CaptureQueriesContext(connection) as queries:
        whole = quality.contribution(project=stage.project)
    assert len(queries) == 3
    part = quality.contribution(project=stage.project, stage=stage)
    for found in (whole, part):
        # Of 8 answers: 3 on the item, 1 by itself, 1 more of the person.
        assert found.people == [(busy.pk, 2), (lazy.pk, 1)]
        assert (found.curve.n_answers, found.n_left_out) == (3, 5)
    client = Client()
    client.force_login(admin)
    page = client.get(f"/p/{stage.project.slug}/quality/").text
    assert "5 answers are not counted: their author, the answer or the item is left out." in page
    excluding.lift_exclusion(exclusion=stage.project.exclusions.get(item__isnull=False), by=admin)
    assert quality.contribution(project=stage.project).n_left_out == 3
