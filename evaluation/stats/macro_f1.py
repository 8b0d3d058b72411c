"""Macro-F1 of labels, a statistic of a whole set of answers: it has no value for a single item."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluation.stats.intervals import (
    Bootstrap,
    Floats,
    Rows,
    resampled_sums,
    root_codes,
    sum_by_root,
)
from evaluation.stats.means import (
    mean_or_none,
    mean_over_people,
    people_interval,
    people_weights,
    sparse_if_large,
)
from evaluation.stats.results import NO_TRIALS, Estimate


@dataclass(frozen=True)
class MacroF1:
    """Macro-F1 by both lists of classes, with the label accuracy of the same answers.

    all_declared: over every declared class, one without gold and predictions being worth 0. gold_classes: over the
    classes that occur in gold. per_class: in the order of the classes, None where a class has neither gold nor
    predictions. n_unparsed: answers that were offered and are not one of the declared classes.
    """

    all_declared: Estimate
    gold_classes: Estimate
    accuracy: Estimate
    per_class: tuple[float | None, ...]
    n_unparsed: int


def macro_f1(
    gold: npt.ArrayLike,
    predicted: npt.ArrayLike,
    n_classes: int,
    *,
    offered: npt.ArrayLike | None = None,
    unparsed: Literal["wrong", "left_out"] = "wrong",
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> MacroF1:
    """The mean over classes of 2 TP / (2 TP + FP + FN); for several people, the mean over people of that.

    gold: classes 0 .. n_classes - 1, shape (n_items,), -1 where there is none (the item is then left out).
    predicted: shape (n_items,) or (n_items, n_people), any number outside the classes where the answer is missing,
    did not parse or is foreign. offered: truth values of the same shape, the answers that could have been given.
    unparsed: "wrong": such an answer is a miss for its gold class and nobody's false alarm; "left_out": it is not
    counted.
    Undefined (no_trials) without an answer to count. Intervals resample as in mean_person.
    Raises ValueError for shapes that do not fit or a gold label above the classes.
    Source: scikit-learn f1_score(average="macro", labels=declared, zero_division=0) for all_declared.
    """
    truth = np.asarray(gold)
    answers = np.asarray(predicted)
    answers = answers[:, np.newaxis] if answers.ndim == 1 else answers
    if truth.ndim != 1 or answers.ndim != 2 or answers.shape[0] != truth.size:
        raise ValueError("predicted must have one row for each gold label.")
    if n_classes < 1 or (truth >= n_classes).any():
        raise ValueError("Every gold label must be one of the declared classes.")
    parsed = (answers >= 0) & (answers < n_classes)
    counted = np.ones(answers.shape, dtype=bool) if offered is None else np.asarray(offered, dtype=bool)
    if counted.shape != answers.shape:
        if counted.shape != (truth.size,) or answers.shape[1] != 1:
            raise ValueError("offered must have the shape of predicted.")
        counted = counted[:, np.newaxis]
    counted = counted & (truth >= 0)[:, np.newaxis]
    n_unparsed = int((counted & ~parsed).sum())
    if unparsed == "left_out":
        counted = counted & parsed
    codes = root_codes(roots, truth.size)
    right = np.where(counted, (answers == truth[:, np.newaxis]).astype(np.float64), np.nan)
    accuracy = mean_over_people("label_accuracy", right, codes, bootstrap, "people")
    left_out = n_unparsed if unparsed == "left_out" else 0
    accuracy = replace(accuracy, n_left_out=left_out)
    blank = replace(accuracy, value=None, interval=None, note="", undefined=NO_TRIALS)
    all_declared = replace(blank, name="macro_f1_all_declared")
    gold_classes = replace(blank, name="macro_f1_gold_classes")
    if accuracy.n == 0:
        return MacroF1(all_declared, gold_classes, accuracy, per_class=(None,) * n_classes, n_unparsed=n_unparsed)

    items, people = counted.any(axis=1), counted.any(axis=0)
    n_people = int(people.sum())
    counts = _class_counts(truth[items], answers[items][:, people], counted[items][:, people], n_classes)
    table = counts.sum(axis=0).reshape(1, n_people, n_classes, 3)
    declared, in_gold = _macro_averages(table, np.ones((1, n_people)))
    f1 = _f1_by_class(table)[0]
    all_declared = replace(all_declared, value=float(declared[0]), undefined="")
    gold_classes = replace(gold_classes, value=float(in_gold[0]), undefined="")
    if bootstrap is not None:
        kept_codes = root_codes(np.flatnonzero(items) if codes is None else codes[items], int(items.sum()))
        rows = sum_by_root(sparse_if_large(counts), kept_codes)
        declared, in_gold = _resampled_averages(rows, n_people, n_classes, bootstrap)
        all_declared = _with_interval(all_declared, declared, bootstrap)
        gold_classes = _with_interval(gold_classes, in_gold, bootstrap)
    return MacroF1(
        all_declared,
        gold_classes,
        accuracy,
        per_class=tuple(mean_or_none(f1[:, k]) for k in range(n_classes)),
        n_unparsed=n_unparsed,
    )


def _class_counts(
    truth: npt.NDArray[np.int64], answers: npt.NDArray[np.int64], counted: npt.NDArray[np.bool_], n_classes: int
) -> npt.NDArray[np.bool_]:
    """For each item, person and class: hit, prediction, gold label. Returns shape (n_items, n_people * classes * 3).

    An answer outside the classes adds to no class's predictions: it costs the recall of its gold class only.
    """
    classes = np.arange(n_classes)
    is_gold = (truth[:, np.newaxis, np.newaxis] == classes) & counted[:, :, np.newaxis]
    is_predicted = (answers[:, :, np.newaxis] == classes) & counted[:, :, np.newaxis]
    return np.stack([is_gold & is_predicted, is_predicted, is_gold], axis=3).reshape(truth.size, -1)


def _f1_by_class(table: npt.NDArray[Any]) -> Floats:
    """table: shape (n, n_people, n_classes, 3), sums of hits, predictions and gold labels. NaN where F1 is 0/0."""
    size = (table[..., 1] + table[..., 2]).astype(np.float64)
    f1: Floats = np.divide(2 * table[..., 0], size, out=np.full(size.shape, np.nan), where=size > 0)
    return f1


def _macro_averages(table: npt.NDArray[Any], weights: Floats) -> tuple[Floats, Floats]:
    """Over all classes and over those in gold; then over people by weights (n, n_people). Each of shape (n,).

    A person without an item is left out; NaN where nobody has one.
    """
    f1 = np.nan_to_num(_f1_by_class(table))
    in_gold = table[..., 2] > 0
    weights = weights * in_gold.any(axis=2)
    by_declared = f1.mean(axis=2)
    by_gold = (f1 * in_gold).sum(axis=2) / np.maximum(in_gold.sum(axis=2), 1)
    total = weights.sum(axis=1)
    undefined = np.full(total.shape, np.nan)
    return (
        np.divide((by_declared * weights).sum(axis=1), total, out=undefined.copy(), where=total > 0),
        np.divide((by_gold * weights).sum(axis=1), total, out=undefined.copy(), where=total > 0),
    )


def _resampled_averages(rows: Rows, n_people: int, n_classes: int, bootstrap: Bootstrap) -> tuple[Floats, Floats]:
    """Both macro averages of every resample of the roots, and of the people from 10 on."""
    weights = people_weights(n_people, bootstrap)
    declared, in_gold = [], []
    start = 0
    for sums in resampled_sums(rows, bootstrap):
        size = sums.shape[0]
        table = np.asarray(sums).reshape(size, n_people, n_classes, 3)
        one, other = _macro_averages(table, weights[start : start + size])
        declared.append(one)
        in_gold.append(other)
        start += size
    return np.concatenate(declared), np.concatenate(in_gold)


def _with_interval(estimate: Estimate, values: Floats, bootstrap: Bootstrap) -> Estimate:
    interval, note = people_interval(values, bootstrap, n_roots=estimate.n_roots, n_people=estimate.n_people)
    return replace(estimate, interval=interval, note=note)
