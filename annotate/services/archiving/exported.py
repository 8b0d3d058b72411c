"""The archive as one of the kinds of export."""

from annotate.services.archiving.writing import n_archive_rows, write_archive
from annotate.services.exporting.formats import Format
from annotate.services.exporting.kinds import Kind

ZIP = Format(
    name="zip",
    label="ZIP",
    words="JSON Lines with a manifest and checksums",
    suffix=".zip",
    media_type="application/zip",
)

ARCHIVE = Kind(
    "archive",
    "The whole project",
    "Everything in one file, which becomes the same project again here or on another installation: items, forms, "
    "guidelines, answers with their history, votes, exclusions, runs, scores, reports. Without names, codes and keys.",
    True,
    n_archive_rows,
    write=write_archive,
    formats=(ZIP,),
)
