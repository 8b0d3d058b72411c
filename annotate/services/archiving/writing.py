"""Project -> archive. Rows are streamed; in memory are only the ids of the tables that others point to."""

from __future__ import annotations

import hashlib
import json
import zipfile
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import partial
from typing import IO, Any

from django.utils import timezone

from annotate.csv_text import utc
from annotate.exceptions import ArchiveRefused
from annotate.models import Person, Project, StoredFile
from annotate.services.archiving.columns import Column
from annotate.services.archiving.references import renamed
from annotate.services.archiving.tables import LEFT_OUT, PEOPLE, TABLES, Table
from annotate.services.exporting.formats import TICK, Tick, json_line
from annotate.services.exporting.reading import one_snapshot
from annotate.wording import _
from config.version import VERSION as PROGRAM_VERSION

FORMAT = "goldpanel-archive"
VERSION = 1
MANIFEST = "manifest.json"
BATCH = 500
# An archive has at most 1,000 members, and the tables are some of them.
MAX_CONTENTS = 900
# A member that shrinks to less than this part of itself is stored as it is: readers take it for a bomb otherwise.
MAX_RATIO = 100
# Members bear this date, so that equal contents make equal bytes.
_DATE = (2000, 1, 1, 0, 0, 0)

# What does not travel although its table does, as the manifest says it.
COLUMNS_LEFT_OUT = (
    ("people", "names, passwords, codes, notes, roles: people are their pseudonyms, and nobody can sign in"),
    ("endpoints", "addresses, keys, limits: a model comes back as one whose answers were imported"),
    ("assignments", "their tokens: whoever holds one could answer"),
    ("background work", "runs and reports under way come back as cancelled"),
    ("history", "ids in events stay those of the installation where it happened"),
)


def n_archive_rows(project: Project) -> int:
    return sum(table.rows(project.pk).count() for table in TABLES)


def write_archive(project: Project, file: IO[bytes], tick: Tick) -> dict[str, Any]:
    """Write the whole project; {"rows", "members", "left_out"}. Of one moment, if the caller holds a snapshot."""
    with one_snapshot():
        stored: frozenset[str] = frozenset()
        while True:
            file.seek(0)
            file.truncate()
            written = _Written(project, tick, stored).into(file)
            # Rare: rows that are almost all alike. The others need no second look.
            if not (shrunk := _shrunk_too_far(file)) - stored:
                return written
            stored |= shrunk


def _shrunk_too_far(file: IO[bytes]) -> frozenset[str]:
    with zipfile.ZipFile(file) as archive:
        return frozenset(
            info.filename for info in archive.infolist() if info.file_size > MAX_RATIO * max(1, info.compress_size)
        )


class _Places:
    """The place of each row in its table's file, from 1, in the order of ids."""

    def __init__(self, project_id: int) -> None:
        self._project_id = project_id
        self._tables = {table.name: table for table in TABLES}
        self._ids: dict[str, array[int]] = {}

    def of(self, table: str, pk: int) -> int | None:
        ids = self._ids_of(table)
        place = bisect_left(ids, pk)
        return place + 1 if place < len(ids) and ids[place] == pk else None

    def of_or_0(self, table: str, pk: int) -> int:
        return self.of(table, pk) or 0

    def _ids_of(self, name: str) -> array[int]:
        if name not in self._ids:
            rows = self._tables[name].rows(self._project_id).values_list("pk", flat=True)
            self._ids[name] = array("q", rows.iterator(chunk_size=10_000))
        return self._ids[name]


class _Written:
    def __init__(self, project: Project, tick: Tick, stored: frozenset[str]) -> None:
        self.project, self.tick, self.stored = project, tick, stored
        self.places = _Places(project.pk)
        self.people: set[str] = set()
        self.members: list[dict[str, Any]] = []
        self.n_rows = 0

    def into(self, file: IO[bytes]) -> dict[str, Any]:
        left_out = [{"what": what, "why": why} for what, why in COLUMNS_LEFT_OUT]
        left_out += [{"what": one.model.rpartition(".")[2], "why": one.why} for one in LEFT_OUT]
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            for table in TABLES:
                self._member(archive, f"{table.name}.jsonl", self._lines(table))
            self._member(archive, "person.jsonl", self._person_lines())
            left_out += self._contents(archive)
            manifest = {
                "format": FORMAT,
                "version": VERSION,
                "program": {"name": "goldpanel", "version": PROGRAM_VERSION},
                "made_at": utc(timezone.now()),
                "project": {
                    "slug": self.project.slug,
                    "title": self.project.title,
                    "protocol": {"name": self.project.protocol_name, "version": self.project.protocol_version},
                },
                "members": self.members,
                "left_out": left_out,
            }
            text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
            archive.writestr(self._info(MANIFEST), text.encode())
        return {"rows": self.n_rows, "members": len(self.members), "left_out": left_out}

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(name, _DATE)
        info.compress_type = zipfile.ZIP_STORED if name in self.stored else zipfile.ZIP_DEFLATED
        info.external_attr = 0o600 << 16
        return info

    def _member(self, archive: zipfile.ZipFile, name: str, pieces: Iterator[bytes], *, is_table: bool = True) -> None:
        digest, n_bytes, n_pieces = hashlib.sha256(), 0, 0
        with archive.open(self._info(name), "w", force_zip64=True) as member:
            for piece in pieces:
                member.write(piece)
                digest.update(piece)
                n_bytes += len(piece)
                n_pieces += 1
        entry: dict[str, Any] = {"name": name, "bytes": n_bytes, "sha256": digest.hexdigest()}
        self.members.append(entry | {"rows": n_pieces} if is_table else entry)

    def _lines(self, table: Table) -> Iterator[bytes]:
        columns = table.columns
        as_json = [_as_json(table, column, self.places) for column in columns]
        names = [column.name for column in columns]
        of_people = [n for n, column in enumerate(columns) if column.target == "person"]
        rows = table.rows(self.project.pk).values_list("pk", *(column.lookup for column in columns))
        for pk, *values in rows.iterator(chunk_size=BATCH):
            for n in of_people:
                if values[n] is not None:
                    self.people.add(values[n])
            record = {name: write(value) for name, write, value in zip(names, as_json, values, strict=True)}
            record |= {name: self._many(table, name, pk) for name in table.many}
            yield json_line(record)
            self.n_rows += 1
            if self.n_rows % TICK == 0:
                self.tick(self.n_rows)

    def _many(self, table: Table, name: str, pk: int) -> list[int]:
        relation: Any = table.model_class._meta.get_field(name)
        mine = {relation.m2m_field_name(): pk}
        others = relation.remote_field.through._base_manager.filter(**mine)
        pks = others.values_list(f"{relation.m2m_reverse_field_name()}_id", flat=True)
        target = relation.remote_field.model._meta.model_name
        return sorted(place for other in pks if (place := self.places.of(target, other)) is not None)

    def _person_lines(self) -> Iterator[bytes]:
        pseudonyms = sorted(self.people)
        columns = PEOPLE.columns
        for start in range(0, len(pseudonyms), BATCH):
            rows = Person.objects.filter(pseudonym__in=pseudonyms[start : start + BATCH]).order_by("pseudonym")
            for values in rows.values_list(*(column.lookup for column in columns)):
                yield json_line(
                    {column.name: column.written(value) for column, value in zip(columns, values, strict=True)}
                )

    def _contents(self, archive: zipfile.ZipFile) -> list[dict[str, str]]:
        """The bytes of stored files, the newest first where there are too many; what had to stay behind."""
        table = next(table for table in TABLES if table.has_contents)
        missing = 0
        pks = list(table.rows(self.project.pk).values_list("pk", flat=True))
        for place in range(len(pks), max(0, len(pks) - MAX_CONTENTS), -1):
            stored = StoredFile.objects.get(pk=pks[place - 1])
            try:
                content = stored.file.open("rb")
            except OSError:
                missing += 1
                continue
            with content:
                self._member(archive, content_name(place), content.chunks(), is_table=False)
        too_many = max(0, len(pks) - MAX_CONTENTS)
        reasons = ((too_many, "only the newest 900 files of reports fit"), (missing, "the storage has lost them"))
        return [{"what": f"{n} files of reports", "why": why} for n, why in reasons if n]


def content_name(place: int) -> str:
    return f"files/{place:06}"


def _as_json(table: Table, column: Column, places: _Places) -> Any:
    if column.target is not None and column.target != "person":
        target = column.target

        def reference(pk: int | None) -> int | None:
            place = None if pk is None else places.of(target, pk)
            if place is None and pk is not None and not column.is_nullable:
                raise ArchiveRefused(
                    _(
                        "A row of %(name)s points to a %(target)s outside of the project.",
                        name=table.name,
                        target=target,
                    )
                )
            return place

        return reference
    change = table.archived_as.get(column.name)
    if paths := _paths(table, column):

        def with_ids(value: Any) -> Any:
            for path, target in paths.items():
                # 0 stands for a row that is gone.
                value = renamed(value, path, partial(places.of_or_0, target))
            return value

        return with_ids
    if change is not None:
        return lambda value: column.written(change(value))
    return column.written


def _paths(table: Table, column: Column) -> Mapping[str, str]:
    return table.ids.get(column.name, {})
