"""A kept connection is tested by a look at its socket, where Django asks the server and waits for its answer."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the connection may be used for this request.

        A server that has ended, or has ended this session, closes the connection: then there is something to read
        although nothing was asked. A silent socket is a usable one, and the question to the server is saved.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection, select.POLLIN)
        return not waiting.poll(0) or bool(super().is_usable())
