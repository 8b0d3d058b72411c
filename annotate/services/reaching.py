"""Which items cannot reach the answers they want with today's people: the rows for annotate/reaching.py.

A constant number of statements, whatever the number of stages, items and people. Who may get an item is said once more
here than in annotate/claim_sql.py, because the claim asks it of one person and this of everybody at once;
tests/annotate/test_reaching.py holds the two against each other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotate.models import Assignment, Exclusion, ItemHand, Membership, QualificationAttempt, Stage, StageItem
from annotate.reaching import OutOfReach, Place, Reader, Why, out_of_reach, reads
from annotate.services.checks import MAX_ATTEMPTS

# Kinds of items that are told apart before any item is read; more of them only make the first look coarser.
MOST_KINDS = 60
# So many ids are named in a statement; beyond that it asks for all of their stages or projects.
MOST_NAMED = 500
JUDGING = (Stage.Kind.ADJUDICATE, Stage.Kind.REVIEW)


@dataclass(frozen=True)
class Shortage:
    """Items of a stage that are out of reach for the same reason, in words: partials/shortage.html.

    language, group: of the items, where that is the reason. n_able: how many people could answer them, had nobody met
    them. n_missing: how many more people the worst of them needs. n_eligible, free: of one that needs most.
    """

    why: Why
    n_items: int
    n_missing: int
    n_eligible: int
    n_able: int
    free: int
    wanted: int
    language: str = ""
    group: str = ""


@dataclass(frozen=True)
class Reach:
    """Of one stage: how many people may take it now, and the items that cannot get their answers from them."""

    stage: Stage
    n_people: int
    items: tuple[OutOfReach, ...]

    @property
    def shortages(self) -> list[Shortage]:
        """By reason, the one that concerns most items first."""
        groups: dict[tuple[Why, str, str], list[OutOfReach]] = defaultdict(list)
        for one in self.items:
            language = one.place.language if one.why == Why.LANGUAGE else ""
            group = one.place.author_group if one.why == Why.GROUP else ""
            groups[one.why, language, group].append(one)
        found = []
        for (why, language, group), items in groups.items():
            worst = max(items, key=lambda one: (one.n_missing, -one.n_eligible))
            found.append(
                Shortage(
                    why=why,
                    n_items=len(items),
                    n_missing=worst.n_missing,
                    n_eligible=worst.n_eligible,
                    n_able=worst.n_able,
                    free=worst.place.free,
                    wanted=worst.place.wanted,
                    language=language,
                    group=group,
                )
            )
        return sorted(found, key=lambda one: (-one.n_items, one.why, one.language, one.group))


def reach(stages: Iterable[Stage]) -> dict[int, Reach]:
    """For each stage by its id; leases that run count as answers, and drafts are looked at as if they were open."""
    asked = {stage.pk: stage for stage in stages}
    readers = _readers(asked.values())
    work = StageItem.objects.filter(purpose=StageItem.Purpose.WORK)
    short = work.short_of_answers().filter(stage__in=asked).order_by("stage", "rank")
    judged, audited = _judged(asked.values()), _audited(asked.values())
    most_of_few = sum(max(map(len, few.values()), default=0) for few in (judged, audited))
    suspects = _suspects(short, readers, most_of_few)
    met = _met(asked, suspects)
    for row in suspects:
        met[row.pk] |= judged[row.pk]
        if row.candidate_id is None:
            met[row.pk] |= audited[row.revision_id]
    places: dict[int, list[Place]] = defaultdict(list)
    for row in suspects:
        free = row.wanted - row.done - row.active
        places[row.stage_id].append(Place(row.pk, row.wanted, free, row.language, row.author_group))
    return {
        pk: Reach(stage, len(readers[pk]), tuple(out_of_reach(places[pk], readers[pk], met)))
        for pk, stage in asked.items()
    }


def _readers(stages: Iterable[Stage]) -> dict[int, list[Reader]]:
    """Whose answers would count in each stage: active members with one of its roles.

    But for those who can no longer qualify for it, and those who are excluded: what they answer, no figure counts.
    """
    stages = list(stages)
    excluded = Exclusion.objects.standing().filter(project=OuterRef("project"), person=OuterRef("person"))
    members = (
        Membership.objects.active()
        .filter(~Exists(excluded), project__in={stage.project_id for stage in stages})
        .order_by("pk")
    )
    rows = list(members.values_list("project", "role", "person", "languages", "group"))
    attempts = QualificationAttempt.objects.in_force().filter(stage__in=stages, stage__qualification_size__gt=0)
    n_failed = Counter(attempts.filter(state=QualificationAttempt.State.FAILED).values_list("stage", "person"))
    passed = set(attempts.filter(state=QualificationAttempt.State.PASSED).values_list("stage", "person"))
    turned_away = {who for who, n in n_failed.items() if n >= MAX_ATTEMPTS} - passed
    return {
        stage.pk: [
            Reader(person, tuple(languages), group)
            for project, role, person, languages, group in rows
            if project == stage.project_id and role in stage.roles and (stage.pk, person) not in turned_away
        ]
        for stage in stages
    }


def _judged(stages: Collection[Stage]) -> dict[int, set[int]]:
    """Place -> who was to decide about its answers, and so has read them."""
    judged: dict[int, set[int]] = defaultdict(set)
    judging = Assignment.objects.filter(
        stage__in=_beside(stages, JUDGING),
        stage_item__candidate=None,
        stage_item__source__stage__in=[stage.pk for stage in stages],
    )
    for place, person in judging.values_list("stage_item__source", "person"):
        judged[place].add(person)
    return judged


def _audited(stages: Collection[Stage]) -> dict[int, set[int]]:
    """Revision -> who was shown its label in an audit, or a model's answer to judge."""
    drawn = StageItem.objects.filter(
        stage__in=_beside(stages, (Stage.Kind.AUDIT, Stage.Kind.JUDGE)), candidate__isnull=False
    )
    audited: dict[int, set[int]] = defaultdict(set)
    # In whatever wording: each revision of the item.
    for revision, person in drawn.filter(assignments__isnull=False).values_list(
        "revision__item__revisions", "assignments__person"
    ):
        audited[revision].add(person)
    return audited


def _beside(stages: Iterable[Stage], kinds: Sequence[str]) -> list[int]:
    """The stages of these kinds in the same projects. By their ids, and not joined: right after an import PostgreSQL
    does not know yet that an audit has few places and the project many answers, and would go through all of them for
    each."""
    projects = {stage.project_id for stage in stages}
    return list(Stage.objects.filter(project__in=projects, kind__in=kinds).values_list("pk", flat=True))


def _suspects(short: QuerySet[StageItem], readers: dict[int, list[Reader]], most_of_few: int) -> list[StageItem]:
    """Items that may be out of reach: all that are, and few others.

    The database counts whom an item is kept from without asking who they are, which may be one person twice or somebody
    who left; a study that has people enough reads no item at all. most_of_few: how many those who decided about an item
    or audited it are at most. An audit has few items, and all are looked at.
    """
    kinds = list(short.order_by().values_list("stage", "language", "author_group").distinct())
    sizes = {
        (stage, language, group): sum(
            reads(reader.languages, language) and (not group or reader.group != group) for reader in readers[stage]
        )
        for stage, language, group in kinds
    }
    cases = [
        When(stage=stage, language=language, author_group=group, then=Value(size))
        for (stage, language, group), size in sorted(sizes.items(), key=lambda kind: -kind[1])[:MOST_KINDS]
    ]
    able = Case(*cases, default=Value(min(sizes.values(), default=0)), output_field=IntegerField())
    kept_from = (
        _count(Assignment.objects.filter(stage_item=OuterRef("pk")), "stage_item")
        + _count(Assignment.objects.filter(stage_item=OuterRef("source")), "stage_item")
        + _count(Assignment.objects.filter(stage_item=OuterRef("source__source")), "stage_item")
        + _count(ItemHand.objects.filter(item=OuterRef("revision__item")), "item")
        + Case(When(author__isnull=True, then=Value(0)), default=Value(1))
    )
    free = F("wanted") - F("done") - F("active")
    is_near = Q(able__lt=free + F("kept_from") + most_of_few) | Q(stage__kind=Stage.Kind.AUDIT)
    near = short.annotate(able=able, kept_from=kept_from).filter(is_near)
    return list(near.select_related("revision", "source__source").defer("revision__content"))


def _count(rows: QuerySet[Any], of: str) -> Coalesce:
    counted = rows.order_by().values(of).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _met(asked: Mapping[int, Stage], suspects: Sequence[StageItem]) -> dict[int, set[int]]:
    """Place -> who met it, wrote it, answered what it is about, or had a part in its gold label or what it audits.

    What belongs together is found here and not in a join: right after an import PostgreSQL knows nothing of the new
    rows yet, and would go through all of one table for each row of another.
    """
    met: dict[int, set[int]] = defaultdict(set)
    places: dict[int, list[int]] = {}
    about: dict[int, list[int]] = defaultdict(list)
    stages = set()
    for row in suspects:
        places[row.pk] = [row.pk]
        if row.author_id is not None:
            met[row.pk].add(row.author_id)
        source = row.source
        for _ in range(2):
            if source is not None:
                about[source.pk].append(row.pk)
                stages.add(source.stage_id)
                source = source.source
    seen = _assignments(places, {row.stage_id for row in suspects}).exclude(state__in=["expired", "withdrawn"])
    voted = _assignments(about, stages).filter(state=Assignment.State.SUBMITTED)
    for rows, concerned in ((seen, places), (voted, about)):
        for place, person in rows.values_list("stage_item", "person").iterator(chunk_size=5_000):
            for concerns in concerned.get(place, ()):
                met[concerns].add(person)
    _add_makers(met, asked, suspects)
    _add_hands(met, asked, suspects)
    return met


def _assignments(places: Collection[int], stages: Iterable[int]) -> QuerySet[Assignment]:
    """Those of the places, and of others of their stages where the places are many."""
    if len(places) <= MOST_NAMED:
        return Assignment.objects.filter(stage_item__in=list(places))
    return Assignment.objects.filter(stage__in=list(stages))


def _add_hands(met: dict[int, set[int]], asked: Mapping[int, Stage], suspects: Sequence[StageItem]) -> None:
    """Who had a hand in an item's gold label does not answer or audit it, nor decide about its audit."""
    items: dict[int, list[int]] = defaultdict(list)
    for row in suspects:
        is_about_answers = row.source is None or row.source.candidate_id is None
        if not (asked[row.stage_id].kind in JUDGING and is_about_answers):
            items[row.revision.item_id].append(row.pk)
    hands = (
        ItemHand.objects.filter(item__in=list(items))
        if len(items) <= MOST_NAMED
        else ItemHand.objects.filter(item__project__in={stage.project_id for stage in asked.values()})
    )
    for item, person in hands.values_list("item", "person"):
        for place in items.get(item, ()):
            met[place].add(person)


def _add_makers(met: dict[int, set[int]], asked: Mapping[int, Stage], suspects: Sequence[StageItem]) -> None:
    """Who answered an item anywhere does not audit its label."""
    items: dict[int, list[int]] = defaultdict(list)
    for row in suspects:
        if asked[row.stage_id].kind == Stage.Kind.AUDIT and row.candidate_id is not None:
            items[row.revision.item_id].append(row.pk)
    made = Assignment.objects.filter(
        state__in=[Assignment.State.LEASED, Assignment.State.SUBMITTED],
        stage_item__revision__item__in=list(items),
    ).exclude(stage__kind__in=[Stage.Kind.AUDIT, Stage.Kind.JUDGE])
    for item, person in made.values_list("stage_item__revision__item", "person"):
        for place in items[item]:
            met[place].add(person)
