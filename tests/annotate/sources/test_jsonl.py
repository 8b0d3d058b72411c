"""JSON Lines: what is kept exactly, and what is refused with its place."""

import json

import pytest

from annotate.sources.records import Limits

from .files import read, refusal, values


def line(**fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def test_records_know_their_number_and_line_and_blank_lines_are_no_records():
    data = b'\n{"id": "a"}\n   \n\r\n{"id": "b"}'
    assert [(r.number, r.line, r.values) for r in read(data, "x.jsonl")] == [
        (1, 2, [("id", "a")]),
        (2, 5, [("id", "b")]),
    ]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\u0085", "\r", "\x0b", "\x0c", "\x1e", "\t"])
def test_a_record_ends_at_lf_only(odd):
    data = f'{{"id": "1", "q": "a{odd}b"}}\n{{"id": "2", "q": "c"}}\n'.encode()
    assert values(data, "x.jsonl") == [{"id": "1", "q": f"a{odd}b"}, {"id": "2", "q": "c"}]


def test_crlf_line_ends_are_read():
    assert values(b'{"q": "a"}\r\n{"q": "b"}\r\n', "x.jsonl") == [{"q": "a"}, {"q": "b"}]


def test_right_to_left_text_and_emoji_are_kept():
    texts = {"q": "هل القمر كوكب؟ 👩‍🚀", "r": "האם"}
    assert values(line(**texts), "x.jsonl") == [texts]
    assert values(json.dumps(texts).encode(), "x.jsonl") == [texts]


def test_whole_numbers_and_fractions_keep_every_digit():
    (record,) = read(b'{"a": 1234567890123456789, "b": 1.10, "c": 0.1234567890123456789}', "x.jsonl")
    a, b, c = (value for _, value in record.values)
    assert a == 1234567890123456789
    assert (b.literal, b.is_exact()) == ("1.10", True)
    assert (c.literal, c.is_exact()) == ("0.1234567890123456789", False)


def test_an_item_of_one_megabyte_is_read():
    text = "ä" * 500_000
    assert values(line(q=text), "x.jsonl") == [{"q": text}]


def test_an_item_above_the_limit_is_refused_with_its_line():
    fits, too_big = line(q="x" * 900), line(q="ä" * 500)  # 910 bytes; 510 characters but 1,010 bytes
    error = refusal(fits + too_big, "x.jsonl", limits=Limits(max_item_bytes=1000))
    assert (error.line, error.row) == (2, 2)
    assert "more than 1,000 bytes" in error.message


def test_a_file_without_line_ends_is_refused_before_it_fills_the_memory():
    error = refusal(b'{"q": "' + b"x" * 3_000_000, "x.jsonl")
    assert (error.line, "2,000,000" in error.message) == (1, True)


def test_broken_json_is_named_by_line_and_column():
    data = b'{"id": 1}\n' * 4016 + b'{"id": 2 "q": 3}\n'
    error = refusal(data, "x.jsonl")
    # '{"id": 2 ' are nine characters; the missing comma is noticed at the tenth.
    assert (error.line, error.column) == (4017, 10)
    assert error.message.startswith("Line 4,017, column 10: this is not valid JSON")


@pytest.mark.parametrize("text", ['{"a": 1} {"a": 2}', '{"a": 1},', '{"a": 1}]'])
def test_a_second_value_in_a_line_is_refused(text):
    error = refusal(b'{"a": 0}\n' + text.encode() + b"\n", "x.jsonl")
    assert (error.line, error.column) == (2, len('{"a": 1}') + 1 + (" " in text[8:9]))


@pytest.mark.parametrize("text", ["[1, 2]", '"text"', "7", "null"])
def test_a_line_that_is_no_object_is_refused(text):
    error = refusal(b'{"a": 0}\n' + text.encode() + b"\n", "x.jsonl")
    assert (error.line, "one JSON object" in error.message) == (2, True)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "-1e400"])
def test_not_a_number_and_infinity_name_row_and_field(value):
    data = f'{{"a": 1}}\n{{"a": 2, "scores": {{"x": [0, {value}]}}}}\n'.encode()
    error = refusal(data, "x.jsonl")
    assert (error.line, error.row, error.field) == (2, 2, "scores.x[1]")


def test_nul_is_refused_escaped_and_raw():
    escaped = refusal(b'{"a": 1}\n{"q": "x\\u0000y"}\n', "x.jsonl")
    assert (escaped.line, escaped.row, escaped.field) == (2, 2, "q")
    raw = refusal(b'{"a": 1}\n{"q": "x\x00y"}\n', "x.jsonl")
    assert (raw.line, raw.column) == (2, len('{"q": "x') + 1)
    assert "NUL" in escaped.message
    assert "NUL" in raw.message


@pytest.mark.parametrize("escape", ["\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\uD83Dx"])
def test_a_lone_surrogate_is_refused_in_a_value_and_in_a_key(escape):
    in_value = refusal(f'{{"q": ["ok", "x{escape}"]}}'.encode(), "x.jsonl")
    assert (in_value.row, in_value.field) == (1, "q[1]")
    assert "surrogate" in refusal(f'{{"q": {{"{escape}": 1}}}}'.encode(), "x.jsonl").message


def test_a_surrogate_pair_is_a_character_and_an_escaped_backslash_no_escape():
    assert values(b'{"q": "\\ud83d\\ude00", "r": "\\\\ud83d \\\\u0000"}', "x.jsonl") == [
        {"q": "😀", "r": "\\ud83d \\u0000"}
    ]


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"k": ', "}")])
@pytest.mark.parametrize("depth", [65, 900, 100_000])
def test_nesting_beyond_64_is_refused_however_deep(opening, closing, depth):
    data = b'{"q": ' + (opening * (depth - 1) + "0" + closing * (depth - 1)).encode() + b"}\n"
    error = refusal(data, "x.jsonl")
    assert (error.line, error.row) == (1, 1)
    # Level 1 is the record; level 65 opens with the 64th bracket inside it.
    assert error.column == len('{"q": ') + 63 * len(opening) + 1
    assert "nested more than 64 deep" in error.message


def test_nesting_of_64_and_brackets_inside_texts_are_read():
    data = b'{"q": ' + b"[" * 63 + b"]" * 63 + b', "t": "' + b"[{" * 500 + b'\\""}\n'
    assert len(read(data, "x.jsonl")) == 1


def test_deep_nesting_after_another_fault_is_refused_too():
    error = refusal(b'{"a": NaN, "q": ' + b"[" * 5000 + b"]" * 5000 + b"}", "x.jsonl")
    assert "nested more than 64 deep" in error.message


def test_the_same_key_twice_in_an_object_is_refused():
    error = refusal(b'{"a": 1}\n{"a": 1, "b": {"c": 1, "d": 2, "c": 3}}\n', "x.jsonl")
    assert (error.line, error.row, error.field) == (2, 2, "b.c")


def test_a_number_of_absurd_length_is_refused():
    error = refusal(b'{"a": ' + b"9" * 5000 + b"}", "x.jsonl")
    assert (error.row, error.field) == (1, "a")


def test_bytes_that_are_not_the_encoding_are_named_by_line_and_column():
    data = '{"q": "ä"}\n'.encode() * 30_000 + b'{"q": "\xe4\xb8"}\n'
    error = refusal(data, "x.jsonl", encoding="utf-8")
    assert (error.line, error.column) == (30_001, len('{"q": "') + 1)
    assert "not UTF-8" in error.message


def test_a_cut_utf16_file_is_refused():
    data = '{"q": "a"}\n{"q": "b"}\n'.encode("utf-16")[:-1]
    assert refusal(data, "x.jsonl").line == 2


LOGS = Limits(tolerant=True)


def test_logs_of_models_may_have_nan_which_is_no_value():
    # 1e999 is the JSON of no number either; the text "NaN" is a text.
    data = b'{"a": NaN, "b": -Infinity, "c": [1, NaN], "d": 1e999, "e": "NaN", "f": 0.5}\n'
    expected = [{"a": None, "b": None, "c": [1, None], "d": None, "e": "NaN", "f": 0.5}]
    assert values(data, "x.jsonl", limits=LOGS) == expected
    assert values(b"[" + data + b"]", "x.json", limits=LOGS) == expected
    assert "NaN is not a value" in refusal(data, "x.jsonl").message


def test_logs_of_models_may_have_half_characters_and_are_otherwise_read_as_strictly():
    assert values(rb'{"a": "x\ud800y", "b": "\u0000"}', "x.jsonl", limits=LOGS) == [{"a": "x\ud800y", "b": "\0"}]
    assert refusal(b'{"a": NaN, "a": 2}', "x.jsonl", limits=LOGS).field == "a"
    deep = b'{"a": ' + b"[" * 100 + b"NaN" + b"]" * 100 + b"}"
    assert "nested more than 64 deep" in refusal(deep, "x.jsonl", limits=LOGS).message
    assert "more than 4,300 digits" in refusal(b'{"a": ' + b"9" * 5000 + b"}", "x.jsonl", limits=LOGS).message
