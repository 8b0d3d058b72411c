"""The embedded broker: messages as files in a folder shared by all processes of one machine.

kombu's own filesystem transport opens the final file before it has written it, so that another process can read half a
message; it passes received messages through the machine's temporary folder; and an empty file stops the worker that
receives it. This one writes beside and renames, claims a message by renaming it inside its own folder, and sets aside
what it cannot read.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import virtual
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)

STALE_SECONDS = 3600
COMPLAIN_SECONDS = 60.0
# Until a process of the worker is free nobody looks into the folder, and asking for that costs next to nothing.
BUSY_SECONDS = 0.02


class Channel(virtual.Channel):
    """One private folder with three inside: `messages` waiting, `taken` (being read), `aside` (unreadable).

    Each queue has one exchange of its own name, declared by sender and receiver alike, so a routing table in memory
    is enough. Fanout exists for remote control of workers, which is switched off.
    """

    supports_fanout = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._complained_at = -COMPLAIN_SECONDS
        self._sweep()

    def _folder(self, name: str) -> Path:
        """A folder of the broker; made again if somebody removed it while processes run."""
        broker = Path(self.connection.client.transport_options["folder"])
        folder = broker / name
        if not folder.is_dir():
            # Not through mkdir(parents=True) alone: parents get the umask's mode, and this one is private, too.
            broker.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def _sweep(self) -> None:
        """Remove what killed processes left: half-written messages, and taken ones nobody finished reading."""
        leftovers = [*self._folder("messages").glob("*.part"), *self._folder("taken").iterdir()]
        for path in leftovers:
            try:
                # The time of the last rename, not of writing: a message may have waited long before it was taken.
                if time.time() - path.stat().st_ctime > STALE_SECONDS:
                    path.unlink()
            except FileNotFoundError:
                continue  # another process sweeps too

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        # Wall clock, not monotonic: names must sort in one order for all processes, across restarts too.
        name = f"{time.time_ns():020d}_{uuid.uuid4().hex}.{queue}"
        try:
            messages = self._folder("messages")
            beside = messages / f"{name}.part"
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(dumps(message))
            # A receiver sees the whole message or none.
            beside.rename(messages / f"{name}.msg")
        except OSError as problem:
            raise ChannelError(f"Cannot add a message to the broker's folder: {problem}") from problem

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        try:
            message = self._take(queue)
        except OSError as problem:
            # A full disk, or a folder that is away: the worker waits for it, as it would for Redis. Where the error
            # ended the worker, `serve` would end the web server with it.
            self._complain(problem)
            message = None
        if message is None:
            raise Empty
        return message

    def _take(self, queue: str) -> dict[str, Any] | None:
        """The oldest message that no other process was faster to take."""
        for path in self._waiting(queue):
            taken = self._folder("taken") / path.name
            try:
                # Exactly one process can rename a file away: that one has the message.
                path.rename(taken)
            except FileNotFoundError:
                continue
            message = self._read(taken)
            if message is not None:
                return message
        return None

    def _complain(self, problem: OSError) -> None:
        """Once a minute: a worker looks into the folder several times a second."""
        if time.monotonic() - self._complained_at > COMPLAIN_SECONDS:
            self._complained_at = time.monotonic()
            logger.error("The broker's folder cannot be used, waiting for it: %s", problem)

    def _read(self, taken: Path) -> dict[str, Any] | None:
        """The message, or None after setting the file aside: one bad file must not stop every worker."""
        try:
            message = loads(taken.read_bytes().decode("utf-8"))
        except (ValueError, OSError) as problem:
            self._set_aside(taken, str(problem))
            return None
        if not isinstance(message, dict) or not {"body", "headers", "properties"} <= message.keys():
            self._set_aside(taken, "not a message")
            return None
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
        return _waiting_in(self._folder("messages"), queue)

    def _size(self, queue: str) -> int:
        return len(self._waiting(queue))

    def _purge(self, queue: str) -> int:
        waiting = self._waiting(queue)
        for path in waiting:
            path.unlink(missing_ok=True)
        return len(waiting)


def any_waits(broker: Path, queue: str) -> bool:
    """Whether a message waits in this queue: for who decides that a worker is wanted, and opens no connection."""
    try:
        return bool(_waiting_in(broker / "messages", queue))
    except OSError:
        return False  # as the worker would do, it waits for the folder


def _waiting_in(messages: Path, queue: str) -> list[Path]:
    # name = time_uuid.queue.msg; a queue's name may itself contain dots.
    return [messages / name for name in sorted(os.listdir(messages)) if name.partition(".")[2] == f"{queue}.msg"]


class Transport(virtual.Transport):
    """Known to Celery as goldpanel:// (config/celery.py)."""

    Channel = Channel
    implements = virtual.Transport.implements.extend(asynchronous=False, exchange_type=frozenset(["direct"]))
    driver_type = "goldpanel"
    driver_name = "goldpanel"
    # Seconds between looks into an empty folder: the delay a person sees after a click.
    polling_interval = 0.2
    # Whatever goes wrong with the folder is a connection that is away: a worker that starts meanwhile waits for it.
    connection_errors = (*virtual.Transport.connection_errors, OSError)  # type: ignore[assignment]
    # Bindings must outlive a connection, as a real broker's do.
    global_state = virtual.BrokerState()

    cycle: Any
    channels: Any

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)
        self.state = self.global_state

    def drain_events(self, connection: Any, timeout: Any = None, **_: Any) -> None:
        # A worker looks up from its queue only when this returns: it hears of its end within half a second, not two.
        deadline = time.monotonic() + min(timeout or 0.5, 0.5)
        while True:
            with suppress(Empty):
                return self.cycle.get(self._deliver, timeout=timeout)
            if time.monotonic() >= deadline:
                raise TimeoutError
            may_look = all(channel.qos.can_consume() for channel in self.channels)
            time.sleep(self.polling_interval if may_look else BUSY_SECONDS)

    def driver_version(self) -> str:
        return "1"
