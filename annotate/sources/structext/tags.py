"""XML: tags with attributes, further tags in them, and a text at their end."""

from __future__ import annotations

from collections.abc import Collection

from annotate.sources.structext.chance import Chance
from annotate.sources.structext.names import CAPITAL, CAPITAL_BACKWARDS, SMALL_BACKWARDS, WORDS, names
from annotate.sources.structext.objects import broken_nodes
from annotate.sources.structext.problem import Problem, Size, Task, distinct
from annotate.sources.structext.trees import Node, full_tree

FIRST_LINE = '<?xml version="1.0" encoding="UTF-8"?>'


def make_tags(size: Size, chance: Chance) -> Node:
    tags, keys, texts = names(0, CAPITAL), names(0, CAPITAL_BACKWARDS), names(0, WORDS, " ")
    values = names(chance.below(26), SMALL_BACKWARDS)

    def made(path: tuple[int, ...]) -> Node:
        attributes = [(next(keys), next(values)) for _ in range(chance.between(1, size.attributes))]
        return Node(next(tags), path, attributes, next(texts))

    return full_tree(size.depth, size.width, made)


def write(node: Node, depth: int, broken: Collection[str] = ()) -> list[str]:
    """Indented by one blank for each level; a broken tag is never ended."""
    indent = " " * depth
    attributes = "".join(f' {key}="{value}"' for key, value in node.attributes)
    lines = [f"{indent}<{node.name}{attributes}>", *inside(node, depth, broken)]
    return lines if node.name in broken else [*lines, f"{indent}</{node.name}>"]


def inside(node: Node, depth: int, broken: Collection[str] = ()) -> list[str]:
    """The lines between the tag and its end."""
    lines = [line for child in node.children for line in write(child, depth + 1, broken)]
    return [*lines, f"{' ' * (depth + 1)}{node.text}"]


def written(root: Node, broken: Collection[str] = ()) -> str:
    return "\n".join([FIRST_LINE, *write(root, 0, broken)])


def contents(node: Node, *, is_published: bool) -> tuple[str, ...]:
    """What is in the tag, indented as if the tag began the file, which is the published answer; and as in the file."""
    alone = "\n".join(inside(node, 0))
    return distinct(alone) if is_published else distinct(alone, "\n".join(inside(node, node.depth)))


def tag_with(root: Node, value: str) -> str:
    return next(node.name for node in root.walk() if value in dict(node.attributes).values())


def _content(size: Size, chance: Chance) -> Problem:
    root = make_tags(size, chance)
    node = chance.pick(list(root.walk()))
    question = (
        f"What is the content of the tag {node.name}? Copy everything between the tag and its end from the XML file, "
        "without the two themselves; how far lines are indented does not matter."
    )
    return Problem(question, written(root), contents(node, is_published=size.is_published))


def _tag(size: Size, chance: Chance) -> Problem:
    root = make_tags(size, chance)
    value = chance.pick([value for node in root.walk() for _, value in node.attributes])
    question = f'Which tag has an attribute with the value "{value}"? Answer with its name.'
    return Problem(question, written(root), (tag_with(root, value),))


def _syntax(size: Size, chance: Chance) -> Problem:
    root = make_tags(size, chance)
    broken = broken_nodes(root, size, chance)
    question = "Is there an error in the structure of this XML file? Answer True if there is, else False."
    return Problem(question, written(root, broken), (str(bool(broken)),))


TASKS = (
    Task(
        "xml-content",
        "xml",
        "TextRetrieval",
        "Find where the tag begins: its name directly after a left angle bracket. Find where it ends: the same name "
        "after a left angle bracket and a slash. The answer is all that stands between the two.",
        _content,
    ),
    Task(
        "xml-tag",
        "xml",
        "TextRetrieval",
        "Search the file for the value in quotes. The name of the tag is the word directly after the nearest left "
        "angle bracket before it.",
        _tag,
    ),
    Task(
        "xml-syntax",
        "xml",
        "Syntax",
        "Parse the XML file from its beginning to its end. What may be wrong is a tag that is never ended.",
        _syntax,
    ),
)
