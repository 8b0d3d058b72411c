"""The commands for backup and restore in docs/operations.md, run as they stand there while somebody writes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection

from config.env import PROJECT
from config.testing import clean_environment
from tests.workers import test_database_url

DOCUMENT = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8")
TRIED = dict(re.findall(r"<!-- tried: (\S+) -->\n```sh\n(.*?)```", DOCUMENT, re.DOTALL))
# The launcher in the environment of the tests, where the bootstrap would make one of its own.
LAUNCHER = f'"{sys.executable}" -m config.launcher'


class Installation:
    """A data folder and a database; `environment` leads a process there."""

    def __init__(self, folder: Path, database_url: str = "") -> None:
        self.folder = folder
        self.environment = clean_environment(folder) | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "GOLDPANEL_DATA": str(folder),
            "DATABASE_URL": database_url,
        }

    def run(self, *command: str) -> str:
        done = subprocess.run(command, cwd=PROJECT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def tried(self, name: str, backup: Path) -> None:
        """A block of the document, stopped by its first failure."""
        script = TRIED[name].replace("./goldpanel", LAUNCHER)
        self.environment["BACKUP"] = str(backup)
        self.run("bash", "-euo", "pipefail", "-c", script)

    def python(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "tests.installation", *arguments)

    @contextmanager
    def somebody_writes(self, acknowledged: list[str]) -> Iterator[None]:
        """Answers are given in another process; those that are acknowledged before the block's body are listed."""
        command = [sys.executable, "-m", "tests.installation", "write"]
        writer = subprocess.Popen(command, cwd=PROJECT, env=self.environment, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        try:
            acknowledged += [writer.stdout.readline().strip() for _ in range(5)]
            yield
            assert writer.poll() is None, "it had stopped writing before the backup was done"
        finally:
            writer.kill()
            writer.communicate()


def is_backed_up_and_restored(
    pair: str, here: Installation, restored_to: Callable[[str], Installation], tmp_path: Path
):
    here.run(*LAUNCHER.replace('"', "").split(), "manage", "migrate", "--verbosity", "0")
    code = here.python("make")

    # At rest: every row of every table.
    here.tried(f"backup-{pair}", tmp_path / "first")
    there = restored_to("first")
    there.tried(f"restore-{pair}", tmp_path / "first")
    told = json.loads(there.python("check", code))
    assert told == json.loads(here.python("check", code))
    assert len(told["client_keys"]) == 30
    assert told["signed_in"].startswith("P-")

    # While somebody writes: whole, with every answer that was acknowledged when the backup began.
    acknowledged: list[str] = []
    with here.somebody_writes(acknowledged):
        here.tried(f"backup-{pair}", tmp_path / "second")
    there = restored_to("second")
    there.tried(f"restore-{pair}", tmp_path / "second")
    assert len(acknowledged) == 5
    assert set(acknowledged) <= set(json.loads(there.python("check", code))["client_keys"])

    # Nobody else on the machine reads a backup.
    modes = {path.stat().st_mode & 0o077 for path in tmp_path.rglob("*")}
    assert modes == {0}


@pytest.mark.embedded
def test_sqlite_is_backed_up_and_restored_as_documented(tmp_path: Path):
    is_backed_up_and_restored(
        "sqlite", Installation(tmp_path / "here"), lambda name: Installation(tmp_path / f"restored-{name}"), tmp_path
    )


@pytest.mark.services
@pytest.mark.django_db
def test_postgresql_is_backed_up_and_restored_as_documented(tmp_path: Path):
    made: list[str] = []

    def new_database(name: str) -> str:
        name = f"goldpanel_backup_{os.getpid()}_{name}"
        manage_databases(f'CREATE DATABASE "{name}"')
        made.append(name)
        return f"{test_database_url().rpartition('/')[0]}/{name}"

    def installation(name: str) -> Installation:
        return Installation(tmp_path / f"at-{name}", new_database(name))

    try:
        is_backed_up_and_restored("postgresql", installation("here"), installation, tmp_path)
    finally:
        for name in made:
            manage_databases(f'DROP DATABASE "{name}" WITH (FORCE)')


def manage_databases(statement: str) -> None:
    """On a connection of its own: PostgreSQL makes no database inside a transaction."""
    import psycopg2

    values = connection.settings_dict
    outside = psycopg2.connect(
        host=values["HOST"], port=values["PORT"] or None, user=values["USER"], password=values["PASSWORD"] or None,
        dbname=values["NAME"],
    )  # fmt: skip
    try:
        outside.autocommit = True
        with outside.cursor() as cursor:
            cursor.execute(statement)
    finally:
        outside.close()


def test_every_block_that_is_said_to_be_tried_is():
    assert set(TRIED) == {f"{what}-{pair}" for what in ("backup", "restore") for pair in ("sqlite", "postgresql")}
