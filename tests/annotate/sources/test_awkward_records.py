"""Real records that broke readers elsewhere: each with what must hold of it (the numbers are those of the list)."""

from __future__ import annotations

import html
import json
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from annotate.shown import shown_item
from annotate.sources import blocks
from annotate.sources.detect import detect
from annotate.sources.errors import SourceError
from annotate.sources.guessing import guess_mapping
from annotate.sources.joined import join_tables, read_tables
from annotate.sources.mapping import ItemDraft, apply
from annotate.sources.reading import read_records
from annotate.sources.records import Record, columns_of
from tests.annotate.sources.test_guessing import ANSWER, LABEL

pytestmark = pytest.mark.shared_data

SharedPath = Callable[[str], Path]


def records_of(path: Path) -> list[Record]:
    with path.open("rb") as file:
        return list(read_records(file, detect(file, path.name)))


def drafts_of(path: Path, field: Any = ANSWER) -> list[ItemDraft]:
    records = records_of(path)
    mapping = guess_mapping(columns_of(records), records, [field])
    return [apply(mapping, record) for record in records]


def table_of(shared_path: SharedPath, name: int) -> blocks.Block:
    path = shared_path(f"data/temptabqa/tables/json/{name}.json")
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.write(path, path.name)
    table = read_tables(buffer, "tables.zip").get(str(name))
    assert table is not None
    return table


def rows_of(table: blocks.Block, heading: str) -> list[list[Any]]:
    (rows,) = (rows for title, rows in table["sections"] if title == heading)
    return rows


def value_of(table: blocks.Block, key: str) -> Any:
    (value,) = (value for _, rows in table["sections"] for name, value in rows if name == key)
    return value


def shown(content: list[list[Any]]) -> str:
    """What the work page makes of the content, with its texts as a browser would read them."""
    item = shown_item(external_id="x", language="", content=content, shown_keys=[key for key, _ in content])
    return html.unescape(item["headline"] + render_to_string("annotate/partials/content.html", {"item": item}))


def raw(content: list[list[Any]]) -> str:
    item = shown_item(external_id="x", language="", content=content, shown_keys=[key for key, _ in content])
    return render_to_string("annotate/partials/content.html", {"item": item})


def gold(shared_path: SharedPath, split: str, index: int) -> list[str]:
    draft = drafts_of(shared_path(f"data/temptabqa/qapairs/{split}-set/{split}-set.json"))[index]
    return draft.gold["answer"]


@pytest.mark.parametrize(("name", "key", "n_chars"), [(702, "ISBN", 1_898), (1056, "Outcome", 1_274)], ids=["1", "2"])
def test_leaked_style_text_is_kept_and_shown_as_text(shared_path, name, key, n_chars):
    table = table_of(shared_path, name)
    value = value_of(table, key)
    assert len(value) == n_chars
    assert value in shown([["question", "?"], ["table", table]])


def test_2_a_long_key_without_a_value_is_a_heading(shared_path):
    written = json.loads(shared_path("data/temptabqa/tables/json/1056.json").read_text())
    last = list(written)[-1]
    assert written[last] == {}
    assert table_of(shared_path, 1056)["sections"][-1] == [last, []]


def test_3_merged_rows_are_headings_with_all_of_their_words(shared_path):
    written = json.loads(shared_path("data/temptabqa/tables/json/410.json").read_text())
    empty = [key for key, value in written.items() if value == {}]
    assert any(" | ( | " in key for key in empty)
    headings = [heading for heading, rows in table_of(shared_path, 410)["sections"] if not rows]
    assert headings == empty


def test_4_sections_stay_in_their_order_in_any_script(shared_path):
    written = json.loads(shared_path("data/temptabqa/tables/json/892.json").read_text())
    sections = [key for key, value in written.items() if isinstance(value, dict)]
    headings = [heading for heading, _ in table_of(shared_path, 892)["sections"] if heading]
    assert headings == sections
    (arabic,) = (key for key in sections if any("\u0600" <= character <= "\u06ff" for character in key))
    (value,) = written[arabic].values()
    assert isinstance(value, list)
    assert rows_of(table_of(shared_path, 892), arabic) == [[next(iter(written[arabic])), value]]


def test_5_a_heading_in_three_scripts(shared_path):
    table = table_of(shared_path, 429)
    page = shown([["question", "?"], ["table", table]])
    mixed = [h for h, _ in table["sections"] if not h.isascii() and "|" in h and "(" in h]
    assert mixed
    assert all(heading in page for heading in mixed)


def test_6_moments_and_units_are_text(shared_path):
    table = table_of(shared_path, 452)
    assert value_of(table, "Launch date") == "June 2, 2003, 17:45 |  ( | 2003-06-02UTC17:45Z | ) |  UTC"


def test_7_icons_that_became_words_stay_where_they_are(shared_path):
    texts = json.dumps(table_of(shared_path, 248), ensure_ascii=False)
    assert "Decrease |  125.88 million (1 October 2020 prov. est.)" in texts


@pytest.mark.parametrize(
    ("split", "index", "answer"),
    [
        pytest.param("dev", 1, "36 Years ago (1986)", id="8"),
        pytest.param("dev", 15, "6 years (2 terms)", id="9"),
        pytest.param("dev", 32, "6 Rank decreased (1 to 7)", id="10"),
        pytest.param("dev", 55, "-$3.052 Billion", id="11a"),
        pytest.param("dev", 121, "$10.207 trillion", id="11b"),
        pytest.param("dev", 120, "1,352,642,280", id="12"),
        pytest.param("dev", 199, "~ 45 seconds", id="13a"),
        pytest.param("dev", 208, "11years and 2 months", id="13b"),
        pytest.param("dev", 151, "Site 41/3 and Site 41/4", id="14"),
        pytest.param("head", 17, "1999, 2005, 2006, 2008", id="15"),
        pytest.param("head", 59, "5:30 p.m.", id="16a"),
        pytest.param("head", 78, "62:12", id="16b"),
    ],
)
def test_an_answer_is_one_answer_with_every_character(shared_path, split, index, answer):
    assert gold(shared_path, split, index) == [answer]


def test_9_a_long_list_of_offices_is_one_answer_and_a_dangling_table_is_told(shared_path):
    written = json.loads(shared_path("data/temptabqa/qapairs/dev-set/dev-set.json").read_text())[13]["answer"]
    assert gold(shared_path, "dev", 13) == [written.strip()]
    records = records_of(shared_path("data/temptabqa/qapairs/train-set/train-set.json"))
    tables = read_tables(BytesIO(b'{"id": "1", "a": "b"}\n'), "tables.jsonl")
    for index in range(48, 53):
        assert dict(records[index].values)["table_id"] == 1207
        with pytest.raises(SourceError, match="no table “1207”") as caught:
            list(join_tables([records[index]], tables, column="table_id"))
        assert caught.value.row == index + 1


def test_16_a_paragraph_as_gold(shared_path):
    written = json.loads(shared_path("data/temptabqa/qapairs/head-set/head-set.json").read_text())[102]["answer"]
    assert len(written) > 200
    assert gold(shared_path, "head", 102) == [written.strip()]


def test_17_quoted_contexts_of_many_lines_and_lists_with_repeats(shared_path):
    records = [dict(record.values) for record in records_of(shared_path("data/temptabqa-c/Dev_set/dev_set.tsv"))]
    assert records[8]["Context"].count("\n") > 3
    both = records[8]["Answers"] + records[9]["Answers"]
    assert "Spécial dressage" in both
    parts = [part.strip() for part in both.split(",")]
    assert len(set(parts)) < len(parts)
    years = [part.strip() for part in records[86]["Answers"].split(",")]
    assert years != sorted(years)


def test_18_backslash_escapes_in_a_table_of_another_program(shared_path):
    records = records_of(shared_path("data/wikitablequestions/csv/203-csv/128.csv"))
    glyphs = {dict(record.values)["Unicode"]: dict(record.values)["glyph"] for record in records}
    assert (glyphs["U+0022"], glyphs["U+005C"]) == ('"', "\\")


def test_19_several_answers_and_their_letters(shared_path):
    path = shared_path("data/wikitablequestions/data/pristine-unseen-tables.tsv")
    by_id = {draft.external_id: draft for draft in drafts_of(path)}
    assert by_id["nu-749"].gold["answer"] == ["4220 m", "13,845 ft"]
    assert by_id["nu-689"].gold["answer"] == ["March 21, 1964", "Denver"]
    assert "Mariesea Mnesiču" in by_id["nu-34"].gold["answer"]
    assert "Teodora-Mădălina Andreica" in by_id["nu-950"].gold["answer"]
    cells = json.dumps(
        [r.values for r in records_of(shared_path("data/wikitablequestions/csv/203-csv/825.csv"))], ensure_ascii=False
    )
    assert "1.83 m (6 ft 0 in)" in cells
    assert any("\u0400" <= character <= "\u04ff" for character in cells)


STRUCTURED = "data/structext-eval"


def test_20_texts_of_eighty_thousand_characters_keep_their_length(shared_path):
    name = "New_Benchmark/0Shotbenchmark/json/TextRetrieval/34.06_30_2024_17_42_26.816269_4.json"
    written = json.loads(shared_path(f"{STRUCTURED}/{name}").read_text())
    assert (len(written["Reference"]), len(written["Answer"])) == (80_641, 46_140)
    records = [Record(1, 1, list(written.items()))]
    mapping = guess_mapping(columns_of(records), records, [ANSWER])
    draft = apply(mapping, records[0])
    assert draft.gold["answer"] == [written["Answer"]]
    reference = dict(map(tuple, draft.content))["Reference"]
    assert (reference["type"], reference["text"]) == ("mono", written["Reference"])


def test_21_broken_xml_is_shown_escaped_and_never_parsed(shared_path):
    name = "Benchmark/0Shotbenchmark/xml/Syntax/38.08_28_2024_23_21_26.552625_2.json"
    written = json.loads(shared_path(f"{STRUCTURED}/{name}").read_text())
    records = [Record(1, 1, list(written.items()))]
    draft = apply(guess_mapping(columns_of(records), records, [ANSWER]), records[0])
    assert draft.gold["answer"] == ["True"]
    page = raw(draft.content)
    assert "<A Z=" not in page
    assert written["Reference"] in html.unescape(page)


def test_22_marks_of_markdown_stay_marks(shared_path):
    name = "Benchmark/0Shotbenchmark/markdown/TextRetrieval/40.08_28_2024_23_21_26.830363_0.json"
    written = json.loads(shared_path(f"{STRUCTURED}/{name}").read_text())
    assert "d**oops**entist" in written["Reference"]
    assert "d**oops**entist" in shown([["Question", "?"], ["Reference", written["Reference"]]])


def test_22_text_that_stands_twice_stays_twice(shared_path):
    name = "Benchmark/3Shotbenchmark/markdown/PathWalk/20.08_28_2024_23_21_26.602698_1.json"
    written = json.loads(shared_path(f"{STRUCTURED}/{name}").read_text())
    records = [Record(1, 1, list(written.items()))]
    draft = apply(guess_mapping(columns_of(records), records, [ANSWER]), records[0])
    content = dict(map(tuple, draft.content))["Reference"]
    assert blocks.plain_text(content["text"] if isinstance(content, dict) else content) == written["Reference"]


def test_23_a_claim_that_nobody_voted_on(shared_path):
    draft = drafts_of(shared_path("data/fool-me-twice/dataset/dev.jsonl"), LABEL)[1]
    assert draft.external_id == "01YZxWWa4wfUL4peXdco"
    assert dict(map(tuple, draft.extra))["total_votes"] == 0


def test_23_brackets_as_tokens_and_letters_of_phonetics(shared_path):
    first = drafts_of(shared_path("data/fever-symmetric/symmetric_v0.1/fever_symmetric_generated.jsonl"), LABEL)[0]
    assert first.gold["label"] == ["yes"]
    kept = json.dumps([first.content, first.extra], ensure_ascii=False)
    assert "-LRB- -LSB- teleˈmundo" in kept


def test_24_pseudo_json_is_refused_by_name_and_place(shared_path):
    path = shared_path("data/temptabqa/tables/kg/1119.json")
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.write(path, path.name)
    with pytest.raises(SourceError, match=r"In “1119\.json”: Line 1, column 3: this is not valid JSON"):
        read_tables(buffer, "kg.zip")
