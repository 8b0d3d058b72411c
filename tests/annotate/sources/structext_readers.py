"""Structured texts read back by parsers that know nothing of the generator: what it derived is found a second time."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any
from xml.etree import ElementTree

import yaml

from annotate.sources.structext.tables import People
from annotate.sources.structext.trees import Node, full_tree

BOLD = {"markdown": r"\*\*(.+?)\*\*", "latex": r"\\textbf\{(.+?)\}", "org": r"\*(.+?)\*"}
PICTURES = {
    "markdown": r'!\[alt\]\((.+?) "hover text"\)',
    "latex": r"\\includegraphics\[.+?\]\{(.+?)\}",
    "org": r"\[\[(.+?)\]\]",
}
HEADINGS = {"markdown": r"(#+) (\w+)", "latex": r"\\((?:sub)*)section\{(\w+)\}", "org": r"(\*+) (\w+)"}


def people_in(text: str) -> People:
    first, second = (list(csv.DictReader(io.StringIO(part))) for part in text.split("\n\n"))
    return People([one | other for one, other in zip(first, second, strict=True)])


def tree_in(text: str) -> Node:
    """From edges; children in the order of the lines."""
    edges = [line.split("->") for line in text.splitlines()]
    children: dict[str, list[str]] = {}
    for father, child in edges:
        children.setdefault(father, []).append(child)
    (root,) = set(children) - {child for _, child in edges}
    return _tree(root, lambda name: children.get(name, []), lambda name: Node(name))


def objects_in(text: str, language: str) -> Node:
    """A value is without the comma that ends it in published YAML."""
    value = json.loads(text) if language == "json" else yaml.load(text, yaml.BaseLoader)
    return _tree(
        value,
        lambda one: one["subs"] or [],
        lambda one: Node(
            one["id"], attributes=[(k, v.removesuffix(",")) for k, v in one.items() if k not in ("id", "subs")]
        ),
    )


def tags_in(text: str) -> Node:
    def made(element: ElementTree.Element) -> Node:
        # The text of a tag stands after its last child.
        last = element[-1].tail if len(element) else element.text
        return Node(element.tag, attributes=list(element.attrib.items()), text=(last or "").strip())

    return _tree(ElementTree.fromstring(text.encode()), list, made)


def outline_of_shape(text: str, depth: int, width: int) -> Node:
    """Headings with the line below each, from their order alone: published LaTeX writes two levels alike."""
    lines = iter(text.split("\n"))

    def made(path: tuple[int, ...]) -> Node:
        heading, line = next(lines), next(lines)
        return Node(re.findall(r"\w+", heading)[-1], path, text=line)

    return full_tree(depth, width, made)


def outline_in(text: str, language: str) -> Node:
    """Headings with the line below each, by their marks."""
    lines = text.split("\n")
    root = Node(lines[0], text=lines[1])
    way = [root]
    for heading, line in zip(lines[2::2], lines[3::2], strict=True):
        found = re.fullmatch(HEADINGS[language], heading)
        assert found, heading
        level = len(found[1]) // 3 + 1 if language == "latex" else len(found[1])
        way = way[:level]
        node = Node(found[2], (*way[-1].path, len(way[-1].children)), text=line)
        way[-1].children.append(node)
        way.append(node)
    return root


def bold_in(text: str, language: str) -> list[str]:
    if language == "org":
        text = re.sub(r"(?m)^\*+ ", "", text)
    return re.findall(BOLD[language], text)


def pictures_in(text: str, language: str) -> list[str]:
    return re.findall(PICTURES[language], text)


def is_well_formed(text: str, language: str) -> bool:
    try:
        if language == "json":
            json.loads(text)
        elif language == "yaml":
            yaml.load(text, yaml.BaseLoader)
        else:
            ElementTree.fromstring(text.encode())
    except (ValueError, yaml.YAMLError, ElementTree.ParseError):
        return False
    return True


def node_called(root: Node, name: str) -> Node:
    (node,) = (node for node in root.walk() if node.name == name)
    return node


def node_at(root: Node, path: tuple[int, ...]) -> Node:
    for place in path:
        root = root.children[place]
    return root


def unindented(text: str) -> list[str]:
    """Its lines as they are compared: without indentation, dash and the comma that only separates."""
    return [line.strip(" -").removesuffix(",") for line in text.strip().split("\n")]


def stands_in(excerpt: str, text: str) -> bool:
    wanted, lines = unindented(excerpt), unindented(text)
    return any(lines[at : at + len(wanted)] == wanted for at in range(len(lines)))


def _tree(value: Any, children_of: Any, made: Any, path: tuple[int, ...] = ()) -> Node:
    node: Node = made(value)
    node.path = path
    node.children = [_tree(child, children_of, made, (*path, place)) for place, child in enumerate(children_of(value))]
    return node
