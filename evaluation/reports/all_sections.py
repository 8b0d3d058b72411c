"""Every table of a report as sheets, for a writer that has one shape for all. The page and Markdown write those of this
module by templates of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotate.wording import _, ngettext
from evaluation.reports import tables
from evaluation.reports.further_sections import further_sections
from evaluation.reports.sheets import (
    COEFFICIENT,
    P_VALUE,
    PERCENT,
    SIGNED,
    Cell,
    Figures,
    Line,
    Section,
    Sheet,
    adjusted,
    coefficients_sheet,
    counted,
    methods_of_lines,
    section_of_one,
    shown,
)


def all_sections(figures: Figures, manifest: Mapping[str, Any], *, primary_scorer: str) -> list[Section]:
    """Every table of the report, in the order of its page, for a writer that has one shape for all."""
    scorers = [name for name, _version in manifest["scorers"]]
    found = [
        _main(tables.main_table(figures, scorers=scorers, primary_scorer=primary_scorer)),
        _outcomes(tables.outcomes_table(figures)),
        _agreement(figures),
        _comparisons(tables.comparisons_table(figures)),
        _others(tables.leave_one_out_table(figures)),
        *_breakdowns(tables.breakdown_tables(figures)),
        _people(tables.people_table(figures)),
    ]
    return [section for section in found if section.sheets] + further_sections(
        figures, manifest, primary_scorer=primary_scorer
    )


def _main(main: Mapping[str, Any]) -> Section:
    lines = [
        Line(
            row["label"],
            [
                counted(row["n_items"]),
                counted(row["n_answers"]),
                *(shown(figure) for figure in row["measures"]),
                shown(row["answered"]),
                shown(row["difference"], SIGNED),
            ],
            soft=_soft(row),
            who=row["who"],
            is_strong=row["is_primary"] or row["row"] == "people_mean",
        )
        for row in main["rows"]
    ]
    measures = [_("%(measure)s, %%", measure=measure) for measure in main["measures"]]
    head = [_("Who"), _("Items"), _("Answers"), *measures, _("Answered only, %"), _("Difference, points")]
    note = _(
        "A question without an answer counts as not right, except in “answered only”. Difference: run minus mean "
        "person, on exactly the items that both have."
    )
    return section_of_one("main", _("People and models"), head, lines, note, methods_of_lines(lines))


def _soft(row: Mapping[str, Any]) -> str:
    soft = row["soft"]
    parts: list[str] = []
    if soft["n_people"] and row["row"] != "people_pooled":
        n = soft["n_people"]
        if row["who"] == "people":
            parts.append(ngettext("%(n)s person", "%(n)s people", n, n=n))
        elif n > 1:
            parts.append(_("%(n)s repeats", n=n))
    if soft["sd"] is not None:
        parts.append(f"SD {soft['sd'] * 100:.1f}")
    if soft["no_answer"]:
        parts.append(_("%(no_answer)s: not right", no_answer=soft["no_answer"]))
    if soft["left_out"]:
        parts.append(_("not counted: %(left_out)s", left_out=soft["left_out"]))
    if soft["votes"]:
        parts.append(soft["votes"])
    if row["is_vote"]:
        parts.append(_("descriptive"))
    if row["is_primary"]:
        parts.append(_("primary comparison"))
    return "; ".join(parts)


def _outcomes(rows: Sequence[Mapping[str, Any]]) -> Section:
    names = dict.fromkeys(part["name"] for row in rows for part in row["parts"])
    said = {part["name"]: part["label"] for row in rows for part in row["parts"]}
    lines = [
        Line(
            row["label"],
            [
                counted(row["total"]),
                *(counted(next((p["count"] for p in row["parts"] if p["name"] == name), 0)) for name in names),
            ],
            who=row["who"],
        )
        for row in rows
    ]
    head = [_("Who"), _("Asked"), *(said[name] for name in names)]
    return section_of_one("outcomes", _("What came of every question"), head, lines)


def _agreement(figures: Figures) -> Section:
    found = [row["figure"] for row in tables.agreement_table(figures)]
    sheet = coefficients_sheet("agreement", _("Agreement among people"), found, _("Items"))
    sheets = [sheet] if sheet.lines else []
    for part in tables.agreement_part_tables(figures):
        lines = [
            Line(
                row["label"],
                [
                    counted(row["n"]),
                    *(
                        shown(cell["figure"], COEFFICIENT if cell["is_coefficient"] else PERCENT)
                        for cell in row["cells"]
                    ),
                ],
            )
            for row in part["rows"]
        ]
        head = [part["of"], _("Items"), *part["measures"]]
        title = _("Agreement by %(of)s", of=part["of"])
        sheets.append(Sheet(part["section"].replace("_", "-"), title, head, lines, [_("Exploratory.")]))
    return Section("agreement", _("Agreement among people"), sheets)


def _comparisons(rows: Sequence[Mapping[str, Any]]) -> Section:
    lines = [
        Line(
            row["label"],
            [
                counted(row["figure"]["n_items"]),
                shown(row["figure"], SIGNED),
                Cell(P_VALUE, number=row["figure"]["p"]),
                *adjusted(row["figure"]),
            ],
            soft=", ".join(
                part for part in (row["what"], row["measure"], "" if row["is_primary"] else _("exploratory")) if part
            ),
            who=row["figure"]["who"],
            is_strong=row["is_primary"],
        )
        for row in rows
    ]
    head = [_("Difference"), _("Items"), _("Points"), "p", _("p, adjusted")]
    note = _(
        "p: permutation test, sides swapped root by root. Named before results: adjusted by Holm; all others by "
        "Benjamini-Hochberg."
    )
    return section_of_one("differences", _("Differences, tested"), head, lines, note, methods_of_lines(lines))


def _others(rows: Sequence[Mapping[str, Any]]) -> Section:
    lines = [
        Line(
            row["label"],
            [shown(row["value"]), shown(row["difference"], SIGNED), counted(row["value"]["n"])],
            who=row["who"],
        )
        for row in rows
    ]
    head = [_("Who"), _("Same as the vote, %"), _("Difference to one person, points"), _("Comparisons")]
    return section_of_one("others", _("Against the vote of the others"), head, lines, _("Gold plays no part."))


def _breakdowns(found: Sequence[Mapping[str, Any]]) -> Iterator[Section]:
    for number, table in enumerate(found, start=1):
        lines = [
            Line(row["value"], [counted(row["n_items"]), *(shown(figure) for figure in row["cells"])])
            for row in table["rows"]
        ]
        head = [table["stratum"], _("Items"), *(column["label"] for column in table["columns"])]
        title = _("By %(stratum)s", stratum=table["stratum"])
        note = _("In %. Exploratory; no figure below 20 items. An item with two values stands in both.")
        yield section_of_one(f"breakdown-{number}", title, head, lines, note)


def _people(rows: Sequence[Mapping[str, Any]]) -> Section:
    lines = [
        Line(
            row["label"],
            [
                shown(row["all"]),
                counted(row["all"]["n"]),
                shown(row["answered"]),
                counted(row["answered"]["n"] if row["answered"] else 0),
            ],
            who="people",
        )
        for row in rows
    ]
    head = [_("Person"), _("All, %"), _("n"), _("Answered only, %"), _("n")]
    return section_of_one("people", _("Each person"), head, lines, _("Pseudonyms; without interval, for reading."))
