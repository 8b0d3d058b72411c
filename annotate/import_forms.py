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
from annotate.services.importing import REPEATS, ImportOptions
from annotate.services.importing.preview import Column
from annotate.sources.answered import NEW_TYPES, AnswerColumn, Answers
from annotate.sources.decoding import ENCODINGS
from annotate.sources.delimited import DELIMITERS
from annotate.sources.detect import DELIMITED_FORMATS, FORMATS, NESTED_FORMATS, Detected
from annotate.sources.guessing_answers import field_name
from annotate.sources.mapping import KINDS, ContentColumn, GoldColumn, Mapping
from annotate.sources.sql_tables import Query
from annotate.stage_kinds import KINDS as STAGE_KINDS
from annotate.wording import _, said

# A page with a row for each of ten thousand columns helps nobody; those beyond are kept aside.
MAX_COLUMNS = 150
MEANINGS = [
    ("", _("Kept aside")),
    ("id", _("Id")),
    ("content", _("Shown to people")),
    ("stratum", _("Stratum, for breakdowns")),
    ("group", _("Group: resampled together")),
    ("language", _("Language")),
    ("id_shown", _("Id, and shown to people")),
]
# What a column says of an answer that somebody gave; the fields that it may answer come before these.
ABOUT_ANSWERS = [
    ("annotator", _("Who answered")),
    ("time", _("When it was answered")),
    ("seconds", _("How long it took, in seconds")),
    ("skip", _("Whether it was skipped")),
    ("ground_truth", _("Whether the answer is marked as right")),
]
GOLD = "gold:"
# To a field of the stage; or to one of this type in a stage that is made for the answers.
ANSWER, NEW_ANSWER = "answer:", "new:"


class StageField(forms.ModelChoiceField):
    """A stage of the project that may still take items."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(queryset=Stage.objects.none(), required=False, empty_label=_("no stage yet"), **kwargs)

    def of_project(self, project: Project) -> None:
        takes_items = [kind for kind, described in STAGE_KINDS.items() if not described.is_drawn]
        stages = project.stages.filter(kind__in=takes_items)
        self.queryset = stages.exclude(state=Stage.State.CLOSED).order_by("position", "pk")

    def label_from_instance(self, stage: Any) -> str:
        return f"{stage.title} ({said(stage.get_state_display())})"


class UploadForm(PlainForm):
    file = forms.FileField(
        label=_("File of items or answers"),
        widget=forms.FileInput(attrs={"class": ""}),
        help_text=_(
            "CSV, TSV, JSON, JSON Lines, Excel (.xlsx), Parquet, an export of Label Studio, doccano, Argilla or "
            "Prodigy, batch results of Mechanical Turk, a ZIP of JSON files."
        ),
    )
    tables = forms.FileField(
        label=_("Tables the items refer to"),
        required=False,
        widget=forms.FileInput(attrs={"class": ""}),
        help_text=_(
            "Optional: a JSON, JSONL or CSV file of tables, or a ZIP with a file for each; or the database (SQLite or "
            "CSV) that the questions' SQL is run on."
        ),
    )
    stage = StageField(
        label=_("For the stage"), help_text=_("Its people can take the items as soon as they are imported.")
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stage: Any = self.fields["stage"]
        stage.of_project(project)
        self.initial.setdefault("stage", stage.queryset.last())


class ReadingForm(PlainForm):
    """How the file is read. What is detected stands in it first."""

    stage = StageField(label=_("For the stage"))
    format = forms.ChoiceField(choices=list(FORMATS.items()), label=_("Format"))
    encoding = forms.ChoiceField(choices=list(ENCODINGS.items()), label=_("Encoding"))
    delimiter = forms.ChoiceField(choices=[(name, name) for name in DELIMITERS.values()], label=_("Delimiter"))
    has_header = forms.BooleanField(required=False, label=_("The first row names the columns"))
    quoting = forms.BooleanField(required=False, label=_("Quotes enclose cells"))
    sheet = forms.CharField(required=False, max_length=200, strip=False, label=_("Sheet"))
    unfold = forms.BooleanField(required=False, label=_("Nested fields become columns of their own"))
    join_column = forms.CharField(required=False, max_length=1_000, label=_("Column that names the table"))
    query_column = forms.CharField(required=False, max_length=1_000, label=_("Column with the SQL"))
    database_column = forms.CharField(required=False, max_length=1_000, label=_("Column that names the database"))
    dates_as_years = forms.BooleanField(
        required=False, label=_("Columns of dates become columns of years in the gold tables")
    )
    language = forms.CharField(
        required=False,
        max_length=35,
        label=_("Language of the items"),
        help_text=_("A tag such as en or zh-Hans; a column of languages comes first."),
    )
    escapes = forms.BooleanField(
        required=False, label=_("In cells \\n is a line end, \\p a vertical bar and \\\\ a backslash")
    )
    new_revisions = forms.BooleanField(
        required=False,
        label=_(
            "Take over what changed: known items get new revisions, gold labels, strata and groups as in this file"
        ),
    )
    stage_title = forms.CharField(
        required=False,
        max_length=120,
        label=_("Name of the new stage"),
        help_text=_("It is made for these answers, closed, and asks nobody anything."),
    )
    annotator = forms.CharField(
        required=False,
        max_length=200,
        label=_("Who answered, where no column says so"),
        help_text=_("A name or number of one person."),
    )
    repeats = forms.ChoiceField(
        required=False, choices=list(REPEATS.items()), label=_("Several answers of one person to one item are")
    )
    ground_truth_as_gold = forms.BooleanField(
        required=False, label=_("Answers that are marked as right become gold labels")
    )

    def __init__(
        self,
        *args: Any,
        project: Project,
        join_columns: Sequence[str] = (),
        query_columns: Sequence[str] = (),
        sheets: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        if sheets:
            self.fields["sheet"].widget = forms.Select(
                attrs={"class": "input"}, choices=[(name, name) for name in sheets]
            )
        stage: Any = self.fields["stage"]
        stage.of_project(project)
        if join_columns:
            self.fields["join_column"].widget = forms.Select(
                attrs={"class": "input"}, choices=[(name, name) for name in join_columns]
            )
        if query_columns:
            none = {"query_column": _("none: the tables are shown"), "database_column": _("none: there is only one")}
            for field, words in none.items():
                self.fields[field].widget = forms.Select(
                    attrs={"class": "input"}, choices=[("", words), *((name, name) for name in query_columns)]
                )

    def clean_language(self) -> str:
        tag: str = self.cleaned_data["language"].strip()
        if tag and not is_language_tag(tag):
            raise ValidationError(_("%(tag)s is no language tag; write en, ta or zh-Hans.", tag=tag))
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
            "sheet": source.sheet,
            "unfold": source.unfold,
            "stage_title": options.stage_title,
            "annotator": mapping.answers.annotator if mapping.answers else "",
            "repeats": options.repeats,
            "ground_truth_as_gold": options.ground_truth_as_gold,
            "join_column": options.join.column if options.join else "",
            "query_column": options.query.column if options.query else "",
            "database_column": options.query.database_column if options.query else "",
            "dates_as_years": bool(options.query and options.query.dates_as_years),
            "language": mapping.language,
            "escapes": mapping.escapes,
            "new_revisions": options.new_revisions,
        }

    def source(self, before: Detected) -> Detected:
        """How to read the file: what the form does not show stays as it was detected."""
        data = self.cleaned_data
        source = replace(before, format=data["format"], encoding=data["encoding"])
        if data["encoding"] != before.encoding:
            source = replace(source, encoding_note="")
        if data["format"] in DELIMITED_FORMATS and before.format in DELIMITED_FORMATS:
            delimiter = next(character for character, name in DELIMITERS.items() if name == data["delimiter"])
            source = replace(source, delimiter=delimiter, has_header=data["has_header"], quoting=data["quoting"])
        if data["format"] == before.format == "xlsx":
            source = replace(source, sheet=data["sheet"] or before.sheet, has_header=data["has_header"])
        if data["format"] in NESTED_FORMATS and before.format in NESTED_FORMATS:
            source = replace(source, unfold=data["unfold"])
        return source

    def options(self, before: ImportOptions) -> ImportOptions:
        data = self.cleaned_data
        return replace(
            before,
            source=self.source(before.source),
            new_revisions=data["new_revisions"],
            repeats=data["repeats"] or before.repeats,
            ground_truth_as_gold=data["ground_truth_as_gold"],
            stage_title=data["stage_title"],
            query=self._query(before.query),
        )

    def _query(self, before: Query | None) -> Query | None:
        """What is asked of the database; without a column, said by somebody, nothing is."""
        data = self.cleaned_data
        if before is None and not data["query_column"]:
            return None
        return Query(data["query_column"], data["database_column"], data["dates_as_years"])


class ColumnForm(PlainForm):
    """What one column means. Only what the chosen meaning needs is shown: a file may have many columns."""

    column = forms.CharField(widget=forms.HiddenInput, strip=False, max_length=100_000)
    meaning = forms.ChoiceField(required=False, label=_("Meaning"))
    key = forms.CharField(required=False, max_length=100, label=_("Shown as"))
    kind = forms.ChoiceField(required=False, choices=list(KINDS.items()), label=_("In the form of"))
    separator = forms.CharField(
        required=False,
        max_length=10,
        strip=False,
        label=_("Between several accepted answers"),
        help_text=_("Such as | in “73|73 years”; empty: each cell is one answer."),
    )
    field = forms.CharField(required=False, max_length=60, widget=forms.HiddenInput)
    n_labels = forms.IntegerField(required=False, min_value=0, max_value=1_000, widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, specs: Sequence[FieldSpec], form: Sequence[FieldSpec] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.specs = {spec.name: spec for spec in (*(form or ()), *specs)}
        golds = [(f"{GOLD}{spec.name}", _("Gold label: %(name)s", name=spec.name)) for spec in specs]
        if form is None:
            answers = [
                (f"{NEW_ANSWER}{name}", _("Answer: %(words)s", words=words)) for name, words in NEW_TYPES.items()
            ]
        else:
            answers = [(f"{ANSWER}{spec.name}", _("Answer: %(name)s", name=spec.name)) for spec in form]
        meaning: Any = self.fields["meaning"]
        meaning.choices = [
            (_("Items"), [*MEANINGS[:3], *golds, *MEANINGS[3:]]),
            (_("Answers that people gave"), [*answers, *ABOUT_ANSWERS]),
        ]
        for name in ("n_labels", "field"):
            self.fields[name].widget.attrs.pop("class", None)

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
        answered = answer_column(mapping, column.name) if self.meaning.startswith(ANSWER) else None
        entry = gold if self.meaning.startswith(GOLD) else answered
        self.is_gold = entry is not None and entry is gold
        self.spec = form.specs.get(entry.field) if entry else None
        self.labels = list(entry.values.items()) if entry and self.spec and self.spec.options else []
        self.is_unmapped = any(not value for _, value in self.labels)
        self.has_too_many = bool(self.is_gold and self.spec and self.spec.options and not self.labels)
        # A short list of values is worth a look; of many only the fact that they are all mapped.
        self.is_open = self.is_unmapped or len(self.labels) <= 8


def column_rows(
    columns: Sequence[Column],
    mapping: Mapping,
    specs: Sequence[FieldSpec],
    form: Sequence[FieldSpec] | None = None,
) -> list[ColumnRow]:
    """The rows of the mapping page for a stored draft; form: all fields of its stage, if it is for one."""
    rows = []
    for number, column in enumerate(columns[:MAX_COLUMNS]):
        initial = _initial(column.name, mapping, form)
        known = _with_field(specs, initial["meaning"])
        rows.append(
            ColumnRow(column, ColumnForm(prefix=f"c{number}", initial=initial, specs=known, form=form), mapping)
        )
    return rows


def posted_mapping(
    data: QueryDict,
    specs: Sequence[FieldSpec],
    form: Sequence[FieldSpec] | None = None,
    *,
    language: str,
    annotator: str = "",
    escapes: bool = False,
) -> Mapping | None:
    """What the posted rows say; None if one of them is no row of such a page."""
    content: list[ContentColumn] = []
    gold: list[GoldColumn] = []
    strata: list[str] = []
    answered: list[AnswerColumn] = []
    single: dict[str, str | None] = {"id": None, "group": None, "language": None}
    about: dict[str, str | None] = dict.fromkeys((name for name, _ in ABOUT_ANSWERS), None)
    for number in range(MAX_COLUMNS):
        if f"c{number}-column" not in data:
            break
        meaning = data.get(f"c{number}-meaning", "")
        row = ColumnForm(data, prefix=f"c{number}", specs=_with_field(specs, meaning), form=form)
        if not row.is_valid():
            return None
        column, said = row.cleaned_data["column"], row.cleaned_data
        if meaning == "content":
            content.append(ContentColumn(column, said["key"] or column, said["kind"] or "plain"))
        elif meaning == "stratum":
            strata.append(column)
        elif meaning.startswith(GOLD):
            field = meaning.removeprefix(GOLD)
            if (values := _posted_values(row, field)) is None:
                return None
            gold.append(GoldColumn(field, column, values, said["separator"]))
        elif meaning.startswith((ANSWER, NEW_ANSWER)):
            name = meaning.removeprefix(ANSWER) if form is not None else said["field"] or field_name(column)
            if (values := _posted_values(row, name)) is None:
                return None
            answered.append(AnswerColumn(name, column, _type_of(meaning), values))
        elif meaning == "id_shown":
            single["id"] = column
            content.append(ContentColumn(column, said["key"] or column, "plain"))
        elif meaning in about:
            about[meaning] = column
        elif meaning in single:
            single[meaning] = column
    answers = None
    if answered or about["annotator"]:
        answers = Answers(
            fields=tuple(answered),
            annotator=annotator,
            **{f"{name}_column": column for name, column in about.items()},
        )
    return Mapping(
        content=tuple(content),
        id_column=single["id"],
        language_column=single["language"],
        language=language,
        gold=tuple(gold),
        strata=tuple(strata),
        group_column=single["group"],
        answers=answers,
        escapes=escapes,
    )


def answer_column(mapping: Mapping, column: str) -> AnswerColumn | None:
    fields = mapping.answers.fields if mapping.answers else ()
    return next((entry for entry in fields if entry.column == column), None)


def _posted_values(row: ColumnForm, field: str) -> dict[str, str] | None:
    """Label of the file -> value of the field; None for what no page posts."""
    spec = row.specs.get(field)
    values = dict(row.labels()) if spec is not None and spec.options else {}
    return None if any("\x00" in text for pair in values.items() for text in pair) else values


def _type_of(meaning: str) -> str:
    return meaning.removeprefix(NEW_ANSWER) if meaning.startswith(NEW_ANSWER) else "choice"


def _initial(column: str, mapping: Mapping, form: Sequence[FieldSpec] | None = None) -> dict[str, Any]:
    shown = next((entry for entry in mapping.content if entry.column == column), None)
    gold = next((entry for entry in mapping.gold if entry.column == column), None)
    answered = answer_column(mapping, column)
    meaning = ""
    if answered:
        meaning = f"{NEW_ANSWER}{answered.type}" if form is None else f"{ANSWER}{answered.field}"
        gold = None
    elif about := _about(mapping, column):
        meaning = about
    elif shown and column == mapping.id_column:
        meaning = "id_shown"
    elif shown:
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
    labelled = gold or answered
    return {
        "column": column,
        "meaning": meaning,
        "key": shown.key if shown else column[:100],
        "kind": shown.kind if shown else "plain",
        "separator": gold.separator if gold else "",
        "field": answered.field if answered else "",
        "n_labels": len(labelled.values) if labelled else 0,
    }


def _about(mapping: Mapping, column: str) -> str:
    """What a column says of the answers of people, as a name of ABOUT_ANSWERS."""
    if mapping.answers is None:
        return ""
    names = (name for name, _ in ABOUT_ANSWERS if getattr(mapping.answers, f"{name}_column") == column)
    return next(names, "")


def _with_field(specs: Sequence[FieldSpec], meaning: str) -> Sequence[FieldSpec]:
    """The fields, and that of a stored meaning which the stage does not ask any more: a page must not change it."""
    name = meaning.removeprefix(GOLD)
    if not meaning.startswith(GOLD) or any(spec.name == name for spec in specs):
        return specs
    return [*specs, FieldSpec(name=name, type="text", caption=name)]
