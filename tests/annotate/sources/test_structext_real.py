"""The gold of the published records, derived anew from their texts by our own rules."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotate.sources.structext import TASKS
from annotate.sources.structext.edges import path_of
from annotate.sources.structext.objects import JSON, YAML, access_to, deepest, excerpts, first_sub
from annotate.sources.structext.outlines import LATEX, MARKDOWN, ORG, published_place, written
from annotate.sources.structext.tables import cell_of, n_earning_more, n_of_gender, n_taller_at
from annotate.sources.structext.tags import contents, tag_with

from . import structext_readers as readers

pytestmark = pytest.mark.shared_data

NOTATIONS = {"json": JSON, "yaml": YAML}
MARKUPS = {"markdown": MARKDOWN, "latex": LATEX, "org": ORG}
# Published, a task is a number within its language.
NAMES: dict[tuple[str, int], str] = {}
for name, task in TASKS.items():
    NAMES[task.language, sum(language == task.language for language, _ in NAMES)] = name


def published(shared_path: Any) -> list[tuple[str, dict[str, Any]]]:
    root: Path = shared_path("data/structext-eval")
    found = []
    for path in sorted(root.glob("*/*Shotbenchmark/*/*/*.json")):
        language, number = path.parts[-3], int(path.stem.rpartition("_")[2])
        found.append((NAMES[language, number], json.loads(path.read_text(encoding="utf-8"))))
    return found


def derived(task: str, record: dict[str, Any]) -> list[str]:
    """Every answer that our rules give to the record's question about its text."""
    language, _, asked = task.partition("-")
    question, text = record["Question"], record["Reference"]
    if asked == "syntax":
        return [str(not readers.is_well_formed(text, language))]
    if language == "csv":
        people = readers.people_in(text)
        words = question.removesuffix("?").split()
        if asked == "cell":
            return [cell_of(people, words[-1], words[3])]
        if asked == "salary":
            return [str(n_earning_more(people, int(words[-1])))]
        if asked == "gender":
            return [str(n_of_gender(people, words[-1]))]
        return [str(n_taller_at(people, words[6], int(words[-1])))]
    if language == "tree":
        root = readers.tree_in(text)
        if asked == "height":
            return [str(root.height())]
        node = readers.node_called(root, re.search(r"node (\w+)[.?]", question)[1])
        return [str(node.depth) if asked == "depth" else path_of(root, node)]
    if language in NOTATIONS:
        root, notation = readers.objects_in(text, language), NOTATIONS[language]
        if asked == "first":
            return [first_sub(root)]
        if asked == "access":
            return [access_to(root, re.search('"(.+?)"', question)[1])]
        if asked == "deepest":
            return list(deepest(notation, root, is_published=True))
        node = readers.node_called(root, re.search(r"id (\w+)\?", question)[1])
        return list(excerpts(notation, node, is_published=True))
    if language == "xml":
        root = readers.tags_in(text)
        if asked == "tag":
            return [tag_with(root, re.search(r"value (\w+)\?", question)[1])]
        return list(contents(readers.node_called(root, re.search(r"tag (\w+)\?", question)[1]), is_published=True))
    if asked == "section":
        depth = record["Label"]["node_number"]
        root = readers.outline_of_shape(text, depth, depth * record["Label"]["n_ary_ratio"])
        # Deeper than the question names several fit.
        among = [node for node in root.walk() if node.path]
        return [
            written(MARKUPS[language], node, is_published=True)
            for node in among
            if f"of {published_place(node.path)}?" in question
        ]
    found = (readers.bold_in if asked == "bold" else readers.pictures_in)(text, language)
    return ["\n".join(found)]


def test_published_gold_is_ours(shared_path):
    """(equal, the same lines in another order, none in other words) of 12 records of each task."""
    found: dict[str, Counter[str]] = {task: Counter() for task in TASKS}
    for task, record in published(shared_path):
        ours, theirs = derived(task, record), record["Answer"]
        if theirs in [answer.strip() for answer in ours]:
            found[task]["equal"] += 1
        elif sorted(theirs.split("\n")) == sorted(ours[0].split("\n")):
            found[task]["in another order"] += 1
        else:
            found[task]["none" if theirs.startswith("No ") and ours == [""] else "other"] += 1
    assert sum(sum(counts.values()) for counts in found.values()) == 348
    # Published lists are sets, in whatever order; every other gold is ours to the letter.
    assert {task: dict(counts) for task, counts in found.items() if counts != {"equal": 12}} == {
        "markdown-bold": {"equal": 5, "in another order": 7},
        "markdown-pictures": {"equal": 4, "in another order": 6, "none": 2},
        "latex-bold": {"equal": 3, "in another order": 8, "none": 1},
        "latex-pictures": {"equal": 3, "in another order": 7, "none": 2},
        "org-bold": {"equal": 5, "in another order": 7},
        "org-pictures": {"equal": 4, "in another order": 8},
    }
