"""Numbers that are kept beside the rows they come from: counted again, compared, and made right.

Beside running traffic there is no false alarm. What seems to differ is looked at once more under the lock that whoever
changes the number takes, too; only what differs then is told or repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from django.db import models, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Now

from annotate import events
from annotate.models import (
    Annotation,
    Assignment,
    ItemSet,
    ItemSetEntry,
    Participation,
    Person,
    Resolution,
    Stage,
    StageItem,
)
from annotate.services import resolving

# Rows looked at together: whoever answers one of these items waits meanwhile.
CHUNK = 50


@dataclass(frozen=True)
class Difference:
    """One column of one row that does not say what its rows add up to; where: the row as a person would look for it."""

    key: Any
    where: str
    column: str
    stored: Any
    counted: Any

    def __str__(self) -> str:
        return f"{self.where}: {self.column} is {self.stored!r}, counted {self.counted!r}"


class Check(Protocol):
    """One kind of row with numbers of that sort, and how it is locked, looked at and repaired.

    chunk: how many may be locked at once. lock: in the order in which the queue does.
    differences: of the rows with these keys, or of all. repair: in the transaction that holds the locks.
    """

    @property
    def chunk(self) -> int: ...

    def differences(self, keys: Sequence[Any] | None = None) -> Iterator[Difference]: ...

    def lock(self, keys: Sequence[Any]) -> None: ...

    def repair(self, found: Sequence[Difference]) -> None: ...


def recount(checks: Iterable[Check], *, repair: bool) -> Iterator[Difference]:
    """What differs, check by check; with `repair` each is made right before it is told, and recorded as an event."""
    for check in checks:
        suspects = dict.fromkeys(difference.key for difference in check.differences())
        for keys in _chunks(suspects, check.chunk):
            with transaction.atomic():
                check.lock(keys)
                found = list(check.differences(keys))
                if repair and found:
                    check.repair(found)
            yield from found


def record(subject: models.Model, project_id: int | None, found: Iterable[Difference]) -> None:
    """The event of a repaired row: each column with what it said and what it says now."""
    changed: dict[str, Any] = {difference.column: [difference.stored, difference.counted] for difference in found}
    events.record(verb="counters.repaired", subject=subject, project_id=project_id, **changed)


def by_key(found: Iterable[Difference]) -> dict[Any, list[Difference]]:
    rows: dict[Any, list[Difference]] = {}
    for difference in found:
        rows.setdefault(difference.key, []).append(difference)
    return rows


@dataclass(frozen=True)
class Columns:
    """Columns that one question to the database counts again.

    rows: those to look at. counted: column -> what it should be. named: the columns from which `where` is made.
    project: the path to the row's project.
    """

    rows: QuerySet[Any]
    counted: Mapping[str, Any]
    where: str
    named: Sequence[str]
    project: str
    chunk: int = CHUNK

    def differences(self, keys: Sequence[Any] | None = None) -> Iterator[Difference]:
        rows = self.rows if keys is None else self.rows.filter(pk__in=keys)
        asked = rows.annotate(**{f"counted_{column}": value for column, value in self.counted.items()})
        columns = list(self.counted)
        # One statement: what it reads is as of one moment. Compared here, where NULL is a value like any other.
        for pk, *values in (
            asked.order_by("pk")
            .values_list("pk", *columns, *(f"counted_{column}" for column in columns), *self.named)
            .iterator(chunk_size=2_000)
        ):
            n = len(columns)
            for column, stored, counted in zip(columns, values[:n], values[n : 2 * n], strict=True):
                if stored != counted:
                    yield Difference(pk, self.where.format(*values[2 * n :]), column, stored, counted)

    def lock(self, keys: Sequence[Any]) -> None:
        list(self._objects().filter(pk__in=keys).select_for_update(of=("self",)).order_by("pk").values_list("pk"))

    def repair(self, found: Sequence[Difference]) -> None:
        rows = by_key(found)
        projects = dict(self.rows.filter(pk__in=rows).values_list("pk", self.project))
        for row in self._objects().filter(pk__in=rows):
            self.write(row, {difference.column: difference.counted for difference in rows[row.pk]})
            record(row, projects[row.pk], rows[row.pk])

    def write(self, row: Any, values: Mapping[str, Any]) -> None:
        self._objects().filter(pk=row.pk).update(**values)

    def _objects(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = self.rows.model._default_manager.all()
        return rows


class Places(Columns):
    """The places of stage items."""

    def lock(self, keys: Sequence[Any]) -> None:
        StageItem.objects.filter(pk__in=keys).lock_in_claim_order()

    def write(self, row: StageItem, values: Mapping[str, Any]) -> None:
        taken = values.get("active", row.active) + values.get("done", row.done)
        # More answers hold a place than were wanted: they stay, as they do where the overlap is lowered.
        super().write(row, {**values, "wanted": max(row.wanted, taken)})


class Newest(Columns):
    """Which revision of an answer counts."""

    def lock(self, keys: Sequence[Any]) -> None:
        holders = Assignment.objects.filter(annotations__in=keys).order_by("pk")
        list(holders.select_for_update(of=("self",)).values_list("pk"))
        StageItem.objects.filter(assignments__annotations__in=keys).lock_in_claim_order()

    def repair(self, found: Sequence[Difference]) -> None:
        # Those that count no longer first: no two may be the newest at any moment.
        super().repair([difference for difference in found if not difference.counted])
        super().repair([difference for difference in found if difference.counted])
        keys = [difference.key for difference in found]
        StageItem.objects.filter(assignments__annotations__in=keys).update(due_at=Now())


@dataclass(frozen=True)
class MissingParticipations:
    """People with answers or skips in a stage that does not know them. The numbers follow in the next check."""

    # One at a time: a claim that holds one of them may be waiting for a row of somebody whose answer waits for another.
    chunk: int = 1

    def differences(self, keys: Sequence[Any] | None = None) -> Iterator[Difference]:
        known = Participation.objects.filter(stage=OuterRef("stage"), person=OuterRef("person"))
        rows = Assignment.objects.filter(~Exists(known), state__in=["submitted", "skipped"]).exclude(
            purpose=StageItem.Purpose.QUALIFICATION
        )
        if keys is not None:
            rows = rows.filter(stage__in=[stage for stage, _ in keys], person__in=[person for _, person in keys])
        found = rows.order_by("stage", "person").distinct()
        for stage_id, person_id, pseudonym, project, stage in found.values_list(
            "stage_id", "person_id", "person__pseudonym", "stage__project__slug", "stage__slug"
        ):
            yield Difference((stage_id, person_id), f"{pseudonym} in {project}/{stage}", "participation", None, "a row")

    def lock(self, keys: Sequence[Any]) -> None:
        """There is no row to lock: who comes second finds the first one's."""

    def repair(self, found: Sequence[Difference]) -> None:
        for difference in found:
            stage_id, person_id = difference.key
            made, _ = Participation.objects.get_or_create(
                stage=Stage.objects.get(pk=stage_id), person=Person.objects.get(pk=person_id)
            )
            record(made, made.stage.project_id, [difference])


@dataclass(frozen=True)
class Votes:
    """What the votes on items come to. Items that are due are left out: they are about to be counted."""

    chunk: int = CHUNK

    def differences(self, keys: Sequence[Any] | None = None) -> Iterator[Difference]:
        rows = StageItem.objects.filter(due_at__isnull=True).filter(
            Exists(Assignment.objects.filter(stage_item=OuterRef("pk"), state=Assignment.State.SUBMITTED))
            | Exists(Resolution.objects.filter(stage_item=OuterRef("pk")))
        )
        if keys is not None:
            rows = rows.filter(pk__in=keys)
        named = rows.select_related("stage__project", "revision__item").order_by("pk")
        for items in _chunks(named.iterator(chunk_size=CHUNK), CHUNK):
            stored = {
                (row.stage_item_id, row.field): row
                for row in Resolution.objects.filter(stage_item__in=items).exclude(status=Resolution.Status.ADJUDICATED)
            }
            by_pk = {item.pk: item for item in items}
            for counted in resolving.votes_on(items):
                item = by_pk[counted.stage_item_id]
                yield from _compared(item, stored.get((item.pk, counted.field)), counted)

    def lock(self, keys: Sequence[Any]) -> None:
        StageItem.objects.filter(pk__in=keys).lock_in_claim_order()

    def repair(self, found: Sequence[Difference]) -> None:
        rows = by_key(found)
        items = list(StageItem.objects.filter(pk__in=rows).select_related("stage"))
        resolving.count_votes(items)
        for item in items:
            record(item, item.stage.project_id, rows[item.pk])


def _compared(item: StageItem, stored: Resolution | None, counted: Resolution) -> Iterator[Difference]:
    if stored is None and not counted.n_votes:
        return  # nobody has answered, and nobody has counted
    where = _ITEM.format(item.stage.project.slug, item.stage.slug, item.revision.item.external_id)
    for column in ("status", "answer", "answer_key", "key_version", "counts", "n_votes", "margin"):
        was, is_ = getattr(stored, column, None), getattr(counted, column)
        if was != is_:
            # An event holds no answer, nor does a terminal: that it differs is enough.
            hidden = column in ("answer", "answer_key", "counts")
            told = ("(stored)", "(counted)") if hidden else (was, is_)
            yield Difference(item.pk, where, f"{counted.field}.{column}", *told)


def number_of(rows: QuerySet[Any], by: str, value: Any = None) -> Any:
    """A column counted from other rows, each of which names its row in the column `by`."""
    total = rows.order_by().values(by).annotate(total=value or Count("pk"))
    return Coalesce(Subquery(total.values("total")), 0)


def _chunks(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk


_ITEM = "item {2} in {0}/{1}"
_ITEM_COLUMNS = ("stage__project__slug", "stage__slug", "revision__item__external_id")
_HELD = Assignment.objects.filter(stage_item=OuterRef("pk"), slot__isnull=False)
# What somebody did to qualify comes before the stage, and is none of their work in it.
_MINE = Assignment.objects.filter(stage=OuterRef("stage"), person=OuterRef("person")).exclude(
    purpose=StageItem.Purpose.QUALIFICATION
)
_MY_ANSWERS = Annotation.objects.filter(
    assignment__stage=OuterRef("stage"), assignment__person=OuterRef("person")
).exclude(assignment__purpose=StageItem.Purpose.QUALIFICATION)
_NEWER = Annotation.objects.filter(assignment=OuterRef("assignment"), number__gt=OuterRef("number"))

# In this order: a later one counts from rows that an earlier one has made right.
CHECKS: tuple[Check, ...] = (
    Columns(
        Assignment.objects.exclude(stage=F("stage_item__stage"), purpose=F("stage_item__purpose")),
        {"stage": F("stage_item__stage"), "purpose": F("stage_item__purpose")},
        "assignment {0}",
        ("pk",),
        "stage_item__stage__project",
    ),
    Newest(
        Annotation.objects.filter(Q(is_current=True) | ~Exists(_NEWER)),
        {"is_current": ~Exists(_NEWER)},
        "answer {3} to " + _ITEM,
        (*(f"assignment__stage_item__{column}" for column in _ITEM_COLUMNS), "pk"),
        "assignment__stage__project",
    ),
    Places(
        StageItem.objects.all(),
        {
            "active": number_of(_HELD.filter(state=Assignment.State.LEASED), "stage_item"),
            "done": number_of(_HELD.filter(state=Assignment.State.SUBMITTED), "stage_item"),
        },
        _ITEM,
        _ITEM_COLUMNS,
        "stage__project",
    ),
    MissingParticipations(),
    Columns(
        Participation.objects.all(),
        {
            "n_answered": number_of(_MINE.filter(state=Assignment.State.SUBMITTED), "person"),
            "n_skipped": number_of(_MINE.filter(state=Assignment.State.SKIPPED), "person"),
            "active_seconds": number_of(_MY_ANSWERS, "assignment__person", Sum("active_seconds")),
        },
        "{2} in {0}/{1}",
        ("stage__project__slug", "stage__slug", "person__pseudonym"),
        "stage__project",
        # As above.
        chunk=1,
    ),
    Votes(),
    Columns(
        ItemSet.objects.all(),
        {"n_items": number_of(ItemSetEntry.objects.filter(item_set=OuterRef("pk")), "item_set")},
        "item set {1} of {0}",
        ("project__slug", "name"),
        "project",
    ),
)
