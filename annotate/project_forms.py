"""The shape of what admins type: projects, stages and their fields, codes, invitations, exclusions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from annotate.answers import SETTINGS, FieldSpecInvalid, JsonValue, fields_from_json, get_field_type
from annotate.answers.text import Text
from annotate.languages import is_language_tag
from annotate.models import ItemSet, Membership, Project, Stage
from annotate.stage_kinds import KINDS
from annotate.wording import _

MAX_FIELDS = 12
GROUPS = [("", _("no group")), ("A", "A"), ("B", "B")]
TYPE_WORDS = {
    "choice": _("choose one"),
    "choices": _("choose several"),
    "scale": _("a point on a scale"),
    "text": _("one line of text"),
    "long_text": _("several lines of text"),
    "number": _("a number"),
    "date": _("a date"),
    "list": _("several short answers"),
    "table": _("a table"),
    "question": _("a question, written or rewritten"),
    "qa_pairs": _("questions with answers"),
    "verdict": _("right, wrong or unsure, with a correction"),
}


class PlainForm(forms.Form):
    """Widgets as the stylesheet knows them; labels stand above, errors below."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput | forms.CheckboxSelectMultiple | forms.RadioSelect):
                field.widget.attrs.setdefault("class", "input")
            field.widget.attrs.setdefault("autocomplete", "off")


class LanguagesField(forms.CharField):
    """BCP-47 tags with commas between them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, label=_("Languages"), max_length=300, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        tags = [tag.strip() for tag in super().clean(value).split(",") if tag.strip()]
        for tag in tags:
            if not is_language_tag(tag):
                raise ValidationError(
                    _("%(tag)s is no language tag; write en, ta or zh-Hans, with commas between.", tag=tag)
                )
        return tags


class LinesField(forms.CharField):
    """A list, one entry a line."""

    widget = forms.Textarea(attrs={"rows": 4})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


@cache
def time_zones() -> list[tuple[str, str]]:
    return [(name, name.replace("_", " ")) for name in sorted(available_timezones()) if "/" in name or name == "UTC"]


def _address(text: str, title: str) -> str:
    """The slug that was typed, or one made of the title."""
    slug = slugify(text or title)[:80]
    if not slug:
        raise ValidationError(
            _("Write a short address in Latin letters and digits; the title has none to make one of.")
        )
    return slug


class ProjectForm(PlainForm):
    title = forms.CharField(max_length=200, label=_("Title"))
    description = forms.CharField(
        required=False,
        max_length=5_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What people who are invited read before they take part."),
        label=_("Description"),
    )
    languages = LanguagesField(help_text=_("Of the items, as BCP-47 tags, such as en, ta, zh-Hans."))
    current_date = forms.CharField(
        required=False,
        max_length=60,
        label=_("Current date"),
        help_text=_("What “today” means in the questions, such as December 2022; shown to people and models alike."),
    )
    time_zone = forms.ChoiceField(
        choices=time_zones, initial="UTC", label=_("Time zone"), help_text=_("Days are counted here.")
    )
    guidelines = forms.CharField(
        required=False,
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("Markdown. Shown beside every item, in stages that have no guidelines of their own."),
        label=_("Guidelines"),
    )


class NewProjectForm(ProjectForm):
    slug = forms.CharField(
        max_length=80,
        required=False,
        label=_("Short address"),
        help_text=_(
            "Latin letters, digits and hyphens; stands in the address of every page. Empty: made of the title."
        ),
    )
    field_order = ("title", "slug")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        try:
            data["slug"] = _address(data.get("slug", ""), data.get("title", ""))
        except ValidationError as problem:
            self.add_error("slug", problem)
            return data
        if Project.objects.filter(slug=data["slug"]).exists():
            self.add_error("slug", _("There is a project with the address %(slug)s already.", slug=data["slug"]))
        return data


class StageForm(PlainForm):
    """How a stage is run; what it asks is the form of StageVersionForm and FieldFormSet."""

    title = forms.CharField(max_length=120, help_text=_("Annotators see it."), label=_("Title"))
    overlap = forms.IntegerField(
        min_value=1,
        max_value=1_000,
        initial=3,
        label=_("People per item"),
        help_text=_("How many answers each item gets."),
    )
    roles = forms.MultipleChoiceField(
        choices=[(value, label) for value, label in Membership.Role.choices if value != "viewer"],
        initial=["annotator"],
        widget=forms.CheckboxSelectMultiple,
        label=_("Who may take it"),
        help_text=_("Only members with one of these roles are offered its items."),
    )
    lease_minutes = forms.IntegerField(
        min_value=1,
        max_value=1_440,
        initial=30,
        label=_("Minutes before an idle item goes to somebody else"),
        help_text=_("Counted from the last sign of work. What was typed is kept, and can still be sent."),
    )
    order = forms.ChoiceField(
        choices=Stage.Order.choices,
        initial=Stage.Order.SEEDED,
        label=_("Order"),
        help_text=_(
            "A seeded place spreads people over the items, so that no item is always the last one of a long day."
        ),
    )
    is_closed_book = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Closed book: people answer from what is shown and what they know"),
        help_text=_(
            "They are asked to look nothing up and to ask no model. Unticked: name the permitted sources below."
        ),
    )
    time_limit_seconds = forms.IntegerField(
        required=False,
        min_value=5,
        max_value=86_400,
        label=_("Time limit per item, seconds"),
        help_text=_(
            "For closed book. People are told; an answer that takes longer is kept, and exports give its time."
        ),
    )
    permitted_sources = forms.CharField(
        required=False,
        max_length=200,
        label=_("Permitted sources"),
        help_text=_("Without closed book: what people may look things up in, such as Wikipedia."),
    )

    shows_decided = forms.BooleanField(
        required=False,
        initial=True,
        label=_("When it is closed, people see where their answers differ from what was decided"),
        help_text=_(
            "With how it was decided, the adjudicator's reason and what others explained, without names. Not while any "
            "other stage that is not closed asks about the same items. Opening a stage again lets people change "
            "answers who have seen it."
        ),
    )
    shows_gold = forms.BooleanField(
        required=False,
        label=_("and the gold label beside them"),
        help_text=_("Who has seen gold labels is lost for later stages about the same items."),
    )
    is_cross_group = forms.BooleanField(
        required=False,
        label=_("Cross-check: nobody gets what somebody of their own group wrote"),
        help_text=_("For questions that people wrote: deal them into groups A and B under People first."),
    )
    escalate_by = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=100,
        initial=0,
        label=_("People asked in addition where there is no majority"),
        help_text=_("0: nobody. They are asked when the first answers are all there."),
    )
    escalate_times = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=20,
        initial=1,
        label=_("How often more are asked at most"),
        help_text=_("Each time by so many people, as long as there is no majority."),
    )
    adjudicated_in = forms.ModelChoiceField(
        queryset=Stage.objects.none(),
        required=False,
        label=_("Adjudicated in"),
        empty_label=_("nowhere"),
        help_text=_("Where items wait that have no majority in the end. It asks what decides here."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        field: Any = self.fields["adjudicated_in"]
        field.queryset = project.stages.filter(kind=Stage.Kind.ADJUDICATE).order_by("position")

    def clean_escalate_by(self) -> int:
        return self.cleaned_data["escalate_by"] or 0

    def clean_escalate_times(self) -> int:
        return self.cleaned_data["escalate_times"] or 1

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        # A report states the condition of the human baseline: it must be one of two, and named.
        if data.get("is_closed_book") and data.get("permitted_sources"):
            self.add_error("permitted_sources", _("Closed book has no sources: empty this, or untick closed book."))
        if not data.get("is_closed_book") and not data.get("permitted_sources"):
            self.add_error("permitted_sources", _("Name the sources people may use, or tick closed book."))
        return data


class NewStageForm(StageForm):
    kind = forms.ChoiceField(
        choices=[(kind, described.caption) for kind, described in KINDS.items() if described.is_offered],
        widget=forms.HiddenInput,
    )
    slug = forms.CharField(
        max_length=80, required=False, label=_("Short address"), help_text=_("Empty: made of the title.")
    )
    field_order = ("kind", "title", "slug")

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        try:
            data["slug"] = _address(data.get("slug", ""), data.get("title", ""))
        except ValidationError as problem:
            self.add_error("slug", problem)
            return data
        # "new" is the address of this very page.
        if data["slug"] == "new" or self.project.stages.filter(slug=data["slug"]).exists():
            self.add_error("slug", _("The address %(slug)s is taken; choose another.", slug=data["slug"]))
        return data


class StageVersionForm(PlainForm):
    """What is shown and said beside the fields."""

    shown_keys = LinesField(
        label=_("Shown content"),
        help_text=_("Keys of the items' content, one a line, in the order people see them. The first is the headline."),
    )
    instruction = forms.CharField(
        required=False, max_length=400, label=_("Instruction"), help_text=_("One line above the answer.")
    )


@cache
def settings_of_types() -> str:
    """As JSON, by type of a field, the names of the settings below it that have a meaning there."""
    kinds = {name: get_field_type(name) for name in TYPE_WORDS}
    of_texts = {name: ["max_length"] if isinstance(kind, Text) else [] for name, kind in kinds.items()}
    return json.dumps({name: [*sorted(kind.settings), *of_texts[name]] for name, kind in kinds.items()})


class FieldForm(PlainForm):
    name = forms.SlugField(
        max_length=50, help_text=_("In exports and reports: lower-case letters, digits, underscores."), label=_("Name")
    )
    type = forms.ChoiceField(
        choices=list(TYPE_WORDS.items()),
        label=_("How it is answered"),
        initial="choice",
        help_text=_("What people get to answer with. Settings below that such a field does not have are passed over."),
    )
    caption = forms.CharField(max_length=200, help_text=_("The question as people read it."), label=_("Caption"))
    help = forms.CharField(
        max_length=300,
        required=False,
        label=_("Help"),
        help_text=_("A hint below the question, where it alone might be misread."),
    )
    options = LinesField(
        required=False,
        help_text=_(
            "To choose from: one option a line, as value | caption. The value is exported. For a scale: "
            "captions of single points, such as 1 | not at all."
        ),
        label=_("Options"),
    )
    max_length = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=200_000,
        label=_("Longest text, characters"),
        help_text=_("A longer answer is refused, and kept in the field. Empty: as long as such a field may be."),
    )
    unit = forms.CharField(
        required=False,
        max_length=40,
        help_text=_("What is asked in, such as months or %: a bare number is read in it."),
        label=_("Unit"),
    )
    min = forms.IntegerField(
        required=False,
        label=_("From"),
        help_text=_("Lowest number, first point of a scale, fewest options, members, rows or pairs."),
    )
    max = forms.IntegerField(required=False, label=_("To"), help_text=_("Highest or most, likewise."))
    ordered = forms.BooleanField(
        required=False,
        label=_("The order counts: of options from low to high, of a list, of a table's rows"),
        help_text=_("Then agreement weighs how far two options are apart, and equal members in another order differ."),
    )
    columns = LinesField(
        required=False,
        label=_("Columns of a table"),
        help_text=_(
            "Their names, one a line, in order. What the cells hold may follow, as in “born: year”; "
            "text, number, date and year are known."
        ),
    )
    columns_from = forms.CharField(
        required=False,
        max_length=200,
        label=_("Columns from the item"),
        help_text=_("The content key under which each item names its own columns; an item without it has those above."),
    )
    decides = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Decides: it is counted, voted on and compared"),
        help_text=_("Unticked, it supports: such as a reason, which is kept and exported beside the answer."),
    )
    required = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Must be answered"),
        help_text=_("Unticked, people may leave it empty; an empty answer is no vote."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # For static/js/field_editor.js, which shows the settings of the chosen type alone.
        self.fields["type"].widget.attrs["data-settings"] = settings_of_types()

    def clean_options(self) -> list[dict[str, Any]]:
        # Captions in other languages come through the API; the editor shows the plain ones and keeps the others.
        kept = {option.get("value"): option.get("captions") for option in self.initial.get("stored_options") or []}
        options = []
        for line in self.cleaned_data["options"]:
            value, bar, caption = line.partition("|")
            option: dict[str, Any] = {"value": value.strip(), "caption": caption.strip() if bar else value.strip()}
            if kept.get(option["value"]):
                option["captions"] = kept[option["value"]]
            options.append(option)
        return options

    def to_json(self) -> dict[str, Any]:
        """The field as a stage stores it: of the settings only those that its type has."""
        names = ("name", "type", "caption", "help", "max_length", "decides", "required")
        settings = get_field_type(self.cleaned_data["type"]).settings
        return {name: self.cleaned_data[name] for name in (*names, *(s for s in SETTINGS if s in settings))}


class BaseFieldFormSet(forms.BaseFormSet):
    def clean(self) -> None:
        if any(self.errors):
            return
        try:
            fields_from_json(self.fields_json)
        except FieldSpecInvalid as problem:
            raise ValidationError(str(problem)) from None

    @property
    def fields_json(self) -> list[dict[str, Any]]:
        """The fields as a stage stores them; for a valid set only."""
        kept = [form for form in self.forms if form.has_changed() or form.initial]
        # Those without a place come last, as they stand.
        kept.sort(key=lambda form: (form.cleaned_data.get("ORDER") is None, form.cleaned_data.get("ORDER") or 0))
        return [form.to_json() for form in kept if not form.cleaned_data.get("DELETE")]

    def add_fields(self, form: forms.Form, index: int | None) -> None:
        super().add_fields(form, index)
        place = form.fields["ORDER"]
        place.label, place.help_text = _("Place"), _("Fields are shown from the lowest number to the highest.")
        place.widget.attrs |= {"class": "input", "autocomplete": "off"}


FieldFormSet: Any = forms.formset_factory(
    FieldForm,
    formset=BaseFieldFormSet,
    extra=1,
    can_delete=True,
    can_order=True,
    max_num=MAX_FIELDS,
    validate_max=True,
)


def field_initial(fields: Sequence[dict[str, JsonValue]]) -> list[dict[str, Any]]:
    """Stored fields as the form set shows them."""
    return [
        {
            **field,
            "options": [f"{option['value']} | {option['caption']}" for option in field.get("options") or []],  # type: ignore[index,union-attr,call-overload]
            "stored_options": field.get("options"),
        }
        for field in fields
    ]


class GuidelinesForm(PlainForm):
    markdown = forms.CharField(
        required=False, max_length=200_000, label=_("Guidelines"), widget=forms.Textarea(attrs={"rows": 10})
    )


class AddItemsForm(PlainForm):
    item_set = forms.ModelChoiceField(queryset=ItemSet.objects.none(), label=_("Item set"), empty_label=None)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["item_set"]
        field.queryset = project.item_sets.order_by("-pk")
        field.label_from_instance = lambda item_set: f"{item_set.name} ({item_set.n_items:,} items)"


class MemberForm(PlainForm):
    role = forms.ChoiceField(
        choices=[(value, label) for value, label in Membership.Role.choices if value != "admin"],
        initial="annotator",
        label=_("Role"),
    )
    group = forms.ChoiceField(
        choices=GROUPS, required=False, help_text=_("For a cross-check; else no group."), label=_("Group")
    )


class CodesForm(MemberForm):
    n_codes = forms.IntegerField(min_value=1, max_value=500, initial=5, label=_("How many"))
    languages = LanguagesField(help_text=_("Items in other languages are not offered. Empty: every language."))
    field_order = ("n_codes", "role", "group", "languages")


class InviteForm(MemberForm):
    days = forms.IntegerField(min_value=1, max_value=90, initial=7, label=_("Valid for, days"))
    max_uses = forms.IntegerField(min_value=1, max_value=10_000, initial=1, label=_("For how many people"))
    field_order = ("max_uses", "days", "role", "group")


class ExcludeForm(PlainForm):
    reason = forms.CharField(
        max_length=300, help_text=_("Printed in exports and reports beside what was left out."), label=_("Reason")
    )
    rule = forms.CharField(
        max_length=60,
        required=False,
        help_text=_("The rule it follows, if one was set before the study, such as “3 of 5 checks missed”."),
        label=_("Rule"),
    )
