"""The shape of a new API token."""

from __future__ import annotations

from typing import Any

from django import forms

from annotate.models import ApiToken, Person
from annotate.project_forms import PlainForm
from annotate.services.tokens import MAX_DAYS, offered_scopes
from annotate.wording import _


class TokenForm(PlainForm):
    name = forms.CharField(max_length=80, help_text=_("What it is for, such as “nightly export”."), label=_("Name"))
    scopes = forms.MultipleChoiceField(
        choices=ApiToken.Scope.choices,
        widget=forms.CheckboxSelectMultiple,
        label=_("What it opens"),
        help_text=_("Never more than what you may do yourself."),
    )
    days = forms.IntegerField(min_value=1, max_value=MAX_DAYS, initial=90, label=_("Valid for, days"))

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = offered_scopes(person)
        scopes: Any = self.fields["scopes"]
        scopes.choices = [(value, words) for value, words in ApiToken.Scope.choices if value in offered]
        if len(offered) == 1:
            scopes.initial = offered
