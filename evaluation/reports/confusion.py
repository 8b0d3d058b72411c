"""Which labels are taken for which: how often two met on an item, and each person's confusion. No Django."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Comparison
from evaluation.reports.figures import Figure, ratings_of
from evaluation.stats import NO_PAIRS, NO_TRIALS, DawidSkene, coincidence_matrix

# A table of more labels is none to read; of more people only the means are told.
MAX_LABELS, MAX_PEOPLE = 12, 30
MET, GIVEN = "label_met", "label_given"


def confusion_figures(comparison: Comparison, found: DawidSkene | None) -> Iterator[Figure]:
    """Of the answers beside one label on an item, the share of each; and of a person's answers to items of a true
    label, as Dawid and Skene's model estimates it, the share that this person gave each. Exploratory.

    Nothing without declared labels. stratum_value: the label that was met or given.
    """
    if not comparison.classes or len(comparison.keys) > MAX_LABELS:
        return
    met = coincidence_matrix(ratings_of(comparison))
    for a, key in enumerate(comparison.keys[: met.shape[0]]):
        total = float(met[a].sum())
        for b, other in enumerate(comparison.keys[: met.shape[0]]):
            yield Figure(
                section="confusion",
                row=f"label_{key}",
                who="people",
                label=key,
                measure=MET,
                stratum="label",
                stratum_value=other,
                value=met[a, b] / total if total else None,
                n=round(total),
                undefined="" if total else NO_PAIRS,
                is_exploratory=True,
            )
    if found is None or len(comparison.people.names) > MAX_PEOPLE:
        return
    # How many of a person's items are of each true label, in expectation.
    n_of_label = (comparison.people.labels >= 0).T.astype(np.float64) @ np.nan_to_num(found.posteriors)
    for person, name in enumerate(comparison.people.names):
        for true, key in enumerate(comparison.keys):
            for given, other in enumerate(comparison.keys):
                share = found.error_rates[person, true, given]
                yield Figure(
                    section="person_confusion",
                    row=f"person_{name}",
                    who="people",
                    label=name,
                    measure=GIVEN,
                    stratum=key,
                    stratum_value=other,
                    value=None if np.isnan(share) else float(share),
                    n=round(float(n_of_label[person, true])),
                    n_people=1,
                    undefined=NO_TRIALS if np.isnan(share) else "",
                    is_exploratory=True,
                    note=_("estimated"),
                )
