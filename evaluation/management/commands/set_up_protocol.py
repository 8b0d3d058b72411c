"""Set a project up from a published protocol: the same service as the page."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import ProtocolNotPossible, UnknownProtocol
from annotate.models import Person, Project
from evaluation.services import presets


class Command(BaseCommand):
    help = "Make the draft stages, feeds and guidelines of a published protocol in a project: all of them, or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short address")
        parser.add_argument("name", help="of the protocol, such as pinocchio")
        parser.add_argument("--look", action="store_true", help="only say what would be made")
        parser.add_argument("--by", metavar="NAME", help="the admin in whose name this is done")

    def handle(self, **asked: Any) -> None:
        project = Project.objects.filter(slug=asked["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {asked['project']}.")
        by = None
        if asked["by"] and (by := Person.objects.filter(username=asked["by"]).first()) is None:
            raise CommandError(f"There is no person {asked['by']}.")
        try:
            preset = presets.get_preset(asked["name"])
            if not asked["look"]:
                presets.set_up(project=project, by=by, preset=preset)
        except (ProtocolNotPossible, UnknownProtocol) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{preset.title}, version {preset.version}:")
        for number, plan in enumerate(preset.human.stages, start=1):
            self.stdout.write(f"{number}. {plan.title} ({plan.slug}, {plan.kind})")
        for need in preset.human.brings:
            self.stdout.write(f"To bring: {need}")
