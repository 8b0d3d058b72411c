"""The shape of what admins ask of the people of a project: which ones, one step for several, and to erase one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from annotate.models import Membership, Person
from annotate.project_forms import GROUPS, PlainForm
from annotate.services.member_list import Asked


class MembersForm(PlainForm):
    """Which members are shown; all empty shows everybody."""

    standing = forms.ChoiceField(
        required=False,
        label=_lazy("State"),
        choices=[
            ("", _lazy("any")),
            ("active", _lazy("active")),
            ("invited", _lazy("invited, not begun")),
            ("paused", _lazy("paused")),
            ("left", _lazy("left")),
            ("deactivated", _lazy("deactivated")),
            ("erased", _lazy("erased")),
        ],
    )
    role = forms.ChoiceField(
        required=False, label=_lazy("Role"), choices=[("", _lazy("any")), *Membership.Role.choices]
    )
    group = forms.ChoiceField(
        required=False,
        label=_lazy("Group"),
        choices=[("", _lazy("any")), *(pair for pair in GROUPS if pair[0]), ("none", _lazy("none"))],
    )
    sort = forms.ChoiceField(
        required=False,
        label=_lazy("Order"),
        choices=[
            ("joined", _lazy("who joined first")),
            ("answered", _lazy("most answers")),
            ("skipped", _lazy("most skips")),
            ("flagged", _lazy("most flags")),
            ("time", _lazy("longest active time")),
            ("seen", _lazy("last seen")),
        ],
    )

    @property
    def asked(self) -> Asked:
        """What was understood; whatever an address says that is no choice is as if it were not there."""
        self.is_valid()
        return Asked(**{name: value for name, value in self.cleaned_data.items() if value})


class BulkForm(PlainForm):
    """One step for several people, who are ticked in the list."""

    step = forms.ChoiceField(choices=[("pause", ""), ("reactivate", ""), ("deal", "")])
    seed = forms.IntegerField(required=False, min_value=0, max_value=2**53 - 1)


class EraseForm(PlainForm):
    """The pseudonym, typed: nobody erases the wrong person by a slip of the mouse."""

    pseudonym = forms.CharField(max_length=16, label=_lazy("The pseudonym, typed again"))

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_pseudonym(self) -> str:
        typed: str = self.cleaned_data["pseudonym"].strip()
        if typed.upper() != self.person.pseudonym:
            words = _("This is not the pseudonym of the person on this page. Nothing was erased.")
            raise ValidationError(words)
        return typed
