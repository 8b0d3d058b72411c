"""A column of a table as JSON and back. What comes in is checked here: neither database checks all of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import connection, models

# As isoformat writes a moment in UTC, to the microsecond.
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?Z")
_DECIMAL = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,12})?")


@dataclass(frozen=True)
class Column:
    """One column of a table in an archive.

    lookup: what a query selects for it. target: the table that it points to, "person" for people.
    written: the value as JSON holds it. checked: JSON -> the value as Python holds it; raises ValueError.
    stored: that value as the database takes it.
    """

    name: str
    db_column: str
    lookup: str
    target: str | None
    is_nullable: bool
    has_default: bool
    default: Callable[[], Any]
    written: Callable[[Any], Any]
    checked: Callable[[Any], Any]
    stored: Callable[[Any], Any]
    is_json: bool = False


def column_of(one: Any) -> Column:
    target = one.remote_field.model._meta.model_name if one.remote_field is not None else None
    written, checked, stored = _reference() if target else _plain(one)
    return Column(
        name=one.name,
        db_column=one.column,
        lookup=f"{one.name}__pseudonym" if target == "person" else one.attname,
        target=target,
        is_nullable=one.null,
        has_default=one.has_default() or one.null or (one.empty_strings_allowed and one.blank),
        default=one.get_default,
        written=written,
        checked=_or_null(checked, one),
        stored=stored,
        is_json=isinstance(one, models.JSONField),
    )


def _or_null(checked: Callable[[Any], Any], one: Any) -> Callable[[Any], Any]:
    if one.null:
        return lambda value: None if value is None else checked(value)

    def required(value: Any) -> Any:
        if value is None:
            raise ValueError("must not be null")
        return checked(value)

    return required


def _reference() -> tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]:
    def checked(value: Any) -> Any:
        return value  # by whoever knows how many rows there are

    return _same, checked, _same


def _plain(one: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]:
    if isinstance(one, models.JSONField):
        usual = one.get_default()
        if isinstance(usual, list):
            return _same, _is(list, "a list"), json.dumps
        return _same, _is(dict, "an object") if isinstance(usual, dict) else _same, json.dumps
    if isinstance(one, models.BooleanField):
        return _same, _is(bool, "true or false"), _same
    if isinstance(one, models.DateTimeField):
        return _moment, _read_moment, lambda value: one.get_db_prep_save(value, connection)
    if isinstance(one, models.DecimalField):
        return _digits, _read_decimal, lambda value: one.get_db_prep_save(value, connection)
    if isinstance(one, models.FloatField):
        return _same, _read_float, _same
    if isinstance(one, models.IntegerField):
        return _same, _read_integer(one), _same
    assert isinstance(one, models.CharField | models.TextField | models.FileField), one
    return _same, _read_text(one), _same


def _same(value: Any) -> Any:
    return value


def _is(kind: type, words: str) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if not isinstance(value, kind):
            raise ValueError(f"must be {words}")
        return value

    return checked


def _moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _read_moment(value: Any) -> datetime:
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        raise ValueError("must be a moment such as 2026-03-01T09:30:00.000000Z")
    return datetime.fromisoformat(value)


def _digits(value: Decimal | None) -> str | None:
    return None if value is None else format(value, "f")


def _read_decimal(value: Any) -> Decimal:
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        raise ValueError("must be a decimal number in quotes")
    return Decimal(value)


def _read_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("must be a number")
    return float(value)


def _read_integer(one: Any) -> Callable[[Any], int]:
    low, high = connection.ops.integer_field_range(one.get_internal_type())
    # SQLite has one size for all: what goes in there must fit into PostgreSQL as well.
    if "Big" not in one.get_internal_type():
        low, high = max(low, -(2**31)), min(high, 2**31 - 1)

    def checked(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return value

    return checked


def _read_text(one: Any) -> Callable[[Any], str]:
    longest = one.max_length if isinstance(one, models.CharField) else None
    choices = {value for value, _ in one.flatchoices} if one.choices else None
    shapes = [shape for shape in one.validators if isinstance(shape, RegexValidator)]

    def checked(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be text")
        if longest is not None and len(value) > longest:
            raise ValueError(f"has {len(value):,} characters, and {longest} are allowed")
        if choices is not None and value not in choices and not (value == "" and one.blank):
            raise ValueError(f"must be one of {', '.join(sorted(choices))}")
        for shape in shapes:
            if value:
                try:
                    shape(value)
                except ValidationError as fault:
                    raise ValueError("; ".join(fault.messages)) from fault
        return value

    return checked
