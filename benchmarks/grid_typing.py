"""How long a person waits for the table grid: from a key to the frame that shows it, with 900 rows of 9 columns.

    python benchmarks/grid_typing.py [--rows 900] [--columns 9] [--keys 400] [--rounds 3]

Serves the real site from this process on a database of its own that is thrown away, opens the work page in chromium
and presses real keys. A keystroke is timed inside the page, from the time stamp of its event to a moment after the next
frame was drawn (two animation frames and a task). It needs chromium and what requirements-dev.txt lists.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

PROJECT = Path(__file__).resolve().parent.parent
WATCH = """
  window.waits = [];
  document.addEventListener("keydown", (event) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>
      window.waits.push(performance.now() - event.timeStamp))));
  }, { capture: true });
"""
PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const begun = performance.now();
  const event = { clipboardData: data, bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new ClipboardEvent("paste", event));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>
    done(performance.now() - begun)))));
}"""


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=900)
    parser.add_argument("--columns", type=int, default=9)
    parser.add_argument("--keys", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    sys.path.insert(0, str(PROJECT))
    with tempfile.TemporaryDirectory(prefix="goldpanel-grid-") as data:
        os.environ |= {"GOLDPANEL_DATA": data, "GOLDPANEL_MODE": "demo", "DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        os.environ.pop("DATABASE_URL", None)
        os.environ.pop("REDIS_URL", None)
        measure(given)


def measure(given: argparse.Namespace) -> None:
    import django

    django.setup()
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application
    from playwright.sync_api import sync_playwright

    from tests.browser.visitors import WIDE, launch, sign_in

    call_command("migrate", verbosity=0)
    person, path = prepare(given)
    server = make_server("127.0.0.1", 0, StaticFilesHandler(get_wsgi_application()), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    block = "\n".join("\t".join(f"cell {row} {column}" for column in range(given.columns)) for row in range(given.rows))
    with sync_playwright() as playwright:
        browser = launch(playwright)
        context = browser.new_context(base_url=site, viewport=WIDE)
        sign_in(context, person, site)
        page = context.new_page()
        typing, moving, pastes, submits = [], [], [], []
        for _ in range(given.rounds):
            page.goto(path)
            page.locator("[role=gridcell][tabindex='0']").click()
            pastes.append(page.evaluate(PASTE, block))
            page.keyboard.press("Control+Home")
            page.evaluate(WATCH)
            # Words of seven letters, each in a cell of its own, with the pauses in which drafts are saved.
            typing += timed(page, [key for n in range(given.keys) for key in (["Enter"] if n % 8 == 7 else ["a"])])
            moving += timed(page, ["ArrowDown", "PageDown", "ArrowRight", "ArrowUp"] * (given.keys // 8))
            n_in_page = page.locator("[role=gridcell]").count()
            begun = time.perf_counter()
            item = page.locator("#item").get_attribute("data-token")
            page.keyboard.press("Control+Enter")
            page.wait_for_function("(was) => document.getElementById('item').dataset.token !== was", arg=item)
            submits.append(1000 * (time.perf_counter() - begun))
        browser.close()
    server.shutdown()
    print(f"{given.rows} rows of {given.columns} columns, {n_in_page} cells of them in the page")
    print(f"key to frame, typing:        {spread(typing)}")
    print(f"key to frame, moving:        {spread(moving)}")
    print(f"paste of the whole table:    {min(pastes):.0f}/{median(pastes):.0f}/{max(pastes):.0f} ms")
    print(f"submit to the next item:     {min(submits):.0f}/{median(submits):.0f}/{max(submits):.0f} ms")


def prepare(given: argparse.Namespace) -> tuple[Any, str]:
    """A stage that asks for such a table, and somebody who answers it."""
    from django.urls import reverse

    from annotate.models import Item, ItemRevision, Person, Stage, StageItem
    from annotate.services import people, projects

    admin = Person.objects.create_staff(username="bench", password="a long password")
    project = projects.create_project(by=admin, title="Grid", slug="grid")
    field = {
        "name": "rows",
        "type": "table",
        "caption": "Rows?",
        "columns": [f"column {n}" for n in range(given.columns)],
    }
    form: dict[str, Any] = {"fields": [field], "shown_keys": ["question"], "overlap": 1}
    stage = projects.create_stage(project=project, by=admin, kind="answer", title="Grid", slug="grid", **form)
    for n in range(given.rounds + 1):
        item = Item.objects.create(project=project, external_id=f"item-{n}")
        content = [["question", f"Which rows are there in {n}?"]]
        revision = ItemRevision.objects.create(item=item, content=content, content_hash=f"{n:064}", language="en")
        StageItem.objects.create(stage=stage, revision=revision, rank=n, language="en", wanted=1)
    Stage.objects.filter(pk=stage.pk).update(state="open")
    person, _ = people.new_annotator(project=project, by=admin)
    return person, reverse("work", args=[project.slug, stage.slug])


def timed(page: Any, keys: Sequence[str]) -> list[float]:
    """The waits of these keys, pressed at about 12 a second."""
    page.evaluate("window.waits = []")
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(80)
    page.wait_for_function("(n) => window.waits.length >= n", arg=len(keys))
    return list(page.evaluate("window.waits"))


def spread(waits: Sequence[float]) -> str:
    cuts = quantiles(waits, n=100)
    return (
        f"median {median(waits):.1f}, p95 {cuts[94]:.1f}, p99 {cuts[98]:.1f}, most {max(waits):.1f} ms (n {len(waits)})"
    )


if __name__ == "__main__":
    main()
