"""The demonstration: a sample project on invented records, its people, and baselines to compare them with.

Everything goes through the services that a study uses. Called again, it makes what is missing and leaves the rest.
"""

from __future__ import annotations

import io
import secrets
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from annotate.codes import code_digest
from annotate.exceptions import GoldpanelError
from annotate.models import ItemSet, Membership, Person, Project, Stage
from annotate.services import importing, people, projects
from annotate.services.sampling import draw_item_set
from config import local_model
from evaluation.demo.sign_ins import SignIn, read_sign_ins, write_sign_ins
from evaluation.models import Endpoint
from evaluation.services import endpoints

SLUG = "demo"
ADMIN = "demo-admin"
N_ANNOTATORS = 3
CLAIMS, TABLES = "claims", "tables"
# (name, baseline): what stands in for a model until somebody connects one.
BASELINES = (
    ("Most frequent label", "majority_label"),
    ("Chatty random", "chatty_random"),
    ("Word overlap", "lexical_overlap"),
    ("Random value", "seeded_random"),
)
# The real model, where it is installed: one answer at a time, the next request waiting at the door.
LOCAL_MODEL = f"{local_model.NAME} (local)"
LOCAL_MODEL_LIMITS = {"max_in_flight": 2, "timeout_seconds": 120}
# It is asked about some of the claims: all of them would take a minute or two of a busy machine.
N_LOCAL_ITEMS = 20
LOCAL_ITEMS = f"{N_LOCAL_ITEMS} claims for a local model"
LOCAL_ITEMS_SEED = 7
STAGES: dict[str, dict[str, Any]] = {
    CLAIMS: {
        "kind": Stage.Kind.LABEL,
        "title": "Yes, no, or not sure enough",
        "shown_keys": ["question", "code", "table"],
        "fields": [
            {
                "name": "label",
                "type": "choice",
                "caption": "Your answer",
                "decides": True,
                "required": True,
                "options": [
                    {"value": "yes", "caption": "Yes"},
                    {"value": "no", "caption": "No"},
                    {"value": "not_sure", "caption": "Not sure enough"},
                ],
            }
        ],
    },
    TABLES: {
        "kind": Stage.Kind.ANSWER,
        # The questions of one table follow one another, so that it is read once.
        "order": Stage.Order.SEQUENTIAL,
        "title": "Questions about tables",
        "instruction": "Everything you need is in the table.",
        "shown_keys": ["question", "table"],
        "fields": [
            {"name": "answer", "type": "text", "caption": "Answer", "decides": True, "required": True},
            {
                "name": "why",
                "type": "long_text",
                "caption": "How did you find it?",
                "decides": False,
                "required": False,
            },
        ],
    },
}


class DemoNotPossible(GoldpanelError):
    """The sample project would get mixed up with something real."""

    http_status = 409


def set_up_demo(*, folder: Path) -> list[SignIn]:
    """The sample project, ready to work in; how to sign in, also kept in a file of mode 600 in `folder`.

    Raises DemoNotPossible where a project of somebody else has the address.
    """
    project = Project.objects.filter(slug=SLUG).first()
    if project is not None and not project.is_sample:
        raise DemoNotPossible(f"There is a project at /p/{SLUG}/ that is no sample: the demo leaves it alone.")
    with transaction.atomic():
        admin = _admin()
        project = project or _project(admin)
        _ensure_baselines(project)
        if settings.LOCAL_MODEL_PORT:
            _ensure_local_model(project, admin, local_model.base_url(settings.LOCAL_MODEL_PORT))
    for slug in STAGES:
        _ensure_stage(project, slug, admin)
    return _sign_ins(project, admin, folder)


def _admin() -> Person:
    person = Person.objects.filter(username=ADMIN).first()
    # The password is set where it is written down; until then there is none that anybody knows.
    return person or Person.objects.create_staff(username=ADMIN, password=secrets.token_urlsafe(32), is_sample=True)


def _project(admin: Person) -> Project:
    project = projects.create_project(
        title="Demo: claims and tables",
        slug=SLUG,
        by=admin,
        description="Invented tables and everyday questions, to try the platform with.",
        languages=["en", "es", "zh", "ar", "ta"],
        is_sample=True,
    )
    for _ in range(N_ANNOTATORS):
        people.new_annotator(project=project, by=admin, is_sample=True)
    people.new_annotator(project=project, by=admin, role=Membership.Role.META_REVIEWER, is_sample=True)
    return project


def _ensure_baselines(project: Project) -> None:
    for name, baseline in BASELINES:
        Endpoint.objects.get_or_create(
            project=project, name=name, defaults={"provider": Endpoint.Provider.BASELINE, "model": baseline}
        )


def _ensure_local_model(project: Project, admin: Person, base_url: str) -> None:
    endpoint = project.endpoints.filter(name=LOCAL_MODEL).first()
    if endpoint is None:
        endpoints.create_endpoint(
            project=project,
            by=admin,
            name=LOCAL_MODEL,
            provider=Endpoint.Provider.OPENAI,
            model=local_model.MODEL,
            base_url=base_url,
            **LOCAL_MODEL_LIMITS,
        )
    elif endpoint.base_url != base_url:
        # The port may be another one at every start.
        endpoints.change_endpoint(endpoint=endpoint, by=admin, base_url=base_url)


def items_for_local_model(*, claims: ItemSet, by: Person) -> ItemSet:
    """The claims that the demo asks the local model about: drawn once, the same in every installation."""
    drawn = ItemSet.objects.filter(project=claims.project_id, name=LOCAL_ITEMS).first()
    return drawn or draw_item_set(population=claims, by=by, name=LOCAL_ITEMS, n=N_LOCAL_ITEMS, seed=LOCAL_ITEMS_SEED)


def _ensure_stage(project: Project, slug: str, admin: Person) -> None:
    """The stage with its items, open. Each step is taken where it is missing: the last start may have been stopped."""
    stage = project.stages.filter(slug=slug).first()
    if stage is None:
        guidelines = _record(f"guidelines_{slug}.md").decode()
        stage = projects.create_stage(
            project=project, by=admin, slug=slug, guidelines=guidelines, overlap=N_ANNOTATORS, **STAGES[slug]
        )
    if not stage.stage_items.exists():
        _import_items(stage, admin)
    if stage.state == Stage.State.DRAFT:
        projects.open_stage(stage=stage, by=admin)


def _import_items(stage: Stage, admin: Person) -> None:
    """What the stage asks about, by the import that anybody's files take, with the meaning of columns it proposes."""
    if stage.slug == CLAIMS:
        claims = io.BytesIO(_record("claims.jsonl"))
        importing.import_file(project=stage.project, by=admin, stage=stage, file=claims, name="claims.jsonl")
        return
    importing.import_file(
        project=stage.project,
        by=admin,
        stage=stage,
        file=io.BytesIO(_record("table_questions.csv")),
        name="table_questions.csv",
        tables=io.BytesIO(_record("tables.json")),
        tables_name="tables.json",
        join_column="table_id",
    )


def _record(name: str) -> bytes:
    return files("annotate.demo").joinpath(name).read_bytes()


def _sign_ins(project: Project, admin: Person, folder: Path) -> list[SignIn]:
    """Those of the file as far as they still open the door; the others get a new code or password, and a new file."""
    known = {entry.pseudonym: entry for entry in read_sign_ins(folder)}
    members = project.memberships.filter(person__is_sample=True).select_related("person").order_by("pk")
    sign_ins = [_sign_in(row, known.get(row.person.pseudonym), admin) for row in members]
    if sign_ins != list(known.values()):
        write_sign_ins(folder, sign_ins)
    return sign_ins


def _sign_in(membership: Membership, known: SignIn | None, admin: Person) -> SignIn:
    person, role = membership.person, str(Membership.Role(membership.role).label)
    if person.is_staff:
        if known and person.check_password(known.secret):
            return known
        password = secrets.token_urlsafe(12)
        person.set_password(password)
        person.save(update_fields=["password"])
        return SignIn(role, person.pseudonym, password, person.username or "")
    if known and code_digest(known.secret, key=settings.CODE_KEY) == person.code_digest:
        return known
    return SignIn(role, person.pseudonym, people.issue_code(person=person, by=admin))
