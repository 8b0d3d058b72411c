"""ZIP archives that people upload: what may be in them, looked at before anything is unpacked."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError, shortened
from annotate.wording import _

MAX_MEMBERS = 1_000
MAX_RATIO = 200
MAX_TOTAL_BYTES = 64_000_000

# Below this size a high ratio harms nobody: a table of a few hundred spaces reaches it.
_RATIO_MATTERS_FROM_BYTES = 100_000
# What zipfile raises for a member that is cut, damaged or packed in a way it does not know.
_BROKEN = (zlib.error, EOFError, NotImplementedError, zipfile.BadZipFile)


@contextmanager
def opened_zip(file: BinaryFile, *, max_members: int = MAX_MEMBERS) -> Iterator[zipfile.ZipFile]:
    """The archive, for reading; the upload stays open. Raises SourceError, also for what the caller meets in it."""
    _refuse_large_directory(file, max_members)
    try:
        with zipfile.ZipFile(_Seekable(file)) as archive:
            yield archive
    except zipfile.BadZipFile as fault:
        raise SourceError(
            _("The ZIP cannot be read (%(shortened)s); pack it again.", shortened=shortened(str(fault)))
        ) from fault


def safe_members(
    archive: zipfile.ZipFile,
    *,
    suffixes: frozenset[str] | None = None,
    max_members: int = MAX_MEMBERS,
    max_ratio: int = MAX_RATIO,
    max_total_bytes: int = MAX_TOTAL_BYTES,
) -> list[zipfile.ZipInfo]:
    """The files with one of these endings (None: all), without hidden ones.

    Raises SourceError if any member, wanted or not, is one that no archive needs.
    """
    infos = archive.infolist()
    if sum(not info.is_dir() for info in infos) > max_members:
        raise _too_many(max_members)
    seen: set[str] = set()
    for info in infos:
        called = f"“{shortened(info.filename)}”"
        path = PurePosixPath(info.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in info.filename or info.filename[1:2] == ":":
            raise SourceError(
                _("The ZIP has a file %(called)s whose path leads out of it; pack it again without.", called=called)
            )
        if (info.external_attr >> 16) & 0o170000 not in (0, 0o100000, 0o040000):
            raise SourceError(_("The ZIP has a link or device %(called)s; pack the files themselves.", called=called))
        if info.flag_bits & 0x1:
            raise SourceError(_("The ZIP is encrypted (%(called)s); pack it without a password.", called=called))
        if info.filename in seen:
            raise SourceError(_("The ZIP has two files %(called)s; keep one of them.", called=called))
        seen.add(info.filename)
        if info.file_size > _RATIO_MATTERS_FROM_BYTES and info.file_size > max_ratio * info.compress_size:
            raise SourceError(
                _(
                    "The ZIP's %(called)s unpacks to more than %(max_ratio)s times its size; pack it otherwise.",
                    called=called,
                    max_ratio=max_ratio,
                )
            )
    wanted = [info for info in infos if not info.is_dir() and _is_wanted(info.filename, suffixes)]
    if sum(info.file_size for info in wanted) > max_total_bytes:
        raise SourceError(
            _(
                "The ZIP unpacks to more than %(max_total_bytes)s bytes; import it in parts.",
                max_total_bytes=f"{max_total_bytes:,}",
            )
        )
    return wanted


def unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """One member as bytes. Raises SourceError that names it."""
    try:
        # The declared size is all that zipfile ever returns, so a header that lies cannot unpack to more.
        return archive.read(info)
    except _BROKEN as fault:
        called = f"In “{shortened(info.filename)}”"
        raise SourceError(
            _(
                "%(called)s: it cannot be unpacked (%(shortened)s); pack the ZIP again.",
                called=called,
                shortened=shortened(str(fault)),
            )
        ) from fault


def _refuse_large_directory(file: BinaryFile, max_members: int) -> None:
    """zipfile reads the whole directory before anybody can count it, so its size is looked at first.

    The record at the end of a ZIP tells it; one with 64-bit fields is not needed for what may be imported.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - 65_557))
    tail = file.read(65_557)
    at = len(tail) - 22 if tail[-22:-18] == b"PK\x05\x06" and tail[-2:] == b"\0\0" else tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise SourceError(_("The ZIP cannot be read (it has no directory at its end); pack it again."))
    (directory_bytes,) = struct.unpack_from("<L", tail, at + 12)
    # 46 bytes and a path for each; four kilobytes are more than any real one takes.
    if b"PK\x06\x07" in tail[max(0, at - 20) : at] or directory_bytes > max_members * 4096:
        raise _too_many(max_members)


def _too_many(max_members: int) -> SourceError:
    return SourceError(
        _("The ZIP has more than %(max_members)s files; import it in parts.", max_members=f"{max_members:,}")
    )


def _is_wanted(path: str, suffixes: frozenset[str] | None) -> bool:
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(path).parts)
    return not is_hidden and (suffixes is None or PurePosixPath(path).suffix.lower() in suffixes)


class _Seekable(io.RawIOBase):
    """The file as zipfile wants it; closing the archive leaves the upload open."""

    def __init__(self, file: BinaryFile) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        return self._file.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.seek(0, 1)
