"""The bridge from rows to arrays: what people and models answered, in the order of an item set.

Each reader is one query without model instances. The order of items is that of the set, of people that of their
pseudonyms, of runs that of the caller: equal rows give equal arrays, byte for byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Exists, FilteredRelation, OuterRef, Q, QuerySet, Subquery

from annotate.answers import FieldSpec, answer_keys, answer_text, fields_from_json
from annotate.answers.scale import points_of
from annotate.answers.verdict import VERDICTS
from annotate.models import (
    Annotation,
    Assignment,
    Exclusion,
    Gold,
    ItemSet,
    ItemSetEntry,
    Stage,
    StageItem,
    StageVersion,
)
from annotate.querysets import COUNTED_PURPOSES
from evaluation.models import Prediction, Run
from evaluation.reports.comparison import Comparison, RunSide, Side


class Outcome(StrEnum):
    """What came of asking a person or a model: the outcomes of people; a prediction's are its states."""

    ANSWERED = "answered"
    SKIPPED = "skipped"


class Standing(StrEnum):
    """Whether an outcome counts in the figures, or why it does not."""

    COUNTED = "counted"
    EXCLUDED = "excluded"
    SURPLUS = "surplus"  # came when every place of the item was taken
    LATER_ROUND = "later_round"  # coefficients and people's accuracy use round one
    WROTE_ITEM = "wrote_item"
    MADE_GOLD = "made_gold"  # made or changed the gold label: not scored, and not compared, on that item
    PASSED_ON = "passed_on"  # a skip that says something about the item or the fit: somebody else got the place
    NOT_ASKED = "not_asked"  # a prediction that is pending or was cancelled
    NO_VALUE = "no_value"  # an answer without this field


# "I cannot tell" is a person's way of having no answer, as a refusal is a model's. The other reasons to skip speak
# of the item or of the match, and the place went to somebody else.
DECLINED = frozenset({Assignment.SkipReason.CANNOT_TELL})
NOT_ASKED_STATES = frozenset({Prediction.State.PENDING, Prediction.State.CANCELLED})


@dataclass(frozen=True)
class Units:
    """The items of a set in its order; every list has one entry an item.

    roots: what is resampled together: the id of the item's root, or of the item itself. golds: the acceptable values
    of the current gold label, empty where there is none. made_by: people who made or changed any version of it.
    votes_of: the stage whose votes became it, None where it is not what votes said.
    left_out: (external id, rule) of the set's items that are no units, because somebody found them bad or dropped them.
    """

    revisions: list[int]
    items: list[int]
    external_ids: list[str]
    content_hashes: list[str]
    roots: list[int]
    root_names: list[str]
    strata: list[list[list[str]]]
    golds: list[tuple[str, ...]]
    gold_ids: list[int | None]
    gold_versions: list[int | None]
    made_by: list[frozenset[int]]
    votes_of: list[int | None]
    wrote: list[int | None]
    at: dict[int, int] = field(repr=False)
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.revisions)

    @cached_property
    def has_gold(self) -> npt.NDArray[np.bool_]:
        """Shape (n_units,): whether an answer to the item can be scored."""
        return np.array([bool(gold) for gold in self.golds], dtype=bool)


class PersonAnswer(NamedTuple):
    """One person's finished assignment. `value` and `key` are None where the field is empty or was skipped."""

    unit: int
    person: int
    outcome: Outcome
    standing: Standing
    annotation: int | None
    value: str | None
    key: str | None
    reason: str
    round: int
    other_fields: dict[str, Any]
    active_seconds: int | None
    wall_seconds: int | None
    finished_at: datetime | None
    stage_version: int | None
    guideline_version: int | None
    is_flagged: bool
    is_sample: bool


@dataclass(frozen=True)
class People:
    """Everybody who finished an assignment, in the order of their pseudonyms, and what they did, oldest first.

    decided_gold: units whose gold label is what the votes of these very people came to. Their answers to them count
    among themselves, but are not compared with it: that would hold votes against themselves.
    """

    pseudonyms: list[str]
    answers: list[PersonAnswer]
    decided_gold: frozenset[int] = frozenset()

    def asked(self) -> Iterable[PersonAnswer]:
        """What the figures are made of: answers, and what was asked and has none ("I cannot tell", an empty field)."""
        return (row for row in self.answers if row.standing in (Standing.COUNTED, Standing.NO_VALUE))

    def later(self) -> Iterable[PersonAnswer]:
        """Answers of later rounds, which only votes after escalation count."""
        return (row for row in self.answers if row.standing is Standing.LATER_ROUND and row.key is not None)

    def outcomes(self) -> dict[str, int]:
        """How many assignments came to what: answered, skipped, or why they do not count."""
        names = (str(row.outcome if row.standing is Standing.COUNTED else row.standing) for row in self.answers)
        return dict(sorted(Counter(names).items()))


class ModelAnswer(NamedTuple):
    """One prediction. `outcome` is its state; only an answered one has a value and a key."""

    unit: int
    repeat: int
    outcome: str
    standing: Standing
    prediction: int
    value: str | None
    key: str | None
    note: str
    other_fields: dict[str, Any]
    finished_at: datetime | None


@dataclass(frozen=True)
class ModelRun:
    """A run's predictions on the units, by unit and repeat. form_version: the form it was asked with."""

    run: int
    name: str
    form_version: int
    repeats: int
    answers: list[ModelAnswer]

    def outcomes(self) -> dict[str, int]:
        """How many predictions ended in each state."""
        return dict(sorted(Counter(row.outcome for row in self.answers).items()))


@dataclass(frozen=True)
class Scores:
    """Values by scorer and row. None: the scorer could not score that answer; a row without entry was not scored."""

    annotations: dict[str, dict[int, float | None]] = field(default_factory=dict)
    predictions: dict[str, dict[int, float | None]] = field(default_factory=dict)


# What both sources of units give of each item.
_UNIT_COLUMNS = (
    "revision_id",
    "revision__item_id",
    "revision__item__external_id",
    "revision__content_hash",
    "revision__item__root_id",
    "revision__item__root__external_id",
    "revision__item__key__strata",
    "revision__item__author_id",
)


def read_units(*, item_set: ItemSet, field: str) -> Units:
    """The items of the set with gold, strata and roots: one query for the items, one for the gold labels."""
    entries = ItemSetEntry.objects.filter(item_set=item_set)
    return _units(entries.order_by("position"), field)


def units_of_stage(*, stage: Stage, field: str) -> Units:
    """The items of a stage that have an answer, in the order of its queue: for figures as they stand."""
    places = StageItem.objects.filter(stage=stage, done__gt=0, purpose__in=COUNTED_PURPOSES)
    return _units(places.order_by("rank"), field)


def _units(places: QuerySet[Any], field: str) -> Units:
    excluded = Exclusion.objects.standing().filter(item=OuterRef("revision__item")).order_by("pk")
    found = places.annotate(rule=Subquery(excluded.values("rule")[:1])).values_list(*_UNIT_COLUMNS, "rule")
    rows, left_out = [], []
    for *row, rule in found:
        if rule is None:
            rows.append(row)
        else:
            left_out.append((row[2], rule))
    current: dict[int, tuple[int, int, tuple[str, ...]]] = {}
    votes_of: dict[int, int | None] = {}
    made_by: dict[int, set[int]] = {}
    # No order in the subquery: it would be sorted for nothing.
    golds = Gold.objects.filter(field=field, label_set="", item__in=places.order_by().values("revision__item"))
    for item, pk, version, answers, maker, is_current, voted in golds.values_list(
        "item_id", "pk", "version", "answers", "made_by_id", "is_current", "votes_of_id"
    ):
        if maker is not None:
            made_by.setdefault(item, set()).add(maker)
        if is_current:
            current[item] = (pk, version, tuple(answer_text(answer) for answer in answers))
            votes_of[item] = voted
    with_gold = {item: gold for item, gold in current.items() if gold[2]}
    items = [row[1] for row in rows]
    return Units(
        revisions=[row[0] for row in rows],
        items=items,
        external_ids=[row[2] for row in rows],
        content_hashes=[row[3] for row in rows],
        roots=[row[4] or row[1] for row in rows],
        root_names=[row[5] or row[2] for row in rows],
        strata=[row[6] or [] for row in rows],
        golds=[with_gold[item][2] if item in with_gold else () for item in items],
        gold_ids=[with_gold[item][0] if item in with_gold else None for item in items],
        gold_versions=[with_gold[item][1] if item in with_gold else None for item in items],
        made_by=[frozenset(made_by.get(item, ())) for item in items],
        votes_of=[votes_of.get(item) for item in items],
        wrote=[row[7] for row in rows],
        at={row[0]: unit for unit, row in enumerate(rows)},
        left_out=left_out,
    )


def read_people(*, stage: Stage, units: Units, field: str, item_set: ItemSet | None = None) -> People:
    """Every finished assignment of the stage on the units: one query for them, three for forms and exclusions.

    Checks that figures do not count, and answers to qualify, are none of the stage's work and are left out unread.

    item_set: of the units, so that a small set does not read a large stage. Answers are matched by revision: an answer
    to an earlier wording of an item is not an answer to this one.
    """
    specs = _specs(StageVersion.objects.filter(stage=stage), field)
    finished = Assignment.objects.filter(stage=stage, state__in=["submitted", "skipped"], purpose__in=COUNTED_PURPOSES)
    if item_set is not None:
        finished = finished.filter(stage_item__revision__in=_revisions(item_set))
    rows = (
        finished.annotate(newest=FilteredRelation("annotations", condition=Q(annotations__is_current=True)))
        # counted() decides; the rows it leaves out are read all the same, to be counted and told apart.
        .annotate(counts=Exists(Annotation.objects.counted().filter(pk=OuterRef("newest__pk"))))
        .order_by("newest__created_at", "pk")
        .values_list(
            "stage_item__revision_id",
            "person_id",
            "person__pseudonym",
            "person__is_sample",
            "state",
            "slot",
            "round",
            "skip_reason",
            "finished_at",
            "stage_item__author_id",
            "counts",
            "newest__pk",
            "newest__answer",
            "newest__active_seconds",
            "newest__wall_seconds",
            "newest__stage_version_id",
            "newest__guideline_version__number",
            "newest__is_flagged",
        )
    )
    excluded, left_out = _people_excluded(stage), _answers_excluded(stage)
    found = [row for row in rows if row[0] in units.at]
    pseudonyms = sorted({row[2] for row in found})
    person_at = {pseudonym: person for person, pseudonym in enumerate(pseudonyms)}
    answers = []
    for row in found:
        (revision, person, pseudonym, is_sample, state, slot, round_, reason, finished_at, author, counts, pk) = row[
            :12
        ]
        answer, active, wall, version, guideline, is_flagged = row[12:]
        unit = units.at[revision]
        is_answer = state == Assignment.State.SUBMITTED
        spec, number = specs.get(version, (None, None))
        value, key, other_fields = _read_field(answer, field, spec)
        if person in units.made_by[unit]:
            standing = Standing.MADE_GOLD
        elif person in (author, units.wrote[unit]):
            standing = Standing.WROTE_ITEM
        elif person in excluded or pk in left_out:
            standing = Standing.EXCLUDED
        elif is_answer:
            standing = _standing_of_answer(counts=counts, slot=slot, round_=round_, value=value)
        else:
            standing = _standing_of_skip(reason=reason, round_=round_)
        answers.append(
            PersonAnswer(
                unit=unit,
                person=person_at[pseudonym],
                outcome=Outcome.ANSWERED if is_answer else Outcome.SKIPPED,
                standing=standing,
                annotation=pk,
                value=value,
                key=key,
                reason=reason,
                round=round_,
                other_fields=other_fields,
                active_seconds=active,
                wall_seconds=wall,
                finished_at=finished_at,
                stage_version=number,
                guideline_version=guideline,
                is_flagged=bool(is_flagged),
                is_sample=is_sample,
            )
        )
    decided_gold = frozenset(unit for unit, voted in enumerate(units.votes_of) if voted == stage.pk)
    return People(pseudonyms=pseudonyms, answers=answers, decided_gold=decided_gold)


def read_models(*, runs: Sequence[Run], item_set: ItemSet, units: Units, field: str) -> list[ModelRun]:
    """The predictions of the runs on the units: one query for all of them, one for the forms they were asked with."""
    specs = _specs(StageVersion.objects.filter(pk__in={run.stage_version_id for run in runs}), field)
    answers: dict[int, list[ModelAnswer]] = {run.pk: [] for run in runs}
    form_of = {run.pk: specs.get(run.stage_version_id, (None, None))[0] for run in runs}
    rows = (
        Prediction.objects.filter(run__in=runs, revision__in=_revisions(item_set))
        .order_by("run", "position", "repeat")
        .values_list("run_id", "revision_id", "repeat", "state", "pk", "answer", "note", "finished_at")
    )
    for run, revision, repeat, state, pk, answer, note, finished_at in rows:
        if revision not in units.at:
            continue  # of an item that is left out
        value, key, other_fields = _read_field(answer, field, form_of[run])
        if state in NOT_ASKED_STATES:
            standing = Standing.NOT_ASKED
        elif state == Prediction.State.ANSWERED and key is None:
            standing = Standing.NO_VALUE
        else:
            standing = Standing.COUNTED
        answers[run].append(
            ModelAnswer(
                unit=units.at[revision],
                repeat=repeat,
                outcome=state,
                standing=standing,
                prediction=pk,
                value=value,
                key=key,
                note=note,
                other_fields=other_fields,
                finished_at=finished_at,
            )
        )
    return [
        ModelRun(
            run=run.pk,
            name=run.name,
            form_version=specs[run.stage_version_id][1],
            repeats=run.repeats,
            answers=answers[run.pk],
        )
        for run in runs
    ]


def compare(*, units: Units, people: People, runs: Sequence[ModelRun], scores: Scores, spec: FieldSpec) -> Comparison:
    """The arrays that all figures are made of; nothing in them knows a row of the database."""
    declared = declared_keys(spec)
    is_numeric = spec.type in NUMERIC_FIELD_TYPES
    codes = _label_codes(declared, people, runs, is_numeric=is_numeric)
    level = level_of(spec)
    later = list(people.later())
    return Comparison(
        roots=np.array(units.roots, dtype=np.int64),
        has_gold=units.has_gold,
        gold_classes=_gold_classes(units, codes) if spec.type == "choice" else None,
        classes=declared,
        keys=list(codes),
        strata=units.strata,
        people=_people_side(units, people, people.asked(), scores, codes),
        runs=[_run_side(units, run, scores, codes) for run in runs],
        level=level,
        values=[float(key) for key in codes] if is_numeric else None,
        later=_people_side(units, people, later, scores, codes) if later else None,
    )


# The keys of their answers are numbers in plain digits.
NUMERIC_FIELD_TYPES = frozenset({"number", "scale"})


def level_of(spec: FieldSpec) -> str:
    """What the answers to a field are to each other, and so which coefficients mean something: nominal, ordinal,
    interval, or ratio for amounts that cannot be below zero."""
    if spec.type == "number":
        return "ratio" if spec.minimum is not None and spec.minimum >= 0 else "interval"
    if spec.type == "scale":
        return "interval"
    return "ordinal" if spec.type == "choice" and spec.is_ordered else "nominal"


def declared_keys(spec: FieldSpec) -> list[str]:
    """The keys that an answer can have, in the order of the scale; none where anything can be an answer."""
    if spec.type == "scale":
        return [str(point) for point in points_of(spec)]
    if spec.type == "verdict":
        return list(VERDICTS)
    return [option.value for option in spec.options] if spec.type == "choice" else []


def _people_side(
    units: Units, people: People, answers: Iterable[PersonAnswer], scores: Scores, codes: Mapping[str, int]
) -> Side:
    shape = (len(units), len(people.pseudonyms))
    labels, offered = np.full(shape, -1, dtype=np.int64), np.zeros(shape, dtype=bool)
    by_scorer = {scorer: np.full(shape, np.nan) for scorer in scores.annotations}
    has_gold = units.has_gold
    for row in answers:
        offered[row.unit, row.person] = has_gold[row.unit] and row.unit not in people.decided_gold
        if row.key is not None:
            labels[row.unit, row.person] = codes[row.key]
        for scorer, values in scores.annotations.items():
            if row.annotation is not None and (value := values.get(row.annotation)) is not None:
                by_scorer[scorer][row.unit, row.person] = value
    return Side(names=people.pseudonyms, labels=labels, offered=offered, scores=by_scorer, outcomes=people.outcomes())


def _run_side(units: Units, run: ModelRun, scores: Scores, codes: Mapping[str, int]) -> RunSide:
    shape = (len(units), run.repeats)
    labels, asked = np.full(shape, -1, dtype=np.int64), np.zeros(shape, dtype=bool)
    by_scorer = {scorer: np.full(shape, np.nan) for scorer in scores.predictions}
    for row in run.answers:
        if row.standing is Standing.NOT_ASKED:
            continue
        asked[row.unit, row.repeat] = True
        if row.key is not None:
            labels[row.unit, row.repeat] = codes[row.key]
        for scorer, values in scores.predictions.items():
            if (value := values.get(row.prediction)) is not None:
                by_scorer[scorer][row.unit, row.repeat] = value
    names = [f"repeat {repeat + 1}" for repeat in range(run.repeats)]
    return RunSide(
        names=names,
        labels=labels,
        offered=asked & units.has_gold[:, np.newaxis],
        scores=by_scorer,
        outcomes=run.outcomes(),
        asked=asked,
        run=run.run,
        name=run.name,
    )


def _label_codes(
    declared: Sequence[str], people: People, runs: Sequence[ModelRun], *, is_numeric: bool
) -> dict[str, int]:
    """A number for every key: the declared options first, in their order, then all others; numbers by their size."""
    keys = {row.key for row in people.answers if row.key is not None}
    for run in runs:
        keys |= {row.key for row in run.answers if row.key is not None}
    if is_numeric:
        return {key: code for code, key in enumerate(sorted(keys.union(declared), key=lambda key: (float(key), key)))}
    return {key: code for code, key in enumerate([*declared, *sorted(keys.difference(declared))])}


def _gold_classes(units: Units, codes: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """Shape (n_units,): the class of the gold label, -1 without one or with several."""
    return np.array([codes.get(gold[0], -1) if len(gold) == 1 else -1 for gold in units.golds], dtype=np.int64)


def _revisions(item_set: ItemSet) -> QuerySet[Any]:
    return ItemSetEntry.objects.filter(item_set=item_set).values("revision")


def _standing_of_answer(*, counts: bool, slot: int | None, round_: int, value: str | None) -> Standing:
    if not counts:
        return Standing.SURPLUS if slot is None else Standing.EXCLUDED
    if round_ > 1:
        return Standing.LATER_ROUND
    return Standing.NO_VALUE if value is None else Standing.COUNTED


def _standing_of_skip(*, reason: str, round_: int) -> Standing:
    if reason not in DECLINED:
        return Standing.PASSED_ON
    return Standing.LATER_ROUND if round_ > 1 else Standing.COUNTED


def _people_excluded(stage: Stage) -> frozenset[int]:
    """People of whom everything is excluded: counted() knows their answers, this their skips."""
    rows = stage.project.exclusions.standing().filter(person__isnull=False)
    return frozenset(rows.values_list("person_id", flat=True))


def _answers_excluded(stage: Stage) -> frozenset[int]:
    """Answers that a decision of their own leaves out; with or without a place, they are excluded and no surplus."""
    rows = stage.project.exclusions.standing().filter(annotation__isnull=False)
    return frozenset(rows.values_list("annotation_id", flat=True))


def _specs(versions: Any, name: str) -> dict[int | None, tuple[FieldSpec | None, int]]:
    """The field as each version of the form describes it: an answer is read by the version its author saw."""
    specs: dict[int | None, tuple[FieldSpec | None, int]] = {}
    for pk, number, fields in versions.values_list("pk", "number", "fields"):
        found = [spec for spec in fields_from_json(fields) if spec.name == name]
        specs[pk] = (found[0] if found else None, number)
    return specs


def _read_field(
    answer: Mapping[str, Any] | None, name: str, spec: FieldSpec | None
) -> tuple[str | None, str | None, dict[str, Any]]:
    """Value and key of the field, and the rest of the answer."""
    if answer is None or spec is None:
        return None, None, {}
    others = {field: value for field, value in answer.items() if field != name}
    key = answer_keys([spec], answer).get(name)
    return (None if key is None else answer_text(answer[name])), key, others
