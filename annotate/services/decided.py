"""Where somebody's answers differ from what was decided, once nobody is asked any more.

The rule is of the whole stage, not of its items: a list that left out those that are still asked elsewhere would say
which ones people disagree about.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _

from annotate.answers import FieldSpec, answer_keys, fields_from_json, get_field_type
from annotate.exceptions import DecidedNotShown
from annotate.models import Annotation, Assignment, Decision, Exclusion, Gold, Person, Resolution, Stage, StageItem
from annotate.services.counting import GONE
from annotate.services.own_work import OwnAnswer, own_answer

PAGE = 20
# What an answer is shown with.
OF_AN_ANSWER = ("assignment__stage_item__revision__item", "stage_version")
VOTED = frozenset({Stage.Kind.LABEL, Stage.Kind.ANSWER})
DECIDED = frozenset({Resolution.Status.UNANIMOUS, Resolution.Status.MAJORITY, Resolution.Status.ADJUDICATED})

SAME, DIFFERED, SPLIT, LEFT_OUT = "same", "differed", "split", "left_out"


@dataclass(frozen=True)
class Verdicts:
    """How a person's answers in a stage compare. n: all of them. Each is in exactly one of the others."""

    n: int = 0
    same: int = 0
    differed: int = 0
    split: int = 0
    left_out: int = 0

    @property
    def n_decided(self) -> int:
        return self.same + self.differed


@dataclass(frozen=True)
class DecidedField:
    """One field of an answer beside what was decided. gold: only where the stage says so.

    votes: how many there were, and how many for what was decided.
    """

    caption: str
    mine: str
    decided: str
    status: str
    is_same: bool
    n_votes: int
    n_for: int
    gold: Sequence[str] = ()


@dataclass(frozen=True)
class Compared:
    """An answer of mine. reason: the adjudicator's. others: what others wrote who answered otherwise than I did."""

    mine: OwnAnswer
    verdict: str
    fields: list[DecidedField]
    reason: str = ""
    others: list[tuple[str, str]] = field(default_factory=list)


def check_shows_decided(stage: Stage) -> None:
    """Raises DecidedNotShown with the reason while people must not see what was decided in a stage."""
    if stage.kind not in VOTED:
        raise DecidedNotShown(_("Nothing is voted on in this stage."))
    if not stage.shows_decided:
        raise DecidedNotShown(_("The project does not show what was decided."))
    if stage.state != Stage.State.CLOSED:
        raise DecidedNotShown(_("What was decided is shown when the stage is closed: until then answers may change."))
    if stage.stage_items.due().exists():
        raise DecidedNotShown(_("Votes are being counted. Look again in a moment."))
    if asked_elsewhere(stage).exists():
        raise DecidedNotShown(
            _(
                "Some of these items are still asked about in another stage. "
                "What was decided is shown when it is closed."
            )
        )


def asked_elsewhere(stage: Stage) -> Any:
    """Places in stages that are not closed, drafts among them, in which knowing what was decided here would tell.

    The same items, in whatever wording (a cross-check, an audit, an adjudication), places that are about places here,
    and items that answers here became.
    """
    places = StageItem.objects.exclude(stage=stage).exclude(stage__state=Stage.State.CLOSED).exclude(state__in=GONE)
    here = StageItem.objects.filter(stage=stage)
    return places.filter(
        Q(revision__item__in=here.values("revision__item"))
        | Q(source__stage=stage)
        | Q(revision__item__source__stage=stage),
        stage__project=stage.project_id,
    )


def verdicts_of(stage: Stage, person: Person) -> list[tuple[int, str]]:
    """(annotation id, verdict) of the person's answers in a stage, the newest first. Checks are none of them."""
    rows = list(
        _answers(stage, person).values_list("pk", "answer", "stage_version", "assignment__stage_item").order_by("-pk")
    )
    forms = {version.pk: fields_from_json(version.fields) for version in stage.versions.all()}
    winners: dict[int, list[tuple[str, str, str | None]]] = defaultdict(list)
    resolutions = Resolution.objects.filter(
        stage_item__in=[row[3] for row in rows] if len(rows) < 500 else _places(stage)
    )
    for place, name, status, key in resolutions.values_list("stage_item", "field", "status", "answer_key"):
        winners[place].append((name, status, key))
    gone = _left_out(stage)
    return [
        (pk, LEFT_OUT if place in gone else _verdict(answer_keys(forms[version], answer), winners[place]))
        for pk, answer, version, place in rows
    ]


def count_verdicts(verdicts: Sequence[tuple[int, str]]) -> Verdicts:
    counted = Counter(verdict for _pk, verdict in verdicts)
    return Verdicts(len(verdicts), counted[SAME], counted[DIFFERED], counted[SPLIT], counted[LEFT_OUT])


def page_of_compared(
    stage: Stage, verdicts: Sequence[tuple[int, str]], *, only: str = "", after: int = 0
) -> tuple[list[Compared], bool]:
    """The answers with one verdict, or all, the newest first, from `after` on; whether there are more."""
    chosen = [(pk, verdict) for pk, verdict in verdicts if (not only or verdict == only) and (not after or pk < after)]
    shown = dict(chosen[:PAGE])
    annotations = Annotation.objects.filter(pk__in=shown).select_related(*OF_AN_ANSWER).order_by("-pk")
    return compare(stage, list(annotations), shown), len(chosen) > PAGE


def compare(stage: Stage, mine: Sequence[Annotation], verdicts: Mapping[int, str]) -> list[Compared]:
    """These answers of one person, which come with OF_AN_ANSWER, beside what was decided."""
    places = [annotation.assignment.stage_item_id for annotation in mine]
    resolutions: dict[int, list[Resolution]] = defaultdict(list)
    for resolution in Resolution.objects.filter(stage_item__in=places).order_by("field"):
        resolutions[resolution.stage_item_id].append(resolution)
    reasons = dict(
        Decision.objects.filter(
            annotation__in=[one.adjudication_id for several in resolutions.values() for one in several]
        ).values_list("annotation", "reason")
    )
    others = _others(stage, places, mine)
    golds = _golds(stage, mine)
    return [_compared(annotation, verdicts[annotation.pk], resolutions, reasons, others, golds) for annotation in mine]


def _compared(
    annotation: Annotation,
    verdict: str,
    resolutions: dict[int, list[Resolution]],
    reasons: dict[int, str],
    others: dict[int, list[tuple[str, str]]],
    golds: dict[tuple[int, str], list[Any]],
) -> Compared:
    place = annotation.assignment.stage_item
    specs = {spec.name: spec for spec in fields_from_json(annotation.stage_version.fields)}
    keys = answer_keys(tuple(specs.values()), annotation.answer)
    fields = []
    for resolution in resolutions[place.pk]:
        spec = specs.get(resolution.field)
        if spec is None:
            continue  # a newer form asks for it; the author of this answer was not asked
        is_decided = resolution.status in DECIDED
        fields.append(
            DecidedField(
                caption=spec.caption,
                mine=_words(annotation.answer.get(spec.name), spec),
                decided=_words(resolution.answer, spec) if is_decided else "",
                status=resolution.status,
                is_same=is_decided and keys.get(spec.name) == resolution.answer_key,
                n_votes=resolution.n_votes,
                n_for=next((n for key, n in resolution.counts if key == resolution.answer_key), 0),
                gold=[_words(value, spec) for value in golds.get((place.revision.item_id, spec.name), [])],
            )
        )
    said = [reasons.get(one.adjudication_id or 0, "") for one in resolutions[place.pk]]
    return Compared(
        mine=own_answer(annotation),
        verdict=verdict,
        fields=fields if verdict != LEFT_OUT else [],
        reason=next((one for one in said if one), ""),
        others=others.get(place.pk, []) if verdict != LEFT_OUT else [],
    )


def _others(stage: Stage, places: Sequence[int], mine: Sequence[Annotation]) -> dict[int, list[tuple[str, str]]]:
    """Place -> (answer, explanation) of others who explained theirs, in an order that tells neither who nor when."""
    found: dict[int, list[tuple[str, str, str]]] = defaultdict(list)
    rows = (
        Annotation.objects.counted()
        .filter(assignment__stage_item__in=places)
        .exclude(pk__in=[annotation.pk for annotation in mine])
        .values_list("assignment__stage_item", "answer", "stage_version")
    )
    forms = {version.pk: fields_from_json(version.fields) for version in stage.versions.all()}
    for place, answer, version in rows:
        specs = forms[version]
        why = " · ".join(
            _words(answer.get(spec.name), spec) for spec in specs if not spec.decides and answer.get(spec.name)
        )
        said = " · ".join(_words(answer.get(spec.name), spec) for spec in specs if spec.decides)
        if why:
            order = hashlib.sha256(f"{stage.seed}/{place}/{said}/{why}".encode()).hexdigest()
            found[place].append((order, said, why))
    return {place: [(said, why) for _order, said, why in sorted(several)] for place, several in found.items()}


def _golds(stage: Stage, mine: Sequence[Annotation]) -> dict[tuple[int, str], list[Any]]:
    """(item, field) -> acceptable answers; nothing is asked of the gold labels where the stage does not show them."""
    if not stage.shows_gold:
        return {}
    items = [annotation.assignment.stage_item.revision.item_id for annotation in mine]
    rows = Gold.objects.filter(item__in=items, is_current=True, label_set="")
    return {(item, name): answers for item, name, answers in rows.values_list("item", "field", "answers")}


def _verdict(keys: dict[str, str], winners: Sequence[tuple[str, str, str | None]]) -> str:
    """Of one answer: it differs if any field that was decided does; without any it was split."""
    decided = [keys.get(name) == key for name, status, key in winners if status in DECIDED and name in keys]
    if not decided:
        return SPLIT
    return SAME if all(decided) else DIFFERED


def _left_out(stage: Stage) -> set[int]:
    items = Exclusion.objects.standing().filter(project=stage.project_id, item__isnull=False).values("item")
    rows = stage.stage_items.filter(Q(state__in=GONE) | Q(revision__item__in=items))
    return set(rows.values_list("pk", flat=True))


def _places(stage: Stage) -> Any:
    return StageItem.objects.filter(stage=stage).values("pk")


def _answers(stage: Stage, person: Person) -> Any:
    return Annotation.objects.current().filter(
        assignment__stage=stage,
        assignment__person=person,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__purpose=StageItem.Purpose.WORK,
    )


def _words(value: Any, spec: FieldSpec) -> str:
    return "" if value is None else get_field_type(spec.type).in_words(value, spec)
