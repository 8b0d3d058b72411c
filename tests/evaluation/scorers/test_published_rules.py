"""The papers' own rules, kept by name: what they give on the pairs that were measured with the public code."""

import pytest

from evaluation.scorers import SCORERS, get_scorer
from evaluation.scorers.galois import near_cell, near_text, near_text_2025, normalised_cell
from evaluation.scorers.structext import summary_rouge_l
from evaluation.scorers.temptabqa import convert
from evaluation.scorers.wikitablequestions import normalised, target_items


def score(name, answer, *gold):
    return get_scorer(name)(answer, gold).value


def table(columns, *rows):
    return {"columns": columns.split(), "rows": [list(row) for row in rows]}


# TempTabQA: (gold, prediction), with the public script's mode 1.
@pytest.mark.parametrize(
    ("gold", "prediction"),
    [
        ("1997", "1897"),
        ("May 1997", "June 1997"),
        ("12", "1"),
        ("4", "14"),
        ("gold", "g"),
        ("Hernan", "nan"),
        ("no", "None"),
        ("three", "3"),
        ("one hundred", "101"),
        ("5:30 p.m.", "17:30"),
        ("Hernan", ""),
        ("12 January 1990", "January 12"),
    ],
)
def test_temptabqa_takes_these_for_equal(gold, prediction):
    assert score("temptabqa_exact_match", prediction, gold) == 1
    assert score("temptabqa_f1", prediction, gold) == 1


@pytest.mark.parametrize(
    ("gold", "prediction"),
    [
        ("12 January", "January 12th"),
        ("2007, 2008", "2008, 2007"),
        ("3", "three times"),
        ("45 seconds", "45 minutes"),
    ],
)
def test_temptabqa_keeps_these_apart(gold, prediction):
    assert score("temptabqa_exact_match", prediction, gold) == 0


def test_temptabqa_leaves_what_it_cannot_convert():
    assert convert("45 Seconds", "45 minutes") == ("45 seconds", "45 minutes")
    # Equal all the same, once SQuAD's rule has taken $ and the comma away.
    assert convert("$7,309", "7309") == ("$7,309", "7309")
    # One of two words: 2 * 1 / (2 + 2).
    assert score("temptabqa_f1", "45 minutes", "45 seconds") == pytest.approx(0.5)


# StrucText-Eval, measured with the rouge library (response, gold).
@pytest.mark.parametrize(
    ("response", "gold", "f"),
    [
        ("True. Missing brace in line 2 and also line four", "True", None),
        ("true", "True", 0),
        ("a -> b -> c", "a->b->c", 0),
        ("3.", "3", 1),
        ("b.jpg\na.png\nd.gif\nc.jpeg", "a.png\nb.jpg\nc.jpeg\nd.gif", 1),
    ],
)
def test_structext_knows_words_between_blanks_only(response, gold, f):
    found = summary_rouge_l(gold, response)
    assert found < 0.75 if f is None else found == pytest.approx(f, abs=1e-6)
    assert score("structext_rouge_l_75", response, gold) == (found if found >= 0.75 else 0)


def test_structext_takes_json_of_other_indentation_and_not_of_other_spacing():
    gold = '{\n "id":"a",\n "subs":[]\n}'
    assert score("structext_rouge_l", gold.replace("\n ", "\n      "), gold) == pytest.approx(1, abs=1e-6)
    assert score("structext_rouge_l_75", '{"id": "a", "subs": []}', gold) == 0


def test_structext_below_the_threshold_is_worth_nothing_and_above_its_own_value():
    # Three of four words in order: P = R = 3/4, F = .75 less 5e-9: cut. Four of five: .8 / (1.6 + 1e-8) kept.
    assert score("structext_rouge_l_75", "a b c x", "a b c y") == 0
    assert score("structext_rouge_l_75", "a b c d x", "a b c d y") == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize("empty", ["", "...", "."])
def test_structext_drops_an_empty_answer_and_we_count_it(empty):
    assert score("structext_rouge_l_75", empty, "True") == 0
    dropped = get_scorer("structext_rouge_l_75_empty_left_out")(empty, ["True"])
    assert (dropped.value, dropped.note) == (None, "empty, or dots alone: the published script leaves it out")


# TempTabQA-C
def test_temptabqa_c_asks_for_gold_parts_and_forgives_others():
    assert score("temptabqa_c_ems", "in 1999, 2005 and more, 7", "1999, 2005") == 1
    assert score("temptabqa_c_rems", "1999", "1999, 2005, 2006") == 0.33
    # Case counts, and a repeated part counts each time: 2 of 3.
    assert score("temptabqa_c_rems", "Rome", "Rome, Rome, oslo") == 0.67
    assert score("temptabqa_c_ems", "199", "1999") == 0


# RelationalFactQA / Galois
@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12 March 1990", "12000000"),
        ("5 km", "5000"),
        ("3 billion", "3000000000"),
        ("1,234", "1234"),
        ("1.000,5", "1.00"),
        ("Москва", ""),
        ("São Paulo", "sao paulo"),
        ("O'Brien", "obrien"),
        ("2.5", "2.50"),
    ],
)
def test_galois_normalises_cells_so(cell, value):
    # "5 km" and "12 March" are read as thousand and million, as its code reads them.
    assert normalised_cell(cell) == value


def test_galois_accepts_a_year_within_ten_per_cent_and_no_zero():
    gold = table("y", [1950])
    assert score("galois_cell_f1", table("y", [1755]), gold) == score("galois_cell_f1", table("y", [2145]), gold) == 1
    assert score("galois_cell_f1", table("y", [1754]), gold) == 0
    assert score("galois_cell_f1", table("y", [0]), table("y", [0])) == 0
    assert score("galois_cell_f1_exact", table("y", [0]), table("y", [0])) == 1


def test_galois_reads_numbers_as_java_does_and_a_nan_is_near_to_nothing():
    assert near_cell("1e3", "1050")
    assert near_cell("10d", "10,5")
    for text in ("nan", "infinity", "9" * 400):
        assert near_cell(text, text) is (len(text) > 300)  # a text that is too long to be a number
    assert score("galois_cell_f1", table("y", ["NaN"]), table("y", ["NaN"])) == 0
    assert score("galois_cell_f1_exact", table("y", ["NaN"]), table("y", ["NaN"])) == 1


def test_the_text_rule_of_2025_rejects_what_is_equal():
    assert near_text("abcdefghij", "abcdefghiX")
    assert not near_text_2025("abcdefghij", "abcdefghij")
    assert near_text_2025("abcdefghij", "0123456789")
    gold = table("t", ["abcdefghij"])
    assert (score("galois_cell_f1", gold, gold), score("galois_cell_f1_2025", gold, gold)) == (1, 0)


def test_galois_counts_columns_of_gold_only_and_values_wherever_they_stand():
    gold, answer = table("c n", ("Oslo", 10), ("Rome", 50)), table("N c x", (50, "Oslo", 7), (10, "Rome", 8))
    assert score("galois_cell_f1", answer, gold) == 1
    assert score("galois_tuple_constraint", answer, gold) == 0


def test_galois_tuples():
    gold = table("c n", ("Oslo", 100), ("Oslo", 100), ("Rome", 50))
    answer = table("c n", ("Oslo", 100), ("Rome", 51), ("Bergen", 1), ("Bari", 2))
    # Oslo is there twice in gold and once in the result; Rome is near; extra rows cost nothing: 1 of 2.
    assert score("galois_tuple_similarity", answer, gold) == 0.5
    assert score("galois_tuple_constraint", answer, gold) == 0
    assert score("galois_tuple_cardinality", answer, gold) == 3 / 4
    # Newer: one Oslo and Rome are paired: P 2/4, R 2/3.
    assert score("galois_tuple_cell_similarity", answer, gold) == pytest.approx(2 * (1 / 2 * 2 / 3) / (1 / 2 + 2 / 3))


def test_galois_empty_tables():
    empty, full = table("c"), table("c", ["Oslo"])
    for name in (name for name in SCORERS if name.startswith("galois_") and "2025" not in name):
        assert (score(name, empty, empty), score(name, empty, full), score(name, full, empty)) == (1, 0, 0)


# QATCH
def test_qatch_compares_values_as_they_are():
    assert score("qatch_cell_recall", table("a", [1.0]), table("a", [1])) == 1
    assert score("qatch_cell_recall", table("a", ["01"]), table("a", [1])) == 0
    # Stored tables hold texts: 1 is what was meant.
    assert score("qatch_cell_recall", table("a", ["1.0"]), table("a", [1])) == 1
    # Two of three values: rounded to three decimals.
    assert score("qatch_cell_precision", table("a", [1], [2], [3]), table("a", [1], [2])) == 0.667


def test_qatch_tuples():
    gold = table("a b", (1, "x"), (2, "y"), (2, "y"))
    turned = table("b a", ("x", 1), ("y", 2))
    assert score("qatch_tuple_constraint", turned, gold) == 0.5
    assert score("qatch_tuple_cardinality", turned, gold) == 0.667
    assert score("qatch_execution_accuracy", turned, gold) == 0
    assert score("qatch_execution_accuracy", table("b a", ("y", 2), ("x", 1), ("x", 1)), gold) == 1


def test_qatch_order_is_the_rank_correlation_of_shared_rows():
    gold = table("a", [1], [2], [3])
    assert score("qatch_tuple_order", gold, gold) == 1
    assert score("qatch_tuple_order", table("a", [3], [2], [1]), gold) == 0
    # 2 1 3: rho = 1 - 6 * 2 / 24 = .5, so (.5 + 1) / 2.
    assert score("qatch_tuple_order", table("a", [2], [1], [3]), gold) == 0.75
    assert score("qatch_tuple_order", table("a", [9]), gold) == 0.5


# WikiTableQuestions
@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        (["Mnesicu"], ["Mnesiču"], 1),
        (["4220 m", "13,845 ft"], "4220 m|13,845 ft", 1),
        (["4220 m"], "4220 m|13,845 ft", 0),
        (["2.0000000001"], ["2"], 1),
        (["two"], ["2"], 0),
        (["2001-xx-xx"], ["2001"], 1),
        (["2001-5-xx"], ["2001-05-xx"], 1),
        (["“Help!” (song) [3]"], ["Help!"], 1),
        (["a", "a", "b"], ["b", "a"], 1),
        (["Rome."], ["rome"], 1),
    ],
)
def test_wikitablequestions_official_rule(answer, gold, right):
    assert score("wikitablequestions", answer, gold) == right


def test_wikitablequestions_fields_are_unescaped():
    assert target_items(r"a\pb|c\nd|e\\f") == ["a|b", "c\nd", "e\\f"]
    assert normalised("  Curly ‘quotes’ – and dashes.† ") == "curly 'quotes' - and dashes"


def test_no_published_rule_is_a_default():
    from evaluation.services.reporting import DEFAULT_SCORERS

    names = {name for names in DEFAULT_SCORERS.values() for name in names}
    assert names <= SCORERS.keys()
    assert not [name for name in names if SCORERS[name].is_published_rule]
