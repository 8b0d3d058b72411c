"""Structured texts with questions whose gold a program derives: the eight languages and 29 tasks of StrucText-Eval.

chance.py    seeded chance, the same in every process
names.py     names that count: a, b, ... z, ab, bb
trees.py     the full tree that a text is written from
problem.py   what a task makes, and of what size
tables.py edges.py objects.py tags.py outlines.py   the languages: how a tree is written, what is asked, what is right
tasks.py     the 29 tasks by language
recipe.py    what to generate, within which limits, and the items of it as records

Two editions. "corrected" asks what can be answered from the text alone and accepts every right answer; "published"
keeps the rules of the benchmark's own generators where these make items odd (docs/generating.md lists them).
"""

from annotate.sources.structext.recipe import (
    EDITIONS,
    MAPPING,
    Recipe,
    is_recipe,
    read_structext,
    recipe_in,
    recipe_of,
    tasks_of,
)
from annotate.sources.structext.tasks import LANGUAGES, TASKS

__all__ = [
    "EDITIONS",
    "LANGUAGES",
    "MAPPING",
    "TASKS",
    "Recipe",
    "is_recipe",
    "read_structext",
    "recipe_in",
    "recipe_of",
    "tasks_of",
]
