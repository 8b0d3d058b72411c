"""The child process of `rendering`: JSON lines in, JSON lines out. Imports no Django.

First line: strategy, template, limits. Every further line is one `PromptInput`; each gets one line, flushed at once, so
that the parent knows at which item the child died.
"""

import json
import resource
import signal
import sys
from types import FrameType
from typing import Any

from jinja2 import TemplateError

from evaluation.prompts.inputs import PromptInput
from evaluation.prompts.strategies import render
from evaluation.prompts.templates import ChatTemplate
from evaluation.storable import shorten


class ItemTimeUp(BaseException):
    """Raised by the timer, in the middle of rendering an item.

    No Exception: Jinja2 swallows those while it works out the constants of a template, and the timer rings only once.
    """


# What a template's own expressions may raise: 1/0, 'a' + 1, x['no such key'], a recursive macro.
_OF_TEMPLATES = (
    TemplateError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


def main() -> int:
    header = json.loads(sys.stdin.readline())
    limits = header["limits"]
    _limit_resources(limits["memory_bytes"], limits["chunk_seconds"])
    signal.signal(signal.SIGALRM, _time_up)
    template = ChatTemplate.from_json(header["template"]) if header["template"] else None
    for line in sys.stdin:
        result = _rendered(header["strategy"], line, template, limits)
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
    return 0


def _rendered(strategy: str, line: str, template: ChatTemplate | None, limits: dict[str, Any]) -> dict[str, Any]:
    try:
        prompt = PromptInput.from_json(json.loads(line))
        signal.setitimer(signal.ITIMER_REAL, limits["item_seconds"])
        try:
            messages = render(strategy, prompt, template, max_chars=limits["max_chars"])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except ItemTimeUp:
        return {"failure": f"Rendering this item took more than {limits['item_seconds']:g} s."}
    except MemoryError:
        return {"failure": f"Rendering this item took more than {limits['memory_bytes'] // 1024**2} MiB of memory."}
    except _OF_TEMPLATES as error:
        return {"failure": shorten(f"{type(error).__name__}: {error}")}
    return {"messages": messages}


def _limit_resources(memory_bytes: int, cpu_seconds: int) -> None:
    wanted = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in wanted.items():
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):
            # macOS knows no limit on address space; time and size limits still hold there.
            print(f"limit {limit} could not be set", file=sys.stderr)


def _time_up(signum: int, frame: FrameType | None) -> None:
    raise ItemTimeUp


if __name__ == "__main__":
    sys.exit(main())
