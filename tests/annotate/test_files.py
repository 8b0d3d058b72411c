"""Files: what is kept, under which name, and what is known of it."""

from __future__ import annotations

import hashlib
import io
import stat
from pathlib import Path

import pytest
from django.core.files.base import File

from annotate.services.files import store_file
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def test_size_and_hash_are_those_of_the_bytes_and_the_name_chooses_no_path():
    content = b"id,question\n" + b"x" * 200_000
    stored = store_file(
        project=make_project(),
        purpose="upload",
        name="../../etc/passwd",
        media_type="text/csv",
        content=File(io.BytesIO(content)),
    )
    stored.refresh_from_db()
    assert (stored.n_bytes, stored.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert stored.name == "../../etc/passwd"
    assert "passwd" not in stored.file.name
    with stored.file.open() as kept:
        assert kept.read() == content


def test_a_kept_file_is_nobody_elses_on_the_machine():
    stored = store_file(project=make_project(), purpose="export", name="a.csv", media_type="text/csv", content=b"1")
    path = Path(stored.file.path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
