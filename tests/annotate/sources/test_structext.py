"""Generated texts: items by eye, their gold by a second route, the same bytes in every process, and limits."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from annotate.sources.detect import detect
from annotate.sources.errors import SourceError
from annotate.sources.mapping import apply
from annotate.sources.reading import read_records
from annotate.sources.records import Limits
from annotate.sources.structext import EDITIONS, LANGUAGES, MAPPING, TASKS, Recipe, read_structext, tasks_of
from annotate.sources.structext.chance import Chance
from annotate.sources.structext.names import name_of
from annotate.sources.structext.outlines import published_place
from annotate.sources.structext.problem import Problem, Size
from annotate.sources.structext.trees import n_nodes
from config.env import PROJECT

from . import structext_readers as readers

ITEMS = Path(__file__).with_name("structext_items.txt")
SMALLEST = Recipe(tuple(TASKS), (1,), (2,), attributes_per_level=1)


def as_text(recipe: Recipe) -> str:
    parts = []
    for record in recipe.records():
        values = dict(record.values)
        gold = "\n  or\n".join(values["gold"])
        parts.append(f"=== {values['task_id']}\n{values['question']}\n---\n{values['reference']}\n--- gold\n{gold}\n")
    return "".join(parts)


def problems(task: str, edition: str, sizes: list[tuple[int, int]], n: int) -> list[tuple[Size, Problem]]:
    made = []
    for depth, width in sizes:
        size = Size(depth, width, 2 * depth, edition == "published")
        made += [(size, TASKS[task].make(size, Chance(task, edition, depth, width, nth))) for nth in range(n)]
    return made


def test_there_are_29_tasks_in_eight_languages():
    by_language = {name: sum(task.language == name for task in TASKS.values()) for name in LANGUAGES}
    assert by_language == {
        "csv": 4, "tree": 3, "json": 5, "yaml": 5, "xml": 3, "markdown": 3, "latex": 3, "org": 3,
    }  # fmt: skip
    assert len({task.hint for task in TASKS.values()}) > 20
    assert all(name.startswith(task.language) for name, task in TASKS.items())


def test_every_task_by_eye():
    # One small item of each of the 29, with its gold: whoever reads the file can answer it. It pins the bytes, too.
    assert as_text(SMALLEST) == ITEMS.read_text(encoding="utf-8")


def test_names_count_with_the_lowest_letter_first():
    assert [name_of(n) for n in (0, 1, 25, 26, 27, 51, 52, 675, 676, 702)] == [
        "a", "b", "z", "ab", "bb", "zb", "ac", "zz", "aab", "abb",
    ]  # fmt: skip


def test_a_full_tree_has_as_many_nodes():
    # 1 + 2 + 4; 1 + 4 + 16 + 64 + 256; 1 + 9 + 81 + 729; a chain of five.
    assert [n_nodes(2, 2), n_nodes(4, 4), n_nodes(3, 9), n_nodes(4, 1)] == [7, 341, 820, 5]


SIZES = [(1, 1), (1, 3), (2, 2), (3, 2), (4, 1), (4, 2)]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("task", TASKS)
def test_gold_is_found_again_by_a_parser(task: str, edition: str):
    for size, problem in problems(task, edition, SIZES, 6):
        assert problem.golds, problem
        check(task, size, problem)


def check(task: str, size: Size, problem: Problem) -> None:
    language, _, asked = task.partition("-")
    question, text, golds = problem.question, problem.text, problem.golds
    if asked == "syntax":
        assert golds == (str(not readers.is_well_formed(text, language)),)
    elif language == "csv":
        people = readers.people_in(text).rows
        assert len(people) == (size.depth if size.is_published else n_nodes(size.depth, size.width))
        if asked == "cell":
            column, key = re.search(r"the (\w+) of the record whose primeKey is (\w+)", question).groups()
            assert golds == (next(row[column] for row in people if row["primeKey"] == key),)
        else:
            words = question.removesuffix("?").split()
            wanted = {
                "salary": lambda row: int(row["salary"]) > int(words[-1]),
                "gender": lambda row: row["gender"] == words[-1],
                "join": lambda row: row["location"] == words[8] and int(row["height"]) > int(words[-1]),
            }[asked]
            assert golds == (str(len([row for row in people if wanted(row)])),)
    elif language == "tree":
        root = readers.tree_in(text)
        node = readers.node_called(root, re.search(r"node (\w+)", question)[1]) if asked != "height" else root
        deepest = max(len(node.path) for node in root.walk())
        way = "->".join(readers.node_at(root, node.path[:n]).name for n in range(len(node.path) + 1))
        assert golds == ({"height": str(deepest), "depth": str(len(node.path)), "path": way}[asked],)
    elif language in ("json", "yaml"):
        root = readers.objects_in(text, language)
        if asked == "first":
            assert golds == (root.children[0].name,)
        elif asked == "access":
            value = re.search(r'the value "(\w+)"', question)[1]
            found = json.loads(text) if language == "json" else readers.yaml.load(text, readers.yaml.BaseLoader)
            for step in re.findall(r"\[(.+?)\]", golds[0].removeprefix("obj")):
                found = found[json.loads(step)]
            assert found.removesuffix(",") == value
        elif asked == "object":
            node = readers.node_called(root, re.search(r"the id (\w+)\?", question)[1])
            for gold in golds:
                assert list(read_excerpt(gold, language).walk()) == reseated(node)
                assert readers.stands_in(gold, text)
        else:
            leaves = [[node.name, node.attributes] for node in root.walk() if not node.children]
            for gold in golds:
                parts = [read_excerpt(part, language) for part in gold.split("\n\n")]
                assert [[part.name, part.attributes] for part in parts] == leaves
    elif language == "xml":
        root = readers.tags_in(text)
        if asked == "tag":
            value = re.search(r'the value "(\w+)"', question)[1]
            assert golds == tuple(node.name for node in root.walk() if value in dict(node.attributes).values())
        else:
            node = readers.node_called(root, re.search(r"the tag (\w+)\?", question)[1])
            for gold in golds:
                inner = readers.tags_in(f"<{node.name}>{gold}</{node.name}>")
                assert [one.name for one in inner.walk()] == [one.name for one in node.walk()]
                assert readers.stands_in(gold, text)
    elif asked == "section":
        (gold,) = golds
        assert gold in text
        if language == "latex" and size.is_published:
            root = readers.outline_of_shape(text, size.depth, size.width)
        else:
            root = readers.outline_in(text, language)
        if size.is_published:
            among = [node for node in root.walk() if node.path and published_place(node.path) in question]
        else:
            path = tuple(int(number) - 1 for number in re.findall(r"number (\d+)", question))
            among = [readers.node_at(root, path)]
        # The section and what is below it, each a heading and a line.
        lines = gold.split("\n")
        whole = [[re.findall(r"\w+", name)[-1], line] for name, line in zip(lines[::2], lines[1::2], strict=True)]
        assert whole in [[[one.name, one.text] for one in node.walk()] for node in among]
    else:
        found = (readers.bold_in if asked == "bold" else readers.pictures_in)(text, language)
        none = re.search("answer: (.+)", question)[1]
        if size.is_published:
            assert sorted(golds[0].split("\n")) == sorted(found or [none])
        else:
            assert golds == ("\n".join(found) or none,)


def read_excerpt(gold: str, language: str):
    # What is copied from YAML may begin behind the indentation of the lines after it.
    lines = gold.split("\n")
    if language == "yaml" and len(lines) > 1:
        indent = len(lines[1]) - len(lines[1].lstrip())
        gold = "\n".join([" " * indent + lines[0], *lines[1:]])
    return readers.objects_in(gold, language)


def reseated(node):
    """The nodes as they are when this one is the root."""
    depth = len(node.path)
    return list(moved(node, depth).walk())


def moved(node, depth):
    return type(node)(
        node.name, node.path[depth:], node.attributes, node.text, [moved(child, depth) for child in node.children]
    )


def test_one_text_in_two_is_broken_and_at_one_place_only():
    made = [problem for _, problem in problems("xml-syntax", "corrected", [(3, 3)], 200)]
    n_broken = sum(problem.golds == ("True",) for problem in made)
    # Of 200 at one in two: 3.5 standard deviations of 7.07 to each side.
    assert 75 <= n_broken <= 125
    missing = {text.count("<") - 2 * 40 - 1 for text in (problem.text for problem in made)}
    assert missing == {0, -1}


def test_published_texts_are_nearly_all_broken():
    made = [problem for _, problem in problems("json-syntax", "published", [(2, 2)], 100)]
    # Sound with .2 ** 7: one in 78,125.
    assert [problem.golds for problem in made] == [("True",)] * 100


def test_published_lists_are_in_no_order_and_corrected_ones_in_that_of_the_file():
    def in_order(edition: str) -> list[bool]:
        made = [problem for _, problem in problems("markdown-bold", edition, [(3, 2)], 40)]
        return [problem.golds[0].split("\n") == readers.bold_in(problem.text, "markdown") for problem in made]

    assert all(in_order("corrected"))
    assert not any(in_order("published")[1:8])


def test_published_texts_repeat_what_lies_between_two_marks():
    text = "The text in which the bold word stands last"
    from annotate.sources.structext.outlines import _with_marks

    marks = [(20, "**b**"), (8, "![p]")]
    assert _with_marks(text, marks, is_published=False) == f"{text[:8]}![p]{text[8:20]}**b**{text[20:]}"
    assert _with_marks(text, marks, is_published=True) == f"{text[:20]}**b**![p]{text[8:]}"


def test_published_questions_name_three_levels_at_most():
    assert published_place((1, 0)) == "1th subsection under 2th section"
    assert published_place((0, 1, 2, 3)) == "3th subsubsection under 2th subsection under 1th section"


def test_every_process_makes_the_same_bytes():
    program = (
        "import hashlib; from annotate.sources.structext import Recipe, TASKS\n"
        "made = Recipe(tuple(TASKS), (2, 3), (1, 2), 2, 7).records()\n"
        "print(hashlib.sha256(repr([record.values for record in made]).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=PROJECT,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(digests) == 1


def test_a_longer_recipe_keeps_the_items_of_a_shorter_one():
    short = Recipe(("tree-path", "org-bold"), (2,), (2,), 2, 9)
    long = Recipe(("tree-path", "csv-join", "org-bold"), (1, 2), (2, 3), 3, 9)
    items = {dict(record.values)["id"]: record.values for record in long.records()}
    assert len(items) == long.n_items == 36
    assert all(items[dict(record.values)["id"]] == record.values for record in short.records())


def test_other_seeds_sizes_and_editions_give_other_items():
    base = {"tasks": ("json-object",), "depths": (2,), "widths": (2,)}
    recipes = [
        Recipe(**base),
        Recipe(**base, seed=2),
        Recipe(**base, edition="published"),
        Recipe(**base, attributes_per_level=5),
        Recipe(**(base | {"widths": (3,)})),
    ]
    records = [dict(next(recipe.records()).values) for recipe in recipes]
    assert len({values["id"] for values in records}) == len({values["reference"] for values in records}) == 5


def test_an_item_says_what_it_is_to_those_who_may_know():
    record = next(Recipe(("tree-height",), (3,), (2,), 1, 5).records())
    draft = apply(MAPPING, record)
    assert [key for key, _ in draft.content] == ["question", "reference", "format", "rule_hint"]
    assert draft.content[1][1]["type"] == "mono"
    assert draft.gold == {"answer": ["3"]}
    assert draft.strata == [
        ["language", "tree"], ["task", "Tree.Height"], ["task_id", "tree-height"], ["depth", "3"], ["width", "2"],
    ]  # fmt: skip
    assert draft.extra == [
        ["generator", "structext 1"], ["edition", "corrected"], ["attributes_per_level", 6], ["seed", 5], ["nth", 1],
    ]  # fmt: skip
    assert draft.language == "en"
    # The height of a full tree is its depth: an id that tells the size would tell the answer.
    assert re.fullmatch("structext-[0-9a-f]{16}", draft.external_id)


def test_a_recipe_is_a_file_like_any_other():
    recipe = Recipe(("csv-cell",), (1,), (1, 2), 2, 3)
    file = io.BytesIO(recipe.as_file())
    detected = detect(file, "anything.txt")
    assert detected.format == "structext"
    assert [record.values for record in read_records(file, detected)] == [record.values for record in recipe.records()]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"depths": (10,), "widths": (10,)}, "may have"),
        ({"depths": (11,)}, "whole numbers from 1 to 10"),
        ({"depths": ()}, "at least one number"),
        ({"depths": (True,)}, "whole numbers"),
        ({"widths": (2, 2)}, "named twice"),
        ({"per_cell": 10**9}, "from 1 to 1,000"),
        ({"per_cell": 1000, "depths": (1, 2, 3), "widths": (1, 2)}, "174,000 items; at most 20,000"),
        ({"per_cell": 200, "depths": (5,), "widths": (4,)}, "All texts together"),
        ({"seed": -1}, "from 0 to"),
        ({"seed": 1.5}, "whole numbers"),
        ({"tasks": ("json-object", "rm -rf")}, "is no task"),
        ({"tasks": ()}, "at least one task"),
        ({"tasks": ("csv-cell", "csv-cell")}, "named twice"),
        ({"edition": "first"}, "the edition is one of"),
        ({"attributes_per_level": 1_000}, "from 1 to 20"),
    ],
)
def test_what_no_recipe_may_say(changes, words):
    said = {"tasks": tuple(TASKS), "depths": (2,), "widths": (2,)} | changes
    with pytest.raises(SourceError, match=words):
        Recipe(**said)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no recipe"),
        (b"[]", "no recipe"),
        (b"[" * 19_000, "no recipe"),
        (b'{"generator": "structext", "version": 2}', "version 2"),
        (b'{"generator": "structext", "version": 1}', "needs a list"),
        (b'{"generator": "structext", "version": 1, "code": "x"}', "no such entry"),
        (b'{"generator": "structext", "version": 1, "tasks": [{}], "depths": [1], "widths": [1]}', "is no task"),
        (b'{"generator": "structext", "version": 1, "tasks": ["csv-cell"], "depths": [[1]], "widths": [1]}', "whole"),
        (b'{"generator": "structext"' + b" " * 30_000 + b"}", "no recipe"),
    ],
)
def test_what_is_no_recipe(data, words):
    with pytest.raises(SourceError, match=words):
        list(read_structext(io.BytesIO(data), limits=Limits()))


def test_an_item_that_is_too_large_is_named():
    recipe = Recipe(("tree-path", "json-object"), (3,), (3,))
    with pytest.raises(SourceError, match="Row 2: this item has more than 1,000 bytes"):
        list(read_structext(io.BytesIO(recipe.as_file()), limits=Limits(max_item_bytes=1_000)))


def test_tasks_by_language_and_by_name():
    assert tasks_of(["tree"], ["csv-join"]) == ("csv-join", "tree-height", "tree-depth", "tree-path")
    assert tasks_of([], []) == tuple(TASKS)
    with pytest.raises(SourceError, match="is no language"):
        tasks_of(["toml"], [])
