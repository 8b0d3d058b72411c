"""The shape of a recipe for structured texts, as an admin fills it in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotate.import_forms import StageField
from annotate.models import Project
from annotate.project_forms import PlainForm
from annotate.sources.errors import SourceError
from annotate.sources.structext import EDITIONS, LANGUAGES, TASKS, Recipe
from annotate.sources.structext.recipe import (
    MAX_ATTRIBUTES_PER_LEVEL,
    MAX_DEPTH,
    MAX_PER_CELL,
    MAX_SEED,
    MAX_WIDTH,
)
from annotate.wording import _

# What a task asks for, in words for whoever chooses.
TASK_WORDS = {
    "csv-cell": _("a cell of a row"),
    "csv-salary": _("count: salary above"),
    "csv-gender": _("count: of one gender"),
    "csv-join": _("count over both tables"),
    "tree-height": _("height of the tree"),
    "tree-depth": _("depth of a node"),
    "tree-path": _("path to a node"),
    "object": _("object with an id"),
    "first": _("first object inside"),
    "syntax": _("is it well-formed"),
    "access": _("path to a value"),
    "deepest": _("innermost objects"),
    "content": _("content of a tag"),
    "tag": _("tag with a value"),
    "bold": _("bold texts"),
    "section": _("content of a section"),
    "pictures": _("included pictures"),
}


class NumbersField(forms.CharField):
    """Whole numbers with commas between them, ranges such as 1-3 among them."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        super().__init__(max_length=60, **kwargs)
        self._most = most

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value) or ""
        numbers: list[int] = []
        for part in filter(None, text.replace(" ", "").replace("–", "-").split(",")):
            first, dash, last = part.partition("-")
            if not (first.isdecimal() and (last.isdecimal() or not dash)) or len(part) > 8:
                raise ValidationError(_("Write whole numbers, such as 1, 2, 4 or 1-3."))
            ends = int(first), int(last if dash else first)
            if not 1 <= ends[0] <= ends[1] <= self._most:
                raise ValidationError(_("Choose whole numbers from 1 to %(most)s.", most=self._most))
            numbers += range(ends[0], ends[1] + 1)
        return tuple(sorted(set(numbers)))


class GenerateForm(PlainForm):
    tasks = forms.MultipleChoiceField(
        choices=[(name, name) for name in TASKS], widget=forms.CheckboxSelectMultiple, label=_("Tasks")
    )
    depths = NumbersField(most=MAX_DEPTH, label=_("Depths"), help_text=_("Levels below the root: 2, or 1-3."))
    widths = NumbersField(
        most=MAX_WIDTH,
        label=_("Widths"),
        help_text=_("Children of each node; every depth is combined with each width."),
    )
    per_cell = forms.IntegerField(
        min_value=1,
        max_value=MAX_PER_CELL,
        label=_("Items per cell"),
        help_text=_("For each task at each depth and width."),
    )
    seed = forms.IntegerField(
        min_value=0, max_value=MAX_SEED, label=_("Seed"), help_text=_("The same seed gives the same items, anywhere.")
    )
    attributes_per_level = forms.IntegerField(
        min_value=1,
        max_value=MAX_ATTRIBUTES_PER_LEVEL,
        label=_("Attributes per level"),
        help_text=_("A node of a text of depth 2 has up to twice as many attributes, or words."),
    )
    edition = forms.ChoiceField(choices=list(EDITIONS.items()), label=_("Edition"), widget=forms.RadioSelect)
    stage = StageField(
        label=_("For the stage"), help_text=_("Its people can take the items as soon as they are imported.")
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        kwargs["initial"] = {
            "tasks": list(TASKS),
            "depths": "1-3",
            "widths": "1-3",
            "per_cell": 1,
            "seed": 1,
            "attributes_per_level": 6,
            "edition": "corrected",
        } | (kwargs.get("initial") or {})
        super().__init__(*args, **kwargs)
        stage: Any = self.fields["stage"]
        stage.of_project(project)
        self.recipe: Recipe | None = None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            chosen = set(data["tasks"])
            try:
                self.recipe = Recipe(
                    tasks=tuple(name for name in TASKS if name in chosen),
                    depths=data["depths"],
                    widths=data["widths"],
                    per_cell=data["per_cell"],
                    seed=data["seed"],
                    edition=data["edition"],
                    attributes_per_level=data["attributes_per_level"],
                )
            except SourceError as fault:
                raise ValidationError(fault.problem) from fault
        return data

    def groups(self) -> list[tuple[str, list[tuple[str, Any, bool]]]]:
        """(language, [(task, words, whether it is chosen)]) for the page."""
        chosen = self["tasks"].value() or []
        return [
            (
                caption,
                [
                    (name, TASK_WORDS[name if name in TASK_WORDS else name.partition("-")[2]], name in chosen)
                    for name, task in TASKS.items()
                    if task.language == language
                ],
            )
            for language, caption in LANGUAGES.items()
        ]
