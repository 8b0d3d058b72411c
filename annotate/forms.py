"""The shape of what people send when they work or sign in. What may happen next is the services' business."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from annotate.answers import AnswerInvalid, FieldSpec, JsonValue, get_field_type, read_answer
from annotate.models import Assignment
from annotate.services.submitting import Attention, Circumstances
from annotate.wording import _

# A day. More than that is a clock that jumped; the service clamps to the time the item was held anyhow.
MAX_ACTIVE_SECONDS = 86_400

INCOMPLETE = _("Something of this page got lost on the way. Load the page again; your text is kept.")


class AnswerForm(forms.Form):
    """An answer or a draft: the values of the stage's fields, and what is sent beside them.

    `answer` holds what could be read of the fields, `field_errors` what was wrong with them, by field name. Whether a
    value is allowed is decided where it is stored. `typed`: what stands in the form beyond that, such as an empty pair.
    `is_look`: nothing is to be stored; the form comes back with one input more, in another order, or with its hints.
    """

    client_key = forms.RegexField(
        regex=r"\A[A-Za-z0-9_-]{1,64}\Z", error_messages={"required": INCOMPLETE, "invalid": INCOMPLETE}
    )
    draft_version = forms.IntegerField(min_value=0, max_value=Assignment.LAST_DRAFT_VERSION, required=False)
    active_seconds = forms.IntegerField(required=False)
    attention = forms.CharField(required=False)
    flag = forms.BooleanField(required=False)
    flag_note = forms.CharField(max_length=500, required=False)

    def __init__(self, data: QueryDict, *, fields: Sequence[FieldSpec]) -> None:
        super().__init__(data)
        self.specs = fields
        self.answer: dict[str, JsonValue] = {}
        self.field_errors: dict[str, str] = {}
        self.typed: dict[str, JsonValue] = {}
        self.is_look = "look.over" in data or any(f"{spec.name}.step" in data for spec in fields)

    def clean_active_seconds(self) -> int | None:
        """None where no script of the page measured anything."""
        seconds: int | None = self.cleaned_data["active_seconds"]
        return None if seconds is None else max(0, min(seconds, MAX_ACTIVE_SECONDS))

    def clean_attention(self) -> Attention | None:
        """What the page's script counted; None where none ran, or what came is none of its making."""
        return Attention.read(self.cleaned_data["attention"])

    def clean(self) -> dict[str, Any]:
        raw = dict(self.data.lists()) if isinstance(self.data, QueryDict) else dict(self.data)
        for spec in self.specs:
            if (typed := get_field_type(spec.type).as_typed(raw, spec)) is not None:
                self.typed[spec.name] = typed
            try:
                self.answer |= read_answer([spec], raw)
            except AnswerInvalid as refusal:
                self.field_errors |= refusal.errors
        if self.field_errors:
            raise ValidationError(_("Some answers could not be read."))
        return self.cleaned_data

    def circumstances(self, *, guideline_version_id: int | None, held_seconds: float | None = None) -> Circumstances:
        sent = self.cleaned_data
        return Circumstances(
            guideline_version_id=guideline_version_id,
            held_seconds=held_seconds,
            active_seconds=sent["active_seconds"],
            is_flagged=sent["flag"],
            flag_note=sent["flag_note"],
            attention=sent["attention"],
        )

    def draft(self) -> dict[str, Any]:
        """What is kept of unfinished work."""
        sent = self.cleaned_data
        return {
            "answer": self.answer,
            "active_seconds": sent["active_seconds"],
            "is_flagged": sent["flag"],
            "flag_note": sent["flag_note"],
        } | ({"attention": str(sent["attention"])} if sent["attention"] else {})


class _Shared(dict[str, forms.Field]):
    """Fields of a form that never changes one: Django copies them for each form, which was a tenth of reading it."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shared:
        return self


AnswerForm.base_fields = _Shared(AnswerForm.base_fields)


class SkipForm(forms.Form):
    reason = forms.ChoiceField(
        choices=Assignment.SkipReason.choices, error_messages={"required": _("Say why you skip it: choose a reason.")}
    )
    note = forms.CharField(max_length=500, required=False)


class CodeForm(forms.Form):
    code = forms.CharField(max_length=200, error_messages={"required": _("Type the code you were given.")})


class PasswordForm(forms.Form):
    # Never stripped: a password may end with a space.
    username = forms.CharField(max_length=150, error_messages={"required": _("Type your user name.")})
    password = forms.CharField(max_length=1_000, strip=False, error_messages={"required": _("Type your password.")})
