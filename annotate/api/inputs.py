"""What programs send. Shapes are made of the forms of the pages, which then check them: each rule stands once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from rest_framework import serializers

from annotate.project_forms import LanguagesField, LinesField

MAX_ID = 2**63 - 1
# A list of all time zones would be half of the document that describes the API.
MAX_LISTED_CHOICES = 50


class Input(serializers.Serializer):
    # A comment, not a docstring: that would stand in the document as the description of every input.
    # Other keys are refused: a mistyped setting must not become a silent default.

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and (unknown := sorted(str(name) for name in set(data) - set(self.fields))):
            raise serializers.ValidationError({name[:100]: "There is no such field." for name in unknown[:10]})
        return super().to_internal_value(data)


def input_of(form: type[forms.Form], name: str, *, omit: Iterable[str] = (), **others: Any) -> type[Input]:
    """The shape of a form as a program sends it: lists are lists, and what the form suggests is the default.

    omit, others: the form's fields that are sent in another way, and how.
    """
    left_out = {*omit, *others}
    fields = {key: _shape(field) for key, field in form.base_fields.items() if key not in left_out}
    return type(name, (Input,), fields | others | {"__doc__": None, "__module__": __name__})


def filled(form: type[forms.Form], sent: Mapping[str, Any], **arguments: Any) -> forms.Form:
    """The form as if it had been sent with these values."""
    names = form.base_fields.keys() & sent.keys()
    return form({name: form.base_fields[name].prepare_value(sent[name]) for name in names}, **arguments)


def checked(form: forms.BaseForm) -> dict[str, Any]:
    """What the form makes of it. Raises ValidationError with the form's own words."""
    if not form.is_valid():
        raise serializers.ValidationError(
            {name: [str(error) for error in errors] for name, errors in form.errors.items()}
        )
    return form.cleaned_data


def _shape(field: forms.Field) -> Any:
    # A plain text: str() gives back a sentence that remembers how it was made, which YAML does not know.
    words = str.__str__(str(field.help_text or field.label or ""))
    options: dict[str, Any] = {"help_text": words or None}
    if field.initial is not None and not callable(field.initial):
        options["default"] = field.initial
    else:
        options["required"] = field.required
    if isinstance(field, LanguagesField | LinesField):
        return serializers.ListField(
            child=serializers.CharField(max_length=field.max_length or 1_000), **options, max_length=1_000
        )
    if isinstance(field, forms.BooleanField):
        return serializers.BooleanField(**{"default": False} | _without_required(options))
    if isinstance(field, forms.ModelMultipleChoiceField):
        return serializers.ListField(child=row_id(), **options, max_length=1_000)
    if isinstance(field, forms.ModelChoiceField):
        return row_id(allow_null=not field.required, **options)
    if isinstance(field, forms.MultipleChoiceField):
        return serializers.ListField(child=serializers.ChoiceField(choices=_values(field)), **options, max_length=100)
    if isinstance(field, forms.ChoiceField):
        if len(_values(field)) > MAX_LISTED_CHOICES:
            return serializers.CharField(max_length=200, **options)
        return serializers.ChoiceField(choices=_values(field), allow_blank=not field.required, **options)
    if isinstance(field, forms.DecimalField):
        return serializers.DecimalField(
            field.max_digits, field.decimal_places, min_value=field.min_value, max_value=field.max_value,
            allow_null=not field.required, **options,
        )  # fmt: skip
    if isinstance(field, forms.IntegerField):
        number = serializers.FloatField if isinstance(field, forms.FloatField) else serializers.IntegerField
        limits = {"min_value": field.min_value, "max_value": field.max_value}
        return number(allow_null=not field.required, **limits, **options)
    assert isinstance(field, forms.CharField), field
    return serializers.CharField(
        max_length=field.max_length, allow_blank=not field.required, trim_whitespace=field.strip, **options
    )


def row_id(**options: Any) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=1, max_value=MAX_ID, **options)


def _without_required(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "required"}


def _values(field: Any) -> list[str]:
    return [value for value, _ in field.choices if value != ""]
