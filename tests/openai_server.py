"""A local OpenAI-compatible server that misbehaves on demand.

    python -m tests.openai_server --port 0 --script FILE [--log FILE]

prints `listening on http://127.0.0.1:PORT` and serves until it is killed. It is a process of its own, so that killing a
worker says nothing about the server, and so that its log is a witness: a line when a call arrives and one when its
answer is complete. The script is JSON:

    {"default": {"text": "Yes"},
     "rules": [{"contains": "Mercury", "times": 2, "behaviour": {"status": 429, "retry_after": "1"}}]}

The first rule whose `contains` stands in the last message, whose `anywhere` stands in any of them, and which has not
been used `times` times, decides. A rule with `share` decides only about that share of the calls, drawn anew for each of
them by the `seed` of the script. What a behaviour may hold is listed at `Behaviour`. `GET /calls` gives the log so far,
`PUT /script` replaces script and log.
"""

import argparse
import asyncio
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from aiohttp import web

PROJECT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Behaviour:
    """text: the completion; finish_reason: of it; reasoning: beside it; logprobs: of its choice; usage: tokens in and
    out, None for no count; model: that the server says it is; latency_ms: before the status line; status, retry_after,
    message: an error;
    body: the whole body, verbatim; location: for redirects; size: bytes of a valid body padded to that size; headers:
    more headers; mode: "hang" (never answers), "endless" (a body without end), "drip" (the same, a byte at a time),
    "drop" (closes the connection half way)."""

    text: str | None = "Yes"
    finish_reason: str = "stop"
    reasoning: str = ""
    logprobs: dict[str, Any] | None = None
    usage: tuple[int, int] | None = (11, 3)
    model: str = ""
    latency_ms: int = 0
    status: int = 200
    retry_after: str = ""
    message: str = "as the script says"
    body: str = ""
    location: str = ""
    size: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    mode: str = ""


class Script:
    def __init__(self, data: dict[str, Any]) -> None:
        self._default = _behaviour(data.get("default", {}))
        self._rules = [(rule, _behaviour(rule["behaviour"])) for rule in data.get("rules", [])]
        self._used = [0] * len(self._rules)
        self._draw = random.Random(data.get("seed", 0))

    def next_for(self, text: str, chat: str) -> Behaviour:
        # One draw a call: shares of several rules lie side by side, so that 5 % and 3 % come to 8 %.
        drawn = self._draw.random()
        for position, (rule, behaviour) in enumerate(self._rules):
            times = rule.get("times")
            if "share" in rule:
                drawn -= rule["share"]
                if not -rule["share"] <= drawn < 0:
                    continue
            is_meant = rule.get("contains", "") in text and rule.get("anywhere", "") in chat
            if is_meant and (times is None or self._used[position] < times):
                self._used[position] += 1
                return behaviour
        return self._default


def _behaviour(data: dict[str, Any]) -> Behaviour:
    unknown = data.keys() - {field.name for field in fields(Behaviour)}
    if unknown:
        raise ValueError(f"A script knows no {', '.join(sorted(unknown))}.")
    if data.get("usage"):
        data = {**data, "usage": tuple(data["usage"])}
    return Behaviour(**{**data, "headers": tuple(map(tuple, data.get("headers", ())))})


class Server:
    def __init__(self, script: dict[str, Any], log: Path | None) -> None:
        self._script = Script(script)
        self._log = log
        self._calls: list[dict[str, Any]] = []

    def application(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self.complete)
        app.router.add_post("/v1/completions", self.complete)
        app.router.add_get("/calls", self.give_calls)
        app.router.add_put("/script", self.take_script)
        return app

    async def give_calls(self, request: web.Request) -> web.Response:
        return web.json_response(self._calls)

    async def take_script(self, request: web.Request) -> web.Response:
        self._script = Script(await request.json())
        self._calls = []
        return web.json_response({})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        text = asked["prompt"] if "prompt" in asked else asked["messages"][-1]["content"]
        turns = [message["content"] for message in asked.get("messages", [])] or [text]
        behaviour = self._script.next_for(text, "\n".join(turns))
        call = {
            "number": len(self._calls),
            "text": text,
            "turns": turns,
            "asked": {name: value for name, value in asked.items() if name != "messages"},
            "headers": dict(request.headers),
            "arrived": time.time(),
            "finished": None,
        }
        self._calls.append(call)
        self._note("arrived", call)
        await asyncio.sleep(behaviour.latency_ms / 1000)
        response = await self._respond(request, asked, behaviour, call["number"])
        call["finished"] = time.time()
        self._note("finished", call)
        return response

    def _note(self, what: str, call: dict[str, Any]) -> None:
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as log:
                told = {name: call[name] for name in ("number", "text", "turns")}
                log.write(json.dumps({"what": what, **told}) + "\n")

    async def _respond(
        self, request: web.Request, asked: dict[str, Any], behaviour: Behaviour, number: int
    ) -> web.StreamResponse:
        if behaviour.mode == "hang":
            await asyncio.sleep(3600)
        if behaviour.mode in ("endless", "drip"):
            return await _endless(request, drip=behaviour.mode == "drip")
        if behaviour.mode == "drop":
            return await _dropped(request)
        headers = dict(behaviour.headers)
        if behaviour.retry_after:
            headers["Retry-After"] = behaviour.retry_after
        if behaviour.location:
            headers["Location"] = behaviour.location
        if behaviour.body:
            body = behaviour.body
        elif behaviour.status != 200:
            body = json.dumps({"error": {"message": behaviour.message}})
        else:
            body = json.dumps(_chat_completion(asked, behaviour, number))
        body += " " * (behaviour.size - len(body))
        return web.Response(status=behaviour.status, text=body, headers=headers, content_type="application/json")


def _chat_completion(asked: dict[str, Any], behaviour: Behaviour, number: int) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "finish_reason": behaviour.finish_reason}
    if "prompt" in asked:
        choice["text"] = behaviour.text
    else:
        choice["message"] = {"role": "assistant", "content": behaviour.text}
        if behaviour.reasoning:
            choice["message"]["reasoning_content"] = behaviour.reasoning
    if behaviour.logprobs is not None:
        choice["logprobs"] = behaviour.logprobs
    body = {
        "id": f"call-{number}",
        "object": "text_completion" if "prompt" in asked else "chat.completion",
        "model": behaviour.model or asked["model"],
        "choices": [choice],
    }
    if behaviour.usage is not None:
        tokens_in, tokens_out = behaviour.usage
        body["usage"] = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
    return body


async def _endless(request: web.Request, *, drip: bool) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        while True:
            await response.write(b"." if drip else b"." * 65536)
            await asyncio.sleep(0.05 if drip else 0)
    return response


async def _dropped(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": ')
    assert request.transport is not None
    request.transport.abort()
    return response


@dataclass(frozen=True)
class Running:
    """A server started by `serving`."""

    url: str
    pid: int

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def host_and_port(self) -> str:
        return self.url.removeprefix("http://")

    def play(self, *rules: dict[str, Any], **default: Any) -> None:
        """Replace the script: the default behaviour by keyword, rules before it."""
        data = json.dumps({"default": default, "rules": rules}).encode()
        request = urllib.request.Request(f"{self.url}/script", data=data, method="PUT")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=10) as response:
            assert response.status == 200

    def calls(self) -> list[dict[str, Any]]:
        """Every call since the script was set, in order of arrival."""
        with urllib.request.urlopen(f"{self.url}/calls", timeout=10) as response:
            calls: list[dict[str, Any]] = json.load(response)
            return calls


@contextlib.contextmanager
def serving(script: dict[str, Any] | None = None, *, log: Path | None = None) -> Iterator[Running]:
    """A server in a process of its own, on a free port, ended with the block."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(script or {}, file)
        file.flush()
        command = [sys.executable, "-m", "tests.openai_server", "--port", "0", "--script", file.name]
        command += ["--log", str(log)] if log else []
        process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening on "), f"the server did not start: {line!r}"
            yield Running(url=line.removeprefix("listening on ").strip(), pid=process.pid)
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


async def _serve(port: int, script: dict[str, Any], log: Path | None) -> None:
    runner = web.AppRunner(Server(script, log).application(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    host, bound_port = runner.addresses[0][:2]
    print(f"listening on http://{host}:{bound_port}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="JSON file; without it every completion is 'Yes'")
    parser.add_argument("--log", type=Path, help="JSON lines: one when a call arrives, one when it is answered")
    options = parser.parse_args()
    script = json.loads(options.script.read_text(encoding="utf-8")) if options.script else {}
    asyncio.run(_serve(options.port, script, options.log))


if __name__ == "__main__":
    main()
