"""The embedded broker: messages as files in a folder shared by all processes of one machine.

kombu's filesystem transport works across processes but opens the final file before it has written it, so that another
process can read half a message; it passes received messages through the machine's temporary folder; and an empty or
broken file stops the worker that receives it. This subclass writes beside and renames, claims a message by renaming it
inside its own folder, and sets aside what it cannot read.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any, ClassVar

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)


class Channel(filesystem.Channel):
    """One folder with four inside: `messages` waiting, `taken` (being read), `aside` (unreadable), `control`."""

    # Fanout exists for remote control of workers, which is switched off; without it a message has one receiver.
    supports_fanout = False

    def _folder(self, name: str) -> Path:
        """A private folder of the broker; made again if somebody removed it while processes run."""
        folder = Path(self.transport_options["folder"]) / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    @property
    def control_folder(self) -> Path:
        return self._folder("control")

    def _put(self, queue: str, payload: dict[str, Any], **_: Any) -> None:
        # Wall clock, not monotonic: names must sort in one order for all processes, across restarts too.
        name = f"{time.time_ns():020d}_{uuid.uuid4().hex}.{queue}"
        try:
            messages = self._folder("messages")
            beside = messages / f"{name}.part"
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(dumps(payload))
            # A receiver sees the whole message or none.
            beside.rename(messages / f"{name}.msg")
        except OSError as problem:
            raise ChannelError(f"Cannot add a message to {self.transport_options['folder']}: {problem}") from problem

    def _get(self, queue: str) -> dict[str, Any]:
        for path in self._waiting(queue):
            taken = self._folder("taken") / path.name
            try:
                # Exactly one process can rename a file: that one has the message.
                path.rename(taken)
            except FileNotFoundError:
                continue
            message = self._read(taken)
            if message is not None:
                return message
        raise Empty

    def _read(self, taken: Path) -> dict[str, Any] | None:
        """The message, or None after setting an unreadable file aside: one bad file must not stop every worker."""
        try:
            message = loads(taken.read_bytes().decode("utf-8"))
        except (ValueError, OSError) as problem:
            return self._set_aside(taken, str(problem))
        if not isinstance(message, dict) or not {"body", "headers", "properties"} <= message.keys():
            return self._set_aside(taken, "not a message")
        taken.unlink(missing_ok=True)
        return message

    def _set_aside(self, taken: Path, reason: str) -> None:
        logger.warning("Set an unreadable broker message aside as %s: %s", taken.name, reason[:200])
        try:
            taken.rename(self._folder("aside") / taken.name)
        except FileNotFoundError:
            logger.warning("Broker message %s disappeared while it was read", taken.name)

    def _waiting(self, queue: str) -> list[Path]:
        """Complete messages of one queue, oldest first."""
        names = sorted(os.listdir(self._folder("messages")))
        return [self._folder("messages") / name for name in names if name.partition(".")[2] == f"{queue}.msg"]

    def _size(self, queue: str) -> int:
        return len(self._waiting(queue))

    def _purge(self, queue: str) -> int:
        waiting = self._waiting(queue)
        for path in waiting:
            path.unlink(missing_ok=True)
        return len(waiting)


class Transport(filesystem.Transport):
    """kombu's filesystem transport with the channel above; known as goldpanel:// (config/celery.py)."""

    Channel = Channel
    driver_name: ClassVar[str] = "goldpanel"
