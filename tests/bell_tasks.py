"""Tasks for tests of the broker: each leaves a mark in a folder, so that a test can count who received what."""

import os
import time
from pathlib import Path

from celery import shared_task


@shared_task
def leave_mark(folder: str, number: int, seconds: float = 0) -> None:
    """One file per receipt, named number.pid.time: two receipts of one message make two files."""
    (Path(folder) / f"{number}.{os.getpid()}.{time.monotonic_ns()}").touch()
    time.sleep(seconds)


@shared_task
def leave_mark_and_grow(folder: str, number: int, mebibytes: int) -> None:
    """The same, after its process has held so much for a moment."""
    bytearray(mebibytes << 20)[:: 1 << 12] = bytes(mebibytes << 8)
    leave_mark(folder, number)
