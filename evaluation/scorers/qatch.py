"""QATCH's measures of a result table. Values are compared as they are, without any folding: 1, 1.0 and true are equal.

Table answers are stored as texts, so a text that JSON would read as a number is that number here; 1 and "1", which
QATCH tells apart, are one value.

Source: Papicchio et al. 2023, QATCH; its code rounds to three decimals. Valid efficiency is left out: it needs the
running times of two queries, which no answer has.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from evaluation.scorers.answers import Cell, Table, Takes
from evaluation.scorers.registry import Score, scorer

_Row = tuple[Cell, ...]
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?")


def _qatch(name: str) -> Callable[[Callable[[Table, Table], float]], object]:
    def register(measure: Callable[[Table, Table], float]) -> Callable[[Table, Table], float]:
        def best(answer: Table, gold: Collection[Table]) -> Score:
            return Score(max(round(measure(answer, table), 3) for table in gold))

        scorer(name, takes=Takes.TABLE, is_published_rule=True)(best)
        return measure

    return register


@_qatch("qatch_cell_precision")
def cell_precision(actual: Table, expected: Table) -> float:
    """Distinct values of the answer that are in gold / distinct values of the answer."""
    return _share(_values(actual), _values(expected))


@_qatch("qatch_cell_recall")
def cell_recall(actual: Table, expected: Table) -> float:
    """Distinct values of gold that are in the answer / distinct values of gold."""
    return _share(_values(expected), _values(actual))


@_qatch("qatch_tuple_cardinality")
def tuple_cardinality(actual: Table, expected: Table) -> float:
    """The smaller number of rows / the larger."""
    if not actual.rows or not expected.rows:
        return float(not actual.rows and not expected.rows)
    sizes = len(actual.rows), len(expected.rows)
    return min(sizes) / max(sizes)


@_qatch("qatch_tuple_constraint")
def tuple_constraint(actual: Table, expected: Table) -> float:
    """The share of distinct gold rows that the answer has as often; the order of columns is free."""
    given, wanted = Counter(map(_sorted_row, actual.rows)), Counter(map(_sorted_row, expected.rows))
    if not given or not wanted:
        return float(not given and not wanted)
    return sum(given[row] == n for row, n in wanted.items()) / len(wanted)


@_qatch("qatch_execution_accuracy")
def execution_accuracy(actual: Table, expected: Table) -> float:
    """1 if both have as many rows and the same set of rows, whatever the order of columns."""
    same_size = len(actual.rows) == len(expected.rows)
    return float(same_size and set(map(_sorted_row, actual.rows)) == set(map(_sorted_row, expected.rows)))


@_qatch("qatch_tuple_order")
def tuple_order(actual: Table, expected: Table) -> float:
    """Spearman's rho of the rows that both have, without repeats, as (rho + 1) / 2; .5 where none is shared.

    Only for questions that ask for an order.
    """
    given, wanted = (list(dict.fromkeys(map(_sorted_row, table.rows))) for table in (actual, expected))
    if not given and not wanted:
        return 1.0
    shared = set(given) & set(wanted)
    rank = {row: place for place, row in enumerate(row for row in wanted if row in shared)}
    order = [rank[row] for row in given if row in shared]
    n = len(order)
    if n == 0:
        return 0.5
    if n == 1:
        return 1.0
    distance = sum((place - other) ** 2 for place, other in enumerate(order))
    rho = 1 - 6 * distance / (n * (n * n - 1))
    return (rho + 1) / 2


def _values(table: Table) -> set[Cell]:
    return {_typed(cell) for row in table.rows for cell in row}


def _typed(cell: Cell) -> Cell:
    if isinstance(cell, str) and len(cell) < 100 and _JSON_NUMBER.fullmatch(cell):
        number = float(cell)
        return int(number) if number.is_integer() and "e" not in cell.lower() and "." not in cell else number
    return cell


def _share(of: set[Cell], among: set[Cell]) -> float:
    if not of or not among:
        return float(not of and not among)
    return len(of & among) / len(of)


def _sorted_row(row: Sequence[Cell]) -> _Row:
    """Nothing before numbers before texts."""
    return tuple(
        sorted(
            map(_typed, row),
            key=lambda cell: (cell is not None, isinstance(cell, str), cell if cell is not None else 0),
        )
    )
