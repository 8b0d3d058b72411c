"""How the platform is put together and run: settings, addresses, the broker, the launcher's commands."""

# Django and Celery import this package first; the Celery app must exist before any task is declared.
from config.celery import app as celery_app

__all__ = ["celery_app"]
