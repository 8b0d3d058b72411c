"""Which program wrote a log, and its records one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from annotate.sources.decoding import BinaryFile
from annotate.sources.detect import detect, is_zip
from annotate.sources.errors import SourceError
from annotate.sources.json_window import JsonWindow
from annotate.sources.records import Limits
from annotate.wording import _
from evaluation.clients.logs import helm, inspect_ai, lm_eval, openai_batch, ours
from evaluation.clients.logs.records import LOG_LIMITS, LogReader, LogRecord, LogSource, Notes

FORMATS = {
    "goldpanel": _("Goldpanel's own columns"),
    "lm_eval": _("lm-evaluation-harness samples"),
    "inspect_ai": _("inspect_ai log"),
    "helm": _("HELM run"),
    "openai_batch": _("OpenAI batch output"),
}
READERS: dict[str, LogReader] = {
    "goldpanel": ours.read,
    "lm_eval": lm_eval.read,
    "inspect_ai": inspect_ai.read,
    "helm": helm.read,
    "openai_batch": openai_batch.read,
}
# Keys that together only this program writes: into each record, or into the one object that the file is.
_OF_RECORDS = (
    ("lm_eval", {"resps"}),
    ("openai_batch", {"custom_id", "response"}),
    ("helm", {"instance_id", "train_trial_index"}),
)
_OF_FILES = (("inspect_ai", {"eval", "status"}), ("helm", {helm.STATES}))
# The first record tells; more keys than these are looked at in no record.
_MAX_KEYS = 200


def detect_log(file: BinaryFile, name: str, limits: Limits = LOG_LIMITS) -> LogSource:
    """By the content first. Raises SourceError for what is no text, and for archives with the way to unpack them."""
    file.seek(0)
    if is_zip(file.read(4)):
        raise SourceError(
            _(
                "This is an archive. A log of inspect_ai (.eval) becomes JSON with “inspect log convert --to "
                "json”; anything else is unpacked first."
            )
        )
    detected = detect(file, name)
    if detected.format not in ("json", "jsonl"):
        return LogSource("goldpanel", detected)
    window = JsonWindow(file, detected.encoding, limits)
    is_list = window.peek() == "["
    if is_list:
        window.take("[")
    keys = _keys(window)
    if not is_list and (format_ := _written_by(keys, _OF_FILES)):
        return LogSource(format_, replace(detected, format="json"))
    if not is_list and "eval" in keys and keys & {"samples", "plan"}:
        return LogSource("inspect_ai", replace(detected, format="json"))
    format_ = _written_by(keys, _OF_RECORDS)
    # One object alone is a file of one line, whatever its name says.
    is_line = not is_list and bool(format_ or keys & ours.KNOWN)
    return LogSource(format_ or "goldpanel", replace(detected, format="jsonl") if is_line else detected)


def read_log(file: BinaryFile, source: LogSource, notes: Notes, limits: Limits = LOG_LIMITS) -> Iterator[LogRecord]:
    """The records in the file's order. Raises SourceError with its place; `notes` is whole after the last record."""
    return READERS[source.format](file, source, limits, notes)


def _keys(window: JsonWindow) -> set[str]:
    """The keys of the object that begins here, up to what tells the formats apart; none if it is something else."""
    found: set[str] = set()
    if window.peek() != "{":
        return found
    for key, __ in window.members():
        found.add(key)
        if len(found) == _MAX_KEYS or _written_by(found, _OF_FILES + _OF_RECORDS):
            break
        window.value(row=None)
    return found


def _written_by(keys: set[str], signs: Iterable[tuple[str, set[str]]]) -> str:
    return next((format_ for format_, sign in signs if sign <= keys), "")
