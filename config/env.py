"""Every setting of the platform: its name, type, default and meaning, in one table.

`config/settings.py` reads the environment through `read_settings`; `docs/settings.md` is written from the same table
(`python -m config.env > docs/settings.md`, and a test compares them). Values are checked here and nowhere else: a
malformed one is refused by name, together with all the others, before anything starts.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ

PROJECT = Path(__file__).resolve().parent.parent
MODES = ("demo", "development", "production")
MIN_KEY_LENGTH = 32
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]


class SettingsInvalid(Exception):
    """The environment cannot be used as it is: `problems` names every variable with what was expected."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(["These settings cannot be used:", *(f"  {problem}" for problem in problems)]))


@dataclass(frozen=True)
class Setting:
    """One environment variable.

    `read` turns its text into a value or raises ValueError with the words "expected ..."; `default` is a value, not
    text. `secret` keeps a malformed value out of the message that refuses it.
    """

    name: str
    read: Callable[[str], Any]
    kind: str
    default: Any
    default_text: str
    meaning: str
    secret: bool = False


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return text

    return read


def _boolean(text: str) -> bool:
    folded = text.lower()
    if folded in {"1", "true", "yes", "on"}:
        return True
    if folded in {"0", "false", "no", "off"}:
        return False
    raise ValueError("expected true or false")


def _whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        # int() alone would take "1e6" for an error but " ١٢ " for twelve: only plain digits are meant here.
        if not re.fullmatch(r"[0-9](_?[0-9]){0,15}", text) or not lowest <= int(text) <= highest:
            raise ValueError(f"expected a whole number from {lowest:,} to {highest:,}")
        return int(text)

    return read


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _hosts(text: str) -> list[str]:
    hosts = _words(text)
    for host in hosts:
        if not re.fullmatch(r"\.?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:.]+\]", host):
            raise ValueError(f"expected host names separated by commas, without scheme, port or *; got {host!r}")
    return hosts


def _origins(text: str) -> list[str]:
    origins = _words(text)
    for origin in origins:
        if not re.fullmatch(r"https?://(\*\.)?[A-Za-z0-9.\[\]:-]+", origin):
            raise ValueError(f"expected addresses such as https://panel.example.org, comma separated; got {origin!r}")
    return origins


def _ip_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise ValueError("expected an IP address, such as 127.0.0.1 or 0.0.0.0") from None


def _networks(text: str) -> list[str]:
    networks = []
    for word in _words(text):
        try:
            networks.append(str(ipaddress.ip_network(word)))
        except ValueError:
            raise ValueError(f"expected IP addresses or networks separated by commas; got {word!r}") from None
    return networks


def _host_ports(text: str) -> list[str]:
    pairs = [word.lower() for word in _words(text)]
    for pair in pairs:
        match = re.fullmatch(r"([a-z0-9.-]+|\[[0-9a-f:.]+\]):([0-9]{1,5})", pair)
        if not match or not 0 < int(match[2]) < 65536:
            raise ValueError(f"expected host:port pairs separated by commas, such as 127.0.0.1:8080; got {pair!r}")
    return pairs


def _folder(text: str) -> Path:
    path = PROJECT / Path(text).expanduser()
    if path.exists() and not path.is_dir():
        raise ValueError("expected a folder, and this is a file")
    return path


def _key(text: str) -> str:
    if len(text) < MIN_KEY_LENGTH:
        raise ValueError(f"expected at least {MIN_KEY_LENGTH} random characters")
    return text


def _database_url(text: str) -> str:
    expected = "expected postgres://user:password@host:5432/name, or sqlite:///path/to/file"
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise ValueError(expected) from None
    named = len(parts.path) > 1
    if parts.scheme in {"postgres", "postgresql"} and parts.hostname and named:
        return text
    if parts.scheme == "sqlite" and not parts.netloc and named and not text.endswith(":memory:"):
        return text
    raise ValueError(expected)


def _redis_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise ValueError("expected an address such as redis://host:6379/0") from None
    if parts.scheme not in {"redis", "rediss"} or not parts.hostname or not re.fullmatch(r"/?|/[0-9]+", parts.path):
        raise ValueError("expected an address such as redis://host:6379/0")
    return text


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "GOLDPANEL_MODE",
        _one_of(*MODES),
        "demo, development or production",
        "development",
        "development",
        "What this installation is for. `production` refuses debug pages, generated or short keys and a missing list "
        "of hosts, sends cookies over HTTPS only and serves static files under hashed names.",
    ),
    Setting(
        "GOLDPANEL_DEBUG",
        _boolean,
        "true or false",
        False,
        "false",
        "Django's debug pages. They show code and data: never for others to see.",
    ),
    Setting(
        "GOLDPANEL_SECRET_KEY",
        _key,
        f"text of at least {MIN_KEY_LENGTH} characters",
        None,
        "generated once into `keys.json`",
        "Signs sessions. Changing it signs everyone out. Must be given in production.",
        secret=True,
    ),
    Setting(
        "GOLDPANEL_CODE_KEY",
        _key,
        f"text of at least {MIN_KEY_LENGTH} characters",
        None,
        "generated once into `keys.json`",
        "Participant codes are stored as HMAC under this key. Changing it voids every code that was given out. Must be "
        "given in production, and must differ from the secret key.",
        secret=True,
    ),
    Setting(
        "GOLDPANEL_ALLOWED_HOSTS",
        _hosts,
        "host names, comma separated",
        None,
        "this machine only",
        "The names under which people reach the site; `.example.org` stands for all below it. Must be given in "
        "production.",
    ),
    Setting(
        "GOLDPANEL_TRUSTED_ORIGINS",
        _origins,
        "addresses, comma separated",
        None,
        "`https://` and each allowed host",
        "Addresses from which forms may be sent. Needed only where HTTPS is served on another port than 443.",
    ),
    Setting(
        "GOLDPANEL_TRUSTED_PROXIES",
        _networks,
        "IP addresses or networks, comma separated",
        [],
        "none",
        "Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. The proxy must set both itself.",
    ),
    Setting(
        "GOLDPANEL_DATA",
        _folder,
        "a folder",
        PROJECT / "var",
        "`var` in the project",
        "Where the embedded database and broker, generated keys and files live. Only the owner can read it.",
    ),
    Setting(
        "DATABASE_URL",
        _database_url,
        "postgres://user:password@host:5432/name or sqlite:///path",
        None,
        "SQLite, `goldpanel.sqlite3` in the data folder",
        "The database. PostgreSQL for more than a few people at a time or more than one machine.",
        secret=True,
    ),
    Setting(
        "REDIS_URL",
        _redis_url,
        "redis://host:6379/0",
        None,
        "files, `broker` in the data folder",
        "The broker between web server and workers. Without it all processes must share the data folder.",
        secret=True,
    ),
    Setting(
        "GOLDPANEL_PRIVATE_ENDPOINTS",
        _host_ports,
        "host:port pairs, comma separated",
        [],
        "none",
        "Model servers on private addresses (this machine, the local network) that may be called. All other private "
        "addresses are refused.",
    ),
    Setting(
        "GOLDPANEL_LOCAL_MODEL_PORT",
        _whole_number(1, 65_535),
        "a port",
        8090,
        "8090",
        "Where the local model answers on this machine, if `./goldpanel model install` was run. That address alone may "
        "then be called as if it were listed in GOLDPANEL_PRIVATE_ENDPOINTS.",
    ),
    Setting(
        "GOLDPANEL_MAX_ITEM_BYTES",
        _whole_number(1_000, 100_000_000),
        "bytes",
        2_000_000,
        "2,000,000",
        "An imported item larger than this is refused.",
    ),
    Setting(
        "GOLDPANEL_MAX_UPLOAD_BYTES",
        _whole_number(10_000, 10_000_000_000),
        "bytes",
        500_000_000,
        "500,000,000",
        "An uploaded file larger than this is refused.",
    ),
    Setting(
        "GOLDPANEL_EXPORT_DAYS",
        _whole_number(1, 3_650),
        "days",
        14,
        "14",
        "How long the file of an export is kept; then it is removed, and can be made again.",
    ),
    Setting(
        "GOLDPANEL_LEASE_MINUTES",
        _whole_number(1, 10_080),
        "minutes",
        30,
        "30",
        "How long an item waits for the annotator who took it, counted from the last sign of work; a stage may say "
        "otherwise.",
    ),
    Setting(
        "GOLDPANEL_IDLE_SECONDS",
        _whole_number(5, 3_600),
        "seconds",
        60,
        "60",
        "Active time stops counting after so long without a key, a click or a scroll.",
    ),
    Setting(
        "GOLDPANEL_SESSION_HOURS",
        _whole_number(1, 8_760),
        "hours",
        336,
        "336",
        "How long a sign-in lasts.",
    ),
    Setting(
        "GOLDPANEL_HOST",
        _ip_address,
        "an IP address",
        "127.0.0.1",
        "127.0.0.1",
        "The address the web server listens on. `0.0.0.0` in a container; otherwise a reverse proxy stands before it.",
    ),
    Setting("GOLDPANEL_PORT", _whole_number(1, 65_535), "a port", 8000, "8000", "The port the web server listens on."),
    Setting(
        "GOLDPANEL_WEB_PROCESSES",
        _whole_number(1, 64),
        "a number",
        2,
        "2",
        "Processes of the web server. One or two per core.",
    ),
    Setting(
        "GOLDPANEL_WEB_THREADS",
        _whole_number(1, 64),
        "a number",
        2,
        "2",
        "Threads in each of them. Each holds one database connection.",
    ),
    Setting(
        "GOLDPANEL_WORKER_PROCESSES",
        _whole_number(1, 64),
        "a number",
        2,
        "2",
        "Processes of a worker started by the launcher.",
    ),
    Setting(
        "GOLDPANEL_CLAIM_SECONDS",
        _whole_number(2, 3_600),
        "seconds",
        90,
        "90",
        "How long a worker may be silent before the predictions in its hands are given to another one. Must be longer "
        "than a slow disk or database holds a worker up.",
    ),
    Setting(
        "GOLDPANEL_LOG_LEVEL",
        _one_of("DEBUG", "INFO", "WARNING", "ERROR"),
        "DEBUG, INFO, WARNING or ERROR",
        "INFO",
        "INFO",
        "How much is logged. Logs never contain answers, codes, keys or query strings.",
    ),
    Setting(
        "GOLDPANEL_LOG_FORMAT",
        _one_of("json", "text"),
        "json or text",
        None,
        "json in production, else text",
        "How it is logged, on stderr: one JSON object a line, with a line for each request, or text for a terminal.",
    ),
    Setting(
        "GOLDPANEL_METRICS_TOKEN",
        _key,
        f"text of at least {MIN_KEY_LENGTH} characters",
        None,
        "none: there is no such page",
        "Opens `/metrics` to whoever sends it as a bearer token (docs/operations.md).",
        secret=True,
    ),
)


def load_env_file(path: Path) -> None:
    """Add the variables of a `.env` file, if there is one, to the environment; what is set already wins.

    Raises SettingsInvalid for a line that is neither empty, a comment nor NAME=value: it would be ignored, and the
    setting somebody meant would silently keep its default.
    """
    if not path.is_file():
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    problems = [
        f"{path.name}, line {number}: expected NAME=value, without spaces before the ="
        for number, line in enumerate(lines, start=1)
        if line and not line.startswith("#") and not re.match(r"(export )?[A-Za-z_0-9]+=", line)
    ]
    if problems:
        raise SettingsInvalid(problems)
    environ.Env.read_env(path)


def read_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The value of every declared setting; an empty variable counts as absent.

    Raises SettingsInvalid with all problems at once: malformed values, names that are one slip away from a declared
    one, and what production does not allow.
    """
    values: dict[str, Any] = {}
    problems: list[str] = []
    refused: set[str] = set()
    for setting in SETTINGS:
        text = environment.get(setting.name, "").strip()
        if not text:
            values[setting.name] = setting.default
            continue
        try:
            values[setting.name] = setting.read(text)
        except ValueError as problem:
            values[setting.name] = None
            refused.add(setting.name)
            got = "" if setting.secret or "; got " in str(problem) else f"; got {text!r}"
            problems.append(f"{setting.name}: {problem}{got}")
    declared = {setting.name for setting in SETTINGS}
    for name in sorted(set(environment) - declared):
        # GOLDPANEL_ALOWED_HOSTS would be ignored, and the site would answer nobody without saying why.
        if name.startswith("GOLDPANEL_") and (meant := difflib.get_close_matches(name, declared, n=1, cutoff=0.9)):
            problems.append(f"{name}: no such setting; {meant[0]} was probably meant")
    if values["GOLDPANEL_MODE"] == "production":
        problems.extend(f"{name}: {text}" for name, text in _production_problems(values) if name not in refused)
    if problems:
        raise SettingsInvalid(problems)
    return values


def _production_problems(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, what was expected) for what is fit for trying things out, and not for a study."""
    if values["GOLDPANEL_DEBUG"]:
        yield "GOLDPANEL_DEBUG", "expected false in production: debug pages show code and data"
    for name in ("GOLDPANEL_SECRET_KEY", "GOLDPANEL_CODE_KEY"):
        if not values[name]:
            yield name, f"expected {MIN_KEY_LENGTH} or more random characters in production, kept with the backups"
    if values["GOLDPANEL_SECRET_KEY"] and values["GOLDPANEL_SECRET_KEY"] == values["GOLDPANEL_CODE_KEY"]:
        yield "GOLDPANEL_CODE_KEY", "expected another value than GOLDPANEL_SECRET_KEY"
    if not values["GOLDPANEL_ALLOWED_HOSTS"]:
        yield "GOLDPANEL_ALLOWED_HOSTS", "expected the site's host names in production"


def describe_settings() -> str:
    """The text of docs/settings.md."""
    rows = [f"| `{s.name}` | {s.kind} | {s.default_text} | {s.meaning} |" for s in SETTINGS]
    return "\n".join([_INTRODUCTION, "| name | value | default | meaning |", "| --- | --- | --- | --- |", *rows, ""])


_INTRODUCTION = """\
# Settings

<!-- Written by `python -m config.env > docs/settings.md` from the table in config/env.py. -->

Everything is set by environment variables, or by lines `NAME=value` in a file `.env` in the project folder (the
environment wins; `GOLDPANEL_ENV_FILE` names another file, or none when empty). Nothing needs to be set to try the
platform. An empty value counts as absent. A malformed value is refused by name before anything starts, together with
all others; `./goldpanel doctor` checks without starting.

Keys of model endpoints are variables of your own naming: an endpoint stores the name of a variable `GOLDPANEL_KEY_...`,
never the key, and `GOLDPANEL_KEY_..._HOSTS` lists the hosts to which that key may be sent.
"""


if __name__ == "__main__":
    print(describe_settings(), end="")
