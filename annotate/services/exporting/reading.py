"""One view of the database for as long as an export takes, and signs of life from beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext

from django.db import connection, transaction

from annotate.models import BackgroundWork
from annotate.services.background import beat


def server_side_cursor() -> AbstractContextManager[object]:
    """Around one query that is iterated. PostgreSQL keeps such a cursor in a transaction; SQLite reads row by row
    without one, and there a transaction would take the write lock: nobody could answer while somebody downloads."""
    return transaction.atomic() if connection.vendor == "postgresql" else nullcontext()


@contextmanager
def one_snapshot() -> Iterator[None]:
    """What is read inside is of one moment, in however many queries, and comes through server-side cursors.

    PostgreSQL: a transaction that repeats its reads and writes nothing. SQLite: one that only reads; Django's own
    would take the write lock, and nobody could answer while somebody downloads. Inside another transaction nothing is
    added: it is one view already, as far as that goes.
    """
    if _is_in_transaction():
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")


def _is_in_transaction() -> bool:
    """Django's own, or one that was begun here."""
    if connection.in_atomic_block or connection.vendor == "postgresql":
        return connection.in_atomic_block
    connection.ensure_connection()
    return bool(connection.connection.in_transaction)


@contextmanager
def beating_beside(work: BackgroundWork) -> Iterator[Callable[..., None]]:
    """`beat` for work that reads in a long transaction: from another thread, which has a connection of its own.

    Said inside that transaction, nobody would hear it before the end. A caller that is in a transaction already beats
    in it: no other connection sees its row.
    """
    if connection.in_atomic_block:
        yield lambda **progress: beat(work, **progress)
        return
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="beat") as beside:
        try:
            yield lambda **progress: beside.submit(beat, work, **progress).result()
        finally:
            # A thread's connection is closed by nobody else; looked up there, for it is that thread's.
            beside.submit(lambda: connection.close()).result()
