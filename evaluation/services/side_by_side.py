"""One item with everybody's answers to it, as a report counted them: what the side-by-side page shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from annotate.models import Annotation, ItemRevision
from annotate.resolution import Outcome, resolve
from annotate.shown import shown_item
from evaluation.models import Call, Prediction, Report
from evaluation.reports.frozen import votes_by_item
from evaluation.services.run_progress import table_words

# Beside an answer only the end of a long completion is shown: there the answer is given.
EXCERPT_CHARACTERS = 280
SHOWN_STEPS = 5


def item_side_by_side(*, report: Report, unit: int) -> dict[str, Any]:
    """item, gold, strata_of_item, vote, people, models of one item of the report; four queries, whatever its size."""
    matrices = report.matrices
    items = matrices["items"]
    revision = ItemRevision.objects.select_related("item").get(pk=items["revisions"][unit])
    version = report.stage.versions.get(is_current=True)
    shown = shown_item(
        external_id=revision.item.external_id,
        language=revision.language,
        content=revision.content,
        shown_keys=version.shown_keys,
    )
    captions = _captions(version.fields, report.field)
    return {
        "item": shown,
        "revision": revision.number,
        "gold": [captions.get(value, value) for value in items["golds"][unit]],
        "gold_version": items["gold_versions"][unit],
        "strata_of_item": items["strata"][unit],
        "vote": _vote(votes_by_item(matrices)[unit], captions),
        "people": _people(report, unit, captions),
        "models": _models(report, unit, captions),
    }


def _vote(votes: list[str], captions: Mapping[str, str]) -> dict[str, Any]:
    outcome: Outcome = resolve(votes)
    return {
        "status": str(outcome.status),
        "answer": None if outcome.key is None else captions.get(outcome.key, outcome.key),
        "n_for": outcome.counts[0][1] if outcome.counts else 0,
        "n_votes": outcome.votes,
        "tied": [captions.get(key, key) for key in outcome.tied],
    }


def _people(report: Report, unit: int, captions: Mapping[str, str]) -> list[dict[str, Any]]:
    people = report.matrices["people"]
    rows = _rows_of(people["answers"], unit, report.primary_scorer)
    pks = [row["annotation"] for row in rows if row["annotation"] is not None]
    stored = {row["pk"]: row for row in Annotation.objects.filter(pk__in=pks).values("pk", "answer", "flag_note")}
    found = []
    for row in rows:
        annotation = stored.get(row["annotation"], {})
        answer = dict(annotation.get("answer") or {})
        value = answer.pop(report.field, None)
        found.append(
            {
                "name": people["pseudonyms"][row["person"]],
                "answer": _as_read(value, captions),
                "explanations": [str(text) for text in answer.values() if text not in (None, "")],
                "flag_note": annotation.get("flag_note", ""),
                "outcome": row["outcome"],
                "standing": row["standing"],
                "score": row["score"],
            }
        )
    return found


def _models(report: Report, unit: int, captions: Mapping[str, str]) -> list[dict[str, Any]]:
    by_run = [
        (run, row) for run in report.matrices["runs"] for row in _rows_of(run["answers"], unit, report.primary_scorer)
    ]
    pks = [row["prediction"] for _, row in by_run]
    predictions = Prediction.objects.filter(pk__in=pks).values("pk", "answer", "note", "run__strategy")
    stored = {row["pk"]: row for row in predictions}
    completions: dict[int, list[tuple[int, str]]] = defaultdict(list)
    calls = Call.objects.filter(prediction__in=pks).order_by("step")
    for pk, step, completion in calls.values_list("prediction_id", "step", "completion"):
        completions[pk].append((step, completion))
    found = []
    for run, row in by_run:
        prediction = stored.get(row["prediction"], {})
        value = (prediction.get("answer") or {}).get(report.field)
        found.append(
            {
                "run": run["run"],
                "name": run["name"],
                "repeat": row["repeat"] + 1 if run["repeats"] > 1 else None,
                "answer": _as_read(value, captions),
                "strategy": prediction.get("run__strategy", ""),
                "said": [
                    {"step": step, "excerpt": excerpt}
                    for step, completion in completions[row["prediction"]][:SHOWN_STEPS]
                    if (excerpt := _excerpt(completion, value))
                ],
                "n_unshown": max(0, len(completions[row["prediction"]]) - SHOWN_STEPS),
                "outcome": row["outcome"],
                "note": prediction.get("note", ""),
                "standing": row["standing"],
                "score": row["score"],
            }
        )
    return found


def _rows_of(answers: Mapping[str, Any], unit: int, scorer: str) -> list[dict[str, Any]]:
    """The columns' entries for one item, as rows."""
    names = [name for name in answers if name != "scores"]
    places = [place for place, other in enumerate(answers["unit"]) if other == unit]
    return [
        {**{name: answers[name][place] for name in names}, "score": answers["scores"][scorer][place]}
        for place in places
    ]


def _captions(fields: list[dict[str, Any]], name: str) -> dict[str, str]:
    """What people read for each option's value."""
    found = [field for field in fields if field["name"] == name]
    return {option["value"]: option["caption"] for field in found for option in field.get("options") or []}


def _as_read(value: Any, captions: Mapping[str, str]) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict) and "rows" in value:
        return table_words(value)
    # Only texts are values of options: what holds several parts has no caption.
    return captions.get(value, value) if isinstance(value, str) else str(value)


def _excerpt(completion: str, answer: object) -> str:
    """The end of the completion, where it says more than the answer does."""
    text = " ".join(completion.split())
    if not text or text == str(answer):
        return ""
    return text if len(text) <= EXCERPT_CHARACTERS else f"… {text[-EXCERPT_CHARACTERS:]}"
