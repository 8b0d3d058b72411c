"""A real browser against the real site: pages of a server in this process, on the database of the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from annotate.models import Person, Stage
from config.doctor import find_browser
from tests.browser.faults import Faults
from tests.browser.visitors import WIDE, Worker, launch, sign_in

expect.set_options(timeout=15_000)  # milliseconds; a loaded machine is slow, a broken page never arrives


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if advice := find_browser().advice:
        pytest.skip(advice)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs an event loop in this thread, and Django asks nothing of its database inside one. For these
        # tests alone: the loop ends with this fixture, and code that blocks a loop by mistake is still found elsewhere.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def faults() -> Iterator[Faults]:
    """Everything that went wrong on any page of the test; what the test did not announce fails it."""
    faults = Faults()
    yield faults
    assert faults.unannounced() == []
    assert faults.missing() == [], "announced, but it did not happen"


@pytest.fixture
def site(live_server: Any) -> str:
    """The address of the site, without a slash at its end."""
    return str(live_server.url)


@pytest.fixture
def new_context(chromium: Browser, site: str, faults: Faults) -> Iterator[Callable[..., BrowserContext]]:
    """new_context(**options): a browser of its own, with no cookies, watched for faults."""
    contexts: list[BrowserContext] = []

    def make(**options: Any) -> BrowserContext:
        context = chromium.new_context(**{"base_url": site, "viewport": WIDE, "locale": "en-GB"} | options)
        context.set_default_timeout(15_000)
        faults.watch(context)
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def at_work(new_context: Callable[..., BrowserContext], site: str) -> Callable[..., Worker]:
    """at_work(person, stage, **options): somebody signed in, with the work page before them."""

    def open_desk(person: Person, stage: Stage, **options: Any) -> Worker:
        context = new_context(**options)
        sign_in(context, person, site)
        worker = Worker(context.new_page(), person, stage)
        worker.open()
        return worker

    return open_desk
