"""Logs of other programs as runs: all of a file or nothing, and the same file twice changes nothing.

options.py    how a log is read and what its runs are called
sorting.py    each record to its item and run, and the report of what became of them
outcomes.py   a record -> the columns of a prediction, by the rules of live runs
staging.py    predictions wait in a temporary table
jobs.py       the life of an import
"""

from evaluation.services.log_importing.jobs import (
    AlreadyImported,
    change_log_draft,
    discard_log_import,
    draft_log_import,
    import_log,
    reopen_log_import,
    run_log_import,
    start_log_import,
)
from evaluation.services.log_importing.options import LogOptions, options_of

__all__ = [
    "AlreadyImported",
    "LogOptions",
    "change_log_draft",
    "discard_log_import",
    "draft_log_import",
    "import_log",
    "options_of",
    "reopen_log_import",
    "run_log_import",
    "start_log_import",
]
