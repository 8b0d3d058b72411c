"""Answers on their way out: one row per revision of an answer, and one per offer that ended without one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from django.db.models import Count, Q

from annotate.answers import FieldSpec, answer_keys, fields_from_json
from annotate.csv_text import utc
from annotate.models import Assignment, Decision, Exclusion, FlagSettlement, Project, StageVersion
from annotate.querysets import COUNTED_PURPOSES
from annotate.services.exporting.reading import server_side_cursor

# Rows in memory at a time; an answer may be a long text.
BATCH = 500
# Keys of short answers that are not worked out again.
MAX_REMEMBERED, MAX_REMEMBERED_CHARACTERS = 10_000, 100

# The record's own columns; fields follow as answer.<field> and key.<field>, so that no field can take their names.
COLUMNS = (
    "project",
    "stage",
    "form_version",
    "guideline_version",
    "item",
    "item_revision",
    "content_hash",
    "root",
    "person",
    "sample",
    "imported",
    "round",
    "purpose",
    "revision",
    "status",
    "exclusion_reason",
    "skip_reason",
    "skip_note",
    "flagged",
    "flag_note",
    "flag_settled",
    "flag_settled_note",
    "active_seconds",
    "wall_seconds",
    "pastes",
    "pasted_characters",
    "times_away",
    "away_seconds",
    "leased_at",
    "answered_at",
    "answer_id",
    "decision",
    "decision_from",
    "decision_reason",
    "decision_votes",
    "decision_alike",
    "decision_gold",
    "votes_hash",
)
NO_DECISION = (None,) * 7
NOT_SETTLED = (None, None)

# Offers that ended without an answer have a row, too; what is in somebody's hands has not ended.
ENDED = (Assignment.State.SKIPPED, Assignment.State.EXPIRED, Assignment.State.WITHDRAWN)


def n_answer_rows(project: Project) -> int:
    ended = Count("pk", filter=Q(state__in=ENDED, annotations__isnull=True))
    counted = Assignment.objects.filter(stage__project=project).aggregate(n=Count("annotations"), ended=ended)
    return int(counted["n"] + counted["ended"])


def answer_rows(*, project: Project) -> Iterator[list[object]]:
    """A head row, then every revision of every answer of the project, in order of stage, item and person.

    `status` is one of
    counted     the newest revision, holding a place, not excluded: what figures are made of
    surplus     given when every place was taken
    check       an answer to a check that figures do not count
    qualification  an answer given to qualify for the stage
    excluded    left out by a decision that stands; exclusion_reason says why
    superseded  a newer revision of the same answer exists
    skipped     no answer: passed over, with skip_reason
    expired     no answer: the lease ran out
    withdrawn   no answer: the offer was taken back
    `key.<field>` is the canonical key of a field that decides: equal keys are equal answers.
    `pastes`, `times_away` and what belongs to them are counts of what the page saw, null where it saw nothing.
    `imported`: answered or skipped elsewhere; leased_at and the seconds of activity are then not known, answered_at and
    wall_seconds only as far as the imported file had them.
    `flag_settled`: when somebody dealt with the flag, empty while nobody has; flag_settled_note says what came of it.
    `answer_id` names the revision of the answer, in this file and in one of a restored project alike. `decision`: how
    an adjudicator came to it; decision_from is the answer_id of the vote that was taken or edited, votes_hash stands
    for the votes that were seen.
    """
    versions = {
        version.pk: fields_from_json(version.fields)
        for version in StageVersion.objects.filter(stage__project=project).order_by(
            "stage__position", "stage", "number"
        )
    }
    names = list(dict.fromkeys(field.name for fields in versions.values() for field in fields))
    deciding = list(dict.fromkeys(f.name for fields in versions.values() for f in fields if f.decides))
    yield [*COLUMNS, *(f"answer.{name}" for name in names), *(f"key.{name}" for name in deciding)]
    standing = Exclusion.objects.standing().filter(project=project)
    by_person = dict(standing.exclude(person=None).order_by("-pk").values_list("person_id", "reason"))
    by_annotation = dict(
        standing.exclude(annotation=None).order_by("-pk").values_list("annotation__assignment_id", "reason")
    )
    by_item = dict(standing.exclude(item=None).order_by("-pk").values_list("item_id", "reason"))
    rows = (
        Assignment.objects.filter(stage__project=project)
        .filter(Q(annotations__isnull=False) | Q(state__in=ENDED))
        .order_by("stage__position", "stage", "stage_item__rank", "pk", "annotations__number")
        .values_list(
            "annotations__pk",
            "annotations__answer",
            "annotations__is_current",
            "annotations__stage_version_id",
            "state",
            "slot",
            "person_id",
            "stage__slug",
            "annotations__stage_version__number",
            "annotations__guideline_version__number",
            "stage_item__revision__item__external_id",
            "stage_item__revision__number",
            "stage_item__revision__content_hash",
            "stage_item__revision__item__root__external_id",
            "person__pseudonym",
            "person__is_sample",
            "is_imported",
            "finished_at",
            "round",
            "purpose",
            "annotations__number",
            "skip_reason",
            "skip_note",
            "annotations__is_flagged",
            "annotations__flag_note",
            "annotations__active_seconds",
            "annotations__wall_seconds",
            "annotations__n_pastes",
            "annotations__pasted_characters",
            "annotations__n_away",
            "annotations__away_seconds",
            "leased_at",
            "annotations__created_at",
            "stage_item__revision__item_id",
            "pk",
        )
    )
    decisions = _decisions(project)
    settled = _settlements(project)
    keys_of = key_reader()
    slug, is_sample_project = project.slug, project.is_sample
    with server_side_cursor():
        for (
            pk, answer, is_current, version_id, state, slot, person_id, stage, form, guidelines, item, item_revision,
            content_hash, root, pseudonym, is_sample, is_imported, finished_at, round_, purpose, revision, skip_reason,
            skip_note, is_flagged, flag_note, active, wall, pastes, pasted, away, away_seconds, leased_at, answered_at,
            item_id, assignment_id,
        ) in rows.iterator(chunk_size=BATCH):  # fmt: skip
            reason = by_annotation.get(assignment_id) or by_person.get(person_id) or by_item.get(item_id) or ""
            if pk is None:
                status, answer, keys = state, {}, {}
            else:
                keys = keys_of(versions[version_id], answer)
                if not is_current:
                    status = "superseded"
                elif reason:
                    status = "excluded"
                elif purpose not in COUNTED_PURPOSES:
                    status = purpose
                else:
                    status = "surplus" if slot is None else "counted"
            if is_imported:
                # When it was offered nobody knows, and when it was answered only if the file said so.
                leased_at, answered_at = None, answered_at if finished_at else None
            yield [
                slug, stage, form, guidelines, item, item_revision, content_hash, root or item, pseudonym,
                is_sample or is_sample_project, is_imported, round_, purpose, revision, status, reason, skip_reason,
                skip_note, is_flagged, flag_note,
                *(settled.get((assignment_id, flag_note), NOT_SETTLED) if is_flagged else NOT_SETTLED),
                active, wall, pastes, pasted, away, away_seconds, utc(leased_at), utc(answered_at),
                None if pk is None else answer_id(stage, item, pseudonym, revision), *decisions.get(pk, NO_DECISION),
                *(answer.get(name) for name in names), *(keys.get(name) for name in deciding),
            ]  # fmt: skip


def answer_id(stage: str, item: str, person: str, revision: int) -> str:
    """A short name for one revision of an answer, made of what the rows have anyhow: no key of a table, no token."""
    return hashlib.sha256(json.dumps([stage, item, person, revision]).encode()).hexdigest()[:16]


def _settlements(project: Project) -> dict[tuple[int, str], tuple[str | None, str]]:
    """(assignment, words of the flag) -> when it was dealt with, and what came of it. Few answers are flagged."""
    rows = FlagSettlement.objects.standing().filter(annotation__assignment__stage__project=project).order_by("pk")
    return {
        (assignment, words): (utc(at), note)
        for assignment, words, at, note in rows.values_list(
            "annotation__assignment", "annotation__flag_note", "settled_at", "note"
        )
    }


def _decisions(project: Project) -> dict[int | None, tuple[object, ...]]:
    """By annotation, the columns of a decision. An adjudicator decides about a small part of what people answer."""
    rows = Decision.objects.filter(annotation__assignment__stage__project=project).values_list(
        "annotation_id", "kind", "reason", "n_votes", "n_alike", "is_gold", "votes_hash", "taken_from_id",
        "taken_from__assignment__stage__slug", "taken_from__assignment__stage_item__revision__item__external_id",
        "taken_from__assignment__person__pseudonym", "taken_from__number",
    )  # fmt: skip
    found: dict[int | None, tuple[object, ...]] = {}
    for pk, kind, reason, n_votes, n_alike, is_gold, votes_hash, source_id, *source in rows:
        source_name = answer_id(*source) if source_id else None
        found[pk] = (kind, source_name, reason, n_votes, n_alike, is_gold, votes_hash)
    return found


def key_reader() -> Callable[[Sequence[FieldSpec], Mapping[str, object]], dict[str, str]]:
    """`answer_keys` that remembers: people give the same short answers, and reading one takes longer than its row."""

    @lru_cache(maxsize=MAX_REMEMBERED)
    def remembered(spec: FieldSpec, text: str) -> dict[str, str]:
        return answer_keys((spec,), {spec.name: text})

    def keys_of(fields: Sequence[FieldSpec], answer: Mapping[str, object]) -> dict[str, str]:
        keys: dict[str, str] = {}
        for spec in fields:
            if spec.decides and (value := answer.get(spec.name)) is not None:
                is_short = type(value) is str and len(value) <= MAX_REMEMBERED_CHARACTERS
                keys |= remembered(spec, value) if is_short else answer_keys((spec,), {spec.name: value})
        return keys

    return keys_of
