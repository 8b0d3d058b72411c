"""`prepare`: whatever must be done before the servers of this version start; nothing, and quickly, the second time."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from config.health import missing_migrations


class Command(BaseCommand):
    help = "Bring the database up to date and, in production, collect the static files."
    # They read every page's address and every form: half of the time that this takes. `manage check` is for that.
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        # Planning takes a few queries; `migrate` itself goes through every model's permissions each time.
        if missing_migrations():
            call_command("migrate", interactive=False, verbosity=0)
        if settings.PRODUCTION:
            call_command("collectstatic", interactive=False, verbosity=0)
