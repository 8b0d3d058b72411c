"""The files in docs/deploy are read as their programs read them, and hold together with the launcher and the settings.

Nothing is started in a container or by systemd here; docs/operations.md says so.
"""

from __future__ import annotations

import configparser
import ipaddress
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.env import PROJECT, SETTINGS, read_settings
from config.testing import clean_environment

DEPLOY = PROJECT / "docs" / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = sorted(name for name, service in SERVICES.items() if service["image"] == "goldpanel")
UNITS = sorted(path.name for path in DEPLOY.glob("*.service"))
KEYS = ("GOLDPANEL_SECRET_KEY", "GOLDPANEL_CODE_KEY", "GOLDPANEL_METRICS_TOKEN", "GOLDPANEL_KEY_LAB")


def environment_file() -> dict[str, str]:
    """What systemd and compose make of goldpanel.env: NAME=value lines, without quotes or spaces around the =."""
    values: dict[str, str] = {}
    for line in (DEPLOY / "goldpanel.env").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([A-Z_]+)=(\S*)", line)
            assert match, line
            assert match[1] not in values
            values[match[1]] = match[2]
    return values


def filled_in() -> dict[str, str]:
    """As an admin leaves it: a key of its own in each place."""
    values = environment_file()
    assert [name for name, value in values.items() if not value] == list(KEYS)
    return values | {name: f"{name}-" + "k" * 32 for name in KEYS}


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment]  # systemd minds capitals
    parser.read_string((DEPLOY / name).read_text(encoding="utf-8"))
    return parser


def commands() -> list[list[str]]:
    """What the files start, as arguments of ./goldpanel."""
    found = [service["command"] for service in SERVICES.values() if service["image"] == "goldpanel"]
    found += [unit(name)["Service"]["ExecStart"].removeprefix("/opt/goldpanel/").split() for name in UNITS]
    (default,) = re.findall(r"^CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    found.append(yaml.safe_load(default))
    for command in found:
        assert command[0].removeprefix("./") == "goldpanel"
    return sorted({tuple(command[1:]) for command in found})


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_each_command_is_one_of_the_launchers_with_options_it_has(command: tuple[str, ...], tmp_path: Path):
    arguments = [sys.executable, "-m", "config.launcher", *command, "--help"]
    environment = clean_environment(tmp_path) | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(arguments, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "usage: " in done.stdout
    for option in command[1:]:
        assert option in done.stdout


def test_the_files_start_a_web_server_a_worker_and_a_scheduler():
    assert {command[0] for command in commands()} == {"serve", "worker", "scheduler", "manage"}
    assert [f"goldpanel-{name}.service" for name in ("scheduler", "web", "worker")] == UNITS
    assert OURS == ["migrate", "scheduler", "web", "worker"]


def test_every_setting_is_one_and_production_takes_them_all():
    declared = {setting.name for setting in SETTINGS}
    values = filled_in()
    for name in values:
        assert name in declared or re.fullmatch(r"GOLDPANEL_KEY_[A-Z0-9_]+", name), name
    read = read_settings(values)
    assert read["GOLDPANEL_MODE"] == "production"
    assert str(read["GOLDPANEL_DATA"]) == "/var/lib/goldpanel"


@pytest.mark.parametrize("name", OURS)
def test_what_compose_sets_beside_the_file_is_taken_too(name: str):
    service = SERVICES[name]
    assert service["env_file"] == "goldpanel.env"
    more = {
        key: re.sub(r"\$\{POSTGRES_PASSWORD:\?[^}]*\}", "secret", value)
        for key, value in service["environment"].items()
    }
    assert more.keys() <= {setting.name for setting in SETTINGS}
    read = read_settings(filled_in() | more)
    # Each address is that of a service of the same file.
    for setting in ("DATABASE_URL", "REDIS_URL"):
        host = re.search(r"@?([a-z]+):\d+", read[setting].rpartition("//")[2].rpartition("@")[2])
        assert host
        assert host[1] in SERVICES
    (subnet,) = [one["subnet"] for one in COMPOSE["networks"]["default"]["ipam"]["config"]]
    assert read["GOLDPANEL_TRUSTED_PROXIES"] == [subnet]
    assert ipaddress.ip_network(subnet).is_private


def test_compose_refers_to_what_it_has_and_shows_only_the_web_server_to_its_own_machine():
    names = {mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])}
    assert names == set(COMPOSE["volumes"])
    for service in SERVICES.values():
        assert set(service.get("depends_on", {})) <= set(SERVICES)
        for needed, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[needed]
        # An image without a version is another one tomorrow.
        assert service["image"] == "goldpanel" or re.search(r":\d+$", service["image"])
    assert {name: service["ports"] for name, service in SERVICES.items() if "ports" in service} == {
        "web": ["127.0.0.1:8000:8000"]
    }
    for name in OURS:
        build = SERVICES[name]["build"]
        assert (DEPLOY / build["context"]).resolve() == PROJECT
        assert (PROJECT / build["dockerfile"]).is_file()
        assert SERVICES[name]["read_only"] is True
        assert SERVICES[name]["cap_drop"] == ["ALL"]


def test_the_health_check_of_compose_asks_for_readiness_under_a_name_that_is_allowed(tmp_path: Path):
    *_, python, dash_c, code = SERVICES["web"]["healthcheck"]["test"]
    assert (python, dash_c) == (".venv/bin/python", "-c")
    asked = tmp_path / "asked"
    # The same code, with a server that notes what is asked in front of the line that asks.
    server = f"""
import http.server, threading
class Note(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open({str(asked)!r}, "w").write(self.path + " " + self.headers["Host"])
        self.send_response(200); self.end_headers()
    def log_message(self, *a): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Note)
threading.Thread(target=server.serve_forever, daemon=True).start()
"""
    script = server + code.replace('"http://127.0.0.1:8000/', 'f"http://127.0.0.1:{server.server_port}/')
    environment = os.environ | {"GOLDPANEL_ALLOWED_HOSTS": ".panel.example.org, other.example.org"}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert asked.read_text() == "/health/ready/ panel.example.org"


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_runs_as_its_own_user_with_the_settings_and_data_of_the_others(name: str):
    sections = unit(name)
    assert sections.sections() == ["Unit", "Service", "Install"]
    service = dict(sections["Service"])
    assert service["User"] == "goldpanel"
    assert service["EnvironmentFile"] == "/etc/goldpanel.env"
    assert f"/var/lib/{service['StateDirectory']}" == environment_file()["GOLDPANEL_DATA"]
    assert service["ProtectSystem"] == "strict"
    # The launcher stops its children itself, and a worker lets a task come to its end.
    assert service["KillMode"] == "mixed"
    assert service["Restart"] == "always"
    # They differ in what they start, and in how long they may take to end.
    differing = ("ExecStart", "TimeoutStopSec")
    alike = {key: value for key, value in service.items() if key not in differing}
    assert alike == {key: value for key, value in unit(UNITS[0])["Service"].items() if key not in differing}


def test_the_image_holds_no_data_and_no_settings_of_whoever_builds_it():
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    assert {".git", ".venv", ".env", "var"} <= set(ignored)
    assert re.search(r"^USER goldpanel$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)


def test_the_document_names_every_file_and_says_what_was_not_run():
    text = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\(deploy/([^)]+)\)", text))
    assert linked == {path.name for path in DEPLOY.iterdir()} - {"Dockerfile.dockerignore"}
    assert "Neither was run where this was written" in text
    for metric in set(re.findall(r"goldpanel_[a-z_]+", text)):
        assert f'"{metric}"' in (PROJECT / "evaluation" / "services" / "metrics.py").read_text(encoding="utf-8")
    for setting in set(re.findall(r"`(GOLDPANEL_[A-Z_]+)(?:=[^`]*)?`", text)):
        assert setting in {one.name for one in SETTINGS} or setting.startswith("GOLDPANEL_KEY_")
