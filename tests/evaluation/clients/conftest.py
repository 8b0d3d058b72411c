"""The misbehaving server, shared by the tests of the clients."""

from collections.abc import Iterator

import pytest

from tests.openai_server import Running, serving


@pytest.fixture(scope="session")
def _server() -> Iterator[Running]:
    with serving() as server:
        yield server


@pytest.fixture
def server(_server: Running) -> Running:
    """A server whose script says "Yes" to everything, until the test gives it another one to play."""
    _server.play()
    return _server
