"""The shape of what admins type about quality: rules of checks, items set apart, decisions about people and answers."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.models import StageItem
from annotate.project_forms import AddItemsForm, ExcludeForm, PlainForm


class ChecksForm(PlainForm):
    """The rules of a stage; what cannot be kept with its items the service says."""

    check_every = forms.IntegerField(
        min_value=0,
        max_value=1000,
        label=_("One of so many items is a check"),
        help_text=_("At a place drawn for each person, each check once. 0: none."),
    )
    tells_checks = forms.BooleanField(
        required=False,
        label=_("People hear after every ten checks how many were right"),
        help_text=_("Otherwise when the stage is closed. Never which."),
    )
    qualification_size = forms.IntegerField(
        min_value=0,
        max_value=200,
        label=_("Items of an attempt to qualify"),
        help_text=_("Drawn at random for each attempt; there are two, with other items. 0: everybody may begin."),
    )
    qualification_mark = forms.IntegerField(min_value=0, max_value=200, label=_("How many of them must be right"))


class SetApartForm(AddItemsForm):
    purpose = forms.ChoiceField(
        label=_("Make them"),
        choices=[
            (StageItem.Purpose.CHECK.value, _("checks, in no figure")),
            (StageItem.Purpose.COUNTED_CHECK.value, _("checks that figures count")),
            (StageItem.Purpose.QUALIFICATION.value, _("items to qualify with")),
        ],
    )
    field_order = ("item_set", "purpose")


class ReasonForm(PlainForm):
    reason = forms.CharField(max_length=300, label=_("Reason"), help_text=_("Kept with the decision."))


class DecideForm(ExcludeForm):
    """Leave something out, and perhaps ask others instead."""

    collects_again = forms.BooleanField(
        required=False,
        label=_("Collect again: free the places, so that others are asked"),
        help_text=_("When it is lifted, an answer counts again where nobody has taken its place meanwhile."),
    )


class ExcludePersonForm(DecideForm):
    pauses = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Hand out nothing more to them"),
        help_text=_("What they answer after this counts nowhere. “Let work again” on this page takes it back."),
    )


class FloorForm(forms.Form):
    """What the address of the page says; anything that is no number of seconds is passed over."""

    floor = forms.FloatField(required=False, min_value=0.0, max_value=86_400.0)

    def seconds(self) -> float | None:
        value: Any = self.cleaned_data.get("floor") if self.is_valid() else None
        return value
