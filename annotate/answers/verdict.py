"""Is a given answer right? With what would be right, where it is not."""

from collections.abc import Mapping

from annotate.answers.characters import one_string, storable_string
from annotate.answers.choice import caption_of, check_options
from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.wording import _

VERDICTS = ("right", "wrong", "unsure")
_MAX_CORRECTION = 2_000


@field_type("verdict")
class Verdict(FieldType):
    """The value is {"verdict": "right" | "wrong" | "unsure"}, and "correction" where something is wrong.

    The key is the verdict: two people who call an answer wrong agree on that, whatever either would put in its place.
    A correction explains a verdict; it becomes gold by an adjudicator's hand, never by votes. Options: what a
    correction may be; without any it is a text.
    """

    settings = frozenset({"options"})

    def check_spec(self, spec: FieldSpec) -> None:
        if spec.options:
            check_options(spec)

    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        raw = data.get(spec.name)
        if isinstance(raw, Mapping):
            return self._from_mapping(raw, spec)
        verdict = one_string(data, spec)
        # In a form the correction is a field of its own beside the verdict.
        correction = one_string({spec.name: data.get(f"{spec.name}.correction")}, spec)
        return self._from_mapping({"verdict": verdict, "correction": correction}, spec)

    def validate(self, value: object, spec: FieldSpec) -> dict[str, JsonValue]:
        entries: Mapping[str, object] = value if isinstance(value, Mapping) else {"verdict": value}
        if unknown := sorted(set(entries) - {"verdict", "correction"}):
            raise AnswerInvalid(spec.name, _("A verdict has no %(unknown)s.", unknown=unknown[0]))
        verdict, correction = entries.get("verdict"), entries.get("correction")
        if verdict is None:
            raise AnswerInvalid(spec.name, _("Say whether it is right."))
        if verdict not in VERDICTS:
            raise AnswerInvalid(spec.name, _("A verdict is one of %(verdicts)s.", verdicts=", ".join(VERDICTS)))
        if correction is None or (isinstance(correction, str) and is_blank(correction)):
            return {"verdict": str(verdict)}
        if verdict != "wrong":
            raise AnswerInvalid(
                spec.name, _("A correction belongs to an answer that is wrong. Remove it, or choose wrong.")
            )
        text = storable_string(correction, spec)
        if spec.options and text not in {option.value for option in spec.options}:
            raise AnswerInvalid(spec.name, _("Choose what would be right among the answers shown, or none of them."))
        if len(text) > _MAX_CORRECTION:
            raise AnswerInvalid(
                spec.name,
                _(
                    "The correction is longer than the %(max_correction)s characters allowed.",
                    max_correction=f"{_MAX_CORRECTION:,}",
                ),
            )
        return {"verdict": "wrong", "correction": text}

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return str(self.validate(value, spec)["verdict"])

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        correction: dict[str, JsonValue] = {"type": "string", "minLength": 1, "maxLength": _MAX_CORRECTION}
        if spec.options:
            correction = {"type": "string", "enum": [option.value for option in spec.options]}
        return {
            "type": "object",
            "properties": {"verdict": {"type": "string", "enum": list(VERDICTS)}, "correction": correction},
            "required": ["verdict"],
            "additionalProperties": False,
        }

    def to_form(self, value: JsonValue, spec: FieldSpec) -> JsonValue:
        return value if isinstance(value, dict) else {"verdict": value, "correction": ""}

    def in_words(self, value: JsonValue, spec: FieldSpec) -> str:
        if not isinstance(value, dict):
            return str(value)
        if not value.get("correction"):
            return str(value.get("verdict"))
        return f"{value['verdict']}: {caption_of(value['correction'], spec)}"

    def _from_mapping(self, raw: Mapping[str, object], spec: FieldSpec) -> JsonValue:
        kept: dict[str, JsonValue] = {}
        for name, text in raw.items():
            if text is not None and not is_blank(storable_string(text, spec)):
                kept[str(name)] = str(text)
        return kept or None
