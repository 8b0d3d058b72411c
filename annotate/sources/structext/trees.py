"""The tree that a text is written from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    """name: unique in its tree. path: the places among siblings that lead to it. The rest as the language has it."""

    name: str
    path: tuple[int, ...] = ()
    attributes: list[tuple[str, str]] = field(default_factory=list)
    text: str = ""
    children: list[Node] = field(default_factory=list)

    @property
    def depth(self) -> int:
        return len(self.path)

    def walk(self) -> Iterator[Node]:
        """The node and all below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def height(self) -> int:
        return 1 + max(child.height() for child in self.children) if self.children else 0

    def way_to(self, node: Node) -> list[Node]:
        """The nodes from this one, the root, down to another."""
        way = [self]
        for place in node.path:
            way.append(way[-1].children[place])
        return way


def full_tree(depth: int, width: int, make: Callable[[tuple[int, ...]], Node], path: tuple[int, ...] = ()) -> Node:
    """A tree with `width` children at every node and every leaf at `depth`; nodes are made in the order of `walk`."""
    node = make(path)
    if len(path) < depth:
        node.children = [full_tree(depth, width, make, (*path, place)) for place in range(width)]
    return node


def n_nodes(depth: int, width: int) -> int:
    return sum(width**level for level in range(depth + 1))
