"""`manage.py recount [--check]`: whether every kept number is what its rows add up to; without --check made so."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.services.recounting import recount


class Command(BaseCommand):
    help = (
        "Count everything again that is kept beside the rows it comes from: places of items, what people did, votes, "
        "sizes of sets and runs. Tells each difference and makes it right; safe while people work."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if anything differs")

    def handle(self, *, check: bool, **options: Any) -> None:
        n = 0
        for difference in recount(repair=not check):
            self.stdout.write(str(difference))
            n += 1
        if check and n:
            raise CommandError(f"Differences: {n}. ./goldpanel manage recount makes them right.")
        self.stdout.write(f"Differences made right: {n}." if n else "Every number is what its rows add up to.")
