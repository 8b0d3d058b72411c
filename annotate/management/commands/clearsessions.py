"""Django's command, which comes with an application that is not installed: the sessions are annotate's."""

from django.contrib.sessions.management.commands.clearsessions import Command

__all__ = ["Command"]
