"""Names that must differ, given twice at the same moment: one is made, and the other is told so."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import NameTaken
from annotate.models import Invite, Membership, Person, Project, Stage
from annotate.services import people, projects
from evaluation.models import Endpoint, Run
from evaluation.services.endpoints import change_endpoint, create_endpoint
from evaluation.services.running import create_run
from tests.factories import (
    YES_NO,
    make_annotator,
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_stage,
)

N_CLICKS = 6
FORM_SET = {
    "fields-TOTAL_FORMS": "1",
    "fields-INITIAL_FORMS": "0",
    "fields-0-name": "label",
    "fields-0-type": "choice",
    "fields-0-caption": "Is it so?",
    "fields-0-options": "yes | Yes\nno | No",
    "fields-0-decides": "on",
}


class Study:
    """A project with what a run needs, and the forms of its pages."""

    def __init__(self) -> None:
        self.project = make_project()
        self.admin = make_member(self.project, "admin")
        self.stage = make_stage(self.project)
        self.items = make_item_set(self.project, [make_item(self.project)])
        self.endpoint = make_endpoint(self.project)

    def form(self, kind: str) -> tuple[str, dict[str, Any]]:
        slug = self.project.slug
        if kind == "project":
            return reverse("project-new"), {"title": "Twice", "time_zone": "UTC"}
        if kind == "stage":
            how = {"kind": "label", "title": "Twice", "overlap": "1", "roles": "annotator", "lease_minutes": "5"}
            how |= {"order": "seeded", "is_closed_book": "on", "shown_keys": "question"}
            return reverse("stage-new", args=[slug]), how | FORM_SET
        if kind == "endpoint":
            how = {"name": "Twice", "provider": "baseline", "model": "seeded_random"}
            return reverse("endpoint-new", args=[slug]), how | {"max_in_flight": "1", "timeout_seconds": "5"}
        how = {"name": "Twice", "endpoint": self.endpoint.pk, "stage": self.stage.pk, "item_set": self.items.pk}
        return reverse("run-new", args=[slug]), how | {"strategy": "zero_shot", "seed": "0", "repeats": "1"}


def at_once(n: int, work: Any) -> list[Any]:
    """work() in n threads, each on a connection of its own."""
    start = threading.Barrier(n)

    def run(_: int) -> Any:
        try:
            start.wait(timeout=60)
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(run, range(n)))


def browser_of(person: Person) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(person)
    return client


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["project", "stage", "endpoint", "run"])
def test_a_form_sent_many_times_at_once_makes_one(kind):
    study = Study()
    address, form = study.form(kind)
    browsers = [browser_of(study.admin) for _ in range(N_CLICKS)]

    answers = at_once(N_CLICKS, lambda: browsers.pop().post(address, form).status_code)

    assert sorted(answers) == [302] + [422] * (N_CLICKS - 1)


@pytest.mark.django_db
def test_a_name_that_somebody_else_has_is_refused_by_the_service_too():
    study = Study()
    project, by = study.project, study.admin
    version = study.stage.versions.get()
    run = {"name": "Twice", "item_set": study.items, "stage_version": version, "endpoint": study.endpoint}
    other = create_endpoint(project=project, by=by, name="Other", provider="baseline", model="seeded_random")
    create_run(project=project, by=by, **run)

    with pytest.raises(NameTaken, match=project.slug):
        projects.create_project(title="Twice", slug=project.slug, by=by)
    with pytest.raises(NameTaken, match=study.stage.slug):
        projects.create_stage(
            project=project,
            by=by,
            kind="label",
            title="Twice",
            slug=study.stage.slug,
            fields=YES_NO,
            shown_keys=["question"],
        )
    with pytest.raises(NameTaken, match=study.endpoint.name):
        create_endpoint(project=project, by=by, name=study.endpoint.name, provider="baseline", model="seeded_random")
    with pytest.raises(NameTaken, match=study.endpoint.name):
        change_endpoint(endpoint=other, by=by, name=study.endpoint.name)
    with pytest.raises(NameTaken, match="Twice"):
        create_run(project=project, by=by, **run)

    assert [model.objects.count() for model in (Project, Stage, Endpoint, Run)] == [1, 1, 2, 1]


@pytest.mark.django_db(transaction=True)
def test_an_invitation_accepted_many_times_at_once_takes_one_use():
    project = make_project()
    admin, person = make_member(project, "admin"), make_annotator()
    tokens = [
        people.make_invite(project=project, by=admin, max_uses=100, expires_at=timezone.now() + timedelta(days=1))[1]
        for _ in range(2)
    ]
    todo = tokens * (N_CLICKS // 2)

    answers = at_once(N_CLICKS, lambda: people.accept_invite(token=todo.pop(), person=person))

    assert set(answers) == {(person, None)}
    assert Membership.objects.filter(project=project, person=person).count() == 1
    assert sum(Invite.objects.values_list("uses", flat=True)) == 1
