"""What an audit asks about: a frozen label beside an item, in words, and a correction that corrects something. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.answers import (
    AnswerInvalid,
    FieldSpec,
    FieldSpecInvalid,
    JsonValue,
    answer_text,
    get_field_type,
    text_key,
)
from annotate.answers.scale import points_of
from annotate.wording import _

SAME_LABEL = _("That is the label that you call wrong. Choose another one, or call it right.")

# Labels are offered as corrections where they can be chosen from; a longer list is none to choose from by keys.
CHOSEN_FROM = ("choice", "scale")
MAX_OFFERED = 20


def as_candidate(field: str, labels: Sequence[JsonValue]) -> list[list[Any]]:
    """A label as the content of a candidate: [[field, its acceptable values]]."""
    return [[field, list(labels)]]


def labels_in(content: Sequence[Sequence[Any]]) -> list[JsonValue]:
    """The acceptable values of the label that a candidate holds."""
    return list(content[0][1]) if content else []


def label_key(spec: FieldSpec, labels: Sequence[JsonValue]) -> str:
    """The label as a stratum: the keys of its acceptable values. What the field would refuse stands as it is."""
    return "; ".join(sorted({_key(spec, label) for label in labels}))


def label_words(spec: FieldSpec, labels: Sequence[JsonValue]) -> list[str]:
    """Each acceptable value as people read it."""
    return [get_field_type(spec.type).in_words(label, spec) for label in labels]


def corrections_offered(spec: FieldSpec) -> list[dict[str, Any]]:
    """Options of a verdict about this field, as a stage stores them; empty where a correction is written."""
    if spec.type == "scale":
        captions = {option.value: option.caption for option in spec.options}
        points = [str(point) for point in points_of(spec)]
        found: list[dict[str, Any]] = [
            {"value": point, "caption": f"{point} {captions[point]}" if point in captions else point}
            for point in points
        ]
    elif spec.type == "choice":
        found = [
            {"value": option.value, "caption": option.caption}
            | ({"captions": dict(option.captions)} if option.captions else {})
            for option in spec.options
        ]
    else:
        found = []
    return found if len(found) <= MAX_OFFERED else []


def check_correction(fields: Sequence[FieldSpec], answer: Mapping[str, JsonValue], labels: Sequence[JsonValue]) -> None:
    """Refuse a correction that is the label itself. Raises AnswerInvalid at the field."""
    for field in fields:
        value = answer.get(field.name)
        correction = value.get("correction") if field.type == "verdict" and isinstance(value, dict) else None
        if correction is not None and text_key(str(correction)) in {text_key(answer_text(label)) for label in labels}:
            raise AnswerInvalid(field.name, SAME_LABEL)


def corrected(spec: FieldSpec, correction: str) -> JsonValue:
    """A correction as a value of the audited field; None where the field would refuse it."""
    kind = get_field_type(spec.type)
    try:
        value: JsonValue = kind.validate(kind.read({spec.name: correction}, spec), spec)
    except AnswerInvalid:
        return None
    return value


def verdict_in(fields: Sequence[FieldSpec], answer: Mapping[str, JsonValue]) -> tuple[str, str]:
    """(verdict, correction) of an answer; empty texts for what it does not have."""
    for field in fields:
        value = answer.get(field.name) if field.type == "verdict" else None
        if isinstance(value, dict):
            return str(value.get("verdict", "")), str(value.get("correction") or "")
    return "", ""


def label_said(spec: FieldSpec, labels: Sequence[JsonValue], verdict: str, correction: str) -> JsonValue:
    """The label that a verdict is a vote for: the audited one, or the one put in its place; None without any."""
    if verdict == "right":
        return labels[0] if labels else None
    return corrected(spec, correction) if correction else None


def correction_key(spec: FieldSpec, correction: str) -> str:
    """The label that a reviewer put in place of the drawn one, as labels are compared; "" without any."""
    if not correction:
        return ""
    value = corrected(spec, correction)
    return correction if value is None else label_key(spec, [value])


def correction_words(spec: FieldSpec, correction: str) -> str:
    """The same as people read it."""
    value = corrected(spec, correction) if correction else None
    return correction if value is None else label_words(spec, [value])[0]


def described(name: str, labels: Sequence[Sequence[JsonValue]]) -> FieldSpec:
    """A field for labels that no stage asks for: a choice of the values there are, where they are few."""
    values = sorted({answer_text(label) for several in labels for label in several})
    spec: dict[str, Any] = {"name": name, "type": "text", "caption": name.replace("_", " "), "decides": True}
    try:
        if len(values) <= MAX_OFFERED:
            options = [{"value": value, "caption": value} for value in values]
            return FieldSpec.from_json(spec | {"type": "choice", "options": options})
    except FieldSpecInvalid:  # two captions that only differ in case, or a single label
        pass
    return FieldSpec.from_json(spec)


def _key(spec: FieldSpec, label: JsonValue) -> str:
    try:
        return get_field_type(spec.type).canonical_key(label, spec)
    except AnswerInvalid:
        return answer_text(label)
