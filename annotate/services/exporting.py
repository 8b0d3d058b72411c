"""Answers on their way out: one row per revision of an answer, streamed in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from django.db import connection, transaction

from annotate.answers import answer_keys, fields_from_json
from annotate.csv_text import utc, yes_no
from annotate.models import Annotation, Exclusion, Project, StageVersion

# Rows in memory at a time; an answer may be a long text.
BATCH = 200

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
    "round",
    "revision",
    "status",
    "exclusion_reason",
    "flagged",
    "flag_note",
    "active_seconds",
    "wall_seconds",
    "leased_at",
    "answered_at",
)


def answer_rows(*, project: Project) -> Iterator[list[object]]:
    """A head row, then every revision of every answer of the project, in order of stage, item and person.

    `status` is one of
    counted     the newest revision, holding a place, not excluded: what figures are made of
    surplus     given when every place was taken
    excluded    left out by a decision that stands; exclusion_reason says why
    superseded  a newer revision of the same answer exists
    `key.<field>` is the canonical key of a field that decides: equal keys are equal answers.
    """
    versions = {
        version.pk: fields_from_json(version.fields)
        for version in StageVersion.objects.filter(stage__project=project).order_by("stage__position", "number")
    }
    names = list(dict.fromkeys(field.name for fields in versions.values() for field in fields))
    deciding = list(dict.fromkeys(f.name for fields in versions.values() for f in fields if f.decides))
    yield [*COLUMNS, *(f"answer.{name}" for name in names), *(f"key.{name}" for name in deciding)]
    standing = Exclusion.objects.standing().filter(project=project)
    by_person = dict(standing.exclude(person=None).values_list("person_id", "reason"))
    by_annotation = dict(standing.exclude(annotation=None).values_list("annotation_id", "reason"))
    rows = (
        Annotation.objects.filter(assignment__stage__project=project)
        .order_by("assignment__stage__position", "assignment__stage_item__rank", "assignment_id", "number")
        .values_list(
            "pk",
            "answer",
            "is_current",
            "stage_version_id",
            "assignment__slot",
            "assignment__person_id",
            "assignment__stage__slug",
            "stage_version__number",
            "guideline_version__number",
            "assignment__stage_item__revision__item__external_id",
            "assignment__stage_item__revision__number",
            "assignment__stage_item__revision__content_hash",
            "assignment__stage_item__revision__item__root__external_id",
            "assignment__person__pseudonym",
            "assignment__person__is_sample",
            "assignment__round",
            "number",
            "is_flagged",
            "flag_note",
            "active_seconds",
            "wall_seconds",
            "assignment__leased_at",
            "created_at",
        )
    )
    with _one_snapshot():
        for (
            pk, answer, is_current, version_id, slot, person_id, stage, form, guidelines, item, item_revision,
            content_hash, root, pseudonym, is_sample, round_, revision, is_flagged, flag_note, active, wall,
            leased_at, answered_at,
        ) in rows.iterator(chunk_size=BATCH):  # fmt: skip
            reason = by_annotation.get(pk) or by_person.get(person_id) or ""
            if not is_current:
                status = "superseded"
            elif reason:
                status = "excluded"
            else:
                status = "surplus" if slot is None else "counted"
            keys = answer_keys(versions[version_id], answer)
            yield [
                project.slug, stage, form, guidelines, item, item_revision, content_hash, root or item, pseudonym,
                yes_no(is_sample or project.is_sample), round_, revision, status, reason, yes_no(is_flagged),
                flag_note, active, wall, utc(leased_at), utc(answered_at),
                *(answer.get(name) for name in names), *(keys.get(name) for name in deciding),
            ]  # fmt: skip


def _one_snapshot() -> AbstractContextManager[object]:
    """A server-side cursor lives in a transaction. SQLite reads row by row without one, and there a transaction
    would take the write lock: nobody could answer while somebody downloads."""
    return transaction.atomic() if connection.vendor == "postgresql" else nullcontext()
