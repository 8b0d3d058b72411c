"""Questions with their answers, as somebody writes them about a table."""

import json
import re
from collections.abc import Mapping
from itertools import zip_longest

from annotate.answers.characters import one_string, storable_string
from annotate.answers.equivalence import is_blank, text_key
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning import short_answer_key
from annotate.wording import _

MAX_PAIRS = 50
_MAX_LENGTH = 2_000
_BETWEEN = re.compile(r"\t|(?<=[?？]) {1,20}")
_PARTS = ("question", "answer")
_PART_WORDS = {"question": _("question"), "answer": _("answer")}


@field_type("qa_pairs")
class QuestionsWithAnswers(FieldType):
    """The value is a list of {"question": ..., "answer": ...}. The order of the pairs does not matter."""

    settings = frozenset({"min", "max"})

    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        raw = data.get(spec.name)
        if isinstance(raw, list | tuple) and any(isinstance(entry, Mapping) for entry in raw):
            return [self._stored(entry, spec) for entry in raw] or None
        if f"{spec.name}.question" in data or f"{spec.name}.answer" in data:
            # In a form each pair has two inputs; those that nobody touched are no pairs.
            pairs = [self._stored(pair, spec) for pair in self._typed_pairs(data, spec)]
            return [pair for pair in pairs if isinstance(pair, dict) and not _is_empty(pair)] or None
        text = one_string(data, spec)
        return None if text is None else self._from_text(text) or None

    def as_typed(self, data: RawData, spec: FieldSpec) -> JsonValue:
        """The pairs as they stand, untouched ones too; after a step that a button of the form asks for."""
        pairs = self._typed_pairs(data, spec)
        step = data.get(f"{spec.name}.step")
        return list(_stepped(pairs, str(_as_list(step)[-1]), spec) if step else pairs) or None

    def _typed_pairs(self, data: RawData, spec: FieldSpec) -> list[dict[str, JsonValue]]:
        columns = [_as_list(data.get(f"{spec.name}.{part}")) for part in _PARTS]
        return [
            {part: _one_line_end(text) for part, text in zip(_PARTS, texts, strict=True)}
            for texts in zip_longest(*columns, fillvalue="")
        ]

    def validate(self, value: object, spec: FieldSpec) -> list[JsonValue]:
        entries = self._from_text(storable_string(value, spec)) if isinstance(value, str) else value
        if entries is None or entries == []:
            raise AnswerInvalid(spec.name, _("Write at least one question with its answer."))
        if not isinstance(entries, list | tuple):
            raise AnswerInvalid(spec.name, _("This answer must be a list of questions with answers."))
        most = MAX_PAIRS if spec.maximum is None else spec.maximum
        if len(entries) > most:
            raise AnswerInvalid(
                spec.name,
                _("Write at most %(most)s pairs; these are %(n_entries)s.", most=most, n_entries=len(entries)),
            )
        if spec.minimum is not None and len(entries) < spec.minimum:
            raise AnswerInvalid(
                spec.name,
                _(
                    "Write at least %(minimum)s pairs; these are %(n_entries)s.",
                    minimum=spec.minimum,
                    n_entries=len(entries),
                ),
            )
        return [self._pair(entry, number, spec) for number, entry in enumerate(entries, start=1)]

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        pairs = [pair for pair in self.validate(value, spec) if isinstance(pair, dict)]
        keys = [[text_key(str(pair["question"])), short_answer_key(str(pair["answer"]))] for pair in pairs]
        return json.dumps(sorted(keys), ensure_ascii=False)

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        text: JsonValue = {"type": "string", "minLength": 1, "maxLength": _MAX_LENGTH}
        pair: JsonValue = {
            "type": "object",
            "properties": dict.fromkeys(_PARTS, text),
            "required": list(_PARTS),
            "additionalProperties": False,
        }
        most = MAX_PAIRS if spec.maximum is None else spec.maximum
        return {"type": "array", "items": pair, "minItems": max(1, spec.minimum or 1), "maxItems": most}

    def in_words(self, value: JsonValue, spec: FieldSpec) -> str:
        if not isinstance(value, list):
            return str(value)
        pairs = [pair for pair in value if isinstance(pair, dict)]
        return "; ".join(" ".join(" ".join(str(pair.get(part) or "").split()) for part in _PARTS) for pair in pairs)

    def to_form(self, value: JsonValue, spec: FieldSpec) -> JsonValue:
        # A text comes from a log or an earlier draft.
        return self._from_text(value) if isinstance(value, str) else value

    def _from_text(self, text: str) -> list[JsonValue]:
        """One pair a line: the question, a tab or the space after its question mark, the answer."""
        pairs: list[JsonValue] = []
        for line in text.splitlines():
            if not is_blank(line):
                question, *answer = _BETWEEN.split(line.strip(), maxsplit=1)
                pairs.append({"question": question.strip(), "answer": "".join(answer).strip()})
        return pairs

    def _stored(self, entry: object, spec: FieldSpec) -> JsonValue:
        if not isinstance(entry, Mapping):
            raise AnswerInvalid(spec.name, _("Each pair must have a question and an answer."))
        return {str(name): storable_string(text, spec) for name, text in entry.items() if text is not None}

    def _pair(self, entry: object, number: int, spec: FieldSpec) -> dict[str, JsonValue]:
        if not isinstance(entry, Mapping) or set(entry) - set(_PARTS):
            raise AnswerInvalid(
                spec.name, _("Pair %(number)s must have a question and an answer, and nothing else.", number=number)
            )
        pair: dict[str, JsonValue] = {}
        for part in _PARTS:
            text = storable_string(entry.get(part) or "", spec).strip()
            if is_blank(text):
                raise AnswerInvalid(
                    spec.name, _("Pair %(number)s has no %(part)s.", number=number, part=_PART_WORDS[part])
                )
            if len(text) > _MAX_LENGTH:
                raise AnswerInvalid(
                    spec.name,
                    _(
                        "The %(part)s of pair %(number)s is longer than %(max_length)s characters.",
                        part=_PART_WORDS[part],
                        number=number,
                        max_length=f"{_MAX_LENGTH:,}",
                    ),
                )
            pair[part] = text
        return pair


def _stepped(pairs: list[dict[str, JsonValue]], step: str, spec: FieldSpec) -> list[dict[str, JsonValue]]:
    """After "add", "remove-N", "up-N" or "down-N", N counted from 0; as they were where that makes no sense."""
    name, _, number = step.partition("-")
    most = MAX_PAIRS if spec.maximum is None else spec.maximum
    if name == "add" and len(pairs) < most:
        return [*pairs, dict.fromkeys(_PARTS, "")]
    place = int(number) if number.isascii() and number.isdecimal() and len(number) < 4 else -1
    if not 0 <= place < len(pairs):
        return pairs
    rest = pairs[:place] + pairs[place + 1 :]
    if name == "remove":
        return rest
    if name in ("up", "down"):
        rest.insert(max(0, place - 1 if name == "up" else place + 1), pairs[place])
        return rest
    return pairs


def _as_list(value: object) -> list[object]:
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is None else [value]


def _one_line_end(text: object) -> JsonValue:
    # HTML forms send every line break as CR LF, a script sends LF.
    return text.replace("\r\n", "\n") if isinstance(text, str) else ""


def _is_empty(pair: Mapping[str, JsonValue]) -> bool:
    return all(is_blank(str(pair.get(part) or "")) for part in _PARTS)
