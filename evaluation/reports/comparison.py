"""The arrays behind every figure of a report. No Django."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Side:
    """Those who answer: people, or the repeats of one run. A column each; rows are the items of the set.

    labels: codes of the answers' keys, -1 where there is none. offered: items with gold that were put to them and
    whose outcome counts, answered or not. scores: by scorer, in [0, 1], NaN where there is none.
    outcomes: how many outcomes of each kind, also those that do not count.
    """

    names: Sequence[str]
    labels: Ints
    offered: Bools
    scores: Mapping[str, Floats]
    outcomes: Mapping[str, int]

    @property
    def asked_items(self) -> Bools:
        """Shape (n_items,): items with gold that at least one of them was asked about."""
        return np.asarray(self.offered.any(axis=1), dtype=bool)


@dataclass(frozen=True)
class RunSide(Side):
    """One run: its repeats are the columns. asked: what was put to it and has come to an end, with or without gold."""

    asked: Bools
    run: int
    name: str


@dataclass(frozen=True)
class Comparison:
    """People and runs on the same items.

    roots: shape (n_items,), what is resampled together. gold_classes: shape (n_items,), the code of the one gold label
    among `classes`, -1 where there is none or are several; None for a field that is not a choice. classes: the keys of
    the declared options, or points of a scale, in their order. keys: the key of each label code. strata: for each item
    its [name, value] pairs. level: what the labels are to each other: nominal, ordinal, interval or ratio. values: the
    number that each key stands for, where keys are numbers. later: the answers of later rounds, None without any.
    """

    roots: Ints
    has_gold: Bools
    gold_classes: Ints | None
    classes: Sequence[str]
    keys: Sequence[str]
    strata: Sequence[Sequence[Sequence[str]]]
    people: Side
    runs: Sequence[RunSide]
    level: str = "nominal"
    values: Sequence[float] | None = None
    later: Side | None = None

    @property
    def n_items(self) -> int:
        return int(self.roots.size)

    def part(self, items: Bools) -> Comparison:
        """The same comparison on some of the items. items: shape (n_items,)."""

        def cut(side: Side) -> dict[str, object]:
            return {
                "names": side.names,
                "labels": side.labels[items],
                "offered": side.offered[items],
                "scores": {scorer: values[items] for scorer, values in side.scores.items()},
                "outcomes": side.outcomes,
            }

        return Comparison(
            roots=self.roots[items],
            has_gold=self.has_gold[items],
            gold_classes=None if self.gold_classes is None else self.gold_classes[items],
            classes=self.classes,
            keys=self.keys,
            strata=[pairs for pairs, kept in zip(self.strata, items, strict=True) if kept],
            people=Side(**cut(self.people)),  # type: ignore[arg-type]
            runs=[
                RunSide(**cut(run), asked=run.asked[items], run=run.run, name=run.name)  # type: ignore[arg-type]
                for run in self.runs
            ],
            level=self.level,
            values=self.values,
            later=None if self.later is None else Side(**cut(self.later)),  # type: ignore[arg-type]
        )
