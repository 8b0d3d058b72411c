"""The client of docs/api.md does what the page says it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.db import connection

from annotate.models import ApiToken, ImportJob
from annotate.services import importing
from annotate.services.resolving import resolve_due
from config.env import PROJECT
from tests.api_client import make_api_token
from tests.factories import make_member, make_project, make_stage

PAGE = (PROJECT / "docs" / "api.md").read_text(encoding="utf-8")


class Worker(threading.Thread):
    """Takes up imports and counts votes, as a worker and a scheduler would."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stopped = threading.Event()

    def run(self) -> None:
        try:
            while not self.stopped.wait(0.05):
                for pk in ImportJob.objects.filter(state="waiting").values_list("pk", flat=True):
                    importing.run_import(job_id=pk)
                resolve_due(limit=100)
        finally:
            connection.close()


@pytest.fixture
def worker():
    thread = Worker()
    thread.start()
    yield thread
    thread.stopped.set()
    thread.join(timeout=20)


@pytest.mark.django_db(transaction=True)
def test_the_client_imports_answers_and_reads_how_the_votes_ended(live_server, worker, tmp_path: Path):
    project = make_project()
    stage = make_stage(project, overlap=1, order="sequential")
    (client,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    program = tmp_path / "client.py"
    program.write_text(client, encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "GOLDPANEL": live_server.url,
        "ADMIN_TOKEN": make_api_token(make_member(project, "admin"), ("read", "run")),
        "ANNOTATOR_TOKEN": make_api_token(make_member(project), ("work",)),
    }
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "done 2 items ",
        "done 2 answered",
        "0017 majority yes",
        "0018 majority no",
    ]
    assert stage.stage_items.count() == 2


def test_the_page_names_every_scope():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(ApiToken.Scope.values)
