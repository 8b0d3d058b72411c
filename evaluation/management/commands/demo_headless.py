"""`demo_headless`: the whole job by itself: people answer over HTTP, models through a worker, reports at the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from annotate.exceptions import GoldpanelError
from annotate.models import (
    Annotation,
    Assignment,
    Gold,
    ItemSet,
    Membership,
    Person,
    Project,
    Resolution,
    Stage,
    StageItem,
)
from annotate.services.heartbeats import last_heard
from config import local_model
from evaluation.demo import text_tables
from evaluation.demo.browser import Page, PageMissing
from evaluation.demo.playing import play
from evaluation.demo.sign_ins import SignIn
from evaluation.models import Endpoint, Prediction, Report, Run
from evaluation.services import demo, reporting, running

# Which baselines answer which stage; the first of each is the comparison named before results are seen.
COMPARED = {
    demo.CLAIMS: ("Chatty random", "Most frequent label"),
    demo.TABLES: ("Word overlap", "Random value"),
}
FIELD = {demo.CLAIMS: "label", demo.TABLES: "answer"}
SEED = 7
# A small model wanders: a label needs few tokens, and what is longer is counted as cut off.
LOCAL_PARAMETERS = {"temperature": 0, "max_tokens": 48, "seed": SEED}
# A worker that is heard may still be busy; one that is not heard for this long is not there.
SILENCE_SECONDS = 45.0
MOST_SECONDS = 300.0


class Command(BaseCommand):
    help = "Play the demo from the first answer to the reports: needs the web server, a worker and the scheduler."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base-url", required=True, help="where the web server answers")
        parser.add_argument("--out", type=Path, required=True, help="the folder for the report files")
        parser.add_argument("--unless-answered", action="store_true", help="do nothing where somebody has answered")

    def handle(self, *, base_url: str, out: Path, unless_answered: bool, **options: Any) -> None:
        if unless_answered and Annotation.objects.exists():
            self.stdout.write("There are answers already: the sample people stay out.")
            return
        begun = time.monotonic()
        try:
            sign_ins = demo.set_up_demo(folder=settings.DATA)
            project = Project.objects.get(slug=demo.SLUG)
            self._people(project, sign_ins, base_url)
            admin = Person.objects.get(username=demo.ADMIN)
            by_stage = {}
            for slug in demo.STAGES:
                stage = project.stages.get(slug=slug)
                by_stage[slug] = self._baselines(stage, admin)
                title = f"{stage.title}: sample people and baselines"
                self._report(title, stage, _item_set(stage), by_stage[slug], admin, out / slug)
            self._local_model(project.stages.get(slug=demo.CLAIMS), by_stage[demo.CLAIMS], admin, out / "local_model")
        except (GoldpanelError, PageMissing, OSError) as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"\nThe report files are in {out} ({time.monotonic() - begun:.0f} s in all).")

    def _people(self, project: Project, sign_ins: list[SignIn], base_url: str) -> None:
        annotators = [entry for entry in sign_ins if entry.role == Membership.Role.ANNOTATOR.label]
        gold = {
            reverse("work", args=[project.slug, stage.slug]): _gold_of(stage)
            for stage in project.stages.order_by("position")
        }
        self.stdout.write(f"Three sample people answer over HTTP at {base_url} ...")
        played = play(base_url=base_url, sign_ins=annotators, gold=gold, until_lease_is_over=self._let_expire)
        self.stdout.write(
            f"  {played.answered} answers, {played.skipped} skips, {played.late} late answer, "
            f"{played.changed} changed answer"
        )
        due = StageItem.objects.due().filter(stage__project=project)
        self._wait("the votes to be counted", lambda: not due.exists())
        statuses = Counter(
            Resolution.objects.filter(stage_item__stage__project=project).values_list("status", flat=True)
        )
        self.stdout.write("  votes: " + ", ".join(f"{n} {status}" for status, n in statuses.most_common()))

    def _let_expire(self, page: Page) -> None:
        """Time cannot be played: the lease is moved into the past, and a worker does the rest."""
        assignment = Assignment.objects.get(token=page.data["token"])
        over = timezone.now() - timedelta(seconds=1)
        Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=over)
        rows = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.LEASED)
        self._wait("a lease to run out", lambda: not rows.exists())

    def _baselines(self, stage: Stage, admin: Person) -> list[Run]:
        self.stdout.write(f"\nBaselines answer “{stage.title}” through the worker ...")
        runs = [self._start(stage, _item_set(stage), name, admin) for name in COMPARED[stage.slug]]
        for run in runs:
            self._see_through(run)
        return runs

    def _local_model(self, stage: Stage, baselines: list[Run], admin: Person, out: Path) -> None:
        """A real model beside the baselines and the people, on items drawn for it, if one is there."""
        if not settings.LOCAL_MODEL_PORT:
            self.stdout.write("\nNo real model here; ./goldpanel model install brings a small one.")
            return
        address = local_model.base_url(settings.LOCAL_MODEL_PORT)
        if local_model.who_answers(settings.LOCAL_MODEL_PORT) != local_model.Answering.MODEL:
            self.stdout.write(f"\nThe local model does not answer at {address}, so it is left out.")
            return
        items = demo.items_for_local_model(claims=_item_set(stage), by=admin)
        self.stdout.write(f"\n{local_model.NAME} answers {items.n_items} claims at {address} through the worker ...")
        run = self._start(stage, items, demo.LOCAL_MODEL, admin, LOCAL_PARAMETERS)
        self._see_through(run)
        title = f"{stage.title}: sample people, a local model and baselines, {items.n_items} drawn items"
        self._report(title, stage, items, [run, *baselines], admin, out)

    def _start(
        self, stage: Stage, item_set: ItemSet, endpoint: str, admin: Person, parameters: Mapping[str, Any] | None = None
    ) -> Run:
        run = running.create_run(
            project=stage.project,
            by=admin,
            name=_free_name(stage.project, endpoint),
            item_set=item_set,
            stage_version=stage.versions.get(is_current=True),
            endpoint=Endpoint.objects.get(project=stage.project, name=endpoint),
            parameters=parameters,
            seed=SEED,
        )
        return running.start_run(run=run, by=admin)

    def _see_through(self, run: Run) -> None:
        self._wait(f"the run “{run.name}”", lambda: _state(run) not in running.LIVE)
        if _state(run) != Run.State.DONE:
            run.refresh_from_db()
            raise CommandError(f"The run “{run.name}” ended as {run.state}: {run.stopped_because or run.error}")
        outcomes = Counter(run.predictions.values_list("state", flat=True))
        words = [f"{n} {Prediction.State(state).label}" for state, n in outcomes.most_common()]
        self.stdout.write(f"  {run.name}: {', '.join(words)}")

    def _report(self, title: str, stage: Stage, item_set: ItemSet, runs: list[Run], admin: Person, out: Path) -> None:
        spec = reporting.deciding_field(stage=stage, name=FIELD[stage.slug])
        report = reporting.create_report(
            project=stage.project,
            by=admin,
            title=title,
            stage=stage,
            item_set=item_set,
            runs=runs,
            field=spec.name,
            primary_scorer=reporting.scorers_for(spec)[0],
            primary_run=runs[0],
            seed=SEED,
        )
        self._wait("the report", lambda: _state(report) not in (Report.State.WAITING, Report.State.RUNNING))
        report.refresh_from_db()
        if report.state != Report.State.DONE:
            raise CommandError(f"The report ended as {report.state}: {report.error}")
        out.mkdir(parents=True, exist_ok=True)
        for stored in report.files.all():
            with stored.file.open("rb") as content:
                (out / Path(stored.name).name).write_bytes(content.read())
        self.stdout.write(f"\n{report.title}\n{text_tables.comparison(report)}")

    def _wait(self, what: str, is_there: Callable[[], bool]) -> None:
        """Look every now and then. Raises CommandError when no worker is heard, or when it takes too long."""
        begun = time.monotonic()
        while not is_there():
            waited = time.monotonic() - begun
            hearing = last_heard()
            if hearing.is_silent and waited > SILENCE_SECONDS:
                since = f"since {hearing.heard_at:%H:%M:%S} UTC" if hearing.heard_at else "ever"
                raise CommandError(
                    f"No worker has been heard from {since}, and {what} waits for one.\n"
                    "Start a worker and the scheduler: ./goldpanel worker, ./goldpanel scheduler"
                )
            if waited > MOST_SECONDS:
                raise CommandError(f"Waited {MOST_SECONDS:.0f} s for {what}; see the worker's log.")
            time.sleep(0.2)


def _gold_of(stage: Stage) -> dict[str, list[str]]:
    golds = Gold.objects.filter(item__revisions__stage_items__stage=stage, field=FIELD[stage.slug], is_current=True)
    return dict(golds.values_list("item__external_id", "answers"))


def _item_set(stage: Stage) -> ItemSet:
    """The set whose import filled the stage."""
    return stage.project.item_sets.filter(entries__revision__stage_items__stage=stage).order_by("pk").distinct()[0]


def _free_name(project: Project, name: str) -> str:
    taken = set(project.runs.values_list("name", flat=True))  # type: ignore[attr-defined]
    return next(free for free in (name, *(f"{name} {n}" for n in range(2, len(taken) + 3))) if free not in taken)


def _state(row: Run | Report) -> str:
    return str(type(row)._default_manager.values_list("state", flat=True).get(pk=row.pk))
