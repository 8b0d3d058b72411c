"""A task for tests of the broker: it leaves a mark in a folder, so that a test can count who received what."""

import os
import time
from pathlib import Path

from celery import shared_task


@shared_task
def leave_mark(folder: str, number: int, seconds: float = 0) -> None:
    """One file per receipt, named number.pid.time: two receipts of one message make two files."""
    (Path(folder) / f"{number}.{os.getpid()}.{time.monotonic_ns()}").touch()
    time.sleep(seconds)
