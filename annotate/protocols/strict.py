"""YAML as frozen records: a key that no record has, a value of another kind and a missing one are errors with a path.

A mistyped setting must not become a silent default: a study would be run otherwise than its protocol says.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import yaml

from annotate.wording import Words

MAX_BYTES = 200_000
Record = TypeVar("Record")


class PresetInvalid(Exception):
    """A file of a protocol that cannot be meant. It names the file, the path in it, and what is wrong there."""

    def __init__(self, file: str, path: str, problem: str) -> None:
        super().__init__(f"{file}: {path}: {problem}" if path else f"{file}: {problem}")


class _Loader(yaml.SafeLoader):
    """Safe YAML in which no key stands twice: the second would silently win."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(
                None, None, f"{key!r} is no text, as a key must be", node.start_mark
            )
        if key in found:
            raise yaml.constructor.ConstructorError(None, None, f"{key} stands there twice", key_node.start_mark)
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_record(path: Path, kind: type[Record]) -> Record:
    """The file as a record of that class. Raises PresetInvalid."""
    if path.stat().st_size > MAX_BYTES:
        raise PresetInvalid(path.name, "", f"more than {MAX_BYTES:,} bytes")
    try:
        data = yaml.load(path.read_bytes(), _Loader)  # a SafeLoader: plain values alone
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise PresetInvalid(path.name, "", f"this is no YAML: {problem}") from None
    return _Reader(path.name).record(data, kind, "")  # type: ignore[no-any-return]


@dataclasses.dataclass(frozen=True)
class _Reader:
    file: str

    def fail(self, path: str, problem: str) -> PresetInvalid:
        return PresetInvalid(self.file, path, problem)

    def record(self, data: Any, kind: type[Any], path: str) -> Any:
        if not isinstance(data, Mapping):
            raise self.fail(path, f"keys with values are expected, not {_words(data)}")
        hints = get_type_hints(kind)
        fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
        if unknown := sorted(set(data) - set(fields)):
            raise self.fail(path, f"there is no key {unknown[0]!r} here; known are {', '.join(fields)}")
        for name, field in fields.items():
            if name not in data and field.default is dataclasses.MISSING and _has_no_factory(field):
                raise self.fail(path, f"{name} is missing")
        read = {name: self.value(value, hints[name], f"{path}.{name}".strip(".")) for name, value in data.items()}
        return kind(**read)

    def value(self, data: Any, hint: Any, path: str) -> Any:
        origin = get_origin(hint)
        if origin is types.UnionType:
            some, nothing = get_args(hint)
            assert nothing is type(None)
            return None if data is None else self.value(data, some, path)
        if origin is Literal:
            if data not in get_args(hint):
                raise self.fail(path, f"one of {', '.join(get_args(hint))} is expected, not {_words(data)}")
            return data
        if origin is tuple:
            if not isinstance(data, list):
                raise self.fail(path, f"a list is expected, not {_words(data)}")
            each = get_args(hint)[0]
            return tuple(self.value(one, each, f"{path}[{n}]") for n, one in enumerate(data))
        if origin is dict:
            if not isinstance(data, dict):
                raise self.fail(path, f"keys with values are expected, not {_words(data)}")
            return data
        if dataclasses.is_dataclass(hint):
            return self.record(data, hint, path)  # type: ignore[arg-type]
        return self.plain(data, hint, path)

    def plain(self, data: Any, hint: Any, path: str) -> Any:
        kind: Any = {Words: str, float: (int, float)}.get(hint, hint)
        # True is an int to Python, and none to anybody else.
        if not isinstance(data, kind) or (isinstance(data, bool) and hint is not bool):
            raise self.fail(path, f"{_EXPECTED[hint]} is expected, not {_words(data)}")
        if hint is Words or hint is str:
            text = data.strip()
            if not text:
                raise self.fail(path, "this is empty: leave the key out")
            return Words(text) if hint is Words else text
        return data


_EXPECTED = {str: "a text", Words: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _has_no_factory(field: dataclasses.Field[Any]) -> bool:
    return field.default_factory is dataclasses.MISSING


def _words(data: Any) -> str:
    return "nothing" if data is None else repr(data)[:80]
