"""Where each n of a report comes from: what there was, what was left out by which rule, what remains. No Django.

An account is a column of figures about one row of the report. Whatever is left out has a `count`; what remains has it,
too, and after every step `n` says how many remain. So a reader can add up to the n of any figure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from annotate.wording import _
from evaluation.reports.comparison import Bools, Comparison, RunSide, Side
from evaluation.reports.figures import Figure, Row, run_row

ITEM, PERSON, ANSWER = "item", "person", "answer"
# What is counted apart among the answers of people, in the order in which it is taken away.
STANDINGS = ("surplus", "later_round", "wrote_item", "made_gold", "passed_on")
NOT_ASKED = ("pending", "cancelled")


class Decision(NamedTuple):
    """Equal decisions are told together. scope: of an item, a person or an answer. day: YYYY-MM-DD."""

    scope: str
    rule: str
    day: str


# It was left out when its answer was read, and the decision was lifted before the decisions were.
NO_DECISION = Decision(ANSWER, "", "")


@dataclass(frozen=True)
class Removed:
    """What the decisions of one rule and day took: answers (or items), on so many items, of so many people."""

    decision: Decision
    count: int
    n_items: int
    n_people: int


@dataclass(frozen=True)
class LeftOut:
    """n_items: of the set, before anything was left out. items, people, runs: what was taken from each.
    of_answers: for each answer of people that was read, the decision that leaves it out. own_gold: items, by place,
    whose gold label is what the votes of these people came to; n_own_gold: how many counted answers they have.
    """

    n_items: int
    items: Sequence[Removed] = ()
    people: Sequence[Removed] = ()
    runs: Mapping[int, Sequence[Removed]] = field(default_factory=dict)
    of_answers: Sequence[Decision | None] = ()
    own_gold: Collection[int] = ()
    n_own_gold: int = 0


class _Account:
    """Writes the steps of one account, and keeps what remains."""

    def __init__(self, row: Row, measure: str, *, n: int, n_items: int = 0, n_people: int = 0) -> None:
        self.n = n
        self.figures: list[Figure] = []
        self._blank = Figure("account", row.row, row.who, row.label, measure, run=row.run, n=n)
        self._write(measure, n, n_items=n_items, n_people=n_people)

    def take(self, measure: str, count: int, *, n_items: int = 0, is_always_told: bool = False) -> None:
        if count or is_always_told:
            self.n -= count
            self._write(measure, count, n_items=n_items)

    def take_decided(self, removed: Sequence[Removed]) -> None:
        for one in removed:
            self.n -= one.count
            self._write(
                f"{one.decision.scope}_excluded",
                one.count,
                n_items=one.n_items,
                n_people=one.n_people,
                rule=one.decision.rule,
                decided_on=one.decision.day,
            )

    def remain(self, measure: str, *, n_items: int = 0, n_people: int = 0) -> None:
        self._write(measure, self.n, n_items=n_items, n_people=n_people)

    def _write(self, measure: str, count: int, **circumstances: int | str) -> None:
        self.figures.append(replace(self._blank, measure=measure, count=count, n=self.n, **circumstances))  # type: ignore[arg-type]


def account_figures(comparison: Comparison, left_out: LeftOut, *, scorer: str) -> list[Figure]:
    """The accounts of the items, the people's answers, their agreement, each run, and each difference to the people.

    scorer: whose scores "answered only" counts; an answer that it cannot score is none there.
    """
    found = _items(comparison, left_out).figures
    found += _people(comparison, left_out, scorer).figures
    found += _agreement(comparison).figures
    for run in comparison.runs:
        found += _run(comparison, run, left_out, scorer).figures
    for run in comparison.runs:
        found += _shared(comparison, run, left_out, scorer).figures
    return found


def _items(comparison: Comparison, left_out: LeftOut) -> _Account:
    account = _Account(Row("items", "items", _("Items of the set")), "in_set", n=left_out.n_items)
    account.take_decided(left_out.items)
    # Left out when the items were read, and by no decision that stands: it was lifted in between.
    account.take("excluded", account.n - comparison.n_items)
    account.remain("units")
    account.take("without_gold", int((~comparison.has_gold).sum()))
    account.remain("scored_all")
    return account


def _people(comparison: Comparison, left_out: LeftOut, scorer: str) -> _Account:
    """Everything that people finished, down to what the mean person's two denominators count."""
    side = comparison.people
    outcomes = dict(side.outcomes)
    with_items = [one for one in left_out.people if one.decision.scope == ITEM]
    n = sum(outcomes.values()) + sum(one.count for one in with_items)
    account = _Account(Row("people", "people", _("Answers of people")), "finished", n=n, n_people=len(side.names))
    account.take_decided(with_items)
    decided = [one for one in left_out.people if one.decision.scope != ITEM]
    account.take_decided(decided)
    account.take("excluded", outcomes.get("excluded", 0) - sum(one.count for one in decided))
    for standing in STANDINGS:
        account.take(standing, outcomes.get(standing, 0))
    account.remain("counted")
    account.take("gold_of_these_votes", left_out.n_own_gold)
    _score(account, side, scorer)
    return account


def _run(comparison: Comparison, run: RunSide, left_out: LeftOut, scorer: str) -> _Account:
    removed = left_out.runs.get(run.run, ())
    n = sum(run.outcomes.values()) + sum(one.count for one in removed)
    account = _Account(run_row(run), "planned", n=n)
    account.take_decided(removed)
    for state in NOT_ASKED:
        account.take(state, run.outcomes.get(state, 0))
    account.remain("asked")
    _score(account, run, scorer)
    # Repeats are no people.
    account.figures = [replace(figure, n_people=0) for figure in account.figures]
    return account


def _score(account: _Account, side: Side, scorer: str) -> None:
    """From what counts to what is averaged, by both denominators."""
    offered, scores = side.offered, side.scores[scorer]
    has_answer = side.labels >= 0
    account.take("without_gold", account.n - int(offered.sum()))
    account.remain("scored_all", n_items=int(side.asked_items.sum()), n_people=_n_columns(offered))
    account.take("no_answer", int((offered & ~has_answer).sum()))
    account.take("unscorable", int((offered & has_answer & np.isnan(scores)).sum()))
    scored = offered & ~np.isnan(scores)
    account.remain("scored_answered", n_items=int(scored.any(axis=1).sum()), n_people=_n_columns(scored))


def _agreement(comparison: Comparison) -> _Account:
    """From the counted answers, with gold or without, to those that meet another."""
    side = comparison.people
    given = side.labels >= 0
    counted = sum(side.outcomes.get(outcome, 0) for outcome in ("answered", "skipped", "no_value"))
    row = Row("agreement", "people", _("Agreement among people"))
    account = _Account(row, "counted", n=counted)
    account.take("no_answer", counted - int(given.sum()))
    account.remain("given", n_items=int(given.any(axis=1).sum()), n_people=_n_columns(given))
    alone = given.sum(axis=1) == 1
    account.take("alone", int(alone.sum()), n_items=int(alone.sum()))
    account.remain("in_pairs", n_items=int((given.sum(axis=1) > 1).sum()), n_people=_n_columns(given & ~alone[:, None]))
    return account


def _shared(comparison: Comparison, run: RunSide, left_out: LeftOut, scorer: str) -> _Account:
    """From the items to those that both the people and the run were asked about, and to those that both answered."""
    row = Row(f"difference_run_{run.run}", "model", _("%(run)s against the mean person", run=run.name), run.run)
    account = _Account(row, "units", n=comparison.n_items)
    account.take("without_gold", int((~comparison.has_gold).sum()))
    fitting = comparison.has_gold.copy()
    fitting[list(left_out.own_gold)] = False
    account.take("gold_of_these_votes", account.n - int(fitting.sum()))
    people, model = comparison.people.asked_items, run.asked_items & fitting
    account.take("asked_neither", int((fitting & ~people & ~model).sum()))
    account.take("asked_model_only", int((model & ~people).sum()))
    account.take("asked_people_only", int((people & ~model).sum()))
    account.remain("shared")
    scored = [~np.isnan(side.scores[scorer]).all(axis=1) for side in (comparison.people, run)]
    account.take("unanswered_side", account.n - int((scored[0] & scored[1]).sum()))
    account.remain("shared_answered")
    return account


def _n_columns(cells: Bools) -> int:
    return int(cells.any(axis=0).sum())
