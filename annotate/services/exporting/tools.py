"""Answers and items as other tools read them: a ZIP with a file for each stage where people label or answer.

Of answers what counts goes out: the newest of each person that holds a place and was not excluded. Content is what the
stage shows. A value that a tool has no word for (a table, pairs of questions and answers) becomes JSON in a text, and
is counted.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotate.answers import FieldSpec, fields_from_json
from annotate.models import ItemRevision, Project, Stage, StageItem
from annotate.services.exporting.answers import answer_rows
from annotate.services.exporting.formats import TICK, Format, Tick, line_of
from annotate.services.exporting.reading import server_side_cursor
from annotate.shown import shown_pairs
from annotate.sources import argilla, mturk, prodigy
from annotate.sources.answer_columns import ANSWER_PREFIX
from annotate.sources.blocks import plain_text
from annotate.wording import _

# Stages of other kinds ask about answers, or for new items: no tool has a word for that.
STAGE_KINDS = (Stage.Kind.LABEL, Stage.Kind.ANSWER)
# Groups of rows whose items are read at once.
BATCH = 200
# Their values are lists of texts, which a task may hold as they are.
_PLAIN_LISTS = ("choices", "list")


@dataclass(frozen=True)
class Given:
    """One answer, or a skip: `values` is then empty."""

    person: str
    values: dict[str, Any]
    answered_at: str | None
    is_skip: bool


@dataclass(frozen=True)
class Answered:
    """An item of a stage, with what people said of it."""

    external_id: str
    language: str
    content: list[tuple[str, Any]]
    given: list[Given]


@dataclass
class Asked:
    """A stage and its fields; n_as_json counts the values that became JSON in a text."""

    slug: str
    fields: tuple[FieldSpec, ...]
    shown_keys: list[str]
    n_as_json: int = 0

    def as_text(self, value: Any) -> str:
        if isinstance(value, list | dict):
            self.n_as_json += 1
        return plain_text(value)


@dataclass
class Written:
    """What there is to say of a file, as it grows."""

    tick: Tick
    n_rows: int = 0
    people: dict[str, None] = field(default_factory=dict)

    def count(self, item: Answered) -> None:
        for one in item.given:
            if self.n_rows % TICK == 0:
                self.tick(self.n_rows)
            self.n_rows += 1
            self.people[one.person] = None


def _member(name: str) -> ZipInfo:
    """Without the time of writing: the same answers are the same file."""
    member = ZipInfo(name, (2000, 1, 1, 0, 0, 0))
    member.compress_type = ZIP_DEFLATED
    member.external_attr = 0o600 << 16
    return member


def write_argilla(project: Project, file: IO[bytes], tick: Tick) -> dict[str, Any]:
    """Records as Argilla's `from_json` reads them; people.json says which user stands for whom."""
    written, n_as_json = Written(tick), 0
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for stage, items in _stages(project, with_skips=False):
            with archive.open(_member(f"{stage.slug}.json"), "w", force_zip64=True) as member:
                member.write(b"[")
                for number, item in enumerate(items):
                    written.count(item)
                    member.write(b",\n" if number else b"\n")
                    member.write(line_of(_record(stage, item))[:-1])
                member.write(b"\n]\n")
            n_as_json += stage.n_as_json
        people = {person: argilla.user_id(person) for person in sorted(written.people)}
        archive.writestr(_member("people.json"), json.dumps(people, indent=1))
    return {"rows": written.n_rows, "as_json": n_as_json}


def write_prodigy(project: Project, file: IO[bytes], tick: Tick) -> dict[str, Any]:
    """Tasks with their answers as `db-out` writes them and `db-in` reads them, a line for each."""
    written, n_as_json = Written(tick), 0
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for stage, items in _stages(project, with_skips=True):
            with archive.open(_member(f"{stage.slug}.jsonl"), "w", force_zip64=True) as member:
                for item in items:
                    written.count(item)
                    for given in item.given:
                        member.write(line_of(_task(stage, item, given)))
            n_as_json += stage.n_as_json
    return {"rows": written.n_rows, "as_json": n_as_json}


def _record(stage: Asked, item: Answered) -> dict[str, Any]:
    responses: dict[str, list[dict[str, Any]]] = {}
    for given in item.given:
        for spec in stage.fields:
            if (value := given.values.get(spec.name)) is not None:
                said = {"value": _response(stage, spec, value), "user_id": argilla.user_id(given.person)}
                responses.setdefault(spec.name, []).append(said)
    return {
        "id": item.external_id,
        "fields": {key: plain_text(value) for key, value in item.content},
        "metadata": {"stage": stage.slug, "language": item.language},
        "suggestions": {},
        "responses": responses,
        "vectors": {},
        "_server_id": None,
    }


def _response(stage: Asked, spec: FieldSpec, value: Any) -> Any:
    """Labels, several labels and ratings are Argilla's own; all else is a text there."""
    return value if spec.type in ("choice", "choices", "scale") else stage.as_text(value)


def _task(stage: Asked, item: Answered, given: Given) -> dict[str, Any]:
    choice = next((spec for spec in stage.fields if spec.type in ("choice", "choices")), None)
    written = [spec for spec in stage.fields if spec is not choice]
    text, kept = _text(item)
    task: dict[str, Any] = {"id": item.external_id, "text": text, **kept}
    task["meta"] = {"stage": stage.slug} | ({"field": choice.name} if choice else {})
    if choice:
        task["options"] = [{"id": option.value, "text": option.caption} for option in choice.options]
        chosen = given.values.get(choice.name)
        task["accept"] = chosen if isinstance(chosen, list) else [] if chosen is None else [chosen]
    if written:
        task["field_id"] = [f"{ANSWER_PREFIX}{spec.name}" for spec in written]
        for spec in written:
            if (value := given.values.get(spec.name)) is not None:
                task[f"{ANSWER_PREFIX}{spec.name}"] = value if spec.type in _PLAIN_LISTS else stage.as_text(value)
    task["answer"] = "ignore" if given.is_skip else "accept"
    task["_view_id"] = "blocks" if choice and written else "choice" if choice else "text_input"
    task["_annotator_id"] = task["_session_id"] = given.person
    task["_timestamp"] = _seconds_since_1970(given.answered_at)
    return task


def _text(item: Answered) -> tuple[str, dict[str, Any]]:
    """(what Prodigy shows, the values that it is made of, beside it under their own names)."""
    if [(key, type(value)) for key, value in item.content] == [("text", str)]:
        return item.content[0][1], {}
    texts = [(key, plain_text(value)) for key, value in item.content]
    text = texts[0][1] if len(texts) == 1 else "\n\n".join(f"{key}: {value}" for key, value in texts)
    if any(not prodigy.is_content(key) for key, _value in texts):
        return text, {}
    return text, {prodigy.MADE_OF: [key for key, _value in texts], **dict(item.content)}


def _stages(project: Project, *, with_skips: bool) -> Iterator[tuple[Asked, Iterator[Answered]]]:
    """Each stage with its items, in the order of its queue; an item is read before the next one is asked for."""
    rows = answer_rows(project=project)
    head = {str(name): position for position, name in enumerate(next(rows))}
    kept = ("counted", "skipped") if with_skips else ("counted",)
    # What was excluded goes by that word, but for a skip.
    wanted = (row for row in rows if row[head["status"]] in kept and not row[head["exclusion_reason"]])
    asked = _asked(project)
    for slug, of_stage in groupby(wanted, key=lambda row: row[head["stage"]]):
        if stage := asked.get(str(slug)):
            yield stage, _items(project, stage, head, of_stage)


def _asked(project: Project) -> dict[str, Asked]:
    return {
        stage.slug: Asked(stage.slug, fields_from_json(version.fields), version.shown_keys)
        for stage in project.stages.filter(kind__in=STAGE_KINDS).order_by("position", "pk")
        for version in stage.versions.filter(is_current=True)
    }


def _items(project: Project, stage: Asked, head: dict[str, int], rows: Iterator[Any]) -> Iterator[Answered]:
    groups = groupby(rows, key=lambda row: (row[head["item"]], row[head["item_revision"]]))
    # groupby forgets a group at the next one.
    listed = ((key, list(group)) for key, group in groups)
    while batch := list(islice(listed, BATCH)):
        revisions = {
            (external_id, number): (language, content)
            for external_id, number, language, content in ItemRevision.objects.filter(
                item__project=project, item__external_id__in={external_id for (external_id, _), _ in batch}
            ).values_list("item__external_id", "number", "language", "content")
        }
        for (external_id, number), group in batch:
            language, content = revisions[external_id, number]
            yield Answered(
                external_id,
                language,
                shown_pairs(content, stage.shown_keys),
                [_given(stage, head, row) for row in group],
            )


def _given(stage: Asked, head: dict[str, int], row: Any) -> Given:
    values = {spec.name: row[head[f"{ANSWER_PREFIX}{spec.name}"]] for spec in stage.fields}
    is_skip = row[head["status"]] == "skipped"
    return Given(row[head["person"]], values, row[head["answered_at"]], is_skip)


def _seconds_since_1970(moment: str | None) -> int | None:
    return None if moment is None else int(datetime.fromisoformat(moment).timestamp())


def write_mturk(project: Project, file: IO[bytes], tick: Tick) -> dict[str, Any]:
    """Input files of Mechanical Turk: the items of each stage's queue, with what the stage shows as variables."""
    n_rows = n_as_json = n_replaced = 0
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for stage in _asked(project).values():
            rows = _queue(project, stage)
            # Quoted throughout, without a byte order mark: the first variable would have it in its name.
            names = mturk.variables(stage.shown_keys)
            with archive.open(_member(f"{stage.slug}.csv"), "w", force_zip64=True) as member:
                member.write(_csv_line([mturk.ITEM_ID, *names.values()]))
                for external_id, content in rows:
                    if n_rows % TICK == 0:
                        tick(n_rows)
                    n_rows += 1
                    values = dict(content)
                    texts = [external_id, *(stage.as_text(values.get(key)) for key in names)]
                    n_replaced += sum(mturk.has_four_bytes(text) for text in texts)
                    member.write(_csv_line([mturk.as_html(text) for text in texts]))
            n_as_json += stage.n_as_json
    return {"rows": n_rows, "as_json": n_as_json, "references": n_replaced}


def _queue(project: Project, stage: Asked) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """The items that people are asked about, checks among them, in their order."""
    rows = StageItem.objects.filter(stage__project=project, stage__slug=stage.slug, state=StageItem.State.OPEN)
    rows = rows.exclude(purpose=StageItem.Purpose.QUALIFICATION).order_by("rank", "pk")
    with server_side_cursor():
        for external_id, content in rows.values_list("revision__item__external_id", "revision__content").iterator(
            chunk_size=BATCH
        ):
            yield external_id, shown_pairs(content, stage.shown_keys)


def _csv_line(cells: list[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue().encode()


ITEM_FORMATS = (
    Format(
        "mturk",
        "Mechanical Turk",
        _("of items only: a ZIP of input files, a CSV for each stage, its columns as variables of a template"),
        ".mturk.zip",
        "application/zip",
        whole=write_mturk,
    ),
)
ANSWER_FORMATS = (
    Format(
        "argilla",
        "Argilla",
        _("of answers only: a ZIP of JSON records, a file for each stage, people as users of Argilla"),
        ".argilla.zip",
        "application/zip",
        whole=write_argilla,
    ),
    Format(
        "prodigy",
        "Prodigy",
        _("of answers only: a ZIP of JSONL, a file for each stage, a line for each answer or skip"),
        ".prodigy.zip",
        "application/zip",
        whole=write_prodigy,
    ),
)
