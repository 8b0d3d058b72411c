"""How a kept connection to PostgreSQL is tested before a request uses it."""

from __future__ import annotations

import pytest
from django.db import close_old_connections, connection, connections
from django.test.utils import CaptureQueriesContext

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.services,  # SQLite keeps no connection to a server
]


def backend_pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_a_living_connection_is_kept():
    pid = backend_pid()
    close_old_connections()
    assert connection.is_usable()
    assert backend_pid() == pid


def test_a_connection_that_the_server_has_ended_is_replaced():
    pid = backend_pid()
    # Another connection, as the server's administrator has one.
    with connections["default"].copy().cursor() as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        assert other.fetchone() == (True,)
    # As at the beginning of a request.
    close_old_connections()
    with CaptureQueriesContext(connection):
        assert backend_pid() != pid
