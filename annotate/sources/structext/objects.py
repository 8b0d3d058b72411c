"""Nested objects in JSON and YAML: an id, attributes, and a list `subs` of further objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from annotate.sources.structext.chance import Chance
from annotate.sources.structext.names import CAPITAL_BACKWARDS, SMALL_BACKWARDS, names
from annotate.sources.structext.problem import Problem, Size, Task, distinct
from annotate.sources.structext.trees import Node, full_tree

# Of the places where a text may be broken, as published; corrected ones are broken at one place, or not at all.
PUBLISHED_BREAKS = 0.8


@dataclass(frozen=True, slots=True)
class Notation:
    """How objects are written. write(node, depth, broken, names of errors, is_published) gives lines."""

    language: str
    caption: str
    write: Callable[[Node, int, Collection[str], Iterator[str], bool], list[str]]
    error: str


def make_objects(size: Size, chance: Chance) -> tuple[Node, Iterator[str]]:
    """The root, and names that no object has."""
    ids, keys = names(chance.below(26)), names(0, CAPITAL_BACKWARDS)
    values = names(chance.below(26), SMALL_BACKWARDS)

    def made(path: tuple[int, ...]) -> Node:
        attributes = [(next(keys), next(values)) for _ in range(chance.between(1, size.attributes))]
        return Node(next(ids), path, attributes)

    return full_tree(size.depth, size.width, made), ids


def write_json(node: Node, depth: int, broken: Collection[str], errors: Iterator[str], is_published: bool) -> list[str]:
    """One thing a line, indented by one blank for each level; a broken object has no closing brace."""
    indent = " " * depth
    lines = [f"{indent}{{", f'{indent}"id":"{node.name}",', *(f'{indent}"{k}":"{v}",' for k, v in node.attributes)]
    if node.children:
        lines.append(f'{indent}"subs":[')
        for child in node.children:
            lines += write_json(child, depth + 1, broken, errors, is_published)
            if child is not node.children[-1]:
                lines[-1] += ","
        lines.append(f"{indent}]")
    else:
        lines.append(f'{indent}"subs":[]')
    if node.name not in broken:
        lines.append(f"{indent}}}")
    return lines


def write_yaml(node: Node, depth: int, broken: Collection[str], errors: Iterator[str], is_published: bool) -> list[str]:
    """A broken object is followed by a line that is a value without a key. As published, a comma ends each value."""
    indent = "  " * depth
    dash = f"{'  ' * (depth - 1)}- " if depth else ""
    value = "{}," if is_published else '"{}"'
    lines = [f'{dash}id: "{node.name}"', *(f"{indent}{k}: {value.format(v)}" for k, v in node.attributes)]
    if node.children:
        lines.append(f"{indent}subs: " if is_published else f"{indent}subs:")
        for child in node.children:
            lines += write_yaml(child, depth + 1, broken, errors, is_published)
    else:
        lines.append(f"{indent}subs: []")
    if node.name in broken:
        lines.append(f"{indent}:{next(errors)}")
    return lines


def first_sub(root: Node) -> str:
    return root.children[0].name


def access_to(root: Node, value: str) -> str:
    """The expression that leads to a value, whose values are all different."""
    for node in root.walk():
        for key, known in node.attributes:
            if known == value:
                steps = "".join(f'["subs"][{place}]' for place in node.path)
                return f'obj{steps}["{key}"]'
    raise ValueError(f"no object has the value {value}")


def excerpts(notation: Notation, node: Node, *, is_published: bool) -> tuple[str, ...]:
    """The object as if it were the whole file, which is the published answer; and with the file's own indentation."""
    alone = _joined(notation, node, 0, is_published)
    return distinct(alone) if is_published else distinct(alone, _in_file(notation, node))


def deepest(notation: Notation, root: Node, *, is_published: bool) -> tuple[str, ...]:
    """The objects without further ones below them, one after another with a blank line between."""
    leaves = [node for node in root.walk() if not node.children]
    alone = "\n\n".join(_joined(notation, leaf, 0, is_published) for leaf in leaves)
    in_file = "\n\n".join(_in_file(notation, leaf) for leaf in leaves)
    return distinct(alone) if is_published else distinct(alone, in_file)


def _joined(notation: Notation, node: Node, depth: int, is_published: bool) -> str:
    return "\n".join(notation.write(node, depth, (), iter(()), is_published))


def _in_file(notation: Notation, node: Node) -> str:
    """From its first character on: neither the indentation before it nor a dash is part of it."""
    return _joined(notation, node, node.depth, False).lstrip(" -")


def written(notation: Notation, root: Node, *, is_published: bool) -> str:
    return _joined(notation, root, 0, is_published)


def _object(notation: Notation, size: Size, chance: Chance) -> Problem:
    root, _ = make_objects(size, chance)
    node = chance.pick(list(root.walk()))
    question = (
        f"Which object has the id {node.name}? Copy the whole object from the {notation.caption} file, with everything "
        "in it; how far its lines are indented does not matter."
    )
    golds = excerpts(notation, node, is_published=size.is_published)
    return Problem(question, written(notation, root, is_published=size.is_published), golds)


def _first(notation: Notation, size: Size, chance: Chance) -> Problem:
    root, _ = make_objects(size, chance)
    question = "What is the id of the first object in the list subs of the outermost object?"
    return Problem(question, written(notation, root, is_published=size.is_published), (first_sub(root),))


def _syntax(notation: Notation, size: Size, chance: Chance) -> Problem:
    root, free = make_objects(size, chance)
    broken = broken_nodes(root, size, chance)
    text = "\n".join(notation.write(root, 0, broken, free, size.is_published))
    question = (
        f"Is there an error in the structure of this {notation.caption} file? Answer True if there is, else False."
    )
    return Problem(question, text, (str(bool(broken)),))


def broken_nodes(root: Node, size: Size, chance: Chance) -> frozenset[str]:
    """Where the text is broken. One text in two has a single error; as published, nearly every node of all has one."""
    named = [node.name for node in root.walk()]
    if size.is_published:
        return frozenset(name for name in named if chance.happens(PUBLISHED_BREAKS))
    return frozenset([chance.pick(named)] if chance.happens(0.5) else [])


def _access(notation: Notation, size: Size, chance: Chance) -> Problem:
    root, _ = make_objects(size, chance)
    value = chance.pick([value for node in root.walk() for _, value in node.attributes])
    question = (
        f'How is the value "{value}" reached from the outermost object obj? Write keys in double quotes and places, '
        "counted from 0, in square brackets, in the form obj[key or place][key or place]..."
    )
    return Problem(question, written(notation, root, is_published=size.is_published), (access_to(root, value),))


def _deepest(notation: Notation, size: Size, chance: Chance) -> Problem:
    root, _ = make_objects(size, chance)
    question = (
        f"Which objects are nested most deeply, that is, have no further object in them? Copy them from the "
        f"{notation.caption} file in their order, with an empty line between two; how far their lines are indented "
        f"does "
        "not matter."
    )
    golds = deepest(notation, root, is_published=size.is_published)
    return Problem(question, written(notation, root, is_published=size.is_published), golds)


JSON = Notation("json", "JSON", write_json, "a closing brace that is missing")
YAML = Notation("yaml", "YAML", write_yaml, "a colon without a key before it")


def _tasks(notation: Notation) -> tuple[Task, ...]:
    def of(make: Callable[[Notation, Size, Chance], Problem]) -> Callable[[Size, Chance], Problem]:
        return lambda size, chance: make(notation, size, chance)

    language, caption = notation.language, notation.caption
    return (
        Task(
            f"{language}-object",
            language,
            "TextRetrieval",
            f"Read the {caption} file from the outermost object on. Compare the id of each object with the one in the "
            "question; where it differs, look at the objects in its list subs in the same way. The answer is the "
            "object that has the id, from its beginning to its end.",
            of(_object),
        ),
        Task(
            f"{language}-first",
            language,
            "PathWalk",
            "Take the outermost object and look at its own list subs, not at those of the objects in it. The answer is "
            "the id of the first object of that list.",
            of(_first),
        ),
        Task(
            f"{language}-syntax",
            language,
            "Syntax",
            f"Parse the {caption} file from its beginning to its end. What may be wrong is {notation.error}.",
            of(_syntax),
        ),
        Task(
            f"{language}-access",
            language,
            "PathCompose",
            "Search the value from the outermost object on, in the attributes of each object and then in those of its "
            'list subs. For every list that you enter write ["subs"] and the place of the object in brackets, counted '
            "from 0, and at the end the key that has the value.",
            of(_access),
        ),
        Task(
            f"{language}-deepest",
            language,
            "TextRetrieval",
            "Go through the lists subs from the outermost object on. An object whose list subs is empty is one of "
            "those that are nested most deeply.",
            of(_deepest),
        ),
    )


TASKS = (*_tasks(JSON), *_tasks(YAML))
