"""Draw answers of models to be judged from the command line: the same service as the page."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import WorkNotPossible
from annotate.models import Person, Stage
from evaluation.models import JudgeSample, Run
from evaluation.services.judging import Draw, Plan, Told, draw_judge_sample, plan_draw, told_of


class Command(BaseCommand):
    help = "Draw N answers of each run, at random, and put them before the people of a judge stage."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short address")
        parser.add_argument("stage", help="the stage's short address")
        parser.add_argument("runs", nargs="+", help="the runs' names")
        parser.add_argument("--n", type=int, default=300, help="answers of each run, or pair of runs (default: 300)")
        parser.add_argument("--seed", type=int, help="instead of the stage's own")
        parser.add_argument("--rule", choices=JudgeSample.Rule.values, default=JudgeSample.Rule.SAME_ITEMS)
        parser.add_argument("--stratum", default="", help="draw its values in proportion")
        parser.add_argument("--shows", choices=JudgeSample.Shows.values, default=JudgeSample.Shows.ANSWER)
        parser.add_argument(
            "--unanswered",
            choices=JudgeSample.Unanswered.values,
            default=JudgeSample.Unanswered.LEFT_OUT,
            help="what becomes of outcomes other than answered",
        )
        parser.add_argument("--look", action="store_true", help="only say what the draw would come to")
        parser.add_argument("--by", metavar="NAME", help="the admin in whose name this is done")

    def handle(self, **asked: Any) -> None:
        rows = Stage.objects.filter(project__slug=asked["project"], slug=asked["stage"]).select_related("project")
        stage = rows.first()
        if stage is None:
            raise CommandError(f"There is no stage {asked['stage']} in a project {asked['project']}.")
        by = None
        if asked["by"] and (by := Person.objects.filter(username=asked["by"]).first()) is None:
            raise CommandError(f"There is no person {asked['by']}.")
        draw = Draw(
            runs=tuple(self._run(stage, name) for name in asked["runs"]),
            n=asked["n"],
            seed=stage.seed if asked["seed"] is None else asked["seed"],
            rule=asked["rule"],
            stratum=asked["stratum"],
            shows=asked["shows"],
            unanswered=asked["unanswered"],
        )
        try:
            if asked["look"]:
                self._tell(draw.seed, plan_draw(stage=stage, draw=draw))
            else:
                self._tell(draw.seed, told_of(draw_judge_sample(stage=stage, by=by, draw=draw)))
        except WorkNotPossible as refusal:
            raise CommandError(str(refusal)) from refusal

    def _run(self, stage: Stage, name: str) -> Run:
        run = Run.objects.filter(project=stage.project, name=name).select_related("stage_version").first()
        if run is None:
            raise CommandError(f"There is no run {name} in this project.")
        return run

    def _tell(self, seed: int, plan: Plan | Told) -> None:
        self.stdout.write(f"Seed {seed}.")
        for part in plan.parts:
            short = f"; {part.n_short:,} fewer than asked for, all taken" if part.n_short else ""
            self.stdout.write(f"{' / '.join(part.runs)}: {part.n_drawn:,} of {part.n_population:,} items{short}.")
        self.stdout.write(f"To judge: {plan.n_places:,}; {plan.n_merged:,} more are equal to one of these.")
        if plan.n_same:
            self.stdout.write(f"Ties without asking, both answers equal: {plan.n_same:,}.")
        for outcome, n in plan.nothing.items():
            self.stdout.write(f"Nothing to judge, {outcome}: {n:,}.")
