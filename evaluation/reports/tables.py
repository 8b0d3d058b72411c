"""Figures in the shape of the report's tables, for the page and the Markdown file alike. Rounding is theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.wording import _
from evaluation.reports import words

Figures = Sequence[Mapping[str, Any]]


# One answer an item, made of those of several people.
_VOTES_OF_PEOPLE = frozenset({"people_vote", "people_vote_escalated", "people_vote_weighted", "people_dawid_skene"})


def main_table(figures: Figures, *, scorers: Sequence[str], primary_scorer: str) -> dict[str, Any]:
    """People and runs, a row each: {measures, rows: [{label, who, soft, is_vote, n_items, n_answers, measures,
    answered, difference, difference_answered, is_primary}], unscorable: [(measure, number of answers)]}; each number in
    a row is a figure."""
    others = [scorer for scorer in scorers if scorer != primary_scorer]
    has_macro = any(figure["measure"] == "macro_f1_all_declared" for figure in figures)
    measures = [primary_scorer, *others, *(["macro_f1_all_declared"] if has_macro else [])]
    outcomes = _outcomes(figures)
    rows = []
    for first in _select(figures, section="accuracy", measure=primary_scorer, denominator="all"):
        same_row = _select(figures, row=first["row"])
        differences = _select(same_row, section="difference", measure=primary_scorer)
        answered = _one(_select(same_row, section="accuracy", measure=primary_scorer, denominator="answered"))
        rows.append(
            {
                "row": first["row"],
                "who": first["who"],
                "run": first["run"],
                "label": first["label"],
                "soft": _circumstances(first, outcomes),
                "n_items": first["n_items"],
                "n_answers": answered["n"] if answered and first["row"] not in _VOTES_OF_PEOPLE else first["n"],
                "measures": [
                    _one(_select(same_row, section="accuracy", measure=measure, denominator="all"))
                    for measure in measures
                ],
                "answered": answered,
                "difference": _one(_select(differences, denominator="all")),
                "difference_answered": _one(_select(differences, denominator="answered")),
                "is_vote": first["row"] in _VOTES_OF_PEOPLE,
                "is_primary": any(difference["is_primary"] for difference in differences),
            }
        )
    return {
        "measures": [words.measure_words(measure) for measure in measures],
        "rows": rows,
        "unscorable": _unscorable(figures, scorers),
    }


def _unscorable(figures: Figures, scorers: Sequence[str]) -> list[tuple[str, int]]:
    """(measure, answers of people and runs that it cannot score and another scorer can), where there are any."""
    n_scored: dict[str, dict[str, int]] = {}
    for figure in _select(figures, section="accuracy", denominator="answered"):
        if figure["row"] not in _VOTES_OF_PEOPLE | {"people_pooled"} and figure["measure"] in scorers:
            n_scored.setdefault(figure["row"], {})[figure["measure"]] = figure["n"]
    counts = {
        scorer: sum(max(row.values()) - row[scorer] for row in n_scored.values() if scorer in row) for scorer in scorers
    }
    return [(words.measure_words(scorer), n) for scorer, n in counts.items() if n]


def comparisons_table(figures: Figures) -> list[dict[str, Any]]:
    """[{label, what, figure, is_primary}] of every difference with a p-value: the family named before comes first."""
    what = {
        "difference": _("against the mean person"),
        "vote_difference": _("its vote against the people’s vote"),
        "run_difference": "",
    }
    rows = [
        {
            "label": figure["label"],
            "what": what[figure["section"]],
            "measure": words.measure_words(figure["measure"]),
            "figure": figure,
            "is_primary": figure["is_primary"],
        }
        for figure in figures
        # Reports that were frozen before p-values were computed have none.
        if figure["section"] in what and figure.get("p") is not None
    ]
    return sorted(rows, key=lambda row: not row["is_primary"])


def planning(figures: Figures) -> dict[str, Any] | None:
    """{run, n_items, n_roots, design_effect, detectable, needed}: this report as a pilot; None if it says nothing."""
    found = _select(figures, section="planning")
    detectable = _one(_select(found, measure="detectable_difference"))
    if detectable is None:
        return None
    return {
        "run": detectable["label"],
        "n_items": detectable["n_items"],
        "n_roots": detectable["n_roots"],
        "design_effect": _one(_select(found, measure="design_effect")),
        "detectable": detectable,
        "needed": _select(found, measure="items_needed"),
    }


def leave_one_out_table(figures: Figures) -> list[dict[str, Any]]:
    """[{label, who, value, difference}]: one person, then each run, against the vote of the same others."""
    rows = []
    for figure in _select(figures, section="leave_one_out", measure="equals_vote_of_others"):
        difference = _select(
            figures, section="leave_one_out", row=figure["row"], measure="equals_vote_of_others_difference"
        )
        rows.append({"label": figure["label"], "who": figure["who"], "value": figure, "difference": _one(difference)})
    return rows


def agreement_table(figures: Figures) -> list[dict[str, Any]]:
    """[{label, figure, is_coefficient}]: majority agreement first, as it is read first."""
    rows = _select(figures, section="agreement")
    order = list(words.MEASURES)
    return [
        {
            "label": words.measure_words(figure["measure"]),
            "figure": figure,
            "is_coefficient": figure["measure"] in words.COEFFICIENT_MEASURES,
        }
        for figure in sorted(rows, key=lambda figure: order.index(figure["measure"]))
    ]


AGREEMENT_PARTS = {
    "agreement_label": _("label"),
    "agreement_person": _("person, against the others"),
    "agreement_pair": _("pair of people"),
    "agreement_stratum": _("stratum"),
}


def agreement_part_tables(figures: Figures) -> list[dict[str, Any]]:
    """Where agreement lies: [{section, of, measures: [label], rows: [{label, n, cells}]}], a cell {figure,
    is_coefficient}; the figure is None where a row has none of a measure."""
    tables = []
    for section, of in AGREEMENT_PARTS.items():
        rows: dict[tuple[str, str, str], dict[str, Any]] = {}
        measures: dict[str, str] = {}
        for figure in _select(figures, section=section):
            measures[figure["measure"]] = words.measure_words(figure["measure"])
            place = (figure["row"], figure["stratum"], figure["stratum_value"])
            label = f"{figure['stratum']}: {figure['stratum_value']}" if figure["stratum"] else figure["label"]
            row = rows.setdefault(place, {"label": label, "n": figure["n"], "cells": {}})
            is_coefficient = figure["measure"] in words.COEFFICIENT_MEASURES
            row["cells"][figure["measure"]] = {"figure": figure, "is_coefficient": is_coefficient}
        # Whose answers are all left out has fewer measures than the others; theirs must not move to other columns.
        for row in rows.values():
            row["cells"] = [
                row["cells"].get(measure, {"figure": None, "is_coefficient": False}) for measure in measures
            ]
        if rows:
            tables.append(
                {"section": section, "of": of, "measures": list(measures.values()), "rows": list(rows.values())}
            )
    return tables


def votes_table(figures: Figures) -> list[dict[str, Any]]:
    """[{label, figure}] for the ways in which votes ended: those that occurred, and ties even if there are none."""
    return [
        {"label": words.VOTES.get(figure["measure"], figure["measure"]), "figure": figure}
        for figure in _select(figures, section="votes")
        if figure["count"] or figure["measure"] == "tie"
    ]


def outcomes_table(figures: Figures) -> list[dict[str, Any]]:
    """[{label, who, parts: [{label, count}], total}]: what came of every question, people first."""
    rows: dict[str, dict[str, Any]] = {}
    said = {"answered": "answered", **words.NO_ANSWER, **words.LEFT_OUT}
    for figure in _select(figures, section="outcomes"):
        row = rows.setdefault(
            figure["row"], {"label": figure["label"], "who": figure["who"], "parts": [], "total": figure["n"]}
        )
        name = figure["measure"]
        row["parts"].append(
            {"name": name, "label": said[name], "count": figure["count"], "kind": _segment(name, figure["who"])}
        )
    order = list(said)
    for row in rows.values():
        row["parts"].sort(key=lambda part: order.index(part["name"]))
    return list(rows.values())


def people_table(figures: Figures) -> list[dict[str, Any]]:
    """[{label, all, answered}] for each person."""
    return [
        {
            "label": figure["label"],
            "all": figure,
            "answered": _one(_select(figures, section="person", row=figure["row"], denominator="answered")),
        }
        for figure in _select(figures, section="person", denominator="all")
    ]


def best_person(figures: Figures) -> Mapping[str, Any] | None:
    """The figure of whoever is best, where there is one."""
    return _one([figure for figure in _select(figures, section="best_person") if figure["value"] is not None])


def breakdown_tables(figures: Figures) -> list[dict[str, Any]]:
    """[{stratum, columns: [label], rows: [{value, n_items, cells: [figure]}]}] in the order of the figures."""
    tables: dict[str, dict[str, Any]] = {}
    for figure in _select(figures, section="breakdown"):
        table = tables.setdefault(figure["stratum"], {"stratum": figure["stratum"], "columns": {}, "rows": {}})
        table["columns"].setdefault(figure["row"], {"label": figure["label"], "who": figure["who"]})
        row = table["rows"].setdefault(figure["stratum_value"], {"value": figure["stratum_value"], "cells": []})
        row["n_items"] = max(row.get("n_items", 0), figure["n_items"])
        row["cells"].append(figure)
    return [
        {**table, "columns": list(table["columns"].values()), "rows": list(table["rows"].values())}
        for table in tables.values()
    ]


def charted_run(figures: Figures, *, primary_run: int | None) -> str:
    """The name of the run in the chart: the primary one, else the first; "" without runs."""
    runs = [f for f in _select(figures, section="accuracy", denominator="all") if f["run"] is not None]
    chosen = [figure for figure in runs if figure["run"] == primary_run] or runs
    return str(chosen[0]["label"]) if chosen else ""


def _circumstances(first: Mapping[str, Any], outcomes: Mapping[str, Any]) -> dict[str, Any]:
    """What stands soft behind the name of a row: {n_people, sd, no_answer, left_out, votes}."""
    if first["row"] in _VOTES_OF_PEOPLE:
        votes = outcomes["votes"] if first["row"] == "people_vote" else ""
        return {"votes": votes, "n_people": None, "sd": None, "no_answer": "", "left_out": ""}
    # A run that was asked none of the items has a row and no outcome; a missing key would end the report for good.
    counts = outcomes.get("people" if first["who"] == "people" else first["row"], {})
    return {
        "n_people": first["n_people"],
        "sd": first["sd"],
        "no_answer": words.counted_words(counts, words.NO_ANSWER),
        "left_out": words.counted_words(counts, words.LEFT_OUT),
        "votes": "",
    }


def _segment(outcome: str, who: str) -> str:
    """The class of an outcome's part of a bar: answers in the colour of who gave them, what does not count is pale."""
    if outcome == "answered":
        return "is-people" if who == "people" else "is-model"
    return "is-waiting" if outcome in words.LEFT_OUT else "is-neutral"


def _outcomes(figures: Figures) -> dict[str, Any]:
    """{row: {outcome: count}}, and how many votes have no winner under "votes"."""
    found: dict[str, Any] = {"people": {}}
    for figure in _select(figures, section="outcomes"):
        found.setdefault(figure["row"], {})[figure["measure"]] = figure["count"]
    counts = {figure["measure"]: figure["count"] for figure in _select(figures, section="votes")}
    found["votes"] = words.counted_words(
        counts, {"tie": _("tied, counted as not right"), "plurality": _("by plurality")}
    )
    return found


def _select(figures: Figures, **where: Any) -> list[Mapping[str, Any]]:
    return [figure for figure in figures if all(figure[name] == value for name, value in where.items())]


def _one(figures: Figures) -> Mapping[str, Any] | None:
    return figures[0] if figures else None
