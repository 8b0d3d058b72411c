"""The measures of RelationalFactQA's evaluation code (Galois), with what they forgive and what they do not.

Cells reach the rules as text. A result column counts only if its name is in gold. Kept for comparison with published
figures: the defaults for tables are in cell_f1.py and tuples.py, and docs/measures.md says where these differ.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache

from annotate.normal_form import normal_form
from evaluation.scorers.answers import Cell, Table, Takes
from evaluation.scorers.pairing import MAX_PAIRS, TABLES_PAY_FROM
from evaluation.scorers.registry import Score, scorer

# A number that a unit follows makes the whole cell that number, wherever it stands: "12 March 1990" is 12000000.
_SCALES = [
    (re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s?(?:million|m)"), 10**6),
    (re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s?(?:billion|b)"), 10**9),
    (re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s?(?:thousand|k)"), 10**3),
]
_PLAIN_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_FLOAT = re.compile(r"[+-]?(?:nan|infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?[fd]?)")
# What a result row has in a column that the answer lacks; it equals no cell.
_ABSENT = "\0"

TextRule = Callable[[str, str], bool]
_Row = tuple[str, ...]


class TooManyComparisons(ValueError):
    """The rule compares every value with every other, and there are too many."""


@lru_cache(maxsize=50_000)
def normalised_cell(text: str) -> str:
    """Without commas, accents, other characters than ASCII and apostrophes; numbers and their units as one number."""
    decomposed = normal_form("NFD", text.replace(",", ""))
    plain = "".join(character for character in decomposed if character.isascii()).replace("'", "")
    folded = plain.replace("\n", "").replace("\r", "").strip().lower()
    for pattern, scale in _SCALES:
        if match := pattern.search(folded):
            return f"{float(match[1]) * scale:.0f}"
    if _PLAIN_NUMBER.fullmatch(folded) and len(folded) < 300:
        return f"{float(folded):.2f}" if "." in folded else f"{int(folded)}"
    return folded


def near_text(gold: str, result: str) -> bool:
    """Edit distance at most a tenth of the gold text's length, real-valued: exact under ten characters."""
    from rapidfuzz.distance import Levenshtein

    allowed = len(gold) // 10
    return Levenshtein.distance(gold, result, score_cutoff=allowed) <= allowed


def near_text_2025(gold: str, result: str) -> bool:
    """The rule as committed since July 2025: it rejects identical texts and accepts unrelated ones. A curiosity."""
    from rapidfuzz.distance import Levenshtein

    return math.floor(len(gold) * 0.9) <= Levenshtein.distance(gold, result) <= math.ceil(len(gold) * 1.1)


def near_cell(gold: str, result: str, text_rule: TextRule = near_text) -> bool:
    """Both numbers: within 10 % of the gold one, which a gold 0 and a NaN never are. Else by the rule for texts."""
    wanted, given = _float(gold), _float(result)
    if wanted is not None and given is not None:
        return wanted != 0 and abs((wanted - given) / wanted) <= 0.1
    return text_rule(gold, result)


@dataclass(frozen=True)
class _Result:
    """Gold and result rows as texts, on the columns of gold; cells of result columns that gold names."""

    gold: list[_Row]
    result: list[_Row]
    gold_cells: set[str]
    result_cells: set[str]


def _filtered(answer: Table, gold: Table) -> _Result:
    names = [column.strip().lower() for column in gold.columns]
    given = [column.strip().lower() for column in answer.columns]
    places = [given.index(name) if name in given else None for name in names]
    rows = [
        tuple(_ABSENT if place is None else normalised_cell(_text(row[place])) for place in places)
        for row in answer.rows
    ]
    wanted = [tuple(normalised_cell(_text(cell)) for cell in row) for row in gold.rows]
    return _Result(
        gold=wanted,
        result=rows,
        gold_cells={cell for row in wanted for cell in row},
        result_cells={cell for row in rows for cell in row if cell != _ABSENT},
    )


def _galois(name: str, version: int = 1) -> Callable[[Callable[[_Result], float]], Callable[[_Result], float]]:
    def register(measure: Callable[[_Result], float]) -> Callable[[_Result], float]:
        @scorer(name, version=version, takes=Takes.TABLE, spread_from=TABLES_PAY_FROM, is_published_rule=True)
        def best(answer: Table, gold: Collection[Table]) -> Score:
            """The best over the gold tables."""
            try:
                return Score(max(measure(_filtered(answer, table)) for table in gold))
            except TooManyComparisons as problem:
                return Score(None, str(problem))

        return measure

    return register


@_galois("galois_cell_precision", version=2)
def cell_precision(tables: _Result) -> float:
    """Distinct values of the result near one of gold / distinct values of the result."""
    return _cell_shares(tables, near_text)[0]


@_galois("galois_cell_recall", version=2)
def cell_recall(tables: _Result) -> float:
    """Distinct values of gold that one of the result is near to / distinct values of gold."""
    return _cell_shares(tables, near_text)[1]


@_galois("galois_cell_f1", version=2)
def cell_f1(tables: _Result) -> float:
    """The harmonic mean of both; 1 if both tables are empty, 0 if one is."""
    return _f1(*_cell_shares(tables, near_text))


@_galois("galois_cell_f1_2025", version=2)
def cell_f1_2025(tables: _Result) -> float:
    """The same with the text rule committed in July 2025."""
    return _f1(*_cell_shares(tables, near_text_2025))


@_galois("galois_cell_f1_exact")
def cell_f1_exact(tables: _Result) -> float:
    """The same with equal normalised values only."""
    return _f1(*_cell_shares(tables, None))


@_galois("galois_tuple_cardinality")
def tuple_cardinality(tables: _Result) -> float:
    """The smaller number of rows / the larger."""
    sizes = len(tables.gold), len(tables.result)
    return min(sizes) / max(sizes) if all(sizes) else float(not any(sizes))


@_galois("galois_tuple_constraint")
def tuple_constraint(tables: _Result) -> float:
    """The share of distinct gold rows, cells in the order of columns, that the result has as often."""
    given, wanted = Counter(tables.result), Counter(tables.gold)
    if not given or not wanted:
        return float(not given and not wanted)
    return sum(given[row] == n for row, n in wanted.items()) / len(wanted)


@_galois("galois_tuple_similarity", version=2)
def tuple_similarity(tables: _Result) -> float:
    """The older TS: the share of distinct gold rows whose first near result row occurs as often.

    One result row may serve several gold rows and extra rows cost nothing. The code takes the first near row in the
    order of a hash table; here it is the first in the order of the answer.
    """
    given, wanted = Counter(tables.result), Counter(tables.gold)
    if not given or not wanted:
        return float(not given and not wanted)
    _refuse_if_many(len(given), len(wanted))
    found = 0
    for row, n in wanted.items():
        near = next((other for other in given if _near_row(row, other)), None)
        found += near is not None and given[near] == n
    return found / len(wanted)


@_galois("galois_tuple_cell_similarity", version=2)
def tuple_cell_similarity(tables: _Result) -> float:
    """The newer TS without its language-model judge: F1 over rows paired one to one, in order.

    First rows of the same text, then rows whose numbers are within 10 % and whose other cells, joined, are near.
    """
    gold, result = tables.gold, tables.result
    if not gold or not result:
        return float(not gold and not result)
    _refuse_if_many(len(gold), len(result))
    left = Counter(result)
    unmatched = []
    for row in gold:
        if left[row]:
            left[row] -= 1
        else:
            unmatched.append(row)
    rest = list(left.elements())
    n_matched = len(gold) - len(unmatched)
    for row in unmatched:
        place = next((place for place, other in enumerate(rest) if _near_tuple(row, other)), None)
        if place is not None:
            del rest[place]
            n_matched += 1
    return _f1(n_matched / len(result), n_matched / len(gold))


def _cell_shares(tables: _Result, text_rule: TextRule | None) -> tuple[float, float]:
    """Precision and recall of distinct values; text_rule None: equal ones only."""
    gold, result = tables.gold_cells, tables.result_cells
    if not gold or not result:
        both_empty = float(not gold and not result)
        return both_empty, both_empty
    if text_rule is None:
        shared = len(gold & result)
        return shared / len(result), shared / len(gold)
    _refuse_if_many(len(gold), len(result))
    near_gold, near_result = set(), set()
    for wanted in gold:
        for given in result:
            if near_cell(wanted, given, text_rule):
                near_gold.add(wanted)
                near_result.add(given)
    return len(near_result) / len(result), len(near_gold) / len(gold)


def _near_row(gold: _Row, result: _Row) -> bool:
    return all(near_cell(wanted, given) for wanted, given in zip(gold, result, strict=True))


def _near_tuple(gold: _Row, result: _Row) -> bool:
    numbers = [(wanted, given) for wanted, given in zip(gold, result, strict=True) if _float(wanted) is not None]
    if not all(_float(given) is not None and near_cell(wanted, given) for wanted, given in numbers):
        return False
    others = [(w, g) for w, g in zip(gold, result, strict=True) if _float(w) is None]
    return near_text(" ".join(w for w, _ in others), " ".join(g for _, g in others))


def _refuse_if_many(n: int, m: int) -> None:
    if n * m > MAX_PAIRS:
        raise TooManyComparisons(f"not scored: {n:,} x {m:,} values or rows to compare")


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@lru_cache(maxsize=50_000)
def _float(text: str) -> float | None:
    """What Java reads as a floating number, NaN and infinity too, a comma for a dot; None for anything else."""
    text = text.replace(",", ".").strip().lower()
    if len(text) > 300 or not _FLOAT.fullmatch(text):
        return None
    return float(text if text.endswith(("nan", "infinity")) else text.rstrip("fd"))


def _text(cell: Cell) -> str:
    """A cell as JSON would print it; nothing is an empty text."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell if isinstance(cell, str) else repr(cell)
