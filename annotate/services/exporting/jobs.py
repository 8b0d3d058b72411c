"""The life of an export: asked for, made by a worker, kept for some days, then removed."""

from __future__ import annotations

import errno
import logging
import tempfile
from datetime import timedelta
from time import monotonic
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.exceptions import ExportNotPossible, GoldpanelError, WorkTaken
from annotate.models import BackgroundWork, Export, Person, Project, StoredFile
from annotate.services.background import cancel_work, claim_work, end_work, holding, restart_work
from annotate.services.exporting.formats import Format, Tick
from annotate.services.exporting.kinds import KINDS, Kind
from annotate.services.exporting.reading import beating_beside, one_snapshot
from annotate.services.files import forget_file, store_file
from annotate.wording import _

logger = logging.getLogger(__name__)

STATE = BackgroundWork.State
SECONDS_BETWEEN_BEATS = 1.0
TOO_LONG = _(
    "It took longer than a worker may spend on one task, and nothing of it was kept. XLSX is "
    "several times slower than CSV and JSON Lines: take one of those."
)
# What the system says when nothing more goes onto the disk: it is full, a quota is, or a limit of the process is.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@transaction.atomic
def request_export(*, project: Project, by: Person, kind: str, format: str, may_run: bool) -> Export:
    """Have a file made. The same file that is waiting or being made already is the answer to a second click.

    may_run: whether `by` runs the project; other readers get what readers see. Raises ExportNotPossible.
    """
    wanted, form = _found(kind, format)
    if wanted.is_for_admins and not may_run:
        raise ExportNotPossible(_("This is for the admins of the project."))
    # Two clicks at once: the second waits, and then finds the first one's row.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    under_way = Export.objects.filter(
        project=project, kind=kind, format=form.name, state__in=[STATE.WAITING, STATE.RUNNING]
    )
    earlier: Export | None = under_way.first()
    if earlier is not None:
        return earlier
    # The database's clock, as claims have it: by another one the export could be due a moment too late.
    export: Export = Export.objects.create(
        project=project,
        kind=kind,
        format=form.name,
        is_for_admins=wanted.is_for_admins,
        created_by=by,
        due_at=Now(),
    )
    export.refresh_from_db(fields=["due_at"])
    events.record(actor=by, verb="export.requested", subject=export, project_id=project.pk, kind=kind, format=form.name)
    _ring_when_stored(export)
    return export


def cancel_export(*, export: Export, by: Person) -> None:
    """Stop it; a file that a worker may still bring is refused. Raises WorkNotPossible if it has ended."""
    cancel_work(work=export, by=by)


@transaction.atomic
def repeat_export(*, export: Export, by: Person) -> None:
    """Try again one that failed or was cancelled. Raises WorkNotPossible."""
    restart_work(work=export, by=by)
    _ring_when_stored(export)


def run_export(*, export_id: int) -> None:
    """Claim an export and make its file; nothing happens if it is in other hands, cancelled or done."""
    export = claim_work(model=Export, pk=export_id)
    if export is None:
        return
    try:
        try:
            _make(export)
        except GoldpanelError as refusal:
            if isinstance(refusal, WorkTaken):
                raise
            _fail(export, str(refusal))
        except OSError as fault:
            _fail(export, _in_words(fault))
        except SoftTimeLimitExceeded:
            # Else two more workers would try, to the same end.
            _fail(export, TOO_LONG)
    except WorkTaken:
        logger.info("Export %d was cancelled or taken over; its file was not kept.", export.pk)


def file_name(export: Export) -> str:
    """As whoever downloads it finds it again: project, kind, day."""
    _, form = _found(export.kind, export.format)
    return f"{export.project.slug}-{export.kind}-{export.created_at:%Y-%m-%d}{form.suffix}"


def _make(export: Export) -> None:
    kind, form = _found(export.kind, export.format)
    # Beside the other data, not where the system keeps small things; it has no name, so a killed worker leaves nothing.
    with tempfile.TemporaryFile(dir=settings.DATA) as file:
        with beating_beside(export) as beat, one_snapshot():
            beat(n_done=0, n_total=kind.n_rows(export.project))
            report = kind.written(export.project, form, file, _ticking(beat))
            beat(n_done=report["rows"], n_total=report["rows"])
        file.flush()
        stored = store_file(
            project=export.project,
            purpose=StoredFile.Purpose.DATA,
            name=file_name(export),
            media_type=form.media_type,
            content=File(file),
            # Set from the beginning: should this process end before the next line, the file is not kept for ever.
            keep_until=timezone.now() + timedelta(days=settings.EXPORT_DAYS),
        )
    try:
        with holding(export) as held:
            held.file, held.report = stored, report
            held.save(update_fields=["file", "report"])
            end_work(held)
    except WorkTaken:
        forget_file(stored)
        raise


def _ticking(beat: Any) -> Tick:
    told = monotonic()

    def tick(n_done: int) -> None:
        nonlocal told
        if monotonic() - told > SECONDS_BETWEEN_BEATS:
            beat(n_done=n_done)
            told = monotonic()

    return tick


def _fail(export: Export, error: str) -> None:
    with holding(export) as held:
        end_work(held, error=error)


def _in_words(fault: OSError) -> str:
    if fault.errno in FULL:
        return _(
            "The disk is full: the file did not fit, and nothing of it was kept. Make room where the "
            "platform keeps its data, then try again."
        )
    return _(
        "The file could not be written (%(value)s). Nothing of it was kept.",
        value=fault.strerror or type(fault).__name__,
    )


def _found(kind: str, format: str) -> tuple[Kind, Format]:
    if (found := KINDS.get(kind)) is None:
        raise ExportNotPossible(_("There is nothing to export that is called %(kind)s.", kind=repr(kind)))
    if (form := found.format(format)) is None:
        offered = ", ".join(one.name for one in found.formats)
        raise ExportNotPossible(
            _(
                "%(title)s cannot be had as %(format)s, but as %(offered)s.",
                title=found.title,
                format=repr(format),
                offered=offered,
            )
        )
    return found, form


def _ring_when_stored(export: Export) -> None:
    from annotate.tasks import run_export as task
    from config.bells import ring

    transaction.on_commit(lambda: ring(task, export.pk))
