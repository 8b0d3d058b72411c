"""Several short answers."""

import json

from annotate.answers.characters import many_strings, number_as_text, storable_string
from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning import member_key
from annotate.answers.meaning.lists import split_typed
from annotate.answers.meaning.spelling import spelled
from annotate.wording import _

MAX_MEMBERS = 1_000
_MAX_MEMBER_LENGTH = 2_000


@field_type("list")
class ListOfAnswers(FieldType):
    """The value is a list of texts, in any order unless the field is ordered; what occurs twice counts twice."""

    settings = frozenset({"ordered", "unit", "min", "max"})

    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        raw = data.get(spec.name)
        values = raw if isinstance(raw, list | tuple) else [raw]
        members: list[JsonValue] = []
        # One member a line in a form; a program sends them as a list.
        for text in many_strings({spec.name: [number_as_text(value) for value in values if value is not None]}, spec):
            members += [line.strip() for line in text.splitlines() if not is_blank(line)]
        return members or None

    def validate(self, value: object, spec: FieldSpec) -> list[JsonValue]:
        entries = split_typed(value) if isinstance(value, str) else value
        if entries is None or entries == []:
            raise AnswerInvalid(spec.name, _("Write at least one answer, one a line."))
        if not isinstance(entries, list | tuple):
            raise AnswerInvalid(spec.name, _("This answer must be a list of texts."))
        if len(entries) > MAX_MEMBERS:
            raise AnswerInvalid(
                spec.name,
                _(
                    "A list has at most %(max_members)s members; these are %(n_entries)s.",
                    max_members=f"{MAX_MEMBERS:,}",
                    n_entries=f"{len(entries):,}",
                ),
            )
        members: list[JsonValue] = []
        for number, entry in enumerate(entries, start=1):
            member = storable_string(number_as_text(entry), spec).strip()
            if is_blank(member):
                raise AnswerInvalid(
                    spec.name, _("Member %(number)s is empty. Write it, or remove the line.", number=number)
                )
            if len(member) > _MAX_MEMBER_LENGTH:
                raise AnswerInvalid(
                    spec.name,
                    _(
                        "Member %(number)s is longer than the %(max_member_length)s characters allowed.",
                        number=number,
                        max_member_length=f"{_MAX_MEMBER_LENGTH:,}",
                    ),
                )
            members.append(member)
        if spec.minimum is not None and len(members) < spec.minimum:
            raise AnswerInvalid(
                spec.name,
                _("Write at least %(minimum)s; these are %(n_members)s.", minimum=spec.minimum, n_members=len(members)),
            )
        if spec.maximum is not None and len(members) > spec.maximum:
            raise AnswerInvalid(
                spec.name,
                _("Write at most %(maximum)s; these are %(n_members)s.", maximum=spec.maximum, n_members=len(members)),
            )
        return members

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        keys = [member_key(str(member), spelled(spec.unit)) for member in self.validate(value, spec)]
        return json.dumps(keys if spec.is_ordered else sorted(keys), ensure_ascii=False)

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        return {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": _MAX_MEMBER_LENGTH},
            "minItems": max(1, spec.minimum or 1),
            "maxItems": MAX_MEMBERS if spec.maximum is None else spec.maximum,
        }

    def in_words(self, value: JsonValue, spec: FieldSpec) -> str:
        return "; ".join(str(member) for member in value) if isinstance(value, list) else str(value)

    def to_form(self, value: JsonValue, spec: FieldSpec) -> JsonValue:
        return "\n".join(str(member) for member in value) if isinstance(value, list) else value
