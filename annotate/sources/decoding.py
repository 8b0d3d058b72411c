"""Bytes of a file -> text in chunks, in constant memory, with the place of what is not text."""

import codecs
from collections.abc import Iterator
from typing import Protocol

from annotate.sources.errors import SourceError
from annotate.wording import _

CHUNK_BYTES = 1 << 17

# The encodings a person may choose; detection proposes the first six. Codec name -> what a page calls it.
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-16-le": _("UTF-16 (little-endian)"),
    "utf-16-be": _("UTF-16 (big-endian)"),
    "gb18030": _("GB18030 (Chinese, includes GBK and GB2312)"),
    "cp1252": _("Windows-1252 (Western European)"),
    "latin-1": "Latin-1 (ISO 8859-1)",
    "utf-32-le": _("UTF-32 (little-endian)"),
    "utf-32-be": _("UTF-32 (big-endian)"),
    "cp1250": _("Windows-1250 (Central European)"),
    "cp1251": _("Windows-1251 (Cyrillic)"),
    "cp1253": _("Windows-1253 (Greek)"),
    "cp1254": _("Windows-1254 (Turkish)"),
    "cp1255": _("Windows-1255 (Hebrew)"),
    "cp1256": _("Windows-1256 (Arabic)"),
    "big5": _("Big5 (Traditional Chinese)"),
    "shift_jis": _("Shift JIS (Japanese)"),
    "euc-jp": _("EUC-JP (Japanese)"),
    "euc-kr": _("EUC-KR (Korean)"),
}

# UTF-32 before UTF-16: the little-endian mark of the one begins with that of the other.
BYTE_ORDER_MARKS = (
    ("utf-8", codecs.BOM_UTF8),
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("gb18030", b"\x84\x31\x95\x33"),
)


class BinaryFile(Protocol):
    """What is asked of an uploaded file: Django's files and the built-in ones both give it."""

    def read(self, size: int = -1, /) -> bytes: ...

    def seek(self, offset: int, whence: int = 0, /) -> int: ...


def byte_order_mark(head: bytes) -> tuple[str, bytes] | None:
    """The encoding that the first bytes declare, with the bytes that do so."""
    for encoding, mark in BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding, mark
    return None


def text_chunks(file: BinaryFile, encoding: str, *, newline: str = "\n") -> Iterator[str]:
    """The file's text from its start, without byte order mark, in pieces of some 100 kB.

    Raises SourceError with line and column at the first byte that the encoding does not have, and at a NUL: databases
    refuse it, and no text has it on purpose.
    """
    if encoding not in ENCODINGS:
        raise SourceError(
            _("“%(encoding)s” is not an encoding this import can read; choose one from the list.", encoding=encoding)
        )
    file.seek(0)
    mark = byte_order_mark(file.read(4))
    file.seek(len(mark[1]) if mark is not None and mark[0] == encoding else 0)
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    line, column = 1, 1
    data = b"-"
    while data:
        data = file.read(CHUNK_BYTES)
        try:
            chunk = decoder.decode(data, final=not data)
        except UnicodeDecodeError as fault:
            # The codec's own buffer is part of fault.object, so the text before the fault is all that is not counted.
            before = bytes(fault.object[: fault.start]).decode(encoding)
            line, column = moved_on(line, column, before, newline)
            raise SourceError(
                _(
                    "byte 0x%(object)s is not %(encodings)s; choose another encoding or save the file as UTF-8.",
                    object=f"{fault.object[fault.start]:02X}",
                    encodings=ENCODINGS[encoding],
                ),
                line=line,
                column=column,
            ) from fault
        nul = chunk.find("\0")
        if nul >= 0:
            line, column = moved_on(line, column, chunk[:nul], newline)
            raise SourceError(
                _(
                    "there is a NUL character, which no database stores; remove it, or choose another encoding "
                    "if the text looks wrong."
                ),
                line=line,
                column=column,
            )
        if chunk:
            yield chunk
            line, column = moved_on(line, column, chunk, newline)


def text_lines(file: BinaryFile, encoding: str, *, max_bytes: int, newline: str = "\n") -> Iterator[str]:
    """Lines with their ends, split at `newline` only: U+2028, U+2029 and U+0085 are text, and so is a lone CR.

    Raises SourceError for a line of more than max_bytes, before it fills the memory.
    """
    number, rest = 1, ""
    for chunk in text_chunks(file, encoding, newline=newline):
        pieces = (rest + chunk).split(newline)
        rest = pieces.pop()
        for piece in pieces:
            yield piece + newline
        number += len(pieces)
        # The size is judged by whoever knows what a record is; this only stops a file that has no line ends.
        if len(rest) > max_bytes:
            raise too_large(max_bytes, line=number)
    if rest:
        yield rest


def moved_on(line: int, column: int, text: str, newline: str = "\n") -> tuple[int, int]:
    """Line and column of what follows `text`, which begins at the given place."""
    newlines = text.count(newline)
    if not newlines:
        return line, column + len(text)
    return line + newlines, len(text) - text.rfind(newline)


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def is_larger(text: str, max_bytes: int) -> bool:
    """Whether the text has more than max_bytes in UTF-8, without encoding what is plainly small or plainly large."""
    return len(text) > max_bytes or (len(text) * 4 > max_bytes and utf8_size(text) > max_bytes)


def too_large(max_bytes: int, *, line: int, row: int | None = None, field: str | None = None) -> SourceError:
    return SourceError(
        _(
            "the item that begins here has more than %(max_bytes)s bytes, the most one item may have; "
            "shorten it, close an open quote or bracket, or ask for a higher limit.",
            max_bytes=f"{max_bytes:,}",
        ),
        line=line,
        row=row,
        field=field,
    )
