"""What a field is: its description in a stage, and the registry of field types."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from annotate.answers.columns import Column, ColumnsInvalid, columns_of
from annotate.answers.equivalence import KEY_VERSION
from annotate.answers.errors import FieldSpecInvalid
from annotate.wording import _

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
RawData: TypeAlias = Mapping[str, object]  # a POST or JSON mapping: strings, or lists of strings

_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
# Names that the work page posts beside the fields; a field of that name would be read as the other thing.
RESERVED_NAMES = frozenset(
    {"csrfmiddlewaretoken", "person", "client_key", "stage_version", "guideline_version", "draft_version"}
    | {"active_seconds", "flag", "flag_note"}
)
# What only some types have; a type names those that it takes in `settings`.
SETTINGS = ("options", "ordered", "unit", "min", "max", "columns", "columns_from")
_KEYS = frozenset({"name", "type", "caption", "decides", "required", "help", "max_length", *SETTINGS})
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,7}")


@dataclass(frozen=True)
class Option:
    """One choice: the value is stored and exported, the caption is shown and may change.

    captions: (BCP-47 language, caption) pairs for items in other languages.
    """

    value: str
    caption: str
    captions: tuple[tuple[str, str], ...] = ()

    def in_language(self, language: str) -> "Option":
        """The option as people read it beside an item in that language; the plain caption where there is no other."""
        by_language = {tag.lower(): caption for tag, caption in self.captions}
        tag = language.lower()
        while tag and tag not in by_language:
            tag = tag.rpartition("-")[0]
        return replace(self, caption=by_language[tag]) if tag else self


@dataclass(frozen=True)
class FieldSpec:
    """One field of a stage.

    decides: its key is voted on; a field that only supports (an explanation) is not.
    max_length: in characters; None means the default of the field type.
    is_ordered: the options are a scale from low to high; the order of a list's members, or of a table's rows, counts.
    unit: what the question asks in ("months", "%"): a number without a unit gets it.
    minimum, maximum: of a number or of the points of a scale; how many options, members, rows or pairs are asked for.
    columns: of a table, in order, with their types beside them in column_types (() where none has one); columns_from:
    the content key under which each item has its own (docs/domain.md).
    """

    name: str
    type: str
    caption: str
    decides: bool = True
    required: bool = True
    options: tuple[Option, ...] = ()
    help: str = ""
    max_length: int | None = None
    is_ordered: bool = False
    unit: str = ""
    minimum: int | None = None
    maximum: int | None = None
    columns: tuple[str, ...] = ()
    column_types: tuple[str, ...] = ()
    columns_from: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "FieldSpec":
        """Read the description of a field as a stage stores it; raises FieldSpecInvalid, naming the field."""
        name = data.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise FieldSpecInvalid(
                _(
                    "A field's name must be lower-case letters, digits and underscores, starting with a letter: "
                    "%(name)s.",
                    name=repr(name),
                )
            )
        if name in RESERVED_NAMES:
            raise FieldSpecInvalid(
                _("Field %(name)s: this name is used by the work page itself; choose another.", name=name)
            )
        if unknown := sorted(set(data) - _KEYS):
            raise FieldSpecInvalid(
                _("Field %(name)s: unknown setting %(unknown)s.", name=name, unknown=", ".join(unknown))
            )
        columns = _columns(data.get("columns") or [], name)
        spec = cls(
            name=name,
            type=_text(data, "type", name),
            caption=_text(data, "caption", name),
            decides=_flag(data, "decides", name),
            required=_flag(data, "required", name),
            options=_options(data.get("options") or [], name),
            help=_text(data, "help", name, default=""),
            max_length=_length(data.get("max_length"), name),
            is_ordered=_flag(data, "ordered", name, default=False),
            unit=_text(data, "unit", name, default="").strip(),
            minimum=_whole(data, "min", name),
            maximum=_whole(data, "max", name),
            columns=tuple(column.name for column in columns),
            column_types=types_of(columns),
            columns_from=_text(data, "columns_from", name, default=""),
        )
        kind = get_field_type(spec.type)
        for setting in SETTINGS:
            if data.get(setting) not in (None, "", False, [], ()) and setting not in kind.settings:
                raise FieldSpecInvalid(
                    _(
                        "Field %(name)s: a %(type)s field has no %(setting)s.",
                        name=name,
                        type=spec.type,
                        setting=setting,
                    )
                )
        if spec.minimum is not None and spec.maximum is not None and spec.minimum > spec.maximum:
            raise FieldSpecInvalid(_("Field %(name)s: min must not be above max.", name=name))
        kind.check_spec(spec)
        return spec

    def to_json(self) -> dict[str, JsonValue]:
        """The description as a stage stores it; `from_json` gives the same field back."""
        data: dict[str, JsonValue] = {
            "name": self.name,
            "type": self.type,
            "caption": self.caption,
            "decides": self.decides,
            "required": self.required,
            "options": [_option_json(option) for option in self.options],
            "help": self.help,
        }
        # Left out unless set: descriptions that were stored before a setting existed stay equal to what is made anew.
        settings: dict[str, JsonValue] = {
            "max_length": self.max_length,
            "ordered": self.is_ordered or None,
            "unit": self.unit or None,
            "min": self.minimum,
            "max": self.maximum,
            "columns": [str(column) for column in self.typed_columns] or None,
            "columns_from": self.columns_from or None,
        }
        return data | {name: value for name, value in settings.items() if value is not None}

    @property
    def typed_columns(self) -> tuple[Column, ...]:
        types = self.column_types or ("",) * len(self.columns)
        return tuple(Column(*pair) for pair in zip(self.columns, types, strict=True))

    def in_language(self, language: str) -> "FieldSpec":
        """The field as people read it beside an item in that language."""
        return replace(self, options=tuple(option.in_language(language) for option in self.options))


class FieldType(ABC):
    """How answers to one type of field are read, checked, compared and shown again.

    settings: which of SETTINGS a field of this type may have.
    """

    name: ClassVar[str]
    KEY_VERSION: ClassVar[int] = KEY_VERSION
    settings: ClassVar[frozenset[str]] = frozenset()

    def check_spec(self, spec: FieldSpec) -> None:  # noqa: B027  most types have no rule of their own
        """Raise FieldSpecInvalid if the description cannot work for this type."""

    @abstractmethod
    def read(self, data: RawData, spec: FieldSpec) -> JsonValue:
        """The value in a POST or JSON mapping, None if empty; raises AnswerInvalid for what could not be stored."""

    @abstractmethod
    def validate(self, value: object, spec: FieldSpec) -> JsonValue:
        """The value if it keeps the rules of the field, in its one stored form; raises AnswerInvalid.

        A valid value stays as it is. A text is taken as it is typed in the form, so that gold labels from a file and
        answers from a log are read by the same rules.
        """

    @abstractmethod
    def canonical_key(self, value: object, spec: FieldSpec) -> str:
        """A key; two valid values have equal keys exactly if they are the same answer."""

    @abstractmethod
    def json_schema(self, spec: FieldSpec) -> dict[str, JsonValue]:
        """The JSON Schema of the stored value."""

    def to_form(self, value: JsonValue, spec: FieldSpec) -> JsonValue:
        """The value as the form shows it: `read` makes the same value of it. A text that was refused stays as typed."""
        return value

    def as_typed(self, data: RawData, spec: FieldSpec) -> JsonValue:
        """What stands in a form that comes back, where that is more than its value; None for most types."""
        return None

    def reading(self, value: JsonValue, spec: FieldSpec) -> str:
        """How a value that was typed is taken, or what is missing, said beside the field; "" for what is plain."""
        return ""

    def in_words(self, value: JsonValue, spec: FieldSpec) -> str:
        """The value on one line, as its author knows it: options by their captions."""
        return str(value)


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
        raise FieldSpecInvalid(
            _("There is no field type %(name)s. Known types: %(known)s.", name=repr(name), known=known)
        ) from None


def fields_from_json(data: Iterable[Mapping[str, object]]) -> tuple[FieldSpec, ...]:
    """Read a stage's list of fields; raises FieldSpecInvalid if there is none or a name occurs twice."""
    fields = tuple(FieldSpec.from_json(entry) for entry in data)
    if not fields:
        raise FieldSpecInvalid(_("A stage needs at least one field."))
    names = [field.name for field in fields]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise FieldSpecInvalid(_("Two fields have the name %(repeated)s.", repeated=repeated[0]))
    return fields


def _text(data: Mapping[str, object], key: str, name: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise FieldSpecInvalid(_("Field %(name)s: %(key)s must be a text.", name=name, key=key))
    return value


def _flag(data: Mapping[str, object], key: str, name: str, *, default: bool = True) -> bool:
    value = data.get(key, default)
    if not isinstance(value, bool):
        raise FieldSpecInvalid(_("Field %(name)s: %(key)s must be true or false.", name=name, key=key))
    return value


def _length(value: object, name: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise FieldSpecInvalid(_("Field %(name)s: max_length must be a whole number above zero.", name=name))
    return value


def _whole(data: Mapping[str, object], key: str, name: str) -> int | None:
    value = data.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or abs(value) > 10**12):
        raise FieldSpecInvalid(_("Field %(name)s: %(key)s must be a whole number.", name=name, key=key))
    return value


def types_of(columns: Iterable[Column]) -> tuple[str, ...]:
    """The types beside the names; () where none has one, so that plain names stay what they were."""
    types = tuple(column.type for column in columns)
    return types if any(types) else ()


def _columns(value: object, name: str) -> tuple[Column, ...]:
    try:
        return columns_of(value)
    except ColumnsInvalid as problem:
        raise FieldSpecInvalid(_("Field %(name)s: %(problem)s.", name=name, problem=problem)) from None


def _options(value: object, name: str) -> tuple[Option, ...]:
    if not isinstance(value, list | tuple):
        raise FieldSpecInvalid(_("Field %(name)s: options must be a list.", name=name))
    options = []
    for entry in value:
        if not isinstance(entry, Mapping):
            raise FieldSpecInvalid(_("Field %(name)s: an option must have a value and a caption.", name=name))
        captions = _captions(entry.get("captions") or {}, name)
        options.append(Option(_text(entry, "value", name), _text(entry, "caption", name), captions))
    return tuple(options)


def _captions(value: object, name: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise FieldSpecInvalid(_("Field %(name)s: captions must be an object from languages to captions.", name=name))
    for language, caption in value.items():
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            raise FieldSpecInvalid(
                _(
                    "Field %(name)s: %(language)s is no language tag; write en, ta or zh-Hans.",
                    name=name,
                    language=repr(language),
                )
            )
        if not isinstance(caption, str) or not caption.strip():
            raise FieldSpecInvalid(
                _("Field %(name)s: the caption for %(language)s must be a text.", name=name, language=language)
            )
    return tuple(sorted(value.items()))


def _option_json(option: Option) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {"value": option.value, "caption": option.caption}
    if option.captions:
        data["captions"] = dict(option.captions)
    return data
