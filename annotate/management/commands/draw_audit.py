"""Draw an audit from the command line: the same service as the page."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import WorkNotPossible
from annotate.models import ItemSet, Person, Stage
from annotate.services import auditing


class Command(BaseCommand):
    help = "Draw K labels of every stratum, at random, and put them into a stage that audits."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short address")
        parser.add_argument("stage", help="the stage's short address")
        parser.add_argument("--field", default="label", help="whose labels are audited (default: label)")
        parser.add_argument("--label-set", default="", help="of gold, where there are several")
        parser.add_argument("--decided-in", metavar="STAGE", help="audit what was decided here, not the gold labels")
        parser.add_argument("--of", metavar="ITEM_SET", help="only the items of this set")
        parser.add_argument("--strata", nargs="*", default=[], metavar="KEY", help="strata that are combined")
        parser.add_argument("--without-label", action="store_true", help="the label itself is no stratum")
        parser.add_argument("--k", type=int, default=10, help="items of each stratum (default: 10)")
        parser.add_argument("--seed", type=int, help="instead of the stage's own")
        parser.add_argument("--plan", action="store_true", help="say what the draw would give, and draw nothing")
        parser.add_argument("--by", metavar="NAME", help="the admin in whose name this is done")

    def handle(self, **asked: Any) -> None:
        stage = self._stage(asked["project"], asked["stage"])
        by = None
        if asked["by"] and (by := Person.objects.filter(username=asked["by"]).first()) is None:
            raise CommandError(f"There is no person {asked['by']}.")
        decided_in = self._stage(asked["project"], asked["decided_in"]) if asked["decided_in"] else None
        draw: dict[str, Any] = {
            "stage": stage,
            "labels": auditing.Labels(asked["field"], asked["label_set"], decided_in, self._population(stage, asked)),
            "k": asked["k"],
            "keys": asked["strata"],
            "by_label": not asked["without_label"],
            "seed": stage.seed if asked["seed"] is None else asked["seed"],
        }
        try:
            plan = auditing.plan_draw(**draw) if asked["plan"] else auditing.draw_audit(by=by, **draw)
        except WorkNotPossible as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{'Planned' if asked['plan'] else 'Drawn'} by seed {draw['seed']}.")
        for stratum in plan.strata:
            short = f"; {stratum.n_short:,} fewer than asked for, taken whole" if stratum.n_short else ""
            name = ", ".join(stratum.values) or "all"
            self.stdout.write(f"{name}: {stratum.n_drawn:,} of {stratum.n_population:,}{short}.")
        left_out = f"{plan.n_unlabelled:,} without a label, {plan.n_excluded:,} excluded"
        self.stdout.write(f"In all {plan.n_drawn:,} of {plan.n_population:,}; left out: {left_out}.")

    def _population(self, stage: Stage, asked: dict[str, Any]) -> ItemSet | None:
        if not asked["of"]:
            return None
        found = stage.project.item_sets.filter(name=asked["of"]).first()
        if found is None:
            raise CommandError(f"There is no item set {asked['of']} in the project {asked['project']}.")
        return found

    def _stage(self, project: str, slug: str) -> Stage:
        stage = Stage.objects.filter(project__slug=project, slug=slug).select_related("project").first()
        if stage is None:
            raise CommandError(f"There is no stage {slug} in a project {project}.")
        return stage
