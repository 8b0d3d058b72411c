"""How long 20,000 and 1,000,000 answers take to a file, and what memory the many take beside the few.

    python benchmarks/export_answers.py [--small 10000] [--target 20000] [--large 1000000] [--only exact jsonl ...]

Runs on the configured database (DATABASE_URL, else the embedded one of GOLDPANEL_DATA), in projects of its own that
stay there: give it a database that may be thrown away. Ten people answer each item; the rows are written in bulk. Each
export is a process of its own, as a worker would be, and writes to a file beside the data. `archive` is the whole
project.

seconds: from the first query to the last byte. growth: of the peak resident set, from the small to the large project.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
OVERLAP = 10
FORMATS = ("exact", "jsonl", "spreadsheet", "xlsx", "archive")


def set_up() -> None:
    sys.path.insert(0, str(PROJECT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()


def fill(n_answers: int) -> str:
    """A project with so many answers; its slug."""
    from django.db import transaction

    from annotate.models import Annotation, Assignment, Item, ItemRevision, Person, StageItem
    from tests.factories import SHORT_ANSWER, make_project, make_stage

    slug = f"export-{n_answers}-{time.time_ns()}"
    n_items = n_answers // OVERLAP
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    with transaction.atomic():
        project = make_project(slug=slug)
        stage = make_stage(project, form=SHORT_ANSWER, slug="answer", overlap=OVERLAP)
        version = stage.versions.get()
        people = [Person.objects.create().pk for _ in range(OVERLAP)]
        items = bulk(Item, n_items, lambda n: {"project_id": project.pk, "external_id": f"item-{n:07}"})
        content = [["question", "Which of the rivers of the north is the longest? " * 8]]
        revisions = bulk(
            ItemRevision, n_items, lambda n: {"item_id": items[n], "content": content, "content_hash": f"{n:064x}"}
        )
        places = bulk(
            StageItem,
            n_items,
            lambda n: {
                "stage_id": stage.pk, "revision_id": revisions[n], "rank": n, "wanted": OVERLAP, "done": OVERLAP,
            },
        )  # fmt: skip
        assignments = bulk(
            Assignment,
            n_answers,
            lambda n: {
                "stage_id": stage.pk,
                "stage_item_id": places[n // OVERLAP],
                "person_id": people[n % OVERLAP],
                "state": "submitted",
                "slot": n % OVERLAP,
                "leased_at": moment,
                "lease_expires_at": moment,
                "finished_at": moment + timedelta(seconds=n),
            },
        )
        bulk(
            Annotation,
            n_answers,
            lambda n: {
                "assignment_id": assignments[n],
                "stage_version_id": version.pk,
                "answer": {"answer": f"River {n % 97}", "why": f"Row {n} of the table says so, and nothing else does."},
                "client_key": f"{n}",
                "active_seconds": n % 90,
                "wall_seconds": n % 120,
                "created_at": moment + timedelta(seconds=n),
            },
        )
    return slug


def bulk(model: Any, n: int, values: Callable[[int], dict[str, Any]]) -> Any:
    """n rows with ids of their own, everything not named at its default; the ids."""
    from annotate.services.archiving.columns import column_of
    from annotate.services.archiving.inserting import insert, take_ids

    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    columns = [column_of(field) for field in fields]
    # Only what must differ from row to row is asked for anew.
    usual = {field.attname: field.get_default() for field in fields if not field.unique}
    ids = take_ids(model, n)

    def rows() -> Iterator[list[Any]]:
        for place in range(n):
            given = usual | values(place)
            row: list[Any] = [ids[place]]
            for field, column in zip(fields, columns, strict=True):
                value = given[field.attname] if field.attname in given else column.default()
                row.append(None if value is None else column.stored(value))
            yield row

    insert(model._meta.db_table, ["id", *(field.column for field in fields)], rows())
    return ids


def export(slug: str, name: str) -> dict[str, Any]:
    from django.conf import settings

    from annotate.models import Project
    from annotate.services.exporting.kinds import KINDS
    from annotate.services.exporting.reading import one_snapshot

    project = Project.objects.get(slug=slug)
    kind = KINDS["archive" if name == "archive" else "answers"]
    form = kind.format("zip" if name == "archive" else name)
    assert form is not None
    begun = time.perf_counter()
    with tempfile.TemporaryFile(dir=settings.DATA) as file:
        with one_snapshot():
            report = kind.written(project, form, file, lambda n: None)
        seconds = time.perf_counter() - begun
        n_bytes = file.seek(0, os.SEEK_END)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "rows": report["rows"],
        "seconds": seconds,
        "cpu": used.ru_utime + used.ru_stime,
        "bytes": n_bytes,
        "peak_mib": peak_kib() / 1024,
    }


def peak_kib() -> int:
    """Of this process alone: the figure of getrusage begins with that of whoever started it."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def child(action: str, *arguments: object) -> Any:
    command = [sys.executable, __file__, "--child", action, *map(str, arguments)]
    done = subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def run_child(action: str, *arguments: str) -> None:
    set_up()
    result: Any = fill(int(arguments[0])) if action == "fill" else export(*arguments)
    json.dump(result, sys.stdout)


def measure(asked: argparse.Namespace) -> None:
    set_up()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    sizes = [n for n in (asked.small, asked.target, asked.large) if n]
    begun = time.perf_counter()
    slugs = {n: child("fill", n) for n in sizes}
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    print(f"{connection.vendor}; rows written in {time.perf_counter() - begun:.0f} s", flush=True)
    for name in asked.only or FORMATS:
        peaks = {}
        for n in sizes:
            figure = child("export", slugs[n], name)
            peaks[n] = figure["peak_mib"]
            print(
                f"  {name:<12}{n:>10,} answers {figure['seconds']:8.2f} s {figure['cpu']:8.2f} s CPU "
                f"{figure['bytes']:>13,} bytes, peak {figure['peak_mib']:.0f} MiB",
                flush=True,
            )
        if asked.large:
            print(f"  {name:<12}growth from {asked.small:,} to {asked.large:,}: "
                  f"{peaks[asked.large] - peaks[asked.small]:+.1f} MiB", flush=True)  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_child(*sys.argv[2:])
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--small", type=int, default=10_000)
        parser.add_argument("--target", type=int, default=20_000)
        parser.add_argument("--large", type=int, default=1_000_000, help="0: do not measure memory")
        parser.add_argument("--only", nargs="*", choices=FORMATS)
        measure(parser.parse_args())
