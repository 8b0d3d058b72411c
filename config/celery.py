"""The Celery app; its settings are the CELERY_ ones of config/settings.py.

The broker only rings a bell: what is to be done, and when, is in the rows of the database. So messages carry ids,
results are ignored, Celery retries nothing, and a lost message costs a few seconds: the scheduler rings again.
"""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Django's checks load every page and the API, which no worker needs; `manage check` is for that.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
TRANSPORT_ALIASES["goldpanel"] = "config.broker:Transport"

app = Celery("goldpanel")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def log_as_the_web_server_does(**_: Any) -> None:
    """One logging configuration for all processes; a receiver here keeps Celery from installing its own."""
    from logging.config import dictConfig

    from django.conf import settings

    dictConfig(settings.LOGGING)
