"""Imports through the service: all of a file or nothing, and every fault with its place."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import QuerySet

from annotate.exceptions import ImportRefused, WorkNotPossible
from annotate.models import (
    Candidate,
    Event,
    Gold,
    ImportJob,
    Item,
    ItemKey,
    ItemRevision,
    ItemSet,
    ItemSetEntry,
    Stage,
    StageItem,
    StoredFile,
)
from annotate.services import importing, item_list
from annotate.services.assigning import claim_next
from annotate.services.importing.preview import preview_of
from annotate.sources.detect import Detected
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
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

pytestmark = pytest.mark.django_db

STORED = (Item, ItemRevision, ItemKey, Gold, ItemSet, ItemSetEntry, StageItem)


@pytest.fixture
def stage() -> Stage:
    return make_stage(make_project(languages=["en"]))


def run(stage: Stage, data: bytes | str, name: str = "items.jsonl", **asked: Any) -> ImportJob:
    data = data.encode() if isinstance(data, str) else data
    return importing.import_file(project=stage.project, by=None, file=io.BytesIO(data), name=name, stage=stage, **asked)


def jsonl(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def claims(n: int) -> bytes:
    return jsonl(*({"id": f"q{i}", "question": f"Is {i} even?", "label": ["yes", "no"][i % 2]} for i in range(n)))


def contents(stage: Stage) -> dict[str, list[list[Any]]]:
    rows = ItemRevision.objects.filter(item__project=stage.project, is_current=True).order_by("pk")
    return dict(rows.values_list("item__external_id", "content"))


def n_rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in STORED}


@contextmanager
def nothing_stored() -> Iterator[None]:
    before = n_rows()
    yield
    assert n_rows() == before


def problems_of(stage: Stage, data: bytes | str, name: str = "items.jsonl", **asked: Any) -> list[dict[str, Any]]:
    """The problems of a file that must be refused, after a look that nothing was stored."""
    with nothing_stored(), pytest.raises(ImportRefused) as refused:
        run(stage, data, name, **asked)
    return refused.value.problems  # type: ignore[return-value]


def place(problem: dict[str, Any]) -> tuple[int | None, int | None, int | None, str | None]:
    return problem["line"], problem["column"], problem["row"], problem["field"]


# What is stored


def test_a_file_becomes_items_with_gold_a_set_and_places_in_the_stage(stage):
    data = jsonl(
        {"id": "a", "question": "Is 2 even?", "label": "yes", "domain": "maths", "note": 1.5, "url": "x"},
        {"id": "b", "question": "Is 3 even?", "label": "no", "domain": "maths", "note": None, "url": "y"},
    )
    job = run(stage, data)
    first, second = Item.objects.filter(project=stage.project).order_by("pk")
    assert contents(stage) == {"a": [["question", "Is 2 even?"]], "b": [["question", "Is 3 even?"]]}
    assert (first.key.strata, first.key.extra) == ([["domain", "maths"]], [["note", 1.5], ["url", "x"]])
    assert list(second.golds.values_list("field", "answers", "origin", "version")) == [("label", ["no"], "source", 1)]
    assert first.revisions.get().language == "en"  # the project's only language
    assert (job.state, job.item_set.name, job.item_set.n_items) == ("done", "items.jsonl", 2)
    assert job.item_set.rule["kind"] == "import"
    places = StageItem.objects.filter(stage=stage).order_by("rank")
    assert [(row.revision.item, row.rank, row.wanted, row.state) for row in places] == [
        (first, 0, 1, "open"),
        (second, 1, 1, "open"),
    ]
    assert Event.objects.filter(verb="items.imported", subject_id=job.pk).count() == 1
    wanted = {"imported": 2, "unchanged": 0, "new_revisions": 0, "gold": 2, "stage_items": 2, "left_out": 0}
    assert wanted.items() <= job.report.items()


def test_imported_items_can_be_claimed_at_once(stage):
    run(stage, claims(3))
    assert claim_next(stage=stage, person=make_member(stage.project)).stage_item.stage == stage


@pytest.mark.services  # SQLite plans without figures
def test_the_item_list_reads_one_page_of_items_right_after_a_large_import(stage):
    # Without figures about the new items, PostgreSQL read and sorted all of them for the first fifty.
    run(stage, claims(1_500))
    with connection.cursor() as cursor:
        items = item_list.items_of(project=stage.project).filter(pk__gt=0).order_by("pk").values("pk")[:51]
        cursor.execute(*_explained(items))
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert not {"Sort", "Seq Scan"} & set(re.findall("Sort|Seq Scan", plan)), plan


def _explained(rows: QuerySet[Any, Any]) -> tuple[str, tuple[Any, ...]]:
    query, parameters = rows.query.sql_with_params()
    return f"EXPLAIN {query}", parameters


def test_without_a_stage_items_wait_in_their_set(stage):
    job = importing.import_file(project=stage.project, by=None, file=io.BytesIO(claims(3)), name="items.jsonl")
    assert (job.item_set.entries.count(), StageItem.objects.count()) == (3, 0)


def test_items_of_a_group_hang_on_one_root_and_stay_together(stage):
    data = "id,table_id,question\n1,T1,one\n2,T2,two\n3,T1,three\n4,,four\n5,T2,five\n"
    job = run(stage, data, "items.csv")
    roots = dict(Item.objects.filter(revisions__isnull=False).values_list("external_id", "root__external_id"))
    assert roots == {"1": "table_id=T1", "2": "table_id=T2", "3": "table_id=T1", "4": None, "5": "table_id=T2"}
    ranked = StageItem.objects.filter(stage=stage).order_by("rank")
    assert list(ranked.values_list("revision__item__external_id", flat=True)) == ["1", "3", "2", "5", "4"]
    assert job.report["groups"] == 2
    # A later file about the same table joins its group.
    run(stage, "id,table_id,question\n6,T2,six\n", "more.csv")
    assert Item.objects.get(external_id="6").root == Item.objects.get(external_id="2").root


def test_the_item_of_a_group_is_handed_out_to_nobody(stage):
    run(stage, "id,table_id,question\n1,T1,one\n", "items.csv")
    root = Item.objects.get(external_id="table_id=T1")
    assert not root.revisions.exists()
    assert not ItemSetEntry.objects.filter(revision__item=root).exists()


def test_an_item_cannot_take_the_name_of_a_group(stage):
    (problem,) = problems_of(stage, "id,table_id,question\n1,T1,one\ntable_id=T1,,two\n", "items.csv")
    assert place(problem) == (3, None, 2, "id")
    assert "name of a group" in problem["message"]


def test_columns_called_like_our_own_are_kept_apart(stage):
    data = jsonl({"key": "k", "question": "One?", "external_id": "e1", "content": "c", "gold_evidence": "g"})
    run(stage, data)
    assert contents(stage) == {"e1": [["question", "One?"]]}
    assert ItemKey.objects.get().extra == [["key", "k"], ["content", "c"], ["gold_evidence", "g"]]


def test_tables_join_their_questions(stage):
    stage = make_stage(stage.project, form=SHORT_ANSWER, shown_keys=["question", "table"])
    tables = json.dumps({"T1": {"caption": "Ada", "Life": {"Born": "1815"}}, "T2": {"caption": "Alan"}}).encode()
    data = "id,table_id,question,answer\n1,T1,When was she born?,1815|in 1815\n2,T2,Who is it?,Alan\n"
    job = run(stage, data, "questions.csv", tables=io.BytesIO(tables), tables_name="tables.json")
    table = {"type": "table", "title": "Ada", "sections": [["Life", [["Born", "1815"]]]]}
    assert contents(stage)["1"] == [["question", "When was she born?"], ["table", table]]
    assert Gold.objects.get(item__external_id="1").answers == ["1815", "in 1815"]
    assert job.report["groups"] == 2


def test_every_question_without_its_table_is_told(stage):
    tables = json.dumps({"T1": {"caption": "Ada"}}).encode()
    data = "id,table_id,question\n1,T1,one\n2,T8,two\n3,T1,three\n4,T9,four\n"
    found = problems_of(stage, data, "questions.csv", tables=io.BytesIO(tables), tables_name="tables.json")
    assert [place(problem) for problem in found] == [(3, None, 2, "table_id"), (5, None, 4, "table_id")]


def test_tables_that_no_column_names_are_refused(stage):
    tables = io.BytesIO(b'{"T1": {"caption": "Ada"}}')
    with nothing_stored(), pytest.raises(ImportRefused, match="no column names any of the 1 tables"):
        run(stage, "id,question\n1,one\n", "questions.csv", tables=tables, tables_name="tables.json")
    assert not StoredFile.objects.exists()


# Accepted, though awkward

TEXT = "Größe 象 עברית 👩‍🔬 – “ça”"


@pytest.mark.parametrize(
    ("encoding", "text", "told"),
    [
        ("utf-8", TEXT, "UTF-8"),
        ("utf-8-sig", TEXT, "UTF-8"),
        ("utf-16", TEXT, "UTF-16 (little-endian)"),
        ("utf-16-be", TEXT + " and plain words after it", "UTF-16 (big-endian)"),
        ("gb18030", "这个问题是关于中国历史的吗？它是真的还是假的？请仔细阅读以后再回答。", "GB18030"),
        ("latin-1", "Où est né l'été où les élèves étaient à Besançon, déjà très fatigués?", "Western European"),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_encodings_are_detected_and_told(stage, encoding, text, told, form):
    if form == "jsonl":
        data = json.dumps({"id": "1", "question": text}, ensure_ascii=False) + "\n"
    else:
        data = f'id,question\r\n1,"{text}"\r\n'
    job = run(stage, data.encode(encoding), f"items.{form}")
    assert contents(stage) == {"1": [["question", text]]}
    assert told in job.report["encoding"]


def test_a_detected_encoding_can_be_changed(stage):
    data = "id,question\n1,Größe\n".encode("cp1250")
    run(stage, data, "items.csv", source=Detected("csv", "cp1250"))
    assert contents(stage) == {"1": [["question", "Größe"]]}


def test_what_spreadsheets_and_scripts_write_is_read(stage):
    data = '\r\nid,question\r\n007,"two\r\nlines, and ""quotes"""\r\n\r\n,,\r\n9007199254740993123,plain\r\n'
    run(stage, data.replace(",,\r\n", ",\r\n"), "items.csv")
    assert contents(stage) == {
        "007": [["question", 'two\r\nlines, and "quotes"']],
        "9007199254740993123": [["question", "plain"]],
    }


def test_json_keeps_long_numbers_and_separators_of_lines(stage):
    data = '\n{"id": 9007199254740993123, "question": "a\u2028b\u2029c\u0085d"}\n\n'
    data += '{"id": "007", "question": "\\ud83d\\ude00 شكرا"}'
    run(stage, data)
    assert contents(stage) == {
        "9007199254740993123": [["question", "a\u2028b\u2029c\u0085d"]],
        "007": [["question", "😀 شكرا"]],
    }


def test_an_item_of_a_megabyte_is_stored_whole(stage):
    text = "word " * 200_000
    run(stage, jsonl({"id": "big", "question": text}, {"id": "small", "question": "?"}))
    assert contents(stage)["big"] == [["question", text]]


@pytest.mark.parametrize("name", ["items.json", "items.tsv"])
def test_json_and_tsv(stage, name):
    rows = [{"id": "1", "question": "One?", "label": "Yes"}, {"id": "2", "question": "Two?", "label": "No"}]
    tsv = "id\tquestion\tlabel\n1\tOne?\tYes\n2\tTwo?\tNo\n"
    run(stage, json.dumps(rows) if name == "items.json" else tsv, name)
    assert list(contents(stage)) == ["1", "2"]
    # Captions of the options are understood.
    assert list(Gold.objects.order_by("pk").values_list("answers", flat=True)) == [["yes"], ["no"]]


def test_a_column_that_begins_late_in_the_file_is_known_at_its_end(stage):
    records = [{"id": f"q{n}", "question": f"Is it {n}?"} for n in range(2_500)]
    records[-1]["label"] = "yes"
    mapping = Mapping((ContentColumn("question", "question"),), id_column="id", gold=(GoldColumn("label", "label"),))
    job = run(stage, jsonl(*records), mapping=mapping)
    assert (Gold.objects.count(), job.report["without_gold"]) == (1, 2_499)


# Refused, with the place


def test_broken_json_on_line_4017(stage):
    lines = claims(5_000).splitlines()
    lines[4_016] = b'{"id": "q4016", "question": "broken}'
    (problem,) = problems_of(stage, b"\n".join(lines))
    assert (problem["line"], problem["column"]) == (4_017, 29)


REFUSED = {
    "an unbalanced quote": ("items.csv", 'id,question\n1,"fine"\n2,"never closed\n3,x\n', (3, None, None, None)),
    "NaN": ("items.jsonl", '{"id": "1", "question": "x"}\n{"id": "2", "question": NaN}\n', (2, None, 2, "question")),
    "Infinity": ("items.jsonl", '{"id": "1", "question": "x", "n": -Infinity}\n', (1, None, 1, "n")),
    "a number beyond any": ("items.jsonl", '{"id": "1", "question": "x", "n": 1e999}\n', (1, None, 1, "n")),
    "NUL in text": ("items.csv", "id,question\n1,a\0b\n", (2, 4, None, None)),
    "NUL escaped": ("items.jsonl", '{"id": "1", "question": "a\\u0000b"}\n', (1, None, 1, "question")),
    "a lone surrogate": ("items.jsonl", '{"id": "1", "question": ["x", "\\ud800"]}\n', (1, None, 1, "question[1]")),
    "nesting beyond 64": ("items.jsonl", '{"id": "1", "question": ' + "[" * 65 + "]" * 65 + "}\n", (1, 88, 1, None)),
    "an empty id": ("items.csv", "id,question\n1,x\n,y\n3,z\n", (3, None, 2, "id")),
    "an item without content": ("items.csv", "id,question\n1,x\n2,\n", (3, None, 2, "question")),
    "an empty file": ("items.csv", "", (None, None, None, None)),
    "only blank lines": ("items.jsonl", "\n \n\n", (None, None, None, None)),
    "only a header": ("items.csv", "id,question\n", (None, None, None, None)),
    "a row that is too long": ("items.csv", "id,question\n1,x\n2,y,z\n", (3, None, 2, None)),
    "the same key twice": ("items.jsonl", '{"id": "1", "question": "x", "id": "2"}\n', (1, None, 1, "id")),
    "two columns of one name": ("items.csv", "id,question,id\n1,x,2\n", (1, None, None, "id")),
}  # fmt: skip


@pytest.mark.parametrize(("name", "data", "where"), REFUSED.values(), ids=REFUSED)
def test_refused_with_its_place(stage, name, data, where):
    (problem,) = problems_of(stage, data, name)
    assert place(problem) == where


def test_bytes_that_are_not_in_the_chosen_encoding(stage):
    data = "id,question\n1,plain\n2,é\n".encode("latin-1")
    (problem,) = problems_of(stage, data, "items.csv", source=Detected("csv", "utf-8"))
    assert (problem["line"], problem["column"]) == (3, 3)


def test_an_item_above_the_limit(stage, settings):
    settings.MAX_ITEM_BYTES = 10_000
    data = jsonl({"id": "1", "question": "x"}, {"id": "2", "question": "y" * 10_001})
    (problem,) = problems_of(stage, data)
    assert problem["line"] == 2
    assert "10,000 bytes" in problem["message"]


def test_a_zip_named_csv(stage):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("items.csv", "id,question\n1,x\n")
    (problem,) = problems_of(stage, buffer.getvalue(), "items.csv")
    assert "ZIP archive" in problem["message"]
    assert not StoredFile.objects.exists()


def test_one_id_with_two_contents_names_both_lines(stage):
    data = jsonl({"id": "a", "question": "One?"}, {"id": "b", "question": "Two?"}, {"id": "a", "question": "Three?"})
    (problem,) = problems_of(stage, data)
    assert place(problem) == (3, None, 3, "id")
    assert "“a” stands in line 1 too" in problem["message"]


def test_gold_that_is_no_option_of_the_stage_names_the_row(stage):
    as_it_is = GoldColumn("label", "label", {value: value for value in ("yes", "no", "maybe", "perhaps")})
    mapping = Mapping((ContentColumn("question", "question"),), id_column="id", gold=(as_it_is,))
    data = "id,question,label\n1,One?,yes\n2,Two?,maybe\n3,Three?,no\n4,Four?,perhaps\n"
    found = problems_of(stage, data, "items.csv", mapping=mapping)
    assert [place(problem) for problem in found] == [(3, None, 2, "label"), (5, None, 4, "label")]
    assert "its options are yes, no, not_sure" in found[0]["message"]


def test_a_label_that_nobody_mapped_is_refused_and_remembered(stage):
    data = claims(4) + jsonl({"id": "z", "question": "Last?", "label": "MAYBE"})
    (problem,) = problems_of(stage, data)
    assert place(problem) == (5, None, 5, "label")
    job = ImportJob.objects.get()
    assert (job.state, job.report["unmapped"]) == ("failed", {"label": ["MAYBE"]})
    opened = importing.reopen_import(job=job, by=make_member(stage.project, "admin"))
    (gold,) = importing.mapping_of(opened).gold
    assert gold.values == {"yes": "yes", "no": "no", "MAYBE": ""}


def test_a_label_beyond_the_sample_is_asked_for_after_the_refusal(stage):
    data = claims(2_100) + jsonl({"id": "z", "question": "Last?", "label": "MAYBE"})
    (problem,) = problems_of(stage, data)
    assert problem["line"] == 2_101
    assert ImportJob.objects.get().report["unmapped"] == {"label": ["MAYBE"]}


def test_all_faulty_rows_are_told_up_to_a_hundred(stage):
    data = "id,question,label\n" + "".join(f"q{n},{n},label {n}\n" for n in range(250))
    gold = GoldColumn("label", "label", {"yes": "yes"})
    mapping = Mapping((ContentColumn("question", "question"),), id_column="id", gold=(gold,))
    with pytest.raises(ImportRefused, match=r"250 problems\. The first 100 are listed") as refused:
        run(stage, data, "items.csv", mapping=mapping)
    assert [problem["row"] for problem in refused.value.problems] == list(range(1, 101))


def test_one_fault_of_many_rows_is_told_once_with_its_first_lines(stage):
    data = "id,question\n" + "".join(f",{n}\n" for n in range(250)) + "q,\n"
    mapping = Mapping((ContentColumn("question", "question"),), id_column="id")
    with pytest.raises(ImportRefused, match=r"251 problems\.$") as refused:
        run(stage, data, "items.csv", mapping=mapping)
    many, one = refused.value.problems
    assert (many["n"], many["lines"], many["field"]) == (250, [2, 3, 4, 5, 6], "id")
    assert many["message"].startswith("250 rows, first in lines 2, 3, 4, 5, 6, field “id”: the id is empty")
    assert (one["n"], one["line"], one["field"]) == (1, 252, "question")


def test_a_mapping_that_would_show_people_nothing_is_refused(stage):
    mapping = Mapping((ContentColumn("question", "text"),), id_column="id")
    with nothing_stored(), pytest.raises(ImportRefused, match="people would see empty items"):
        run(stage, claims(1), mapping=mapping)


def test_a_mapping_with_an_unknown_column_is_refused(stage):
    mapping = Mapping((ContentColumn("question", "question"),), id_column="number")
    (problem,) = problems_of(stage, claims(1), mapping=mapping)
    assert problem["field"] == "number"


# Again, changed, twice


def test_the_same_file_twice_changes_nothing(stage):
    data = "id,table_id,question,label\n" + "".join(f"{n},T{n % 3},Is it {n}?,yes\n" for n in range(20))
    run(stage, data, "items.csv")
    before = {model: list(model._default_manager.order_by("pk").values()) for model in STORED}
    job = run(stage, data, "items.csv")
    assert {model: list(model._default_manager.order_by("pk").values()) for model in STORED} == before
    assert (job.report["imported"], job.report["unchanged"], job.report["warnings"]) == (0, 20, [])
    assert job.item_set is None


def test_known_items_go_into_a_stage_that_lacks_them(stage):
    importing.import_file(project=stage.project, by=None, file=io.BytesIO(claims(3)), name="items.jsonl")
    job = run(stage, claims(5))
    assert (job.report["imported"], job.report["unchanged"], job.report["stage_items"]) == (2, 3, 5)
    assert job.item_set.name == "items.jsonl (2)"
    assert job.item_set.n_items == 5


def test_a_known_id_with_new_content_is_refused_in_the_preview_and_in_the_import(stage):
    run(stage, claims(3))
    changed = claims(3).replace(b"Is 1 even?", b"Is 1 odd?")
    (problem,) = problems_of(stage, changed)
    assert place(problem) == (2, None, 2, "id")
    assert "make new revisions" in problem["message"]
    draft = draft_of(stage, changed)
    preview = preview_of(draft)
    assert (preview.n_changed, [place(found) for found in preview.problems]) == (1, [(2, None, 2, "id")])


def draft_of(stage: Stage, data: bytes, name: str = "items.jsonl", **asked: Any) -> ImportJob:
    from django.core.files.base import File

    return importing.draft_import(
        project=stage.project, by=None, file=File(io.BytesIO(data), name=name), name=name, stage=stage, **asked
    )


def test_new_revisions_move_what_is_unanswered_and_leave_what_is_answered(stage):
    job = run(stage, claims(4))
    former = list(ItemRevision.objects.order_by("pk"))
    untouched, answered, held, same = StageItem.objects.order_by("rank")
    make_annotation(answered, make_annotator(), {"label": "yes"})
    make_assignment(held, make_annotator())
    changed = claims(4)
    for n in range(3):
        changed = changed.replace(f"Is {n} even?".encode(), f"Is {n} odd?".encode())
    again = run(stage, changed, new_revisions=True)
    for place_, revision, is_moved in ((untouched, 0, True), (answered, 1, False), (held, 2, False), (same, 3, False)):
        place_.refresh_from_db()
        assert (place_.revision != former[revision]) is is_moved
    assert untouched.revision.content == [["question", "Is 0 odd?"]]
    assert (untouched.revision.number, untouched.revision.is_current) == (2, True)
    numbers = {"new_revisions": 3, "unchanged": 1, "imported": 0, "moved": 1, "stayed": 2, "stage_items": 0}
    assert numbers.items() <= again.report.items()
    assert "2 items of stages stay in their former revision" in again.report["warnings"][0]
    # The frozen set of the first import is what it was; the second has the new revisions.
    assert [entry.revision for entry in job.item_set.entries.order_by("position")] == former
    assert list(again.item_set.entries.order_by("position").values_list("revision__number", flat=True)) == [2, 2, 2, 1]


def test_an_answer_that_is_judged_stays_with_the_wording_it_was_given_to(stage):
    run(stage, claims(1))
    revision = ItemRevision.objects.get()
    judges = make_stage(stage.project, kind="judge")
    candidate = Candidate.objects.create(
        project=stage.project, revision=revision, content=[["answer", "no"]], content_hash="0" * 64
    )
    judged = make_stage_item(judges, revision.item, candidate=candidate)
    run(stage, claims(1).replace(b"Is 0 even?", b"Is 0 odd?"), new_revisions=True)
    judged.refresh_from_db()
    assert judged.revision == revision != stage.stage_items.get().revision


def test_new_revisions_take_over_gold_strata_and_groups_but_not_repaired_gold(stage):
    data = "id,table_id,question,label,domain\n1,T1,One?,yes,a\n2,T1,Two?,yes,a\n"
    run(stage, data, "items.csv")
    repaired = Gold.objects.get(item__external_id="2")
    repaired.is_current = False
    repaired.save()
    Gold.objects.create(item=repaired.item, field="label", version=2, answers=["not_sure"], origin="adjudicator")
    changed = "id,table_id,question,label,domain\n1,T2,One?,no,b\n2,T1,Two?,no,a\n"
    kept = run(stage, changed, "items.csv")
    assert (kept.report["gold"], kept.report["conflicting_gold"]["n"]) == (0, 2)
    assert kept.report["warnings"][0].startswith("1 known items have another language, stratum, group")
    taken = run(stage, changed, "items.csv", new_revisions=True)
    first = Item.objects.get(external_id="1")
    assert list(first.golds.order_by("version").values_list("version", "answers", "is_current")) == [
        (1, ["yes"], False),
        (2, ["no"], True),
    ]
    assert (first.key.strata, first.root.external_id) == ([["domain", "b"]], "table_id=T2")
    assert repaired.item.golds.get(is_current=True).answers == ["not_sure"]
    assert taken.report["conflicting_gold"]["n"] == 1
    assert (taken.report["new_revisions"], taken.report["unchanged"]) == (0, 2)


def test_gold_comes_later_for_items_that_had_none(stage):
    mapping = Mapping((ContentColumn("question", "question"),), id_column="id")
    run(stage, claims(3), mapping=mapping)
    assert not Gold.objects.exists()
    job = run(stage, claims(3))
    assert (job.report["unchanged"], job.report["gold"], Gold.objects.count()) == (3, 3, 3)


def test_equal_content_under_other_ids_is_imported_and_told(stage):
    make_item(stage.project, [["question", "Known?"]])
    run(stage, jsonl({"id": "k1", "question": "Known before?"}))
    data = jsonl(
        {"id": "a", "question": "Same?"},
        {"id": "b", "question": "Other?"},
        {"id": "c", "question": "Same?"},
        {"id": "d", "question": "Known before?"},
    )
    job = run(stage, data)
    assert job.report["imported"] == 4
    assert job.report["content_duplicates"] == {
        "n": 1,
        "first": [
            {"line": 3, "row_number": 3, "external_id": "c", "other_line": 1, "other_id": "a", "is_left_out": False}
        ],
    }
    assert job.report["content_known"] == {
        "n": 1,
        "first": [{"line": 4, "row_number": 4, "external_id": "d", "other_id": "k1"}],
    }


def test_without_an_id_column_the_content_is_the_id_and_repeats_are_left_out(stage):
    data = jsonl({"question": "Same?", "label": "yes"}, {"question": "Other?", "label": "no"}, {"question": "Same?"})
    job = run(stage, data)
    revisions = ItemRevision.objects.filter(item__project=stage.project)
    assert {(row.item.external_id == row.content_hash) for row in revisions} == {True}
    assert (job.report["imported"], job.report["left_out"]) == (2, 1)
    assert job.report["content_duplicates"]["first"][0]["is_left_out"] is True
    assert Gold.objects.count() == 2


def test_the_same_content_with_another_label_is_a_conflict_and_the_first_label_stays(stage):
    data = jsonl(
        {"question": "Same?", "label": "yes"},
        {"question": "Other?", "label": "no"},
        {"question": "Same?", "label": "no"},
    )
    job = run(stage, data)
    (conflict,) = job.report["conflicting_gold"]["first"]
    assert job.report["conflicting_gold"]["n"] == 1
    assert (conflict["line"], conflict["answers"], conflict["other_line"], conflict["other_answers"]) == (
        3,
        ["no"],
        1,
        ["yes"],
    )
    assert Gold.objects.get(item__revisions__content=[["question", "Same?"]]).answers == ["yes"]


def test_a_report_shows_twenty_of_many_duplicates(stage):
    data = jsonl(*({"id": f"i{n}", "question": "Same?"} for n in range(50)))
    found = run(stage, data).report["content_duplicates"]
    assert (found["n"], len(found["first"])) == (49, 20)


# The life of a job


def test_a_dry_run_reports_and_keeps_nothing(stage):
    with nothing_stored():
        job = run(stage, claims(3), dry_run=True)
    assert (job.report["imported"], job.report["stage_items"]) == (3, 3)
    assert not ImportJob.objects.exists()
    assert not StoredFile.objects.exists()


def test_a_dry_run_of_a_faulty_file_keeps_nothing_either(stage):
    with nothing_stored(), pytest.raises(ImportRefused):
        run(stage, "id,question\n1,x\n,y\n3,z\n", "items.csv", dry_run=True)
    assert not ImportJob.objects.exists()


def test_a_cancelled_import_is_not_run(stage):
    from annotate.services.background import cancel_work

    admin = make_member(stage.project, "admin")
    job = importing.start_import(job=draft_of(stage, claims(3)), by=admin)
    cancel_work(work=job, by=admin)
    with nothing_stored():
        importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_a_second_bell_finds_nothing_to_do(stage):
    job = importing.start_import(job=draft_of(stage, claims(3)), by=make_member(stage.project, "admin"))
    importing.run_import(job_id=job.pk)
    with nothing_stored():
        importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("done", 1)


def test_a_draft_is_not_run_and_a_started_one_is_not_changed(stage):
    draft = draft_of(stage, claims(1))
    with nothing_stored():
        importing.run_import(job_id=draft.pk)
    started = importing.start_import(job=draft, by=make_member(stage.project, "admin"))
    with pytest.raises(WorkNotPossible):
        importing.change_draft(
            job=started, options=importing.options_of(started), mapping=importing.mapping_of(started), stage=None
        )
    with pytest.raises(WorkNotPossible):
        importing.start_import(job=started, by=make_member(stage.project, "admin"))


def test_a_file_that_the_storage_lost_is_a_refusal(stage):
    job = draft_of(stage, claims(1))
    job.source.file.storage.delete(job.source.file.name)
    importing.start_import(job=job, by=make_member(stage.project, "admin"))
    importing.run_import(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The uploaded file cannot be opened any more: upload it again.")


def test_the_first_column_takes_the_name_that_the_stage_shows(stage):
    run(stage, jsonl({"id": "1", "claim": "It is so.", "label": "SUPPORTS"}))
    assert contents(stage) == {"1": [["question", "It is so."]]}
    assert Gold.objects.get().answers == ["yes"]


def test_a_stage_that_shows_more_than_the_file_has_is_told(stage):
    stage = make_stage(stage.project, shown_keys=["question", "table"])
    (warning,) = run(stage, claims(1)).report["warnings"]
    assert "also shows table" in warning


def test_temporary_tables_do_not_outlive_an_import(stage):
    run(stage, claims(1))
    names = "pg_class WHERE relname" if connection.vendor == "postgresql" else "sqlite_temp_master WHERE name"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {names} LIKE 'staged%%'", [])
        assert cursor.fetchone() == (0,)


# By command


def command(*arguments: object) -> str:
    out = io.StringIO()
    call_command("import_items", *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def claims_file(tmp_path: Path) -> Path:
    path = tmp_path / "claims.csv"
    path.write_text(
        "number;claim;verdict;domain\n1;One is odd.;ja;maths\n2;Two is odd.;nein;maths\n", encoding="cp1252"
    )
    return path


def test_the_command_imports_and_prints_the_report(stage, claims_file):
    said = ("--map", "id=number", "--map", "gold:label=verdict")
    said += ("--map", "value:label:ja=yes", "--map", "value:label:nein=no")
    output = command(stage.project.slug, claims_file, "--stage", stage.slug, *said)
    assert "2 items imported, 0 unchanged" in output
    assert "2 items added to the stage" in output
    assert contents(stage) == {"1": [["question", "One is odd."]], "2": [["question", "Two is odd."]]}
    assert list(Gold.objects.order_by("pk").values_list("answers", flat=True)) == [["yes"], ["no"]]


def test_a_dry_run_prints_a_mapping_that_can_be_given_back(stage, claims_file, tmp_path):
    output = command(stage.project.slug, claims_file, "--map", "id=number", "--map", "show:question=claim", "--dry-run")
    assert not Item.objects.exists()
    mapping = tmp_path / "mapping.json"
    mapping.write_text(output[: output.rindex("}") + 1])
    command(stage.project.slug, claims_file, "--mapping", mapping, "--stage", stage.slug)
    assert list(contents(stage)) == ["1", "2"]


def test_the_command_ends_with_the_problems(stage, tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_bytes(claims(3) + b"{broken}\n")
    out = io.StringIO()
    with nothing_stored(), pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_items", stage.project.slug, str(path), stderr=out)
    assert "Line 4, column 2" in out.getvalue()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--map", "id"),
        ("--map", "colour=number"),
        ("--map", "value:label:a=b"),
        ("--stage", "none"),
        ("--join", "claim"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(stage, claims_file, arguments):
    with nothing_stored(), pytest.raises(CommandError):
        command(stage.project.slug, claims_file, *arguments)


# Real files


@pytest.mark.shared_data
def test_fool_me_twice_with_its_labels_mapped(stage, shared_path):
    path = shared_path("data/fool-me-twice/dataset/dev.jsonl")
    job = importing.import_file(project=stage.project, by=None, file=path, stage=stage)
    assert (job.report["imported"], job.report["stage_items"], job.report["gold"]) == (400, 400, 400)
    golds = Gold.objects.filter(field="label").values_list("answers", flat=True)
    assert sorted(answer for answers in golds for answer in answers) == ["no"] * 196 + ["yes"] * 204
    # The evidence tells the label: it is no content.
    assert {key for content in contents(stage).values() for key, _ in content} == {"question"}


@pytest.mark.shared_data
def test_temptabqa_joined_to_its_tables(stage, shared_path):
    stage = make_stage(stage.project, form=SHORT_ANSWER, shown_keys=["question", "table"])
    folder = shared_path("data/temptabqa/tables/json")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.glob("*.json")):
            archive.write(path, f"json/{path.name}")
    path = shared_path("data/temptabqa/qapairs/dev-set/dev-set.json")
    job = importing.import_file(
        project=stage.project, by=None, file=path, stage=stage, tables=buffer, tables_name="tables.zip"
    )
    records = json.loads(path.read_text())
    n_tables = len({record["table_id"] for record in records})
    # The set has no ids, and one question stands in it twice.
    n_distinct = len({(record["table_id"], record["question"]) for record in records})
    assert (job.report["left_out"], n_distinct) == (1, 239)
    assert (job.report["imported"], job.report["stage_items"], job.report["groups"]) == (239, 239, n_tables)
    assert {tuple(key for key, _ in content) for content in contents(stage).values()} == {("question", "table")}
    assert Item.objects.filter(project=stage.project, revisions__isnull=False, root__isnull=True).count() == 0
    again = importing.import_file(
        project=stage.project, by=None, file=path, stage=stage, tables=buffer, tables_name="tables.zip"
    )
    assert (again.report["imported"], again.report["unchanged"], again.item_set) == (0, 239, None)
