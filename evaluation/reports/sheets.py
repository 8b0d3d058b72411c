"""The tables of a report as sheets: one shape that the page, Markdown and LaTeX write alike.

A sheet has a head, rows and notes; a cell holds a figure with the style it is printed in, a number or words. Rounding
is the writers'. What only says how something was computed stays in figures.csv.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.wording import _
from evaluation.reports import words

Figures = Sequence[Mapping[str, Any]]
PERCENT, SIGNED, COEFFICIENT, COUNT, P_VALUE, WORDS = "percent", "signed_percent", "coefficient", "count", "p", "words"
# A sheet of more rows than these is no table that a page of a paper holds.
MAX_ROWS_SET = 40


@dataclass(frozen=True)
class Cell:
    """style: of figures percent, signed_percent or coefficient; else count or p (`number`), or words (`text`)."""

    style: str
    figure: Mapping[str, Any] | None = None
    number: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Line:
    """who: people, model or nobody. soft: circumstances behind the label. is_own: these are texts of the project, which
    no page says in another language even where they look like sentences of ours."""

    label: str
    cells: Sequence[Cell]
    soft: str = ""
    who: str = ""
    is_strong: bool = False
    is_own: bool = False


@dataclass(frozen=True)
class Sheet:
    """name: a word for links and labels. head: of each column, the first is of the labels."""

    name: str
    title: str
    head: Sequence[str]
    lines: Sequence[Line]
    notes: Sequence[str] = field(default_factory=list)

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Each word of the head with the style of what stands below it; that of the labels is words."""
        styles = [WORDS, *(cell.style for cell in self.lines[0].cells)]
        return list(zip(self.head, styles, strict=True))

    @property
    def is_long(self) -> bool:
        return len(self.lines) > MAX_ROWS_SET


@dataclass(frozen=True)
class Section:
    """Sheets under one heading. in_short: what stands beside it while it is folded."""

    name: str
    title: str
    sheets: Sequence[Sheet]
    in_short: str = ""
    intro: str = ""


def figures_of(figures: Figures, section: str, **where: Any) -> list[Mapping[str, Any]]:
    # The section first: figures that were frozen before a column was have it not.
    return [
        figure
        for figure in figures
        if figure["section"] == section and all(figure[name] == value for name, value in where.items())
    ]


def by_column(figures: Figures, name: str) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for figure in figures:
        found.setdefault(figure[name], []).append(figure)
    return found


def grouped(figures: Figures, names: Sequence[str]) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for figure in figures:
        found.setdefault(tuple(figure[name] for name in names), []).append(figure)
    return found


def shown(figure: Mapping[str, Any] | None, style: str = PERCENT) -> Cell:
    return Cell(style, figure=figure)


def counted(number: int | None) -> Cell:
    return Cell(COUNT, number=number)


_ADJUSTMENTS = {"holm": "Holm", "benjamini_hochberg": "BH"}


def adjusted(figure: Mapping[str, Any]) -> list[Cell]:
    """The adjusted p with the name of the adjustment and the size of its family."""
    adjusted = figure["p_adjusted"]
    if adjusted is None:
        return [Cell(P_VALUE)]
    name = _ADJUSTMENTS.get(figure["adjustment"], figure["adjustment"])
    return [Cell(P_VALUE, number=adjusted, text=_("%(name)s, of %(n)s", name=name, n=figure["n_family"]))]


def methods(figures: Figures) -> str:
    """How the intervals were made: every method that occurs, with level, resamples and seed."""
    found = dict.fromkeys(
        (figure["method"], figure["level"], figure["n_resamples"], figure["seed"])
        for figure in figures
        if figure["lower"] is not None
    )
    return "; ".join(_method(*one) for one in found)


def _method(method: str, level: float, n_resamples: int | None, seed: int | None) -> str:
    if n_resamples is None:
        method = method.replace("wilson", "Wilson")
        return _(
            "%(level)s %% intervals: %(method)s",
            level=f"{level * 100:g}",
            method=words.OF_STATISTICS.get(method, method),
        )
    return _(
        "%(level)s %% intervals: %(method)s, %(n)s resamples, seed %(seed)s",
        level=f"{level * 100:g}",
        method=words.OF_STATISTICS.get(method, method),
        n=f"{n_resamples:,}",
        seed=seed,
    )


def methods_of_lines(lines: Iterable[Line]) -> str:
    return methods([cell.figure for line in lines for cell in line.cells if cell.figure is not None])


def section_of_one(name: str, title: str, head: Sequence[str], lines: Sequence[Line], *notes: str) -> Section:
    return Section(name, title, [Sheet(name, title, head, lines, [note for note in notes if note])] if lines else [])


def coefficients_sheet(name: str, title: str, found: Figures, of: str) -> Sheet:
    return Sheet(
        name=name,
        title=title,
        head=[_("Coefficient"), _("Value"), of],
        lines=[
            Line(
                words.measure_words(figure["measure"]),
                [
                    shown(figure, COEFFICIENT if figure["measure"] in words.COEFFICIENT_MEASURES else PERCENT),
                    counted(figure["n"]),
                ],
            )
            for figure in found
        ],
        notes=[methods(found)],
    )
