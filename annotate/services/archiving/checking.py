"""Whether a file is an archive that can be restored. All of it is read and checked before anything is written."""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

from annotate.answers import AnswerInvalid, FieldSpec, fields_from_json, get_field_type
from annotate.exceptions import ArchiveRefused
from annotate.services.archiving.references import renamed
from annotate.services.archiving.tables import PEOPLE, TABLES, Table
from annotate.services.archiving.writing import FORMAT, MANIFEST, VERSION
from annotate.sources.strict_json import RefusedValue, decode_json
from annotate.wording import _

MAX_MEMBERS = 1_000
MAX_RATIO = 200
MAX_DEPTH = 64
MAX_LINE = 100_000_000
MAX_MANIFEST = 5_000_000
MAX_TOTAL = 20_000_000_000
# Below this size a high ratio harms nobody.
RATIO_MATTERS_FROM = 100_000
# So many faults are told; whoever made the archive has one cause to look for.
MAX_PROBLEMS = 20

_NAME = re.compile(r"manifest\.json|[a-z]{1,40}\.jsonl|files/[0-9]{6}")
_CONTENT = re.compile(r"files/([0-9]{6})")
_LINK = "it is a link, and an archive holds files alone"


@dataclass
class Checked:
    """An archive that can be restored: its tables with the number of their rows, its people, the places of contents."""

    archive: zipfile.ZipFile
    manifest: dict[str, Any]
    n_rows: dict[str, int]
    sha256: str
    people: set[str] = field(default_factory=set)
    contents: list[int] = field(default_factory=list)

    def rows(self, table: Table) -> Iterator[dict[str, Any]]:
        """The checked rows of a table, as Python holds their values; references are places, people pseudonyms."""
        name = f"{table.name}.jsonl"
        if self.n_rows[table.name]:
            for line in _lines_of(self.archive, name):
                yield _row(table, _decoded(name, 0, line))


def check_archive(file: IO[bytes]) -> Checked:
    """Read all of an archive. Raises ArchiveRefused with every fault, up to some twenty, and where it is."""
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(1_000_000):
        digest.update(piece)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError) as fault:
        raise ArchiveRefused(
            _(
                "This is no ZIP file, or it was cut off on its way: its end, where its list of members "
                "stands, is missing."
            )
        ) from fault
    _check_members(archive)
    manifest = _manifest_of(archive)
    checked = Checked(archive, manifest, {}, digest.hexdigest())
    _Check(checked).everything()
    return checked


def _check_members(archive: zipfile.ZipFile) -> None:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise ArchiveRefused(
            _(
                "The archive has %(n_infos)s members, and %(max_members)s are allowed.",
                n_infos=f"{len(infos):,}",
                max_members=f"{MAX_MEMBERS:,}",
            )
        )
    seen: set[str] = set()
    total = 0
    for info in infos:
        name = info.orig_filename
        wrong = None
        if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
            wrong = "its name is absolute"
        elif ".." in re.split(r"[/\\]", name):
            wrong = "its name leads out of the archive (..)"
        elif stat.S_ISLNK(info.external_attr >> 16):
            wrong = _LINK
        elif not _NAME.fullmatch(name):
            wrong = "no archive of ours has a member of this name"
        elif name in seen:
            wrong = "it is there twice"
        elif info.flag_bits & 0x1:
            wrong = "it is encrypted"
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            wrong = "it is compressed in a way that is not ours"
        elif info.file_size > RATIO_MATTERS_FROM and info.file_size > MAX_RATIO * max(1, info.compress_size):
            wrong = f"it grows to more than {MAX_RATIO} times its size when unpacked"
        if wrong:
            raise ArchiveRefused(f"{name[:100]!r}: {wrong}.", [_problem(name, None, wrong)])
        seen.add(name)
        total += info.file_size
    if total > MAX_TOTAL:
        raise ArchiveRefused(
            _(
                "Unpacked, the archive has %(total)s bytes, and %(max_total)s are allowed.",
                total=f"{total:,}",
                max_total=f"{MAX_TOTAL:,}",
            )
        )
    if MANIFEST not in seen:
        raise ArchiveRefused(_("There is no %(manifest)s in it, so it is no archive of a project.", manifest=MANIFEST))


def _manifest_of(archive: zipfile.ZipFile) -> dict[str, Any]:
    if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST:
        raise ArchiveRefused(
            _("%(manifest)s has more than %(max_manifest)s bytes.", manifest=MANIFEST, max_manifest=f"{MAX_MANIFEST:,}")
        )
    with _readable(MANIFEST):
        text = archive.read(MANIFEST)
    manifest = _decoded(MANIFEST, None, text)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ArchiveRefused(
            _("%(manifest)s does not say that this is a %(format)s.", manifest=MANIFEST, format=FORMAT)
        )
    if manifest.get("version") != VERSION:
        told = str(manifest.get("version"))[:20]
        raise ArchiveRefused(
            _(
                "The archive has version %(told)s, and this program reads version %(version)s: use the "
                "program that made it, or a newer one.",
                told=told,
                version=VERSION,
            )
        )
    members = manifest.get("members")
    if not isinstance(members, list) or not all(_is_entry(entry) for entry in members):
        raise ArchiveRefused(
            _("%(manifest)s has no list of members with name, bytes, rows and sha256.", manifest=MANIFEST)
        )
    listed = [entry["name"] for entry in members]
    if len(set(listed)) != len(listed):
        raise ArchiveRefused(_("%(manifest)s lists a member twice.", manifest=MANIFEST))
    there = {info.filename for info in archive.infolist()} - {MANIFEST}
    if missing := sorted(set(listed) - there):
        raise ArchiveRefused(
            _("The archive lacks %(missing)s, which its manifest lists.", missing=", ".join(missing[:5]))
        )
    if more := sorted(there - set(listed)):
        raise ArchiveRefused(
            _("The archive holds %(more)s, which its manifest does not list.", more=", ".join(more[:5]))
        )
    known = {f"{table.name}.jsonl" for table in (*TABLES, PEOPLE)}
    if foreign := sorted(name for name in listed if name not in known and not _CONTENT.fullmatch(name)):
        raise ArchiveRefused(
            _(
                "This program knows no table %(foreign)s: the archive was made by a newer one.",
                foreign=", ".join(foreign[:5]),
            )
        )
    return manifest


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return False
    numbers = ["bytes"] if entry["name"].startswith("files/") else ["bytes", "rows"]
    is_counted = all(isinstance(entry.get(name), int) and 0 <= entry[name] < 2**53 for name in numbers)
    return is_counted and isinstance(entry.get("sha256"), str)


class _Check:
    """The second look: checksums first, then every row against its columns, its references and its form."""

    def __init__(self, checked: Checked) -> None:
        self.checked, self.archive = checked, checked.archive
        self.problems: list[dict[str, object]] = []
        self.entries = {entry["name"]: entry for entry in checked.manifest["members"]}
        self.forms: list[tuple[FieldSpec, ...]] = []
        self.form_of_run: array[int] = array("q")

    def everything(self) -> None:
        for name, entry in self.entries.items():
            self._check_sum(name, entry)
        self._raise_if_any("The archive was damaged or changed after it was made")
        for table in (*TABLES, PEOPLE):
            self.checked.n_rows[table.name] = self.entries.get(f"{table.name}.jsonl", {}).get("rows", 0)
        if self.checked.n_rows["project"] != 1:
            raise ArchiveRefused(_("The archive must hold one project."))
        for row in self._checked_rows(PEOPLE):
            self.checked.people.add(row["pseudonym"])
        if len(self.checked.people) != self.checked.n_rows["person"]:
            self._add("person.jsonl", None, "a pseudonym stands there twice")
        for table in TABLES:
            for row in self._checked_rows(table):
                self._remember_form(table, row)
        contents = [match for name in self.entries if (match := _CONTENT.fullmatch(name))]
        self.checked.contents = sorted(int(match[1]) for match in contents)
        for place in self.checked.contents:
            if not 1 <= place <= self.checked.n_rows["storedfile"]:
                self._add(f"files/{place:06}", None, "storedfile.jsonl has no row for it")
        self._raise_if_any("The archive cannot be restored")

    def _check_sum(self, name: str, entry: dict[str, Any]) -> None:
        digest, n_bytes, n_rows, last = hashlib.sha256(), 0, 0, b"\n"
        try:
            with _readable(name), self.archive.open(name) as member:
                while piece := member.read(1_000_000):
                    digest.update(piece)
                    n_bytes += len(piece)
                    n_rows += piece.count(b"\n")
                    last = piece[-1:]
        except ArchiveRefused as fault:
            self.problems += fault.problems
            return
        if n_bytes != entry["bytes"]:
            self._add(name, None, f"it has {n_bytes:,} bytes, and the manifest says {entry['bytes']:,}")
        elif digest.hexdigest() != entry["sha256"]:
            self._add(name, None, "its SHA-256 is not that of the manifest")
        elif "rows" in entry and n_rows != entry["rows"]:
            self._add(name, None, f"it has {n_rows:,} rows, and the manifest says {entry['rows']:,}")
        elif "rows" in entry and last != b"\n":
            self._add(name, n_rows + 1, "its last line does not end")

    def _checked_rows(self, table: Table) -> Iterator[dict[str, Any]]:
        name = f"{table.name}.jsonl"
        if not self.checked.n_rows[table.name]:
            return
        for number, line in enumerate(_lines_of(self.archive, name), start=1):
            try:
                row = _row(table, _decoded(name, number, line))
                self._check_references(table, row)
                self._check_against_form(table, row)
            except ArchiveRefused as fault:
                self.problems += fault.problems or [_problem(name, number, str(fault))]
            except ValueError as fault:
                self._add(name, number, str(fault))
            else:
                yield row
            if len(self.problems) >= MAX_PROBLEMS:
                self._raise_if_any("The archive cannot be restored")

    def _check_references(self, table: Table, row: dict[str, Any]) -> None:
        for column in table.columns:
            value = row[column.name]
            if column.target is None or value is None:
                continue
            if column.target == "person":
                if not isinstance(value, str) or value not in self.checked.people:
                    raise ValueError(f"{column.name}: person.jsonl has nobody called {value!r}")
            else:
                self._check_place(column.name, column.target, value)
        for name in table.many:
            relation: Any = table.model_class._meta.get_field(name)
            target: str = relation.remote_field.model._meta.model_name
            for value in row[name]:
                self._check_place(name, target, value)
        for column_name, paths in table.ids.items():
            for path, of in paths.items():
                try:
                    renamed(row[column_name], path, partial(self._place_or_0, of))
                except ValueError as fault:
                    raise ValueError(f"{column_name}.{path}: {fault}") from fault

    def _check_place(self, name: str, target: str, value: Any) -> None:
        n = self.checked.n_rows[target]
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= n:
            raise ValueError(f"{name}: it points to row {value!r} of {target}.jsonl, which has {n:,}")

    def _place_or_0(self, target: str, place: int) -> int:
        if place:
            self._check_place("it", target, place)
        return place

    def _remember_form(self, table: Table, row: dict[str, Any]) -> None:
        if table.name == "stageversion":
            self.forms.append(fields_from_json(row["fields"]))
        elif table.name == "run":
            self.form_of_run.append(row["stage_version"])

    def _check_against_form(self, table: Table, row: dict[str, Any]) -> None:
        """What pages and exports will ask of an answer must be possible with it."""
        if table.name == "annotation":
            place = row["stage_version"]
        elif table.name == "prediction" and row["answer"] is not None:
            place = self.form_of_run[row["run"] - 1] if row["run"] <= len(self.form_of_run) else len(self.forms) + 1
        else:
            return
        if not isinstance(row["answer"], dict):
            raise ValueError("answer must be an object")
        if place > len(self.forms):
            return  # its form is among the faults already
        for spec in self.forms[place - 1]:
            value = row["answer"].get(spec.name)
            if spec.decides and value is not None:
                try:
                    get_field_type(spec.type).canonical_key(value, spec)
                except (AnswerInvalid, TypeError, ValueError, KeyError, AttributeError) as fault:
                    raise ValueError(f"answer.{spec.name} is no answer to this field ({spec.type})") from fault

    def _add(self, name: str, line: int | None, words: str) -> None:
        self.problems.append(_problem(name, line, words))

    def _raise_if_any(self, words: str) -> None:
        if self.problems:
            first = self.problems[0]
            place = f"{first['member']}{', line ' + format(first['line'], ',') if first['line'] else ''}"
            raise ArchiveRefused(f"{words}. {place}: {first['message']}.", self.problems)


def _problem(name: str, line: int | None, words: str) -> dict[str, object]:
    return {"member": name[:100], "line": line, "message": words}


class _readable:
    """Around whatever unpacks a member: damage has many names."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, fault: BaseException | None, trace: Any) -> None:
        if isinstance(fault, zipfile.BadZipFile | zlib.error | EOFError | NotImplementedError | RuntimeError):
            words = "it cannot be unpacked: the archive is damaged here"
            raise ArchiveRefused(f"{self.name}: {words}.", [_problem(self.name, None, words)]) from fault


def _lines_of(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with _readable(name), archive.open(name) as member, io.BufferedReader(member, 1 << 16) as lines:  # type: ignore[type-var]
        while line := lines.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                words = f"a line has more than {MAX_LINE:,} bytes"
                raise ArchiveRefused(f"{name}: {words}.", [_problem(name, None, words)])
            yield line


def _decoded(name: str, number: int | None, text: bytes) -> Any:
    try:
        decoded = text.decode()
        value, end = decode_json(
            decoded, len(decoded) - len(decoded.lstrip()), max_depth=MAX_DEPTH, allow_control_characters=False
        )
        if decoded[end:].strip():
            raise ValueError("something follows after the value")
    except UnicodeDecodeError as fault:
        words = "it is not UTF-8"
        raise ArchiveRefused(f"{name}: {words}.", [_problem(name, number, words)]) from fault
    except json.JSONDecodeError as fault:
        words = f"this is no JSON ({fault.msg}, at character {fault.pos + 1})"
        raise ArchiveRefused(f"{name}: {words}.", [_problem(name, number, words)]) from fault
    except RefusedValue as fault:
        words = f"{fault.field + ': ' if fault.field else ''}{fault.problem.rstrip('.')}"
        raise ArchiveRefused(f"{name}: {words}.", [_problem(name, number, words)]) from fault
    return value


def _row(table: Table, record: Any) -> dict[str, Any]:
    """The record with every value as Python holds it. Raises ValueError for what does not fit the table."""
    if not isinstance(record, dict):
        raise ValueError("there must be an object on each line")
    row: dict[str, Any] = {}
    for column in table.columns:
        if column.name in record:
            try:
                row[column.name] = column.checked(record[column.name])
            except ValueError as fault:
                raise ValueError(f"{column.name}: {fault}") from fault
        elif column.has_default:
            # An archive of a program that did not have the column yet.
            row[column.name] = column.default()
        else:
            raise ValueError(f"{column.name} is missing")
    for name in table.many:
        row[name] = record.get(name, [])
        if not isinstance(row[name], list):
            raise ValueError(f"{name} must be a list")
    if unknown := sorted(record.keys() - row.keys()):
        raise ValueError(f"this program knows no {', '.join(unknown[:5])}: the archive was made by a newer one")
    if table.check is not None:
        table.check(row)
    return row
