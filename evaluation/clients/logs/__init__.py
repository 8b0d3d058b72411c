"""Logs of predictions that other programs wrote: pure readers, one file a format, and whose answers they hold.

records.py   what a reader yields
ours.py lm_eval.py inspect_ai.py helm.py openai_batch.py   one format each
reading.py   which format a file has, and its records
matching.py  which item of a set a record is about
"""

from evaluation.clients.logs.matching import Found, ItemIndex
from evaluation.clients.logs.reading import FORMATS, detect_log, read_log
from evaluation.clients.logs.records import OVER_ALL_REPEATS, LogRecord, LogSource, Notes

__all__ = [
    "FORMATS",
    "OVER_ALL_REPEATS",
    "Found",
    "ItemIndex",
    "LogRecord",
    "LogSource",
    "Notes",
    "detect_log",
    "read_log",
]
