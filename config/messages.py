"""The words of pages in other languages. `python -m config.messages` gathers them anew and compiles them.

Needs GNU gettext (apt install gettext). What it compiles is committed beside its source: an installation without
gettext speaks every language all the same. A translator fills in what is empty in locale/*/LC_MESSAGES/*.po and runs it
again; docs/languages.md says how a language is added.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from config.env import PROJECT

LOCALES = PROJECT / "locale"
# Words of templates and Python; words of scripts, which pages carry to them.
DOMAINS = {"django": ("html", "py"), "djangojs": ("js",)}
IGNORED = ("tests/*", "benchmarks/*", "docs/*", "node_modules/*")
# Texts of published protocols that pages say, by their keys; all others are what is made in a project.
PROTOCOLS = ("annotate/protocols/*.yaml", "evaluation/protocols/*.yaml")
SAID_OF_PROTOCOLS = frozenset(
    {"people", "outcome", "brings", "not_done", "does", "comes_from", "says", "models", "gives"}
)


def gather(folder: Path = PROJECT) -> None:
    """Bring every catalogue in a copy of the project up to date; new messages are empty, gone ones leave."""
    with _protocols_as_python(folder):
        _gather(folder)


def _gather(folder: Path) -> None:
    for domain, endings in DOMAINS.items():
        command = [sys.executable, "manage.py", "makemessages", "--all", "--domain", domain]
        command += ["--no-location", "--no-wrap", "--no-obsolete"]
        command += [part for ending in endings for part in ("--extension", ending)]
        command += [part for pattern in IGNORED for part in ("--ignore", pattern)]
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _protocols_as_python(folder: Path) -> Iterator[None]:
    """gettext reads no YAML: for the time of the gathering, what protocols say stands in a module."""
    paths = sorted(path for pattern in PROTOCOLS for path in folder.glob(pattern))
    found = dict.fromkeys(text for path in paths for text in _said_in(yaml.safe_load(path.read_bytes())))
    module = folder / "words_of_protocols.py"
    module.write_text("".join(f"_({text!r})\n" for text in found), encoding="utf-8")
    try:
        yield
    finally:
        module.unlink()


def _said_in(data: Any, is_said: bool = False) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _said_in(value, key in SAID_OF_PROTOCOLS)
    elif isinstance(data, list):
        for value in data:
            yield from _said_in(value, is_said)
    elif is_said and isinstance(data, str):
        yield data.strip()


def compile_into(folder: Path, catalogue: Path) -> Path:
    """The compiled form of one catalogue, checked on the way: placeholders and plural forms must agree."""
    made = folder / f"{catalogue.stem}.mo"
    subprocess.run(["msgfmt", "--check", "--output-file", made, catalogue], check=True)
    return made


def catalogues() -> list[Path]:
    return sorted(LOCALES.glob("*/LC_MESSAGES/*.po"))


if __name__ == "__main__":
    gather()
    for catalogue in catalogues():
        compile_into(catalogue.parent, catalogue)
