"""The life of an import of a log: uploaded as a draft, looked at, started, run by a worker, then done or refused."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from django.core.files.base import File
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.exceptions import GoldpanelError, ImportRefused, WorkNotPossible, WorkTaken
from annotate.models import BackgroundWork, ItemSet, Person, Project, StageVersion, StoredFile
from annotate.services.background import beat, claim_work, end_work, holding
from annotate.services.files import forget_file, store_file
from annotate.services.importing.problems import refusal
from annotate.services.importing.reading import opened
from annotate.sources.errors import SourceError
from annotate.wording import _
from evaluation.clients.logs import LogRecord, Notes, detect_log, read_log
from evaluation.models import Endpoint, LogImport, Run
from evaluation.parsing import PARSER_VERSION
from evaluation.services.log_importing.options import LogOptions, options_of
from evaluation.services.log_importing.sorting import Channel, Sorter
from evaluation.services.log_importing.staging import staging, store_run

logger = logging.getLogger(__name__)

STATE = BackgroundWork.State
# A look at a draft reads so much of its file, which is all of most logs, in the time a page may take.
SAMPLE_RECORDS = 2_000
SAMPLE_BYTES = 8_000_000
# Progress is told in kilobytes of the file: a column of 32 bits holds those of any file.
KB = 1_000
SECONDS_BETWEEN_BEATS = 1.0
# Of a run, in place of a prompt strategy: how its model was asked is known to whoever made the log.
STRATEGY = "imported"
NO_MODEL = _("The log does not name its model, and everything is reported by model: say which one answered.")


class AlreadyImported(ImportRefused):
    """The same file for the same items and form: its predictions are stored, and would only be counted twice."""

    http_status = 409


def draft_log_import(
    *,
    project: Project,
    by: Person | None,
    file: File[Any],
    name: str,
    item_set: ItemSet,
    stage_version: StageVersion,
    model: str = "",
    run_name: str = "",
    id_field: str = "",
    accept_changed: bool = False,
) -> LogImport:
    """Keep the file with a report of how its first records match.

    Raises ImportRefused, keeping nothing, for what cannot be read from its first record on; AlreadyImported.
    """
    if {item_set.project_id, stage_version.stage.project_id} != {project.pk}:
        raise WorkNotPossible(_("Items and form must belong to the project."))
    try:
        source = detect_log(file, name)
    except SourceError as fault:
        raise refusal(fault) from fault
    options = LogOptions(replace(source, id_field=id_field), model, run_name, accept_changed)
    stored = store_file(
        project=project,
        purpose=StoredFile.Purpose.UPLOAD,
        name=name,
        media_type="application/octet-stream",
        content=file,
    )
    job = LogImport(
        project=project,
        source=stored,
        item_set=item_set,
        stage_version=stage_version,
        options=options.to_json(),
        state=STATE.DRAFT,
        due_at=None,
        n_total=_in_kb(stored.n_bytes),
        created_by=by,
    )
    try:
        _refuse_known(job)
        job.report = _preview(job)
    except ImportRefused:
        forget_file(stored)
        raise
    job.save()
    return job


@transaction.atomic
def change_log_draft(
    *, job: LogImport, model: str, run_name: str, id_field: str, accept_changed: bool, stage_version: StageVersion
) -> LogImport:
    """Read the draft in another way, and look at it again. Raises WorkNotPossible once it has started."""
    locked = _locked(job)
    if locked.state != STATE.DRAFT:
        raise WorkNotPossible(_("This import has started, so it stays as it is."))
    if stage_version.stage.project_id != locked.project_id:
        raise WorkNotPossible(_("The form must belong to the project."))
    options = options_of(locked)
    source = replace(options.source, id_field=id_field)
    changed = replace(options, source=source, model=model, name=run_name, accept_changed=accept_changed)
    locked.options, locked.stage_version = changed.to_json(), stage_version
    locked.report = _preview(locked)
    locked.save(update_fields=["options", "stage_version", "report"])
    return locked


@transaction.atomic
def start_log_import(*, job: LogImport, by: Person) -> LogImport:
    """Put a draft into the queue, and ring for a worker. Raises WorkNotPossible, also without a model's name."""
    from config.bells import ring

    locked = _queued(job)
    events.record(actor=by, verb="logimport.started", subject=locked, project_id=locked.project_id)
    transaction.on_commit(lambda: ring(_task(), locked.pk))
    return locked


@transaction.atomic
def reopen_log_import(*, job: LogImport, by: Person) -> LogImport:
    """Make an import that was refused or cancelled a draft again, to be read in another way or discarded."""
    locked = _locked(job)
    if locked.state not in (STATE.FAILED, STATE.CANCELLED):
        raise WorkNotPossible(_("Only an import that was refused or cancelled can be opened again."))
    locked.state, locked.due_at, locked.error, locked.finished_at = STATE.DRAFT, None, "", None
    locked.attempts, locked.n_done = 0, 0
    locked.report = _preview(locked)
    locked.save()
    events.record(actor=by, verb="logimport.reopened", subject=locked, project_id=locked.project_id)
    return locked


@transaction.atomic
def discard_log_import(*, job: LogImport) -> None:
    """Forget a draft and its file. Raises WorkNotPossible once it has started."""
    locked = _locked(job)
    if locked.state != STATE.DRAFT:
        raise WorkNotPossible(_("Only a draft can be discarded."))
    locked.delete()
    forget_file(locked.source)


def run_log_import(*, job_id: int) -> None:
    """Do a queued import if it is due and nobody else does it: all of the file, or nothing and the reason."""
    job = claim_work(model=LogImport, pk=job_id)
    if job is not None:
        _run(job)


def import_log(
    *,
    project: Project,
    by: Person | None,
    file: Path,
    item_set: ItemSet,
    stage_version: StageVersion,
    model: str = "",
    run_name: str = "",
    id_field: str = "",
    accept_changed: bool = False,
    dry_run: bool = False,
) -> LogImport:
    """Import a log here and now, without a worker; the job with its report, and with its runs unless it is a dry run.

    Raises ImportRefused with the problem if the log cannot be read or matches nothing; AlreadyImported.
    """
    with file.open("rb") as content:
        job = draft_log_import(
            project=project,
            by=by,
            file=File(content, name=file.name),
            name=file.name,
            item_set=item_set,
            stage_version=stage_version,
            model=model,
            run_name=run_name,
            id_field=id_field,
            accept_changed=accept_changed,
        )
    if dry_run:
        try:
            job.report = _sorted_whole(job)
        finally:
            discard_log_import(job=job)
        return job
    try:
        with transaction.atomic():
            # Queued and claimed at once: a worker that is rung by the scheduler must not come first.
            _queued(job)
            claimed = claim_work(model=LogImport, pk=job.pk)
    except GoldpanelError:
        discard_log_import(job=job)
        raise
    if claimed is None:
        raise WorkNotPossible(_("The import could not be started."))
    _run(claimed)
    job.refresh_from_db()
    if job.state != STATE.DONE:
        raise ImportRefused(job.error, job.report.get("problems", []))
    return job


def _run(job: LogImport) -> None:
    try:
        try:
            _import(job)
        except ImportRefused as fault:
            with holding(job) as held:
                held.report = {"file": job.source.name, "problems": fault.problems}
                held.save(update_fields=["report"])
                end_work(held, error=str(fault))
    except WorkTaken:
        logger.info("Import %d of a log was cancelled or taken over; nothing was written.", job.pk)


def _import(job: LogImport) -> None:
    begun, told = monotonic(), monotonic()
    sorter = Sorter(job)
    with staging(timezone.now()) as staged, _records_of(job, sorter.notes) as (file, records):
        for row in sorter.sort(records):
            if staged.add(row) and monotonic() - told > SECONDS_BETWEEN_BEATS:
                beat(job, n_done=min(_in_kb(file.tell()), job.n_total or 0))
                told = monotonic()
        staged.flush()
        report = sorter.report()
        _refuse_useless(report)
        # From here on the page says that the runs are being stored: inside one transaction nothing else can be told.
        beat(job, n_done=job.n_total or 0)
        with holding(job) as held:
            # One import after the other: the second must see which names and files the first has taken.
            project = Project.objects.select_for_update(no_key=True).get(pk=held.project_id)
            _refuse_known(held)
            for channel, row_of in zip(sorter.channels.values(), report["runs"], strict=True):
                run = _store_run(held, project, channel, _free_name(project, sorter, channel))
                row_of |= {"run": run.pk, "name": run.name}
            report["seconds"] = round(monotonic() - begun, 2)
            held.report, held.n_done = report, held.n_total or 0
            held.save(update_fields=["report", "n_done"])
            end_work(held)


def _store_run(job: LogImport, project: Project, channel: Channel, name: str) -> Run:
    options = options_of(job)
    run = Run.objects.create(
        project=project,
        name=name,
        item_set=job.item_set,
        stage_version=job.stage_version,
        endpoint=_endpoint(project, channel.model),
        strategy=STRATEGY,
        parameters={
            "log": job.source.name,
            "log_sha256": job.source.sha256,
            "log_format": options.source.format,
            "filter": channel.filter,
            "log_repeat": channel.repeat,
            "parser_version": PARSER_VERSION,
        },
        state=Run.State.DONE,
        due_at=None,
        created_by=job.created_by,
        frozen_at=Now(),
        started_at=Now(),
        finished_at=Now(),
    )
    run.n_total = run.n_done = store_run(run_number=channel.number, run_id=run.pk)
    run.save(update_fields=["n_total", "n_done"])
    job.runs.add(run)
    events.record(
        actor=job.created_by, verb="run.imported", subject=run, project_id=project.pk, predictions=run.n_total
    )
    return run


def _free_name(project: Project, sorter: Sorter, channel: Channel) -> str:
    number = 1
    while project.runs.filter(name=sorter.name_of(channel, number)).exists():
        number += 1
    return sorter.name_of(channel, number)


def _endpoint(project: Project, model: str) -> Endpoint:
    """The place of a model whose answers come from logs: one a project."""
    known: Endpoint | None = project.endpoints.filter(provider=Endpoint.Provider.LOG, model=model).first()
    if known is not None:
        return known
    base = f"{model[:100]} (log)"
    number, name = 1, base
    while project.endpoints.filter(name=name).exists():
        number += 1
        name = f"{base} {number}"
    made: Endpoint = project.endpoints.create(name=name, provider=Endpoint.Provider.LOG, model=model)
    return made


def _preview(job: LogImport) -> dict[str, Any]:
    """The report of the first records. `is_whole`: they are all; `fault`: where reading ended before that.

    Raises ImportRefused if not one record can be read.
    """
    sorter = Sorter(job)
    is_whole, fault = False, None

    def first(file: Any, records: Iterator[LogRecord]) -> Iterator[LogRecord]:
        nonlocal is_whole
        for n_read, record in enumerate(records, start=1):
            yield record
            if n_read == SAMPLE_RECORDS or file.tell() >= SAMPLE_BYTES:
                is_whole = next(records, None) is None
                return
        is_whole = True

    with _records_of(job, sorter.notes) as (file, records):
        try:
            for _ in sorter.sort(first(file, records)):
                pass
        except SourceError as problem:
            fault = problem
    report = sorter.report()
    if fault is not None and not report["records"]:
        raise refusal(fault)
    return report | {"is_whole": is_whole, "problems": [fault.as_problem()] if fault else []}


def _sorted_whole(job: LogImport) -> dict[str, Any]:
    """The report of an import that is not made."""
    sorter = Sorter(job)
    with _records_of(job, sorter.notes) as (_, records):
        for _ in sorter.sort(records):
            pass
    report = sorter.report()
    _refuse_useless(report)
    return report


@contextmanager
def _records_of(job: LogImport, notes: Notes) -> Iterator[tuple[Any, Iterator[LogRecord]]]:
    """The job's file and its records. Whoever goes through them gets ImportRefused for what cannot be read."""
    with opened(job.source) as file:
        try:
            yield file, read_log(file, options_of(job).source, notes)
        except SourceError as fault:
            raise refusal(fault) from fault


def _refuse_useless(report: dict[str, Any]) -> None:
    """Raises ImportRefused if nothing could be stored, or not under a model's name."""
    if not report["matched"]:
        raise ImportRefused(
            _(
                "Nothing was imported: none of the %(records)s records belongs to an item of this set. Is it "
                "the right set, and is the id in another field?",
                records=f"{report['records']:,}",
            )
        )
    if report["needs_model"]:
        raise ImportRefused(_("Nothing was imported. %(no_model)s", no_model=NO_MODEL))


def _refuse_known(job: LogImport) -> None:
    done = LogImport.objects.filter(
        project=job.project_id,
        state=STATE.DONE,
        source__sha256=job.source.sha256,
        item_set=job.item_set_id,
        stage_version=job.stage_version_id,
    )
    options = options_of(job)
    for earlier in done.exclude(pk=job.pk):
        if options.gives_same_predictions_as(options_of(earlier)):
            names = ", ".join(f"“{name}”" for name in earlier.runs.order_by("pk").values_list("name", flat=True)[:5])
            raise AlreadyImported(
                _("This log was imported before, and nothing has changed: see %(names)s.", names=names)
            )


def _queued(job: LogImport) -> LogImport:
    locked = _locked(job)
    if locked.state != STATE.DRAFT:
        raise WorkNotPossible(_("This import has started already."))
    if locked.report.get("needs_model"):
        raise WorkNotPossible(NO_MODEL)
    _refuse_known(locked)
    LogImport.objects.filter(pk=locked.pk).update(state=STATE.WAITING, due_at=Now(), attempts=0, report={})
    locked.refresh_from_db()
    return locked


def _locked(job: LogImport) -> LogImport:
    rows = LogImport.objects.select_for_update(of=("self",))
    locked: LogImport = rows.select_related("project", "source", "item_set", "stage_version__stage").get(pk=job.pk)
    return locked


def _in_kb(n_bytes: int) -> int:
    return -(-n_bytes // KB)


def _task() -> Any:
    from evaluation.tasks import import_log as task

    return task
