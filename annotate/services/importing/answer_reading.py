"""The answers in a file -> answers as a form stores them, with what could not become one counted by its kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from annotate.answers import (
    AnswerInvalid,
    FieldSpec,
    FieldSpecInvalid,
    fields_from_json,
    get_field_type,
    validate_answer,
)
from annotate.models import Stage
from annotate.services.importing.options import ImportOptions
from annotate.sources import answer_columns
from annotate.sources.answered import AnswerDraft, Answers
from annotate.sources.errors import MappingError, SourceError, shortened
from annotate.sources.guessing_answers import field_name
from annotate.sources.mapping import ItemDraft, Mapping
from annotate.sources.records import Record
from annotate.wording import _

# More different values than these are no options of a choice.
MAX_OPTIONS = 60
MAX_OPTION_CHARS = 200
# Stages of other kinds make items, or answers to answers, out of what people write.
STAGE_KINDS = (Stage.Kind.LABEL, Stage.Kind.ANSWER)


_COUNTED = {
    "n_predictions": answer_columns.PREDICTIONS,
    "n_drafts": answer_columns.DRAFTS,
    "n_rejected": answer_columns.REJECTED,
}
_PASSED_OVER = {
    "n_empty": _("Records that name a person and hold no answer, so that nothing was stored for them"),
    "n_predictions": _("Predictions of models, which are no answers of people and were passed over"),
    "n_drafts": _("Unfinished drafts, which were passed over"),
    "n_rejected": _("Assignments that were rejected, which were left out"),
}


class AnswerReader:
    """Reads the answers of one job, and remembers what a stage made for them must ask.

    counts: n_empty (somebody is named and answered nothing), and those of _COUNTED. unsupported: kind -> how many.
    """

    def __init__(self, answers: Answers, stage: Stage | None, options: ImportOptions) -> None:
        self.unsupported: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self._answers = answers
        self._options = options
        self._form = form_of(stage) if stage else None
        self._labels: dict[str, dict[str, None]] = {entry.field: {} for entry in answers.fields}
        self._n_answers = 0
        self._n_given: Counter[str] = Counter()

    def read(self, draft: ItemDraft, record: Record) -> ItemDraft:
        """The draft with its answer as it will be stored, without it where there is none. Raises SourceError."""
        unsupported = self._passed_over(record)
        given = draft.answer
        if given is None:
            self.unsupported.update(unsupported)
            return draft
        unsupported += given.unsupported
        if given.is_skip:
            self.unsupported.update(unsupported)
            return replace(draft, answer=replace(given, values={}))
        values: dict[str, Any] = {}
        for entry in self._answers.fields:
            if (raw := given.values.get(entry.field)) is None:
                continue
            kind = self._type_of(entry.field, entry.type)
            if isinstance(raw, list) and kind not in _LISTS:
                unsupported.append(f"several values at once in {shortened(entry.column)}")
                continue
            values[entry.field] = raw
        self.unsupported.update(unsupported)
        if not values:
            if not unsupported:
                self.counts["n_empty"] += 1
            return replace(draft, answer=None)
        answer = self._of_stage(values, draft, bool(unsupported)) if self._form else self._new(values, draft)
        if answer is None:
            return replace(draft, answer=None)
        self._n_answers += 1
        self._n_given.update(answer.keys())
        draft = replace(draft, answer=replace(given, values=answer))
        return self._with_gold(draft, given) if given.is_ground_truth and self._options.ground_truth_as_gold else draft

    def new_form(self) -> list[dict[str, Any]]:
        """The fields of a stage made for these answers, once all were read. Raises MappingError."""
        return [self._new_field(entry.field, entry.column, entry.type) for entry in self._answers.fields]

    def warnings(self) -> list[str]:
        told = [
            f"{n:,} × {kind}: no field holds it, so it was left out; the items came in."
            for kind, n in sorted(self.unsupported.items())
        ]
        return told + [f"{words}: {n:,}." for name, words in _PASSED_OVER.items() if (n := self.counts[name])]

    def _passed_over(self, record: Record) -> list[str]:
        """The kinds of results that the record's reader could not read; predictions and drafts are counted."""
        values = dict(record.values)
        for name, column in _COUNTED.items():
            n = values.get(column)
            self.counts[name] += n if isinstance(n, int) else 0
        kinds = values.get(answer_columns.UNSUPPORTED)
        return [str(kind) for kind in kinds] if isinstance(kinds, list) else []

    def _type_of(self, field: str, new_type: str) -> str:
        if self._form is None:
            return new_type
        return next((spec.type for spec in self._form if spec.name == field), "text")

    def _of_stage(self, values: dict[str, Any], draft: ItemDraft, is_partial: bool) -> dict[str, Any] | None:
        assert self._form is not None
        try:
            answer = {
                spec.name: value
                for spec in self._form
                if spec.name in values
                and (value := get_field_type(spec.type).read({spec.name: values[spec.name]}, spec)) is not None
            }
            return dict(validate_answer(self._form, answer))
        except AnswerInvalid as fault:
            if is_partial:
                # What is missing was there, in a form that no field has: told with its kind.
                return None
            raise self._refused(fault, values, draft) from fault

    def _new(self, values: dict[str, Any], draft: ItemDraft) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        for entry in self._answers.fields:
            text = values.get(entry.field)
            if not isinstance(text, str):
                continue
            if entry.type == "choice":
                if len(text) > MAX_OPTION_CHARS:
                    raise SourceError(
                        _(
                            "the label has more than %(max_option_chars)s characters; read the column as text.",
                            max_option_chars=MAX_OPTION_CHARS,
                        ),
                        line=draft.line,
                        row=draft.number,
                        field=entry.column,
                    )
                labels = self._labels[entry.field]
                if len(labels) <= MAX_OPTIONS:
                    labels[text] = None
                answer[entry.field] = text
            else:
                spec = FieldSpec(entry.field, entry.type, entry.field)
                try:
                    answer[entry.field] = get_field_type(entry.type).validate(text, spec)
                except AnswerInvalid as fault:
                    raise self._refused(fault, values, draft) from fault
        return answer

    def _refused(self, fault: AnswerInvalid, values: dict[str, Any], draft: ItemDraft) -> SourceError:
        name, message = next(iter(fault.errors.items()))
        column = next((entry.column for entry in self._answers.fields if entry.field == name), name)
        spec = next((spec for spec in self._form or () if spec.name == name), None)
        given = values.get(name)
        if given is None:
            problem: str = _("the field “%(shortened)s” needs an answer, and there is none.", shortened=shortened(name))
        elif spec is not None and spec.options:
            listed = ", ".join(option.value for option in spec.options)
            problem = _(
                "“%(given)s” is no answer to the field “%(field)s”; its options are %(options)s. Say in the mapping "
                "what it stands for, or correct it.",
                given=shortened(str(given)),
                field=shortened(name),
                options=shortened(listed, 200),
            )
        else:
            problem = _(
                "“%(given)s” is no answer to the field “%(field)s” (%(message)s)",
                given=shortened(str(given)),
                field=shortened(name),
                message=message,
            )
        return SourceError(problem, line=draft.line, row=draft.number, field=column)

    def _new_field(self, name: str, column: str, kind: str) -> dict[str, Any]:
        spec: dict[str, Any] = {
            "name": name,
            "type": kind,
            "caption": column.removeprefix(answer_columns.ANSWER_PREFIX)[:200],
            "decides": True,
            "required": self._n_given[name] == self._n_answers,
        }
        if kind != "choice":
            return spec
        labels = sorted(self._labels[name], key=_as_people_count)
        if len(labels) > MAX_OPTIONS:
            raise MappingError(
                _(
                    "there are more than %(max_options)s different answers, too many for a choice; read the "
                    "column as text.",
                    max_options=MAX_OPTIONS,
                ),
                field=column,
            )
        # A choice of one is none; a single label everywhere is a text that happens to be the same.
        if len(labels) < 2:
            return spec | {"type": "text"}
        return spec | {"options": [{"value": label, "caption": label} for label in labels]}

    def _with_gold(self, draft: ItemDraft, given: AnswerDraft) -> ItemDraft:
        gold = {name: [value] for name, value in given.values.items() if isinstance(value, str)}
        return replace(draft, gold={**gold, **draft.gold})


# Field types whose value a file may give as a list.
_LISTS = ("choices", "list")


def form_of(stage: Stage) -> tuple[FieldSpec, ...]:
    return fields_from_json(stage.versions.get(is_current=True).fields)


def check_answers(mapping: Mapping, stage: Stage | None) -> None:
    """Raise MappingError if the stage cannot hold these answers, or none could be made for them."""
    answers = mapping.answers
    if answers is None:
        return
    if stage is None:
        for entry in answers.fields:
            try:
                FieldSpec.from_json({"name": entry.field, "type": "text", "caption": entry.field})
            except FieldSpecInvalid as fault:
                problem = f"{fault} Such as “{field_name(entry.column)}”."
                raise MappingError(problem, field=entry.column) from fault
        return
    if stage.kind not in STAGE_KINDS:
        raise MappingError(
            _("Answers go into stages where people label or answer; “%(title)s” is another kind.", title=stage.title)
        )
    form = {spec.name: spec for spec in form_of(stage)}
    for entry in answers.fields:
        if entry.field not in form:
            raise MappingError(
                _(
                    "the stage “%(title)s” has no field “%(shortened)s”; choose one of %(form)s.",
                    title=stage.title,
                    shortened=shortened(entry.field),
                    form=", ".join(form),
                ),
                field=entry.column,
            )
    mapped = {entry.field for entry in answers.fields}
    missing = [spec.name for spec in form.values() if spec.required and spec.name not in mapped]
    if missing:
        raise MappingError(
            _(
                "The stage “%(title)s” requires answers to %(missing)s, and no column holds them; choose "
                "one, or another stage.",
                title=stage.title,
                missing=", ".join(missing),
            )
        )


def _as_people_count(label: str) -> tuple[bool, float, str]:
    """Numbers by size, before words by letter."""
    try:
        return (False, float(label), label)
    except ValueError:
        return (True, 0.0, label)
