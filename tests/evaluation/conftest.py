"""The misbehaving model server, shared by the tests of runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings

from tests.openai_server import Running, serving


@pytest.fixture(scope="session")
def _server() -> Iterator[Running]:
    with serving() as server:
        yield server


@pytest.fixture
def server(_server: Running, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A model server that answers Yes until told otherwise; the settings allow its private address."""
    _server.play()
    monkeypatch.setattr(settings, "PRIVATE_ENDPOINTS", [_server.host_and_port])
    return _server
