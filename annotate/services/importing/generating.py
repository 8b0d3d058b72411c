"""Items that a recipe makes: imported as a file is, by which they are previewed, stored whole and known again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.core.files.base import ContentFile

from annotate.models import ImportJob
from annotate.services.importing.problems import refusal
from annotate.services.importing.reading import fit_to_stage, label_fields
from annotate.sources import structext
from annotate.sources.detect import GENERATED_FORMATS, Detected
from annotate.sources.errors import SourceError
from annotate.sources.mapping import Mapping


def recipe_file(recipe: structext.Recipe) -> ContentFile[bytes]:
    """The recipe as somebody would upload it. The set of its items gets the file's name."""
    return ContentFile(recipe.as_file(), name=f"structext-seed-{recipe.seed}.json")


def n_generated(file: Any, detected: Detected) -> int:
    """How many items the recipe in the file makes, 0 for any other file. Raises ImportRefused for a faulty recipe."""
    if detected.format not in GENERATED_FORMATS:
        return 0
    try:
        return structext.recipe_of(file).n_items
    except SourceError as fault:
        raise refusal(fault) from fault


def generated_mapping(job: ImportJob) -> Mapping:
    """What the columns of generated items mean; their gold is of the field that takes a text as answer."""
    specs = label_fields(job.project, job.stage)
    taking = [spec.name for spec in specs if spec.name == "answer"]
    taking += [spec.name for spec in specs if spec.type in ("long_text", "text")]
    mapping = structext.MAPPING
    gold = tuple(replace(entry, field=taking[0]) for entry in mapping.gold) if taking else ()
    return fit_to_stage(replace(mapping, gold=gold), job.stage)
