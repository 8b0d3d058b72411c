"""What a file is: format, encoding, delimiter. Proposals for a person to confirm, except for what is no text at all."""

import codecs
import csv
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice, pairwise
from typing import Any

from annotate.sources import argilla, label_studio, mturk, prodigy
from annotate.sources.archives import opened_zip
from annotate.sources.decoding import CHUNK_BYTES, ENCODINGS, BinaryFile, byte_order_mark
from annotate.sources.delimited import DELIMITERS, NEWLINES, csv_options
from annotate.sources.errors import SourceError, shortened
from annotate.sources.json_files import MAX_MEMBERS, SUFFIXES
from annotate.sources.json_window import JsonWindow
from annotate.sources.records import Limits
from annotate.sources.structext import is_recipe
from annotate.wording import _

FORMATS = {
    "jsonl": "JSON Lines",
    "json": "JSON",
    "csv": "CSV",
    "tsv": "TSV",
    "xlsx": _("Excel workbook"),
    "parquet": "Parquet",
    "json_files": _("ZIP of JSON files"),
    "label_studio": _("Label Studio JSON"),
    "argilla": _("Argilla records"),
    "prodigy": _("Prodigy JSONL"),
    "mturk": _("Mechanical Turk batch results"),
    "structext": _("recipe for structured texts"),
}
# They say themselves how their text is written.
BINARY_FORMATS = ("xlsx", "parquet", "json_files", "structext")
# They hold no records but say which ones to make.
GENERATED_FORMATS = ("structext",)
DELIMITED_FORMATS = ("csv", "tsv", "mturk")
NESTED_FORMATS = ("jsonl", "json", "parquet", "json_files", "label_studio", "argilla", "prodigy")
READ = _("import reads CSV, TSV, JSON, JSON Lines, Excel workbooks (.xlsx) and Parquet")
SAMPLE_BYTES = 1 << 18

_SUFFIX_FORMATS = {"jsonl": "jsonl", "ndjson": "jsonl", "json": "json", "csv": "csv", "tsv": "tsv", "tab": "tsv"}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_NO_TEXT = (
    (b"\x1f\x8b", _("a gzip archive; unpack it first")),
    (b"BZh", _("a bzip2 archive; unpack it first")),
    (b"\xfd7zXZ\x00", _("an xz archive; unpack it first")),
    (b"7z\xbc\xaf\x27\x1c", _("a 7-Zip archive; unpack it first")),
    (b"\x28\xb5\x2f\xfd", _("a zstd archive; unpack it first")),
    (b"Rar!\x1a\x07", _("a RAR archive; unpack it first")),
    (
        b"SQLite format 3\x00",
        _("an SQLite database; give it as the tables of a file of questions, or export a table as CSV"),
    ),
    (b"%PDF-", _("a PDF; import needs the data it was made from")),
    (b"\x89PNG\r\n", _("an image")),
    (b"\xff\xd8\xff", _("an image")),
    (b"GIF8", _("an image")),
)
_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_PARQUET = b"PAR1"
_HEADER_NAME_CHARS = 100


@dataclass(frozen=True, slots=True)
class Detected:
    """How to read a file. Every value may be changed by the person who knows the file (`dataclasses.replace`).

    encoding is a key of decoding.ENCODINGS; encoding_note says in words how sure that is. The rest matters to CSV and
    TSV only: delimiter a key of DELIMITERS, newline a key of NEWLINES; quoting: whether " opens a cell that may hold
    delimiters and line ends; backslash_escapes: whether \\" stands for a quote inside it.
    sheet: of a workbook, one of sheets. unfold: nested fields become columns of their own. notes: what to know before
    importing it.
    """

    format: str
    encoding: str
    encoding_note: str = ""
    delimiter: str = ","
    has_header: bool = True
    newline: str = "\n"
    quoting: bool = True
    backslash_escapes: bool = False
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    unfold: bool = False
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Detected":
        """Raises SourceError for options that no reader knows, so that a changed form cannot reach the csv module."""
        known = {field.name for field in fields(cls)}
        options = cls(**{name: value for name, value in data.items() if name in known})
        options = replace(options, sheets=tuple(options.sheets), notes=tuple(options.notes))
        for value, allowed in (
            (options.format, FORMATS),
            (options.encoding, ENCODINGS),
            (options.delimiter, DELIMITERS),
            (options.newline, NEWLINES),
        ):
            if value not in allowed:
                raise SourceError(
                    _(
                        "“%(shortened)s” is not one of: %(map)s.",
                        shortened=shortened(str(value)),
                        map=", ".join(map(repr, allowed)),
                    )
                )
        return options


def detect(file: BinaryFile, name: str) -> Detected:
    """Look at the file, its content first and its name second.

    The whole file is decoded once, in pieces, so that an encoding is proposed only if every byte of it fits.
    Raises SourceError for an empty file and for what cannot be read (archives, other spreadsheets and binary data).
    """
    file.seek(0)
    head = file.read(SAMPLE_BYTES)
    if is_zip(head):
        return _detect_zip(file, name)
    if head.startswith(_PARQUET):
        return _detect_parquet(file, name)
    _refuse_what_is_no_text(head, name)
    encoding, note = _encoding_of(file, head)
    text = _sample_text(head, encoding)
    if not text.strip() and len(head) < SAMPLE_BYTES:
        raise SourceError(_("The file is empty; choose the one that holds the records."))
    format_name = _format_of(text, name)
    newline = _newline_of(text)
    if format_name in ("jsonl", "json"):
        tool = _tool_of(file, encoding)
        if tool in GENERATED_FORMATS:
            return Detected(tool, "utf-8")
        return Detected(tool or format_name, encoding, note, newline=newline)
    dialect = _dialect_of(text, prefer_tab=format_name == "tsv", newline=newline, is_whole=len(head) < SAMPLE_BYTES)
    names = [name.strip() for name in dialect.rows[0]] if dialect.rows else []
    return Detected(
        "mturk" if mturk.is_results(names) else "tsv" if dialect.delimiter == "\t" else "csv",
        encoding,
        note,
        delimiter=dialect.delimiter,
        has_header=_looks_like_header(dialect.rows[0]) if dialect.rows else True,
        newline=newline,
        quoting=dialect.quoting,
        backslash_escapes=dialect.backslash_escapes,
    )


def detect_sheet(file: BinaryFile, sheet: str = "") -> Detected:
    """How to read a sheet of a workbook, the first that is shown unless named. Raises SourceError."""
    from annotate.sources import xlsx  # what it needs is heavy

    found = xlsx.look_at(file, sheet)
    has_header = _looks_like_header(found.first_row) if found.first_row else True
    return Detected("xlsx", "utf-8", has_header=has_header, sheet=found.name, sheets=found.names, notes=found.notes)


def is_zip(head: bytes) -> bool:
    return head.startswith(_ZIP)


def _detect_zip(file: BinaryFile, name: str) -> Detected:
    called = f"“{shortened(name)}”"
    with opened_zip(file, max_members=MAX_MEMBERS) as archive:
        names = set(archive.namelist())
        if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
            kind = archive.read("mimetype")
            if kind.startswith(b"application/vnd.oasis.opendocument"):
                raise SourceError(
                    _("%(called)s is an OpenDocument file; save it as .xlsx or as CSV (UTF-8).", called=called)
                )
    if "xl/workbook.bin" in names:
        raise SourceError(
            _("%(called)s is a binary Excel workbook (.xlsb); save it as .xlsx or as CSV (UTF-8).", called=called)
        )
    if "xl/workbook.xml" in names:
        return detect_sheet(file)
    if "[Content_Types].xml" in names:
        raise SourceError(
            _("%(called)s is an Office document other than a workbook; %(read)s.", called=called, read=READ)
        )
    if any(path.lower().endswith(tuple(SUFFIXES)) for path in names):
        return Detected("json_files", "utf-8", unfold=True)
    raise SourceError(
        _("%(called)s is a ZIP archive without JSON files; unpack it and import what is in it.", called=called)
    )


def _detect_parquet(file: BinaryFile, name: str) -> Detected:
    size = file.seek(0, 2)
    file.seek(max(0, size - len(_PARQUET)))
    if size < 12 or file.read() != _PARQUET:
        raise SourceError(
            _(
                "“%(shortened)s” is the beginning of a Parquet file without its end; copy it anew.",
                shortened=shortened(name),
            )
        )
    return Detected("parquet", "utf-8")


def _tool_of(file: BinaryFile, encoding: str) -> str:
    """Whose export the file is, by its first object, in a list or on the first line; "" if it is of no tool's kind."""
    window = JsonWindow(file, encoding, Limits())
    try:
        if is_list := window.peek() == "[":
            window.take("[")
        first = window.value(row=1) if window.peek() == "{" else None
    except SourceError:
        return ""
    if is_recipe(first) and not is_list:
        return "structext"
    if is_list and label_studio.is_task(first):
        return "label_studio"
    if argilla.is_record(first):
        return "argilla"
    return "prodigy" if prodigy.is_task(first) else ""


def _refuse_what_is_no_text(head: bytes, name: str) -> None:
    called = f"“{shortened(name)}”"
    if not head:
        raise SourceError(_("The file is empty; choose the one that holds the records."))
    if head.startswith(_OFFICE):
        if _ENCRYPTED in head:
            raise SourceError(
                _("%(called)s is a password-protected workbook; save it without a password.", called=called)
            )
        raise SourceError(
            _("%(called)s is an old Office document (.xls); save it as .xlsx or as CSV (UTF-8).", called=called)
        )
    for magic, what in _NO_TEXT:
        if head.startswith(magic):
            raise SourceError(
                _("%(called)s is %(what)s, which holds no records; %(read)s.", called=called, what=what, read=READ)
            )
    if byte_order_mark(head) is None and _utf16_without_mark(head) is None:
        controls = sum(head.count(byte) for byte in range(32) if byte not in b"\t\n\r\f\x1b")
        # Separators such as 0x1F are text to those who use them, as long as the rest is.
        is_text = head.isascii() and b"\0" not in head
        if controls > len(head) / 10 and not is_text:
            raise SourceError(_("%(called)s is binary data, not text; %(read)s.", called=called, read=READ))


def _encoding_of(file: BinaryFile, head: bytes) -> tuple[str, str]:
    mark = byte_order_mark(head)
    if mark is not None:
        return mark[0], _("certain: the file says so itself (byte order mark)")
    utf16 = _utf16_without_mark(head)
    if utf16 is not None:
        return utf16, _("very likely: every second byte is zero")
    fault = _first_fault(file, "utf-8")
    if fault is None:
        is_plain = head.isascii() and _first_fault(file, "ascii") is None
        return "utf-8", _("certain: only plain ASCII") if is_plain else _(
            "practically certain: all of it is valid UTF-8"
        )
    sample = _sample_around(file, fault)
    guess = _eight_bit_encoding(sample)
    if guess == "gb18030" and _first_fault(file, "gb18030") is None:
        return "gb18030", _("likely: not UTF-8, and it reads as Chinese; check the preview")
    if _first_fault(file, "cp1252") is None:
        return "cp1252", _("likely: not UTF-8, and it reads as Western European; check accents in the preview")
    return "latin-1", _("a guess: not UTF-8, and Latin-1 reads any bytes; check accents in the preview")


def _utf16_without_mark(head: bytes) -> str | None:
    """Plain letters, digits and line ends have a zero byte in UTF-16: on one side only, if it is UTF-16."""
    even, odd = head[0::2], head[1::2]
    n_even, n_odd = even.count(0), odd.count(0)
    if n_odd > 0.25 * len(odd) and n_even < 0.02 * len(even):
        return "utf-16-le"
    if n_even > 0.25 * len(even) and n_odd < 0.02 * len(odd):
        return "utf-16-be"
    return None


def _first_fault(file: BinaryFile, encoding: str) -> int | None:
    """Where (byte) the file stops being valid in the encoding; None if all of it is."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    file.seek(0)
    n_read = 0
    data = b"-"
    while data:
        data = file.read(CHUNK_BYTES)
        n_read += len(data)
        try:
            decoder.decode(data, final=not data)
        except UnicodeDecodeError as fault:
            return n_read - len(fault.object) + fault.start
    return None


def _sample_around(file: BinaryFile, position: int) -> bytes:
    """Bytes about the first one that is not ASCII, from the beginning of a line: multi-byte characters stay whole."""
    start = max(0, position - (1 << 14))
    file.seek(start)
    sample = file.read(1 << 16)
    if start:
        sample = sample[sample.find(b"\n", 0, position - start) + 1 :]
    # Short lines with other letters decide; long plain ones between them only water the evidence down.
    telling = [line for line in sample.split(b"\n") if not line.isascii()]
    return b"\n".join(telling) or sample


def _eight_bit_encoding(sample: bytes) -> str:
    """gb18030 or cp1252, for text that is not UTF-8."""
    from charset_normalizer import from_bytes  # a heavy import, needed for few files

    found = from_bytes(sample, cp_isolation=["gb18030", "cp1252"]).best()
    if found is not None:
        return found.encoding
    # Chinese characters are runs of high bytes; in Western text they stand alone between plain letters.
    high = [byte > 0x7F for byte in sample]
    n_high = sum(high)
    n_paired = sum(1 for first, second in pairwise(high) if first and second)
    return "gb18030" if n_paired > 0.6 * n_high else "cp1252"


def _sample_text(head: bytes, encoding: str) -> str:
    mark = byte_order_mark(head)
    start = len(mark[1]) if mark is not None and mark[0] == encoding else 0
    return codecs.getincrementaldecoder(encoding)("replace").decode(head[start:])


def _newline_of(text: str) -> str:
    n_crlf = text.count("\r\n")
    n_lf, n_cr = text.count("\n") - n_crlf, text.count("\r") - n_crlf
    if n_crlf > n_lf:
        return "\r\n"
    return "\r" if n_cr and not n_lf and not n_crlf else "\n"


def _format_of(text: str, name: str) -> str:
    suffix = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    named = _SUFFIX_FORMATS.get(suffix)
    text = text.lstrip()
    if text[:1] not in ("{", "["):
        return named or "csv"
    first_line, _, rest = text.partition("\n")
    try:
        first = json.loads(first_line)
    except (ValueError, RecursionError):
        first = None
    if named in ("csv", "tsv"):
        # A CSV may begin with a bracket, and JSON may be called CSV: only a whole value on the first line, or a bracket
        # alone on it, is plainly JSON.
        if first is None and first_line.strip() not in ("{", "[", "[{"):
            return named
        named = None
    if text.startswith("["):
        return named or "json"
    if isinstance(first, dict) and rest.strip():
        return "jsonl"
    if named:
        return named
    return "jsonl" if first is not None or first_line.strip() != "{" else "json"


@dataclass(frozen=True, slots=True)
class _Dialect:
    delimiter: str
    quoting: bool
    backslash_escapes: bool
    rows: list[list[str]]
    consistency: float


def _dialect_of(text: str, *, prefer_tab: bool, newline: str, is_whole: bool) -> _Dialect:
    """The dialect in which most rows have as many cells as the first; earlier candidates win ties."""
    order = ["\t", ",", ";", "|"] if prefer_tab else [",", ";", "\t", "|"]
    candidates: list[_Dialect] = []
    for delimiter in order:
        for quoting, backslash_escapes in ((True, False), (True, True), (False, False)):
            if not quoting and delimiter != "\t":
                continue  # without quotes a comma inside a text could not be told from a delimiter
            candidates.append(_tried(text, delimiter, quoting, backslash_escapes, newline, is_whole))
            if candidates[-1].consistency == 1.0:
                return candidates[-1]
    best = max(candidates, key=lambda dialect: dialect.consistency)
    return best if best.consistency > 0 else candidates[0]


def _tried(text: str, delimiter: str, quoting: bool, backslash_escapes: bool, newline: str, is_whole: bool) -> _Dialect:
    split_at = "\r" if newline == "\r" else "\n"
    lines = [line + split_at for line in text.split(split_at)]
    options = csv_options(delimiter=delimiter, quoting=quoting, backslash_escapes=backslash_escapes)
    rows: list[list[str]] = []
    n_faults = 0
    reader = csv.reader(lines if is_whole else lines[:-1], **options)
    try:
        for row in islice(reader, 2000):
            if any(row):
                rows.append(row)
    except csv.Error as fault:
        # A sample that ends inside a quoted cell says nothing against the dialect.
        if is_whole or "unexpected end" not in str(fault):
            n_faults = 1
    width = len(rows[0]) if rows else 0
    n_good = sum(len(row) == width for row in rows) if width > 1 else 0
    return _Dialect(delimiter, quoting, backslash_escapes, rows, n_good / max(1, len(rows) + n_faults))


def _looks_like_header(cells: Sequence[str]) -> bool:
    """Names are short, are no numbers and are no sentences; pandas leaves the first one empty."""
    for position, cell in enumerate(cells):
        name = cell.strip()
        if len(name) > _HEADER_NAME_CHARS or name.endswith(("?", ".", "؟", "？", "。")) or (not name and position):
            return False
        try:
            float(name)
        except ValueError:
            continue
        return False
    return True
