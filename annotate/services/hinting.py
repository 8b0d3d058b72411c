"""Hints to the author of questions, with what the same person wrote before in this stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.answers import FieldSpec
from annotate.hints import Hint, first_words, hints_for_pairs, hints_for_question
from annotate.models import Annotation, Assignment, Stage

# The rest of a batch of twelve tables: beginnings that were used longer ago are forgotten.
N_EARLIER_ANSWERS = 11
HINTED = frozenset({"question", "qa_pairs"})


def gives_hints(stage: Stage, fields: Sequence[FieldSpec]) -> bool:
    """Where people write questions, not where they correct those of others."""
    return stage.kind in (Stage.Kind.REWRITE, Stage.Kind.AUTHOR) and any(field.type in HINTED for field in fields)


def hints_for(assignment: Assignment, fields: Sequence[FieldSpec], answer: Mapping[str, Any]) -> list[Hint]:
    """What might be looked at again in an answer as it stands, finished or not."""
    language = assignment.stage_item.revision.language
    found: list[Hint] = []
    for field in fields:
        value = answer.get(field.name)
        if field.type == "question" and isinstance(value, str):
            found += hints_for_question(value, language=language, field=field.name)
        elif field.type == "qa_pairs" and isinstance(value, list) and value:
            pairs = [pair for pair in value if isinstance(pair, Mapping)]
            earlier = _earlier_first_words(assignment, field)
            found += hints_for_pairs(pairs, language=language, field=field.name, earlier=earlier)
    return found


def _earlier_first_words(assignment: Assignment, field: FieldSpec) -> list[str]:
    """How the questions begin that the person wrote about the last items, this one left out."""
    own = Annotation.objects.current().filter(
        assignment__stage=assignment.stage_id, assignment__person=assignment.person_id
    )
    answers = own.exclude(assignment=assignment.pk).order_by("-created_at").values_list("answer", flat=True)
    pairs = [pair for answer in answers[:N_EARLIER_ANSWERS] for pair in answer.get(field.name) or []]
    return [words for pair in pairs if isinstance(pair, dict) and (words := first_words(str(pair.get("question", ""))))]
