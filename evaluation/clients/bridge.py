"""From an event loop in a thread to a plain loop in the caller's thread.

The ORM must not be used in async code, and HTTP with hundreds of calls in flight wants an event loop. So the loop runs
in a thread that does HTTP only, and the caller takes from a queue whatever has arrived and commits it.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

TICK_SECONDS = 1.0
# More than this is never handed out at once, so that a tick is never far away.
MAX_AT_ONCE = 256


class _Abandonable:
    """Runs a coroutine in its own event loop and can cancel it from another thread, at any moment of its life."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._abandoned = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def run(self, work: Coroutine[None, None, None]) -> None:
        async def watched() -> None:
            with self._lock:
                self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
                abandoned = self._abandoned
            try:
                if abandoned:
                    work.close()
                else:
                    await work
            except asyncio.CancelledError:
                if not self._abandoned:
                    raise
            finally:
                with self._lock:
                    self._loop = self._task = None

        asyncio.run(watched())

    def abandon(self) -> None:
        with self._lock:
            self._abandoned = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)


def answer_in_thread(
    start: Callable[[Callable[[T], None]], Coroutine[None, None, None]],
    *,
    on_tick: Callable[[], None] | None = None,
) -> Iterator[list[T]]:
    """Yield what the coroutine `start(put)` puts, in order, until it ends; then raise what it raised, if anything.

    Never waits for company: what arrives while the caller is busy is handed out together when it asks for more.
    on_tick: called in the caller's thread about once a second, whether or not anything arrives.
    If the caller leaves the loop early (an exception, `close()`), calls in flight are cancelled at once: nobody would
    take their results.
    """
    arrived: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()  # None: nothing more will come
    runner = _Abandonable()
    next_tick = time.monotonic() + TICK_SECONDS
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="model-calls") as thread:
        work = thread.submit(lambda: runner.run(start(lambda item: arrived.put((item,)))))
        work.add_done_callback(lambda _: arrived.put(None))
        try:
            while True:
                if time.monotonic() >= next_tick:
                    if on_tick is not None:
                        on_tick()
                    next_tick = time.monotonic() + TICK_SECONDS
                got, is_over = _whatever_arrived(arrived, next_tick - time.monotonic())
                if got:
                    yield got
                if is_over:
                    break
        finally:
            runner.abandon()
        work.result()


def _whatever_arrived(arrived: queue.SimpleQueue[tuple[T] | None], seconds: float) -> tuple[list[T], bool]:
    """What waits, or the first that comes within these seconds; and whether that was the end."""
    got: list[T] = []
    try:
        taken = arrived.get(timeout=max(0.0, seconds))
        while taken is not None and len(got) < MAX_AT_ONCE - 1:
            got.append(taken[0])
            taken = arrived.get_nowait()
    except queue.Empty:
        return got, False
    return (got, True) if taken is None else ([*got, taken[0]], False)
