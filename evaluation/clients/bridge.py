"""From an event loop in a thread to a plain loop in the caller's thread.

The ORM must not be used in async code, and HTTP with hundreds of calls in flight wants an event loop. So the loop runs
in a thread that does HTTP only, and the caller takes outcomes from a queue and commits each one on arrival.
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
) -> Iterator[T]:
    """Yield what the coroutine `start(put)` puts, in order, until it ends; then raise what it raised, if anything.

    on_tick: called in the caller's thread about once a second, whether or not anything arrives.
    If the caller leaves the loop early (an exception, `close()`), calls in flight are cancelled at once: nobody would
    take their results.
    """
    arrived: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()
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
                try:
                    got = arrived.get(timeout=max(0.0, next_tick - time.monotonic()))
                except queue.Empty:
                    continue
                if got is None:
                    break
                yield got[0]
        finally:
            runner.abandon()
        work.result()
