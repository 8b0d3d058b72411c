"""A function in PostgreSQL for the slot of a lease that is given out within a larger statement.

All of a statement sees the rows as they were when it began. Between that moment and the lock of a place others may
have taken a slot of it; a volatile function looks anew when it is called, and under the lock nobody takes another.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

from annotate.claim_sql import FREE_SLOT_NOW, SMALLEST_FREE_SLOT


def install(connection: BaseDatabaseWrapper) -> None:
    if connection.vendor != "postgresql":
        return  # SQLite has no statements within statements
    found = SMALLEST_FREE_SLOT.replace("%(stage_item)s", "stage_item")
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE OR REPLACE FUNCTION {FREE_SLOT_NOW}(stage_item bigint) RETURNS integer LANGUAGE plpgsql VOLATILE "
            f"AS $$ BEGIN RETURN {found}; END $$"
        )


def remove(connection: BaseDatabaseWrapper) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP FUNCTION IF EXISTS {FREE_SLOT_NOW}(bigint)")
