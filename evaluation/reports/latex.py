"""The tables of a report as LaTeX, to be put into a paper by \\input: booktabs rules, n and intervals in the cells."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.utils import translation

# The one home of rounding, which templates use.
from annotate.templatetags import figures as rounding
from evaluation.reports.all_sections import all_sections
from evaluation.reports.sheets import (
    COEFFICIENT,
    COUNT,
    P_VALUE,
    PERCENT,
    SIGNED,
    WORDS,
    Cell,
    Line,
    Section,
    Sheet,
    figures_of,
)
from evaluation.reports.words import undefined_words

# What TeX would take for a command, and signs that fonts of TeX have under a name only.
_NAMES = {
    **{sign: f"\\{sign}" for sign in "{}$&#_%"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    "`": "\\textasciigrave{}",
    # Some languages make a command of it.
    '"': "{\\char34}",
    # After the end of a row they would be its arguments.
    **{sign: f"{{{sign}}}" for sign in "[]*"},
    "\u2212": "\\ensuremath{-}",
    "\u2013": "\\textendash{}",
    "\u2014": "\\textemdash{}",
    "\u2018": "\\textquoteleft{}",
    "\u2019": "\\textquoteright{}",
    "\u201c": "\\textquotedblleft{}",
    "\u201d": "\\textquotedblright{}",
    "\u2026": "\\textellipsis{}",
    "\u00d7": "\\ensuremath{\\times}",
    "\u2192": "\\ensuremath{\\rightarrow}",
    "\u2264": "\\ensuremath{\\leq}",
    "\u2265": "\\ensuremath{\\geq}",
    "\u00b1": "\\ensuremath{\\pm}",
    "\u00a0": "~",
}
# Two of one kind would become another sign.
_LIGATURES = re.compile("([-,'])(?=\\1)")
# Joiners shape words of Indic scripts and Persian; every other sign without a shape has no place in a table.
_JOINERS = "\u200c\u200d"
# From here on labels break into lines, and columns stand closer.
WIDE_LABEL = 36
MAX_COLUMNS_SET = 7


def escaped(text: object) -> str:
    """A text inside a cell or a caption: no sign of it is taken for a command, and none changes its neighbours.

    Letters of every script stay as they are, for engines that read UTF-8. Blanks of all kinds become one space.
    """
    return _LIGATURES.sub(r"\1{}", "".join(_NAMES.get(sign, sign) for sign in _printable(str(text))))


def _printable(text: str) -> str:
    kept = []
    for sign in text:
        category = unicodedata.category(sign)
        if sign == "\u00a0" or sign in _JOINERS or category[0] not in "CZ":
            kept.append(sign)
        elif category[0] == "Z" or sign in "\t\n\r\v\f\x85":
            kept.append(" ")
    return " ".join(part for part in "".join(kept).split(" ") if part)


def report_latex(
    *, title: str, manifest: Mapping[str, Any], figures: Sequence[Mapping[str, Any]], primary_scorer: str
) -> bytes:
    """UTF-8, in English. A caption says how many items, which seed and what was left out by which rule."""
    # Files are in English, whoever asked for them.
    with translation.override(settings.LANGUAGE_CODE):
        sections = all_sections(figures, manifest, primary_scorer=primary_scorer)
        left_out = left_out_words(figures)
        tables = [
            (sheet, _caption(section, sheet, title=title, manifest=manifest, left_out=left_out))
            for section in sections
            for sheet in section.sheets
            if sheet.lines
        ]
        packages = "booktabs and longtable" if any(sheet.is_long for sheet, _caption_ in tables) else "booktabs"
        seed = manifest["resampling"]["seed"]
        lines = [
            f"% {escaped(title)}. Frozen {manifest['frozen_at']}, seed {seed}.",
            f"% For \\input into a paper with {packages}, and an engine that reads UTF-8.",
        ]
        for sheet, caption in tables:
            lines += ["", *table_lines(sheet, caption)]
    return "\n".join([*lines, ""]).encode()


def table_lines(sheet: Sheet, caption: Sequence[str]) -> list[str]:
    words = " ".join(escaped(sentence) for sentence in caption if sentence)
    head = _row([escaped(word) for word in sheet.head])
    body = [_row([_label(line), *(_cell(cell) for cell in line.cells)]) for line in sheet.lines]
    notes = [escaped(note) for note in sheet.notes if note]
    small = "\\small\\setlength{\\tabcolsep}{3pt}" if len(sheet.head) > MAX_COLUMNS_SET else "\\small"
    titled = f"\\caption{{{words}}}\\label{{tab:{sheet.name}}}"
    foot = [f"\\par\\smallskip{{\\footnotesize {' '.join(notes)}\\par}}"] if notes else []
    if sheet.is_long:
        return [
            f"{{{small}",
            f"\\begin{{longtable}}{{{_columns(sheet)}}}",
            f"{titled}\\\\",
            *("\\toprule", head, "\\midrule", "\\endfirsthead"),
            *("\\toprule", head, "\\midrule", "\\endhead"),
            *body,
            "\\bottomrule",
            "\\end{longtable}",
            *foot,
            "}",
        ]
    return [
        "\\begin{table}[htbp]",
        f"\\centering{small}",
        titled,
        f"\\begin{{tabular}}{{{_columns(sheet)}}}",
        *("\\toprule", head, "\\midrule"),
        *body,
        "\\bottomrule",
        "\\end{tabular}",
        *foot,
        "\\end{table}",
    ]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + " \\\\"


def _label(line: Line) -> str:
    label = f"\\textbf{{{escaped(line.label)}}}" if line.is_strong else escaped(line.label)
    return f"{label} {{\\footnotesize {escaped(line.soft)}}}" if line.soft else label


_ROUNDED = {PERCENT: rounding.percent, SIGNED: rounding.signed_percent, COEFFICIENT: rounding.coefficient}


def _cell(cell: Cell) -> str:
    if cell.style == WORDS:
        return escaped(cell.text)
    if cell.style == COUNT:
        return "\\textendash{}" if cell.number is None else escaped(rounding.thousands(int(cell.number)))
    if cell.style == P_VALUE:
        if cell.number is None:
            return "\\textendash{}"
        return " ".join(escaped(part) for part in (rounding.p_value(cell.number), cell.text) if part)
    figure = cell.figure
    if figure is None:
        return "\\textendash{}"
    if figure["value"] is None:
        return escaped(f"undefined: {undefined_words(figure)}")
    value = escaped(_ROUNDED[cell.style](figure["value"]))
    if figure["lower"] is None:
        return value
    return f"{value} ({escaped(rounding.span(figure['lower'], figure['upper'], cell.style))})"


def left_out_words(figures: Sequence[Mapping[str, Any]]) -> str:
    """By each rule how many items and how many answers of people were left out; "" where none were."""
    by_rule: dict[str, dict[str, int]] = {}
    for figure in figures_of(figures, "account"):
        if figure["row"] in ("items", "people") and figure["rule"] and figure["count"]:
            counts = by_rule.setdefault(figure["rule"], {"items": 0, "people": 0})
            counts[figure["row"]] += figure["count"]
    return "; ".join(f"{_counted(**counts)} by the rule “{rule}”" for rule, counts in by_rule.items())


def _counted(items: int, people: int) -> str:
    said = [f"{n:,} {word}{'' if n == 1 else 's'}" for n, word in ((items, "item"), (people, "answer")) if n]
    return " and ".join(said)


def _caption(section: Section, sheet: Sheet, *, title: str, manifest: Mapping[str, Any], left_out: str) -> list[str]:
    """Sentences. A section with an account of its own draw tells that instead of the report's."""
    head = sheet.title if sheet.title == section.title else f"{section.title}: {sheet.title}"
    if section.name.startswith(("audit-", "judged-")):
        return [f"{head}.", section.intro]
    items = manifest["item_set"]
    return [
        f"{head}.",
        f"{title}; {items['n_items']:,} items in {items['n_roots']:,} independent groups, "
        f"seed {manifest['resampling']['seed']}.",
        f"Left out: {left_out}." if left_out else "No answer and no item was left out by a decision.",
    ]


def _columns(sheet: Sheet) -> str:
    """Of the tabular: numbers to the right, words to the left, long labels in lines."""
    is_wide = any(len(line.label) + len(line.soft) > WIDE_LABEL for line in sheet.lines)
    cells = sheet.lines[0].cells
    return ("p{0.3\\linewidth}" if is_wide else "l") + "".join("l" if cell.style == WORDS else "r" for cell in cells)
