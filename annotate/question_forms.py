"""The shape of a question and of its answer."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.project_forms import PlainForm
from annotate.services.questions import MOST_CHARACTERS, MOST_CHARACTERS_ANSWERED


class QuestionForm(forms.Form):
    """about: what the question is about, where it was asked beside an item."""

    text = forms.CharField(
        max_length=MOST_CHARACTERS,
        error_messages={"required": _("Write your question first.")},
    )
    about = forms.ChoiceField(choices=[("item", ""), ("stage", "")], required=False)
    client_key = forms.RegexField(
        regex=r"\A[A-Za-z0-9_-]{1,64}\Z",
        error_messages={
            name: _("Something of this page got lost on the way. Load the page again; your text is kept.")
            for name in ("required", "invalid")
        },
    )


class AnswerQuestionForm(PlainForm):
    answer = forms.CharField(
        max_length=MOST_CHARACTERS_ANSWERED,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        label=_("Answer"),
        error_messages={"required": _("Write an answer first.")},
    )
    is_pinned = forms.BooleanField(required=False, label=_("Pin to the guidelines for all"))
    pinned_text = forms.CharField(
        max_length=MOST_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        label=_("The question as all read it"),
        help_text=_("Empty: in the words in which it was asked. Nobody but admins learns who asked."),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not data.get("is_pinned"):
            data["pinned_text"] = ""
        return data
