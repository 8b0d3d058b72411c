"""A project's data on its way out: rows, streamed in constant memory, as files of several formats.

answers.py, rows.py   what the rows of each kind say
kinds.py              which kinds there are, and who may have them; the model side adds its own
formats.py            rows -> exact CSV, CSV and XLSX for eyes, JSON Lines
reading.py            one view of the database for as long as an export takes
jobs.py               exports as background work: asked for, made by a worker, kept for some days, removed
"""

from .answers import BATCH, answer_id, answer_rows
from .formats import FORMATS
from .jobs import cancel_export, repeat_export, request_export, run_export
from .kinds import Kind, kinds_for, register

__all__ = [
    "BATCH",
    "FORMATS",
    "Kind",
    "answer_id",
    "answer_rows",
    "cancel_export",
    "kinds_for",
    "register",
    "repeat_export",
    "request_export",
    "run_export",
]
