"""A file and how to read it -> its records, one after another."""

from collections.abc import Iterator

from annotate.sources import mturk
from annotate.sources.argilla import read_argilla
from annotate.sources.decoding import BinaryFile
from annotate.sources.delimited import read_delimited
from annotate.sources.detect import NESTED_FORMATS, Detected
from annotate.sources.errors import SourceError
from annotate.sources.json_array import read_json
from annotate.sources.json_files import read_json_files
from annotate.sources.jsonl import read_jsonl
from annotate.sources.label_studio import read_label_studio
from annotate.sources.prodigy import read_prodigy
from annotate.sources.records import Limits, Record
from annotate.sources.structext import read_structext
from annotate.sources.unfolding import unfolded
from annotate.wording import _

DEFAULT_LIMITS = Limits()


def read_records(file: BinaryFile, detected: Detected, limits: Limits = DEFAULT_LIMITS) -> Iterator[Record]:
    """Stream the records in constant memory; the file is read from its start, and `file.tell()` tells the progress.

    Raises SourceError at the first fault, with its place, and at the end if there was no record at all.
    """
    if detected.format == "xlsx":
        from annotate.sources.xlsx import read_xlsx  # what it needs is heavy

        records = read_xlsx(file, sheet=detected.sheet, has_header=detected.has_header, limits=limits)
    elif detected.format == "parquet":
        from annotate.sources.parquet import read_parquet

        records = read_parquet(file, limits=limits)
    elif detected.format == "structext":
        records = read_structext(file, limits=limits)
    elif detected.format == "json_files":
        records = read_json_files(file, limits=limits)
    elif detected.format == "label_studio":
        records = read_label_studio(file, encoding=detected.encoding, limits=limits)
    elif detected.format == "argilla":
        records = read_argilla(file, encoding=detected.encoding, limits=limits)
    elif detected.format == "prodigy":
        records = read_prodigy(file, encoding=detected.encoding, limits=limits)
    elif detected.format == "jsonl":
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
    if detected.format == "mturk":
        records = mturk.assignments(records)
    if detected.unfold and detected.format in NESTED_FORMATS:
        records = unfolded(records)
    is_empty = True
    for record in records:
        is_empty = False
        yield record
    if is_empty:
        raise SourceError(_("The file holds no records; choose another file, or check its format and header."))
