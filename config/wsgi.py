"""What the web server calls."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from config.requests import LoggedRequests  # noqa: E402  # it reads the settings

application = LoggedRequests()
