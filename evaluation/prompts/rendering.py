"""Renders the prompts of a chunk in one child process, with limits on memory, time and size.

The sandbox alone is not enough: it renders `{{ 'a' * 300000000 }}` without complaint. The child imports no Django, gets
no environment (so no keys) and reads nothing but its standard input.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evaluation.prompts.inputs import Message, PromptInput
from evaluation.prompts.strategies import MAX_MESSAGE_CHARS
from evaluation.prompts.templates import ChatTemplate
from evaluation.storable import shorten

_PROJECT = Path(__file__).resolve().parents[2]
_MAX_DEATHS = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """memory_bytes: address space of the child. item_seconds: for one item, as far as Python can be interrupted;
    chunk_seconds: for the whole child, CPU and wall time, whatever it is doing. max_chars: for one message."""

    memory_bytes: int = 512 * 1024 * 1024
    item_seconds: float = 2.0
    chunk_seconds: int = 30
    max_chars: int = MAX_MESSAGE_CHARS


@dataclass(frozen=True, slots=True)
class RenderFailure:
    """An item without a prompt, and why, in at most 500 characters; the other items of the chunk are not touched."""

    message: str


def render_chunk(
    strategy_name: str,
    prompts: Sequence[PromptInput],
    template: ChatTemplate | None = None,
    *,
    limits: Limits = Limits(),
) -> list[list[Message] | RenderFailure]:
    """The chat of every item, in order, or the reason why it has none.

    An item at which the child dies gets a failure and a new child goes on with the next; after the third death the
    rest fail too, because then the template is at fault.
    """
    results: list[list[Message] | RenderFailure] = []
    deaths = 0
    while len(results) < len(prompts):
        if deaths == _MAX_DEATHS:
            rest = len(prompts) - len(results)
            return (
                results + [RenderFailure(f"Not rendered: the renderer ended {deaths} times before this item.")] * rest
            )
        rendered, reason = _run_child(strategy_name, prompts[len(results) :], template, limits)
        results += rendered
        if reason is not None and len(results) < len(prompts):
            results.append(RenderFailure(reason))
            deaths += 1
    return results


def _run_child(
    strategy_name: str, prompts: Sequence[PromptInput], template: ChatTemplate | None, limits: Limits
) -> tuple[list[list[Message] | RenderFailure], str | None]:
    """What one child rendered, and why it ended before the last item (None if it did not)."""
    header = {
        "strategy": strategy_name,
        "template": template.to_json() if template else None,
        "limits": asdict(limits),
    }
    lines = [json.dumps(header), *(json.dumps(prompt.to_json()) for prompt in prompts)]
    child = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "evaluation.prompts.render_child"],
        cwd=_PROJECT,
        env={name: os.environ[name] for name in ("LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    reason = None
    with child:
        try:
            output, complaint = child.communicate("\n".join(lines).encode(), timeout=limits.chunk_seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            output, complaint = child.communicate()
            reason = f"Rendering took more than {limits.chunk_seconds} s."
        finally:
            # Whatever interrupts this, such as a task's time limit, leaves no renderer behind.
            child.kill()
    # The last line is whole only if it ends in a line feed: a killed child may have been in the middle of one.
    rendered = [_result(line) for line in output.split(b"\n")[:-1]]
    if reason is None and (child.returncode != 0 or len(rendered) < len(prompts)):
        said = complaint.decode("utf-8", "replace").strip().splitlines()
        reason = shorten(f"The renderer ended with status {child.returncode}. {said[-1] if said else ''}")
    return rendered, reason


def _result(line: bytes) -> list[Message] | RenderFailure:
    result = json.loads(line)
    if "failure" in result:
        return RenderFailure(result["failure"])
    return [Message(role=message["role"], content=message["content"]) for message in result["messages"]]
