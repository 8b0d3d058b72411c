"""The environment is read once, checked wholly, and documented from the same table."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import RequestFactory
from django.urls import ResolverMatch

from config.env import PROJECT, SETTINGS, SettingsInvalid, describe_settings, load_env_file, read_settings
from config.keys import load_or_make_keys
from config.logs import RouteInsteadOfPath

KEY_A, KEY_B = "a" * 32, "b" * 32
PRODUCTION = {
    "GOLDPANEL_MODE": "production",
    "GOLDPANEL_SECRET_KEY": KEY_A,
    "GOLDPANEL_CODE_KEY": KEY_B,
    "GOLDPANEL_ALLOWED_HOSTS": "panel.example.org,.study.example.org",
}


def problems_of(environment: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsInvalid) as refused:
        read_settings(environment)
    return refused.value.problems


def in_a_new_process(code: str, environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code with this environment and nothing of ours; its data folder is a new one."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}}
    ours = {"GOLDPANEL_ENV_FILE": "", "GOLDPANEL_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=PROJECT, env=kept | ours | environment, capture_output=True, text=True)


def loaded(names: list[str], environment: dict[str, str], folder: Path) -> dict[str, object]:
    """Django's settings of these names as a new process with this environment sees them."""
    code = "import json; from django.conf import settings as s; "
    code += f"print(json.dumps({{n: getattr(s, n) for n in {names!r}}}, default=str))"
    done = in_a_new_process(code, environment, folder)
    assert done.returncode == 0, done.stderr
    values: dict[str, object] = json.loads(done.stdout)
    return values


def test_the_documentation_is_the_table():
    written = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert written == describe_settings(), "run: python -m config.env > docs/settings.md"


def test_every_documented_setting_is_read_somewhere():
    readers = [path for path in (PROJECT / "config").glob("*.py") if path.name != "env.py"]
    text = "".join(path.read_text(encoding="utf-8") for path in readers)
    assert [setting.name for setting in SETTINGS if f'"{setting.name}"' not in text] == []


def test_nothing_needs_to_be_set():
    values = read_settings({})
    assert values.keys() == {setting.name for setting in SETTINGS}
    assert values["GOLDPANEL_MODE"] == "development"
    assert values["DATABASE_URL"] is None
    assert values["GOLDPANEL_MAX_ITEM_BYTES"] == 2_000_000


def test_an_empty_value_counts_as_absent():
    assert read_settings({"GOLDPANEL_PORT": "  ", "DATABASE_URL": ""}) == read_settings({})


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("GOLDPANEL_MODE", "prod", "one of demo, development, production"),
        ("GOLDPANEL_DEBUG", "maybe", "true or false"),
        ("GOLDPANEL_PORT", "80a", "a whole number from 1 to 65,535"),
        ("GOLDPANEL_PORT", "70000", "a whole number from 1 to 65,535"),
        ("GOLDPANEL_PORT", "-1", "a whole number"),
        ("GOLDPANEL_PORT", "١٢", "a whole number"),
        ("GOLDPANEL_PORT", "80_", "a whole number"),
        ("GOLDPANEL_HOST", "panel.example.org", "an IP address"),
        ("GOLDPANEL_MAX_ITEM_BYTES", "2MB", "a whole number"),
        ("GOLDPANEL_LEASE_MINUTES", "0", "a whole number from 1"),
        ("GOLDPANEL_ALLOWED_HOSTS", "https://panel.example.org", "host names"),
        ("GOLDPANEL_ALLOWED_HOSTS", "*", "host names"),
        ("GOLDPANEL_TRUSTED_ORIGINS", "panel.example.org", "addresses such as https://"),
        ("GOLDPANEL_TRUSTED_PROXIES", "10.0.0.300", "IP addresses or networks"),
        ("GOLDPANEL_TRUSTED_PROXIES", "10.0.0.1/8", "IP addresses or networks"),
        ("GOLDPANEL_PRIVATE_ENDPOINTS", "127.0.0.1", "host:port pairs"),
        ("GOLDPANEL_PRIVATE_ENDPOINTS", "http://127.0.0.1:8080", "host:port pairs"),
        ("GOLDPANEL_PRIVATE_ENDPOINTS", "127.0.0.1:99999", "host:port pairs"),
        ("GOLDPANEL_DATA", "manage.py", "a folder"),
        ("GOLDPANEL_SECRET_KEY", "short", "at least 32"),
        ("DATABASE_URL", "mysql://u:p@h/n", "postgres://"),
        ("DATABASE_URL", "postgres://host-without-name", "postgres://"),
        ("DATABASE_URL", "postgres://host:port/name", "postgres://"),
        ("DATABASE_URL", "sqlite://:memory:", "sqlite:///path"),
        ("REDIS_URL", "localhost:6379", "redis://"),
        ("REDIS_URL", "redis://host/zero", "redis://"),
        ("GOLDPANEL_LOG_LEVEL", "LOUD", "one of DEBUG"),
    ],
)
def test_a_malformed_value_is_refused_by_name_with_what_is_expected(name, text, expected):
    (problem,) = problems_of({name: text})
    assert problem.startswith(f"{name}: expected ")
    assert expected in problem


def test_all_problems_are_told_at_once():
    problems = problems_of({**PRODUCTION, "GOLDPANEL_PORT": "x", "GOLDPANEL_DEBUG": "1", "GOLDPANEL_ALLOWED_HOSTS": ""})
    assert [problem.partition(":")[0] for problem in problems] == [
        "GOLDPANEL_PORT",
        "GOLDPANEL_DEBUG",
        "GOLDPANEL_ALLOWED_HOSTS",
    ]


@pytest.mark.parametrize("name", ["GOLDPANEL_SECRET_KEY", "GOLDPANEL_CODE_KEY", "DATABASE_URL", "REDIS_URL"])
def test_a_refused_secret_is_not_repeated(name):
    (problem,) = problems_of({name: "hunter2"})
    assert "hunter2" not in problem


def test_a_misspelt_name_is_refused_and_the_right_one_named():
    (problem,) = problems_of({"GOLDPANEL_ALOWED_HOSTS": "panel.example.org"})
    assert problem == "GOLDPANEL_ALOWED_HOSTS: no such setting; GOLDPANEL_ALLOWED_HOSTS was probably meant"


def test_keys_of_endpoints_are_not_taken_for_misspelt_settings():
    read_settings({"GOLDPANEL_KEY_OPENAI": "sk-x", "GOLDPANEL_KEY_OPENAI_HOSTS": "api.openai.com"})


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"GOLDPANEL_DEBUG": "true"}, "GOLDPANEL_DEBUG"),
        ({"GOLDPANEL_SECRET_KEY": ""}, "GOLDPANEL_SECRET_KEY"),
        ({"GOLDPANEL_CODE_KEY": ""}, "GOLDPANEL_CODE_KEY"),
        ({"GOLDPANEL_CODE_KEY": KEY_A}, "GOLDPANEL_CODE_KEY"),
        ({"GOLDPANEL_ALLOWED_HOSTS": ""}, "GOLDPANEL_ALLOWED_HOSTS"),
    ],
)
def test_production_refuses_what_is_fit_for_trying_out_only(change, name):
    read_settings(PRODUCTION)
    (problem,) = problems_of(PRODUCTION | change)
    assert problem.startswith(f"{name}: expected ")


def test_a_process_with_bad_settings_ends_without_a_traceback(tmp_path):
    done = in_a_new_process("import django; django.setup()", {"GOLDPANEL_PORT": "x", "REDIS_URL": "y"}, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "These settings cannot be used:",
        "  REDIS_URL: expected an address such as redis://host:6379/0",
        "  GOLDPANEL_PORT: expected a whole number from 1 to 65,535; got 'x'",
    ]


def test_cookies_and_static_files_of_production_are_strict(tmp_path):
    names = ["SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "DEBUG", "CSRF_TRUSTED_ORIGINS", "STORAGES"]
    names.append("SECURE_HSTS_SECONDS")
    values = loaded(names, PRODUCTION, tmp_path)
    assert values["SESSION_COOKIE_SECURE"] is values["CSRF_COOKIE_SECURE"] is True
    assert values["SECURE_HSTS_SECONDS"] == 31_536_000
    # Elsewhere a browser would remember it for `localhost`, and reach no other program there any more.
    assert loaded(["SECURE_HSTS_SECONDS"], {}, tmp_path / "other") == {"SECURE_HSTS_SECONDS": 0}
    assert values["DEBUG"] is False
    assert values["CSRF_TRUSTED_ORIGINS"] == ["https://panel.example.org", "https://*.study.example.org"]
    assert "Manifest" in values["STORAGES"]["staticfiles"]["BACKEND"]
    assert not (tmp_path / "keys.json").exists()


def test_two_addresses_switch_to_postgresql_and_redis(tmp_path):
    environment = {"DATABASE_URL": "postgres://ann:p%40ss@db.example.org:5433/study", "REDIS_URL": "redis://broker/3"}
    values = loaded(["DATABASES", "CELERY_BROKER_URL", "CELERY_BROKER_TRANSPORT_OPTIONS"], environment, tmp_path)
    database = values["DATABASES"]["default"]
    assert database["ENGINE"] == "config.postgresql"
    parts = ("USER", "PASSWORD", "HOST", "PORT", "NAME")
    assert [database[part] for part in parts] == ["ann", "p@ss", "db.example.org", 5433, "study"]
    assert (database["CONN_MAX_AGE"], database["CONN_HEALTH_CHECKS"]) == (600, True)
    assert values["CELERY_BROKER_URL"] == "redis://broker/3"
    # A message is not handed out again while one works on it: one hour against ten minutes.
    assert values["CELERY_BROKER_TRANSPORT_OPTIONS"]["visibility_timeout"] == 3600


def test_without_addresses_everything_lies_in_the_data_folder(tmp_path):
    values = loaded(["DATABASES", "CELERY_BROKER_TRANSPORT_OPTIONS", "STORAGES"], {}, tmp_path)
    assert values["DATABASES"]["default"]["NAME"] == str(tmp_path / "goldpanel.sqlite3")
    assert values["CELERY_BROKER_TRANSPORT_OPTIONS"] == {"folder": str(tmp_path / "broker")}
    assert values["STORAGES"]["default"]["OPTIONS"]["location"] == str(tmp_path / "files")


def test_new_files_and_keys_are_for_their_owner_only(tmp_path):
    folder = tmp_path / "data"
    code = "from django.conf import settings; settings.SECRET_KEY; open(settings.DATA / 'new', 'w').close()"
    assert in_a_new_process(code, {}, folder).returncode == 0
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    assert modes == {"data": 0o700, "new": 0o600, "keys.json": 0o600}


def test_processes_that_start_together_agree_on_the_keys(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(lambda _: load_or_make_keys(tmp_path), range(64)))
    assert all(key == keys[0] for key in keys)
    assert keys[0]["secret_key"] != keys[0]["code_key"]
    assert min(len(key) for key in keys[0].values()) >= 32
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]


def test_a_given_key_wins_over_the_generated_one(tmp_path):
    values = loaded(["SECRET_KEY", "CODE_KEY"], {"GOLDPANEL_SECRET_KEY": KEY_A}, tmp_path)
    generated = json.loads((tmp_path / "keys.json").read_text())
    assert values == {"SECRET_KEY": KEY_A, "CODE_KEY": generated["code_key"]}


def test_the_env_file_is_read_and_the_environment_wins(tmp_path):
    file = tmp_path / "study.env"
    file.write_text("# our study\nexport GOLDPANEL_LEASE_MINUTES=7\nGOLDPANEL_IDLE_SECONDS='9'\n")
    environment = {"GOLDPANEL_ENV_FILE": str(file), "GOLDPANEL_IDLE_SECONDS": "11"}
    values = loaded(["LEASE_MINUTES", "IDLE_SECONDS"], environment, tmp_path / "data")
    assert values == {"LEASE_MINUTES": 7, "IDLE_SECONDS": 11}


def test_a_line_of_the_env_file_that_would_be_ignored_is_refused(tmp_path):
    file = tmp_path / ".env"
    file.write_text("GOLDPANEL_PORT=8001\n\nGOLDPANEL_CODE_KEY = secret\n")
    with pytest.raises(SettingsInvalid) as refused:
        load_env_file(file)
    assert refused.value.problems == [".env, line 3: expected NAME=value, without spaces before the ="]


@pytest.mark.embedded
def test_sqlite_is_opened_for_many_writers_and_power_cuts(db):
    def pragma(name: str) -> object:
        with connection.cursor() as cursor:
            return cursor.execute(f"PRAGMA {name}").fetchone()[0]

    assert (pragma("journal_mode"), pragma("synchronous"), pragma("foreign_keys")) == ("wal", 2, 1)  # 2 is FULL
    assert pragma("busy_timeout") == 20_000
    assert connection.transaction_mode == "IMMEDIATE"


def test_every_page_carries_the_policy_headers(client, db):
    headers = client.get("/no-such-page/").headers
    policy = {part.split()[0]: part.split()[1:] for part in headers["Content-Security-Policy"].split(";")}
    assert policy == {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_passwords_are_hashed_with_argon2(tmp_path):
    (first, *_) = loaded(["PASSWORD_HASHERS"], {}, tmp_path)["PASSWORD_HASHERS"]
    assert first == "django.contrib.auth.hashers.Argon2PasswordHasher"


def logged(request) -> str:
    record = logging.LogRecord("django.request", logging.WARNING, "", 0, "%s: %s", ("Gone", request.path), None)
    record.request = request
    assert RouteInsteadOfPath().filter(record)
    return record.getMessage()


def test_logs_name_the_route_and_not_the_invite(rf: RequestFactory):
    request = rf.get("/join/s3cret-token/?next=/x")
    assert logged(request) == "Gone: (no such page)"
    request.resolver_match = ResolverMatch(lambda: None, (), {}, route="join/<str:token>/")
    assert logged(request) == "Gone: /join/<str:token>/"
    assert "route" in settings.LOGGING["handlers"]["console"]["filters"]
