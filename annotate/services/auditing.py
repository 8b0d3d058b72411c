"""Audits: meta-reviewers check a stratified random sample of labels, each reviewer blind to the other.

The labels are frozen when they are drawn, beside the words that people labelled. Which labels a stratum has, how many
were drawn of it and by which seed stands in the rule of an item set, in whose order the strata follow one another; the
queue is in another order, so that its place says nothing about an item.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotate import events
from annotate.answers import FieldSpec, JsonValue, fields_from_json
from annotate.answers.choice import caption_of
from annotate.auditing import as_candidate, corrections_offered, described, label_key, labels_in, verdict_in
from annotate.exceptions import WorkNotPossible
from annotate.models import (
    Annotation,
    Assignment,
    Audit,
    Exclusion,
    Gold,
    Item,
    ItemKey,
    ItemRevision,
    ItemSet,
    ItemSetEntry,
    Person,
    Project,
    Resolution,
    Stage,
    StageItem,
    StageVersion,
)
from annotate.sampling import draw_stratified, shuffled
from annotate.services.candidates import freeze_candidates
from annotate.services.counting import GONE
from annotate.services.passing_on import UNDECIDED
from annotate.wording import _

MAX_K = 1_000
MAX_STRATA = 500
MAX_DRAWN = 20_000
WITHOUT_VALUE = "(none)"
RIGHT, WRONG, UNSURE = "right", "wrong", "unsure"

# Whose decisions can be audited; what other stages decide is about answers, not about items.
LABELLING = (Stage.Kind.LABEL, Stage.Kind.ANSWER)


@dataclass(frozen=True)
class Labels:
    """Which labels are audited: gold labels of one field, or what a stage decided in it.

    stage: whose decisions; None: the gold labels, of `label_set` where there are several. population: only items of
    this set; None: of the whole project.
    """

    field: str
    label_set: str = ""
    stage: Stage | None = None
    population: ItemSet | None = None


@dataclass(frozen=True)
class Stratum:
    """values: of each key of the draw, the label last. n_short: by how many it falls short of what was asked for."""

    values: tuple[str, ...]
    n_population: int
    n_drawn: int
    n_short: int


@dataclass(frozen=True)
class Plan:
    """What a draw gives. n_unlabelled: items without a label, or without a decision. n_excluded: left out of figures.

    Strata that no item is in stand with 0 as long as there are few combinations.
    """

    field: FieldSpec
    keys: tuple[str, ...]
    by_label: bool
    k: int
    strata: tuple[Stratum, ...]
    n_unlabelled: int
    n_excluded: int

    @property
    def n_population(self) -> int:
        return sum(stratum.n_population for stratum in self.strata)

    @property
    def n_drawn(self) -> int:
        return sum(stratum.n_drawn for stratum in self.strata)

    @property
    def short(self) -> list[Stratum]:
        return [stratum for stratum in self.strata if stratum.n_short]

    def in_words(self, values: Sequence[str]) -> list[str]:
        """The values of a stratum as people read them: labels by their captions."""
        if not self.by_label:
            return list(values)
        *others, label = values
        return [*others, " / ".join(caption_of(one, self.field) for one in label.split("; "))]


@dataclass(frozen=True)
class Drawn(Plan):
    """A draw that was made. field: as it was then. told_keys: those of its keys whose values the drawn items tell in
    their content, under the same name."""

    seed: int
    audit: Audit
    told_keys: tuple[str, ...] = ()

    def may_be_told(self, shown_keys: Sequence[str]) -> bool:
        """Whether its strata are made of what a reviewer sees of each item: these content keys, and its label."""
        return all(key in self.told_keys and key in shown_keys for key in self.keys)

    @property
    def starts(self) -> list[int]:
        """The position in the item set at which each stratum begins."""
        return list(itertools.accumulate((stratum.n_drawn for stratum in self.strata), initial=0))[:-1]

    def stratum_at(self, position: int) -> int:
        """Which stratum stands at a position of the item set."""
        # The last of several that begin there: those before it are empty.
        return bisect.bisect_right(self.starts, position) - 1


@dataclass(frozen=True)
class Verdict:
    """What one reviewer said of a label. correction: the label that would be right, as it was chosen or written."""

    person: int
    value: str
    correction: str = ""
    note: str = ""


@dataclass(frozen=True)
class Audited:
    """One drawn label with what was said of it. wanted: how many verdicts it needs. is_left_out: out of other figures.

    stratum: which of the draw's. labels: the acceptable values that were audited.
    """

    place: int
    stratum: int
    item: int
    external_id: str
    root: int
    labels: Sequence[JsonValue]
    verdicts: tuple[Verdict, ...]
    wanted: int
    is_left_out: bool
    source: int | None

    @property
    def is_gone(self) -> bool:
        """Left out before it had its verdicts. One that was left out later, perhaps for what they say, still counts."""
        return self.is_left_out and not self.is_complete

    @property
    def is_complete(self) -> bool:
        return len(self.verdicts) >= self.wanted

    @property
    def wrong(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.value == WRONG]


@dataclass(frozen=True)
class LeftToAudit:
    """One stratum of the draw as a reviewer sees it: how many it has, and how many are left to this person."""

    values: tuple[str, ...]
    n_drawn: int
    n_left: int


@dataclass(frozen=True)
class _Labelled:
    revision: int
    item: int
    external_id: str
    language: str
    author: int | None
    labels: Sequence[JsonValue]
    source: int | None = None


@dataclass(frozen=True)
class _Planned:
    """A plan with what it would draw: the rows by stratum, in the order of the plan."""

    plan: Plan
    rows: tuple[tuple[_Labelled, ...], ...]
    chances: Mapping[int, float]


def auditable_fields(project: Project) -> list[tuple[str, str]]:
    """(field, label set) of the gold labels that the project has."""
    rows = Gold.objects.filter(item__project=project, is_current=True).order_by("label_set", "field")
    return list(rows.values_list("field", "label_set").distinct())


def decided_fields(project: Project) -> list[tuple[Stage, str, str]]:
    """(stage, field, its caption) of what people decide in stages where they label or answer."""
    stages = project.stages.filter(kind__in=LABELLING).order_by("position", "pk")
    versions = StageVersion.objects.filter(stage__in=stages, is_current=True).select_related("stage")
    return [
        (version.stage, spec.name, spec.caption)
        for version in versions.order_by("stage__position", "stage")
        for spec in fields_from_json(version.fields)
        if spec.decides
    ]


def strata_keys(project: Project) -> list[str]:
    """The names of the strata of the project's items, in the order in which they occur."""
    rows = ItemKey.objects.filter(item__project=project).exclude(strata=[]).order_by("pk")
    names: dict[str, None] = {}
    for strata in rows.values_list("strata", flat=True).iterator():
        names |= dict.fromkeys(name for name, _ in strata)
    return list(names)


def plan_draw(*, stage: Stage, labels: Labels, k: int, keys: Sequence[str], by_label: bool, seed: int) -> Plan:
    """What such a draw would give; nothing is written. Raises WorkNotPossible as `draw_audit` does."""
    return _plan(stage, labels, k, keys, by_label, seed).plan


@transaction.atomic
def draw_audit(
    *, stage: Stage, by: Person | None, labels: Labels, k: int, keys: Sequence[str], by_label: bool = True, seed: int
) -> Drawn:
    """Draw k labels of every stratum, without replacement, freeze them and put them into the stage.

    keys: strata of the items that are combined, with the label itself if by_label. A stratum with fewer is taken
    whole, which the result says. The same draw again changes nothing and returns what was drawn. Raises WorkNotPossible
    where the stage holds another draw, for a stage that is no audit, asks for no verdict or has items,
    for labels that nobody has, and for more strata or items than people could audit.
    """
    # Two clicks must not draw twice.
    stage = Stage.objects.select_for_update(no_key=True).select_related("project").get(pk=stage.pk)
    if (made := draw_made(stage)) is not None:
        if _is_same(made, labels, k, keys, by_label, seed):
            return made
        raise WorkNotPossible(
            _("This stage was drawn already, by seed %(seed)s: another draw needs another stage.", seed=made.seed)
        )
    if stage.stage_items.exists():
        raise WorkNotPossible(_("This stage has items already, which were not drawn: draw into a new stage."))
    planned = _plan(stage, labels, k, keys, by_label, seed)
    item_set = _item_set(stage, labels, planned, seed)
    audit = Audit.objects.create(
        stage=stage,
        item_set=item_set,
        field=planned.plan.field.to_json(),
        label_set=labels.label_set,
        label_stage=labels.stage,
    )
    _fill(stage, labels.field, [row for rows in planned.rows for row in rows], seed)
    _offer_corrections(stage, planned.plan.field)
    events.record(
        actor=by,
        verb="audit.drawn",
        subject=stage,
        project_id=stage.project_id,
        item_set=item_set.pk,
        seed=seed,
        k=k,
        strata=len(planned.plan.strata),
        n=planned.plan.n_drawn,
        n_population=planned.plan.n_population,
    )
    return Drawn(**vars(planned.plan), seed=seed, audit=audit, told_keys=tuple(item_set.rule["told_keys"]))


def _is_same(made: Drawn, labels: Labels, k: int, keys: Sequence[str], by_label: bool, seed: int) -> bool:
    rule = made.audit.item_set.rule
    population = labels.population.name if labels.population else ""
    return (
        (made.k, made.keys, made.by_label, made.seed) == (k, tuple(keys), by_label, seed)
        and (rule["field"], made.audit.label_set, rule["population"]) == (labels.field, labels.label_set, population)
        and made.audit.label_stage == labels.stage
    )


def draw_made(stage: Stage) -> Drawn | None:
    """The draw that this stage was filled from, or None."""
    audit = Audit.objects.filter(stage=stage).select_related("item_set", "label_stage", "stage").first()
    if audit is None:
        return None
    rule = audit.item_set.rule
    return Drawn(
        field=FieldSpec.from_json(audit.field),
        keys=tuple(rule["keys"]),
        by_label=rule["by_label"],
        k=rule["k"],
        strata=tuple(
            Stratum(tuple(one["values"]), one["n_population"], one["n_drawn"], max(0, rule["k"] - one["n_population"]))
            for one in rule["strata"]
        ),
        n_unlabelled=rule["n_unlabelled"],
        n_excluded=rule["n_excluded"],
        seed=audit.item_set.seed or 0,
        audit=audit,
        told_keys=tuple(rule.get("told_keys", ())),
    )


def audited_labels(made: Drawn) -> list[Audited]:
    """Every drawn label with its counted verdicts, in the order of the draw."""
    audit = made.audit
    version = StageVersion.objects.get(stage=audit.stage_id, is_current=True)
    asked = fields_from_json(version.fields)
    notes = [field.name for field in asked if field.type in ("text", "long_text") and not field.decides]
    given: dict[int, list[Verdict]] = {}
    rows = Annotation.objects.counted().filter(assignment__stage=audit.stage_id).order_by("created_at", "pk")
    for place, person, answer in rows.values_list("assignment__stage_item", "assignment__person", "answer"):
        value, correction = verdict_in(asked, answer)
        if value:
            note = "\n".join(str(answer[one]) for one in notes if answer.get(one))
            given.setdefault(place, []).append(Verdict(person, value, correction, note))
    positions = dict(audit.item_set.entries.values_list("revision", "position"))
    excluded = set(
        Exclusion.objects.standing()
        .filter(project=audit.stage.project_id, item__isnull=False)
        .values_list("item", flat=True)
    )
    places = StageItem.objects.filter(stage=audit.stage_id).select_related("candidate", "revision__item")
    found = [
        (
            positions[place.candidate.revision_id],
            Audited(
                place=place.pk,
                stratum=made.stratum_at(positions[place.candidate.revision_id]),
                item=place.revision.item_id,
                external_id=place.revision.item.external_id,
                root=place.revision.item.root_id or place.revision.item_id,
                labels=labels_in(place.candidate.content),
                verdicts=tuple(given.get(place.pk, ())),
                wanted=place.wanted,
                is_left_out=place.state in GONE or place.revision.item_id in excluded,
                source=place.source_id,
            ),
        )
        for place in places.defer("revision__content")
        if place.candidate is not None
    ]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def left_to_audit(*, stage: Stage, person: Person) -> list[LeftToAudit]:
    """What is left of the draw to this reviewer, stratum by stratum, whatever the others have said so far."""
    made = draw_made(stage)
    if made is None:
        return []
    mine = Assignment.objects.filter(
        stage=stage, person=person, state__in=[Assignment.State.SUBMITTED, Assignment.State.SKIPPED]
    )
    gone = StageItem.objects.filter(stage=stage, state__in=GONE).exclude(assignments__in=mine)
    entries = ItemSetEntry.objects.filter(item_set=made.audit.item_set_id)
    positions = [
        *entries.filter(revision__candidates__stage_items__assignments__in=mine).values_list("position", flat=True),
        *entries.filter(revision__candidates__stage_items__in=gone).values_list("position", flat=True),
    ]
    finished = Counter(made.stratum_at(position) for position in positions)
    return [
        LeftToAudit(stratum.values, stratum.n_drawn, stratum.n_drawn - finished[n])
        for n, stratum in enumerate(made.strata)
        if stratum.n_drawn
    ]


def _plan(stage: Stage, labels: Labels, k: int, keys: Sequence[str], by_label: bool, seed: int) -> _Planned:
    if stage.kind != Stage.Kind.AUDIT:
        raise WorkNotPossible(_("Only a stage that audits can be drawn so."))
    if not 1 <= k <= MAX_K:
        raise WorkNotPossible(_("Draw between 1 and %(max_k)s items of each stratum.", max_k=f"{MAX_K:,}"))
    if not any(field.type == "verdict" for field in _fields(stage)):
        raise WorkNotPossible(_("This stage asks for no verdict: add a field of that type to its form."))
    if labels.stage is not None and labels.stage.kind not in LABELLING:
        raise WorkNotPossible(_("Decisions are audited of stages in which people label or answer."))
    known, chances = _known(stage, labels)
    rows, n_unlabelled = _decided(stage, labels, known) if labels.stage else _golden(stage, labels, known)
    excluded = set(
        Exclusion.objects.standing().filter(project=stage.project_id, item__isnull=False).values_list("item", flat=True)
    )
    kept = sorted((row for row in rows if row.item not in excluded), key=lambda row: row.external_id)
    if not kept:
        raise WorkNotPossible(
            _("No item has a decision in “%(field)s” yet.", field=labels.field)
            if labels.stage
            else _("No item has a gold label in “%(field)s”.", field=labels.field)
        )
    spec = _spec(stage, labels, kept)
    strata = _strata_of(kept, keys, spec if by_label else None)
    if len(set(strata)) > MAX_STRATA:
        raise WorkNotPossible(
            _(
                "That makes %(n_set)s strata, more than %(max_strata)s: combine fewer, or leave out the label.",
                n_set=f"{len(set(strata)):,}",
                max_strata=MAX_STRATA,
            )
        )
    found = draw_stratified([row.external_id for row in kept], strata, k, seed=seed)
    sizes = Counter(strata)
    names = _all_strata(sizes, spec if by_label else None)
    plan = Plan(
        field=spec,
        keys=tuple(keys),
        by_label=by_label,
        k=k,
        strata=tuple(
            Stratum(values, sizes[values], len(found.get(values, [])), max(0, k - sizes[values])) for values in names
        ),
        n_unlabelled=n_unlabelled,
        n_excluded=len(rows) - len(kept),
    )
    if plan.n_drawn > MAX_DRAWN:
        raise WorkNotPossible(
            _(
                "That makes %(n_drawn)s items, more than %(max_drawn)s: draw fewer of each stratum.",
                n_drawn=f"{plan.n_drawn:,}",
                max_drawn=f"{MAX_DRAWN:,}",
            )
        )
    drawn = tuple(tuple(kept[place] for place in found.get(values, [])) for values in names)
    return _Planned(plan, drawn, chances)


def _known(stage: Stage, labels: Labels) -> tuple[dict[int, int], dict[int, float]]:
    """Item -> the revision of it that the population has; item -> its chance of having come into the population."""
    if labels.population is not None:
        entries = labels.population.entries.values_list("revision__item", "revision", "inclusion_probability")
        rows = list(entries)
        return {item: revision for item, revision, _ in rows}, {item: chance for item, _, chance in rows}
    current = ItemRevision.objects.current().filter(item__project=stage.project_id)
    return dict(current.values_list("item", "pk")), {}


def _golden(stage: Stage, labels: Labels, known: Mapping[int, int]) -> tuple[list[_Labelled], int]:
    golds = Gold.objects.filter(
        item__project=stage.project_id, field=labels.field, label_set=labels.label_set, is_current=True
    )
    told = golds.values_list("item", "item__external_id", "item__author", "made_by", "answers")
    languages = _languages(stage)
    rows = [
        # Whoever made the label is kept from it as whoever wrote the item is.
        _Labelled(known[item], item, name, languages.get(item, ""), author or maker, answers)
        for item, name, author, maker, answers in told
        if item in known and answers
    ]
    return rows, len(known) - len(rows)


def _decided(stage: Stage, labels: Labels, known: Mapping[int, int]) -> tuple[list[_Labelled], int]:
    places = StageItem.objects.filter(
        stage=labels.stage, candidate__isnull=True, purpose=StageItem.Purpose.WORK
    ).exclude(state__in=GONE)
    resolutions = (
        Resolution.objects.filter(stage_item__in=places, field=labels.field)
        .exclude(status__in=UNDECIDED)
        .order_by("stage_item")
    )
    told = resolutions.values_list(
        "stage_item",
        "stage_item__revision",
        "stage_item__revision__item",
        "stage_item__revision__item__external_id",
        "stage_item__language",
        "stage_item__author",
        "answer",
    )
    rows = {
        item: _Labelled(revision, item, name, language, author, [answer], place)
        for place, revision, item, name, language, author, answer in told
        if item in known and answer is not None
    }
    asked = set(places.values_list("revision__item", flat=True)) & set(known)
    return list(rows.values()), len(asked) - len(rows)


def _languages(stage: Stage) -> dict[int, str]:
    rows = ItemRevision.objects.current().filter(item__project=stage.project_id).exclude(language="")
    return dict(rows.values_list("item", "language"))


def _spec(stage: Stage, labels: Labels, rows: Sequence[_Labelled]) -> FieldSpec:
    """The field as the stage describes it whose labels are audited, else the first that asks for it."""
    asking = Stage.objects.filter(project=stage.project_id).exclude(pk=stage.pk).order_by("position", "pk")
    if labels.stage is not None:
        asking = asking.filter(pk=labels.stage.pk)
    versions = StageVersion.objects.filter(stage__in=asking, is_current=True).order_by("stage__position", "stage")
    for form in versions.values_list("fields", flat=True):
        for spec in fields_from_json(form):
            if spec.name == labels.field and spec.decides and spec.type != "verdict":
                return spec
    return described(labels.field, [row.labels for row in rows])


def _strata_of(rows: Sequence[_Labelled], keys: Sequence[str], spec: FieldSpec | None) -> list[tuple[str, ...]]:
    """The stratum of each row: values of the keys, several of one key together, and the label."""
    strata: dict[int, list[list[str]]] = {}
    if keys:
        ids = {row.item for row in rows}
        project = Item.objects.filter(pk=rows[0].item).values("project")
        told = ItemKey.objects.filter(item__project__in=project).values_list("item", "strata")
        strata = {item: pairs for item, pairs in told if item in ids}

    def value(row: _Labelled, key: str) -> str:
        return "; ".join(sorted({value for name, value in strata.get(row.item, []) if name == key})) or WITHOUT_VALUE

    return [
        (*(value(row, key) for key in keys), *((label_key(spec, row.labels),) if spec is not None else ()))
        for row in rows
    ]


def _all_strata(sizes: Mapping[tuple[str, ...], int], spec: FieldSpec | None) -> list[tuple[str, ...]]:
    """Every combination of the values there are, or only those of items where that would be too many to tell.

    Values by their text, labels in the order in which they are declared.
    """
    columns = [sorted(set(column)) for column in zip(*sizes, strict=True)]
    if spec is not None and columns:
        declared = [option.value for option in spec.options] if spec.type == "choice" else []
        columns[-1] = list(dict.fromkeys([*declared, *columns[-1]]))
    n_combinations = 1
    for column in columns:
        n_combinations *= len(column)
    if n_combinations <= MAX_STRATA:
        return list(itertools.product(*columns))
    places = [{value: n for n, value in enumerate(column)} for column in columns]
    return sorted(sizes, key=lambda values: [place[value] for place, value in zip(places, values, strict=True)])


def _item_set(stage: Stage, labels: Labels, planned: _Planned, seed: int) -> ItemSet:
    plan = planned.plan
    item_set: ItemSet = ItemSet.objects.create(
        project_id=stage.project_id,
        name=_free_name(stage),
        rule={
            "kind": "audit",
            "stage": stage.slug,
            "method": "stratified",
            "k": plan.k,
            "field": labels.field,
            "label_set": labels.label_set,
            "decided_in": labels.stage.slug if labels.stage else "",
            "population": labels.population.name if labels.population else "",
            "keys": list(plan.keys),
            "by_label": plan.by_label,
            "told_keys": _told_in_content(planned),
            "strata": [
                {"values": list(one.values), "n_population": one.n_population, "n_drawn": one.n_drawn}
                for one in plan.strata
            ],
            "n_unlabelled": plan.n_unlabelled,
            "n_excluded": plan.n_excluded,
        },
        seed=seed,
        n_population=plan.n_population,
        n_items=plan.n_drawn,
    )
    entries = [(row, stratum) for stratum, rows in zip(plan.strata, planned.rows, strict=True) for row in rows]
    ItemSetEntry.objects.bulk_create(
        ItemSetEntry(
            item_set=item_set,
            position=position,
            revision_id=row.revision,
            # A draw from a draw: what was left to chance before stays so.
            inclusion_probability=planned.chances.get(row.item, 1.0) * stratum.n_drawn / stratum.n_population,
        )
        for position, (row, stratum) in enumerate(entries)
    )
    return item_set


def _told_in_content(planned: _Planned) -> list[str]:
    """The keys of the strata that are no secret: each drawn item has the value of its stratum in its content, too."""
    value_of = {
        row.revision: dict(zip(planned.plan.keys, stratum.values, strict=False))
        for stratum, rows in zip(planned.plan.strata, planned.rows, strict=True)
        for row in rows
    }
    told = list(planned.plan.keys)
    ids = sorted(value_of) if told else []
    for start in range(0, len(ids), 1_000):
        contents = ItemRevision.objects.filter(pk__in=ids[start : start + 1_000]).values_list("pk", "content")
        for revision, content in contents.iterator():
            pairs = [(pair[0], pair[1]) for pair in content]
            told = [key for key in told if _content_value(pairs, key) == value_of[revision][key]]
    return told


def _content_value(pairs: Sequence[tuple[str, Any]], key: str) -> str:
    """What the content says under a name, as a stratum would: several values together."""
    values: set[str] = set()
    for name, value in pairs:
        if name == key:
            values.update(str(one) for one in (value if isinstance(value, list) else [value]))
    return "; ".join(sorted(values)) or WITHOUT_VALUE


def _fill(stage: Stage, field: str, rows: Sequence[_Labelled], seed: int) -> None:
    candidates = freeze_candidates(
        project_id=stage.project_id, contents={row.revision: as_candidate(field, row.labels) for row in rows}
    )
    order = shuffled([row.external_id for row in rows], seed=seed)
    StageItem.objects.bulk_create(
        [
            StageItem(
                stage=stage,
                revision_id=rows[place].revision,
                rank=rank,
                language=rows[place].language,
                author_id=rows[place].author,
                source_id=rows[place].source,
                candidate_id=candidates[rows[place].revision],
                wanted=stage.overlap,
            )
            for rank, place in enumerate(order)
        ],
        batch_size=1_000,
    )


def _offer_corrections(stage: Stage, spec: FieldSpec) -> None:
    """Let the verdict offer the labels that there are; nobody has answered yet, because there was no item."""
    version = StageVersion.objects.select_for_update().get(stage=stage, is_current=True)
    options = corrections_offered(spec)
    version.fields = [field | {"options": options} if field["type"] == "verdict" else field for field in version.fields]
    version.save(update_fields=["fields"])


def _fields(stage: Stage) -> tuple[FieldSpec, ...]:
    return fields_from_json(StageVersion.objects.values_list("fields", flat=True).get(stage=stage, is_current=True))


def _free_name(stage: Stage) -> str:
    base = f"{stage.title[:80]}: drawn labels"
    taken = set(ItemSet.objects.filter(project=stage.project_id).values_list("name", flat=True))
    return next(name for k in range(1, len(taken) + 2) if (name := base if k == 1 else f"{base} ({k})") not in taken)
