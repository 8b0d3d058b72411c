"""A file and how to read it -> its records, one after another."""

from collections.abc import Iterator

from annotate.sources.decoding import BinaryFile
from annotate.sources.delimited import read_delimited
from annotate.sources.detect import Detected
from annotate.sources.errors import SourceError
from annotate.sources.json_array import read_json
from annotate.sources.jsonl import read_jsonl
from annotate.sources.records import Limits, Record

DEFAULT_LIMITS = Limits()


def read_records(file: BinaryFile, detected: Detected, limits: Limits = DEFAULT_LIMITS) -> Iterator[Record]:
    """Stream the records in constant memory; the file is read from its start, and `file.tell()` tells the progress.

    Raises SourceError at the first fault, with its place, and at the end if there was no record at all.
    """
    if detected.format == "jsonl":
        records = read_jsonl(file, encoding=detected.encoding, limits=limits)
    elif detected.format == "json":
        records = read_json(file, encoding=detected.encoding, limits=limits)
    else:
        records = read_delimited(
            file,
            encoding=detected.encoding,
            delimiter=detected.delimiter,
            has_header=detected.has_header,
            newline=detected.newline,
            quoting=detected.quoting,
            backslash_escapes=detected.backslash_escapes,
            limits=limits,
        )
    is_empty = True
    for record in records:
        is_empty = False
        yield record
    if is_empty:
        raise SourceError("The file holds no records; choose another file, or check its format and header.")
