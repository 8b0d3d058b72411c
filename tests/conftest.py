"""What every test may use, and the rule about skipping."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection, transaction

PROJECT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("GOLDPANEL_SHARED", PROJECT.parent / "shared"))

if not os.environ.get("CI"):
    # As Hypothesis does by itself with CI=true: how long a busy machine takes says nothing about a property.
    patient = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=patient)
    hypothesis.settings.load_profile("patient")


@pytest.fixture
def shared_path(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """shared_path("data/x.csv"): a file of the real public records, or a skip that says what is absent."""
    if request.node.get_closest_marker("shared_data") is None:
        pytest.fail("a test that uses shared_path must be marked shared_data")

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"the real records are not here: no {name} in {os.path.relpath(SHARED, PROJECT)}")
        return path

    return find


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--services-only",
        action="store_true",
        help="leave out what the services cannot change: tests without a database or broker, and those in a browser",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what belongs to the other pair of services; a skip would look like something left undone."""
    on_services = bool(settings.REDIS_URL) and connection.vendor == "postgresql"
    kept: list[pytest.Item] = []
    deselected: list[pytest.Item] = []
    for item in items:
        names = {marker.name for marker in item.iter_markers()}
        wrong_pair = ("embedded" if on_services else "services") in names
        unaffected = config.getoption("--services-only") and ("browser" in names or not needs_services(item, names))
        (deselected if wrong_pair or unaffected else kept).append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = kept


def needs_services(item: pytest.Item, marker_names: set[str]) -> bool:
    """Whether a test can turn out differently on other services: it meets a database or a broker."""
    fixtures = set(getattr(item, "fixturenames", ()))
    return bool(marker_names & {"services", "django_db"} or fixtures & {"db", "transactional_db", "queue"})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """With CI=true a skipped test is a failed one: a suite that quietly tests less is worse than a red one.

    Only tests marked shared_data may be skipped, and only where the real records are absent.
    """
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and in_ci():
        allowed = item.get_closest_marker("shared_data") is not None and not SHARED.exists()
        if not allowed:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid} was skipped, and with CI=true it must run: {report.longrepr[-1]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    """The same rule for a module that is skipped as a whole while its tests are collected."""
    report = yield
    if report.skipped and in_ci():
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped, and with CI=true it must run: {report.longrepr[-1]}"
    return report


@pytest.fixture(scope="module")
def kept_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """with kept_rows(): rows that every test of the module finds as they were made; its end takes them back.

    For fixtures of a module, none of whose tests commits (`transaction=True`): each test is a savepoint in this
    transaction. The objects that a fixture returns are the same in each test, so nobody may change them.
    """
    with django_db_blocker.unblock():
        whole = transaction.atomic()
        whole.__enter__()
    yield django_db_blocker.unblock
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        whole.__exit__(None, None, None)


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in {"1", "true"}


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    """The cache outlives the transaction that is rolled back, and on SQLite the next test's rows get the same ids.

    The csv module keeps the largest limit that any test has asked for.
    """
    cache.clear()
    csv.field_size_limit(131_072)


@pytest.fixture(autouse=True, scope="session")
def _flushing_may_empty_the_event_table() -> Iterator[None]:
    """Tests with real commits are cleaned up by a flush, which the append-only triggers would refuse."""
    from django.db import connection
    from django.test import TransactionTestCase

    from annotate import append_only

    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def flush_without_triggers(self: TransactionTestCase) -> None:
        append_only.remove(connection)
        try:
            flush(self)
        finally:
            append_only.install(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", flush_without_triggers)
        yield
