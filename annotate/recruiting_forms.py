"""The shape of what admins say about people from Prolific."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotate.models import ProlificStudy
from annotate.project_forms import PlainForm
from annotate.prolific import CODE, read_keys
from annotate.wording import _

_BAD_CODE = _("Letters, digits, - and _, at most 40.")


def _code(label: str, help_text: str = "") -> forms.RegexField:
    return forms.RegexField(
        rf"\A{CODE.pattern}\Z", required=False, label=label, help_text=help_text, error_messages={"invalid": _BAD_CODE}
    )


class ProlificForm(PlainForm):
    is_open = forms.BooleanField(required=False, label=_("The link is open"))
    n_answers = forms.IntegerField(
        min_value=1, max_value=100_000, label=_("Answers of each person"), help_text=_("Then they get the code.")
    )
    max_people = forms.IntegerField(min_value=1, max_value=100_000, label=_("People at most"))
    study_id = forms.RegexField(
        r"\A[A-Za-z0-9]{1,64}\Z",
        required=False,
        label=_("Study ID"),
        help_text=_("From the address of the study on Prolific. Empty: people of any study may come."),
        error_messages={"invalid": _("Letters and digits only.")},
    )
    code_done = _code(_("Code when all is answered"))
    code_screened_out = _code(_("Code for who does not qualify"), _("After the last attempt of the qualification."))
    code_no_work = _code(
        _("Code when there is no work left"), _("Also when the stage is paused or closed before somebody is done.")
    )
    keys = forms.CharField(
        required=False,
        max_length=20_000,
        label=_("Public keys of Prolific"),
        help_text=_(
            "What stands at https://api.prolific.com/.well-known/study/jwks.json. With them only links that Prolific "
            "has signed let people in; without, anybody with the link and an ID may come, also as somebody else."
        ),
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
    )

    def clean_keys(self) -> list[dict[str, str]]:
        try:
            return read_keys(self.cleaned_data["keys"])
        except ValueError as fault:
            raise ValidationError(fault.args[0]) from fault

    @staticmethod
    def initial_of(study: ProlificStudy | None) -> dict[str, Any]:
        study = study or ProlificStudy(is_open=True)
        names = [name for name in ProlificForm.base_fields if name != "keys"]
        keys = [{"kty": "RSA", **key} for key in study.keys]
        return {name: getattr(study, name) for name in names} | {"keys": json.dumps({"keys": keys}) if keys else ""}
