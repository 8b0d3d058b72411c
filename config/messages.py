"""The words of pages in other languages. `python -m config.messages` gathers them anew and compiles them.

Needs GNU gettext (apt install gettext). What it compiles is committed beside its source: an installation without
gettext speaks every language all the same. A translator fills in what is empty in locale/*/LC_MESSAGES/*.po and runs it
again; docs/languages.md says how a language is added.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from config.env import PROJECT

LOCALES = PROJECT / "locale"
# Words of templates and Python; words of scripts, which pages carry to them.
DOMAINS = {"django": ("html", "py"), "djangojs": ("js",)}
IGNORED = ("tests/*", "benchmarks/*", "docs/*", "node_modules/*")


def gather(folder: Path = PROJECT) -> None:
    """Bring every catalogue in a copy of the project up to date; new messages are empty, gone ones leave."""
    for domain, endings in DOMAINS.items():
        command = [sys.executable, "manage.py", "makemessages", "--all", "--domain", domain]
        command += ["--no-location", "--no-wrap", "--no-obsolete"]
        command += [part for ending in endings for part in ("--extension", ending)]
        command += [part for pattern in IGNORED for part in ("--ignore", pattern)]
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"}
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


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
