"""`demo_setup`: the sample project, ready to click through, and how to sign in to it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate.exceptions import GoldpanelError
from evaluation.demo import sign_ins
from evaluation.services.demo import set_up_demo


class Command(BaseCommand):
    help = "Make the sample project with its people, items and baselines, or what is missing of it."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base-url", default="http://127.0.0.1:8000", help="the address that is printed")

    def handle(self, *, base_url: str, **options: Any) -> None:
        call_command("prepare")
        try:
            found = set_up_demo(folder=settings.DATA)
        except GoldpanelError as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(f"Sign in at {base_url}/sign-in/")
        for entry in found:
            name = f"user {entry.username}, password" if entry.username else f"{entry.pseudonym}, code"
            self.stdout.write(f"  {entry.role:<14} {name:<28} {entry.secret}")
        self.stdout.write(f"Kept in {settings.DATA / sign_ins.NAME}, which only you can read.")
