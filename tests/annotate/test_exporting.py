"""The answers export: what a row says, and what a spreadsheet must not do with it."""

from __future__ import annotations

import csv
import io
import tracemalloc

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from annotate.csv_text import csv_chunks, spreadsheet_cell
from annotate.models import Annotation, Assignment, Person, Project
from annotate.services.excluding import exclude_annotation, exclude_person, lift_exclusion
from annotate.services.exporting import BATCH, answer_rows
from tests.factories import (
    SHORT_ANSWER,
    make_annotation,
    make_annotator,
    make_assignment,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)


def records(project: Project) -> list[dict[str, str]]:
    text = b"".join(csv_chunks(answer_rows(project=project), "exact")).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.django_db
def test_a_row_says_who_answered_what_and_how_it_counts():
    project = make_project(slug="claims")
    stage = make_stage(project, slug="label", overlap=2)
    table = make_item(project, external_id="table-7")
    item = make_item(project, external_id="0012345678901234567", root=table)
    person = make_member(project)
    make_annotation(make_stage_item(stage, item), person, {"label": "yes"}, active_seconds=12, wall_seconds=40)
    (row,) = records(project)
    expected = {
        "project": "claims",
        "stage": "label",
        "form_version": "1",
        "item": "0012345678901234567",
        "root": "table-7",
        "person": person.pseudonym,
        "sample": "no",
        "imported": "no",
        "round": "1",
        "revision": "1",
        "status": "counted",
        "active_seconds": "12",
        "wall_seconds": "40",
        "answer.label": "yes",
        "key.label": "yes",
    }
    assert {name: row[name] for name in expected} == expected


@pytest.mark.django_db
def test_superseded_surplus_excluded_and_sample_answers_are_told_apart():
    project = make_project()
    stage = make_stage(project, overlap=3)
    stage_item = make_stage_item(stage)
    admin = make_member(project, "admin")
    changed, late, careless = make_member(project), make_annotator(is_sample=True), make_member(project)
    first = make_annotation(stage_item, changed, {"label": "yes"}, is_current=False)
    first.assignment.annotations.create(
        stage_version=first.stage_version, number=2, answer={"label": "no"}, client_key="again"
    )
    surplus = make_annotation(stage_item, late, {"label": "no"})
    surplus.assignment.slot = None
    surplus.assignment.save()
    make_annotation(stage_item, careless, {"label": "yes"})
    exclude_person(project=project, person=careless, by=admin, reason="Answered every item in 2 s.")
    rows = {(row["person"], row["revision"]): (row["status"], row["sample"]) for row in records(project)}
    assert rows == {
        (changed.pseudonym, "1"): ("superseded", "no"),
        (changed.pseudonym, "2"): ("counted", "no"),
        (late.pseudonym, "1"): ("surplus", "yes"),
        (careless.pseudonym, "1"): ("excluded", "no"),
    }
    assert {row["exclusion_reason"] for row in records(project)} == {"", "Answered every item in 2 s."}


@pytest.mark.django_db
def test_stages_with_different_fields_share_one_head_and_leave_the_others_cells_empty():
    project = make_project()
    label, short = make_stage(project, position=0), make_stage(project, form=SHORT_ANSWER, position=1, kind="answer")
    person = make_member(project)
    make_annotation(make_stage_item(label), person, {"label": "not_sure"})
    make_annotation(make_stage_item(short), person, {"answer": "  Lake  COMO ", "why": "line 1\nline 2"})
    first, second = records(project)
    assert (first["answer.label"], first["answer.answer"], first["key.answer"]) == ("not_sure", "", "")
    assert (second["answer.label"], second["answer.answer"], second["key.answer"]) == ("", "  Lake  COMO ", "lake como")
    assert second["answer.why"] == "line 1\nline 2"
    assert "key.why" not in second


@pytest.mark.django_db
def test_only_the_projects_own_answers_are_exported_in_as_many_queries_for_few_as_for_many():
    project, other = make_project(), make_project()
    make_annotation(make_stage_item(make_stage(other)), make_member(other), {"label": "yes"})
    stage = make_stage(project)

    def n_rows_and_queries() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as queries:
            n_rows = sum(1 for _ in answer_rows(project=project))
        return n_rows - 1, len(queries)

    make_annotation(make_stage_item(stage), make_member(project), {"label": "no"})
    few, n_queries = n_rows_and_queries()
    for _ in range(5):
        make_annotation(make_stage_item(stage), make_member(project), {"label": "no"})
    assert few == 1
    assert n_rows_and_queries() == (6, n_queries)


@pytest.mark.django_db
def test_excluding_and_lifting_count_the_votes_again():
    project = make_project()
    stage = make_stage(project)
    mine, others = make_stage_item(stage), make_stage_item(stage)
    admin, person = make_member(project, "admin"), make_member(project)
    answer = make_annotation(mine, person, {"label": "yes"})
    make_annotation(others, make_member(project), {"label": "yes"})
    make_assignment(make_stage_item(stage), person)

    def due() -> set[int]:
        found = set(stage.stage_items.filter(due_at__isnull=False).values_list("pk", flat=True))
        stage.stage_items.update(due_at=None)
        return found

    due()
    exclusion = exclude_person(project=project, person=person, by=admin, reason="test")
    assert due() == {mine.pk}
    assert exclude_person(project=project, person=person, by=admin, reason="again") == exclusion
    lift_exclusion(exclusion=exclusion, by=admin)
    assert due() == {mine.pk}
    lift_exclusion(exclusion=exclusion, by=admin)
    assert due() == set()
    exclude_annotation(annotation=answer, by=admin, reason="Slipped")
    assert due() == {mine.pk}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+49 30", "'+49 30"),
        ("-x", "'-x"),
        ("@sum", "'@sum"),
        ("\t=1", "'\t=1"),
        ("0012", "'0012"),
        ("1234567890123456789", "'1234567890123456789"),
        ("-0.25", "-0.25"),
        (-3, "-3"),
        ("12", "12"),
        (None, ""),
        ("plain", "plain"),
    ],
)
def test_a_spreadsheet_neither_runs_nor_rounds_a_cell(value: object, shown: str):
    assert spreadsheet_cell(value) == shown


@given(st.lists(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=2, max_size=2)))
def test_the_exact_form_gives_every_text_back(rows: list[list[str]]):
    text = b"".join(csv_chunks(rows, "exact")).decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == rows


def test_many_rows_come_in_small_pieces():
    pieces = [len(piece) for piece in csv_chunks((["x" * 1000] for _ in range(1000)), "exact")]
    assert max(pieces) < 70_000
    assert sum(pieces) == 1000 * 1002


@pytest.mark.django_db
def test_memory_does_not_grow_with_the_number_of_answers():
    def peak(n_answers: int) -> int:
        project = make_project()
        stage = make_stage(project, overlap=n_answers)
        first = make_annotation(make_stage_item(stage), make_member(project), {"label": "yes"})
        people = Person.objects.bulk_create(Person(pseudonym=f"P-{project.pk}-{n}") for n in range(n_answers))
        rows = [
            Assignment(
                stage=stage,
                stage_item=first.assignment.stage_item,
                person=person,
                state="submitted",
                leased_at=first.created_at,
                lease_expires_at=first.created_at,
            )
            for person in people
        ]
        Annotation.objects.bulk_create(
            Annotation(assignment=row, stage_version=first.stage_version, answer={"label": "no"}, client_key="k")
            for row in Assignment.objects.bulk_create(rows)
        )
        tracemalloc.start()
        try:
            n_lines = sum(piece.count(b"\n") for piece in csv_chunks(answer_rows(project=project), "exact"))
            assert n_lines == 1 + 1 + n_answers
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # Both are many batches; held together, 2,000 further rows would take two megabytes.
    assert peak(5 * BATCH + 2_000) - peak(5 * BATCH) < 300_000
