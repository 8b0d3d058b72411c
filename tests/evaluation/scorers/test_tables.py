"""Scores of tables: cells, tuples, and what is no table."""

import itertools
import random
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.scorers import SCORERS, Takes, get_scorer
from evaluation.scorers.answers import MAX_CELLS, AnswerUnreadable, read_table
from evaluation.scorers.cells import cell_value, cells_match, matches_among
from evaluation.scorers.pairing import n_paired
from evaluation.scorers.tuples import matched_tuples

TABLE_SCORERS = [name for name, found in SCORERS.items() if found.takes is Takes.TABLE]


def table(columns, *rows, **more):
    return {"columns": columns.split(), "rows": [list(row) for row in rows], **more}


def score(name, actual, expected):
    return get_scorer(name)(actual, [expected]).value


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1K", 1000),
        ("1.000,5", "1000.5"),
        ("1,000.5", "1000.5"),
        ("2.5M", 2_500_000),
        ("3 billion", 3 * 10**9),
        ("1,500", 1500),
        ("1,5", "1.5"),
        ("0,500", "0.5"),
        ("1.500", "1.5"),
        ("1,234,567", 1_234_567),
        ("12,34,567", 1_234_567),
        ("−7", -7),
        ("+7.", 7),
        (1e-7, "0.0000001"),
        (0.1, "0.1"),
        ("２０１２", 2012),
    ],
)
def test_numbers_are_read_in_their_formats(cell, value):
    assert cell_value(cell) == Decimal(value)


@pytest.mark.parametrize(
    "cell", ["12.03.1990", "1,2,3", "1.2,3,4", "12 km", "1..2", ",", ".", "-", "1e5", "5 kg", "1" * 61]
)
def test_what_is_no_number_is_a_text(cell):
    assert cell_value(cell) == cell


@pytest.mark.parametrize("cell", [None, "", "  ", "null", "N/A", "NaN", float("nan")])
def test_cells_without_a_value(cell):
    assert (
        cell_value(cell) is None if not isinstance(cell, float) else read_table(table("a", [cell])).rows == ((None,),)
    )


def test_a_truth_value_is_a_text_and_no_number():
    assert cell_value(True) == "true"
    assert not cells_match(cell_value(1), cell_value(True))


@given(
    st.lists(st.one_of(st.none(), st.text("ab c", max_size=14), st.decimals(-50, 50, places=1)), max_size=8),
    st.lists(st.one_of(st.none(), st.text("ab c", max_size=14), st.decimals(-50, 50, places=1)), max_size=8),
)
def test_the_quick_search_finds_what_trying_every_pair_finds(expected, actual):
    found = matches_among(expected, actual)
    for wanted in expected:
        assert set(found[wanted]) == {value for value in actual if cells_match(wanted, value)}


@settings(deadline=None)  # the first flow imports SciPy
@given(st.lists(st.integers(1, 3), max_size=4), st.lists(st.integers(1, 3), max_size=4), st.data())
def test_pairing_is_as_large_as_the_best_of_all_assignments(n_expected, n_actual, data):
    matches = {
        one: data.draw(st.lists(st.sampled_from(range(len(n_actual))), unique=True)) if n_actual else []
        for one in range(len(n_expected))
    }
    wanted = [one for one, n in enumerate(n_expected) for _ in range(n)]
    given_ = [other for other, n in enumerate(n_actual) for _ in range(n)]
    best = _largest(wanted, given_, matches)
    assert n_paired(n_expected, n_actual, matches) == best


def _largest(wanted, given_, matches):
    """By augmenting paths, one thing at a time."""
    partner = {}

    def augment(one, seen):
        for place, other in enumerate(given_):
            if other in matches[wanted[one]] and place not in seen:
                seen.add(place)
                if place not in partner or augment(partner[place], seen):
                    partner[place] = one
                    return True
        return False

    return sum(augment(one, set()) for one in range(len(wanted)))


def test_rows_and_columns_may_come_in_any_order():
    gold = table("name born", ("Ada", 1815), ("Alan", 1912), ("Grace", 1906))
    for rows in itertools.permutations([(1815, "Ada"), (1912, "Alan"), (1906, "Grace")]):
        for name in ("cell_f1", "cell_f1_multiset", "tuple_fraction", "tuple_similarity"):
            assert score(name, table("BORN Name", *rows), gold) == 1


def test_the_note_of_a_tuple_score_counts_rows():
    scored = get_scorer("tuple_fraction")(table("c d", ("Oslo", 1)), [table("c", ("Oslo",), ("Rome",))])
    assert scored.value == pytest.approx(1 / 2)
    assert scored.note == "1 of 2 expected rows, 1 answered; the headers differ"


def test_exact_columns_of_the_gold_table_know_no_tolerance():
    gold = table("city year", ("Oslo", 2012), exact_columns=["Year"])
    assert score("tuple_fraction", table("city year", ("Oslo", 1912)), gold) == 0
    assert score("tuple_fraction", table("city year", ("Oslo", "2,012")), gold) == 1
    assert score("tuple_fraction", table("city year", ("Oslo", 1912)), table("city year", ("Oslo", 2012))) == 1


def test_the_best_gold_table_counts():
    gold = [table("c", ("Oslo",)), table("c", ("Rome",), ("Bergen",))]
    assert get_scorer("tuple_similarity")(table("c", ("Bergen",)), gold).value == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "no table with columns and rows"),
        ("", "a text and not a table"),
        ("no JSON", "a text and not a table"),
        ("[" * 100_000, "a text and not a table"),
        ([], "no table with columns and rows"),
        ({"columns": ["a"]}, "no table with columns and rows"),
        ({"columns": "ab", "rows": []}, "columns are no list"),
        ({"columns": [1], "rows": []}, "columns are no list"),
        ({"columns": ["a"], "rows": "x"}, "rows are no list"),
        ({"columns": ["a", "b"], "rows": [[1, 2], [1]]}, "row 2 has 1 cells for 2 columns"),
        ({"columns": ["a"], "rows": [["x"], "y"]}, "row 2 is no list"),
        ({"columns": ["a"], "rows": [[{"b": 1}]]}, "row 1 holds a structure"),
        ({"columns": ["a"], "rows": [[float("inf")]]}, "row 1 holds an infinite number"),
        ({"columns": ["Birth year", "birth_year"], "rows": []}, "two columns are called 'birthyear'"),
        ({"columns": ["a"], "rows": [], "exact_columns": ["b"]}, "exact column 'b' is none of its columns"),
        ({"columns": ["a"], "rows": [[1]] * (MAX_CELLS + 1)}, "more than 200,000 cells"),
    ],
)
def test_what_is_no_table_is_said_and_scored_by_nobody(value, said):
    with pytest.raises(AnswerUnreadable, match=said):
        read_table(value)
    for name in TABLE_SCORERS:
        scored = get_scorer(name)(value, [table("a", [1])])
        assert scored.value is None
        assert said in scored.note


def test_two_large_tables_are_scored_in_time():
    # The largest question of RelationalFactQA: 904 rows of 9 columns.
    rng = random.Random(1)
    names = ["".join(rng.choices("abcdefgh ", k=25)) for _ in range(300)]
    rows = [[rng.choice(names) if column % 2 else rng.randint(1, 500) for column in range(9)] for _ in range(904)]
    gold = table("a b c d e f g h i", *rows)
    rng.shuffle(rows)
    for name in ("cell_f1", "cell_f1_multiset", "tuple_fraction", "tuple_similarity"):
        assert score(name, table("a b c d e f g h i", *rows), gold) == 1


@pytest.mark.parametrize("name", TABLE_SCORERS)
def test_hostile_tables_are_scored_or_refused(name):
    # Every cell is near every other, so that each pair is a match.
    rows = [[1_000_000 + number] for number in range(4000)]
    found = get_scorer(name)(table("a", *rows), [table("a", *rows[::-1])])
    assert found.value is not None or "not scored" in found.note or "too large" in found.note
    texts = [["x" * 50_000 + str(number)] for number in range(3)]
    assert get_scorer(name)(table("a", *texts), [table("a", *texts)]).value is not None


@given(st.permutations([("Oslo", 10), ("Rome", 50), ("Rome", 50), ("Atlantis", 900)]))
def test_matched_tuples_do_not_depend_on_the_order_of_rows(rows):
    gold = read_table(table("c n", ("Rome", 52), ("Oslo", 10), ("Rome", 50)))
    assert matched_tuples(read_table(table("c n", *rows)), gold).n_matched == 3
