"""A point on a scale, such as 1 to 5."""

from annotate.answers.characters import number_as_text, one_string, storable_string
from annotate.answers.equivalence import is_blank
from annotate.answers.errors import AnswerInvalid, FieldSpecInvalid
from annotate.answers.fields import FieldSpec, FieldType, JsonValue, RawData, field_type
from annotate.answers.meaning.numbers import read_number
from annotate.answers.meaning.spelling import bare, spelled
from annotate.wording import _

MAX_POINTS = 101


@field_type("scale")
class Scale(FieldType):
    """The value is a whole number from min to max. Options may give single points, by their value, a caption."""

    settings = frozenset({"options", "min", "max"})

    def check_spec(self, spec: FieldSpec) -> None:
        if spec.minimum is None or spec.maximum is None or not 1 <= spec.maximum - spec.minimum < MAX_POINTS:
            raise FieldSpecInvalid(
                _(
                    "Field %(name)s: a scale needs min and max, whole numbers with 2 to %(max_points)s points.",
                    name=spec.name,
                    max_points=MAX_POINTS,
                )
            )
        points = {str(point) for point in points_of(spec)}
        if strange := [option.value for option in spec.options if option.value not in points]:
            raise FieldSpecInvalid(
                _(
                    "Field %(name)s: %(strange)s has a caption and is no point of the scale.",
                    name=spec.name,
                    strange=repr(strange[0]),
                )
            )

    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        text = one_string({spec.name: number_as_text(data.get(spec.name))}, spec)
        if text is None or is_blank(text):
            return None
        value = _whole(text)
        return text if value is None else value

    def validate(self, value: object, spec: FieldSpec) -> int:
        value = number_as_text(value)
        if value is None or (isinstance(value, str) and is_blank(value)):
            raise AnswerInvalid(spec.name, _("Choose a point on the scale."))
        point = _whole(storable_string(value, spec))
        if point is None or point not in points_of(spec):
            raise AnswerInvalid(
                spec.name,
                _("Choose a whole number from %(minimum)s to %(maximum)s.", minimum=spec.minimum, maximum=spec.maximum),
            )
        return point

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        return str(self.validate(value, spec))

    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        return {"type": "integer", "minimum": spec.minimum, "maximum": spec.maximum}

    def to_form(self, value: JsonValue, spec: FieldSpec) -> JsonValue:
        """The points with their captions, and the one chosen, for radio buttons."""
        captions = {option.value: option.caption for option in spec.options}
        return {
            "chosen": "" if value is None else str(value),
            "points": [{"value": str(point), "caption": captions.get(str(point), "")} for point in points_of(spec)],
        }


def points_of(spec: FieldSpec) -> range:
    return range(spec.minimum or 0, (spec.maximum or 0) + 1)


def _whole(text: str) -> int | None:
    number = read_number(bare(spelled(text))) if len(text) <= 40 else None
    return int(number) if number is not None and number == number.to_integral_value() else None
