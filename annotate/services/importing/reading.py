"""An uploaded file -> item drafts, one after another, with everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from annotate.answers import AnswerInvalid, FieldSpec, fields_from_json, get_field_type
from annotate.exceptions import ImportRefused
from annotate.models import ImportJob, Project, Stage, StageVersion, StoredFile
from annotate.services.importing.answer_reading import AnswerReader, check_answers
from annotate.services.importing.options import ImportOptions, mapping_of, options_of
from annotate.services.importing.problems import Problems, refusal
from annotate.sources.answered import AnswerColumn
from annotate.sources.blocks import plain_text
from annotate.sources.databases import Databases, is_sqlite, read_databases
from annotate.sources.detect import GENERATED_FORMATS
from annotate.sources.errors import MappingError, SourceError, shortened
from annotate.sources.joined import Tables, join_tables, read_tables
from annotate.sources.mapping import MAX_ID_CHARS, GoldColumn, ItemDraft, Mapping, apply
from annotate.sources.reading import read_records
from annotate.sources.records import Limits, Record, columns_of
from annotate.sources.sql_tables import GIVEN, ask
from annotate.stage_kinds import KINDS
from annotate.wording import _

# What a page or a guess looks at: enough to meet every label of most files, read in a fraction of a second.
SAMPLE = 2_000
SAMPLE_BYTES = 8_000_000
# Items of a recipe are made, not read: two of each task will do, and of large texts a few.
SAMPLE_GENERATED = 58
SAMPLE_GENERATED_CHARS = 2_000_000
# Each question of a sample is a query to run.
SAMPLE_ASKED = 50
SECONDS_OF_SAMPLE = 15.0
# Labels without a chosen value that a job remembers, so that its page can ask for one.
MAX_UNMAPPED = 50
# More different values than these are no labels of a choice.
MAX_LABELS = 60


def limits() -> Limits:
    return Limits(max_item_bytes=settings.MAX_ITEM_BYTES)


@contextmanager
def opened(stored: StoredFile) -> Iterator[Any]:
    """The stored file as bytes. Raises ImportRefused if the storage has lost it."""
    try:
        file = stored.file.open("rb")
    except OSError as fault:
        raise ImportRefused(_("The uploaded file cannot be opened any more: upload it again.")) from fault
    with file:
        yield file


@contextmanager
def records_of(job: ImportJob, options: ImportOptions) -> Iterator[tuple[Any, Iterator[Record]]]:
    """The job's file, which tells how far it was read, and its records, not yet joined to any table."""
    with opened(job.source) as file:
        records = read_records(file, options.source, limits())
        if options.source.format in GENERATED_FORMATS:
            generated = Generated(records)
            yield generated, iter(generated)
        else:
            yield file, records


class Generated:
    """The items of a recipe, in the place of a file: how many were made tells how far it is."""

    def __init__(self, records: Iterator[Record]) -> None:
        self._records, self._n_made, self._n_chars = records, 0, 0

    def __iter__(self) -> Iterator[Record]:
        for record in self._records:
            self._n_made += 1
            self._n_chars += sum(len(value) for _, value in record.values if isinstance(value, str))
            yield record

    @property
    def is_enough_for_a_sample(self) -> bool:
        return self._n_made >= SAMPLE_GENERATED or self._n_chars > SAMPLE_GENERATED_CHARS

    def tell(self) -> int:
        """In bytes, as of a file; progress is told in kilobytes, and an item counts as one."""
        return 1_000 * self._n_made


def tables_of(job: ImportJob, options: ImportOptions) -> Tables | None:
    if job.joined is None:
        return None
    with opened(job.joined) as file:
        try:
            id_column = options.join.id_column if options.join else None
            return read_tables(file, job.joined.name, id_column=id_column, limits=limits())
        except SourceError as fault:
            raise refusal(SourceError(_("In the file of tables: %(message)s", message=fault.message))) from fault


def databases_of(job: ImportJob) -> Databases:
    """What the second file holds to be asked. Raises ImportRefused; close what it gives."""
    if job.joined is None:
        raise refusal(SourceError(_("Queries need a database: upload it beside the questions.")))
    with opened(job.joined) as file:
        try:
            return read_databases(file, job.joined.name, limits=limits())
        except SourceError as fault:
            raise refusal(SourceError(_("In the database: %(message)s", message=fault.message))) from fault


def holds_sqlite(job: ImportJob) -> bool:
    if job.joined is None:
        return False
    with opened(job.joined) as file:
        return is_sqlite(file.read(16))


def label_fields(project: Project, stage: Stage | None) -> tuple[FieldSpec, ...]:
    """The fields that decide: those whose gold labels a file may bring.

    Without a stage those of the project's stages, one of each name; in a project without stages those that a new stage
    is offered, so that gold imported first fits the stage made second.
    """
    if stage is not None:
        forms = [stage.versions.get(is_current=True).fields]
    else:
        versions = StageVersion.objects.filter(stage__project=project, is_current=True).order_by("stage__position")
        forms = list(versions.values_list("fields", flat=True)) or [
            list(KINDS[kind].fields) for kind in ("label", "answer")
        ]
    by_name: dict[str, FieldSpec] = {}
    for form in forms:
        for spec in fields_from_json(form):
            if spec.decides:
                by_name.setdefault(spec.name, spec)
    return tuple(by_name.values())


def shown_keys(stage: Stage | None) -> list[str]:
    return list(stage.versions.get(is_current=True).shown_keys) if stage else []


@dataclass
class Sample:
    """The first records of a file: SAMPLE of them, or less where they are large. `fault` is why reading ended early."""

    records: list[Record]
    columns: list[str]
    fault: SourceError | None = None
    is_whole: bool = False


def sample_of(file: Any, records: Iterator[Record]) -> Sample:
    found: list[Record] = []
    while len(found) < SAMPLE and (file.tell() < SAMPLE_BYTES or not found):
        if isinstance(file, Generated) and file.is_enough_for_a_sample:
            break
        try:
            record = next(records, None)
        except SourceError as fault:
            return Sample(found, columns_of(found), fault, is_whole=True)
        if record is None:
            return Sample(found, columns_of(found), is_whole=True)
        found.append(record)
    return Sample(found, columns_of(found))


def columns_with(options: ImportOptions, columns: list[str]) -> list[str]:
    """The file's columns and those that its tables, or its queries, add."""
    if options.asked:
        return list(dict.fromkeys((*columns, *GIVEN)))
    return [*columns, options.join.key] if options.join else columns


def labels_of(records: Sequence[Record], column: str) -> list[str]:
    """The distinct values of a column as gold would read them, in order, one more than MAX_LABELS at most."""
    labels: dict[str, None] = {}
    for record in records:
        value = dict(record.values).get(column)
        for element in value if isinstance(value, list) else [value]:
            if not isinstance(element, list | dict) and (text := plain_text(element).strip()):
                labels[text] = None
        if len(labels) > MAX_LABELS:
            break
    return list(labels)


class DraftReader:
    """Reads drafts as one job wants them, and keeps what is wrong with the records it meets.

    A record that the mapping cannot read is a problem, and reading goes on: people want to see all of them. A file that
    cannot be read any further is the last problem. Raises ImportRefused for tables that cannot be read.
    """

    def __init__(self, job: ImportJob, *, is_sample: bool = False) -> None:
        stage, options = job.stage, options_of(job)
        self.mapping = mapping_of(job)
        self.problems = Problems()
        self.unmapped: dict[str, list[str]] = {}
        self._columns: dict[str, None] = {}
        self._fields = {spec.name: spec for spec in label_fields(job.project, stage)} if stage else {}
        self._stage = stage
        self._join = options.join
        self._tables = tables_of(job, options) if options.join else None
        self._query = options.asked
        self._databases = databases_of(job) if self._query else None
        if is_sample and self._databases:
            self._databases.seconds_left = SECONDS_OF_SAMPLE
        self._checked: set[tuple[str, str]] = set()
        self.answers = AnswerReader(self.mapping.answers, stage, options) if self.mapping.answers else None

    def __enter__(self) -> DraftReader:
        return self

    def __exit__(self, *_fault: object) -> None:
        if self._databases is not None:
            self._databases.close()

    def examples(self, records: Sequence[Record]) -> list[Record]:
        """Records with all columns, to show what is in them; of queries the first answers that can be given."""
        if self._query is None:
            return list(records)
        found = []
        for record in records[:2]:
            with suppress(SourceError):
                found.append(self._joined(record))
        return found or list(records)

    def drafts(self, records: Iterable[Record]) -> Iterator[ItemDraft]:
        iterator = iter(records)
        while True:
            try:
                record = next(iterator, None)
            except SourceError as fault:
                self.problems.add(fault)
                return
            if record is None:
                return
            try:
                record = self._joined(record)
                for column, _ in record.values:
                    self._columns[column] = None
                draft = apply(self.mapping, record)
                if self.answers is not None:
                    draft = self.answers.read(draft, record)
                self._check_gold(draft)
                _check_group(draft, self.mapping)
            except SourceError as fault:
                self.problems.add(fault)
                self._remember_labels(record, fault)
            else:
                yield draft

    def check_mapping(self) -> None:
        """Once all was read: JSON records need not have the same columns. Raises ImportRefused."""
        if not self._columns:
            return
        try:
            check_mapping(self.mapping, self._columns, self._stage)
        except MappingError as fault:
            raise refusal(fault) from fault

    def _joined(self, record: Record) -> Record:
        if self._query is not None and self._databases is not None:
            question = plain_text(dict(record.values).get(self.mapping.id_column or ""))
            return ask(record, self._query, self._databases, question=question)
        if self._join is None or self._tables is None:
            return record
        # One by one, so that reading goes on after a record whose table is missing.
        return next(join_tables((record,), self._tables, column=self._join.column, key=self._join.key))

    def _check_gold(self, draft: ItemDraft) -> None:
        for name, answers in draft.gold.items():
            spec = self._fields.get(name)
            if spec is None:
                continue
            for answer in answers:
                if (name, answer) not in self._checked:
                    self._check_answer(draft, spec, answer)
                    # Labels repeat; free answers hardly do, and must not fill the memory.
                    if spec.options:
                        self._checked.add((name, answer))

    def _check_answer(self, draft: ItemDraft, spec: FieldSpec, answer: str) -> None:
        try:
            get_field_type(spec.type).validate(answer, spec)
        except AnswerInvalid as fault:
            column = next(entry.column for entry in self.mapping.gold if entry.field == spec.name)
            options = ", ".join(option.value for option in spec.options)
            allowed = f"; its options are {shortened(options, 200)}" if options else f" ({fault.message})"
            raise SourceError(
                _(
                    "the gold label “%(shortened)s” is no answer to the field “%(name)s”%(allowed)s. Say in the "
                    "mapping what it stands for, or correct it.",
                    shortened=shortened(answer),
                    name=spec.name,
                    allowed=allowed,
                ),
                line=draft.line,
                row=draft.number,
                field=column,
            ) from fault

    def _remember_labels(self, record: Record, fault: SourceError) -> None:
        """Labels that nobody has met in the sample: the mapping page asks for their values next time."""
        values = dict(record.values)
        answered = self.mapping.answers.fields if self.mapping.answers else ()
        entries: tuple[GoldColumn | AnswerColumn, ...] = (*self.mapping.gold, *answered)
        for entry in entries:
            if entry.column != fault.field or not entry.values:
                continue
            cell = values.get(entry.column)
            known = self.unmapped.setdefault(entry.column, [])
            for value in cell if isinstance(cell, list) else [cell]:
                text = plain_text(value).strip()
                if text and not entry.values.get(text) and text not in known and len(known) < MAX_UNMAPPED:
                    known.append(text)


def check_mapping(mapping: Mapping, columns: Iterable[str], stage: Stage | None) -> None:
    """Raise MappingError if these columns, or this stage, cannot be served by the mapping."""
    mapping.check(columns)
    check_answers(mapping, stage)
    if stage is None:
        return
    shown = shown_keys(stage)
    if mapping.content and not {entry.key for entry in mapping.content} & set(shown):
        keys = ", ".join(f"“{shortened(key)}”" for key in shown)
        raise MappingError(
            _(
                "The stage “%(title)s” shows %(keys)s, and no column has that name: people would see empty "
                "items. Give a column the name, or change what the stage shows.",
                title=stage.title,
                keys=keys,
            )
        )
    names = [spec.name for spec in label_fields(stage.project, stage)]
    for entry in mapping.gold:
        if entry.field not in names:
            raise MappingError(
                _(
                    "the stage “%(title)s” has no field “%(shortened)s” that decides; choose one of %(names)s.",
                    title=stage.title,
                    shortened=shortened(entry.field),
                    names=", ".join(names),
                ),
                field=entry.column,
            )


def fit_to_stage(mapping: Mapping, stage: Stage | None) -> Mapping:
    """The mapping with its first column shown under the name that the stage expects, where no column has it."""
    shown = shown_keys(stage)
    keys = {entry.key for entry in mapping.content}
    if not shown or not mapping.content or keys & set(shown):
        return mapping
    first, *others = mapping.content
    return replace(mapping, content=(replace(first, key=shown[0]), *others))


def missing_keys(mapping: Mapping, stage: Stage | None) -> list[str]:
    """What the stage shows and no column gives. Answers to known items need no content in their file."""
    if mapping.answers is not None and not mapping.content:
        return []
    keys = {entry.key for entry in mapping.content}
    return [key for key in shown_keys(stage) if key not in keys]


def root_name(mapping: Mapping, draft: ItemDraft) -> str:
    """What the group's own item is called: `table_id=702` cannot be taken for the question with the id 702."""
    return f"{mapping.group_column}={draft.group}" if draft.group else ""


def _check_group(draft: ItemDraft, mapping: Mapping) -> None:
    name = root_name(mapping, draft)
    if len(name) > MAX_ID_CHARS or not name.isprintable():
        raise SourceError(
            _(
                "the group's name has a line break, or more than %(max_id_chars)s characters together with "
                "its column; choose another column for the groups.",
                max_id_chars=MAX_ID_CHARS,
            ),
            line=draft.line,
            row=draft.number,
            field=mapping.group_column,
        )


def join_columns(sample: Sequence[Record], tables: Tables) -> list[str]:
    """Columns that name tables, the one that names most of them first."""
    hits: dict[str, int] = {}
    for record in sample:
        for column, value in record.values:
            if not isinstance(value, list | dict) and tables.get(plain_text(value)) is not None:
                hits[column] = hits.get(column, 0) + 1
    return sorted(hits, key=lambda column: -hits[column])
