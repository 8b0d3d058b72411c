"""The figures of a project's people: what checks came to, who may hear it when, and who did how much."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Assignment, CheckResult, Stage
from annotate.services import quality, submitting
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
    found, counts = quality.contribution(project=stage.project)
    assert counts == [(busy.pk, 3), (lazy.pk, 1)]
    assert (found.n_answers, found.n_people, found.share_of(1)) == (4, 2, 0.75)
