"""Files of a HELM run, with every trap that the format is known for."""

from __future__ import annotations

import json
from typing import Any

from evaluation.clients.logs import Notes

from .files import format_of, read, refusal


def state(completion: str = " B", **fields: Any) -> dict[str, Any]:
    """A request as scenario_state.json has it: joint multiple choice, null fields left out."""
    return {
        "instance": {
            "id": "id42",
            "split": "test",
            "input": {"text": "Sky?"},
            "references": [
                {"output": {"text": "red"}, "tags": ["correct"]},
                {"output": {"text": "blue"}, "tags": []},
            ],
        },
        "request_mode": "original",
        "train_trial_index": 0,
        "output_mapping": {"A": "red", "B": "blue"},
        "request": {"model": "acme/m-1", "prompt": "Question: Sky?\nAnswer:", "max_tokens": 5},
        "result": {
            "success": True,
            "cached": False,
            "completions": [{"text": completion, "logprob": -1.5, "tokens": [], "finish_reason": {"reason": "stop"}}],
        },
    } | fields


def scenario_state(*states: dict[str, Any]) -> bytes:
    return json.dumps({"adapter_spec": {"model": "acme/m-1"}, "request_states": list(states), "annotators": 0}).encode()


def reference(number: int, logprob: Any, **fields: Any) -> dict[str, Any]:
    """One of the requests of separate multiple choice."""
    result = {"success": True, "cached": False, "completions": [{"text": "", "logprob": logprob}]}
    asked = state(reference_index=number, result=result, **fields)
    del asked["output_mapping"]
    return asked


def test_a_request_comes_with_its_circumstances():
    data = scenario_state(state())
    assert format_of(data, "scenario_state.json") == "helm"
    (record,) = read(data, "scenario_state.json")
    assert (record.external_id, record.completion, record.answers) == ("id42", " B", ("blue", "B"))
    assert (record.texts, record.messages[0]["content"]) == (("Sky?",), "Question: Sky?\nAnswer:")
    assert (record.model, record.finish_reason, record.filter, record.repeat) == ("acme/m-1", "stop", "", 1)


def test_the_gold_label_among_the_references_is_no_answer():
    (record,) = read(scenario_state(state(" none of them")), "scenario_state.json")
    assert record.answers == ()
    assert "red" not in record.completion


def test_perturbations_are_filters_and_draws_of_exemplars_are_repeats():
    perturbed = state(train_trial_index=2)
    perturbed["instance"] = perturbed["instance"] | {"perturbation": {"name": "typos", "robustness": True}}
    records = read(scenario_state(state(), perturbed), "scenario_state.json")
    assert [(r.external_id, r.filter, r.repeat) for r in records] == [("id42", "", 1), ("id42", "typos", 3)]


def test_of_separate_references_the_likeliest_was_chosen():
    other = state("other", output_mapping=None)
    other["instance"] = other["instance"] | {"id": "id43"}
    records = read(
        scenario_state(reference(0, -4.2), reference(1, -0.3), other, reference(0, -1), reference(1, -1)),
        "scenario_state.json",
    )
    assert [(r.external_id, r.completion, r.note) for r in records] == [
        ("id42", "blue", "the likeliest of 2 references"),
        ("id43", "other", ""),
        ("id42", "red", "the first of equally likely ones of 2 references"),
    ]


def test_requests_that_only_correct_likelihoods_are_no_answers():
    calibration = reference(1, -0.1, request_mode="calibration")
    (record,) = read(scenario_state(reference(0, -1), reference(1, -2), calibration), "scenario_state.json")
    assert record.completion == "red"


def test_references_without_likelihood_and_failed_requests_are_errors():
    failed = {"success": False, "cached": False, "completions": [], "error": "the server was busy"}
    records = read(
        scenario_state(
            reference(0, None),
            reference(1, -2),
            state(result=failed),
            state(result={"success": False, "completions": []}),
            state(result={"success": True, "completions": []}),
            reference(0, -1) | {"result": failed},
            reference(1, -1),
        ),
        "scenario_state.json",
    )
    assert [(r.error, r.completion) for r in records] == [
        ("A reference has no log-probability.", ""),
        ("the server was busy", ""),
        ("The request failed, and the log does not say why.", ""),
        ("The request has no completion.", ""),
        ("the server was busy", ""),
    ]


def test_log_probabilities_of_its_tokens_are_kept():
    tokens = [{"text": " A", "logprob": -0.5, "top_logprobs": {}}, {"text": ".", "logprob": -1.0}]
    result = {"success": True, "completions": [{"text": " A.", "logprob": -1.5, "tokens": tokens}]}
    (record,) = read(scenario_state(state(result=result)), "scenario_state.json")
    assert record.logprobs == [(" A", -0.5, []), (".", -1.0, [])]


def test_the_first_of_several_completions_is_taken_and_said():
    result = {"success": True, "completions": [{"text": "A"}, {"text": "B"}]}
    notes = Notes()
    (record,) = read(scenario_state(state(result=result)), "scenario_state.json", notes=notes)
    assert (record.completion, record.answers) == ("A", ("red", "A"))
    assert list(notes) == ["Some requests have several completions: the first is taken, as HELM takes it."]


def test_display_predictions_are_read_without_a_prompt():
    predictions = [
        {"instance_id": "id1", "train_trial_index": 0, "predicted_text": " B", "mapped_output": "blue", "stats": {}},
        {
            "instance_id": "id1",
            "perturbation": {"name": "typos"},
            "train_trial_index": 1,
            "predicted_text": "Blue.",
            "thinking_text": "Hm.",
            "stats": {"exact_match": 0.0},
        },
        {"instance_id": "id2", "train_trial_index": 0, "predicted_text": "", "reference_index": 0, "stats": {}},
    ]
    data = json.dumps(predictions).encode()
    assert format_of(data, "display_predictions.json") == "helm"
    first, second, third = read(data, "display_predictions.json")
    assert (first.external_id, first.completion, first.answers) == ("id1", " B", ("blue",))
    assert (second.filter, second.repeat, second.reasoning, second.answers) == ("typos", 2, "Hm.", ())
    assert third.error == "The file has the likelihood of one reference: scenario_state.json has all."


def test_files_of_scores_are_refused_with_the_file_to_take():
    stats = [{"instance_id": "id42", "train_trial_index": 0, "stats": [{"name": {"name": "exact_match"}, "count": 1}]}]
    fault = refusal(json.dumps(stats).encode(), "per_instance_stats.json")
    assert "scenario_state.json" in str(fault)
    assert fault.line == 1


def test_a_run_without_requests_and_references_that_are_not_there_are_refused():
    assert "no request_states" in str(refusal(scenario_state(), "scenario_state.json"))
    fault = refusal(scenario_state(reference(7, -1)), "scenario_state.json")
    assert "there is no reference 7" in str(fault)


def test_own_columns_with_an_instance_id_stay_our_own():
    data = json.dumps([{"id": "1", "instance_id": "x", "completion": "yes"}]).encode()
    assert format_of(data, "log.json") == "goldpanel"
