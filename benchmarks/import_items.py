"""How long 20,000 items take from the click to claimable, and what memory 200,000 take beside them.

    python benchmarks/import_items.py [--served] [--items 20000] [--large 200000] [--chars 400] [--rounds 3]

Runs on the configured database (DATABASE_URL, else the embedded one of GOLDPANEL_DATA), in projects of its own that
stay there: give it a database that may be thrown away. Each import is a process of its own, as a worker would be.

click to claimable: from the service call behind the Import button to the moment at which every item stands in an open
stage. With --served a worker process takes the bell from the configured broker, and the database is asked every 10 ms.
memory: the peak resident set of the process that imports, and how much more the large file needs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
WORDS = (
    "river",
    "seven",
    "the",
    "older",
    "is",
    "a",
    "mountain",
    "than",
    "of",
    "year",
    "was",
    "question",
    "built",
    "in",
)


def write_items(path: Path, n_items: int, n_chars: int) -> None:
    """JSON Lines of n_items questions of n_chars characters, with an id, a gold label and a stratum each."""
    draw = random.Random(20)
    with path.open("w") as file:
        for n in range(n_items):
            text = f"{n} " + " ".join(draw.choices(WORDS, k=n_chars // 3))
            record = {
                "id": f"item-{n}",
                "question": text[:n_chars],
                "label": ("yes", "no")[n % 2],
                "domain": WORDS[n % len(WORDS)],
            }
            file.write(json.dumps(record) + "\n")


def set_up() -> None:
    sys.path.insert(0, str(PROJECT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()


def draft(path: Path) -> int:
    """A project with an open stage, and a draft import of the file into it."""
    from django.core.files.base import File

    from annotate.models import Person, Stage
    from annotate.services import importing, projects
    from annotate.stage_kinds import first_fields

    name = f"import-{time.time_ns()}"
    admin = Person.objects.create_staff(username=name, password="a long bench password")
    project = projects.create_project(by=admin, title="Import", slug=name, languages=["en"])
    fields = first_fields("label", "")
    stage = projects.create_stage(
        project=project, by=admin, kind="label", title="Label", slug="label", fields=fields, shown_keys=["question"]
    )
    Stage.objects.filter(pk=stage.pk).update(state="open")
    stage.refresh_from_db()
    with path.open("rb") as file:
        job = importing.draft_import(
            project=project, by=admin, file=File(file, name=path.name), name=path.name, stage=stage
        )
    return job.pk


def import_here(job_id: int) -> dict[str, Any]:
    """The click and the worker's part in this process."""
    from django.db import transaction

    from annotate.models import ImportJob, StageItem
    from annotate.services import importing

    job = ImportJob.objects.get(pk=job_id)
    assert job.created_by is not None
    begun = time.perf_counter()
    with transaction.atomic():
        importing.start_import(job=job, by=job.created_by)
        transaction.get_connection().run_on_commit.clear()  # no bell: this process is the worker
    importing.run_import(job_id=job.pk)
    seconds = time.perf_counter() - begun
    job.refresh_from_db()
    assert job.state == "done", job.error
    return {
        "seconds": seconds,
        "n_items": StageItem.objects.filter(stage=job.stage, state="open").count(),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def import_served(job_id: int) -> dict[str, Any]:
    """The click here, the import in a worker that hears the bell."""
    from annotate.models import ImportJob, StageItem
    from annotate.services import importing

    job = ImportJob.objects.get(pk=job_id)
    assert job.created_by is not None
    begun = time.perf_counter()
    importing.start_import(job=job, by=job.created_by)
    while not StageItem.objects.filter(stage=job.stage, state="open").exists():
        time.sleep(0.01)
    return {
        "seconds": time.perf_counter() - begun,
        "n_items": StageItem.objects.filter(stage=job.stage, state="open").count(),
    }


def child(action: str, *arguments: object) -> Any:
    command = [sys.executable, __file__, "--child", action, *map(str, arguments)]
    done = subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def run_child(action: str, argument: str) -> None:
    set_up()
    result: Any = draft(Path(argument)) if action == "draft" else import_here(int(argument))
    json.dump(result, sys.stdout)


def measure(asked: argparse.Namespace) -> None:
    set_up()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
        write_items(small, asked.items, asked.chars)
        figures = []
        for _ in range(asked.rounds):
            job = child("draft", small)
            figures.append(import_served(job) if asked.served else child("import", job))
        seconds = sorted(figure["seconds"] for figure in figures)
        assert all(figure["n_items"] == asked.items for figure in figures)
        where = f"{connection.vendor}, {'worker' if asked.served else 'one process'}"
        print(f"{asked.items:,} items of {asked.chars} characters, click to claimable ({where}):")
        print(f"  {', '.join(f'{s:.2f}' for s in seconds)} s; median {seconds[len(seconds) // 2]:.2f} s")
        if asked.large and not asked.served:
            write_items(large, asked.large, asked.chars)
            figure = child("import", child("draft", large))
            before = max(one["peak_mib"] for one in figures)
            print(f"{asked.large:,} items: {figure['seconds']:.1f} s")
            print(
                f"  peak memory {before:.0f} MiB for {asked.items:,}, {figure['peak_mib']:.0f} MiB for {asked.large:,}:"
            )
            print(f"  {figure['peak_mib'] - before:+.1f} MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_child(*sys.argv[2:4])
    else:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--items", type=int, default=20_000)
        parser.add_argument("--large", type=int, default=200_000, help="0: do not measure memory")
        parser.add_argument("--chars", type=int, default=400)
        parser.add_argument("--rounds", type=int, default=3)
        parser.add_argument("--served", action="store_true", help="a worker that is running takes the import")
        measure(parser.parse_args())
