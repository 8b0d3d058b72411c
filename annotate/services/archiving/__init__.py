"""A project as one file that becomes a project again: a ZIP of JSON Lines with a manifest and checksums.

tables.py     which tables go into an archive, which do not and why; the model side adds its own
columns.py    a column of a table as JSON and back, checked on the way in
references.py ids inside JSON columns
writing.py    project -> archive
checking.py   whether a file is an archive that can be restored; nothing is written before that is certain
restoring.py  archive -> project, all or nothing; and restoring as background work
"""

from .restoring import request_restoration, restore, run_restoration
from .tables import LEFT_OUT, TABLES, LeftOut, Table, register
from .writing import write_archive

__all__ = [
    "LEFT_OUT",
    "TABLES",
    "LeftOut",
    "Table",
    "register",
    "request_restoration",
    "restore",
    "run_restoration",
    "write_archive",
]
