"""Settings of the tests: the real ones in a folder of their own, so that no test meets a developer's data."""

import os
import tempfile

if not os.environ.get("GOLDPANEL_DATA"):
    # Processes that tests start inherit the folder through the environment; it goes when this one ends.
    _folder = tempfile.TemporaryDirectory(prefix="goldpanel-tests-", ignore_cleanup_errors=True)
    os.environ["GOLDPANEL_DATA"] = _folder.name
os.environ["GOLDPANEL_ENV_FILE"] = ""

# Side by side (`-n`), each process of pytest has data and a broker of its own; pytest-django gives it a database.
if (beside := os.environ.get("PYTEST_XDIST_WORKER")) and not os.environ["GOLDPANEL_DATA"].endswith(f"/{beside}"):
    os.environ["GOLDPANEL_DATA"] += f"/{beside}"
    if address := os.environ.get("REDIS_URL"):
        server, _, number = address.rpartition("/")
        os.environ["REDIS_URL"] = f"{server}/{int(number) + int(beside.removeprefix('gw'))}"

from config.settings import *  # noqa: F403
from config.settings import DATA, DATABASES

# A file, not memory: threads and worker processes must meet the same database.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": str(DATA / "test.sqlite3")}
# argon2 is slow on purpose; tests/test_settings.py checks the real list.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["*"]
METRICS_TOKEN = "a-token-of-the-tests-0123456789abcdef"
