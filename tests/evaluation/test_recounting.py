"""Each kept number, falsified on purpose, is found and made right; beside people at work nothing is found."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import StringIO
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.utils import timezone

from annotate.models import (
    Annotation,
    Assignment,
    BackgroundWork,
    Event,
    Participation,
    Resolution,
    Stage,
    StageItem,
)
from annotate.services import assigning, resolving, submitting
from annotate.services.assigning import NothingLeft
from evaluation.models import Run
from evaluation.services import running
from evaluation.services.recounting import recount
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.factories import (
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_prediction,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)

# What is falsified, column by column; a test below looks that no counter is missing here.
FALSE = {
    "annotate.StageItem": {"active": 1, "done": 0},
    "annotate.Participation": {"n_answered": 7, "n_skipped": 7, "active_seconds": 7},
    "annotate.Resolution": {"n_votes": 9, "margin": 9, "status": "tie", "answer_key": "no", "counts": [["no", 2]]},
    "annotate.ItemSet": {"n_items": 9},
    "evaluation.Run": {"n_total": 9, "n_done": 9},
}
# Numbers that begin at nought, or are called n_ of something, and are counted from no rows.
NO_COUNTERS = {
    "annotate.Annotation": {"active_seconds", "wall_seconds", "n_pastes", "n_away"},  # measured
    "annotate.Assignment": {"draft_version"},
    "annotate.Decision": {"n_votes", "n_alike"},  # what the adjudicator saw
    "annotate.Invite": {"uses"},  # who came in through it is not kept
    "annotate.ItemSet": {"n_population"},  # what there was to draw from at the time
    "annotate.Participation": {"checks_owed"},  # under the rates that there were
    "annotate.ProlificStudy": {"n_answers"},  # how many are asked for
    "annotate.QualificationAttempt": {"seed", "n_items", "mark", "n_right"},  # frozen when it began, and ended
    "annotate.Stage": {
        *("position", "seed", "escalate_by"),
        *("qualification_size", "qualification_mark", "check_every"),
    },
    "annotate.StoredFile": {"n_bytes"},
    "evaluation.Call": {"step"},
    "evaluation.EndpointShare": {"places", "wanted"},  # of a worker at this moment
    "evaluation.JudgeSample": {"n_per_run"},  # how many were asked for
    "evaluation.Prediction": {"repeat", "attempts"},
    "evaluation.Report": {"seed", "n_resamples", "n_scored", "n_to_score"},
    # What was paid: also for a completion that came too late to be kept.
    "evaluation.Run": {"seed", "n_steps", "prompt_tokens", "completion_tokens", "n_counted", "n_uncounted"},
}


def answer(stage: Stage, person: Any, label: str = "yes", active_seconds: int = 0) -> Annotation:
    held = assigning.claim_next(stage=stage, person=person, languages=[])
    assert isinstance(held, Assignment)
    return submitting.submit_annotation(
        assignment=held,
        answer={"label": label},
        client_key=f"key-{held.pk}",
        stage_version=stage.versions.get(),
        circumstances=submitting.Circumstances(held_seconds=60.0, active_seconds=active_seconds),
    )


@pytest.fixture
def stage() -> Stage:
    """Two answers to the first item, counted; one skip; one person at work; a set, and a run that is done."""
    stage = make_stage(make_project(slug="claims"), overlap=3, order="sequential", slug="label")
    for n in range(3):
        make_stage_item(stage, make_item(stage.project, external_id=f"q{n}"))
    first, second, third = (make_member(stage.project) for _ in range(3))
    answer(stage, first, active_seconds=20)
    answer(stage, second)
    held = assigning.claim_next(stage=stage, person=third, languages=[])
    assert isinstance(held, Assignment)
    submitting.skip_assignment(assignment=held, reason="broken")
    assigning.claim_next(stage=stage, person=second, languages=[])
    resolving.resolve_due()
    items = [make_item(stage.project) for _ in range(2)]
    run = make_run(
        stage, make_item_set(stage.project, items), state="done", frozen_at=timezone.now(), n_total=2, n_done=2
    )
    for item in items:
        make_prediction(run, item, {"label": "yes"})
    return stage


def told(*, repair: bool = False) -> list[str]:
    return [str(difference) for difference in recount(repair=repair)]


@pytest.mark.django_db
def test_what_people_did_is_counted_as_it_is(stage: Stage):
    assert told() == []
    output = StringIO()
    call_command("recount", "--check", stdout=output)
    assert output.getvalue() == "Every number is what its rows add up to.\n"


@pytest.mark.django_db
@pytest.mark.parametrize(("model", "column"), [(model, column) for model in FALSE for column in FALSE[model]])
def test_a_false_number_is_found_and_made_right(stage: Stage, model: str, column: str):
    rows = apps.get_model(model)._default_manager
    row = rows.order_by("pk").first()
    true = getattr(row, column)
    rows.filter(pk=row.pk).update(**{column: FALSE[model][column]})

    (found,) = told()
    assert column in found
    # Looking changes nothing.
    assert told() == [found]

    assert told(repair=True) == [found]
    assert told() == []
    row.refresh_from_db()
    assert getattr(row, column) == true
    assert Event.objects.filter(verb="counters.repaired").count() == 1
    assert_queue_is_sound(stage)


@pytest.mark.django_db
def test_the_command_says_where_and_fails_until_it_is_right(stage: Stage):
    StageItem.objects.filter(rank=0).update(done=1)
    output = StringIO()
    with pytest.raises(CommandError, match="Differences: 1"):
        call_command("recount", "--check", stdout=output)
    assert output.getvalue() == "item q0 in claims/label: done is 1, counted 2\n"
    call_command("recount", stdout=output)
    assert output.getvalue().endswith("Differences made right: 1.\n")
    call_command("recount", "--check", stdout=output)
    event = Event.objects.get(verb="counters.repaired")
    assert (event.subject, event.project_id, event.detail) == ("stageitem", stage.project_id, {"done": [1, 2]})


@pytest.mark.django_db
def test_more_answers_than_were_wanted_keep_their_places(stage: Stage):
    # By hand somebody lowered what is wanted, and to be able to, what is there.
    StageItem.objects.filter(rank=0).update(active=0, done=0, wanted=1)
    told(repair=True)
    assert StageItem.objects.filter(rank=0).values_list("done", "wanted").get() == (2, 2)
    assert_queue_is_sound(stage)


@pytest.mark.django_db
def test_a_participation_that_is_missing_is_made_with_its_numbers(stage: Stage):
    person_id = Annotation.objects.order_by("pk").first().assignment.person_id
    Participation.objects.filter(person=person_id).delete()
    assert told() == [f"{pseudonym(person_id)} in claims/label: participation is None, counted 'a row'"]
    told(repair=True)
    made = Participation.objects.get(person=person_id)
    assert (made.n_answered, made.n_skipped, made.active_seconds) == (1, 0, 20)
    assert told() == []


def pseudonym(person_id: int) -> str:
    return str(apps.get_model("annotate.Person").objects.values_list("pseudonym", flat=True).get(pk=person_id))


@pytest.mark.django_db
def test_the_newest_revision_of_an_answer_counts_again(stage: Stage):
    first = Annotation.objects.order_by("pk").first()
    submitting.revise_annotation(
        assignment=first.assignment, answer={"label": "no"}, client_key="2", stage_version=stage.versions.get()
    )
    resolving.resolve_due()
    assert told() == []
    Annotation.objects.filter(assignment=first.assignment).update(is_current=False)
    Annotation.objects.filter(pk=first.pk).update(is_current=True)
    resolving.resolve_due()
    assert sum("is_current" in line for line in told()) == 2
    told(repair=True)
    assert Annotation.objects.get(assignment=first.assignment, is_current=True).number == 2
    resolving.resolve_due()
    assert told() == []
    assert Resolution.objects.get(stage_item__rank=0).status == "tie"


@pytest.mark.django_db
def test_a_resolution_that_is_missing_is_counted_and_one_that_is_due_is_let_be(stage: Stage):
    Resolution.objects.all().delete()
    found = told()
    assert "item q0 in claims/label: label.n_votes is None, counted 2" in found
    # What people answered is in no message and in no event.
    assert not any("yes" in line for line in found)
    StageItem.objects.update(due_at=timezone.now())
    assert told() == []
    StageItem.objects.update(due_at=None)
    told(repair=True)
    assert told() == []
    assert Resolution.objects.get(stage_item__rank=0).status == "unanimous"
    assert "yes" not in str(Event.objects.get(verb="counters.repaired").detail)


@pytest.mark.django_db
def test_a_place_in_another_stage_than_its_item_is_put_right(stage: Stage):
    other = make_stage(stage.project)
    Assignment.objects.filter(state="skipped").update(stage=other)
    assert any("stage is" in line for line in told())
    told(repair=True)
    assert told() == []
    assert not Assignment.objects.filter(stage=other).exists()


@pytest.mark.django_db
def test_what_a_run_says_is_exact_after_it_was_cancelled_or_repeated(stage: Stage):
    admin = make_member(stage.project, "admin")
    items = make_item_set(stage.project, [make_item(stage.project, gold={"label": ["yes"]}) for _ in range(3)])
    run = running.create_run(
        project=stage.project,
        by=admin,
        name="cancelled",
        item_set=items,
        stage_version=stage.versions.get(),
        endpoint=make_endpoint(stage.project),
    )
    running.start_run(run=run, by=admin)
    running.cancel_run(run=run, by=admin)
    assert told() == []
    assert Run.objects.get(pk=run.pk).n_done == 3
    running.repeat_failed(run=run, by=admin)
    assert Run.objects.get(pk=run.pk).n_done == 0


@pytest.mark.django_db
def test_a_run_that_a_worker_may_be_at_is_behind_its_rows_and_that_is_no_difference(stage: Stage):
    Run.objects.update(state="running", n_done=0)
    assert told() == []
    # Paused a moment ago: the chunk in the worker's hands is still to be settled.
    Run.objects.update(state="paused", heartbeat_at=timezone.now())
    assert told() == []
    Run.objects.update(heartbeat_at="2000-01-01T00:00:00Z")
    assert len(told()) == 1


@pytest.mark.django_db(transaction=True)
def test_beside_people_at_work_nothing_differs_and_what_did_is_made_right():
    stage = make_stage(make_project(), overlap=3)
    for _ in range(60):
        make_stage_item(stage)
    people = [make_member(stage.project) for _ in range(6)]
    looked_twice = threading.Event()

    def at_work(person: Any) -> None:
        with closing(connection):
            answer_all(person)

    def answer_all(person: Any) -> None:
        taken = assigning.claim_next(stage=stage, person=person, languages=[])
        n_taken = 0
        while not isinstance(taken, NothingLeft):
            n_taken += 1
            if n_taken == 10:
                # However slow the looks are beside six people: there are two before the work is over.
                assert looked_twice.wait(120)
            if taken.pk % 7 == 0:
                taken = submitting.skip_and_claim_next(assignment=taken, reason="other", languages=[]).next
                continue
            taken = submitting.submit_and_claim_next(
                assignment=taken,
                answer={"label": "yes"},
                client_key=f"key-{taken.pk}",
                stage_version=stage.versions.get(),
                languages=[],
            ).next

    with ThreadPoolExecutor(len(people)) as threads:
        working = [threads.submit(at_work, person) for person in people]
        n_looks = 0
        while not all(one.done() for one in working):
            # In the same moments votes are counted.
            resolving.resolve_due(limit=50)
            assert told() == []
            n_looks += 1
            if n_looks == 2:
                looked_twice.set()
            StageItem.objects.filter(rank=59, active=0, done=0).update(active=1)
            told(repair=True)
    for one in working:
        one.result()  # raises what the thread did
    assert n_looks > 1
    resolving.resolve_due()
    assert told() == []
    assert_queue_is_sound(stage)


def test_no_counter_is_forgotten():
    for model in (*apps.get_app_config("annotate").get_models(), *apps.get_app_config("evaluation").get_models()):
        counters = {
            column.name
            for column in model._meta.fields
            if isinstance(column, models.IntegerField | models.BigIntegerField)
            and not column.primary_key
            and (column.default == 0 or column.name.startswith("n_"))
        }
        known = FALSE.get(model._meta.label, {}).keys() | NO_COUNTERS.get(model._meta.label, set())
        if issubclass(model, BackgroundWork):
            # Claims of workers; and how far they are, in kilobytes or steps. Of a run alone it is a number of rows.
            known |= {"attempts"} if model is Run else {"attempts", "n_done", "n_total"}
        assert counters <= known, f"{model._meta.label}: counted by annotate/services/recounting.py, or no counter?"
