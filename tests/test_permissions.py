"""A walk over every address of the site, as everybody who might knock.

The table says for each URL name whose door it is; a URL that is missing in the table fails. Two projects have the same
rows, so that each address is also tried with an id of the other project.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from annotate.models import (
    Exclusion,
    Export,
    Feed,
    Person,
    ProlificSeat,
    ProlificStudy,
    Resolution,
    Restoration,
    StoredFile,
)
from annotate.services import people, tokens
from annotate.services.importing import draft_import
from annotate.services.questions import ask_question
from annotate.stage_kinds import first_fields, review_fields
from evaluation.models import Report, Trial
from evaluation.services import judging
from evaluation.services.log_importing import draft_log_import
from tests.api_client import EVERY_SCOPE, ApiClient
from tests.factories import (
    YES_NO,
    make_annotation,
    make_annotator,
    make_assignment,
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

pytestmark = pytest.mark.django_db

PUBLIC, SIGNED_IN, STAFF, READERS, ADMINS, OWNER, WORKERS = (
    {"anonymous", "stranger", "annotator", "viewer", "admin", "other_admin"},
    {"stranger", "annotator", "viewer", "admin", "other_admin"},
    {"admin", "other_admin"},
    {"admin", "viewer"},
    {"admin"},
    {"annotator"},
    {"annotator"},
)
JOINED = {"annotator", "viewer", "admin"}
CAST = sorted(PUBLIC)


@dataclass(frozen=True)
class Door:
    """Who may come in by GET and by POST (None: the method is not offered), and what the address needs."""

    get: set[str] | None
    post: set[str] | None = None
    ids: dict[str, str] = field(default_factory=dict)
    refused_with: int = 404


SLUG = {"slug": "project.slug"}
STAGE = SLUG | {"stage_slug": "stage.slug"}
JUDGES = SLUG | {"stage_slug": "judges.slug"}
RUN = SLUG | {"run_id": "run.pk"}
JOB = SLUG | {"job_id": "import_job.pk"}
ITEM = SLUG | {"item_id": "stage_item.revision.item_id"}
HELD = {"token": "assignment.token"}

DOORS: dict[str, Door] = {
    "home": Door(SIGNED_IN),
    "sign-in": Door(PUBLIC, PUBLIC),
    "sign-out": Door(None, PUBLIC),
    "language": Door(PUBLIC, PUBLIC),
    "join": Door(PUBLIC, PUBLIC, {"token": "invite_token"}),
    "study": Door(PUBLIC, PUBLIC, {"link": "study.link"}),
    "study-end": Door(OWNER, None, {"link": "study.link"}),
    "work": Door(WORKERS, None, {"project": "project.slug", "stage": "stage.slug"}),
    "work-qualify": Door(None, WORKERS, {"project": "project.slug", "stage": "stage.slug"}),
    "work-submit": Door(None, OWNER, HELD),
    "work-draft": Door(None, OWNER, HELD),
    "work-skip": Door(None, OWNER, HELD),
    "work-renew": Door(None, OWNER, HELD),
    "work-hints": Door(None, OWNER, {"token": "authored.token"}),
    "work-revise": Door(OWNER, OWNER, {"token": "submitted.token"}),
    "work-ask": Door(None, OWNER, HELD),
    "work-guidelines": Door(WORKERS, WORKERS, {"project": "project.slug", "stage": "stage.slug"}),
    "my-work": Door(JOINED, None, SLUG),
    "my-answers": Door(OWNER, None, STAGE),
    "my-decided": Door(OWNER, None, STAGE),
    "my-questions": Door(JOINED, JOINED, SLUG),
    "my-questions-read": Door(None, JOINED, SLUG),
    "questions": Door(ADMINS, None, SLUG),
    "question-answer": Door(None, ADMINS, SLUG | {"question_id": "question.pk"}),
    "flags": Door(ADMINS, None, SLUG),
    "flags-settle": Door(None, ADMINS, SLUG),
    "flag-reopen": Door(None, ADMINS, SLUG | {"annotation_id": "annotation.pk"}),
    "api-schema": Door(PUBLIC),
    "tokens": Door(SIGNED_IN),
    "token-new": Door(None, SIGNED_IN),
    "token-revoke": Door(None, OWNER, {"token_id": "api_token.pk"}),
    "project-new": Door(STAFF, STAFF, refused_with=403),
    "project": Door(READERS, None, SLUG),
    "project-settings": Door(ADMINS, ADMINS, SLUG),
    "protocols": Door(STAFF, None, refused_with=403),
    "protocol": Door(STAFF, None, {"name": "'pinocchio'"}, refused_with=403),
    "project-protocols": Door(ADMINS, None, SLUG),
    "project-protocol": Door(READERS, ADMINS, SLUG | {"name": "'pinocchio'"}),
    "project-leases": Door(None, ADMINS, SLUG),
    "items": Door(READERS, None, SLUG),
    "item": Door(READERS, None, ITEM),
    "item-gold": Door(None, ADMINS, ITEM),
    "stage-item-review": Door(None, ADMINS, SLUG | {"stage_item_id": "stage_item.pk"}),
    "people": Door(ADMINS, None, SLUG),
    "people-codes": Door(None, ADMINS, SLUG),
    "people-bulk": Door(None, ADMINS, SLUG),
    "people-csv": Door(ADMINS, None, SLUG),
    "people-agreement": Door(ADMINS, None, SLUG),
    "people-groups": Door(None, ADMINS, SLUG),
    "people-invite": Door(None, ADMINS, SLUG),
    "people-invite-revoke": Door(None, ADMINS, SLUG | {"invite_id": "invite.pk"}),
    "exclusion-lift": Door(None, ADMINS, SLUG | {"exclusion_id": "exclusion.pk"}),
    "person": Door(ADMINS, None, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "person-state": Door(None, ADMINS, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "person-sign-in": Door(None, ADMINS, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "person-erase": Door(None, ADMINS, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "person-code": Door(None, ADMINS, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "person-exclude": Door(None, ADMINS, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "person-answers": Door(ADMINS, None, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "quality": Door(READERS, None, SLUG),
    "quality-signals": Door(READERS, None, SLUG),
    "quality-contribution": Door(READERS, None, SLUG),
    "qualification-decide": Door(None, ADMINS, STAGE | {"pseudonym": "annotator.pseudonym"}),
    "answer": Door(ADMINS, ADMINS, SLUG | {"annotation_id": "annotation.pk"}),
    "stage-new": Door(ADMINS, ADMINS, SLUG),
    "stage-new-preview": Door(None, ADMINS, SLUG),
    "stage": Door(READERS, ADMINS, STAGE),
    "stage-state": Door(None, ADMINS, STAGE),
    "stage-form": Door(None, ADMINS, STAGE),
    "stage-preview": Door(None, ADMINS, STAGE),
    "stage-guidelines": Door(None, ADMINS, STAGE),
    "stage-items": Door(None, ADMINS, STAGE),
    "stage-reach": Door(ADMINS, None, STAGE),
    "stage-options": Door(None, ADMINS, STAGE),
    "stage-checks": Door(None, ADMINS, STAGE),
    "stage-apart": Door(None, ADMINS, STAGE),
    "stage-prolific": Door(None, ADMINS, STAGE),
    "stage-feeds": Door(None, ADMINS, STAGE),
    "stage-feed-end": Door(None, ADMINS, STAGE | {"feed_id": "feed.pk"}),
    "stage-cross-check": Door(None, ADMINS, STAGE),
    "cross-check-agreement": Door(READERS, None, STAGE),
    "cross-check-matrix": Door(READERS, None, STAGE),
    "judge-draw": Door(ADMINS, ADMINS, JUDGES),
    "judge-results": Door(READERS, None, JUDGES),
    "judge-matrix": Door(READERS, None, JUDGES),
    "judge-figures": Door(READERS, None, JUDGES),
    "stage-audit": Door(None, ADMINS, STAGE),
    "stage-audit-discard": Door(None, ADMINS, STAGE),
    "judge-discard": Door(None, ADMINS, JUDGES),
    "audit-results": Door(READERS, None, STAGE),
    "audit-verdicts": Door(READERS, None, STAGE),
    "audit-errors": Door(None, ADMINS, STAGE),
    "import": Door(ADMINS, ADMINS, SLUG),
    "generate": Door(ADMINS, ADMINS, SLUG),
    "import-job": Door(ADMINS, None, JOB),
    "import-mapping": Door(None, ADMINS, JOB),
    "import-progress": Door(ADMINS, None, JOB),
    "import-step": Door(None, ADMINS, JOB),
    "export-answers": Door(ADMINS, None, SLUG),
    "exports": Door(READERS, READERS, SLUG),
    "export-step": Door(None, ADMINS, SLUG | {"export_id": "export.pk"}),
    "export-file": Door(ADMINS, None, SLUG | {"export_id": "export.pk"}),
    "restore": Door(STAFF, STAFF, refused_with=403),
    "restoration": Door(ADMINS, None, {"restoration_id": "restoration.pk"}),
    "restoration-cancel": Door(None, ADMINS, {"restoration_id": "restoration.pk"}),
    "file": Door(READERS, None, {"file_id": "file.pk"}),
    "runs": Door(READERS, None, SLUG),
    "run-needs": Door(ADMINS, None, SLUG),
    "run-new": Door(ADMINS, ADMINS, SLUG),
    "run": Door(READERS, None, RUN),
    "run-progress": Door(READERS, None, RUN),
    "run-prompts": Door(READERS, None, RUN),
    "run-start": Door(None, ADMINS, RUN),
    "run-pause": Door(None, ADMINS, RUN),
    "run-resume": Door(None, ADMINS, RUN),
    "run-cancel": Door(None, ADMINS, RUN),
    "run-repeat-failed": Door(None, ADMINS, RUN),
    "run-discard": Door(None, ADMINS, RUN),
    "run-budget": Door(ADMINS, ADMINS, RUN),
    "run-extend": Door(ADMINS, ADMINS, RUN),
    "run-trial": Door(READERS, None, RUN),
    "trial-start": Door(None, ADMINS, RUN),
    "trial-cancel": Door(None, ADMINS, RUN),
    "run-import": Door(ADMINS, ADMINS, SLUG),
    "run-import-job": Door(ADMINS, ADMINS, SLUG | {"job_id": "log_import.pk"}),
    "run-import-progress": Door(ADMINS, None, SLUG | {"job_id": "log_import.pk"}),
    "run-import-step": Door(None, ADMINS, SLUG | {"job_id": "log_import.pk"}),
    "prediction": Door(READERS, None, RUN | {"prediction_id": "prediction.pk"}),
    "endpoints": Door(ADMINS, None, SLUG),
    "endpoint-new": Door(ADMINS, ADMINS, SLUG),
    "endpoint": Door(ADMINS, ADMINS, SLUG | {"endpoint_id": "endpoint.pk"}),
    "reports": Door(READERS, None, SLUG),
    "report-new": Door(ADMINS, ADMINS, SLUG),
    "report": Door(READERS, None, SLUG | {"report_id": "report.pk"}),
    "report-progress": Door(READERS, None, SLUG | {"report_id": "report.pk"}),
    "report-cancel": Door(None, ADMINS, SLUG | {"report_id": "report.pk"}),
    "report-again": Door(None, ADMINS, SLUG | {"report_id": "report.pk"}),
    "report-file": Door(READERS, None, SLUG | {"report_id": "report.pk", "name": "'report.json'"}),
    "side-by-side": Door(READERS, None, SLUG),
    "agreement-now": Door(READERS, None, SLUG),
    "health-live": Door(PUBLIC),
    "health-ready": Door(PUBLIC),
    # A token's door, which no session opens (tests/test_metrics.py).
    "metrics": Door(set(), refused_with=401),
}


EVERYBODY = {"stranger", "annotator", "viewer", "admin", "other_admin"}
JOB, REPORT = SLUG | {"job_id": "import_job.pk"}, SLUG | {"report_id": "report.pk"}
ENDPOINT = SLUG | {"endpoint_id": "endpoint.pk"}
EXPORT = SLUG | {"export_id": "export.pk"}
DESK = {"project": "project.slug", "stage": "stage.slug"}


@dataclass(frozen=True)
class ApiDoor:
    """For each method that is offered: the scope it needs ("": any token will do), and whose door it is."""

    methods: dict[str, tuple[str, set[str]]]
    ids: dict[str, str] = field(default_factory=dict)
    refused_with: int = 404


API_DOORS: dict[str, ApiDoor] = {
    "api-me": ApiDoor({"get": ("", EVERYBODY)}),
    "api-work": ApiDoor({"get": ("work", EVERYBODY)}),
    "api-work-stage": ApiDoor({"get": ("work", WORKERS)}, DESK),
    "api-work-next": ApiDoor({"post": ("work", WORKERS)}, DESK),
    "api-work-qualify": ApiDoor({"post": ("work", WORKERS)}, DESK),
    "api-assignment-submit": ApiDoor({"post": ("work", OWNER)}, HELD),
    "api-assignment-draft": ApiDoor({"post": ("work", OWNER)}, HELD),
    "api-assignment-skip": ApiDoor({"post": ("work", OWNER)}, HELD),
    "api-assignment-votes": ApiDoor({"get": ("work", OWNER)}, {"token": "judged.token"}),
    "api-assignment-decide": ApiDoor({"post": ("work", OWNER)}, {"token": "judged.token"}),
    "api-decisions": ApiDoor({"get": ("read", READERS)}, SLUG),
    "api-gold": ApiDoor({"get": ("read", READERS)}, SLUG),
    "api-gold-proposals": ApiDoor({"get": ("read", READERS)}, SLUG),
    "api-gold-proposal": ApiDoor({"post": ("run", ADMINS)}, SLUG | {"resolution_id": "resolution.pk"}),
    "api-assignment-ask": ApiDoor({"post": ("work", OWNER)}, HELD),
    "api-people": ApiDoor({"get": ("read", ADMINS), "post": ("run", ADMINS)}, SLUG),
    "api-people-agreement": ApiDoor({"get": ("read", ADMINS)}, SLUG),
    "api-person": ApiDoor({"get": ("read", ADMINS)}, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "api-person-state": ApiDoor({"post": ("run", ADMINS)}, SLUG | {"pseudonym": "annotator.pseudonym"}),
    "api-invites": ApiDoor({"get": ("read", ADMINS), "post": ("run", ADMINS)}, SLUG),
    "api-invite": ApiDoor({"delete": ("run", ADMINS)}, SLUG | {"invite_id": "invite.pk"}),
    "api-my-work": ApiDoor({"get": ("work", JOINED)}, SLUG),
    "api-my-answers": ApiDoor({"get": ("work", OWNER)}, STAGE),
    "api-my-decided": ApiDoor({"get": ("work", OWNER)}, STAGE),
    "api-my-questions": ApiDoor({"get": ("work", JOINED), "post": ("work", JOINED)}, SLUG),
    "api-my-questions-read": ApiDoor({"post": ("work", JOINED)}, SLUG),
    "api-flags": ApiDoor({"get": ("read", ADMINS)}, SLUG),
    "api-flags-settle": ApiDoor({"post": ("run", ADMINS)}, SLUG),
    "api-flag-reopen": ApiDoor({"post": ("run", ADMINS)}, SLUG | {"flag_id": "annotation.pk"}),
    "api-questions": ApiDoor({"get": ("read", ADMINS)}, SLUG),
    "api-question-answer": ApiDoor({"post": ("run", ADMINS)}, SLUG | {"question_id": "question.pk"}),
    "api-projects": ApiDoor({"get": ("read", EVERYBODY), "post": ("run", STAFF)}, refused_with=403),
    "api-protocols": ApiDoor({"get": ("read", EVERYBODY)}),
    "api-protocol": ApiDoor({"get": ("read", EVERYBODY)}, {"name": "'pinocchio'"}),
    "api-project-protocol": ApiDoor({"post": ("run", ADMINS)}, SLUG),
    "api-project": ApiDoor({"get": ("read", READERS), "patch": ("run", ADMINS)}, SLUG),
    "api-items": ApiDoor({"get": ("read", READERS)}, SLUG),
    "api-item-sets": ApiDoor({"get": ("read", READERS)}, SLUG),
    "api-imports": ApiDoor({"get": ("read", ADMINS), "post": ("run", ADMINS)}, SLUG),
    "api-import": ApiDoor({"get": ("read", ADMINS), "delete": ("run", ADMINS)}, JOB),
    "api-import-start": ApiDoor({"post": ("run", ADMINS)}, JOB),
    "api-import-state": ApiDoor({"post": ("run", ADMINS)}, JOB),
    "api-stages": ApiDoor({"get": ("read", READERS), "post": ("run", ADMINS)}, SLUG),
    "api-stage": ApiDoor({"get": ("read", READERS)}, STAGE),
    "api-stage-state": ApiDoor({"post": ("run", ADMINS)}, STAGE),
    "api-stage-items": ApiDoor({"post": ("run", ADMINS)}, STAGE),
    "api-stage-options": ApiDoor({"post": ("run", ADMINS)}, STAGE),
    "api-stage-cross-check": ApiDoor({"post": ("run", ADMINS)}, STAGE),
    "api-cross-check-agreement": ApiDoor({"get": ("read", READERS)}, STAGE),
    "api-judge": ApiDoor({"get": ("read", READERS)}, JUDGES),
    "api-judge-draw": ApiDoor({"post": ("run", ADMINS)}, JUDGES),
    "api-stage-audit": ApiDoor({"post": ("run", ADMINS)}, STAGE),
    "api-stage-audit-discard": ApiDoor({"post": ("run", ADMINS)}, STAGE),
    "api-judge-discard": ApiDoor({"post": ("run", ADMINS)}, JUDGES),
    "api-audit-results": ApiDoor({"get": ("read", READERS)}, STAGE),
    "api-audit-errors": ApiDoor({"post": ("run", ADMINS)}, STAGE),
    "api-feeds": ApiDoor({"get": ("read", READERS), "post": ("run", ADMINS)}, SLUG),
    "api-feed": ApiDoor({"delete": ("run", ADMINS)}, SLUG | {"feed_id": "feed.pk"}),
    "api-stage-quality": ApiDoor({"get": ("read", READERS)}, STAGE),
    "api-resolutions": ApiDoor({"get": ("read", READERS)}, STAGE),
    "api-export-answers": ApiDoor({"get": ("export", ADMINS)}, SLUG),
    "api-exports": ApiDoor({"get": ("export", READERS), "post": ("export", READERS)}, SLUG),
    "api-export": ApiDoor({"get": ("export", ADMINS)}, EXPORT),
    "api-export-state": ApiDoor({"post": ("export", ADMINS)}, EXPORT),
    "api-export-file": ApiDoor({"get": ("export", ADMINS)}, EXPORT),
    "api-endpoints": ApiDoor({"get": ("read", ADMINS), "post": ("run", ADMINS)}, SLUG),
    "api-endpoint": ApiDoor({"get": ("read", ADMINS), "patch": ("run", ADMINS)}, ENDPOINT),
    "api-runs": ApiDoor({"get": ("read", READERS), "post": ("run", ADMINS)}, SLUG),
    "api-run": ApiDoor({"get": ("read", READERS), "patch": ("run", ADMINS), "delete": ("run", ADMINS)}, RUN),
    "api-run-extension": ApiDoor({"post": ("run", ADMINS)}, RUN),
    "api-run-trial": ApiDoor({"get": ("read", READERS), "post": ("run", ADMINS)}, RUN),
    "api-run-state": ApiDoor({"post": ("run", ADMINS)}, RUN),
    "api-predictions": ApiDoor({"get": ("read", READERS)}, RUN),
    "api-reports": ApiDoor({"get": ("read", READERS), "post": ("run", ADMINS)}, SLUG),
    "api-report": ApiDoor({"get": ("read", READERS)}, REPORT),
    "api-report-state": ApiDoor({"post": ("run", ADMINS)}, REPORT),
    "api-report-file": ApiDoor({"get": ("read", READERS)}, REPORT | {"name": "'report.json'"}),
}


def named_patterns() -> Iterator[URLPattern]:
    def walk(patterns: list[Any]) -> Iterator[URLPattern]:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns)
            else:
                yield pattern

    yield from walk(get_resolver().url_patterns)


def make_world() -> SimpleNamespace:
    """One project with a row of everything that has an address."""
    project = make_project()
    admin, annotator = make_member(project, "admin"), make_member(project)
    stage = make_stage(project, overlap=2)
    items = [make_item(project, gold={"label": ["yes"]}) for _ in range(3)]
    stage_items = [make_stage_item(stage, item) for item in items]
    assignment = make_assignment(stage_items[0], annotator)
    annotation = make_annotation(stage_items[1], annotator, {"label": "yes"}, is_flagged=True)
    item_set = make_item_set(project, items)
    run = make_run(stage, item_set, state="done", frozen_at=timezone.now(), endpoint=make_endpoint(project))
    for item in items:
        make_prediction(run, item, {"label": "no"})
    judges = make_stage(project, kind="judge", form=first_fields("judge", "verdict"))
    judging.draw_judge_sample(stage=judges, by=admin, draw=judging.Draw(runs=(run,), n=3, seed=1))
    Trial.objects.create(run=run, state="done", due_at=None, n_total=0)
    invite, token = people.make_invite(
        project=project, by=admin, max_uses=5, expires_at=timezone.now() + timedelta(days=1)
    )
    file = StoredFile.objects.create(
        project=project, purpose="export", name="report.json", media_type="application/json", n_bytes=2, sha256="0" * 64
    )
    file.file.save("report.json", ContentFile(b"{}"))
    report = Report.objects.create(
        project=project, title="A comparison", stage=stage, item_set=item_set, field="label",
        primary_scorer="label_accuracy", state="cancelled", due_at=None,
    )  # fmt: skip
    report.files.add(file)
    answers = StoredFile.objects.create(
        project=project, purpose="data", name="a.csv", media_type="text/csv", n_bytes=2, sha256="0" * 64
    )
    answers.file.save("a.csv", ContentFile(b"a\n"))
    export = Export.objects.create(
        project=project, kind="answers", format="exact", is_for_admins=True, file=answers, state="done", due_at=None
    )
    author = make_stage(
        project, kind="author", form=[{"name": "pairs", "type": "qa_pairs", "caption": "Write questions"}]
    )
    authored = make_assignment(make_stage_item(author, items[0]), annotator)
    judges = make_stage(project, kind="adjudicate")
    review = make_stage(project, kind="review", form=review_fields(YES_NO))
    api_token, _ = tokens.make_token(person=annotator, name="a script", scopes=["work"], days=1)
    question = ask_question(
        project=project, person=annotator, text="Is it?", client_key="asked", about=annotation.assignment
    )
    study = ProlificStudy.objects.create(stage=stage)
    ProlificSeat.objects.create(study=study, person=annotator)
    return SimpleNamespace(
        project=project,
        study=study,
        annotation=annotation,
        question=question,
        api_token=api_token,
        export=export,
        restoration=Restoration.objects.create(name="a.zip", created_by=admin, state="cancelled", due_at=None),
        admin=admin,
        viewer=make_member(project, "viewer"),
        annotator=annotator,
        stage=stage,
        stage_item=stage_items[2],
        judges=judges,
        assignment=assignment,
        authored=authored,
        judged=make_assignment(make_stage_item(judges, items[2], source=stage_items[1]), annotator),
        reviewed=make_assignment(make_stage_item(review, items[1], source=stage_items[1]), annotator),
        resolution=Resolution.objects.create(
            stage_item=stage_items[1], field="label", status="majority", answer="yes", answer_key="yes", key_version=1
        ),
        feed=Feed.objects.create(source=stage, target=author),
        submitted=annotation.assignment,
        exclusion=Exclusion.objects.create(project=project, annotation=annotation, reason="late", decided_by=admin),
        invite=invite,
        invite_token=token,
        file=file,
        report=report,
        run=run,
        prediction=run.predictions.first(),
        endpoint=run.endpoint,
        log_import=draft_log_import(
            project=project,
            by=admin,
            file=ContentFile(b'{"id": "a", "completion": "yes"}'),
            name="log.jsonl",
            item_set=item_set,
            stage_version=run.stage_version,
        ),
        import_job=draft_import(
            project=project, by=admin, file=ContentFile(b"id,question\n1,Is it?\n"), name="items.csv"
        ),
    )


@pytest.fixture(scope="module")
def worlds(kept_rows) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Made once: what a test does to them is rolled back, and making them takes longer than most tests here."""
    with kept_rows():
        return make_world(), make_world()


@pytest.fixture(scope="module")
def cast(worlds, kept_rows) -> dict[str, Person | None]:
    here, there = worlds
    with kept_rows():
        stranger = make_annotator()
    return {
        "anonymous": None,
        "stranger": stranger,
        "annotator": here.annotator,
        "viewer": here.viewer,
        "admin": here.admin,
        "other_admin": there.admin,
    }


def look_up(world: SimpleNamespace, path: str) -> Any:
    if path.startswith("'"):
        return path.strip("'")
    value: Any = world
    for name in path.split("."):
        value = getattr(value, name)
    return value


def knock(person: Person | None, method: str, url: str) -> int:
    """The status of a request, with whatever it changed taken back."""
    client = Client()
    if person is not None:
        client.force_login(person)
    with transaction.atomic():
        status = getattr(client, method)(url).status_code
        transaction.set_rollback(True)
    return status


def turned_away(who: str, status: int, door: Door) -> bool:
    # Who is not signed in is asked to, and learns nothing of what exists.
    return status in (302, 401) if who == "anonymous" else status == door.refused_with


def test_every_address_has_its_door():
    unnamed = [str(pattern.pattern) for pattern in named_patterns() if not pattern.name]
    names = {pattern.name for pattern in named_patterns() if pattern.name}
    assert not unnamed
    assert names == DOORS.keys() | API_DOORS.keys()


def test_nothing_behind_a_door_is_kept_by_a_browser(worlds, cast):
    """On a shared device the next person goes back in the history, or opens the cache."""
    kept = []
    for name, door in DOORS.items():
        if door.get and "anonymous" not in door.get:
            who = min(door.get)
            client = Client()
            client.force_login(cast[who])
            url = reverse(in_full(name), kwargs={key: look_up(worlds[0], path) for key, path in door.ids.items()})
            if "no-store" not in client.get(url).get("Cache-Control", ""):
                kept.append(name)
    for name, api_door in API_DOORS.items():
        if "get" in api_door.methods:
            client = ApiClient(cast[min(api_door.methods["get"][1])], *EVERY_SCOPE).client
            if "no-store" not in client.get(api_address(name, worlds[0])).get("Cache-Control", ""):
                kept.append(name)
    assert not kept


@pytest.mark.parametrize("name", sorted(DOORS))
def test_who_may_come_in(name, worlds, cast):
    door, here = DOORS[name], worlds[0]
    url = reverse(in_full(name), kwargs={key: look_up(here, path) for key, path in door.ids.items()})
    wrong = []
    for method, allowed in (("get", door.get), ("post", door.post)):
        for who in CAST:
            status = knock(cast[who], method, url)
            if status >= 500:
                wrong.append(f"{method} as {who}: {status}")
            elif allowed is None:
                # Not offered: 405 to those who may see that it exists; never a success for anybody.
                if status < 300:
                    wrong.append(f"{method} as {who}: {status}, though it is not offered")
            elif who in allowed:
                if status in (401, 403, 404, 405):
                    wrong.append(f"{method} as {who}: {status}, though it is their door")
            elif not turned_away(who, status, door):
                wrong.append(f"{method} as {who}: {status}, though it is not their door")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("held", ["judged", "reviewed"])
def test_what_somebody_decides_about_is_theirs_alone(held, worlds, cast):
    """The same addresses as those of answers, with another page behind them."""
    here = worlds[0]
    assignment = getattr(here, held)
    desk = {"project": here.project.slug, "stage": assignment.stage.slug}
    addresses = [("get", reverse("work", kwargs=desk))]
    for name in ("work-submit", "work-draft", "work-skip", "work-renew"):
        addresses.append(("post", reverse(name, kwargs={"token": assignment.token})))
    wrong = []
    for method, url in addresses:
        for who in CAST:
            status = knock(cast[who], method, url)
            is_right = status < 500 and status not in (302, 404) if who in OWNER else turned_away(who, status, ONLY_OWN)
            if not is_right:
                wrong.append(f"{method} {url} as {who}: {status}")
    assert not wrong, "\n".join(wrong)


ONLY_OWN = Door(None)


def addresses_with_two_ids() -> list[str]:
    # A name is no id of a row: what a project is not the owner of, such as a protocol, has none.
    return sorted(name for name, door in DOORS.items() if "slug" in door.ids and len(door.ids.keys() - {"name"}) > 1)


@pytest.mark.parametrize("name", addresses_with_two_ids())
def test_an_id_of_another_project_is_not_found_under_this_one(name, worlds):
    door, (here, there) = DOORS[name], worlds
    ids = {key: look_up(here if key in ("slug", "name") else there, path) for key, path in door.ids.items()}
    if name in PERSONAL:
        ids["pseudonym"] = there.annotator.pseudonym
    url = reverse(in_full(name), kwargs=ids)
    for method, offered in (("get", door.get), ("post", door.post)):
        if offered is not None:
            assert knock(here.admin, method, url) == 404, method


PERSONAL = {
    *("person", "person-state", "person-sign-in", "person-code", "person-erase", "person-exclude"),
    *("person-answers", "qualification-decide"),
}


@pytest.mark.parametrize("name", [name for name, door in DOORS.items() if door.ids])
def test_what_does_not_exist_is_not_found_either(name, worlds):
    """A stranger cannot tell a project that exists from one that does not."""
    nowhere = {"slug": "nowhere", "project": "nowhere", "file_id": 10**9} | dict.fromkeys(
        ("token", "link", "name"), "nothing-like-it"
    )
    door, here = DOORS[name], worlds[0]
    ids = {key: nowhere.get(key, look_up(here, path)) for key, path in door.ids.items()}
    method = "get" if door.get is not None else "post"
    status = knock(make_annotator(), method, reverse(in_full(name), kwargs=ids))
    assert status == (410 if name == "join" else door.refused_with)


# Programs


def in_full(name: str) -> str:
    """The name of an address as `reverse` knows it: those of the API have a namespace."""
    return f"api:{name}" if name.startswith("api-") else name


def api_address(name: str, world: SimpleNamespace) -> str:
    return reverse(in_full(name), kwargs={key: look_up(world, path) for key, path in API_DOORS[name].ids.items()})


def knock_with_token(person: Person | None, method: str, url: str, scopes: tuple[str, ...] = EVERY_SCOPE) -> int:
    client = ApiClient(person, *scopes).client
    with transaction.atomic():
        status = client.generic(method.upper(), url, "{}", content_type="application/json").status_code
        transaction.set_rollback(True)
    return status


# One test each for all addresses: making the two projects takes longer than knocking.


def test_whose_token_opens_what(worlds, cast):
    # Every token here has every scope: rows are kept by the doors alone.
    wrong = []
    for name, door in API_DOORS.items():
        for method in ("get", "post", "put", "patch", "delete", "options"):
            for who in sorted(EVERYBODY):
                status = knock_with_token(cast[who], method, api_address(name, worlds[0]))
                if method not in door.methods:
                    is_right = status == 405
                elif who in door.methods[method][1]:
                    is_right = status < 500 and status not in (401, 403, 404, 405)
                else:
                    is_right = status == door.refused_with
                if not is_right:
                    wrong.append(f"{name}: {method} as {who}: {status}")
    assert not wrong, "\n".join(wrong)


def test_a_session_opens_nothing_of_the_api(worlds, cast):
    # Else any page that somebody visits could act in their name.
    wrong = []
    for name in API_DOORS:
        for method in ("get", "head", "post", "put", "patch", "delete", "options"):
            for who in CAST:
                status = knock(cast[who], method, api_address(name, worlds[0]))
                if status != 401:
                    wrong.append(f"{name}: {method} as {who}: {status}")
    assert not wrong, "\n".join(wrong)


def test_a_token_opens_only_what_its_scopes_name(worlds, cast):
    wrong = []
    for name, door in API_DOORS.items():
        url = api_address(name, worlds[0])
        for method, (scope, allowed) in door.methods.items():
            person = cast[min(allowed)]
            without = knock_with_token(person, method, url, tuple(one for one in EVERY_SCOPE if one != scope))
            alone = knock_with_token(person, method, url, (scope,) if scope else EVERY_SCOPE[:1])
            if without != (403 if scope else 200) or alone in (401, 403, 404):
                wrong.append(f"{name}: {method}: {without} without the scope, {alone} with it alone")
    assert not wrong, "\n".join(wrong)


def test_the_api_finds_nothing_of_another_project_and_nothing_that_is_not_there(worlds):
    here, there = worlds
    nowhere = {"slug": "nowhere", "project": "nowhere"} | dict.fromkeys(("token", "name"), "nothing-like-it")
    wrong = []
    for name, door in API_DOORS.items():
        if not door.ids:
            continue
        absent = {key: nowhere.get(key, look_up(here, path)) for key, path in door.ids.items()}
        mixed = {key: look_up(here if key in ("slug", "name") else there, path) for key, path in door.ids.items()}
        addresses = [absent, mixed] if "slug" in door.ids and len(door.ids) > 1 else [absent]
        for method in door.methods:
            statuses = {knock_with_token(here.admin, method, reverse(in_full(name), kwargs=ids)) for ids in addresses}
            if statuses != {404}:
                wrong.append(f"{name}: {method}: {statuses}")
    assert not wrong, "\n".join(wrong)
