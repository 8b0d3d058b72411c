"""Which coefficients a report has, where agreement lies, and Dawid and Skene's model beside the vote. No database."""

import numpy as np
import pytest

from evaluation.reports.agreement import MAX_PEOPLE_IN_PAIRS, agreement_part_figures
from evaluation.reports.comparison import Comparison, Side
from evaluation.reports.confusion import confusion_figures
from evaluation.reports.dawid_skene import dawid_skene_figures, estimate_classes, frozen_classes
from evaluation.reports.figures import Figure, accuracy_figures, agreement_figures, all_figures
from evaluation.reports.tables import agreement_part_tables, main_table
from evaluation.reports.weighted_vote import weighted_vote_figures
from evaluation.stats import Bootstrap, Ratings, cohen_kappa, cohen_kappa_quadratic, krippendorff_alpha_ordinal

BOOTSTRAP = Bootstrap(seed=1, n_resamples=200)
NONE = -1


SCALE = ("low", "middle", "high")


def compared(labels, *, gold=None, classes=SCALE, keys=SCALE, level="nominal", values=None, strata=None, later=None):
    """People's labels (items x people) against gold, which is label 0 unless given."""
    labels = np.array(labels)
    gold = np.zeros(labels.shape[0], dtype=int) if gold is None else np.array(gold)

    def side(of):
        of = np.array(of)
        right = np.where(of == NONE, np.nan, (of == gold[:, np.newaxis]).astype(float))
        names = [f"P-{n}" for n in range(of.shape[1])]
        return Side(names, of, of != NONE, {"label_accuracy": right}, {"answered": int((of != NONE).sum())})

    return Comparison(
        roots=np.arange(gold.size),
        has_gold=np.ones(gold.size, dtype=bool),
        gold_classes=gold if classes else None,
        classes=list(classes),
        keys=list(keys),
        strata=strata or [[] for _ in gold],
        people=side(labels),
        runs=[],
        level=level,
        values=values,
        later=None if later is None else side(later),
    )


def measures(comparison):
    return [figure.measure for figure in agreement_figures(comparison, bootstrap=BOOTSTRAP)]


def parts(comparison, section):
    found = agreement_part_figures(comparison, bootstrap=BOOTSTRAP)
    return {(figure.row, figure.measure): figure for figure in found if figure.section == section}


NOMINAL = [
    "percent_agreement",
    "percent_agreement_pooled",
    "majority_agreement",
    "fleiss_kappa",
    "gwet_ac1",
    "krippendorff_alpha_nominal",
]
THREE = [[0, 0, 1], [1, 1, 2], [2, 2, 2]]


def test_the_field_decides_which_coefficients_there_are():
    assert measures(compared(THREE)) == [*NOMINAL, "light_kappa"]
    ordered = ["krippendorff_alpha_ordinal", "gwet_ac2_ordinal", "light_kappa"]
    assert measures(compared(THREE, level="ordinal")) == [*NOMINAL, *ordered]
    scale = ["krippendorff_alpha_interval", "krippendorff_alpha_ordinal", "gwet_ac2_quadratic", "light_kappa"]
    assert measures(compared(THREE, level="interval", values=[1.0, 2.0, 3.0])) == [*NOMINAL, *scale]


def test_of_two_people_there_are_cohens_and_scotts():
    two = [row[:2] for row in THREE]
    assert measures(compared(two)) == [*NOMINAL, "cohen_kappa", "scott_pi"]
    assert {"cohen_kappa_linear", "cohen_kappa_quadratic"} <= set(measures(compared(two, level="ordinal")))


def test_two_people_are_those_who_answered():
    rows = [[0, NONE, 0], [1, NONE, 0], [1, NONE, 1]]
    figures = {figure.measure: figure for figure in agreement_figures(compared(rows), bootstrap=BOOTSTRAP)}
    assert figures["cohen_kappa"].value == cohen_kappa([0, 1, 1], [0, 0, 1]).value
    assert (figures["cohen_kappa"].n_people, figures["cohen_kappa"].n_pairs) == (2, 3)


def test_of_numbers_that_anybody_may_write_there_are_alphas_by_their_distance():
    numbers = compared(THREE, classes=(), level="interval", values=[1.5, 2.0, 40.0])
    nominal = [name for name in NOMINAL if name != "gwet_ac1"]
    assert measures(numbers) == [*nominal, "krippendorff_alpha_interval"]
    amounts = compared(THREE, classes=(), level="ratio", values=[1.5, 2.0, 40.0])
    assert measures(amounts) == [*nominal, "krippendorff_alpha_interval", "krippendorff_alpha_ratio"]


def test_only_what_is_asked_for_is_computed():
    found = agreement_figures(compared(THREE), bootstrap=BOOTSTRAP, measures=("majority_agreement",))
    assert [figure.measure for figure in found] == ["majority_agreement"]


def test_every_label_stands_against_all_others():
    found = parts(compared(THREE), "agreement_label")
    assert {row for row, _ in found} == {"label_low", "label_middle", "label_high"}
    # low twice, in a pair once: the other answer of such a pair is low too in 2 * 1/2 of 2.
    assert found["label_low", "specific_agreement"].value == pytest.approx(1 / 2)
    assert all(figure.is_exploratory for figure in found.values())


def test_every_person_stands_against_the_others_and_every_pair_by_itself():
    people, pairs = parts(compared(THREE), "agreement_person"), parts(compared(THREE), "agreement_pair")
    # P-0 agrees with one of two, one of two, two of two.
    assert people["person_P-0", "percent_agreement"].value == pytest.approx(2 / 3)
    assert pairs["pair_P-0_P-1", "percent_agreement"].value == 1
    assert pairs["pair_P-1_P-2", "percent_agreement"].value == pytest.approx(1 / 3)
    assert len(pairs) == 3 * 2


def test_many_people_have_no_table_of_pairs():
    crowd = np.random.default_rng(1).integers(0, 3, (6, MAX_PEOPLE_IN_PAIRS + 1))
    assert parts(compared(crowd), "agreement_pair") == {}
    assert len(parts(compared(crowd), "agreement_person")) == 2 * (MAX_PEOPLE_IN_PAIRS + 1)


def test_a_stratum_of_few_items_has_no_number():
    rows = [[0, 0], [0, 1]] * 12
    strata = [[["domain", "science"]]] * 22 + [[]] * 2
    figures = list(agreement_part_figures(compared(rows, strata=strata), bootstrap=BOOTSTRAP))
    of_strata = [figure for figure in figures if figure.section == "agreement_stratum"]
    found = {figure.stratum_value: figure for figure in of_strata if figure.measure == "percent_agreement"}
    assert (found["science"].value, found["science"].n) == (0.5, 22)
    assert (found["(none)"].value, found["(none)"].undefined, found["(none)"].lower) == (None, "too_few", None)


def test_free_text_has_no_labels_and_no_kappas():
    text = compared(THREE, classes=(), keys=("Lake Como", "two", "three"))
    assert parts(text, "agreement_label") == {}
    assert {measure for _, measure in parts(text, "agreement_person")} == {"percent_agreement"}


def test_the_tables_hold_every_part_once():
    figures = [figure.to_json() for figure in agreement_part_figures(compared(THREE), bootstrap=BOOTSTRAP)]
    tables = {table["section"]: table for table in agreement_part_tables(figures)}
    assert [len(table["rows"]) for table in tables.values()] == [3, 3, 3]
    assert tables["agreement_label"]["measures"][0] == "Agreement given the label"
    assert [cell["is_coefficient"] for cell in tables["agreement_label"]["rows"][0]["cells"]] == [False, True, True]


def test_the_vote_after_escalation_stands_beside_that_of_round_one():
    # Item 0 is decided in round one; item 1 is a tie there, and right with the later vote.
    rows, later = [[0, 0, NONE], [0, 1, NONE]], [[NONE, NONE, 1], [NONE, NONE, 0]]
    figures = accuracy_figures(compared(rows, later=later), scorer="label_accuracy", bootstrap=BOOTSTRAP)
    values = {figure.row: figure.value for figure in figures if figure.denominator == "all"}
    assert (values["people_vote"], values["people_vote_escalated"]) == (0.5, 1.0)
    labels = {figure.row: figure.label for figure in figures}
    assert labels["people_vote_escalated"] == "People, after escalation: vote of 2 to 3"


def test_without_later_answers_there_is_one_vote():
    figures = accuracy_figures(compared(THREE), scorer="label_accuracy", bootstrap=BOOTSTRAP)
    assert "people_vote_escalated" not in {figure.row for figure in figures}


def a_crowd():
    """Two good people and three who guess, on 60 items."""
    rng = np.random.default_rng(4)
    gold = rng.integers(0, 3, 60)
    good = np.where(rng.random((60, 2)) < 0.95, gold[:, np.newaxis], rng.integers(0, 3, (60, 2)))
    return compared(np.hstack([good, rng.integers(0, 3, (60, 3))]), gold=gold)


def test_the_model_stands_beside_the_vote_and_says_how_it_was_found():
    comparison = a_crowd()
    found = estimate_classes(comparison, seed=1)
    figures = dawid_skene_figures(comparison, found, scorers=["label_accuracy"], bootstrap=BOOTSTRAP)
    votes = accuracy_figures(comparison, scorer="label_accuracy", bootstrap=BOOTSTRAP)
    model = next(figure for figure in figures if figure.section == "accuracy" and figure.denominator == "all")
    vote = next(figure for figure in votes if figure.row == "people_vote" and figure.denominator == "all")
    assert model.value > vote.value
    assert "of 10 starts" in model.note
    assert "takes the labels as estimated" in model.note
    people = [figure for figure in figures if figure.measure == "dawid_skene_accuracy"]
    assert [figure.value > 0.8 for figure in people] == [True, True, False, False, False]
    named = {"scorers": ["label_accuracy"], "primary_scorer": "label_accuracy"}
    rows = main_table([figure.to_json() for figure in [*votes, *figures]], **named)
    assert [row["row"] for row in rows["rows"]] == ["people_mean", "people_vote", "people_dawid_skene"]


def test_what_is_frozen_names_keys_and_tells_the_undecided():
    comparison = compared([[0, 0], [NONE, NONE], [0, 1], [1, 0]])
    frozen = frozen_classes(comparison, estimate_classes(comparison, seed=1))
    assert frozen["keys"][:2] == ["low", None]
    assert frozen["probabilities"][1] is None


def test_without_a_pair_of_answers_nothing_is_estimated():
    assert estimate_classes(compared([[0, NONE], [NONE, 1]]), seed=1) is None
    assert estimate_classes(compared(THREE, classes=(), values=[1.0, 2.0, 3.0]), seed=1) is None


def test_an_ordered_field_has_the_alpha_of_its_order():
    figures = {f.measure: f for f in agreement_figures(compared(THREE, level="ordinal"), bootstrap=BOOTSTRAP)}
    assert figures["krippendorff_alpha_ordinal"].value == krippendorff_alpha_ordinal(Ratings.from_labels(THREE)).value


def test_the_best_person_is_told_beside_the_mean_and_not_as_chance_would_have_it():
    figures = all_figures(
        compared(np.where(np.arange(80)[:, np.newaxis] % 4 == 0, [[1, 0]], [[0, 1]])),
        scorers=["label_accuracy"],
        primary_scorer="label_accuracy",
        primary_run=None,
        bootstrap=BOOTSTRAP,
    )
    # P-0 is right on three of four items, P-1 on the others.
    best = next(figure for figure in figures if figure.section == "best_person")
    assert (best.value, best.n_people, best.n_items) == (0.75, 1, 80)
    assert best.lower < 0.75 < best.upper
    assert best.note == "1 chosen in five folds"


def test_whoever_lacks_a_measure_has_a_gap_in_its_column():
    def person(name, measure, value):
        return Figure("agreement_person", f"person_{name}", "people", name, measure, value=value).to_json()

    (table,) = agreement_part_tables(
        [
            *(person("A", measure, 0.5) for measure in ("percent_agreement", "cohen_kappa", "dawid_skene_accuracy")),
            person("B", "dawid_skene_accuracy", 0.25),
        ]
    )
    assert [[cell["figure"] and cell["figure"]["value"] for cell in row["cells"]] for row in table["rows"]] == [
        [0.5, 0.5, 0.5],
        [None, None, 0.25],
    ]


def test_it_is_told_which_labels_meet_and_what_each_person_takes_for_which():
    # Beside each of the two "low" of the first item stand a low and a middle; its middle meets two low.
    comparison = compared([[0, 0, 1], [1, 1, 1], [2, 2, 2]])
    found = list(confusion_figures(comparison, estimate_classes(comparison, seed=1)))
    met = {(f.label, f.stratum_value): (f.value, f.n) for f in found if f.section == "confusion"}
    assert met["low", "low"] == met["low", "middle"] == (pytest.approx(1 / 2), 2)
    # Of four middle, three stand among themselves and one meets low.
    assert met["middle", "low"] == (pytest.approx(1 / 4), 4)
    assert met["high", "high"] == (1, 3)
    own = {(f.label, f.stratum, f.stratum_value): f.value for f in found if f.section == "person_confusion"}
    assert own["P-2", "low", "middle"] == pytest.approx(1, abs=1e-6)
    assert own["P-0", "low", "low"] == pytest.approx(1, abs=1e-6)
    assert sum(own["P-1", "high", label] for label in SCALE) == pytest.approx(1)
    # One item of each true label, as everybody's majority has it.
    assert {f.n for f in found if f.section == "person_confusion"} == {1}


def test_a_label_that_nobody_gave_meets_none_and_free_text_has_no_table():
    found = {(f.label, f.stratum_value): f for f in confusion_figures(compared([[0, 0], [0, 0]]), None)}
    assert (found["high", "low"].value, found["high", "low"].undefined) == (None, "no_pairs")
    assert list(confusion_figures(compared([[0, 1]], classes=(), keys=("a", "b")), None)) == []


def test_a_vote_weighs_people_by_how_much_they_agree_with_the_others():
    # P-0 and P-1 always agree; P-2 and P-3 with nobody on the first three items, 2 : 1 : 1. On the last, where the
    # plain vote ties two to two, the first two weigh more. Gold is label 0 throughout, and they are right.
    labels = [[0, 0, 1, 2], [0, 0, 2, 1], [0, 0, 1, 2], [0, 0, 1, 1]]
    plain = {f.denominator: f.value for f in accuracy_of(compared(labels), "people_vote")}
    weighted = weighted_vote_figures(compared(labels), scorers=["label_accuracy"], bootstrap=BOOTSTRAP)
    assert plain == {"all": 3 / 4, "answered": 1}
    assert {f.denominator: f.value for f in weighted} == {"all": 1, "answered": 1}
    assert {(f.row, f.n, f.n_items) for f in weighted} == {("people_vote_weighted", 16, 4)}


def test_two_people_weigh_the_same_and_have_no_weighted_vote():
    assert weighted_vote_figures(compared([[0, 1]]), scorers=["label_accuracy"], bootstrap=BOOTSTRAP) == []


def accuracy_of(comparison, row):
    found = accuracy_figures(comparison, scorer="label_accuracy", bootstrap=BOOTSTRAP)
    return [figure for figure in found if figure.row == row]


def test_pairs_on_an_ordered_scale_have_weighted_kappas():
    pairs = parts(compared(THREE, level="ordinal"), "agreement_pair")
    expected = cohen_kappa_quadratic([0, 1, 2], [1, 2, 2], n_labels=3).value
    assert pairs["pair_P-0_P-2", "cohen_kappa_quadratic"].value == expected
    assert ("pair_P-0_P-2", "cohen_kappa_linear") in pairs
