"""Database triggers that refuse to change or remove an event, whoever asks: service, shell or admin."""

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "annotate_event"

SQLITE = {
    verb: f"CREATE TRIGGER {TABLE}_no_{verb.lower()} BEFORE {verb} ON {TABLE} "
    f"BEGIN SELECT RAISE(ABORT, 'events are append-only'); END"
    for verb in ("UPDATE", "DELETE")
}

POSTGRESQL = [
    f"""CREATE OR REPLACE FUNCTION {TABLE}_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'events are append-only'; END $$""",
    f"""CREATE TRIGGER {TABLE}_append_only BEFORE UPDATE OR DELETE ON {TABLE}
    FOR EACH ROW EXECUTE FUNCTION {TABLE}_refuse()""",
    f"""CREATE TRIGGER {TABLE}_no_truncate BEFORE TRUNCATE ON {TABLE}
    FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_refuse()""",
]


def install(connection: BaseDatabaseWrapper) -> None:
    statements = POSTGRESQL if connection.vendor == "postgresql" else list(SQLITE.values())
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def remove(connection: BaseDatabaseWrapper) -> None:
    if connection.vendor == "postgresql":
        statements = [f"DROP TRIGGER IF EXISTS {TABLE}_{name} ON {TABLE}" for name in ("append_only", "no_truncate")]
    else:
        statements = [f"DROP TRIGGER IF EXISTS {TABLE}_no_{verb.lower()}" for verb in SQLITE]
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
