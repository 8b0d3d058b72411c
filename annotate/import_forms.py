"""The shape of an import: the file that is uploaded, how it is read, and what each of its columns means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from annotate.answers import FieldSpec
from annotate.languages import is_language_tag
from annotate.models import ImportJob, Project, Stage
from annotate.project_forms import PlainForm
from annotate.services.importing import ImportOptions
from annotate.services.importing.preview import Column
from annotate.sources.decoding import ENCODINGS
from annotate.sources.delimited import DELIMITERS
from annotate.sources.detect import FORMATS, Detected
from annotate.sources.mapping import KINDS, ContentColumn, GoldColumn, Mapping

# A page with a row for each of ten thousand columns helps nobody; those beyond are kept aside.
MAX_COLUMNS = 150
MEANINGS = [
    ("", "Kept aside"),
    ("id", "Id"),
    ("content", "Shown to people"),
    ("stratum", "Stratum, for breakdowns"),
    ("group", "Group: resampled together"),
    ("language", "Language"),
]
GOLD = "gold:"


class StageField(forms.ModelChoiceField):
    """A stage of the project that may still take items."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(queryset=Stage.objects.none(), required=False, empty_label="no stage yet", **kwargs)

    def of_project(self, project: Project) -> None:
        self.queryset = project.stages.exclude(state=Stage.State.CLOSED).order_by("position", "pk")

    def label_from_instance(self, stage: Any) -> str:
        return f"{stage.title} ({stage.get_state_display()})"


class UploadForm(PlainForm):
    file = forms.FileField(
        label="File of items", widget=forms.FileInput(attrs={"class": ""}), help_text="JSONL, JSON, CSV or TSV."
    )
    tables = forms.FileField(
        label="Tables the items refer to",
        required=False,
        widget=forms.FileInput(attrs={"class": ""}),
        help_text="Optional: a JSON, JSONL or CSV file of tables, or a ZIP with a file for each.",
    )
    stage = StageField(label="For the stage", help_text="Its people can take the items as soon as they are imported.")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stage: Any = self.fields["stage"]
        stage.of_project(project)
        self.initial.setdefault("stage", stage.queryset.last())


class ReadingForm(PlainForm):
    """How the file is read. What is detected stands in it first."""

    stage = StageField(label="For the stage")
    format = forms.ChoiceField(choices=list(FORMATS.items()))
    encoding = forms.ChoiceField(choices=list(ENCODINGS.items()))
    delimiter = forms.ChoiceField(choices=[(name, name) for name in DELIMITERS.values()])
    has_header = forms.BooleanField(required=False, label="The first row names the columns")
    quoting = forms.BooleanField(required=False, label="Quotes enclose cells")
    join_column = forms.CharField(required=False, max_length=1_000, label="Column that names the table")
    language = forms.CharField(
        required=False,
        max_length=35,
        label="Language of the items",
        help_text="A tag such as en or zh-Hans; a column of languages comes first.",
    )
    new_revisions = forms.BooleanField(
        required=False,
        label="Take over what changed: known items get new revisions, gold labels, strata and groups as in this file",
    )

    def __init__(self, *args: Any, project: Project, join_columns: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stage: Any = self.fields["stage"]
        stage.of_project(project)
        if join_columns:
            self.fields["join_column"].widget = forms.Select(
                attrs={"class": "input"}, choices=[(name, name) for name in join_columns]
            )

    def clean_language(self) -> str:
        tag: str = self.cleaned_data["language"].strip()
        if tag and not is_language_tag(tag):
            raise ValidationError(f"{tag} is no language tag; write en, ta or zh-Hans.")
        return tag

    @staticmethod
    def initial_of(job: ImportJob, options: ImportOptions, mapping: Mapping) -> dict[str, Any]:
        source = options.source
        return {
            "stage": job.stage,
            "format": source.format,
            "encoding": source.encoding,
            "delimiter": DELIMITERS[source.delimiter],
            "has_header": source.has_header,
            "quoting": source.quoting,
            "join_column": options.join.column if options.join else "",
            "language": mapping.language,
            "new_revisions": options.new_revisions,
        }

    def source(self, before: Detected) -> Detected:
        """How to read the file: what the form does not show stays as it was detected."""
        data = self.cleaned_data
        source = replace(before, format=data["format"], encoding=data["encoding"])
        if data["encoding"] != before.encoding:
            source = replace(source, encoding_note="")
        if data["format"] in ("csv", "tsv") and before.format in ("csv", "tsv"):
            delimiter = next(character for character, name in DELIMITERS.items() if name == data["delimiter"])
            source = replace(source, delimiter=delimiter, has_header=data["has_header"], quoting=data["quoting"])
        return source


class ColumnForm(PlainForm):
    """What one column means. Only what the chosen meaning needs is shown: a file may have many columns."""

    column = forms.CharField(widget=forms.HiddenInput, strip=False, max_length=100_000)
    meaning = forms.ChoiceField(required=False)
    key = forms.CharField(required=False, max_length=100, label="Shown as")
    kind = forms.ChoiceField(required=False, choices=list(KINDS.items()), label="In the form of")
    separator = forms.CharField(
        required=False,
        max_length=10,
        strip=False,
        label="Between several accepted answers",
        help_text="Such as | in “73|73 years”; empty: each cell is one answer.",
    )
    n_labels = forms.IntegerField(required=False, min_value=0, max_value=1_000, widget=forms.HiddenInput)

    def __init__(self, *args: Any, specs: Sequence[FieldSpec], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.specs = {spec.name: spec for spec in specs}
        golds = [(f"{GOLD}{spec.name}", f"Gold label: {spec.name}") for spec in specs]
        meaning: Any = self.fields["meaning"]
        meaning.choices = [*MEANINGS[:3], *golds, *MEANINGS[3:]]
        self.fields["n_labels"].widget.attrs.pop("class", None)

    def labels(self) -> list[tuple[str, str]]:
        """(label of the file, value of the field) as they were posted."""
        n = self.cleaned_data.get("n_labels") or 0
        posted: Any = self.data
        pairs = ((posted.get(f"{self.prefix}-label-{i}"), posted.get(f"{self.prefix}-value-{i}", "")) for i in range(n))
        return [(label, value) for label, value in pairs if label is not None]


class ColumnRow:
    """A row of the mapping table: the column, its form, and the labels that wait for a value."""

    def __init__(self, column: Column, form: ColumnForm, mapping: Mapping) -> None:
        self.column, self.form = column, form
        self.meaning = str(form.initial["meaning"])
        gold = next((entry for entry in mapping.gold if entry.column == column.name), None)
        self.spec = form.specs.get(gold.field) if gold else None
        self.labels = list(gold.values.items()) if gold and self.spec and self.spec.options else []
        self.is_unmapped = any(not value for _, value in self.labels)
        self.has_too_many = bool(self.spec and self.spec.options and not self.labels)
        # A short list of values is worth a look; of many only the fact that they are all mapped.
        self.is_open = self.is_unmapped or len(self.labels) <= 8


def column_rows(columns: Sequence[Column], mapping: Mapping, specs: Sequence[FieldSpec]) -> list[ColumnRow]:
    """The rows of the mapping page for a stored draft."""
    rows = []
    for number, column in enumerate(columns[:MAX_COLUMNS]):
        initial = _initial(column.name, mapping)
        form = ColumnForm(prefix=f"c{number}", initial=initial, specs=_with_field(specs, initial["meaning"]))
        rows.append(ColumnRow(column, form, mapping))
    return rows


def posted_mapping(data: QueryDict, specs: Sequence[FieldSpec], *, language: str) -> Mapping | None:
    """What the posted rows say; None if one of them is no row of such a page."""
    content: list[ContentColumn] = []
    gold: list[GoldColumn] = []
    strata: list[str] = []
    single: dict[str, str | None] = {"id": None, "group": None, "language": None}
    for number in range(MAX_COLUMNS):
        if f"c{number}-column" not in data:
            break
        meaning = data.get(f"c{number}-meaning", "")
        form = ColumnForm(data, prefix=f"c{number}", specs=_with_field(specs, meaning))
        if not form.is_valid():
            return None
        column, said = form.cleaned_data["column"], form.cleaned_data
        if meaning == "content":
            content.append(ContentColumn(column, said["key"] or column, said["kind"] or "plain"))
        elif meaning == "stratum":
            strata.append(column)
        elif meaning.startswith(GOLD):
            field = meaning.removeprefix(GOLD)
            values = dict(form.labels()) if form.specs[field].options else {}
            if any("\x00" in text for pair in values.items() for text in pair):
                return None
            gold.append(GoldColumn(field, column, values, said["separator"]))
        elif meaning in single:
            single[meaning] = column
    return Mapping(
        content=tuple(content),
        id_column=single["id"],
        language_column=single["language"],
        language=language,
        gold=tuple(gold),
        strata=tuple(strata),
        group_column=single["group"],
    )


def _initial(column: str, mapping: Mapping) -> dict[str, Any]:
    shown = next((entry for entry in mapping.content if entry.column == column), None)
    gold = next((entry for entry in mapping.gold if entry.column == column), None)
    meaning = ""
    if shown:
        meaning = "content"
    elif gold:
        meaning = f"{GOLD}{gold.field}"
    elif column == mapping.id_column:
        meaning = "id"
    elif column == mapping.group_column:
        meaning = "group"
    elif column == mapping.language_column:
        meaning = "language"
    elif column in mapping.strata:
        meaning = "stratum"
    return {
        "column": column,
        "meaning": meaning,
        "key": shown.key if shown else column[:100],
        "kind": shown.kind if shown else "plain",
        "separator": gold.separator if gold else "",
        "n_labels": len(gold.values) if gold else 0,
    }


def _with_field(specs: Sequence[FieldSpec], meaning: str) -> Sequence[FieldSpec]:
    """The fields, and that of a stored meaning which the stage does not ask any more: a page must not change it."""
    name = meaning.removeprefix(GOLD)
    if not meaning.startswith(GOLD) or any(spec.name == name for spec in specs):
        return specs
    return [*specs, FieldSpec(name=name, type="text", caption=name)]
