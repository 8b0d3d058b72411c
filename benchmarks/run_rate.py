"""How close a run comes to what its endpoint could give: calls stored a second, beside places / latency.

    python benchmarks/run_rate.py [--items 3000] [--latency-ms 300] [--places 64] [--workers 1] [--rounds 3]

Runs on the configured database and broker (DATABASE_URL and REDIS_URL, else the embedded ones of GOLDPANEL_DATA), in a
project of its own that stays there: give it a database that may be thrown away. Model server and workers are processes
of their own; each result is committed as in any run, and none is left out of the time.

whole: from the click on Start to the last stored result, bell, claim and first rendering included.
steady: the same without the first second and the last, when the places are not all in use.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
OPTIONS = [{"value": "yes", "caption": "Yes"}, {"value": "no", "caption": "No"}]
FORM = [{"name": "label", "type": "choice", "caption": "Is it true?", "decides": True, "options": OPTIONS}]


def set_up() -> None:
    sys.path[0] = str(PROJECT)  # not the folder of this script, whose names are those of other modules
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


@contextmanager
def worker(name: str, private: str) -> Iterator[subprocess.Popen[bytes]]:
    from config.processes import worker_command

    child = subprocess.Popen(
        worker_command(1, name=name),
        cwd=PROJECT,
        env={**os.environ, "GOLDPANEL_PRIVATE_ENDPOINTS": private},
        stdout=subprocess.DEVNULL,
    )
    try:
        yield child
        assert child.poll() is None, "the worker ended by itself"
    finally:
        child.terminate()
        child.wait()


def make_study(n_items: int, base_url: str, places: int):
    """(project, admin, stage version, item set, endpoint): items of one question of some length each."""
    from annotate.models import Item, ItemRevision, ItemSet, ItemSetEntry, Person
    from annotate.services import projects
    from evaluation.models import Endpoint

    name = f"run-rate-{time.time_ns()}"
    admin = Person.objects.create_staff(username=name, password="a long bench password")
    project = projects.create_project(by=admin, title="Run rate", slug=name, languages=["en"])
    stage = projects.create_stage(
        project=project, by=admin, kind="label", title="Label", slug="label", fields=FORM, shown_keys=["question"]
    )
    items = Item.objects.bulk_create(Item(project=project, external_id=f"item-{n}") for n in range(n_items))
    revisions = ItemRevision.objects.bulk_create(
        ItemRevision(
            item=item,
            number=1,
            content=[["question", f"Is claim {n} true? " + "It was said more than once. " * 12]],
            content_hash=f"{n:064x}",
            language="en",
            is_current=True,
        )
        for n, item in enumerate(items)
    )
    item_set = ItemSet.objects.create(project=project, name="all", n_items=n_items, n_population=n_items)
    ItemSetEntry.objects.bulk_create(
        ItemSetEntry(item_set=item_set, revision=revision, position=n) for n, revision in enumerate(revisions)
    )
    endpoint = Endpoint.objects.create(
        project=project, name="server", provider="openai", model="small", base_url=base_url, max_in_flight=places
    )
    return project, admin, stage.versions.get(), item_set, endpoint


def one_round(study, name: str) -> dict[str, float]:
    from config.bells import ring
    from evaluation.models import Call, Run
    from evaluation.services import running
    from evaluation.tasks import answer_chunk

    project, admin, version, item_set, endpoint = study
    run = running.create_run(
        project=project,
        by=admin,
        name=name,
        item_set=item_set,
        stage_version=version,
        endpoint=endpoint,
        parameters={"temperature": 0.7, "max_tokens": 20},
    )
    begun = time.time()
    running.start_run(run=run, by=admin)
    assert ring(answer_chunk, run.pk)
    rung = 0
    give_up_at = time.monotonic() + 120
    while not Run.objects.filter(pk=run.pk, state__in=["done", "paused"]).exists():
        assert time.monotonic() < give_up_at, "no worker sees to it"
        time.sleep(0.1)
        rung += 1
        if rung % 50 == 0 and Run.objects.due().filter(pk=run.pk).exists():
            ring(answer_chunk, run.pk)  # there is no scheduler here
    run.refresh_from_db()
    n = run.predictions.filter(state="answered").count()
    assert (run.state, n) == ("done", item_set.n_items), (run.state, run.stopped_because, n)
    stored = sorted(
        moment.timestamp() for moment in run.predictions.values_list("finished_at", flat=True) if moment is not None
    )
    assert Call.objects.filter(prediction__run=run).count() == n
    within = [moment for moment in stored if stored[0] + 1 <= moment <= stored[-1] - 1]
    return {"whole": n / (stored[-1] - begun), "steady": len(within) / (within[-1] - within[0])}


def measure(asked: argparse.Namespace) -> None:
    set_up()
    from django.conf import settings
    from django.db import connection

    from tests.openai_server import serving

    ideal = asked.places / (asked.latency_ms / 1000)
    script = {"default": {"text": "Yes", "latency_ms": asked.latency_ms}}
    with ExitStack() as stack:
        server = stack.enter_context(serving(script))
        for n in range(asked.workers):
            stack.enter_context(worker(f"rate{n}", server.host_and_port))
        time.sleep(5)  # until the workers listen
        study = make_study(asked.items, server.base_url, asked.places)
        broker = "Redis" if settings.REDIS_URL else "files"
        print(
            f"{connection.vendor} + {broker}, {asked.workers} worker, {asked.items:,} items, {asked.latency_ms} ms, "
            f"{asked.places} places: ideal {ideal:.0f} a second"
        )
        figures = []
        for n in range(asked.rounds):
            figure = one_round(study, f"round {n}")
            figures.append(figure)
            print(
                f"  whole {figure['whole']:.0f} a second ({figure['whole'] / ideal:.0%}), "
                f"steady {figure['steady']:.0f} ({figure['steady'] / ideal:.0%}); "
                f"load of the machine {os.getloadavg()[0]:.1f}",
                flush=True,
            )
        print(json.dumps({"ideal": ideal, "rounds": figures}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--latency-ms", type=int, default=300)
    parser.add_argument("--places", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    measure(parser.parse_args())
