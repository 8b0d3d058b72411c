"""The main pages as their readers see them, wide and narrow, light and dark: nothing refused, nothing out of reach."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse
from django.utils import timezone

from annotate.models import ImportJob, Membership, Person, Project, Stage
from annotate.services import importing, people
from evaluation.services import answering, presets, running
from tests.browser.accessibility import problems_of
from tests.browser.test_shown_text import GRID, TABLE
from tests.browser.visitors import sign_in
from tests.evaluation.studies import make_study
from tests.factories import (
    SHORT_ANSWER,
    make_assignment,
    make_endpoint,
    make_item,
    make_item_set,
    make_member,
    make_project,
    make_run,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def problems(new_context, site):
    """problems(person, {name: address}): what is wrong with these pages, as this person sees them."""

    def find(person: Person | None, addresses: dict[str, str]) -> list[str]:
        context = new_context(reduced_motion="reduce")
        if person is not None:
            sign_in(context, person, site)
        page = context.new_page()
        found = []
        for name, address in addresses.items():
            response = page.goto(address)
            assert response is not None
            assert response.status < 400, f"{name}: {response.status}"
            page.wait_for_load_state("networkidle")
            found += problems_of(page, name)
        return found

    return find


def at(name: str, *arguments: object) -> str:
    return reverse(name, args=arguments)


def test_the_ways_in(problems):
    project = make_project(title="Sea and sky", description="Questions about the sea.")
    admin = make_member(project, "admin")
    _, token = people.make_invite(project=project, by=admin, expires_at=timezone.now() + timedelta(days=1))

    assert problems(None, {"sign-in": at("sign-in"), "join": at("join", token)}) == []


def make_work() -> tuple[Stage, Stage, Stage, Stage]:
    """A stage to label, one to answer, one whose last item others hold, and one that is done; in one project."""
    project = make_project(title="Sea and sky")
    label = make_stage(project, title="Is it so?")
    answer = make_stage(
        project, kind="answer", form=SHORT_ANSWER, shown_keys=["question", "table", "grid", "mono", "text"]
    )
    taken, done = make_stage(project, title="All taken"), make_stage(project, title="All done")
    content = [["question", "When was she born?"], ["table", TABLE], ["grid", GRID], ["text", "Words. " * 600]]
    content += [["mono", {"type": "mono", "text": "SELECT *\n  FROM sea"}]]
    for _ in range(3):
        make_stage_item(label, make_item(project))
        make_stage_item(answer, make_item(project, content, language="en"))
    make_assignment(make_stage_item(taken, make_item(project)), make_member(project))
    make_stage_item(done, make_item(project), wanted=1, done=1)
    return label, answer, taken, done


def test_where_people_work(problems):
    stages = make_work()
    person = make_member(stages[0].project)
    addresses = {stage.title: at("work", stage.project.slug, stage.slug) for stage in stages}

    assert problems(person, {"home": at("home")} | addresses) == []


def test_the_work_page_with_something_open_or_wrong(at_work, faults):
    faults.announce(r"^422: POST .*/submit/")
    label, answer, *_ = make_work()
    person = make_member(label.project)
    worker = at_work(person, label)
    page = worker.page
    worker.press("?")
    found = list(problems_of(page, "guidelines"))
    worker.press("Escape", "s")
    found += problems_of(page, "skip")
    worker.press("Escape", "f", "Control+Enter")
    worker.sees_state("Not submitted")
    found += problems_of(page, "a missing choice")
    worker.press("1", "Control+Enter")
    worker.page.locator(".last-answer a").click()
    worker.sees_state("")
    found += problems_of(page, "changing an answer")
    page.evaluate("document.getElementById('sign-in-dialog').showModal()")
    found += problems_of(page, "signing in over the page")
    worker = at_work(make_member(label.project), answer)
    worker.press("Control+Enter")
    worker.sees_state("Not submitted")
    found += problems_of(worker.page, "a missing text")

    assert found == []


def test_the_pages_of_a_project(problems):
    study = make_study(n_items=8, n_runs=0)
    slug, stage = study.project.slug, study.stage.slug
    annotator = make_member(study.project)
    people.make_invite(project=study.project, by=study.admin, expires_at=timezone.now() + timedelta(days=1))
    addresses = {
        "home": at("home"),
        "tokens": at("tokens"),
        "project": at("project", slug),
        "new project": at("project-new"),
        "items": at("items", slug),
        "people": at("people", slug),
        "person": at("person", slug, annotator.pseudonym),
        "stage": at("stage", slug, stage),
        "new stage": at("stage-new", slug),
        "project settings": at("project-settings", slug),
        "agreement": at("agreement-now", slug),
        "people compared": at("people-agreement", slug),
        "out of reach": at("stage-reach", slug, stage),
        "runs that wait": at("run-needs", slug),
    }

    assert problems(study.admin, addresses) == []


def test_published_protocols(problems):
    project, other = make_project(title="A study of facts"), make_project(title="Another")
    admin = make_member(project, "admin")
    Membership.objects.create(person=admin, project=other, role="admin")
    presets.set_up(project=project, by=admin, preset=presets.get_preset("pinocchio"))
    addresses = {
        "new project": at("project-new"),
        "all protocols": at("protocols"),
        "a protocol": at("protocol", "temptabqa"),
        "an empty home": at("project", other.slug),
        "protocols of a project": at("project-protocols", other.slug),
        "one to set up": at("project-protocol", other.slug, "relationalfactqa"),
        "one that is set up": at("project-protocol", project.slug, "pinocchio"),
        "a home that follows one": at("project", project.slug),
        "a run from it": at("run-new", project.slug) + "?setting=few-shot",
        "a report from it": at("report-new", project.slug) + "?spec=Accuracy+by+domain",
    }

    assert problems(admin, addresses) == []


def test_imports(problems):
    project = make_project(title="Sea and sky")
    admin, stage = make_member(project, "admin"), make_stage(project)
    draft = drafted(project, stage, admin, "id,question,label,domain\n" + "".join(SOUND_ROWS))
    done = drafted(project, stage, admin, "id,question,label\n1,Is it?,yes\n")
    importing.start_import(job=done, by=admin)
    importing.run_import(job_id=done.pk)
    refused = drafted(project, stage, admin, 'id,question\n1,Is it?\n2,unbalanced "quote\n1,Is it not?\n')
    waiting = drafted(project, stage, admin, "id,question\n9,Is it waiting?\n")
    importing.start_import(job=waiting, by=admin)
    jobs = {"draft": draft, "done": done, "refused": refused, "waiting": waiting}
    addresses = {name: at("import-job", project.slug, job.pk) for name, job in jobs.items()}

    assert problems(admin, {"import": at("import", project.slug)} | addresses) == []


SOUND_ROWS = [f"{n:03},Is {n} an even number?,{'no' if n % 2 else 'yes'},numbers\n" for n in range(12)]


def drafted(project: Project, stage: Stage, by: Person, text: str) -> ImportJob:
    file = ContentFile(text.encode())
    return importing.draft_import(project=project, by=by, file=file, name="rows.csv", stage=stage)


def test_runs_and_endpoints(problems):
    study = make_study(n_items=8)
    slug = study.project.slug
    endpoint = make_endpoint(study.project, model="chatty_random")
    finished = make_run(study.stage, study.item_set, endpoint=endpoint, name="Chatty")
    running.start_run(run=finished, by=study.admin)
    answering.answer_chunk(run_id=finished.pk)
    draft = make_run(study.stage, make_item_set(study.project, study.items), endpoint=endpoint, name="Draft")
    waiting = make_run(study.stage, study.item_set, endpoint=endpoint, name="Waiting")
    running.start_run(run=waiting, by=study.admin)
    addresses = {
        "runs": at("runs", slug),
        "new run": at("run-new", slug),
        "draft": at("run", slug, draft.pk),
        "its prompts": at("run-prompts", slug, draft.pk),
        "finished": at("run", slug, finished.pk),
        "waiting": at("run", slug, waiting.pk),
        "prediction": at("prediction", slug, finished.pk, finished.predictions.all()[0].pk),
        "endpoints": at("endpoints", slug),
        "endpoint": at("endpoint", slug, endpoint.pk),
        "new endpoint": at("endpoint-new", slug),
    }

    assert problems(study.admin, addresses) == []


def test_reports_and_side_by_side(problems):
    study = make_study()
    slug = study.project.slug
    made, waiting = study.made_report(), study.report(title="Not yet made")
    addresses = {
        "reports": at("reports", slug),
        "new report": at("report-new", slug),
        "report": at("report", slug, made.pk),
        "waiting": at("report", slug, waiting.pk),
        "side by side": at("side-by-side", slug),
        "filtered": at("side-by-side", slug) + "?filter=people_right_model_wrong",
        "agreement": at("agreement-now", slug),
    }

    assert problems(study.admin, addresses) == []
