"""Pictures of the main pages, wide and narrow, light and dark, of a demo that has been played to its end.

By hand, to look at and for the README: python -m tests.browser.screenshots OUT [--only NAME ...] [--data FOLDER]
With --data the played demo is kept in that folder and used again.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from config.env import PROJECT, read_settings
from config.processes import Processes, web_command

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Response

    from annotate.models import ImportJob, Person, Project

STORY = (
    "The harbour of Skarvoy froze over in the winter of 1947, and for eleven weeks no ship came in. "
    "Flour was rationed first, then lamp oil; the school closed so that its stove could heat the infirmary. "
)
RIVERS = "id;question;verdict;topic\n" + "".join(
    f"{n:03};{question};{verdict};rivers\n"
    for n, (question, verdict) in enumerate(
        [
            ("Does the Danube end in the Black Sea?", "SUPPORTS"),
            ("Is the Rhône longer than the Nile?", "REFUTES"),
            ("Does the Elbe pass through Dresden?", "SUPPORTS"),
            ("Does the Amazon cross the equator?", "REFUTES"),
            ("Did more than a thousand people swim in the Seine on 1 May 1850?", "NOT ENOUGH INFO"),
            ("Is the Volga the longest river of Europe?", "SUPPORTS"),
            ("Does the Thames freeze every winter?", "REFUTES"),
            ("Is there a river in Zürich?", "SUPPORTS"),
            ("Does the Murray flow through Australia?", "SUPPORTS"),
            ("Was the first bridge over the Tiber painted green?", "NOT ENOUGH INFO"),
            ("Does the Mekong reach the sea in Norway?", "REFUTES"),
            ("Do the Blue Nile and the White Nile meet at Khartoum?", "SUPPORTS"),
        ],
        start=1,
    )
)


class Screen(NamedTuple):
    """A picture: who looks, and how they get there."""

    name: str
    person: Person | None
    arrange: Callable[[Page], object]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.screenshots", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*", help="names of pages")
    parser.add_argument("--data", type=Path, help="a folder with a demo that was played, or where to keep one")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="goldpanel-screens-") as scratch:
        data = Path(scratch) / "data"
        os.environ |= {
            "GOLDPANEL_DATA": str(data),
            "GOLDPANEL_MODE": "demo",
            "GOLDPANEL_ENV_FILE": "",
            "GOLDPANEL_HOST": "127.0.0.1",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        for name in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
        played = options.data if options.data and options.data.exists() else None
        if played:
            shutil.copytree(played, data)  # The pictures change what they show; the played demo stays as it was.
        else:
            play_demo(Path(scratch) / "report")
            if options.data:
                shutil.copytree(data, options.data)
        with served(Path(scratch)) as address:
            take_all(address, options.out, options.only)


def play_demo(out: Path) -> None:
    command = [sys.executable, "-m", "config.launcher", "demo", "--headless", "--out", str(out)]
    subprocess.run(command, cwd=PROJECT, check=True)


@contextmanager
def served(log_folder: Path) -> Iterator[str]:
    """The real web server on the demo's data; its address."""
    from config.launcher import _free_port, _wait_for_page

    values = read_settings(os.environ)
    values["GOLDPANEL_PORT"] = _free_port(0)
    address = f"http://127.0.0.1:{values['GOLDPANEL_PORT']}"
    with Processes(os.environ, log_folder) as processes:
        processes.start("web", web_command(values))
        if failed := _wait_for_page(f"{address}/", processes):
            sys.exit(processes.last_words(failed))
        yield address


def take_all(address: str, out: Path, only: list[str] | None) -> None:
    import django

    django.setup()
    from playwright.sync_api import sync_playwright

    from tests.browser.visitors import NARROW, SCHEMES, WIDE, launch, sign_in

    # Playwright's event loop runs in this thread.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser: Browser = launch(playwright)
        for screen in screens():
            if only and screen.name not in only:
                continue
            for width, scheme in product((WIDE, NARROW), SCHEMES):
                context = browser.new_context(
                    base_url=address, viewport=width, color_scheme=scheme, locale="en-GB", reduced_motion="reduce"
                )
                if screen.person is not None:
                    sign_in(context, screen.person, address)
                page = context.new_page()
                page.on("response", refuse_failures)
                screen.arrange(page)
                page.wait_for_load_state("networkidle")
                page.screenshot(path=out / f"{screen.name}-{width['width']}-{scheme}.png", full_page=True)
                context.close()
            print(screen.name, flush=True)
        browser.close()


def refuse_failures(response: Response) -> None:
    """A picture of an error page is worse than none."""
    if response.status >= 400:
        sys.exit(f"{response.status}: {response.url}")


def screens() -> Iterator[Screen]:
    """Each picture in turn: those of staff first, as the demo left everything, then those of somebody at work."""
    from django.urls import reverse

    from annotate.models import Person, Project
    from annotate.services import people
    from evaluation.models import Report, Run
    from evaluation.services import demo

    project = Project.objects.get(slug=demo.SLUG)
    admin = Person.objects.get(username=demo.ADMIN)
    slug = project.slug
    report = Report.objects.filter(project=project, stage__slug=demo.CLAIMS, state="done").latest("pk")
    run = Run.objects.filter(project=project, name__startswith="Chatty").latest("pk")

    def at(name: str, *arguments: object) -> Callable[[Page], object]:
        address = reverse(name, args=arguments)
        return lambda page: page.goto(address)

    def with_a_choice(page: Page) -> None:
        page.goto(reverse("work", args=[slug, demo.CLAIMS]))
        page.locator("#answer-form input[type=radio]").first.focus()
        page.keyboard.press("1")

    yield Screen("sign-in", None, at("sign-in"))
    yield Screen("project", admin, at("project", slug))
    yield Screen("items", admin, at("items", slug))
    yield Screen("people", admin, at("people", slug))
    yield Screen("stage", admin, at("stage", slug, demo.CLAIMS))
    yield Screen("import", admin, at("import", slug))
    yield Screen("import-preview", admin, at("import-job", slug, draft_import(project, admin).pk))
    yield Screen("exports", admin, at("exports", slug))
    yield Screen("restore", admin, at("restore"))
    yield Screen("runs", admin, at("runs", slug))
    yield Screen("run", admin, at("run", slug, run.pk))
    yield Screen("reports", admin, at("reports", slug))
    yield Screen("comparison", admin, at("report", slug, report.pk))
    yield Screen("side-by-side", admin, at("side-by-side", slug))
    make_work(project, admin)
    worker, _ = people.new_annotator(project=project, is_sample=True)
    yield Screen("home", worker, at("home"))
    yield Screen("work-label", worker, with_a_choice)
    yield Screen("work-table", worker, at("work", slug, demo.TABLES))
    yield Screen("work-long-text", worker, at("work", slug, "long"))


def draft_import(project: Project, admin: Person) -> ImportJob:
    from django.core.files.base import ContentFile

    from annotate.services import importing
    from evaluation.services import demo

    stage = project.stages.get(slug=demo.CLAIMS)
    file = ContentFile(RIVERS.encode("cp1252"))
    return importing.draft_import(project=project, by=admin, file=file, name="rivers.csv", stage=stage)


def make_work(project: Project, admin: Person) -> None:
    """Something to do for one person more, from the first item on, and a stage with a long text."""
    from annotate.models import Stage
    from annotate.services import projects
    from tests.factories import make_item, make_item_set

    for stage in project.stages.all():
        kept = {name: getattr(stage, name) for name in KEPT_SETTINGS}
        projects.change_stage(stage=stage, by=admin, overlap=stage.overlap + 1, order=Stage.Order.SEQUENTIAL, **kept)
    long = projects.create_stage(
        project=project,
        by=admin,
        kind=Stage.Kind.ANSWER,
        title="A long text",
        slug="long",
        fields=[
            {"name": "answer", "type": "text", "caption": "Answer", "decides": True, "required": True},
            {"name": "why", "type": "long_text", "caption": "Which sentences say so", "decides": False},
        ],
        shown_keys=["question", "text"],
        instruction="Answer from the text alone.",
    )
    content = [["question", "For how many weeks did no ship come in?"], ["text", "\n\n".join([STORY * 3] * 6)]]
    items = [make_item(project, content, external_id="long-1")]
    projects.add_items_to_stage(stage=long, item_set=make_item_set(project, items), by=admin)
    projects.open_stage(stage=long, by=admin)


KEPT_SETTINGS = ("title", "lease_minutes", "is_closed_book", "time_limit_seconds", "permitted_sources")


if __name__ == "__main__":
    main(sys.argv[1:])
