"""The shape of what admins ask of the people of a project: which ones, one step for several, and to erase one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotate.models import Membership, Person
from annotate.project_forms import GROUPS, PlainForm
from annotate.services.member_list import Asked


class MembersForm(PlainForm):
    """Which members are shown; all empty shows everybody."""

    standing = forms.ChoiceField(
        required=False,
        label=_("State"),
        choices=[
            ("", _("any")),
            ("active", _("active")),
            ("invited", _("invited, not begun")),
            ("paused", _("paused")),
            ("left", _("left")),
            ("deactivated", _("deactivated")),
            ("erased", _("erased")),
        ],
    )
    role = forms.ChoiceField(required=False, label=_("Role"), choices=[("", _("any")), *Membership.Role.choices])
    group = forms.ChoiceField(
        required=False,
        label=_("Group"),
        choices=[("", _("any")), *(pair for pair in GROUPS if pair[0]), ("none", _("none"))],
    )
    sort = forms.ChoiceField(
        required=False,
        label=_("Order"),
        choices=[
            ("joined", _("who joined first")),
            ("answered", _("most answers")),
            ("skipped", _("most skips")),
            ("flagged", _("most flags")),
            ("time", _("longest active time")),
            ("seen", _("last seen")),
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

    pseudonym = forms.CharField(max_length=16, label=_("The pseudonym, typed again"))

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_pseudonym(self) -> str:
        typed: str = self.cleaned_data["pseudonym"].strip()
        if typed.upper() != self.person.pseudonym:
            words = _("This is not the pseudonym of the person on this page. Nothing was erased.")
            raise ValidationError(words)
        return typed
