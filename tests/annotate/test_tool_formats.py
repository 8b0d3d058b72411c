"""Answers for Argilla and Prodigy, items for Mechanical Turk: what goes out, and that it comes back as what it was."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from annotate.exceptions import ExportNotPossible
from annotate.models import Annotation, Assignment, Export, ImportedAnnotator, Item, Person, Project, Stage
from annotate.services import exporting, importing
from annotate.services.excluding import exclude_person
from annotate.services.exporting.kinds import KINDS
from annotate.sources.argilla import user_id
from annotate.sources.mapping import hash_content
from tests.factories import (
    make_annotation,
    make_assignment,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

pytestmark = pytest.mark.django_db

FORM = [
    {
        "name": "label",
        "type": "choice",
        "caption": "Is it so?",
        "options": [{"value": "yes", "caption": "It is"}, {"value": "no", "caption": "It is not"}],
    },
    {
        "name": "topics",
        "type": "choices",
        "caption": "About what?",
        "required": False,
        "options": [{"value": "a", "caption": "A"}, {"value": "b", "caption": "B"}],
    },
    {"name": "stars", "type": "scale", "caption": "How sure?", "min": 1, "max": 5, "required": False},
    {"name": "answer", "type": "text", "caption": "Why?", "decides": False, "required": False},
]
TOOLS = ("argilla", "prodigy")


class Study:
    """Two items, two people; beside their answers one that was skipped, and an older revision of one."""

    def __init__(self) -> None:
        self.project = make_project(slug="claims")
        self.admin = make_member(self.project, "admin")
        self.anna, self.ben = make_member(self.project), make_member(self.project)
        self.stage = make_stage(
            self.project, slug="label", overlap=2, form=FORM, shown_keys=["question", "context"], title="First"
        )
        contents = [
            [["question", "Is “it”?\u2028我"], ["context", "It is."]],
            [["question", "Was it?"], ["context", "It was."]],
        ]
        items = [make_item(self.project, content, external_id=f"q{n}") for n, content in enumerate(contents, start=1)]
        for item, content in zip(items, contents, strict=True):
            # As an import writes it, by which it knows the same content again.
            item.revisions.update(content_hash=hash_content(content))
        self.first, self.second = (make_stage_item(self.stage, item, wanted=3) for item in items)
        make_annotation(self.first, self.anna, {"label": "yes", "topics": ["a", "b"], "stars": 4, "answer": "So it is"})
        make_annotation(self.first, self.ben, {"label": "no", "topics": ["b"]})
        make_annotation(self.second, self.anna, {"label": "no"})
        make_assignment(
            self.second, self.ben, state="skipped", slot=None, skip_reason="other", finished_at="2026-11-02T09:00:00Z"
        )


@pytest.mark.parametrize(("kind", "tool"), [("answers", "argilla"), ("answers", "prodigy"), ("items", "mturk")])
def test_the_same_answers_are_the_same_file_whenever_they_are_written(kind: str, tool: str):
    study, file = Study(), io.BytesIO()
    KINDS[kind].written(study.project, KINDS[kind].format(tool), file, lambda n: None)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    assert members
    assert {member.date_time for member in members} == {(2000, 1, 1, 0, 0, 0)}


def archive_of(study: Study, tool: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    """(name -> content, what was told of it)."""
    kind = KINDS["answers"]
    file = io.BytesIO()
    told = kind.written(study.project, kind.format(tool), file, lambda n: None)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}, told


def answers(stage: Stage) -> set[tuple[str, int, str]]:
    rows = Annotation.objects.filter(assignment__stage=stage, is_current=True, assignment__slot__isnull=False)
    return {
        (
            row.assignment.stage_item.revision.item.external_id,
            row.assignment.person_id,
            json.dumps(row.answer, sort_keys=True),
        )
        for row in rows
    }


@pytest.mark.parametrize("tool", TOOLS)
def test_what_goes_out_comes_back_as_it_was_from_the_same_people(tool):
    study = Study()
    files, _ = archive_of(study, tool)
    again = make_stage(study.project, slug="again", form=FORM, shown_keys=["question", "context"], overlap=1)
    (name,) = (name for name in files if name.startswith("label."))
    n_people = Person.objects.count()
    job = importing.import_file(project=study.project, by=None, file=io.BytesIO(files[name]), name=name, stage=again)
    assert job.options["source"]["format"] == tool
    assert answers(again) == answers(study.stage)
    assert len(answers(again)) == 3
    # Nobody and nothing was made anew.
    assert (Person.objects.count(), Item.objects.filter(project=study.project, root=None).count()) == (n_people, 2)
    skipped = Assignment.objects.filter(stage=again, state="skipped").values_list("person", flat=True)
    assert list(skipped) == ([study.ben.pk] if tool == "prodigy" else [])


@pytest.mark.parametrize("tool", TOOLS)
def test_only_what_counts_goes_out(tool):
    study = Study()
    surplus = make_annotation(study.second, make_member(study.project), {"label": "yes"})
    Assignment.objects.filter(pk=surplus.assignment_id).update(slot=None)
    exclude_person(project=study.project, person=study.ben, by=study.admin, reason="a test", rule="by hand")
    files, told = archive_of(study, tool)
    assert study.ben.pseudonym.encode() not in b"".join(files.values())
    assert user_id(study.ben.pseudonym).encode() not in b"".join(files.values())
    # In Prodigy's lines a skip is one, too, but this one was Ben's.
    assert told == {"rows": 2, "as_json": 0}


def test_a_record_of_argilla_has_every_response_under_its_question():
    study = Study()
    files, told = archive_of(study, "argilla")
    assert told == {"rows": 3, "as_json": 0}
    anna, ben = user_id(study.anna.pseudonym), user_id(study.ben.pseudonym)
    assert json.loads(files["people.json"]) == {study.anna.pseudonym: anna, study.ben.pseudonym: ben}
    first, second = json.loads(files["label.json"])
    assert first == {
        "id": "q1",
        "fields": {"question": "Is “it”?\u2028我", "context": "It is."},
        "metadata": {"stage": "label", "language": "en"},
        "suggestions": {},
        "responses": {
            "label": [{"value": "yes", "user_id": anna}, {"value": "no", "user_id": ben}],
            "topics": [{"value": ["a", "b"], "user_id": anna}, {"value": ["b"], "user_id": ben}],
            "stars": [{"value": 4, "user_id": anna}],
            "answer": [{"value": "So it is", "user_id": anna}],
        },
        "vectors": {},
        "_server_id": None,
    }
    assert second["responses"] == {"label": [{"value": "no", "user_id": anna}]}


def test_a_task_of_prodigy_has_one_persons_answer():
    study = Study()
    files, told = archive_of(study, "prodigy")
    assert told == {"rows": 4, "as_json": 0}
    first, _, _, skipped = (json.loads(line) for line in files["label.jsonl"].splitlines())
    assert (first["id"], first["text"]) == ("q1", "question: Is “it”?\u2028我\n\ncontext: It is.")
    assert (first["accept"], first["answer"], first["answer.answer"]) == (["yes"], "accept", "So it is")
    assert first["options"] == [{"id": "yes", "text": "It is"}, {"id": "no", "text": "It is not"}]
    assert first["_annotator_id"] == study.anna.pseudonym
    assert (skipped["id"], skipped["answer"], skipped["accept"]) == ("q2", "ignore", [])


def test_a_content_key_that_prodigy_uses_itself_stands_in_the_text_alone():
    study = Study()
    study.stage.versions.update(shown_keys=["label", "question"])
    item = make_item(study.project, [["label", "SPORTS"], ["question", "Is it?"]], external_id="q3")
    make_annotation(make_stage_item(study.stage, item), study.anna, {"label": "yes"})
    files, _ = archive_of(study, "prodigy")
    task = json.loads(files["label.jsonl"].splitlines()[-1])
    assert task["text"] == "label: SPORTS\n\nquestion: Is it?"
    assert not {"label", "question"} & task.keys()


def test_a_table_is_json_in_a_text_and_counted():
    study = Study()
    form = [{"name": "rows", "type": "table", "caption": "Fill in", "columns": ["a"]}]
    stage = make_stage(study.project, slug="tables", form=form, kind="answer")
    make_annotation(make_stage_item(stage), study.anna, {"rows": {"columns": ["a"], "rows": [["1"]]}})
    files, told = archive_of(study, "argilla")
    (record,) = json.loads(files["tables.json"])
    assert json.loads(record["responses"]["rows"][0]["value"]) == {"columns": ["a"], "rows": [["1"]]}
    assert told == {"rows": 4, "as_json": 1}


def test_only_answers_can_be_had_for_a_tool():
    study = Study()
    with pytest.raises(ExportNotPossible, match="cannot be had as 'argilla'"):
        exporting.request_export(project=study.project, by=study.admin, kind="items", format="argilla", may_run=True)
    page = Client()
    page.force_login(study.admin)
    address = reverse("exports", args=[study.project.slug])
    refused = page.post(address, {"kind": "items", "format": "prodigy"})
    assert refused.status_code == 422
    assert "Items cannot be had in this form." in refused.content.decode()
    assert page.post(address, {"kind": "answers", "format": "prodigy"}).status_code == 302
    assert Export.objects.get().format == "prodigy"
    # Who reads results only is offered neither answers nor their forms.
    page.force_login(make_member(study.project, "viewer"))
    assert "Prodigy" not in page.get(address).content.decode()


# Mechanical Turk


def input_files(project: Project) -> tuple[dict[str, list[dict[str, str]]], dict[str, Any]]:
    """(stage -> the rows of its input file, what was told)."""
    kind = KINDS["items"]
    file = io.BytesIO()
    told = kind.written(project, kind.format("mturk"), file, lambda n: None)
    with zipfile.ZipFile(file) as archive:
        texts = {name.removesuffix(".csv"): archive.read(name).decode() for name in archive.namelist()}
    return {name: list(csv.DictReader(io.StringIO(text, newline=""))) for name, text in texts.items()}, told


def test_an_input_file_has_the_items_of_a_stage_with_what_it_shows():
    study = Study()
    content = [["question", "A 😀 & <b>?"], ["context", "x\ny"], ["hidden", "h"]]
    gold = make_item(study.project, content, gold={"label": ["yes"]})
    make_stage_item(study.stage, gold, purpose="check")
    make_stage_item(study.stage, purpose="qualification")
    make_stage_item(study.stage, state="left_out")
    make_stage(study.project, slug="audit", kind="audit")
    files, told = input_files(study.project)
    assert files == {
        "label": [
            {"item_id": "q1", "question": "Is “it”?\u2028我", "context": "It is."},
            {"item_id": "q2", "question": "Was it?", "context": "It was."},
            {"item_id": gold.external_id, "question": "A &#128512; &#38; &#60;b&#62;?", "context": "x&#10;y"},
        ]
    }
    assert told == {"rows": 3, "as_json": 0, "references": 1}


def batch_results(rows: list[dict[str, str]], *given: tuple[int, str, str, str]) -> bytes:
    """given: (number of the row in the input file, worker, answer, status)."""
    file = io.StringIO()
    inputs = [f"Input.{name}" for name in rows[0]]
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    own = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds"]
    writer.writerow([*own, *inputs, "Answer.label"])
    for n, (number, worker, answer, status) in enumerate(given):
        moment = f"Mon Nov 02 01:30:{n:02} PST 2026"
        writer.writerow([f"H{number}", f"A{n}", worker, status, moment, str(20 + n), *rows[number].values(), answer])
    return file.getvalue().encode()


def test_results_come_back_to_the_items_that_went_out():
    study = Study()
    files, _ = input_files(study.project)
    data = batch_results(
        files["label"],
        (0, "A1WORKER", "yes", "Approved"),
        (0, "A2WORKER", "no", "Submitted"),
        (1, "A1WORKER", "no", "Approved"),
        (1, "A3WORKER", "yes", "Rejected"),
    )
    job = importing.import_file(
        project=study.project, by=None, file=io.BytesIO(data), name="results.csv", stage_title="On MTurk"
    )
    stage = Stage.objects.get(title="On MTurk")
    names = dict(ImportedAnnotator.objects.values_list("person", "name"))
    found = {(item, names[person], json.loads(answer)["label"]) for item, person, answer in answers(stage)}
    assert found == {("q1", "A1WORKER", "yes"), ("q1", "A2WORKER", "no"), ("q2", "A1WORKER", "no")}
    row = Annotation.objects.get(assignment__stage=stage, answer={"label": "yes"})
    assert (row.wall_seconds, row.created_at.isoformat()) == (20, "2026-11-02T09:30:00+00:00")
    assert "Assignments that were rejected, which were left out: 1." in job.report["warnings"]
    assert Item.objects.filter(project=study.project, root=None).count() == 2


def test_the_ids_of_workers_stand_where_identities_stand_and_nowhere_else():
    study = Study()
    files, _ = input_files(study.project)
    data = batch_results(files["label"], (0, "A1WORKER", "yes", "Approved"), (0, "A3WORKER", "no", "Rejected"))
    importing.import_file(project=study.project, by=None, file=io.BytesIO(data), name="results.csv")
    for model in apps.get_models(include_auto_created=True):
        rows = repr(list(model._default_manager.values_list()))
        assert ("A1WORKER" in rows) == (model is ImportedAnnotator), model
        # Whoever was rejected is nobody here.
        assert "A3WORKER" not in rows, model
    for kind in KINDS.values():
        for form in kind.formats:
            file = io.BytesIO()
            kind.written(study.project, form, file, lambda n: None)
            assert b"A1WORKER" not in unpacked(file), (kind.name, form.name)


def unpacked(file: io.BytesIO) -> bytes:
    """What stands in a file, and in its members where it is a ZIP."""
    if not zipfile.is_zipfile(file):
        return file.getvalue()
    with zipfile.ZipFile(file) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())
