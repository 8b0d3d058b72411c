"""A claim that becomes a question: which text is the claim, what its source says of it, what is no rewriting. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.answers import AnswerInvalid, FieldSpec, JsonValue, text_key
from annotate.stage_options import RewriteOptions
from annotate.wording import _

IDENTICAL = _("This is the claim, word for word. Write it as a question.")


def claim_of(content: Iterable[Sequence[Any]], shown_keys: Sequence[str], options: RewriteOptions) -> str:
    """The claim as text; "" where the item has none."""
    values = {pair[0]: pair[1] for pair in content}
    key = options.claim_key or next((key for key in shown_keys if key in values), "")
    claim = values.get(key, "")
    return claim if isinstance(claim, str) else ""


def check_rewriting(fields: Sequence[FieldSpec], answer: Mapping[str, JsonValue], claim: str) -> None:
    """Refuse a question that is the claim itself: equal by text key, so in other case or spacing too.

    An empty question is refused where every required field is. Raises AnswerInvalid at the field.
    """
    for field in fields:
        question = answer.get(field.name)
        if field.type == "question" and claim and isinstance(question, str) and text_key(question) == text_key(claim):
            raise AnswerInvalid(field.name, IDENTICAL)


def with_source_label(
    content: Sequence[Sequence[Any]], options: RewriteOptions, fields: Sequence[FieldSpec]
) -> tuple[list[Sequence[Any]], list[str]]:
    """The content with the source's label in the words of the stage's own labels, and the key to show in addition.

    It is content that the file brought, never the gold label. A label that is not mapped stands as the source has it.
    """
    key = options.source_label_key
    values = {pair[0]: pair[1] for pair in content}
    if not key or key not in values:
        return list(content), []
    told = values[key]
    label = dict(options.source_labels).get(str(told), told)
    captions = {option.value: option.caption for field in fields for option in field.options}
    words = captions.get(str(label), label)
    return [[one[0], words if one[0] == key else one[1]] for one in content], [key]
