"""What a task makes of a size and of chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from annotate.sources.structext.chance import Chance


@dataclass(frozen=True, slots=True)
class Size:
    """depth: of the tree. width: children of every node. attributes: of a node, or words of its text, at most.

    is_published: written and asked as the benchmark's own generators do.
    """

    depth: int
    width: int
    attributes: int
    is_published: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """golds: every answer that is right; the first is the one to show."""

    question: str
    text: str
    golds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """name: unique. kind: what the benchmark calls it, shared by several. hint: the rule, for whoever may see it."""

    name: str
    language: str
    kind: str
    hint: str
    make: Callable[[Size, Chance], Problem]


def distinct(*answers: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(answer.strip() for answer in answers))
