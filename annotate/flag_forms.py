"""The shape of what is said of flags that were dealt with."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotate.project_forms import PlainForm

MAX_ID = 2**63 - 1
MOST_AT_ONCE = 500


class SettleForm(PlainForm):
    note = forms.CharField(
        max_length=500,
        required=False,
        label=_("What came of it"),
        help_text=_("For those who run the project. Whoever flagged it does not read this."),
    )

    @property
    def ticked(self) -> list[str]:
        return list(self.data.getlist("flag")) if self.is_bound and hasattr(self.data, "getlist") else []

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        ids = [int(one) for one in self.ticked if one.isascii() and one.isdecimal() and len(one) < 20]
        data["flags"] = [one for one in ids if one <= MAX_ID][:MOST_AT_ONCE]
        if not data["flags"]:
            raise ValidationError(_("Tick the flags first, then say that they were dealt with."))
        return data
