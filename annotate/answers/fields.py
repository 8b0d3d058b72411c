"""What a field is: its description in a stage, and the registry of field types."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from annotate.answers.errors import FieldSpecInvalid

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
RawData: TypeAlias = Mapping[str, object]  # a POST or JSON mapping: strings, or lists of strings

_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
# Names that the work page posts beside the fields; a field of that name would be read as the other thing.
RESERVED_NAMES = frozenset(
    {"csrfmiddlewaretoken", "person", "client_key", "stage_version", "guideline_version", "draft_version"}
    | {"active_seconds", "flag", "flag_note"}
)
_KEYS = frozenset({"name", "type", "caption", "decides", "required", "options", "help", "max_length"})


@dataclass(frozen=True)
class Option:
    """One choice: the value is stored and exported, the caption is shown and may change."""

    value: str
    caption: str


@dataclass(frozen=True)
class FieldSpec:
    """One field of a stage.

    decides: its key is voted on; a field that only supports (an explanation) is not.
    max_length: in characters; None means the default of the field type.
    """

    name: str
    type: str
    caption: str
    decides: bool = True
    required: bool = True
    options: tuple[Option, ...] = ()
    help: str = ""
    max_length: int | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "FieldSpec":
        """Read the description of a field as a stage stores it; raises FieldSpecInvalid, naming the field."""
        name = data.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise FieldSpecInvalid(
                f"A field's name must be lower-case letters, digits and underscores, starting with a letter: {name!r}."
            )
        if name in RESERVED_NAMES:
            raise FieldSpecInvalid(f"Field {name}: this name is used by the work page itself; choose another.")
        if unknown := sorted(set(data) - _KEYS):
            raise FieldSpecInvalid(f"Field {name}: unknown setting {', '.join(unknown)}.")
        spec = cls(
            name=name,
            type=_text(data, "type", name),
            caption=_text(data, "caption", name),
            decides=_flag(data, "decides", name),
            required=_flag(data, "required", name),
            options=_options(data.get("options") or [], name),
            help=_text(data, "help", name, default=""),
            max_length=_length(data.get("max_length"), name),
        )
        get_field_type(spec.type).check_spec(spec)
        return spec

    def to_json(self) -> dict[str, JsonValue]:
        """The description as a stage stores it; `from_json` gives the same field back."""
        data: dict[str, JsonValue] = {
            "name": self.name,
            "type": self.type,
            "caption": self.caption,
            "decides": self.decides,
            "required": self.required,
            "options": [{"value": option.value, "caption": option.caption} for option in self.options],
            "help": self.help,
        }
        if self.max_length is not None:
            data["max_length"] = self.max_length
        return data


class FieldType(Protocol):
    """How answers to one type of field are read, checked and compared."""

    name: str
    KEY_VERSION: int

    def check_spec(self, spec: FieldSpec) -> None:
        """Raise FieldSpecInvalid if the description cannot work for this type."""

    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        """The value in a POST or JSON mapping, None if empty; raises AnswerInvalid for what could not be stored."""

    def validate(self, value: object, spec: FieldSpec) -> JsonValue:
        """The value if it keeps the rules of the field; raises AnswerInvalid."""

    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        """A key; two valid values have equal keys exactly if they are the same answer."""


FIELD_TYPES: dict[str, FieldType] = {}


def field_type(name: str) -> "Callable[[type[FieldType]], type[FieldType]]":
    """Register a class as the field type of that name."""

    def register(cls: type[FieldType]) -> type[FieldType]:
        if name in FIELD_TYPES:
            raise ValueError(f"The field type {name} is registered twice.")
        cls.name = name
        FIELD_TYPES[name] = cls()
        return cls

    return register


def get_field_type(name: str) -> FieldType:
    """Raises FieldSpecInvalid, which names the types that there are."""
    try:
        return FIELD_TYPES[name]
    except KeyError:
        known = ", ".join(sorted(FIELD_TYPES))
        raise FieldSpecInvalid(f"There is no field type {name!r}. Known types: {known}.") from None


def fields_from_json(data: Iterable[Mapping[str, object]]) -> tuple[FieldSpec, ...]:
    """Read a stage's list of fields; raises FieldSpecInvalid if there is none or a name occurs twice."""
    fields = tuple(FieldSpec.from_json(entry) for entry in data)
    if not fields:
        raise FieldSpecInvalid("A stage needs at least one field.")
    names = [field.name for field in fields]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise FieldSpecInvalid(f"Two fields have the name {repeated[0]}.")
    return fields


def _text(data: Mapping[str, object], key: str, name: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise FieldSpecInvalid(f"Field {name}: {key} must be a text.")
    return value


def _flag(data: Mapping[str, object], key: str, name: str) -> bool:
    value = data.get(key, True)
    if not isinstance(value, bool):
        raise FieldSpecInvalid(f"Field {name}: {key} must be true or false.")
    return value


def _length(value: object, name: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise FieldSpecInvalid(f"Field {name}: max_length must be a whole number above zero.")
    return value


def _options(value: object, name: str) -> tuple[Option, ...]:
    if not isinstance(value, list | tuple):
        raise FieldSpecInvalid(f"Field {name}: options must be a list.")
    options = []
    for entry in value:
        if not isinstance(entry, Mapping):
            raise FieldSpecInvalid(f"Field {name}: an option must have a value and a caption.")
        options.append(Option(value=_text(entry, "value", name), caption=_text(entry, "caption", name)))
    return tuple(options)
