"""A report's comparison as a table for a terminal: the rows of the page, in plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.templatetags.figures import coefficient, percent, signed_percent, span
from evaluation.models import Report
from evaluation.reports import tables, words


def comparison(report: Report) -> str:
    """People and baselines, a row each, then agreement. Per cent, with intervals at the report's level."""
    main = tables.main_table(
        report.figures, scorers=[name for name, _ in report.manifest["scorers"]], primary_scorer=report.primary_scorer
    )
    head = ["", "answers", f"{words.measure_words(report.primary_scorer)} %", "interval", "against people", "interval"]
    rows = []
    for row in main["rows"]:
        value, difference = row["measures"][0], row["difference"]
        mark = " *" if row["is_primary"] else ""
        rows.append(
            [
                f"{row['label']}{mark}",
                f"{row['n_answers']:,}",
                percent(_value(value)),
                _span(value, "percent"),
                signed_percent(_value(difference)) if difference else "",
                _span(difference, "signed_percent"),
            ]
        )
    agreement = [
        [
            row["label"],
            coefficient(_value(row["figure"])) if row["is_coefficient"] else f"{percent(_value(row['figure']))} %",
            _span(row["figure"], "coefficient" if row["is_coefficient"] else "percent"),
        ]
        for row in tables.agreement_table(report.figures)
    ]
    level = f"{report.level:.0%}"
    note = f"* the comparison named before results were seen. Intervals: {level}, seed {report.seed}."
    return "\n".join([_aligned([head, *rows]), "", _aligned(agreement), note])


def _value(figure: Mapping[str, Any] | None) -> float | None:
    return figure["value"] if figure else None


def _span(figure: Mapping[str, Any] | None, style: str) -> str:
    return span(figure["lower"], figure["upper"], style) if figure else ""


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """The first column at the start of its lines, the others at the end of theirs."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = (
        "  ".join(
            [f"{row[0]:<{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
    return "\n".join(f"  {line}".rstrip() for line in lines)
