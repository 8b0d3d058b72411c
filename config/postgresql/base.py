"""What a kept connection is good for: it is tested by a look at its socket, and it remembers what it has planned."""

from __future__ import annotations

import re
import select
from typing import Any

from django.db.backends.postgresql import base

# A text per combination of languages that people read, and a dozen others: beyond that a statement is run as it is.
MOST_PREPARED = 200


class DatabaseWrapper(base.DatabaseWrapper):
    prepared: dict[str, str]

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self.prepared = {}
        return super().get_new_connection(conn_params)

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

    def prepare(self, statement: str) -> str:
        """What to execute in the place of a statement with named parameters, which may be itself.

        PostgreSQL reads and plans the statement the first time and keeps the plan as long as the connection lasts, or
        until the tables' statistics change. The connection must be open.
        """
        if statement not in self.prepared and len(self.prepared) < MOST_PREPARED:
            name, names = f"statement_{len(self.prepared)}", list(dict.fromkeys(PARAMETER.findall(statement)))
            numbered = PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", statement).replace("%%", "%")
            with self.connection.cursor() as cursor:
                cursor.execute(f"PREPARE {name} AS {numbered}")
            self.prepared[statement] = f"EXECUTE {name} ({', '.join(f'%({given})s' for given in names)})"
        return self.prepared.get(statement, statement)


PARAMETER = re.compile(r"%\(([\w.]+)\)s")
