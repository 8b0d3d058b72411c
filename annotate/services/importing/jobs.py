"""The life of an import: uploaded as a draft, mapped, started, run by a worker, then done or refused as a whole."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from django.core.files.base import File
from django.db import transaction
from django.db.models.functions import Now

from annotate import events
from annotate.exceptions import ImportRefused, WorkNotPossible, WorkTaken
from annotate.models import BackgroundWork, ImportJob, Person, Project, Stage, StoredFile
from annotate.services.background import beat, claim_work, end_work, holding
from annotate.services.files import forget_file, store_file
from annotate.services.importing import answer_storing, comparing, storing
from annotate.services.importing.answer_reading import form_of
from annotate.services.importing.asking import mapping_of_queries, query_for
from annotate.services.importing.generating import generated_mapping, n_generated
from annotate.services.importing.options import ImportOptions, Join, mapping_of, options_of
from annotate.services.importing.problems import Problems, refusal
from annotate.services.importing.reading import (
    MAX_LABELS,
    DraftReader,
    check_mapping,
    fit_to_stage,
    join_columns,
    label_fields,
    labels_of,
    missing_keys,
    opened,
    records_of,
    sample_of,
    tables_of,
)
from annotate.services.importing.staging import Staging, gather_gold, stage_known_items, staging
from annotate.services.resolving import resolve_due
from annotate.sources.blocks import plain_text
from annotate.sources.decoding import ENCODINGS
from annotate.sources.detect import BINARY_FORMATS, FORMATS, GENERATED_FORMATS, Detected, detect, detect_sheet
from annotate.sources.errors import MappingError, SourceError
from annotate.sources.guessing import guess_mapping, guess_values
from annotate.sources.joined import Tables, join_tables
from annotate.sources.mapping import Mapping
from annotate.sources.records import Record
from annotate.sources.sql_tables import Query
from annotate.wording import _

logger = logging.getLogger(__name__)

STATE = BackgroundWork.State
# Progress is told in kilobytes of the file: a column of 32 bits holds those of any file.
KB = 1_000
SECONDS_BETWEEN_BEATS = 1.0
# From so many on, the database plans badly with what it knows of before.
MANY_ITEMS = 1_000


def draft_import(
    *,
    project: Project,
    by: Person | None,
    file: File[Any],
    name: str,
    stage: Stage | None = None,
    tables: File[Any] | None = None,
    tables_name: str = "",
    join_column: str | None = None,
    source: Detected | None = None,
    sheet: str = "",
    query: Query | None = None,
) -> ImportJob:
    """Keep the file, and the tables its records refer to, with a first proposal of how to read it.

    Raises ImportRefused, keeping nothing, for what is no text, and for tables that cannot be read.
    """
    detected = source or _detected(file, name, sheet)
    kept = [_kept(project, file, name)]
    try:
        if tables is not None:
            kept.append(_kept(project, tables, tables_name or "tables"))
        job = ImportJob(
            project=project,
            stage=stage,
            source=kept[0],
            joined=kept[1] if tables is not None else None,
            created_by=by,
            state=STATE.DRAFT,
            due_at=None,
            n_total=n_generated(file, detected) or _in_kb(kept[0].n_bytes),
        )
        options, mapping = propose(job, ImportOptions(detected, query=query), join_column=join_column)
    except ImportRefused:
        for stored in kept:
            forget_file(stored)
        raise
    job.options, job.mapping = options.to_json(), mapping.to_json()
    job.save()
    return job


def propose(job: ImportJob, options: ImportOptions, *, join_column: str | None = None) -> tuple[ImportOptions, Mapping]:
    """How the job's file might be joined and what its columns might mean, for a person to confirm or change.

    A file that cannot be read at all gets a mapping without content; the preview says why.
    """
    plain = replace(options, join=None)
    if options.source.format in GENERATED_FORMATS:
        return plain, generated_mapping(job)
    with records_of(job, plain) as (file, records):
        sample = sample_of(file, records)
    found = sample.records
    if query := query_for(job, options, sample.columns, found):
        return replace(plain, query=query), mapping_of_queries(job, query, sample.columns, found)
    tables = tables_of(job, options)
    join = None
    if tables is not None:
        join = _join(options, tables, sample.columns, join_columns(found, tables), join_column)
    if tables is not None and join is not None:
        # Those without a table are told by the preview; the others tell what the columns mean.
        known = [record for record in found if tables.get(_text(record.values, join.column)) is not None]
        found = list(join_tables(known, tables, column=join.column, key=join.key))
    columns = [*sample.columns, join.key] if join else sample.columns
    mapping = guess_mapping(
        columns,
        found,
        label_fields(job.project, job.stage),
        join_column=join.column if join else None,
        field_names=[spec.name for spec in form_of(job.stage)] if job.stage else (),
    )
    mapping = _with_answer_values(job, mapping, found)
    languages = job.project.languages
    if len(languages) == 1:
        mapping = replace(mapping, language=languages[0])
    return replace(options, join=join), fit_to_stage(mapping, job.stage)


@transaction.atomic
def change_draft(*, job: ImportJob, options: ImportOptions, mapping: Mapping, stage: Stage | None) -> ImportJob:
    """Keep how a person wants the file to be read. Raises WorkNotPossible once the import has started.

    A column that has just become the gold of a choice gets its labels, with the options that they plainly mean.
    """
    locked: ImportJob = ImportJob.objects.select_for_update().get(pk=job.pk)
    if locked.state != STATE.DRAFT:
        raise WorkNotPossible(_("This import has started, so its mapping cannot be changed."))
    locked.options, locked.stage = options.to_json(), stage
    locked.mapping = _with_options(locked, options, mapping).to_json()
    locked.save(update_fields=["options", "mapping", "stage"])
    return locked


def reread_draft(
    *, job: ImportJob, options: ImportOptions, stage: Stage | None, join_column: str | None = None
) -> ImportJob:
    """Keep that the file is to be read in another way, or for another stage: what its columns mean is proposed anew.

    Raises ImportRefused if that leaves the tables without a column that names them.
    """
    job.stage = stage
    before = options_of(job).source
    if options.source.format == "xlsx" and (before.format, before.sheet) != ("xlsx", options.source.sheet):
        with opened(job.source) as file:
            try:
                # Another sheet has its own header and notes.
                options = replace(options, source=detect_sheet(file, options.source.sheet))
            except SourceError as fault:
                raise refusal(fault) from fault
    options, mapping = propose(job, replace(options, join=None), join_column=join_column)
    return change_draft(job=job, options=options, mapping=mapping, stage=stage)


@transaction.atomic
def start_import(*, job: ImportJob, by: Person) -> ImportJob:
    """Put a draft into the queue, and ring for a worker. Raises WorkNotPossible if it is no draft."""
    from config.bells import ring

    locked = _queued(job)
    events.record(actor=by, verb="importjob.started", subject=locked, project_id=locked.project_id)
    transaction.on_commit(lambda: ring(_task(), locked.pk))
    return locked


@transaction.atomic
def reopen_import(*, job: ImportJob, by: Person) -> ImportJob:
    """Make an import that was refused or cancelled a draft again, so that its mapping can be changed.

    Labels that were met without a chosen value are added to the mapping, for the page to ask for them.
    """
    locked: ImportJob = ImportJob.objects.select_for_update().get(pk=job.pk)
    if locked.state not in (STATE.FAILED, STATE.CANCELLED):
        raise WorkNotPossible(_("Only an import that was refused or cancelled can be opened again."))
    locked.mapping = _with_labels(mapping_of(locked), locked.report.get("unmapped", {})).to_json()
    locked.state, locked.due_at, locked.error, locked.report = STATE.DRAFT, None, "", {}
    locked.attempts, locked.n_done, locked.finished_at = 0, 0, None
    locked.save()
    events.record(actor=by, verb="importjob.reopened", subject=locked, project_id=locked.project_id)
    return locked


@transaction.atomic
def discard_import(*, job: ImportJob) -> None:
    """Forget a draft and its files. Raises WorkNotPossible once the import has started."""
    locked: ImportJob = ImportJob.objects.select_for_update().get(pk=job.pk)
    if locked.state != STATE.DRAFT:
        raise WorkNotPossible(_("Only a draft can be discarded."))
    kept = [stored for stored in (locked.source, locked.joined) if stored is not None]
    locked.delete()
    for stored in kept:
        forget_file(stored)


def run_import(*, job_id: int) -> None:
    """Do a queued import if it is due and nobody else does it: all of the file, or nothing and the reasons."""
    job = claim_work(model=ImportJob, pk=job_id)
    if job is not None:
        _run(job)


def import_file(
    *,
    project: Project,
    by: Person | None,
    file: Path | BinaryIO,
    name: str = "",
    stage: Stage | None = None,
    tables: Path | BinaryIO | None = None,
    tables_name: str = "",
    join_column: str | None = None,
    source: Detected | None = None,
    query: Query | None = None,
    mapping: Mapping | Callable[[Mapping], Mapping] | None = None,
    new_revisions: bool = False,
    repeats: str = "times",
    ground_truth_as_gold: bool = False,
    stage_title: str = "",
    dry_run: bool = False,
) -> ImportJob:
    """Import a file here and now, without a worker; the job with its report.

    name: as people know the file, with its ending; a path has its own. source: how to read it, detected if None.
    query: that the tables are a database, and where the queries stand; seen from the file if None.
    mapping: what the columns mean, guessed if None, or a function that changes the guess.
    repeats, ground_truth_as_gold, stage_title: of answers; see ImportOptions.
    dry_run: everything is checked and reported, nothing is kept.
    Raises ImportRefused with the problems if anything in it is wrong.
    """
    with _as_file(file, name) as source_file, _as_file(tables, tables_name) as tables_file:
        if source_file is None:
            raise ValueError("a file is needed")
        job = draft_import(
            project=project,
            by=by,
            file=source_file,
            name=source_file.name or "items",
            stage=stage,
            tables=tables_file,
            tables_name=(tables_file.name or "") if tables_file else "",
            join_column=join_column,
            source=source,
            query=query,
        )
    options = replace(
        options_of(job),
        new_revisions=new_revisions,
        repeats=repeats,
        ground_truth_as_gold=ground_truth_as_gold,
        stage_title=stage_title,
    )
    guess = mapping_of(job)
    if mapping is None and not guess.content and (fault := _first_fault(job)):
        # Nothing could be guessed of a file that nobody can read: its own fault is the one to tell.
        discard_import(job=job)
        raise refusal(fault)
    meant = guess if mapping is None else mapping if isinstance(mapping, Mapping) else mapping(guess)
    job = change_draft(job=job, options=options, mapping=meant, stage=stage)
    if dry_run:
        try:
            job.report = _rehearsed(job)
        finally:
            discard_import(job=job)
        return job
    with transaction.atomic():
        # Queued and claimed at once: a worker that is rung by the scheduler must not come first.
        _queued(job)
        claimed = claim_work(model=ImportJob, pk=job.pk)
    if claimed is None:
        raise WorkNotPossible(_("The import could not be started."))
    _run(claimed)
    job.refresh_from_db()
    if job.state != STATE.DONE:
        raise ImportRefused(job.error, job.report.get("problems", []))
    if meant.answers is not None:
        # Whoever imports by command may have no worker, and looks at the votes next.
        while resolve_due():
            pass
    return job


def _run(job: ImportJob) -> None:
    reader = None
    try:
        try:
            with DraftReader(job) as reader:
                _import(job, reader)
        except ImportRefused as fault:
            unmapped = reader.unmapped if reader else {}
            with holding(job) as held:
                held.report = _facts(job) | {"problems": fault.problems, "unmapped": unmapped}
                held.save(update_fields=["report"])
                end_work(held, error=str(fault))
    except WorkTaken:
        logger.info("Import %d was cancelled or taken over; nothing was written.", job.pk)


def _import(job: ImportJob, reader: DraftReader) -> None:
    begun = monotonic()
    with staging(reader.mapping) as staged:
        _stage_file(job, reader, staged, tell=True)
        with holding(job) as held:
            report, written = _stored(job, reader, by=job.created_by)
            report["seconds"] = round(monotonic() - begun, 2)
            held.report, held.item_set, held.n_done = report, written.item_set, held.n_total or 0
            # Answers without a stage have got one.
            held.stage = job.stage
            held.save(update_fields=["report", "item_set", "n_done", "stage"])
            end_work(held)
    if written.imported >= MANY_ITEMS:
        storing.renew_planner_figures()


def _rehearsed(job: ImportJob) -> dict[str, Any]:
    """The report of an import that is taken back."""
    with DraftReader(job) as reader, staging(reader.mapping) as staged:
        _stage_file(job, reader, staged)
        with transaction.atomic():
            report, _ = _stored(job, reader, by=job.created_by)
            transaction.set_rollback(True)
    return report


def _stage_file(job: ImportJob, reader: DraftReader, staged: Staging, *, tell: bool = False) -> None:
    """Read the whole file. Raises ImportRefused with everything that is wrong with it, WorkTaken when cancelled."""
    told = monotonic()
    with records_of(job, options_of(job)) as (file, records):
        for draft in reader.drafts(records):
            if staged.add(draft) and tell and monotonic() - told > SECONDS_BETWEEN_BEATS:
                beat(job, n_done=_in_kb(file.tell()))
                told = monotonic()
    staged.finish()
    if reader.mapping.answers is not None and not reader.mapping.content:
        stage_known_items(job.project)
    reader.check_mapping()
    if tell:
        # From here on the page says that the items are being stored: inside one transaction nothing else can be told.
        beat(job, n_done=job.n_total or 0)
    if reader.problems.n:
        reader.problems.add_all(_problems_of(job, reader))
        raise reader.problems.as_refusal()


def _stored(job: ImportJob, reader: DraftReader, *, by: Person | None) -> tuple[dict[str, Any], storing.Written]:
    """Compare the staged file and write it, inside the caller's transaction. Raises ImportRefused."""
    options = options_of(job)
    answers = reader.answers
    # Two imports into one project, one after the other: the second must see what the first has written.
    project = Project.objects.select_for_update(no_key=True).get(pk=job.project_id)
    _problems_of(job, reader).raise_if_any()
    compared = {"conflicting_gold": comparing.conflicting_gold(project, new_revisions=options.new_revisions)}
    if answers is not None:
        # Each answer repeats its item: only the items themselves are compared.
        gather_gold()
        storing.leave_out_repeats()
    compared |= {
        "content_duplicates": comparing.content_duplicates(),
        "content_known": comparing.content_known(project),
    }
    n_other_details = 0 if options.new_revisions or answers is not None else comparing.n_with_other_details(project)
    left_out = storing.leave_out_repeats()
    stage = job.stage
    if answers is not None:
        job.stage = answer_storing.stage_for(job, answers, reader.mapping, title=options.stage_title, by=by)
    written = storing.write(job, new_revisions=options.new_revisions and answers is None, by=by)
    written.left_out = left_out
    report = _facts(job) | written.as_report() | compared
    warnings = _warnings(job, reader, written, n_other_details)
    if answers is not None and job.stage is not None:
        report |= _stored_answers(job, reader, job.stage, is_new=stage is None, by=by)
        warnings += answers.warnings()
    return report | {"warnings": warnings}, written


def _stored_answers(
    job: ImportJob, reader: DraftReader, stage: Stage, *, is_new: bool, by: Person | None
) -> dict[str, Any]:
    comparing.find_answers_to_other_content(stage, id_column=reader.mapping.id_column).raise_if_any()
    stored = answer_storing.store_answers(
        job,
        stage=stage,
        repeats=options_of(job).repeats,
        is_new=is_new and not stage.assignments.exists(),
        by=by,
    )
    stored.problems.raise_if_any()
    return {"answers": stored.as_report(), "made_stage": is_new}


def _problems_of(job: ImportJob, reader: DraftReader) -> Problems:
    options, mapping = options_of(job), reader.mapping
    problems = comparing.find_problems(job.project, id_column=mapping.id_column, new_revisions=options.new_revisions)
    if mapping.answers is not None:
        problems.add_all(
            comparing.find_problems_of_answers(
                repeats=options.repeats, has_content=bool(mapping.content), id_column=mapping.id_column
            )
        )
    return problems


def _facts(job: ImportJob) -> dict[str, Any]:
    """How the file was read; a workbook, a Parquet file and an archive say themselves how their text is written."""
    source = options_of(job).source
    facts = {"file": job.source.name, "encoding": ENCODINGS[source.encoding], "encoding_note": source.encoding_note}
    if source.format in BINARY_FORMATS:
        facts |= {"encoding": FORMATS[source.format], "encoding_note": f"sheet {source.sheet}" if source.sheet else ""}
    return facts


def _warnings(job: ImportJob, reader: DraftReader, written: storing.Written, n_other_details: int) -> list[str]:
    warnings = list(options_of(job).source.notes)
    if missing := missing_keys(reader.mapping, job.stage):
        warnings.append(
            _("The stage also shows %(missing)s, and the file has no column for it.", missing=", ".join(missing))
        )
    if n_other_details:
        warnings.append(
            _(
                "%(n_other_details)s known items have another language, stratum, group or further column in "
                "this file. What is stored was kept; import again with new revisions to take over the file's.",
                n_other_details=f"{n_other_details:,}",
            )
        )
    if reader.mapping.gold and written.without_gold:
        warnings.append(
            _("%(without_gold)s items have no gold label in this file.", without_gold=f"{written.without_gold:,}")
        )
    if written.stayed:
        warnings.append(
            _(
                "%(stayed)s items of stages stay in their former revision, because people have answered them "
                "or hold them now.",
                stayed=f"{written.stayed:,}",
            )
        )
    return warnings


def _queued(job: ImportJob) -> ImportJob:
    locked: ImportJob = ImportJob.objects.select_for_update().get(pk=job.pk)
    if locked.state != STATE.DRAFT:
        raise WorkNotPossible(_("This import has started already."))
    try:
        mapping = mapping_of(locked)
        # Which columns there are is known at the end of the file; what the mapping itself lacks is known now.
        check_mapping(mapping, mapping.used_columns, locked.stage)
    except MappingError as fault:
        raise refusal(fault) from fault
    ImportJob.objects.filter(pk=locked.pk).update(state=STATE.WAITING, due_at=Now(), attempts=0)
    locked.refresh_from_db()
    return locked


def _with_options(job: ImportJob, options: ImportOptions, mapping: Mapping) -> Mapping:
    mapping = _with_answer_values(job, mapping, None, options)
    specs = {spec.name: spec for spec in label_fields(job.project, job.stage)}
    if not any(entry.field in specs and specs[entry.field].options and not entry.values for entry in mapping.gold):
        return mapping
    with records_of(job, options) as (file, records):
        sample = sample_of(file, records).records
    gold = []
    for entry in mapping.gold:
        spec = specs.get(entry.field)
        if spec is not None and spec.options and not entry.values:
            labels = labels_of(sample, entry.column)
            # Too many to be labels: left alone, each is refused if it is no option, and the page says so.
            if len(labels) <= MAX_LABELS:
                values = {**dict.fromkeys(labels, ""), **guess_values(labels, spec.options)}
                entry = replace(entry, values=values)
        gold.append(entry)
    return replace(mapping, gold=tuple(gold))


def _with_answer_values(
    job: ImportJob, mapping: Mapping, sample: list[Record] | None, options: ImportOptions | None = None
) -> Mapping:
    """Answers to a choice get the file's labels with the options that they plainly mean, unless all are options."""
    specs = {spec.name: spec for spec in form_of(job.stage)} if job.stage and mapping.answers else {}
    if mapping.answers is None or not any(
        entry.field in specs and specs[entry.field].options and not entry.values for entry in mapping.answers.fields
    ):
        return mapping
    if sample is None:
        with records_of(job, options or options_of(job)) as (file, records):
            sample = sample_of(file, records).records
    fields = []
    for entry in mapping.answers.fields:
        spec = specs.get(entry.field)
        if spec is not None and spec.options and not entry.values:
            labels = labels_of(sample, entry.column)
            if len(labels) <= MAX_LABELS and not set(labels) <= {option.value for option in spec.options}:
                entry = replace(entry, values={**dict.fromkeys(labels, ""), **guess_values(labels, spec.options)})
        fields.append(entry)
    return replace(mapping, answers=replace(mapping.answers, fields=tuple(fields)))


def _first_fault(job: ImportJob) -> SourceError | None:
    with records_of(job, options_of(job)) as (file, records):
        return sample_of(file, records).fault


def _with_labels(mapping: Mapping, labels: dict[str, list[str]]) -> Mapping:
    gold = tuple(
        replace(entry, values={**dict.fromkeys(labels.get(entry.column, []), ""), **entry.values})
        for entry in mapping.gold
    )
    if mapping.answers is None:
        return replace(mapping, gold=gold)
    fields = tuple(
        replace(entry, values={**dict.fromkeys(labels.get(entry.column, []), ""), **entry.values})
        for entry in mapping.answers.fields
    )
    return replace(mapping, gold=gold, answers=replace(mapping.answers, fields=fields))


def _join(
    options: ImportOptions, tables: Tables, columns: list[str], naming: list[str], asked: str | None
) -> Join | None:
    """The join that was asked for, or the column that names most tables. Raises ImportRefused if there is none."""
    if options.join is not None and options.join.column in columns:
        return options.join
    if asked is not None and asked not in columns:
        raise refusal(
            MappingError(_("there is no such column to join the tables by; choose another one."), field=asked)
        )
    column = asked or next(iter(naming), None)
    if column is None:
        if not columns:
            return None
        raise ImportRefused(
            _(
                "Nothing was imported: no column names any of the %(n_tables)s tables. A column of the first "
                "file must hold their names.",
                n_tables=f"{len(tables):,}",
            )
        )
    key = next(name for name in ("table", "joined_table", f"table_of_{column}") if name not in columns)
    return Join(column, key, options.join.id_column if options.join else None)


def _detected(file: File[Any], name: str, sheet: str = "") -> Detected:
    try:
        detected = detect(file, name)
        return detect_sheet(file, sheet) if sheet and detected.format == "xlsx" else detected
    except SourceError as fault:
        raise refusal(fault) from fault


def _kept(project: Project, file: File[Any], name: str) -> StoredFile:
    return store_file(
        project=project,
        purpose=StoredFile.Purpose.UPLOAD,
        name=name,
        media_type="application/octet-stream",
        content=file,
    )


def _in_kb(n_bytes: int) -> int:
    return -(-n_bytes // KB)


@contextmanager
def _as_file(file: Path | BinaryIO | None, name: str) -> Iterator[File[Any] | None]:
    if file is None:
        yield None
    elif isinstance(file, Path):
        with file.open("rb") as opened:
            yield File(opened, name=name or file.name)
    else:
        yield File(file, name=name or getattr(file, "name", "") or "items")


def _text(values: list[tuple[str, Any]], column: str) -> str:
    return plain_text(dict(values).get(column))


def _task() -> Any:
    from annotate.tasks import run_import as task

    return task
