"""`manage.py report PROJECT FOLDER`: make a report now and write its files to a folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate.models import ItemSet, Project, Stage
from evaluation.models import Report, Run
from evaluation.services import reporting

_ENDED = (Report.State.DONE, Report.State.FAILED, Report.State.CANCELLED)


class Command(BaseCommand):
    help = "Make a report of people and models on one item set now, and write its files to a folder."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("folder", type=Path, help="where the files go; made if it is not there")
        parser.add_argument("--title", default="People against models")
        parser.add_argument("--stage", help="the stage's slug; the first if left out")
        parser.add_argument("--item-set", help="the set's name; the newest if left out")
        parser.add_argument(
            "--run", action="append", default=[], help="a run's name, repeatable; else every started one"
        )
        parser.add_argument("--primary-run", help="the run of the primary comparison; none if left out")
        parser.add_argument("--field", help="a field that decides; the stage's first if left out")
        parser.add_argument("--scorer", help="the main score; the field's default if left out")
        parser.add_argument("--also", action="append", default=[], help="a further score by name, repeatable")
        parser.add_argument("--every-run", action="store_true", help="every run is a primary comparison (Holm)")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--resamples", type=int, default=2000)
        parser.add_argument("--wait", type=int, default=600, help="seconds, where a worker has taken the report first")

    def handle(self, *args: Any, **options: Any) -> None:
        project = _one(Project.objects.filter(slug=options["project"]), f"project {options['project']}")
        stage = _one(_named(project.stages.order_by("position", "pk"), "slug", options["stage"]), "stage")
        item_set = _one(_named(project.item_sets.order_by("-pk"), "name", options["item_set"]), "item set")
        started = project.runs.exclude(state=Run.State.DRAFT).order_by("pk")
        runs = [_one(started.filter(name=name), f"run {name}") for name in options["run"]] or list(started)
        primary = options["primary_run"]
        try:
            report = _create(project, stage, item_set, runs, primary, options)
        except reporting.ReportNotPossible as refusal:
            raise CommandError(str(refusal)) from None
        # A worker may have heard the bell first; then it is only waited for.
        reporting.make_report(report_id=report.pk)
        report = _ended(report, seconds=options["wait"])
        if report.state != Report.State.DONE:
            raise CommandError(f"The report was not made: {report.error or report.get_state_display()}")
        folder = options["folder"]
        folder.mkdir(parents=True, exist_ok=True)
        for stored in report.files.order_by("name"):
            with stored.file.open("rb") as content:
                (folder / stored.name).write_bytes(content.read())
        self.stdout.write(f"Report {report.pk}: {report.files.count()} files in {folder}")


def _create(
    project: Project, stage: Stage, item_set: ItemSet, runs: list[Run], primary: str | None, options: dict[str, Any]
) -> Report:
    spec = reporting.deciding_field(stage=stage, name=options["field"])
    return reporting.create_report(
        project=project,
        by=None,
        title=options["title"],
        stage=stage,
        item_set=item_set,
        runs=runs,
        field=spec.name,
        primary_scorer=options["scorer"] or next(iter(reporting.scorers_for(spec)), ""),
        primary_run=_one([run for run in runs if run.name == primary], f"run {primary}") if primary else None,
        further_scorers=options["also"],
        every_run_is_primary=options["every_run"],
        seed=options["seed"],
        n_resamples=options["resamples"],
    )


def _ended(report: Report, *, seconds: int) -> Report:
    until = time.monotonic() + seconds
    while True:
        report.refresh_from_db()
        if report.state in _ENDED:
            return report
        if time.monotonic() > until:
            raise CommandError(f"Report {report.pk} is {report.get_state_display()} after {seconds} s.")
        time.sleep(0.2)


def _named(rows: Any, column: str, value: str | None) -> Any:
    return rows if value is None else rows.filter(**{column: value})


def _one(rows: Any, what: str) -> Any:
    found = next(iter(rows[:1]), None)
    if found is None:
        raise CommandError(f"There is no {what}.")
    return found
