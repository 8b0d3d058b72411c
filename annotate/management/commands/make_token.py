"""Make an API token from the command line, for servers and scripts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from annotate.exceptions import TokenNotPossible
from annotate.models import ApiToken, Person
from annotate.services.tokens import make_token


class Command(BaseCommand):
    help = "Make an API token in the name of a person. Its text is printed this one time, alone on standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("person", help="a user name or a pseudonym")
        parser.add_argument("name", help="what the token is for")
        parser.add_argument(
            "--scope",
            action="append",
            required=True,
            choices=ApiToken.Scope.values,
            help="what it opens; repeat it for more",
        )
        parser.add_argument("--days", type=int, default=90, help="how long it opens it (default: 90)")

    def handle(self, **asked: Any) -> None:
        person = Person.objects.filter(Q(username=asked["person"]) | Q(pseudonym=asked["person"])).first()
        if person is None or not person.is_active:
            raise CommandError(f"There is no active person {asked['person']}.")
        try:
            token, text = make_token(person=person, name=asked["name"][:80], scopes=asked["scope"], days=asked["days"])
        except TokenNotPossible as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stderr.write(f"A token for {person}: {', '.join(token.scopes)}, until {token.expires_at:%d %B %Y}.")
        self.stdout.write(text)
