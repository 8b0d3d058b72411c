"""A tree as a list of its edges, `father->child`, one a line."""

from __future__ import annotations

from annotate.sources.structext.chance import Chance
from annotate.sources.structext.names import names
from annotate.sources.structext.problem import Problem, Size, Task
from annotate.sources.structext.trees import Node, full_tree

ARROW = "->"


def make_tree(size: Size, chance: Chance) -> Node:
    free = names(chance.below(26))
    return full_tree(size.depth, size.width, lambda path: Node(next(free), path))


def written(root: Node) -> str:
    """The edge into every node but the root, each before those below it."""
    fathers = {child.name: node.name for node in root.walk() for child in node.children}
    return "\n".join(f"{fathers[node.name]}{ARROW}{node.name}" for node in root.walk() if node.name in fathers)


def path_of(root: Node, node: Node) -> str:
    return ARROW.join(step.name for step in root.way_to(node))


def _height(size: Size, chance: Chance) -> Problem:
    root = make_tree(size, chance)
    question = (
        "How high is the tree, that is, how many edges has the longest path from its root down to a leaf? "
        "Answer with a whole number; a leaf alone has height 0."
    )
    return Problem(question, written(root), (str(root.height()),))


def _depth(size: Size, chance: Chance) -> Problem:
    root = make_tree(size, chance)
    node = chance.pick(list(root.walk()))
    question = f"At which depth is the node {node.name}? Answer with a whole number; the root has depth 0."
    return Problem(question, written(root), (str(node.depth),))


def _path(size: Size, chance: Chance) -> Problem:
    root = make_tree(size, chance)
    node = chance.pick(list(root.walk()))
    question = f"Which path leads from the root to the node {node.name}? Write it in the form A->D->H."
    return Problem(question, written(root), (path_of(root, node),))


TASKS = (
    Task(
        "tree-height",
        "tree",
        "Tree.Height",
        "The root is the one name that never stands to the right of an arrow. The height of a node without children is "
        "0; that of any other node is one more than the largest height among its children. Work upwards from the "
        "leaves; the height of the tree is that of its root.",
        _height,
    ),
    Task(
        "tree-depth",
        "tree",
        "Tree.Depth",
        "The root is the one name that never stands to the right of an arrow, and its depth is 0. A child is one "
        "deeper than its father. Go from the root downwards, or from the node upwards, and count the edges.",
        _depth,
    ),
    Task(
        "tree-path",
        "tree",
        "PathCompose",
        "Find the line with the node to the right of the arrow: its father stands to the left. Do the same with the "
        "father until you reach the root, which never stands to the right. Write what you met from the root downwards.",
        _path,
    ),
)
