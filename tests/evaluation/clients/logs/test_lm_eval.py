"""Samples of lm-evaluation-harness, with every trap that the format is known for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.clients.logs import OVER_ALL_REPEATS, Notes
from evaluation.clients.logs.lm_eval import model_beside

from .files import format_of, lines, read, refusal


def generated(*completions: str, **fields: Any) -> dict[str, Any]:
    """A line as the harness writes it for a request that generates, asked once or several times."""
    return {
        "doc_id": 0,
        "doc": {"question": "Is ice cold?", "answer": "no"},
        "target": "no",
        "arguments": {"gen_args_0": {"arg_0": "Q: Is ice cold?\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [list(completions)],
        "filtered_resps": [completions[0]],
        "filter": "none",
        "metrics": ["exact_match"],
        "doc_hash": "aa11",
        "prompt_hash": "bb22",
        "target_hash": "cc33",
        "exact_match": 0.0,
    } | fields


def chosen(*scores: Any, continuations: tuple[str, ...] = (" red", " blue"), **fields: Any) -> dict[str, Any]:
    """A line for multiple choice: a request for each continuation, with [log-probability, is greedy] as texts."""
    return {
        "doc_id": 0,
        "doc": {"q": "Sky?", "choices": [text.strip() for text in continuations]},
        "target": "0",
        "arguments": {f"gen_args_{n}": {"arg_0": "Sky?", "arg_1": text} for n, text in enumerate(continuations)},
        "resps": [[[str(score), "False"]] for score in scores],
        "filtered_resps": [[str(score), "False"] for score in scores],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": "d1",
    } | fields


def test_a_line_is_recognised_and_its_completion_kept():
    data = lines(generated(" Yes, very."))
    assert format_of(data, "samples_ice_2026-08-01T10-00-00.jsonl") == "lm_eval"
    (record,) = read(data)
    assert (record.completion, record.answers, record.filter, record.repeat) == (" Yes, very.", (), "none", 1)
    assert record.messages == ({"role": "user", "content": "Q: Is ice cold?\nA:"},)
    assert (record.model, record.line) == ("", 1)


def test_the_gold_label_in_the_line_is_no_answer():
    (record,) = read(lines(generated("Yes.")))
    assert "no" not in (record.completion, *record.answers)


def test_each_filter_is_told_apart_and_what_it_made_of_the_completion_is_its_answer():
    """Several filters double the lines, all with the same completion."""
    completion = "The answer is 5 apples"
    records = read(
        lines(
            generated(completion, filter="strict-match", filtered_resps=["[invalid]"]),
            generated(completion, filter="flexible-extract", filtered_resps=["5"]),
        )
    )
    assert [(r.filter, r.completion, r.answers) for r in records] == [
        ("strict-match", completion, ("",)),
        ("flexible-extract", completion, ("5",)),
    ]


def test_older_files_do_not_name_filters_and_their_lines_are_told_apart_all_the_same():
    lines_of_old = [
        generated("5 apples", filtered_resps=[text], doc_id=n, doc_hash=f"h{n}")
        for text in ("5", "5 apples")
        for n in (0, 1)
    ]
    for line in lines_of_old:
        del line["filter"]
    notes = Notes()
    # The last line is the first once more: a file that was appended to.
    records = read(lines(*lines_of_old, lines_of_old[0]), notes=notes)
    assert [(r.external_id, r.filter) for r in records] == [
        ("h0", ""),
        ("h1", ""),
        ("h0", "filter 2"),
        ("h1", "filter 2"),
        ("h0", ""),
    ]
    assert "each time is taken for another filter" in next(iter(notes))


def test_repeats_come_from_the_responses_because_a_filter_may_keep_only_one():
    records = read(lines(generated("yes", "no", "yes")))
    assert [(r.filter, r.repeat, r.completion) for r in records] == [
        ("none", 1, "yes"),
        ("none", 2, "no"),
        ("none", 3, "yes"),
    ]


def test_one_text_of_a_filter_for_all_repeats_is_a_record_over_all_of_them():
    records = read(
        lines(
            generated("I say yes", "no", "yes", filter="maj", filtered_resps=["yes"]),
            generated("I say yes", "no", "yes", filter="first", filtered_resps=["yes"]),
        )
    )
    assert [(r.filter, r.repeat, r.completion, r.answers) for r in records] == [
        ("none", 1, "I say yes", ()),
        ("none", 2, "no", ()),
        ("none", 3, "yes", ()),
        ("maj", OVER_ALL_REPEATS, "yes", ("yes",)),
        ("first", OVER_ALL_REPEATS, "yes", ("yes",)),
    ]
    assert records[3].note == "the filter's one answer to 3 repeats"


def test_a_filter_that_keeps_every_repeat_gives_each_its_answer():
    records = read(lines(generated("it is yes", "no", filter="regex", filtered_resps=[["yes", "no"]])))
    assert [(r.filter, r.repeat, r.answers) for r in records] == [("regex", 1, ("yes",)), ("regex", 2, ())]


def test_the_place_in_the_data_set_is_never_an_id():
    """With unsorted --samples the places do not fit: only an id in the document, or its content, tells the item."""
    unnamed = generated("yes", doc_id=7)
    named = generated("yes", doc_id=7, doc={"id": 41, "question": "Is ice cold?"})
    other = generated("yes", doc_id=7, doc={"key": "k9", "id": 1})
    assert [r.external_id for r in read(lines(unnamed, named))] == ["aa11", "41"]
    assert [r.external_id for r in read(lines(other), id_field="key")] == ["k9"]


def test_what_the_document_says_is_compared_and_not_the_prompt_with_its_exemplars():
    (record,) = read(lines(generated("yes", doc={"question": {"stem": "Is ice cold?"}, "n": 3})))
    assert record.texts == ("Is ice cold?",)
    (bare,) = read(lines({name: value for name, value in generated("yes").items() if name != "doc"}))
    assert bare.texts == ("Q: Is ice cold?\nA:",)


def test_of_several_continuations_the_likeliest_was_chosen():
    (record,) = read(lines(chosen(-4.2, -0.3)))
    assert (record.completion, record.answers) == (" blue", ())
    assert record.note == "the likeliest of 2 continuations"


def test_letters_stand_for_the_choices_of_the_document():
    letters = (" A", " B")
    as_list = chosen(-1, -2, continuations=letters, doc={"choices": ["no", "yes"]})
    as_object = chosen(-2, -1, continuations=letters, doc={"choices": {"text": ["no", "yes"], "label": ["A", "B"]}})
    assert [(r.completion, r.answers) for r in read(lines(as_list, as_object))] == [
        (" A", ("no", "A")),
        (" B", ("yes", "B")),
    ]


def test_a_tie_is_broken_as_the_harness_breaks_it_and_said():
    (record,) = read(lines(chosen(-1, -1)))
    assert (record.completion, record.note) == (" red", "the first of equally likely ones of 2 continuations")


def test_requests_without_context_measure_a_prior_and_are_no_choice():
    line = chosen(-3, -2, -0.1, -9, continuations=(" red", " blue", " red", " blue"))
    for n in (2, 3):
        line["arguments"][f"gen_args_{n}"]["arg_0"] = ""
    assert [r.completion for r in read(lines(line))] == [" blue"]


def test_older_lines_have_lists_of_arguments_and_numbers():
    line = chosen(-4.2, -0.3)
    line["arguments"] = [["Sky?", " red"], ["Sky?", " blue"]]
    line["resps"] = line["filtered_resps"] = [[-4.2, False], [-0.3, True]]
    assert [r.completion for r in read(lines(line))] == [" blue"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (chosen(-0.1, continuations=(" blue",)), "the likelihood of one continuation"),
        (chosen(-1, -2, continuations=(" it", " it")), "which choice was meant cannot be told"),
        (chosen("nan", -2), "no log-probability"),
        (generated("-34.2", arguments={"gen_args_0": {"arg_0": "A text."}}), "likelihood of a text"),
        (generated("a", resps=[["a"], ["b"]]), "several requests"),
    ],
)
def test_what_is_no_answer_of_the_model_is_an_error_and_never_the_gold_label(line, said):
    (record,) = read(lines(line))
    assert said in record.error
    assert (record.completion, record.answers) == ("", ())


def test_bare_nan_and_raw_line_separators_survive():
    line = generated("one\u2028two", exact_match=float("nan"), doc={"question": "a\u2028b", "weight": float("inf")})
    data = lines(line, generated("yes"))
    assert b"NaN" in data
    assert "\u2028".encode() in data
    first, second = read(data)
    assert (first.completion, first.texts, first.fields["weight"]) == ("one\u2028two", ("a\u2028b",), None)
    assert second.completion == "yes"


def test_a_list_of_lines_is_read_as_older_versions_wrote_it():
    data = json.dumps([generated("yes"), generated("no")], indent=2).encode()
    assert [r.completion for r in read(data, "samples.json")] == ["yes", "no"]


@pytest.mark.parametrize(
    ("changed", "field"),
    [({"resps": []}, "resps"), ({"resps": "yes"}, "resps"), ({"filtered_resps": "x"}, "filtered_resps")],
)
def test_a_line_of_another_shape_is_refused_with_its_place(changed, field):
    fault = refusal(lines(generated("yes"), generated("yes", **changed)))
    assert (fault.line, fault.field) == (2, field)


def test_responses_must_be_as_many_as_requests():
    line = chosen(-1, -2, -3)
    assert "3 responses to 2 requests" in refusal(lines(line)).problem


def test_the_model_is_named_by_the_results_of_the_same_moment(tmp_path):
    samples = tmp_path / "samples_ice_2026-08-01T10-00-00.123.jsonl"
    samples.write_bytes(lines(generated("yes")))
    assert model_beside(samples) == ""
    (tmp_path / "results_2026-08-01T10-00-00.123.json").write_text('{"model_name": "acme/m-1", "x": NaN}')
    (tmp_path / "results_2026-08-02T10-00-00.123.json").write_text('{"model_name": "acme/m-2"}')
    assert model_beside(samples) == "acme/m-1"
    (tmp_path / "results_2026-08-01T10-00-00.123.json").write_text("broken")
    assert model_beside(samples) == ""
