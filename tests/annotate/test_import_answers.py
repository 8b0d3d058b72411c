"""Answers that people gave elsewhere: imported with their items or to known ones, all of them or none."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.files.base import File
from django.core.management import call_command

from annotate.exceptions import ImportRefused
from annotate.models import (
    Annotation,
    Assignment,
    Event,
    Gold,
    ImportedAnnotator,
    ImportJob,
    Item,
    Membership,
    Participation,
    Person,
    Resolution,
    Stage,
    StageItem,
)
from annotate.services import importing
from annotate.services.exporting.answers import answer_rows
from annotate.services.importing.preview import preview_of
from annotate.services.resolving import resolve_due
from tests.annotate.sources.workbooks import workbook, zipped
from tests.factories import make_item, make_member, make_project, make_stage

pytestmark = pytest.mark.django_db

STORED = (Item, Person, Membership, ImportedAnnotator, Stage, StageItem, Assignment, Annotation, Resolution, Gold)


def csv(*rows: str, head: str = "item_id,worker,label") -> bytes:
    return "\n".join([head, *rows, ""]).encode()


def run(project, data: bytes, name: str = "answers.csv", **asked: Any) -> ImportJob:
    return importing.import_file(project=project, by=None, file=io.BytesIO(data), name=name, **asked)


def n_rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in STORED}


def problems_of(project, data: bytes, name: str = "answers.csv", **asked: Any) -> list[str]:
    before = n_rows()
    with pytest.raises(ImportRefused) as refused:
        run(project, data, name, **asked)
    assert n_rows() == before
    return [problem["message"] for problem in refused.value.problems]


@pytest.fixture
def project():
    project = make_project()
    for name in ("q1", "q2", "q3"):
        make_item(project, [["question", f"Is {name} so?"]], external_id=name)
    return project


def answers(stage: Stage) -> list[tuple[str, str, dict[str, Any]]]:
    rows = Annotation.objects.filter(assignment__stage=stage, is_current=True).order_by("pk")
    names = dict(ImportedAnnotator.objects.values_list("person", "name"))
    return [
        (row.assignment.stage_item.revision.item.external_id, names[row.assignment.person_id], row.answer)
        for row in rows
    ]


# What is stored


def test_answers_to_known_items_become_a_closed_stage_with_people_who_cannot_sign_in(project):
    job = run(project, csv("q1,a,yes", "q2,a,no", "q1,b,no", "q1,c,yes"))
    stage = job.stage
    assert (stage.state, stage.kind, stage.overlap, stage.title) == ("closed", "label", 3, "Answers from answers.csv")
    assert (stage.is_closed_book, stage.permitted_sources) == (False, "not known: the answers were imported")
    version = stage.versions.get()
    assert version.shown_keys == ["question"]
    assert [(field["name"], field["type"]) for field in version.fields] == [("label", "choice")]
    assert [option["value"] for option in version.fields[0]["options"]] == ["no", "yes"]
    assert answers(stage) == [
        ("q1", "a", {"label": "yes"}),
        ("q1", "b", {"label": "no"}),
        ("q1", "c", {"label": "yes"}),
        ("q2", "a", {"label": "no"}),
    ]
    # As many places as there are answers; q3 was not answered and is not in the stage.
    places = stage.stage_items.order_by("rank")
    assert [(p.revision.item.external_id, p.wanted, p.active, p.done) for p in places] == [
        ("q1", 3, 0, 3),
        ("q2", 1, 0, 1),
    ]
    assert sorted(Assignment.objects.filter(stage=stage, stage_item=places[0]).values_list("slot", flat=True)) == [
        0,
        1,
        2,
    ]
    people = Person.objects.filter(assignments__stage=stage).distinct()
    assert {(p.is_active, p.username, p.code_digest, p.has_usable_password()) for p in people} == {
        (False, None, None, False)
    }
    assert {(m.role, m.state) for m in Membership.objects.filter(person__in=people)} == {("annotator", "left")}
    wanted = {"answers": 4, "skips": 0, "revised": 0, "people": 3, "new_people": 3, "known": 0, "stage": stage.slug}
    assert job.report["answers"] == wanted
    assert job.report["imported"] == 0
    event = Event.objects.get(verb="answers.imported")
    assert (event.subject_id, event.detail) == (
        job.pk,
        {"stage": stage.pk, "n_answers": 4, "n_skips": 0, "n_people": 3},
    )
    assert sorted(Participation.objects.values_list("n_answered", flat=True)) == [1, 1, 2]


def test_what_the_file_does_not_say_stays_unknown(project):
    stage = run(project, csv("q1,a,yes", "q2,a,no")).stage
    for row in Annotation.objects.filter(assignment__stage=stage):
        assert (row.active_seconds, row.wall_seconds, row.guideline_version) == (None, None, None)
        assert row.assignment.finished_at is None
        assert row.assignment.is_imported


def test_times_are_kept_and_a_later_answer_is_a_newer_version(project):
    head = "item_id,worker,label,answered_at,seconds"
    rows = ("q1,a,no,2026-11-02T10:00:00Z,7.6", "q1,a,yes,2026-11-02T09:00:00+00:00,5", "q1,b,no,1793610000,")
    job = run(project, csv(*rows, head=head))
    first, second = Annotation.objects.filter(assignment__stage=job.stage, assignment__slot=0).order_by("number")
    assert (first.answer, first.is_current, first.wall_seconds) == ({"label": "yes"}, False, 5)
    assert (second.answer, second.is_current, second.wall_seconds, second.active_seconds) == (
        {"label": "no"},
        True,
        8,
        None,
    )
    assert (first.created_at.isoformat(), second.assignment.finished_at.isoformat()) == (
        "2026-11-02T09:00:00+00:00",
        "2026-11-02T10:00:00+00:00",
    )
    assert (job.report["answers"]["answers"], job.report["answers"]["revised"]) == (2, 1)
    other = Annotation.objects.get(assignment__stage=job.stage, assignment__slot=1)
    assert other.created_at.isoformat() == "2026-11-02T09:00:00+00:00"


def test_votes_are_counted_and_numbers_beside_the_rows_are_true(project):
    stage = run(project, csv("q1,a,yes", "q1,b,yes", "q1,c,no", "q2,a,no")).stage
    resolve_due()
    rows = Resolution.objects.filter(stage_item__stage=stage).order_by("stage_item__rank")
    assert [(row.status, row.answer) for row in rows] == [("majority", "yes"), ("majority", "no")]
    call_command("recount", stdout=io.StringIO())


def test_exports_mark_what_was_imported_and_make_up_no_times(project):
    data = csv(
        "q1,a,yes,2026-11-02T09:00:00Z,", "q2,a,,,yes", "q2,b,no,,", head="item_id,worker,label,answered_at,skipped"
    )
    run(project, data)
    head, *rows = answer_rows(project=project)
    told = [dict(zip(head, row, strict=True)) for row in rows]
    columns = ("item", "imported", "status", "leased_at", "answered_at", "active_seconds", "wall_seconds")
    assert [tuple(row[name] for name in columns) for row in told] == [
        ("q1", True, "counted", None, "2026-11-02T09:00:00.000Z", None, None),
        ("q2", True, "skipped", None, None, None, None),
        ("q2", True, "counted", None, None, None, None),
    ]


def test_the_same_file_twice_changes_nothing(project):
    data = csv("q1,a,yes", "q2,a,no", "q1,b,no")
    stage = run(project, data).stage
    before = n_rows()
    again = run(project, data)
    assert again.stage == stage
    assert n_rows() == before
    assert (again.report["answers"]["answers"], again.report["answers"]["known"]) == (0, 3)


def test_answers_go_into_a_stage_whose_form_fits(project):
    stage = make_stage(project, overlap=2)
    held = make_member(project)
    job = run(project, csv("q1,a,TRUE", "q1,b,FALSE", "q1,c,TRUE"), stage=stage)
    assert job.stage == stage
    place = stage.stage_items.get()
    # Two were wanted; what is there counts, and nobody else is asked.
    assert (place.wanted, place.done) == (3, 3)
    assert [answer for _, _, answer in answers(stage)] == [{"label": "yes"}, {"label": "no"}, {"label": "yes"}]
    assert not Assignment.objects.filter(person=held).exists()
    more = run(project, csv("q1,a,TRUE", "q2,a,FALSE"), stage=stage)
    assert (more.report["answers"]["answers"], more.report["answers"]["known"]) == (1, 1)
    # The same name in one project is the same person.
    assert Person.objects.filter(assignments__stage=stage).distinct().count() == 3


def test_another_answer_of_the_same_person_is_refused(project):
    stage = make_stage(project, overlap=2)
    run(project, csv("q1,a,yes"), stage=stage)
    (said,) = problems_of(project, csv("q2,a,no", "q1,a,no"), stage=stage)
    assert said.startswith("Line 3, row 2: a has another answer to “q1” in the stage")


def test_a_member_is_known_by_the_pseudonym_of_our_own_exports(project):
    stage = make_stage(project)
    member = make_member(project)
    run(project, csv(f"q1,{member.pseudonym},yes", head="item,person,answer.label"), stage=stage)
    assert Assignment.objects.get(stage=stage).person == member
    assert not ImportedAnnotator.objects.exists()


def test_answers_bring_their_items_where_a_column_is_shown(project):
    data = csv("n1,Is it?,a,yes", "n1,Is it?,b,no", "n2,Was it?,a,yes", head="item_id,question,annotator,label")
    job = run(project, data)
    assert (job.report["imported"], job.report["left_out"], job.report["content_duplicates"]["n"]) == (2, 0, 0)
    assert job.report["answers"]["answers"] == 3
    assert (job.item_set.n_items, job.stage.stage_items.count()) == (2, 2)


# What is refused


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            ("q1,a,yes", "q9,a,no", "q9,b,no"),
            "2 rows, first in lines 3, 4, field “item_id”: the project has no item “q9”",
        ),
        (("q1,a,yes", "q1,a,yes"), "Line 3, row 2, field “item_id”: a answers “q1” in line 2 too, and no times say"),
        (("q1,,yes",), "Line 2, row 1, field “worker”: there is an answer, and nobody is named who gave it"),
        (("q1," + "x" * 201 + ",yes",), "field “worker”: the name has more than 200 characters"),
        ((",a,yes",), "field “item_id”: the id is empty"),
    ],
)
def test_answers_that_cannot_be_stored_are_refused_by_line(project, rows, said):
    (found,) = problems_of(project, csv(*rows))
    assert said in found


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("yesterday,1", "field “answered_at”: “yesterday” is no moment"),
        ("0001-01-01,1", "field “answered_at”: “0001-01-01” is no moment"),
        ("2026-11-02T09:00:00Z,NaN", "field “seconds”: a number of seconds is needed"),
        ("2026-11-02T09:00:00Z,-3", "field “seconds”: a number of seconds is needed"),
        ("2026-11-02T09:00:00Z,1e99", "field “seconds”: a number of seconds is needed"),
    ],
)
def test_times_that_are_none(project, cells, said):
    (found,) = problems_of(project, csv(f"q1,a,yes,{cells}", head="item_id,worker,label,answered_at,seconds"))
    assert said in found


def test_equal_problems_are_told_once_with_their_lines(project):
    stage = make_stage(project)
    data = csv(*(f"q1,w{n},perhaps" for n in range(400)), "q1,x,yes")
    (found,) = problems_of(project, data, stage=stage)
    assert found.startswith("400 rows, first in lines 2, 3, 4, 5, 6, field “label”: no value of the field “label”")


def test_too_many_different_answers_for_a_choice(project):
    data = csv(*(f"q1,w{n},{n}" for n in range(61)))
    (found,) = problems_of(project, data, mapping=lambda guess: _as(guess, "choice"))
    assert "more than 60 different answers" in found


def _as(guess, kind: str):
    fields = tuple(replace(entry, type=kind) for entry in guess.answers.fields)
    return replace(guess, answers=replace(guess.answers, fields=fields))


def test_free_answers_become_a_stage_of_texts(project):
    data = csv(*(f"q{n},a,a long answer with its own words {n}" for n in (1, 2, 3)), head="item_id,annotator,answer")
    stage = run(project, data).stage
    assert (stage.kind, stage.versions.get().fields[0]["type"]) == ("answer", "text")


def test_a_stage_of_another_kind_takes_no_answers(project):
    stage = make_stage(project, kind="rewrite")
    (found,) = problems_of(project, csv("q1,a,yes"), stage=stage)
    assert "another kind" in found


def test_a_required_field_without_a_column(project):
    form = [
        {"name": name, "type": "text", "caption": name, "decides": True, "required": True} for name in ("label", "why")
    ]
    (found,) = problems_of(project, csv("q1,a,yes"), stage=make_stage(project, form=form))
    assert "requires answers to why" in found


# Repeated answers


@pytest.mark.parametrize(
    ("rule", "people", "current"),
    [("order", 1, ["no"]), ("separate", 2, ["yes", "no"])],
)
def test_repeated_answers_are_what_somebody_says_they_are(project, rule, people, current):
    job = run(project, csv("q1,a,yes", "q1,a,no"), repeats=rule)
    assert [answer["label"] for _, _, answer in answers(job.stage)] == current
    assert job.report["answers"]["people"] == people
    names = ImportedAnnotator.objects.order_by("pk").values_list("name", flat=True)
    assert list(names) == ["a", "a (2)"][:people]
    assert Annotation.objects.filter(assignment__stage=job.stage).count() == 2
    before = n_rows()
    assert run(project, csv("q1,a,yes", "q1,a,no"), repeats=rule).report["answers"]["answers"] == 0
    assert n_rows() == before


# Label Studio and doccano


def task(n: int, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": n, "data": {"q": f"Is {n} so?"}, "annotations": list(annotations), **more}


def annotation(by: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"completed_by": by, "result": list(results), "lead_time": 6.5, "created_at": "2026-11-01T09:00:00Z"} | more


def choice(value: str, name: str = "ans") -> dict[str, Any]:
    return {"from_name": name, "to_name": "q", "type": "choices", "value": {"choices": [value]}}


TASKS = [
    task(
        1,
        annotation(4, choice("blue"), {"from_name": "why", "type": "textarea", "value": {"text": ["I looked"]}}),
        annotation({"id": 5, "email": "x@example.org"}, choice("red"), ground_truth=True),
        predictions=[{"model_version": "m", "result": [choice("red")]}],
    ),
    task(
        2,
        annotation(4, choice("blue"), {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1}}),
        annotation(5, was_cancelled=True),
        annotation(6, {"type": "relation", "from_id": "a"}),
        annotation(7),
        drafts=[{}],
    ),
    task(3),
]


def test_an_export_of_label_studio(project):
    job = run(project, json.dumps(TASKS).encode(), "export.json")
    stage = job.stage
    assert answers(stage) == [
        ("1", "4", {"ans": "blue", "why": "I looked"}),
        ("1", "5", {"ans": "red"}),
        ("2", "4", {"ans": "blue"}),
    ]
    # Task 3 has no annotations, and comes in as an item that nobody has answered.
    assert [row.done for row in stage.stage_items.order_by("rank")] == [2, 1, 0]
    skip = Assignment.objects.get(stage=stage, state="skipped")
    assert (skip.skip_reason, skip.slot, skip.skip_note) == ("other", None, "Skipped where it was imported from.")
    row = Annotation.objects.filter(assignment__stage=stage).first()
    assert (row.wall_seconds, row.active_seconds, row.created_at.isoformat()) == (6, None, "2026-11-01T09:00:00+00:00")
    told = "\n".join(job.report["warnings"])
    assert "1 × rectanglelabels" in told
    assert "1 × relation" in told
    assert "Records that name a person and hold no answer, so that nothing was stored for them: 1." in told
    assert "Predictions of models, which are no answers of people and were passed over: 1." in told
    assert "Unfinished drafts, which were passed over: 1." in told
    assert not Gold.objects.filter(item__project=project, field="ans").exists()
    assert "x@example.org" not in json.dumps([list(p) for p in ImportedAnnotator.objects.values_list("name")])


def test_ground_truth_becomes_gold_only_when_somebody_says_so(project):
    run(project, json.dumps(TASKS).encode(), "export.json", ground_truth_as_gold=True)
    (gold,) = Gold.objects.filter(item__project=project)
    assert (gold.item.external_id, gold.field, gold.answers, gold.origin) == ("1", "ans", ["red"], "source")


def test_the_smaller_export_of_label_studio(project):
    rows = [
        {"q": "Sky?", "id": 1, "ans": "blue", "annotator": 4, "annotation_id": 9, "lead_time": 6.5},
        {
            "q": "Sky?",
            "id": 1,
            "ans": {"choices": ["blue", "red"]},
            "annotator": 5,
            "annotation_id": 10,
            "lead_time": 1,
        },
        {"q": "Sea?", "id": 2, "ans": [{"start": 1, "end": 2}], "annotator": 4, "annotation_id": 11, "lead_time": None},
    ]
    job = run(project, json.dumps(rows).encode(), "min.json")
    assert answers(job.stage) == [("1", "4", {"ans": "blue"})]
    told = "\n".join(job.report["warnings"])
    assert "1 × several values at once in ans" in told
    assert "1 × spans, boxes or objects in ans" in told
    assert Item.objects.filter(project=project, external_id__in=["1", "2"]).count() == 2


def test_an_archive_of_doccano_has_a_file_for_each_member(project):
    def line(n: int, label: Any) -> str:
        return json.dumps({"id": n, "text": f"Is {n} so?", "label": label, "Comments": []}) + "\n"

    data = zipped(
        {
            "anna.jsonl": line(1, ["yes"]) + line(2, ["no"]),
            "ben.jsonl": line(1, ["no"]) + line(2, [[0, 2, "SPAN"]]) + line(3, []),
        }
    )
    job = run(project, data, "doccano.zip")
    assert answers(job.stage) == [
        ("1", "anna", {"label": "yes"}),
        ("1", "ben", {"label": "no"}),
        ("2", "anna", {"label": "no"}),
    ]
    assert "1 × spans, boxes or objects in label" in "\n".join(job.report["warnings"])
    assert Item.objects.filter(project=project, external_id="3").exists()


# The preview


def test_the_preview_counts_what_would_be_stored(project):
    file = io.BytesIO(csv("q1,a,yes", "q1,b,no", "q2,a,no"))
    job = importing.draft_import(project=project, by=None, file=File(file, name="a.csv"), name="a.csv")
    before = n_rows()
    preview = preview_of(job)
    assert preview.answers == {"n_answers": 3, "n_skips": 0, "n_people": 2, "n_items": 2, "n_repeated": 0}
    assert preview.problems == []
    assert [item.item["external_id"] for item in preview.items[:2]] == ["q1", "q1"]
    assert (preview.items[0].annotator, preview.items[0].answer) == ("a", {"label": "yes"})
    assert n_rows() == before


# The command


def command(project, path, *arguments: str) -> str:
    out = io.StringIO()
    call_command("import_items", project.slug, str(path), *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_the_command_maps_a_file_without_header(project, tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("w1\tn1\tNo\nw2\tn1\tYes\nw2\tn1\tNo\n")
    mapping = ["annotator=column_1", "id=column_2", "show:url=column_2", "answer:spam=column_3"]
    arguments = ["--no-header", *(part for meaning in mapping for part in ("--map", meaning))]
    said = command(project, path, *arguments, "--repeats", "order", "--new-stage", "Spam?")
    assert "2 answers of 2 people in the stage imported, 0 known already, 1 earlier versions, 0 skips" in said
    stage = Stage.objects.get(project=project)
    assert (stage.title, answers(stage)) == ("Spam?", [("n1", "w1", {"spam": "No"}), ("n1", "w2", {"spam": "No"})])
    # Without a worker the votes are counted here and now.
    assert Resolution.objects.get(stage_item__stage=stage).status == "unanimous"


def test_the_command_names_who_answered_a_file_of_one_person(project, tmp_path):
    path = tmp_path / "anna.jsonl"
    path.write_text('{"id": "q1", "label": ["yes"]}\n{"id": "q2", "label": ["no"]}\n')
    before = n_rows()
    said = command(project, path, "--map", "answer:label=label", "--annotator", "anna", "--dry-run")
    assert '"annotator": "anna"' in said
    assert n_rows() == before
    command(project, path, "--map", "answer:label=label", "--annotator", "anna")
    assert answers(Stage.objects.get(project=project)) == [
        ("q1", "anna", {"label": "yes"}),
        ("q2", "anna", {"label": "no"}),
    ]


def test_a_sheet_of_a_workbook_by_command(project, tmp_path):
    path = tmp_path / "study.xlsx"
    path.write_bytes(workbook(("Read me", [["about"]]), ("Answers", [["item_id", "rater", "label"], ["q1", 7, "yes"]])))
    command(project, path, "--sheet", "Answers")
    assert answers(Stage.objects.get(project=project)) == [("q1", "7", {"label": "yes"})]
    assert "Only the sheet “Answers” is read" in "\n".join(ImportJob.objects.get().report["warnings"])
