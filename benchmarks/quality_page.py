"""What the quality page costs at 60,000 answers of 40 people, beside one plain SELECT that reads the same rows.

    python benchmarks/quality_page.py [--answers 60000] [--people 40] [--rounds 5]

Runs in this process on the configured database (DATABASE_URL, else the embedded one of GOLDPANEL_DATA), in projects of
its own that stay there: give it a database that may be thrown away. Ten people answer each item, in one project by a
choice, in the other by a short text, and each meets a hundred checks. The bare limit fetches the columns that the
signals are made of, joined as the page joins them, and does nothing with them.

CPU: of this process, and of the database's if it is on this machine; other work on it does not count there.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
OVERLAP = 10
N_CHECKS = 100
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
WHAT_SIGNALS_READ = """
SELECT given.id, held.person_id, held.stage_item_id, given.stage_version_id, given.answer, given.active_seconds,
    given.n_pastes, given.pasted_characters, given.n_away, given.away_seconds, held.finished_at
FROM annotate_annotation given JOIN annotate_assignment held ON held.id = given.assignment_id
WHERE given.number = 1 AND held.stage_id = %s AND held.purpose = '' AND held.state = 'submitted'
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=60_000)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    sys.path.insert(0, str(PROJECT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    stages = {name: filled(name, given.answers, given.people) for name in ("choice", "text")}
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{connection.vendor}, {given.answers:,} answers of {given.people} people", flush=True)
    for name, stage in stages.items():
        measure(name, stage, given.rounds)


def measure(name: str, stage: Any, rounds: int) -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from annotate.models import Person

    client = Client(headers={"host": "localhost"})
    client.force_login(Person.objects.get(username="bench"))
    slug = stage.project.slug

    def bare() -> None:
        with connection.cursor() as cursor:
            cursor.execute(WHAT_SIGNALS_READ, [stage.pk])
            while cursor.fetchmany(2_000):
                pass

    def page(address: str) -> Callable[[], None]:
        def get() -> None:
            response = client.get(address)
            assert response.status_code == 200, response.status_code
            b"".join(response) if response.streaming else response.content

        return get

    measured = {
        "bare limit": bare,
        "page": page(reverse("quality", args=[slug])),
        "file of signals": page(reverse("quality-signals", args=[slug]) + f"?stage={stage.slug}"),
        "file of shares": page(reverse("quality-contribution", args=[slug]) + f"?stage={stage.slug}"),
        "people": page(reverse("people", args=[slug])),
    }
    times: dict[str, list[float]] = {one: [] for one in measured}
    cpu: dict[str, list[float]] = {one: [] for one in measured}
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET max_parallel_workers_per_gather = 0")  # else others would work that are not counted
    for number in range(rounds + 1):
        for one, run in measured.items():
            begun, worked = time.perf_counter(), processor_seconds()
            run()
            if number:  # the first round fills what is kept
                times[one].append(1000 * (time.perf_counter() - begun))
                cpu[one].append(1000 * (processor_seconds() - worked))
    limit, limit_cpu = median(times["bare limit"]), median(cpu["bare limit"])
    for one, run in measured.items():
        with CaptureQueriesContext(connection) as queries:
            run()
        print(
            f"  {name:<7}{one:<16} {min(times[one]):6.0f}/{median(times[one]):.0f}/{max(times[one]):.0f} ms, CPU "
            f"{median(cpu[one]):5.0f} ms, {median(times[one]) / limit:5.1f} times the bare limit "
            f"({median(cpu[one]) / limit_cpu:.1f} by CPU), {len(queries)} statements",
            flush=True,
        )


def processor_seconds() -> float:
    """So far, of this process and of the one that serves it in the database; a request keeps its connection here."""
    from django.db import connection

    seconds = time.process_time()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            stat = Path(f"/proc/{cursor.fetchone()[0]}/stat")
        if stat.exists():
            user, system = stat.read_text().rpartition(")")[2].split()[11:13]
            seconds += (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return seconds


def filled(name: str, n_answers: int, n_people: int) -> Any:
    """A stage with so many first answers to work, and checks that were compared."""
    from django.db import transaction

    from annotate.models import Annotation, Assignment, CheckResult, Item, ItemRevision, Membership, Person, StageItem
    from benchmarks.export_answers import bulk
    from tests.factories import SHORT_ANSWER, YES_NO, make_project, make_stage

    n_items, n_checks = n_answers // OVERLAP, N_CHECKS * n_people
    with transaction.atomic():
        admin, _ = Person.objects.get_or_create(username="bench", defaults={"is_staff": True})
        project = make_project(slug=f"quality-{name}-{time.time_ns()}")
        form = YES_NO if name == "choice" else SHORT_ANSWER
        stage = make_stage(project, form=form, slug="stage", overlap=OVERLAP, check_every=16)
        version = stage.versions.get()
        people = [Person.objects.create().pk for _ in range(n_people)]
        Membership.objects.create(project=project, person=admin, role="admin")
        Membership.objects.bulk_create(Membership(project=project, person_id=pk, role="annotator") for pk in people)
        n_all = n_items + N_CHECKS
        items = bulk(Item, n_all, lambda n: {"project_id": project.pk, "external_id": f"item-{n:07}"})
        content = [["question", "Which of the rivers of the north is the longest?"]]
        revisions = bulk(
            ItemRevision, n_all, lambda n: {"item_id": items[n], "content": content, "content_hash": f"{n:064x}"}
        )
        places = bulk(
            StageItem,
            n_all,
            lambda n: {
                "stage_id": stage.pk, "revision_id": revisions[n], "rank": n,
                "wanted": OVERLAP if n < n_items else StageItem.EVERYBODY,
                "done": OVERLAP if n < n_items else n_people, "purpose": "" if n < n_items else "check",
            },
        )  # fmt: skip

        def assigned(n: int) -> dict[str, Any]:
            is_check = n >= n_answers
            number = n - n_answers
            # Each ten of the people in turn; of checks everybody gets all.
            place = n_items + number // n_people if is_check else n // OVERLAP
            who = number % n_people if is_check else (n // OVERLAP * OVERLAP + n % OVERLAP) % n_people
            return {
                "stage_id": stage.pk, "stage_item_id": places[place], "person_id": people[who], "state": "submitted",
                "slot": number % n_people if is_check else n % OVERLAP, "leased_at": MOMENT,
                "lease_expires_at": MOMENT, "finished_at": MOMENT + timedelta(seconds=n),
                "purpose": "check" if is_check else "",
            }  # fmt: skip

        assignments = bulk(Assignment, n_answers + n_checks, assigned)
        answers = (
            [{"label": "yes"}, {"label": "no"}] if name == "choice" else [{"answer": f"River {n}"} for n in range(97)]
        )
        bulk(
            Annotation,
            n_answers + n_checks,
            lambda n: {
                "assignment_id": assignments[n], "stage_version_id": version.pk, "client_key": f"{n}",
                "answer": answers[n * 7919 % 101 % len(answers)], "active_seconds": n % 90, "wall_seconds": n % 120,
                "n_pastes": int(n % 3 == 0), "pasted_characters": n % 40, "n_away": n % 2, "away_seconds": n % 20,
                "created_at": MOMENT + timedelta(seconds=n),
            },
        )  # fmt: skip
        bulk(
            CheckResult,
            n_checks,
            lambda n: {"assignment_id": assignments[n_answers + n], "is_right": n % 5 > 0, "key_version": 1},
        )
    return stage


if __name__ == "__main__":
    main()
