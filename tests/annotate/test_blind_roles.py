"""Whoever judges others' work reads no results while there is work for them."""

from __future__ import annotations

import pytest

from annotate.models import Annotation, Item, Project, Resolution, Stage
from annotate.services import resolving
from tests.factories import make_annotation, make_member, make_project, make_stage, make_stage_item

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = make_project()
    place = make_stage_item(make_stage(project))
    make_annotation(place, make_member(project), {"label": "yes"})
    resolving.resolve_due()
    return project


def seen(person) -> list[int]:
    doors = (Project, Stage, Item, Annotation, Resolution)
    return [model.objects.visible_to(person).count() for model in doors]


@pytest.mark.parametrize("role", ["adjudicator", "meta_reviewer"])
@pytest.mark.parametrize("state", ["open", "paused"])
def test_while_their_role_has_a_stage_they_read_nothing(project, role, state):
    make_stage(project, kind="audit", roles=[role], state=state)
    assert seen(make_member(project, role)) == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("role", ["adjudicator", "meta_reviewer"])
@pytest.mark.parametrize("state", ["draft", "closed"])
def test_before_and_after_it_they_read_results(project, role, state):
    make_stage(project, kind="audit", roles=[role], state=state)
    assert seen(make_member(project, role)) == [1, 2, 1, 1, 1]


def test_a_stage_of_another_role_or_project_blinds_nobody(project):
    make_stage(project, kind="audit", roles=["meta_reviewer"])
    make_stage(make_project(), kind="adjudicate", roles=["adjudicator"])
    assert seen(make_member(project, "adjudicator")) == [1, 2, 1, 1, 1]


@pytest.mark.parametrize("role", ["admin", "viewer"])
def test_those_who_run_and_watch_the_study_are_not_blind(project, role):
    make_stage(project, kind="audit", roles=["meta_reviewer"])
    assert seen(make_member(project, role)) == [1, 2, 1, 1, 1]


def test_somebody_who_judges_in_one_project_reads_the_other(project):
    judge = make_member(project, "meta_reviewer")
    other = make_project()
    other.memberships.create(person=judge, role="viewer")
    make_stage(project, kind="audit", roles=["meta_reviewer"])
    assert list(Project.objects.visible_to(judge)) == [other]
