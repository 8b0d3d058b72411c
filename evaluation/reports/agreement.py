"""Where people agree and where they do not: by label, person, pair and stratum. No Django. Exploratory throughout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison
from evaluation.reports.figures import (
    MIN_STRATUM_ITEMS,
    Figure,
    Row,
    from_coefficient,
    items_of_stratum,
    ratings_of,
    strata_of,
)
from evaluation.stats import (
    COEFFICIENTS,
    TOO_FEW,
    Bootstrap,
    Coefficient,
    cohen_kappa_linear,
    cohen_kappa_quadratic,
    label_agreements,
    pair_agreements,
    rater_agreements,
)

# 45 pairs; the tables of more people say who answers like whom to nobody.
MAX_PEOPLE_IN_PAIRS = 10
STRATUM_MEASURES = ("percent_agreement", "majority_agreement", "krippendorff_alpha_nominal")


def agreement_part_figures(comparison: Comparison, *, bootstrap: Bootstrap) -> Iterator[Figure]:
    """All four, in that order. Of a field without declared labels there is no label and no kappa."""
    yield from _label_figures(comparison, bootstrap)
    yield from _person_figures(comparison, bootstrap)
    yield from _pair_figures(comparison, bootstrap)
    yield from _stratum_figures(comparison, bootstrap)


def _label_figures(comparison: Comparison, bootstrap: Bootstrap) -> Iterator[Figure]:
    """Every declared label against all others. n_items is how many items have a pair; count how often it was given."""
    if not comparison.classes:
        return
    for agreement in label_agreements(ratings_of(comparison), bootstrap):
        key = comparison.keys[agreement.label]
        row = Row(f"label_{key}", "people", key)
        for coefficient in (agreement.specific, agreement.kappa, agreement.alpha):
            yield replace(_part("agreement_label", row, coefficient), count=agreement.n_answers)


def _person_figures(comparison: Comparison, bootstrap: Bootstrap) -> Iterator[Figure]:
    for agreement in rater_agreements(ratings_of(comparison), bootstrap):
        name = comparison.people.names[agreement.rater]
        row = Row(f"person_{name}", "people", name)
        yield _part("agreement_person", row, agreement.percent)
        if comparison.classes:
            yield _part("agreement_person", row, agreement.kappa)


def _pair_figures(comparison: Comparison, bootstrap: Bootstrap) -> Iterator[Figure]:
    ratings = ratings_of(comparison)
    if not 3 <= (ratings.n_raters or 0) <= MAX_PEOPLE_IN_PAIRS:
        return
    weighted = (cohen_kappa_linear, cohen_kappa_quadratic) if comparison.level != "nominal" else ()
    for pair in pair_agreements(ratings, bootstrap):
        first, second = (comparison.people.names[rater] for rater in (pair.first, pair.second))
        row = Row(f"pair_{first}_{second}", "people", f"{first} and {second}")
        yield _part("agreement_pair", row, pair.percent)
        if not comparison.classes:
            continue
        yield _part("agreement_pair", row, pair.kappa)
        of_two = comparison.people.labels[:, [pair.first, pair.second]].T
        for kappa in weighted:
            coefficient = kappa(*of_two, roots=comparison.roots, bootstrap=bootstrap, n_labels=ratings.n_labels)
            yield _part("agreement_pair", row, coefficient)


def _stratum_figures(comparison: Comparison, bootstrap: Bootstrap) -> Iterator[Figure]:
    """By every stratum, with the items that have none as in a breakdown; no number below 20 items with a pair."""
    has_pair = (comparison.people.labels >= 0).sum(axis=1) >= 2
    row = Row("people", "people", _("Agreement among people"))
    for name, values in strata_of(comparison).items():
        for value in values:
            items = items_of_stratum(comparison, name, value)
            ratings = ratings_of(comparison.part(items))
            n_items = int(np.asarray(items & has_pair).sum())
            for measure in STRATUM_MEASURES:
                is_small = n_items < MIN_STRATUM_ITEMS
                figure = _part(
                    "agreement_stratum", row, COEFFICIENTS[measure](ratings, None if is_small else bootstrap)
                )
                if is_small:
                    note = _("fewer than %(n_items)s items", n_items=MIN_STRATUM_ITEMS)
                    figure = replace(figure, value=None, undefined=TOO_FEW, note=note)
                yield replace(figure, stratum=name, stratum_value=value)


def _part(section: str, row: Row, coefficient: Coefficient) -> Figure:
    return replace(from_coefficient(section, row, coefficient), is_exploratory=True)
