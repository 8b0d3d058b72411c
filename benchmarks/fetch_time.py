"""What the next item costs in a project of 200,000 items beside one of 2,000: the ratio should be one.

    python benchmarks/fetch_time.py [--small 2000] [--large 200000] [--rounds 10] [--answers 40] [--per-root 9]

--per-root: so many items hang on each table, and are given out one after another; 0: each stands by itself.

Runs in this process on the configured database (DATABASE_URL, else the embedded one of GOLDPANEL_DATA), in projects of
its own that stay there: give it a database that may be thrown away. One person answers in both projects in turn; each
answer's response carries the next item. Progress, which counts every item of a stage, is counted at most every 15
seconds in each process and stands apart.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
TOKEN = re.compile(r'data-token="([^"]+)"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=2_000)
    parser.add_argument("--large", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--answers", type=int, default=40)
    parser.add_argument("--per-root", type=int, default=0)
    given = parser.parse_args()
    sys.path.insert(0, str(PROJECT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    answer = {n_items: worker(n_items, given.per_root) for n_items in (given.small, given.large)}
    milliseconds: dict[int, list[float]] = {n_items: [] for n_items in answer}
    cpu: dict[int, list[float]] = {n_items: [] for n_items in answer}
    for _ in range(given.rounds):
        for n_items, one_answer in answer.items():
            one_answer()  # counts everyone's progress, if it is time
            for _ in range(given.answers):
                begun, worked = time.perf_counter(), time.process_time()
                one_answer()
                milliseconds[n_items].append(1000 * (time.perf_counter() - begun))
                cpu[n_items].append(1000 * (time.process_time() - worked))
    for n_items, times in milliseconds.items():
        print(f"{n_items:>9,} items: {spread(times)} ms from answer to next item, ", end="")
        print(f"{spread(cpu[n_items])} ms of CPU in this process")
    small, large = (median(times) for times in milliseconds.values())
    print(f"ratio of the medians: {large / small:.2f}; of the minima: ", end="")
    print(f"{min(milliseconds[given.large]) / min(milliseconds[given.small]):.2f}")


def worker(n_items: int, per_root: int = 0) -> Callable[[], None]:
    """Somebody at work in a new project of so many items: each call gives one answer and gets the next item."""
    from django.db import connection
    from django.test import Client
    from django.urls import reverse

    from annotate.models import Item, ItemRevision, Person, Stage, StageItem
    from annotate.services import people, projects

    name = f"fetch-{n_items}-{int(time.time())}"
    admin, _ = Person.objects.get_or_create(username="bench", defaults={"is_staff": True})
    project = projects.create_project(by=admin, title=name, slug=name)
    options = [{"value": value, "caption": value} for value in ("yes", "no")]
    field = {"name": "label", "type": "choice", "caption": "Which?", "options": options}
    form: dict[str, Any] = {"fields": [field], "shown_keys": ["text"], "overlap": 1}
    stage = projects.create_stage(project=project, by=admin, kind="label", title=name, slug="label", **form)
    n_roots = -(-n_items // per_root) if per_root else 0
    roots = Item.objects.bulk_create(
        (Item(project=project, external_id=f"table-{n}") for n in range(n_roots)), batch_size=10_000
    )

    def root_of(n: int) -> Item | None:
        return roots[n // per_root] if per_root else None

    for first in range(0, n_items, 10_000):
        numbers = range(first, min(n_items, first + 10_000))
        items = Item.objects.bulk_create(
            Item(project=project, external_id=f"item-{n}", root=root_of(n)) for n in numbers
        )
        content = {n: f"{n} " + "word " * 80 for n in numbers}
        digest = {n: hashlib.sha256(f"{name}{n}".encode()).hexdigest() for n in numbers}
        revisions = ItemRevision.objects.bulk_create(
            ItemRevision(item=item, content=[["text", content[n]]], content_hash=digest[n], language="en")
            for n, item in zip(numbers, items, strict=True)
        )
        StageItem.objects.bulk_create(
            StageItem(stage=stage, revision=revision, rank=n, root=root_of(n), language="en", wanted=1)
            for n, revision in zip(numbers, revisions, strict=True)
        )
    Stage.objects.filter(pk=stage.pk).update(state="open")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    person, _ = people.new_annotator(project=project, by=admin)
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(person)
    page = client.get(reverse("work", args=[name, "label"])).content.decode()

    def answer() -> None:
        nonlocal page
        form = dict(HIDDEN.findall(page[page.index('id="answer-form"') :].partition("</form>")[0]))
        token = TOKEN.search(page)
        assert token is not None
        address = reverse("work-submit", args=[token[1]])
        response = client.post(address, form | {"label": "yes"}, headers={"HX-Request": "true"})
        assert response.status_code == 200, response.content
        page = response.content.decode()

    return answer


def spread(values: list[float]) -> str:
    return f"{min(values):.2f}/{median(values):.2f}/{max(values):.2f}"


if __name__ == "__main__":
    main()
