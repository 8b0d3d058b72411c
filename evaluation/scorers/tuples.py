"""How many rows of a table are right, as a whole?"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from evaluation.scorers.answers import Table, Takes
from evaluation.scorers.cells import CellValue, cell_value, matches_among
from evaluation.scorers.pairing import MAX_PAIRS, TABLES_PAY_FROM, TooManyPairs, n_paired
from evaluation.scorers.registry import Score, scorer


@dataclass(frozen=True)
class MatchedTuples:
    """How many rows are expected, answered, and paired one to one; whether both tables have the same headers."""

    n_expected: int
    n_actual: int
    n_matched: int
    same_headers: bool

    @property
    def fraction(self) -> float:
        """Matched / expected: the paper's formula, which extra rows do not lower. 1 if no row stands on either side."""
        if not self.n_expected:
            return float(not self.n_actual)
        return self.n_matched / self.n_expected

    @property
    def similarity(self) -> float:
        """Matched / the longer of the two, and 0 under other headers: 1 means same schema, number of rows, values."""
        if not self.same_headers:
            return 0.0
        longer = max(self.n_expected, self.n_actual)
        return self.n_matched / longer if longer else 1.0


def matched_tuples(actual: Table, expected: Table) -> MatchedTuples:
    """Pair rows one to one on the expected columns, as many as can be. Raises TooManyPairs.

    Columns meet by folded header, never by position. A cell without a value meets only another one, or a column that
    the answer does not have. In the gold table's exact columns only equal values match.
    """
    headers, wanted_headers = actual.folded_columns, expected.folded_columns
    places = [headers.index(header) if header in headers else None for header in wanted_headers]
    wanted = Counter(tuple(map(cell_value, row)) for row in expected.rows)
    given = Counter(tuple(None if place is None else cell_value(row[place]) for place in places) for row in actual.rows)
    rows = list(given)
    fitting = [
        _rows_that_fit(
            [row[column] for row in wanted], [row[column] for row in rows], is_exact=header in expected.exact_columns
        )
        for column, header in enumerate(wanted_headers)
    ]
    everything = (1 << len(rows)) - 1
    matches = {}
    n_pairs = 0
    for number, row in enumerate(wanted):
        mask = everything
        for column, value in enumerate(row):
            mask &= fitting[column][value]
        n_pairs += mask.bit_count()
        if n_pairs > MAX_PAIRS:
            raise TooManyPairs(f"more than {MAX_PAIRS:,} pairs of rows")
        matches[number] = _places(mask)
    return MatchedTuples(
        n_expected=len(expected.rows),
        n_actual=len(actual.rows),
        n_matched=n_paired(list(wanted.values()), list(given.values()), matches),
        same_headers=set(headers) == set(wanted_headers),
    )


@scorer("tuple_fraction", takes=Takes.TABLE, spread_from=TABLES_PAY_FROM)
def tuple_fraction(answer: Table, gold: Collection[Table]) -> Score:
    """The share of expected rows that the answer has, the best over the gold tables."""
    return _best(answer, gold, strict=False)


@scorer("tuple_similarity", takes=Takes.TABLE, spread_from=TABLES_PAY_FROM)
def tuple_similarity(answer: Table, gold: Collection[Table]) -> Score:
    """Rows that are right over the longer of both tables, 0 under other headers; the best over the gold tables."""
    return _best(answer, gold, strict=True)


def _best(answer: Table, gold: Collection[Table], *, strict: bool) -> Score:
    try:
        found = [matched_tuples(answer, table) for table in gold]
    except TooManyPairs as problem:
        return Score(None, f"the tables are too large to pair row by row: {problem}")
    value, best = max(((one.similarity if strict else one.fraction), number) for number, one in enumerate(found))
    counts = found[best]
    note = f"{counts.n_matched} of {counts.n_expected} expected rows, {counts.n_actual} answered"
    return Score(value, note if counts.same_headers else f"{note}; the headers differ")


def _rows_that_fit(wanted: list[CellValue], given: list[CellValue], *, is_exact: bool) -> dict[CellValue, int]:
    """For each expected value of a column the rows whose value matches, as the bits of one number."""
    rows_with: dict[CellValue, int] = {}
    for place, value in enumerate(given):
        rows_with[value] = rows_with.get(value, 0) | 1 << place
    if is_exact:
        return {value: rows_with.get(value, 0) for value in wanted}
    fits = {}
    for value, matching in matches_among(wanted, rows_with.keys()).items():
        mask = 0
        for other in matching:
            mask |= rows_with[other]
        fits[value] = mask
    return fits


def _places(mask: int) -> list[int]:
    """The positions of the bits that are set."""
    places = []
    while mask:
        lowest = mask & -mask
        places.append(lowest.bit_length() - 1)
        mask ^= lowest
    return places
