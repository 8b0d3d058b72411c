"""The shape of what adjudicators and reviewers send: an answer, and how they came to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from annotate.answers import FieldSpec
from annotate.forms import INCOMPLETE, AnswerForm
from annotate.services.adjudicating import Ruling

PREFIX = "decision-"

# How the page of an adjudicator stands: choosing an answer, changing one, writing one, or saying that there is none.
TAKE, EDIT, OWN, BAD = "take", "edit", "own", "bad"
MODES = {TAKE: "taken", EDIT: "edited", OWN: "own", BAD: "bad"}


class SeenForm(AnswerForm):
    """`seen` stands for what the person had before them; where that has changed, nothing is stored.

    Sent with a prefix that no field of a stage can have in its name.
    """

    seen = forms.RegexField(regex=r"\A[0-9a-f]{32}\Z", error_messages={"required": INCOMPLETE, "invalid": INCOMPLETE})

    def add_prefix(self, field_name: str) -> str:
        return field_name if field_name in AnswerForm.base_fields else f"{PREFIX}{field_name}"


class ReviewForm(SeenForm):
    """`emptied`: fields that came without anything in them; one that was not asked did not come at all."""

    @property
    def emptied(self) -> frozenset[str]:
        return frozenset(spec.name for spec in self.specs if spec.name in self.data and spec.name not in self.answer)


class AdjudicationForm(SeenForm):
    """`look` asks for the page in another mode, with everything typed so far; nothing is stored then."""

    mode = forms.ChoiceField(choices=[(mode, mode) for mode in MODES], error_messages={"required": INCOMPLETE})
    card = forms.CharField(max_length=16, required=False)
    reason = forms.CharField(max_length=20_000, required=False)
    is_gold = forms.BooleanField(required=False)
    look = forms.ChoiceField(choices=[(mode, mode) for mode in MODES], required=False)

    def __init__(self, data: QueryDict, *, fields: Sequence[FieldSpec]) -> None:
        super().__init__(data, fields=fields)
        self.is_look = f"{PREFIX}look" in data

    def ruling(self) -> Ruling:
        sent = self.cleaned_data
        return Ruling(
            kind=MODES[sent["mode"]],
            seen=sent["seen"],
            card=sent["card"] if sent["mode"] in (TAKE, EDIT) else "",
            answer=self.answer,
            reason=sent["reason"],
            is_gold=sent["is_gold"] and sent["mode"] != BAD,
        )

    def draft(self) -> dict[str, Any]:
        sent = self.cleaned_data
        return super().draft() | {name: sent[name] for name in ("mode", "card", "reason", "is_gold")}
