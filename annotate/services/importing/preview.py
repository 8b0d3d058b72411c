"""A draft import as its page shows it: the columns, the first items as people will see them, what is wrong so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from annotate.exceptions import ImportRefused
from annotate.models import ImportJob, ItemRevision
from annotate.services.importing import comparing, storing
from annotate.services.importing.options import ImportOptions, options_of
from annotate.services.importing.problems import Problems
from annotate.services.importing.reading import (
    SAMPLE_ASKED,
    DraftReader,
    check_mapping,
    columns_with,
    missing_keys,
    records_of,
    sample_of,
    shown_keys,
)
from annotate.services.importing.staging import stage_known_items, staging
from annotate.shown import ShownItem, shown_item
from annotate.sources import answer_columns
from annotate.sources.blocks import plain_text
from annotate.sources.errors import MappingError, shortened
from annotate.sources.mapping import ItemDraft
from annotate.sources.records import Record

N_ITEMS = 10
N_EXAMPLES = 2
# Ten items of a megabyte would make a page of ten.
MAX_TEXT = 20_000


@dataclass
class Column:
    """A column of the file, with a few of its values as text."""

    name: str
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PreviewItem:
    """One item: what people will see of it, and what only admins will."""

    item: ShownItem
    line: int
    gold: dict[str, list[str]]
    strata: list[list[str]]
    group: str | None
    n_extra: int
    annotator: str = ""
    answer: dict[str, Any] | None = None
    is_skip: bool = False


@dataclass
class Preview:
    """n_checked records were looked at; is_whole: that is the whole file. n_changed: known ids with new content.

    answers: counts of what people answered, if the file has that; left_out: what of it no field holds.
    """

    columns: list[Column] = field(default_factory=list)
    items: list[PreviewItem] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    n_problems: int = 0
    n_listed: int = 0
    n_checked: int = 0
    is_whole: bool = False
    n_changed: int = 0
    n_duplicates: int = 0
    n_conflicts: int = 0
    missing_keys: list[str] = field(default_factory=list)
    answers: dict[str, int] | None = None
    left_out: list[str] = field(default_factory=list)


def preview_of(job: ImportJob) -> Preview:
    """Read the first records as the job says, and compare them with one another and with the project."""
    options = options_of(job)
    preview = Preview()
    try:
        with DraftReader(job, is_sample=True) as reader:
            _look(job, options, reader, preview)
    except ImportRefused as fault:
        preview.problems = fault.problems or [{"message": str(fault)}]
        preview.n_problems = preview.n_listed = len(preview.problems)
    return preview


def _look(job: ImportJob, options: ImportOptions, reader: DraftReader, preview: Preview) -> None:
    with records_of(job, options) as (file, records):
        sample = sample_of(file, records)
    columns = columns_with(options, sample.columns)
    if options.asked and len(sample.records) > SAMPLE_ASKED:
        sample.records, sample.is_whole, sample.fault = sample.records[:SAMPLE_ASKED], False, None
    preview.columns = [
        column
        for column in _columns(columns, reader.examples(sample.records))
        if column.name not in answer_columns.COUNTED
    ]
    preview.n_checked, preview.is_whole = len(sample.records), sample.is_whole and sample.fault is None
    preview.missing_keys = missing_keys(reader.mapping, job.stage)
    found = Problems()
    try:
        check_mapping(reader.mapping, columns or reader.mapping.used_columns, job.stage)
    except MappingError as fault:
        found.add(fault)
    if reader.mapping.content or reader.mapping.answers:
        _compare(job, reader, sample.records, preview)
        found.add_all(reader.problems)
    if sample.fault:
        found.add(sample.fault)
    preview.problems, preview.n_problems, preview.n_listed = found.shown, found.n, found.n_listed


def _compare(job: ImportJob, reader: DraftReader, records: list[Record], preview: Preview) -> None:
    options, answers = options_of(job), reader.answers
    shown = shown_keys(job.stage)
    with staging(reader.mapping) as staged:
        for draft in reader.drafts(records):
            staged.add(draft)
            if len(preview.items) < N_ITEMS:
                preview.items.append(_item(draft, shown))
        staged.finish()
        if answers is not None and not reader.mapping.content:
            stage_known_items(job.project)
            _add_known_content(job, preview, shown)
        reader.problems.add_all(
            comparing.find_problems(
                job.project, id_column=reader.mapping.id_column, new_revisions=options.new_revisions
            )
        )
        if answers is not None:
            has_content, id_column = bool(reader.mapping.content), reader.mapping.id_column
            reader.problems.add_all(
                comparing.find_problems_of_answers(
                    repeats=options.repeats, has_content=has_content, id_column=id_column
                )
            )
            preview.answers, preview.left_out = comparing.answers_staged(), answers.warnings()
        preview.n_changed = comparing.n_known_with_new_content(job.project)
        if answers is not None:
            # Each answer repeats its item: only the items themselves are compared.
            storing.leave_out_repeats()
        preview.n_duplicates = comparing.content_duplicates()["n"] + comparing.content_known(job.project)["n"]
        preview.n_conflicts = comparing.conflicting_gold(job.project, new_revisions=options.new_revisions)["n"]


def _item(draft: ItemDraft, shown: list[str]) -> PreviewItem:
    content = [[key, _cut(value)] for key, value in draft.content]
    return PreviewItem(
        item=shown_item(
            external_id=draft.external_id,
            language=draft.language,
            content=content,
            shown_keys=shown or [key for key, _ in content],
        ),
        line=draft.line,
        gold=draft.gold,
        strata=draft.strata,
        group=draft.group,
        n_extra=len(draft.extra),
        annotator=draft.answer.annotator if draft.answer else "",
        answer=draft.answer.values if draft.answer else None,
        is_skip=bool(draft.answer and draft.answer.is_skip),
    )


def _add_known_content(job: ImportJob, preview: Preview, shown: list[str]) -> None:
    """The items of answers that came without: as the project has them."""
    ids = [one.item["external_id"] for one in preview.items]
    rows = ItemRevision.objects.filter(item__project=job.project_id, item__external_id__in=ids, is_current=True)
    known = {row.item.external_id: row for row in rows.select_related("item")}
    for number, one in enumerate(preview.items):
        revision = known.get(one.item["external_id"])
        if revision is not None:
            content = [[key, _cut(value)] for key, value in revision.content]
            keys = shown or [key for key, _ in content]
            item = shown_item(
                external_id=revision.item.external_id, language=revision.language, content=content, shown_keys=keys
            )
            preview.items[number] = replace(one, item=item)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"{value[:MAX_TEXT]}… [{len(value) - MAX_TEXT:,} more characters, cut in this preview only]"
    return value


def _columns(names: list[str], records: list[Record]) -> list[Column]:
    columns = {name: Column(name) for name in names}
    for record in records:
        for name, value in record.values:
            examples = columns[name].examples
            if value not in (None, "") and len(examples) < N_EXAMPLES:
                text = shortened(plain_text(value), 80)
                if text not in examples:
                    examples.append(text)
    return list(columns.values())
