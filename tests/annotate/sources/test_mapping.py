"""A record and a mapping give an item, or a refusal with its place."""

import hashlib
import json

import pytest

from annotate.sources.errors import MappingError, SourceError
from annotate.sources.mapping import (
    ContentColumn,
    GoldColumn,
    ItemDraft,
    Mapping,
    apply,
    canonical_json,
    hash_content,
)
from annotate.sources.records import Record

from .files import read

CLAIM = (ContentColumn("q", "claim"),)


def draft(mapping: Mapping, **values: object) -> ItemDraft:
    return apply(mapping, Record(number=3, line=5, values=list(values.items())))


def refused(mapping: Mapping, **values: object) -> SourceError:
    with pytest.raises(SourceError) as caught:
        draft(mapping, **values)
    return caught.value


def test_every_column_goes_where_the_mapping_says_and_the_rest_is_kept():
    mapping = Mapping(
        content=(ContentColumn("q", "claim"), ContentColumn("ctx", "context")),
        id_column="key",
        language_column="lang",
        language="en",
        gold=(GoldColumn("label", "verdict", {"SUPPORTS": "yes", "REFUTES": "no"}),),
        strata=("domain", "year"),
        group_column="page",
    )
    item = draft(
        mapping,
        key="07",
        q="Is it?",
        ctx="So.",
        lang="",
        verdict="SUPPORTS",
        domain="Art",
        year=1999,
        page=12,
        note=[1],
    )
    content = [["claim", "Is it?"], ["context", "So."]]
    assert item == ItemDraft(
        external_id="07",
        content=content,
        language="en",
        gold={"label": ["yes"]},
        strata=[["domain", "Art"], ["year", "1999"]],
        extra=[["note", [1]]],
        group="12",
        content_hash=hashlib.sha256(b'[["claim","Is it?"],["context","So."]]').hexdigest(),
        number=3,
        line=5,
    )


def test_columns_called_id_label_or_content_are_kept_apart_from_the_items_own():
    item = draft(Mapping(CLAIM, id_column="key"), key="7", q="a", id="other", label="x", content="y", language="zz")
    assert item.external_id == "7"
    assert (item.language, item.gold) == ("", {})
    assert item.extra == [["id", "other"], ["label", "x"], ["content", "y"], ["language", "zz"]]


@pytest.mark.parametrize(
    ("literal", "external_id"),
    [("1234567890123456789", "1234567890123456789"), ("1.10", "1.10"), ('"007"', "007"), ("1e3", "1e3")],
)
def test_an_id_is_the_text_that_was_written(literal, external_id):
    (record,) = read(f'{{"key": {literal}, "q": "a"}}'.encode(), "x.jsonl")
    assert apply(Mapping(CLAIM, id_column="key"), record).external_id == external_id


def test_without_an_id_column_the_content_is_the_id():
    first, again, other = (draft(Mapping(CLAIM), q=text) for text in ("a", "a", "b"))
    assert first.external_id == first.content_hash == again.external_id
    assert other.external_id != first.external_id


@pytest.mark.parametrize("value", ["", "  ", None, "x" * 201, "a\nb", "a\u200eb", ["7"], {"a": 1}])
def test_an_id_that_cannot_be_one_is_refused_by_row_and_field(value):
    error = refused(Mapping(CLAIM, id_column="key"), key=value, q="a")
    assert (error.line, error.row, error.field) == (5, 3, "key")


def test_a_record_without_its_id_is_refused():
    assert refused(Mapping(CLAIM, id_column="key"), q="a").field == "key"


def test_a_record_with_nothing_to_show_is_refused():
    for values in ({"q": ""}, {"q": None}, {"other": "a"}):
        assert "nothing to show" in refused(Mapping(CLAIM), **values).message


def test_a_gold_label_nobody_mapped_is_refused():
    mapping = Mapping(CLAIM, gold=(GoldColumn("label", "v", {"SUPPORTS": "yes", "NEI": ""}),))
    for value in ("REFUTES", "NEI"):
        error = refused(mapping, q="a", v=value)
        assert (error.row, error.field) == (3, "v")
        assert value in error.message


@pytest.mark.parametrize(
    ("value", "answers"),
    [
        ("5|five", ["5", "five"]),
        (" 5 | 5 |", ["5"]),
        (["5", "five"], ["5", "five"]),
        (5, ["5"]),
        (True, ["true"]),
        ("", None),
        (None, None),
        ([], None),
    ],
)
def test_several_acceptable_answers(value, answers):
    item = draft(Mapping(CLAIM, gold=(GoldColumn("answer", "a", separator="|"),)), q="a", a=value)
    assert item.gold == ({} if answers is None else {"answer": answers})


def test_a_language_that_is_no_tag_is_refused():
    mapping = Mapping(CLAIM, language_column="lang", language="en")
    assert [draft(mapping, q="a", lang=tag).language for tag in ("zh-Hant", " ar ", "", None)] == [
        "zh-Hant",
        "ar",
        "en",
        "en",
    ]
    assert refused(mapping, q="a", lang="English").field == "lang"


def test_nested_content_becomes_a_block_from_json_and_from_a_cell():
    mapping = Mapping((ContentColumn("q", "question"), ContentColumn("t", "table", "table")))
    block = {"type": "table", "title": "", "sections": [["Life", [["Born", "1901"]]]]}
    nested = {"Life": {"Born": "1901"}}
    for value in (nested, json.dumps(nested), block):
        assert draft(mapping, q="a", t=value).content[1] == ["table", block]
    for value in ("no json", "[1, 2]", '{"a": NaN}', '{"a": 1} x', 7):
        error = refused(mapping, q="a", t=value)
        assert (error.row, error.field) == (3, "t")


def test_grids_and_monospaced_text():
    mapping = Mapping((ContentColumn("g", "grid", "grid"), ContentColumn("m", "code", "mono")))
    item = draft(mapping, g=[["a"], ["1"]], m="x\n  y")
    assert item.content == [
        ["grid", {"type": "grid", "columns": ["a"], "rows": [["1"]]}],
        ["code", {"type": "mono", "text": "x\n  y"}],
    ]


def test_plain_nested_values_are_kept_and_no_digit_is_lost():
    (record,) = read(b'{"q": {"b": [1.5, 0.1234567890123456789], "a": {"c": null}}, "w": 1e16}', "x.jsonl")
    item = apply(Mapping((ContentColumn("q", "q"),)), record)
    assert item.content == [["q", {"b": [1.5, "0.1234567890123456789"], "a": {"c": None}}]]
    assert item.extra == [["w", 1e16]]


def test_the_hash_follows_the_order_of_pairs_but_not_that_of_keys_in_an_object():
    assert hash_content([["a", 1], ["b", 2]]) != hash_content([["b", 2], ["a", 1]])
    assert hash_content([["a", {"x": 1, "y": 2}]]) == hash_content([["a", {"y": 2, "x": 1}]])


def test_the_hash_does_not_depend_on_how_a_database_returns_numbers():
    # jsonb stores numbers as decimals: 1e16 comes back as the integer 10000000000000000.
    assert canonical_json([["a", 1e16], ["b", 2.0], ["c", 0.5]]) == '[["a",10000000000000000],["b",2],["c",0.5]]'


def test_a_mapping_survives_storage():
    mapping = Mapping(
        (ContentColumn("q", "claim", "mono"),),
        "id",
        "lang",
        "en",
        (GoldColumn("l", "g", {"a": "b"}, "|"),),
        ("d",),
        "t",
    )
    assert Mapping.from_json(json.loads(json.dumps(mapping.to_json()))) == mapping


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        (Mapping(()), "No column is shown"),
        (Mapping((ContentColumn("absent", "a"),)), "absent"),
        (Mapping(CLAIM, id_column="absent"), "absent"),
        (Mapping(CLAIM, strata=("absent",)), "absent"),
        (Mapping(CLAIM, gold=(GoldColumn("label", "absent"),)), "absent"),
        (Mapping((ContentColumn("q", "a"), ContentColumn("r", "a"))), "same name"),
        (Mapping(CLAIM, gold=(GoldColumn("label", "q"), GoldColumn("label", "r"))), "same field"),
        (Mapping((ContentColumn("q", ""),)), "name it is shown under"),
        (Mapping((ContentColumn("q", "a", "html"),)), "no way to show"),
        (Mapping(CLAIM, language="English"), "no.* language tag|not a language tag"),
    ],
)
def test_a_mapping_that_cannot_work_is_refused_before_reading(mapping, said):
    with pytest.raises(MappingError, match=said):
        mapping.check(["q", "r"])


def test_a_mapping_that_works_passes():
    Mapping(CLAIM, id_column="r", language="zh-Hant").check(["q", "r"])
