"""Restore an archive of a project from the command line: the same service as the page, without its limit of size."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exceptions import ArchiveRefused
from annotate.models import Person
from annotate.services.archiving import restore


class Command(BaseCommand):
    help = "Make a project of an archive: all of it or nothing. Exit code 1 with what is wrong, and where."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--admin", required=True, metavar="NAME", help="who will run the project")
        parser.add_argument("--slug", default="", help="its short address, instead of the archived one")
        parser.add_argument(
            "--join-people",
            action="store_true",
            help="people here who have the same pseudonyms are the same people; else they are refused",
        )

    def handle(self, *, file: Path, admin: str, slug: str, join_people: bool, **options: Any) -> None:
        by = Person.objects.filter(username=admin, is_active=True).first()
        if by is None:
            raise CommandError(f"There is no person {admin} here who can sign in.")
        try:
            archive = file.open("rb")
        except OSError as fault:
            raise CommandError(f"{file} cannot be opened: {fault.strerror}.") from fault
        with archive:
            try:
                restored = restore(file=archive, by=by, slug=slug, joins_people=join_people)
            except ArchiveRefused as refusal:
                for problem in refusal.problems[1:]:
                    line = f", line {problem['line']}" if problem["line"] else ""
                    self.stderr.write(f"{problem['member']}{line}: {problem['message']}.")
                raise CommandError(str(refusal)) from refusal
        report = restored.report
        self.stdout.write(
            f"Restored as {restored.project.slug}: {report['rows']['item']:,} items, "
            f"{report['rows']['annotation']:,} answers, {report['n_people']:,} people, who cannot sign in here."
        )
