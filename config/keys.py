"""The keys of an installation that was given none: made once, kept in the data folder, readable by its owner only."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path


def load_or_make_keys(folder: Path) -> dict[str, str]:
    """{"secret_key": ..., "code_key": ...} from `keys.json` in the folder, which is made if it is not there."""
    path = folder / "keys.json"
    if not path.exists():
        beside = folder / f"keys.{os.getpid()}.{secrets.token_hex(4)}.json"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump({"secret_key": secrets.token_urlsafe(48), "code_key": secrets.token_urlsafe(48)}, file)
        try:
            # Several processes start at once on a fresh machine: link() lets the first one win and the others read
            # its keys, where a rename would replace keys that are already in use.
            os.link(beside, path)
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    keys: dict[str, str] = json.loads(path.read_text())
    return keys
