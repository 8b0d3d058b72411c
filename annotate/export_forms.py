"""The shape of what is asked for: an export, or an archive to be restored."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug

from annotate.models import Project
from annotate.project_forms import PlainForm
from annotate.services.exporting.kinds import KINDS, kinds_for
from annotate.wording import _

ARCHIVE = "archive"


class ExportForm(forms.Form):
    """One kind of rows in one format; the archive has its own button."""

    kind = forms.ChoiceField(label=_("What"), widget=forms.RadioSelect)
    format = forms.ChoiceField(label=_("As"), widget=forms.RadioSelect, initial="exact")

    def __init__(self, *args: Any, may_run: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [kind for kind in kinds_for(may_run=may_run) if kind.write is None]
        formats = {form.name: form for kind in kinds for form in kind.formats}
        self.words = {kind.name: kind.words for kind in kinds} | {form.name: form.words for form in formats.values()}
        kind_field: Any = self.fields["kind"]
        kind_field.choices = [(kind.name, kind.title) for kind in kinds]
        kind_field.initial = kinds[0].name
        format_field: Any = self.fields["format"]
        format_field.choices = [(form.name, form.label) for form in formats.values()]

    def clean(self) -> dict[str, Any]:
        asked: dict[str, Any] = super().clean() or {}
        kind, form = KINDS.get(asked.get("kind", "")), asked.get("format")
        if kind and form and kind.format(form) is None:
            self.add_error("format", ValidationError(_("%(title)s cannot be had in this form.", title=kind.title)))
        return asked

    def offered(self, name: str) -> list[dict[str, Any]]:
        """The choices of a field with what each is good for."""
        chosen = self[name].value()
        field: Any = self.fields[name]
        return [
            {"value": value, "label": label, "words": self.words[value], "is_chosen": value == chosen}
            for value, label in field.choices
        ]

    def offered_kinds(self) -> list[dict[str, Any]]:
        return self.offered("kind")

    def offered_formats(self) -> list[dict[str, Any]]:
        return self.offered("format")


class RestoreForm(PlainForm):
    file = forms.FileField(
        label=_("Archive of a project"),
        widget=forms.FileInput(attrs={"class": "", "accept": ".zip,application/zip"}),
        help_text=_("The ZIP that a project's page of exports makes under “The whole project”."),
    )
    slug = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=80,
        validators=[validate_slug],
        help_text=_("Of the new project. Empty: the archived one, or the next that is free."),
    )
    joins_people = forms.BooleanField(
        label=_("People with the same pseudonym here are the same people"),
        required=False,
        help_text=_("Only for an archive of this installation, or of one whose people were taken over."),
    )

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug and Project.objects.filter(slug=slug).exists():
            raise ValidationError(_("This address is another project's."))
        return slug
