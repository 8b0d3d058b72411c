"""The thread between an event loop and a plain loop."""

import asyncio
import threading
import time

import pytest

from evaluation.clients import bridge
from evaluation.clients.bridge import answer_in_thread


def test_items_arrive_in_order_as_they_are_put_and_from_another_thread():
    async def work(put):
        for number in range(3):
            put((number, threading.current_thread().name))
            await asyncio.sleep(0)

    got = [each for batch in answer_in_thread(work) for each in batch]
    assert [number for number, _ in got] == [0, 1, 2]
    assert all(name.startswith("model-calls") for _, name in got)


def test_a_none_that_was_put_does_not_end_the_loop():
    async def work(put):
        put(None)
        put(1)

    assert [each for batch in answer_in_thread(work) for each in batch] == [None, 1]


def test_an_error_in_the_loop_is_raised_after_what_came_before_it():
    async def work(put):
        put(1)
        raise ValueError("broken")

    answers = answer_in_thread(work)
    assert next(answers) == [1]
    with pytest.raises(ValueError, match="broken"):
        next(answers)


def test_what_arrives_while_the_caller_is_busy_is_handed_out_together():
    all_put = threading.Event()

    async def work(put):
        put(0)
        await asyncio.sleep(0.05)
        for number in range(1, bridge.MAX_AT_ONCE + 10):
            put(number)
        all_put.set()

    sizes = []
    for batch in answer_in_thread(work):
        sizes.append(len(batch))
        assert all_put.wait(10)
    assert sizes == [1, bridge.MAX_AT_ONCE, 9]


def test_the_caller_is_ticked_while_it_waits_and_while_it_is_busy(monkeypatch):
    monkeypatch.setattr(bridge, "TICK_SECONDS", 0.05)
    ticks: list[str] = []

    async def work(put):
        await asyncio.sleep(0.3)  # nothing arrives: the caller waits
        for number in range(100):  # much arrives: the caller is never without something to take
            put(number)
            await asyncio.sleep(0.003)

    for _ in answer_in_thread(work, on_tick=lambda: ticks.append(threading.current_thread().name)):
        time.sleep(0.003)
    # 0.3 s of waiting and 0.3 s of taking, a tick every 0.05 s: 12 on a quiet machine.
    assert 6 <= len(ticks) <= 13
    assert set(ticks) == {threading.current_thread().name}


def test_an_exception_in_the_tick_cancels_the_work(monkeypatch):
    monkeypatch.setattr(bridge, "TICK_SECONDS", 0.05)
    ended: list[str] = []

    async def work(put):
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    def lost() -> None:
        raise RuntimeError("the claim is gone")

    with pytest.raises(RuntimeError, match="the claim is gone"):
        list(answer_in_thread(work, on_tick=lost))
    assert ended == ["cancelled"]
