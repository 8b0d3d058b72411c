"""What to generate, as a small JSON file says it, and its items as records that an import reads like any other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError, shortened
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from annotate.sources.records import Limits, Record
from annotate.sources.structext.chance import Chance
from annotate.sources.structext.problem import Size, Task
from annotate.sources.structext.tasks import LANGUAGES, TASKS
from annotate.sources.structext.trees import n_nodes
from annotate.wording import _

GENERATOR = "structext"
# Raised whenever the same recipe would give other items.
VERSION = 1
EDITIONS = {
    "corrected": _("corrected: every question can be answered from its text, and each right answer counts"),
    "published": _("published: as the benchmark's own generators make them, with their oddities"),
}

MAX_DEPTH = MAX_WIDTH = 10
MAX_PER_CELL = 1_000
MAX_ATTRIBUTES_PER_LEVEL = 20
MAX_SEED = 2**63 - 1
MAX_ITEMS = 20_000
# A text has hardly more lines than its nodes have attributes; one of so many is a megabyte.
MAX_LINES = 60_000
MAX_LINES_IN_ALL = 10_000_000
_MAX_RECIPE_BYTES = 20_000

# What an item says, and where it stands. The rest is its provenance, kept aside.
MAPPING = Mapping(
    content=(
        ContentColumn("question", "question"),
        ContentColumn("reference", "reference", "mono"),
        ContentColumn("format", "format"),
        ContentColumn("rule_hint", "rule_hint"),
    ),
    id_column="id",
    language="en",
    gold=(GoldColumn("answer", "gold"),),
    strata=("language", "task", "task_id", "depth", "width"),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """per_cell items for every task, depth and width. Raises SourceError for what no recipe may say.

    A longer list of tasks, depths or widths, and a larger per_cell, leave the items that were there as they were.
    """

    tasks: tuple[str, ...]
    depths: tuple[int, ...]
    widths: tuple[int, ...]
    per_cell: int = 1
    seed: int = 1
    edition: str = "corrected"
    attributes_per_level: int = 6

    def __post_init__(self) -> None:
        _check_tasks(self.tasks)
        _check_numbers("depths", self.depths, MAX_DEPTH)
        _check_numbers("widths", self.widths, MAX_WIDTH)
        _check_number("per_cell", self.per_cell, 1, MAX_PER_CELL)
        _check_number("seed", self.seed, 0, MAX_SEED)
        _check_number("attributes_per_level", self.attributes_per_level, 1, MAX_ATTRIBUTES_PER_LEVEL)
        if self.edition not in EDITIONS:
            raise SourceError(_("the edition is one of: %(names)s.", names=", ".join(EDITIONS)), field="edition")
        self._check_sizes()

    @property
    def n_items(self) -> int:
        return len(self.tasks) * len(self.depths) * len(self.widths) * self.per_cell

    def to_json(self) -> dict[str, Any]:
        return {"generator": GENERATOR, "version": VERSION, **asdict(self)}

    def as_file(self) -> bytes:
        return json.dumps(self.to_json(), indent=1).encode()

    def records(self) -> Iterator[Record]:
        """Every task of the first depth and width, then of the next, and all of them again for the second items."""
        number = 0
        for nth in range(1, self.per_cell + 1):
            for depth in self.depths:
                for width in self.widths:
                    for name in self.tasks:
                        number += 1
                        yield self._record(number, TASKS[name], depth, width, nth)

    def _record(self, number: int, task: Task, depth: int, width: int, nth: int) -> Record:
        about = (GENERATOR, VERSION, self.edition, self.attributes_per_level, task.name, depth, width, self.seed, nth)
        size = Size(depth, width, self.attributes_per_level * depth, self.edition == "published")
        problem = task.make(size, Chance(*about))
        values: list[tuple[str, Any]] = [
            # Tells nothing: the depth of a tree may be what is asked.
            ("id", f"{GENERATOR}-{hashlib.sha256(repr(about).encode()).hexdigest()[:16]}"),
            ("question", problem.question),
            ("reference", problem.text),
            ("format", LANGUAGES[task.language]),
            ("rule_hint", task.hint),
            ("gold", list(problem.golds)),
            ("language", task.language),
            ("task", task.kind),
            ("task_id", task.name),
            ("depth", depth),
            ("width", width),
            ("generator", f"{GENERATOR} {VERSION}"),
            ("edition", self.edition),
            ("attributes_per_level", self.attributes_per_level),
            ("seed", self.seed),
            ("nth", nth),
        ]
        return Record(number, number, values)

    def _check_sizes(self) -> None:
        if self.n_items > MAX_ITEMS:
            raise SourceError(
                _(
                    "These are %(n)s items; at most %(most)s are generated at once. Choose fewer tasks, depths, "
                    "widths or items for each.",
                    n=f"{self.n_items:,}",
                    most=f"{MAX_ITEMS:,}",
                )
            )
        in_all = 0
        for depth in self.depths:
            for width in self.widths:
                lines = n_nodes(depth, width) * (self.attributes_per_level * depth + 3)
                if lines > MAX_LINES:
                    raise SourceError(
                        _(
                            "A text of depth %(depth)s and width %(width)s may have %(lines)s lines; at most %(most)s "
                            "are written. Choose a smaller depth or width, or fewer attributes.",
                            depth=depth,
                            width=width,
                            lines=f"{lines:,}",
                            most=f"{MAX_LINES:,}",
                        )
                    )
                in_all += lines * len(self.tasks) * self.per_cell
        if in_all > MAX_LINES_IN_ALL:
            raise SourceError(
                _(
                    "All texts together may have %(lines)s lines; at most %(most)s are written at once. Generate them "
                    "in parts.",
                    lines=f"{in_all:,}",
                    most=f"{MAX_LINES_IN_ALL:,}",
                )
            )


def tasks_of(languages: list[str], names: list[str]) -> tuple[str, ...]:
    """All tasks of the languages and those that are named, in their own order; all of all without either."""
    if not languages and not names:
        return tuple(TASKS)
    unknown = [name for name in languages if name not in LANGUAGES]
    if unknown:
        raise SourceError(
            _(
                "“%(name)s” is no language; they are: %(names)s.",
                name=shortened(unknown[0]),
                names=", ".join(LANGUAGES),
            ),
            field="languages",
        )
    _check_tasks(names or list(TASKS))
    return tuple(name for name, task in TASKS.items() if name in names or task.language in languages)


def is_recipe(value: object) -> bool:
    return isinstance(value, dict) and value.get("generator") == GENERATOR


def recipe_in(value: object) -> Recipe:
    """The recipe that a JSON value is. Raises SourceError."""
    if not isinstance(value, dict) or not is_recipe(value):
        raise SourceError(_("This is no recipe for structured texts; choose another format."))
    if value.get("version") != VERSION:
        raise SourceError(
            _(
                "The recipe is for version %(version)s of the generator, and this is version %(ours)s: it would make "
                "other items. Make a new recipe.",
                version=shortened(str(value.get("version"))),
                ours=VERSION,
            ),
            field="version",
        )
    known = {entry.name for entry in fields(Recipe)}
    if unknown := sorted(value.keys() - known - {"generator", "version"}):
        raise SourceError(_("a recipe has no such entry; remove it."), field=unknown[0])
    said: dict[str, Any] = {
        name: tuple(entry) if isinstance(entry, list) else entry for name, entry in value.items() if name in known
    }
    for name in ("tasks", "depths", "widths"):
        if not isinstance(said.get(name), tuple):
            raise SourceError(_("a recipe needs a list here."), field=name)
    return Recipe(**said)


def recipe_of(file: BinaryFile) -> Recipe:
    """The recipe in a file. Raises SourceError."""
    file.seek(0)
    data = file.read(_MAX_RECIPE_BYTES + 1)
    if len(data) > _MAX_RECIPE_BYTES:
        raise SourceError(_("This is no recipe for structured texts; choose another format."))
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as fault:
        raise SourceError(_("This is no recipe for structured texts; choose another format.")) from fault
    return recipe_in(value)


def read_structext(file: BinaryFile, *, limits: Limits) -> Iterator[Record]:
    """The items of the recipe in the file. Raises SourceError for a recipe that cannot be followed."""
    for record in recipe_of(file).records():
        values = dict(record.values)
        n_bytes = len(values["reference"].encode()) + sum(len(gold.encode()) for gold in values["gold"])
        if n_bytes > limits.max_item_bytes:
            raise SourceError(
                _(
                    "this item has more than %(most)s bytes; choose a smaller depth or width, or fewer attributes.",
                    most=f"{limits.max_item_bytes:,}",
                ),
                row=record.number,
            )
        yield record


def _check_tasks(names: object) -> None:
    if not isinstance(names, tuple | list) or not names:
        raise SourceError(_("choose at least one task."), field="tasks")
    for name in names:
        if not isinstance(name, str) or name not in TASKS:
            raise SourceError(_("“%(name)s” is no task.", name=shortened(str(name))), field="tasks")
    if len(set(names)) < len(names):
        raise SourceError(_("a task is named twice."), field="tasks")


def _check_numbers(field: str, numbers: object, most: int) -> None:
    if not isinstance(numbers, tuple) or not numbers:
        raise SourceError(_("choose at least one number."), field=field)
    for number in numbers:
        _check_number(field, number, 1, most)
    if len(set(numbers)) < len(numbers):
        raise SourceError(_("a number is named twice."), field=field)


def _check_number(field: str, number: object, least: int, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise SourceError(
            _("choose whole numbers from %(least)s to %(most)s.", least=f"{least:,}", most=f"{most:,}"), field=field
        )
