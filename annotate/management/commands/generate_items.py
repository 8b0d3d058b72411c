"""Generate items from the command line: the same recipe, and the same import of it, as the page."""

from __future__ import annotations

from argparse import ArgumentParser
from io import BytesIO
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import ImportRefused
from annotate.management.commands.import_items import report_lines
from annotate.models import Person, Project, Stage
from annotate.services import importing
from annotate.sources.errors import SourceError
from annotate.sources.structext import EDITIONS, LANGUAGES, TASKS, Recipe, tasks_of


class Command(BaseCommand):
    help = "Generate structured texts with questions and derived gold: all or nothing. Exit code 1 with the reason."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short address")
        parser.add_argument("--language", action="append", default=[], choices=LANGUAGES, help="all of its tasks")
        parser.add_argument("--task", action="append", default=[], choices=TASKS, help="repeat it; all without any")
        parser.add_argument("--depth", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
        parser.add_argument("--width", type=int, nargs="+", default=[1, 2, 3], help="(default: 1 2 3)")
        parser.add_argument("--per-cell", type=int, default=1, help="items of each task, depth and width (default: 1)")
        parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same items (default: 1)")
        parser.add_argument("--attributes-per-level", type=int, default=6, help="of a node, at most (default: 6)")
        parser.add_argument("--edition", choices=EDITIONS, default="corrected", help=_editions_help())
        parser.add_argument("--stage", help="put the items into this stage (its short address)")
        parser.add_argument("--recipe", action="store_true", help="print the recipe, as import reads it, and end")
        parser.add_argument("--dry-run", action="store_true", help="check and report everything, keep nothing")
        parser.add_argument("--by", metavar="NAME", help="the admin in whose name this is done")

    def handle(self, **asked: Any) -> None:
        try:
            recipe = Recipe(
                tasks=tasks_of(asked["language"], asked["task"]),
                depths=tuple(asked["depth"]),
                widths=tuple(asked["width"]),
                per_cell=asked["per_cell"],
                seed=asked["seed"],
                edition=asked["edition"],
                attributes_per_level=asked["attributes_per_level"],
            )
        except SourceError as fault:
            raise CommandError(fault.message) from fault
        if asked["recipe"]:
            self.stdout.write(recipe.as_file().decode())
            return
        project = _found(Project.objects.filter(slug=asked["project"]), f"project {asked['project']}")
        stage = None
        if asked["stage"]:
            stage = _found(Stage.objects.filter(project=project, slug=asked["stage"]), f"stage {asked['stage']}")
        by = _found(Person.objects.filter(username=asked["by"]), f"person {asked['by']}") if asked["by"] else None
        try:
            job = importing.import_file(
                project=project,
                by=by,
                file=BytesIO(recipe.as_file()),
                name=str(importing.recipe_file(recipe).name),
                stage=stage,
                dry_run=asked["dry_run"],
            )
        except ImportRefused as refused:
            for problem in refused.problems:
                self.stderr.write(str(problem["message"]))
            raise CommandError(str(refused)) from refused
        if asked["dry_run"]:
            self.stdout.write("Nothing was kept.")
        for line in report_lines(job.report):
            self.stdout.write(line)


def _editions_help() -> str:
    return "; ".join(EDITIONS.values())


def _found(rows: Any, called: str) -> Any:
    row = rows.first()
    if row is None:
        raise CommandError(f"There is no {called}.")
    return row
