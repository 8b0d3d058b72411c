"""How many values of a table are right, wherever they stand?"""

from collections import Counter
from collections.abc import Callable, Collection

from evaluation.scorers.answers import Table, Takes
from evaluation.scorers.cells import CellValue, cell_value, matches_among
from evaluation.scorers.pairing import TABLES_PAY_FROM, TooManyPairs, n_paired
from evaluation.scorers.registry import Score, scorer


@scorer("cell_f1", takes=Takes.TABLE, spread_from=TABLES_PAY_FROM)
def cell_f1(answer: Table, gold: Collection[Table]) -> Score:
    """F1 over distinct values, the best over the gold tables: each may serve several of the other side."""
    return _best(answer, gold, cell_f1_set)


@scorer("cell_f1_multiset", takes=Takes.TABLE, spread_from=TABLES_PAY_FROM)
def cell_f1_multiset(answer: Table, gold: Collection[Table]) -> Score:
    """F1 over all cells, paired one to one at most: a value that is there twice must be answered twice."""
    return _best(answer, gold, cell_f1_one_to_one)


def cell_f1_set(actual: Table, expected: Table) -> float:
    """2 P R / (P + R) over distinct values; 1 if neither side has a value, 0 if one has none. Raises TooManyPairs."""
    given, wanted = set(_values(actual)), set(_values(expected))
    if not given or not wanted:
        return float(not given and not wanted)
    matches = matches_among(wanted, given)
    served = {value for values in matches.values() for value in values}
    precision, recall = len(served) / len(given), sum(map(bool, matches.values())) / len(wanted)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def cell_f1_one_to_one(actual: Table, expected: Table) -> float:
    """2 * paired / (cells of both); 1 if neither side has a value, 0 if one has none. Raises TooManyPairs."""
    given, wanted = Counter(_values(actual)), Counter(_values(expected))
    if not given or not wanted:
        return float(not given and not wanted)
    place = {value: number for number, value in enumerate(given)}
    found = matches_among(wanted, given)
    matches = {number: [place[value] for value in found[wanted_]] for number, wanted_ in enumerate(wanted)}
    paired = n_paired(list(wanted.values()), list(given.values()), matches)
    return 2 * paired / (given.total() + wanted.total())


def _best(answer: Table, gold: Collection[Table], measure: Callable[[Table, Table], float]) -> Score:
    try:
        return Score(max(measure(answer, table) for table in gold))
    except TooManyPairs as problem:
        return Score(None, f"the tables are too large to compare cell by cell: {problem}")


def _values(table: Table) -> list[CellValue]:
    """The values of all columns together; cells without one are no cells."""
    values = (cell_value(cell) for row in table.rows for cell in row)
    return [value for value in values if value is not None]
