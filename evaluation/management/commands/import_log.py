"""Import a log of predictions from the command line: the same service as the page, the same report."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import GoldpanelError, ImportRefused
from annotate.models import ItemSet, Person, Project, Stage
from evaluation.clients.logs.lm_eval import model_beside
from evaluation.services import log_importing


class Command(BaseCommand):
    help = "Import predictions that another program logged as runs: all of it or nothing. Exit code 1 with the reason."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short address")
        parser.add_argument("file", type=Path)
        parser.add_argument("--item-set", required=True, metavar="NAME", help="the items it is about")
        parser.add_argument("--stage", required=True, metavar="SLUG", help="the stage whose form the answers belong to")
        parser.add_argument(
            "--model", default="", help="where the log does not name it; else from the results file beside the samples"
        )
        parser.add_argument("--name", default="", help="what the runs are called, instead of their model")
        parser.add_argument("--id-field", default="", help="the field of a record that holds the item's id")
        parser.add_argument("--accept-changed", action="store_true", help="ids count even where the text is another")
        parser.add_argument("--dry-run", action="store_true", help="match and report everything, keep nothing")
        parser.add_argument("--by", metavar="NAME", help="the admin in whose name this is done")

    def handle(self, **asked: Any) -> None:
        project = _found(Project.objects.filter(slug=asked["project"]), f"project {asked['project']}")
        item_set = _found(ItemSet.objects.filter(project=project, name=asked["item_set"]), f"set {asked['item_set']}")
        stage = _found(Stage.objects.filter(project=project, slug=asked["stage"]), f"stage {asked['stage']}")
        by = _found(Person.objects.filter(username=asked["by"]), f"person {asked['by']}") if asked["by"] else None
        if not asked["file"].is_file():
            raise CommandError(f"There is no file {asked['file']}.")
        try:
            job = log_importing.import_log(
                project=project,
                by=by,
                file=asked["file"],
                item_set=item_set,
                stage_version=stage.versions.get(is_current=True),
                model=asked["model"] or model_beside(asked["file"]),
                run_name=asked["name"],
                id_field=asked["id_field"],
                accept_changed=asked["accept_changed"],
                dry_run=asked["dry_run"],
            )
        except ImportRefused as refused:
            for problem in refused.problems:
                self.stderr.write(str(problem["message"]))
            raise CommandError(str(refused)) from refused
        except GoldpanelError as refused:
            raise CommandError(str(refused)) from refused
        if asked["dry_run"]:
            self.stdout.write("Nothing was kept.")
        for line in report_lines(job.report):
            self.stdout.write(line)


def report_lines(report: dict[str, Any]) -> list[str]:
    """The report of a log in words, one fact a line."""
    lines = [
        f"{report['file']}: {report['format']}, {report['records']:,} records",
        f"{report['matched']:,} matched ({report['by_id']:,} by id, {report['by_hash']:,} by content, "
        f"{report['by_text']:,} by text; {report['unchecked']:,} by id alone), {report['errored']:,} of them in error",
        f"{report['unmatched']:,} unmatched, {report['changed']:,} changed, {report['duplicates']:,} repeated "
        f"({report['duplicates_that_differ']:,} with another answer)",
    ]
    for kind in ("unmatched", "changed", "duplicates"):
        lines += [f"  {kind}: line {row['line']:,}, {row['id'] or 'without id'}" for row in report["first"][kind]]
    for run in report["runs"]:
        outcomes = ", ".join(f"{n:,} {state}" for state, n in run["outcomes"])
        lines.append(f"run {run['name']}: {outcomes}; {run['missing']:,} items without a prediction")
    return lines + [f"Note: {note}" for note in report["notes"]]


def _found(rows: Any, called: str) -> Any:
    row = rows.first()
    if row is None:
        raise CommandError(f"There is no {called}.")
    return row
