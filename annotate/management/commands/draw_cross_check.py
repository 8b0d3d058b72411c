"""Draw a cross-check from the command line: the same service as the page."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import WorkNotPossible
from annotate.models import Person, Stage
from annotate.services.cross_checking import draw_cross_check


class Command(BaseCommand):
    help = "Draw N items that each group wrote, at random, and put them into a stage that is a cross-check."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short address")
        parser.add_argument("stage", help="the stage's short address")
        parser.add_argument("--n", type=int, default=200, help="items of each group (default: 200)")
        parser.add_argument("--seed", type=int, help="instead of the stage's own")
        parser.add_argument("--written-in", metavar="STAGE", help="only what was written in this stage")
        parser.add_argument("--by", metavar="NAME", help="the admin in whose name this is done")

    def handle(self, **asked: Any) -> None:
        stage = self._stage(asked["project"], asked["stage"])
        written_in = self._stage(asked["project"], asked["written_in"]) if asked["written_in"] else None
        by = None
        if asked["by"] and (by := Person.objects.filter(username=asked["by"]).first()) is None:
            raise CommandError(f"There is no person {asked['by']}.")
        seed = stage.seed if asked["seed"] is None else asked["seed"]
        try:
            made = draw_cross_check(stage=stage, by=by, n=asked["n"], seed=seed, written_in=written_in)
        except WorkNotPossible as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Seed {made.seed}.")
        for one in made.groups:
            short = f"; {one.n_short:,} fewer than asked for, taken whole" if one.n_short else ""
            self.stdout.write(f"Group {one.group}: {one.n_drawn:,} of {one.n_population:,} items{short}.")

    def _stage(self, project: str, slug: str) -> Stage:
        stage = Stage.objects.filter(project__slug=project, slug=slug).select_related("project").first()
        if stage is None:
            raise CommandError(f"There is no stage {slug} in a project {project}.")
        return stage
