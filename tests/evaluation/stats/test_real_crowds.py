"""What public sets of crowd labels give, against values that were measured with other programs."""

import csv
import json
import re
from collections import Counter, defaultdict

import numpy as np
import pytest

from annotate.resolution import resolve
from evaluation.stats import (
    Ratings,
    dawid_skene,
    fleiss_kappa,
    krippendorff_alpha_nominal,
    majority_votes,
    wilson,
)

pytestmark = pytest.mark.shared_data
MEASURED = {"abs": 5e-5}  # printed with four digits


def alpha(ratings):
    return krippendorff_alpha_nominal(ratings).value


def coded(answers):
    """(unit, rater, label) as text -> codes of each, and the names of the units and of the labels in their order."""
    columns = [np.unique(column, return_inverse=True) for column in zip(*answers, strict=True)]
    (units, unit), (_, rater), (labels, label) = columns
    return (unit, rater, label), list(units), list(labels)


def tab_separated(path):
    """worker, item, label -> (item, worker, label)."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [(item, worker, label) for worker, item, label in rows]


def test_bluebirds(shared_path):
    def read(name):
        return shared_path(f"data/crowd-bluebirds/bluebirds/{name}.yaml").read_text(encoding="utf-8")

    pairs = re.compile(r"(\d+): (true|false)")
    gold = dict(pairs.findall(read("gt")))
    people = dict(re.findall(r"(\d+): \{([^}]*)\}", read("labels")))
    answers = [(item, person, said) for person, given in people.items() for item, said in pairs.findall(given)]
    codes, units, labels = coded(answers)
    ratings = Ratings.from_answers(*codes, n_units=len(units))
    assert (len(units), ratings.n_raters, ratings.patterns.pairs.min()) == (108, 39, 39 * 38 / 2)
    assert alpha(ratings) == pytest.approx(0.1255, **MEASURED)
    assert fleiss_kappa(ratings).value == pytest.approx(0.1253, **MEASURED)
    matrix = np.full((len(units), 39), -1)
    matrix[codes[0], codes[1]] = codes[2]
    right = [labels[winner] == gold[unit] for unit, winner in zip(units, majority_votes(matrix).winners, strict=True)]
    assert sum(right) == 82
    # The vote of these 39 is no better than that; who is weighed by how they answer does better.
    found = dawid_skene(*codes, n_items=108, n_raters=39, n_classes=2).labels
    assert sum(labels[label] == gold[unit] for unit, label in zip(units, found, strict=True)) > 90


def test_ducks(shared_path):
    _, *rows = shared_path("data/crowd-bluebirds/ducks/labels.txt").read_text(encoding="utf-8").splitlines()
    unit, rater, label = np.array([[int(cell) for cell in row.split()] for row in rows]).T
    ratings = Ratings.from_answers(unit, rater, label, n_units=240)
    assert (ratings.n_raters, set(ratings.n_answers)) == (53, {40.0})
    assert alpha(ratings) == pytest.approx(0.3253, **MEASURED)


def test_a_thousand_items_of_five_labels(shared_path):
    folder = "data/crowd-get-another-label/BarzanMozafari"
    codes, units, labels = coded(tab_separated(shared_path(f"{folder}/labels.txt")))
    ratings = Ratings.from_answers(*codes, n_units=len(units))
    assert (len(units), ratings.n_raters, set(ratings.n_answers)) == (1000, 83, {5.0})
    assert alpha(ratings) == pytest.approx(0.4059, **MEASURED)
    gold = dict(tab_separated_pairs(shared_path(f"{folder}/evaluation.txt")))
    matrix = np.full((1000, 83), -1)
    matrix[codes[0], codes[1]] = codes[2]
    winners = majority_votes(matrix).winners
    assert np.mean([labels[winner] == gold[unit] for unit, winner in zip(units, winners, strict=True)]) == 0.696


def tab_separated_pairs(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def test_people_who_answered_the_same_page_twice(shared_path):
    folder = "data/crowd-get-another-label/HITspam-UsingCrowdflower"
    answers = tab_separated(shared_path(f"{folder}/labels.txt"))
    codes, units, labels = coded(answers)
    repeats = sum(n > 1 for n in Counter((item, person) for item, person, _ in answers).values())
    assert (len(units), len(set(codes[1])), len(answers), repeats) == (287, 152, 5331, 883)
    # Two answers of one person are no agreement: refused where raters are told apart, allowed in the model.
    with pytest.raises(ValueError, match="has two answers"):
        Ratings.from_answers(*codes, n_units=len(units))
    gold = dict(tab_separated_pairs(shared_path(f"{folder}/gold.txt")))
    votes = defaultdict(list)
    for item, _, label in answers:
        votes[item].append(label)
    judged = {item: label for item, label in gold.items() if item in votes}
    # One page of the gold list was shown to nobody.
    assert (len(gold), len(judged)) == (101, 100)
    assert sum(resolve(votes[item]).key == label for item, label in judged.items()) == 66
    found = dawid_skene(*codes, n_items=len(units), n_raters=152, n_classes=len(labels), max_iterations=300)
    assert found.n_answers == 5331
    assert np.isfinite(found.posteriors).all()


def test_real_agreement_can_be_worse_than_chance(shared_path):
    codes, units, _ = coded(tab_separated(shared_path("data/crowd-get-another-label/HITspam-UsingMTurk/labels.txt")))
    ratings = Ratings.from_answers(*codes, n_units=len(units))
    assert (len(units), ratings.n_raters, codes[0].size) == (300, 22, 1464)
    assert alpha(ratings) == pytest.approx(-0.126, abs=5e-4)


def test_anaesthetists(shared_path):
    with shared_path("data/crowd-anesthesia/anesthesia.csv").open(newline="") as lines:
        rows = [{name: int(cell) for name, cell in row.items()} for row in csv.DictReader(lines)]
    every = [[row["rating"] - 1 for row in rows if row["item"] == item] for item in range(1, 46)]
    assert fleiss_kappa(Ratings.from_labels(every)).value == pytest.approx(0.5844, **MEASURED)
    assert alpha(Ratings.from_labels(every)) == pytest.approx(0.5858, **MEASURED)
    once = Ratings.from_labels([row[:1] + row[3:] for row in every])
    assert fleiss_kappa(once).value == pytest.approx(0.5824, **MEASURED)
    assert alpha(once) == pytest.approx(0.5843, **MEASURED)


def test_caries(shared_path):
    with shared_path("data/crowd-anesthesia/caries.csv").open(newline="") as lines:
        patterns = [[int(cell) for cell in row.values()] for row in csv.DictReader(lines)]
    labels = np.repeat([row[:5] for row in patterns], [row[5] for row in patterns], axis=0) - 1
    assert labels.shape == (3859, 5)
    assert fleiss_kappa(Ratings.from_labels(labels)).value == pytest.approx(0.2770, **MEASURED)


def test_fool_me_twice(shared_path):
    lines = shared_path("data/fool-me-twice/dataset/dev.jsonl").read_text(encoding="utf-8").split("\n")
    claims = [json.loads(line) for line in lines if line]
    votes = [(claim["correct_votes"], claim["total_votes"]) for claim in claims]
    assert (len(claims), sum(n for _, n in votes), sum(n == 0 for _, n in votes)) == (400, 953, 177)
    right, n = sum(k for k, _ in votes), sum(n for _, n in votes)
    assert max(n for _, n in votes) == 10
    assert right / n == pytest.approx(0.7975, **MEASURED)
    assert wilson(right, n).lower < 0.7975 < wilson(right, n).upper
