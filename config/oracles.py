"""The libraries that our statistics are held against, in an environment of their own.

One of them is GPL and one pins an old SciPy, so none may be imported by the platform or by its tests: a test starts
`python()` once, hands it numbers as JSON, and compares what comes back.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from config.env import PROJECT

REQUIREMENTS = PROJECT / "requirements-oracles.txt"
FOLDER = PROJECT / ".venv-oracles"
_STAMP = FOLDER / "goldpanel-stamp"
# The pinned NumPy and SciPy have no wheels for newer ones.
NEWEST_PYTHON = (3, 12)
ADVICE = "needs a network once, and Python 3.11 or 3.12; ./goldpanel test says what pip said"


def python() -> Path:
    """The interpreter that can import them."""
    return FOLDER / "bin" / "python"


def is_installed() -> bool:
    """Whether they are here, as pinned."""
    return python().exists() and _STAMP.exists() and _STAMP.read_text(encoding="utf-8") == _digest()


def install() -> bool:
    """Make the environment, or make it anew; whether that worked. What is missing is said by pip."""
    if sys.version_info[:2] > NEWEST_PYTHON:
        return False
    pip = [str(python()), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--retries", "1"]
    commands = [
        [sys.executable, "-m", "venv", "--clear", str(FOLDER)],
        # Without --no-deps crowd-kit would bring transformers and pyarrow, a gigabyte that it never imports here.
        # Compiling everything takes longer than fetching it, and a test imports a small part.
        [*pip, "--no-deps", "--no-compile", "--only-binary", ":all:", "--requirement", str(REQUIREMENTS)],
    ]
    if any(subprocess.run(command, check=False).returncode != 0 for command in commands):
        return False
    _STAMP.write_text(_digest(), encoding="utf-8")
    return True


def _digest() -> str:
    return hashlib.sha256(sys.version.encode() + REQUIREMENTS.read_bytes()).hexdigest()
