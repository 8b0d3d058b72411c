"""The file with the demonstration's codes and password, readable by its owner only."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "demo-sign-in.json"


@dataclass(frozen=True)
class SignIn:
    """One person's way in: a participant code, or a user name with a password."""

    role: str
    pseudonym: str
    secret: str
    username: str = ""


def read_sign_ins(folder: Path) -> list[SignIn]:
    """What the file holds; nothing if it is not there or was damaged, so that it is written again."""
    try:
        entries = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return [SignIn(**entry) for entry in entries]
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError, TypeError):
        return []


def write_sign_ins(folder: Path, sign_ins: list[SignIn]) -> Path:
    """Mode 600 from the first byte on: written beside, then renamed."""
    path = folder / NAME
    beside = path.with_suffix(f".{os.getpid()}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump([asdict(entry) for entry in sign_ins], file, indent=1)
    beside.rename(path)
    return path
