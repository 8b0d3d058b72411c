"""Which decisions left out what a report would have counted: the bridge from exclusions to its account.

Decisions are told by their rule, or where none was named by their reason, and by their day in the project's time zone.
Whoever decided, and about whom, stays where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import QuerySet

from annotate.models import Assignment, Exclusion, ItemSet, ItemSetEntry, Stage
from annotate.querysets import COUNTED_PURPOSES
from evaluation.matrices import People, Standing, Units
from evaluation.models import Prediction, Run
from evaluation.reports.account import ANSWER, ITEM, NO_DECISION, PERSON, Decision, LeftOut, Removed


def read_left_out(*, stage: Stage, item_set: ItemSet, units: Units, people: People, runs: Sequence[Run]) -> LeftOut:
    """What every decision that stands took from the set, from the stage and from each run.

    An answer that several decisions leave out belongs to the first that applies: to the item's, then the person's, then
    its own; of several of a kind to the oldest.
    """
    zone = ZoneInfo(stage.project.time_zone)
    items = _items(item_set, units, zone)
    finished = Assignment.objects.filter(
        stage=stage,
        state__in=["submitted", "skipped"],
        purpose__in=COUNTED_PURPOSES,
        stage_item__revision__in=_gone(item_set).values("revision"),
    )
    of_people: dict[Decision, list[tuple[str, int]]] = {decision: [] for decision in items.values()}
    for revision, person in finished.values_list("stage_item__revision", "person__pseudonym"):
        if revision in items:
            of_people[items[revision]].append((person, revision))
    excluded_people, excluded_answers = _people(stage, zone), _answers(stage, zone)
    # A decision that takes nothing from this report stands in it with 0.
    for decision in (*excluded_people.values(), *excluded_answers.values()):
        of_people.setdefault(decision, [])
    of_answers = _deciding(people, excluded_people, excluded_answers)
    for row, decided in zip(people.answers, of_answers, strict=True):
        if decided is not None:
            of_people.setdefault(decided, []).append((people.pseudonyms[row.person], row.unit))
    asked = Prediction.objects.filter(run__in=runs, revision__in=_gone(item_set).values("revision"))
    of_runs: dict[int, dict[Decision, list[tuple[str, int]]]] = {
        run.pk: {decision: [] for decision in items.values()} for run in runs
    }
    for run, revision in asked.values_list("run", "revision"):
        if revision in items:
            of_runs[run][items[revision]].append(("", revision))
    n_items = Counter(items.values())
    return LeftOut(
        n_items=len(units) + len(units.left_out),
        items=[Removed(decision, count=n, n_items=0, n_people=0) for decision, n in _in_order(n_items.items())],
        people=_removed(of_people),
        runs={run: _removed(found) for run, found in of_runs.items()},
        of_answers=of_answers,
        own_gold=people.decided_gold,
        n_own_gold=sum(row.unit in people.decided_gold for row in people.asked()),
    )


def _gone(item_set: ItemSet) -> QuerySet[ItemSetEntry]:
    """The entries of the set whose items are left out."""
    excluded = Exclusion.objects.standing().filter(item__isnull=False)
    return ItemSetEntry.objects.filter(item_set=item_set, revision__item__in=excluded.values("item"))


def _items(item_set: ItemSet, units: Units, zone: ZoneInfo) -> dict[int, Decision]:
    """The revisions of the set whose items are left out, with the oldest decision about each.

    An item that was left out after the units were read is still one of them.
    """
    rows = Exclusion.objects.standing().filter(item__in=_gone(item_set).values("revision__item")).order_by("-pk")
    decided = {
        item: _decision(ITEM, rule, reason, at, zone)
        for item, rule, reason, at in rows.values_list("item", "rule", "reason", "decided_at")
    }
    entries = _gone(item_set).values_list("revision", "revision__item")
    return {revision: decided[item] for revision, item in entries if item in decided and revision not in units.at}


def _people(stage: Stage, zone: ZoneInfo) -> dict[str, Decision]:
    rows = stage.project.exclusions.standing().filter(person__isnull=False).order_by("-pk")
    return {
        person: _decision(PERSON, rule, reason, at, zone)
        for person, rule, reason, at in rows.values_list("person__pseudonym", "rule", "reason", "decided_at")
    }


def _answers(stage: Stage, zone: ZoneInfo) -> dict[int, Decision]:
    """By every revision of the answer: changing it does not take the decision back."""
    rows = stage.project.exclusions.standing().filter(annotation__assignment__stage=stage).order_by("-pk")
    return {
        revision: _decision(ANSWER, rule, reason, at, zone)
        for revision, rule, reason, at in rows.values_list(
            "annotation__assignment__annotations", "rule", "reason", "decided_at"
        )
    }


def _deciding(people: People, of_people: dict[str, Decision], of_answers: dict[int, Decision]) -> list[Decision | None]:
    """For each answer the decision that leaves it out, None where none does."""
    return [
        of_people.get(people.pseudonyms[row.person]) or of_answers.get(row.annotation or 0) or NO_DECISION
        if row.standing is Standing.EXCLUDED
        else None
        for row in people.answers
    ]


def _removed(found: dict[Decision, list[tuple[str, int]]]) -> list[Removed]:
    return [
        Removed(
            decision,
            count=len(answers),
            n_items=len({unit for _, unit in answers}),
            n_people=len({person for person, _ in answers if person}),
        )
        for decision, answers in _in_order(found.items())
    ]


def _in_order(found: Iterable[tuple[Decision, Any]]) -> list[tuple[Decision, Any]]:
    return sorted(found, key=lambda one: (one[0].scope != ITEM, one[0].scope != PERSON, one[0]))


def _decision(scope: str, rule: str, reason: str, decided_at: datetime, zone: ZoneInfo) -> Decision:
    return Decision(scope=scope, rule=rule or reason, day=decided_at.astimezone(zone).date().isoformat())
