"""Projects and stages: the form its first answer freezes, the overlap that takes no place away, the queue's ranks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotate.answers import FieldSpecInvalid
from annotate.exceptions import LastAdmin, StageFormFrozen, StageNotReady
from annotate.models import Event, Membership, Stage
from annotate.services import projects
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    make_annotation,
    make_assignment,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_run,
    make_staff,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db


def verbs(project_id: int) -> list[str]:
    return list(Event.objects.filter(project_id=project_id).order_by("pk").values_list("verb", flat=True))


def draft_stage(**fields: Any) -> Stage:
    by = make_staff()
    project = projects.create_project(title="Claims", slug="claims", by=by)
    defaults = {"kind": "label", "title": "Label", "slug": "label", "fields": YES_NO, "shown_keys": ["question"]}
    return projects.create_stage(**{"project": project, "by": by} | defaults | fields)


def settings_of(stage: Stage, **changes: Any) -> dict[str, Any]:
    names = ("title", "overlap", "lease_minutes", "order", "is_closed_book", "time_limit_seconds", "permitted_sources")
    return {name: getattr(stage, name) for name in names} | changes


def test_a_new_project_is_run_by_its_maker_and_has_its_guidelines():
    by = make_staff()
    project = projects.create_project(title="Claims", slug="claims", by=by, guidelines="# Read first\r\n\r\nCarefully.")
    assert project.memberships.get().role == Membership.Role.ADMIN
    assert project.guideline_versions.get().markdown == "# Read first\n\nCarefully."
    assert verbs(project.pk) == ["project.created", "guidelines.written"]


def test_the_same_guidelines_again_make_no_new_version():
    stage = draft_stage(guidelines="Look twice.")
    by = stage.project.memberships.get().person
    again = projects.write_guidelines(project=stage.project, stage=stage, by=by, markdown="Look twice.\n")
    other = projects.write_guidelines(project=stage.project, stage=stage, by=by, markdown="Look three times.")
    assert (again.number, other.number) == (1, 2)


def test_a_form_without_a_deciding_field_is_refused():
    note = {"name": "note", "type": "text", "caption": "Note", "decides": False, "required": False}
    with pytest.raises(FieldSpecInvalid, match="must decide"):
        draft_stage(fields=[note])
    assert not Stage.objects.exists()


def test_the_form_changes_in_place_until_somebody_answers():
    stage = draft_stage()
    by = make_staff()
    version = projects.change_form(stage=stage, by=by, fields=SHORT_ANSWER, shown_keys=["question", "table"])
    assert (version.number, stage.versions.count()) == (1, 1)
    assert version.shown_keys == ["question", "table"]


def offered(stage: Stage) -> None:
    make_assignment(make_stage_item(stage), make_member(stage.project))


def given_back(stage: Stage) -> None:
    make_assignment(make_stage_item(stage), make_member(stage.project), state="expired", slot=None)


def asked_of_a_model(stage: Stage) -> None:
    run = make_run(stage, make_item_set(stage.project, [make_item(stage.project)]))
    type(run).objects.update(state="done", frozen_at=timezone.now())


@pytest.mark.parametrize("begin", [offered, given_back, asked_of_a_model])
def test_what_has_begun_with_a_form_keeps_it(begin: Callable[[Stage], None]):
    # Nobody has answered, so there is nothing to ask about; but the page that lies before somebody asks the old
    # fields, and a report says what a model was shown.
    stage = make_stage()
    begin(stage)
    first = stage.versions.get()
    changed = projects.change_form(stage=stage, by=make_staff(), fields=SHORT_ANSWER, shown_keys=["question"])
    first.refresh_from_db()
    assert (changed.number, changed.is_current) == (2, True)
    assert (first.fields, first.is_current) == (YES_NO, False)


def test_a_draft_of_a_run_freezes_no_form():
    stage = make_stage()
    run = make_run(stage, make_item_set(stage.project, [make_item(stage.project)]))
    assert projects.change_form(
        stage=stage, by=make_staff(), fields=SHORT_ANSWER, shown_keys=["question"]
    ) == stage.versions.get(pk=run.stage_version_id)


def test_after_the_first_answer_only_words_change_in_place():
    stage = make_stage()
    make_annotation(make_stage_item(stage), make_member(stage.project), {"label": "yes"})
    by = make_staff()
    reworded = [{**YES_NO[0], "caption": "Is it true?", "options": [*YES_NO[0]["options"]]}]
    reworded[0]["options"][0] = {"value": "yes", "caption": "Certainly"}
    version = projects.change_form(stage=stage, by=by, fields=reworded, shown_keys=["question"])
    assert (version.number, version.fields[0]["caption"]) == (1, "Is it true?")
    assert version.fields[0]["options"][0] == {"value": "yes", "caption": "Certainly"}


@pytest.mark.parametrize(
    "change",
    [
        {"fields": SHORT_ANSWER},
        {"fields": [{**YES_NO[0], "required": False}]},
        {"fields": [{**YES_NO[0], "options": YES_NO[0]["options"][:2]}]},
        {"shown_keys": ["question", "context"]},
    ],
)
def test_after_the_first_answer_another_form_needs_a_new_version(change: dict[str, Any]):
    stage = make_stage()
    answered = make_annotation(make_stage_item(stage), make_member(stage.project), {"label": "yes"})
    form = {"fields": YES_NO, "shown_keys": ["question"]} | change
    with pytest.raises(StageFormFrozen):
        projects.change_form(stage=stage, by=make_staff(), **form)
    assert stage.versions.get().fields == YES_NO
    new = projects.change_form(stage=stage, by=make_staff(), **form, as_new_version=True)
    assert (new.number, new.is_current) == (2, True)
    answered.refresh_from_db()
    assert answered.stage_version.number == 1


def test_items_join_the_queue_in_the_order_of_their_set_and_never_twice():
    stage = draft_stage(overlap=2)
    items = [make_item(stage.project, language="ta") for _ in range(3)]
    first = make_item_set(stage.project, [items[2], items[0]])
    everything = make_item_set(stage.project, items)
    assert projects.add_items_to_stage(stage=stage, item_set=first) == 2
    assert projects.add_items_to_stage(stage=stage, item_set=everything) == 1
    queue = stage.stage_items.order_by("rank").values_list("rank", "revision__item", "wanted", "language")
    assert list(queue) == [(0, items[2].pk, 2, "ta"), (1, items[0].pk, 2, "ta"), (2, items[1].pk, 2, "ta")]


def test_an_item_already_in_the_stage_is_not_asked_again_in_a_newer_revision():
    stage = draft_stage()
    item = make_item(stage.project)
    projects.add_items_to_stage(stage=stage, item_set=make_item_set(stage.project, [item]))
    old = item.revisions.get()
    old.is_current = False
    old.save()
    item.revisions.create(number=2, content=[["question", "Reworded?"]], content_hash="0" * 64)
    assert projects.add_items_to_stage(stage=stage, item_set=make_item_set(stage.project, [item])) == 0


def test_a_stage_opens_pauses_closes_and_opens_again():
    stage, by = draft_stage(), make_staff()
    with pytest.raises(StageNotReady, match="no items"):
        projects.open_stage(stage=stage, by=by)
    with pytest.raises(StageNotReady, match="draft"):
        projects.close_stage(stage=stage, by=by)
    make_stage_item(stage)
    states = [step(stage=stage, by=by).state for step in (projects.open_stage, projects.pause_stage)]
    with pytest.raises(StageNotReady, match="open stage"):
        projects.pause_stage(stage=stage, by=by)
    states += [step(stage=stage, by=by).state for step in (projects.close_stage, projects.open_stage)]
    assert states == ["open", "paused", "closed", "open"]
    assert verbs(stage.project_id)[-4:] == ["stage.open", "stage.paused", "stage.closed", "stage.open"]


def test_a_lower_overlap_takes_no_place_away():
    stage = make_stage(overlap=3)
    taken, free = make_stage_item(stage), make_stage_item(stage)
    make_annotation(taken, make_member(stage.project), {"label": "yes"})
    make_assignment(taken, make_member(stage.project))
    projects.change_stage(stage=stage, by=make_staff(), **settings_of(stage, overlap=1))
    assert list(stage.stage_items.order_by("rank").values_list("wanted", flat=True)) == [2, 1]
    projects.change_stage(stage=stage, by=make_staff(), **settings_of(stage, overlap=3))
    assert list(stage.stage_items.order_by("rank").values_list("wanted", flat=True)) == [3, 3]
    assert free.pk in stage.stage_items.filter(due_at__isnull=False).values_list("pk", flat=True)


def test_the_only_admin_cannot_be_paused_but_one_of_two_can():
    project = make_project()
    first = make_member(project, "admin")
    membership = project.memberships.get(person=first)
    with pytest.raises(LastAdmin):
        projects.pause_member(membership=membership, by=first)
    second = make_member(project, "admin")
    assert projects.pause_member(membership=membership, by=second).state == "paused"
    with pytest.raises(LastAdmin):
        projects.pause_member(membership=project.memberships.get(person=second), by=second)
    assert projects.reactivate_member(membership=membership, by=second).state == "active"


@pytest.mark.django_db(transaction=True)
def test_two_sets_added_at_once_get_ranks_of_their_own():
    stage = make_stage()
    sets = [make_item_set(stage.project, [make_item(stage.project) for _ in range(20)]) for _ in range(2)]
    together = threading.Barrier(2)

    def add(item_set: Any) -> None:
        together.wait()
        try:
            projects.add_items_to_stage(stage=stage, item_set=item_set)
        finally:
            connection.close()

    threads = [threading.Thread(target=add, args=[item_set]) for item_set in sets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(stage.stage_items.values_list("rank", flat=True)) == list(range(40))
