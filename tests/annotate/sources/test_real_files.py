"""The readers meet files that nobody made for them."""

import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from annotate.sources.blocks import block_type
from annotate.sources.detect import detect, detect_sheet
from annotate.sources.errors import SourceError
from annotate.sources.guessing import guess_mapping
from annotate.sources.joined import join_tables, read_tables
from annotate.sources.mapping import apply
from annotate.sources.reading import read_records
from annotate.sources.records import Record, columns_of

from .test_guessing import ANSWER, LABEL

pytestmark = pytest.mark.shared_data


def records_of(path: Path) -> list[Record]:
    with path.open("rb") as file:
        return list(read_records(file, detect(file, path.name)))


def zipped(folder: Path, pattern: str) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.glob(pattern)):
            archive.write(path, str(path.relative_to(folder)))
    return buffer


def test_claims_with_labels(shared_path):
    path = shared_path("data/fool-me-twice/dataset/dev.jsonl")
    records = records_of(path)
    mapping = guess_mapping(columns_of(records), records, [LABEL])
    items = [apply(mapping, record) for record in records]
    assert len({item.external_id for item in items}) == 400
    assert Counter(item.gold["label"][0] for item in items) == {"yes": 204, "no": 196}
    # People see the claim; the evidence, which tells the label, is kept apart.
    assert {tuple(key for key, _ in item.content) for item in items} == {("text",)}
    assert "gold_evidence" in dict(map(tuple, items[0].extra))
    written = json.loads(path.read_text().splitlines()[1])
    assert (items[1].external_id, items[1].content) == (written["id"], [["text", written["text"]]])


@pytest.mark.parametrize(("split", "n_questions"), [("dev", 240), ("head", 144), ("tail", 54)])
@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_questions_joined_to_tables(shared_path, split, n_questions, suffix):
    tables = read_tables(zipped(shared_path("data/temptabqa/tables"), "json/*.json"), "tables.zip")
    assert len(tables) == 49
    records = records_of(shared_path(f"data/temptabqa/qapairs/{split}-set/{split}-set.{suffix}"))
    joined = list(join_tables(records, tables, column="table_id"))
    mapping = guess_mapping(columns_of(joined), joined, [ANSWER], join_column="table_id")
    items = [apply(mapping, record) for record in joined]
    assert len(items) == n_questions
    for item in items:
        (_, question), (_, table) = item.content
        assert question
        assert block_type(table) == "table"
        assert item.gold["answer"]
        assert item.group


def test_every_word_of_the_awkward_tables_is_kept_in_order(shared_path):
    folder = shared_path("data/temptabqa/tables/json")
    tables = read_tables(zipped(folder, "*.json"), "tables.zip")
    for path in folder.glob("*.json"):
        table = tables.get(path.stem)
        seen = [table["title"]] if table["title"] else []
        for heading, rows in table["sections"]:
            seen += [heading] if heading else []
            for key, cell in rows:
                seen += [key, *(cell if isinstance(cell, list) else [cell])]
        written: list[str] = []
        source = json.loads(path.read_text())
        for key, value in source.items():
            written.append(key)
            if isinstance(value, dict):
                for inner, cell in value.items():
                    written += [inner, *(cell if isinstance(cell, list) else [cell])]
            else:
                written.append(value)
        if "caption" in source:  # became the title
            written.remove("caption")
            written.remove(source["caption"])
            assert seen.pop(0) == source["caption"]
        assert seen == written


def test_a_dangling_table_is_named(shared_path):
    tables = read_tables(zipped(shared_path("data/temptabqa/tables"), "json/*.json"), "tables.zip")
    records = records_of(shared_path("data/temptabqa/qapairs/train-set/train-set.json"))
    with pytest.raises(SourceError, match="no table “1207” among the 49") as caught:
        list(join_tables(records, tables, column="table_id"))
    assert caught.value.row == 49


def test_broken_tables_are_refused_by_name(shared_path):
    with pytest.raises(SourceError, match=r"In “1119\.json”: Line 1, column 3"):
        read_tables(zipped(shared_path("data/temptabqa/tables/kg"), "1119.json"), "kg.zip")


def test_tables_found_by_path_with_repeated_headers(shared_path):
    tables = read_tables(zipped(shared_path("data/wikitablequestions"), "csv/*/*.csv"), "csv.zip")
    records = records_of(shared_path("data/wikitablequestions/data/pristine-unseen-tables.tsv"))
    joined = list(join_tables(records, tables, column="context"))
    assert (len(tables), len(joined)) == (194, 260)


def test_backslash_escapes(shared_path):
    records = records_of(shared_path("data/wikitablequestions/csv/203-csv/128.csv"))
    by_name = {dict(record.values)["Unicode"]: dict(record.values) for record in records}
    assert by_name["U+0022"]["glyph"] == '"'
    assert by_name["U+005C"]["glyph"] == "\\"


def test_quoted_line_ends_in_tsv(shared_path):
    records = records_of(shared_path("data/temptabqa-c/Dev_set/dev_set.tsv"))
    assert len(records) == 282
    assert "\n" in dict(records[8].values)["Context"]
    assert "Spécial dressage" in dict(records[8].values)["Answers"] + dict(records[9].values)["Answers"]


def test_a_workbook_of_many_sheets(shared_path):
    path = shared_path("data/qatch-damber/ambiguous_tables.xlsx")
    with path.open("rb") as file:
        found = detect(file, "tables.csv")
        assert (found.format, found.sheet, len(found.sheets)) == ("xlsx", "WDC-150", 13)
        for sheet in found.sheets:
            assert list(read_records(file, detect_sheet(file, sheet)))
        first = dict(next(iter(read_records(file, found))).values)
    assert (first["Name"], first["$ From Interest Groups That Supported"]) == ('Albert "Ben" Chandler', "$0")
