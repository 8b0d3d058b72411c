"""One append-only row for each change of state, written in the caller's transaction."""

from typing import Any

from django.db import models, transaction

from annotate.models import Event, Person


def record(
    *, verb: str, subject: models.Model, project_id: int | None, actor: Person | None = None, **detail: Any
) -> None:
    """Write down who did what to which row. `detail` holds ids and small facts, never an answer or a name."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("an event belongs to the transaction of the change that it records")
    row(verb=verb, subject=subject, project_id=project_id, actor=actor, **detail).save(force_insert=True)


def row(
    *, verb: str, subject: models.Model, project_id: int | None, actor: Person | None = None, **detail: Any
) -> Event:
    """The row that `record` writes, for a statement that writes it together with others."""
    return Event(
        project_id=project_id,
        actor=actor.pseudonym if actor else "",
        verb=verb,
        subject=subject._meta.model_name or "",
        subject_id=subject.pk,
        detail=detail,
    )
