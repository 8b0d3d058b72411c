"""What those who answer are told: no gold label, nobody else's answer, no person.

Everything here is made of what the work page shows (desk, shown_pairs, counting.progress): a new column of a model
reaches nobody by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from annotate.answers import FieldSpec, fields_for_item, fields_from_json, get_field_type
from annotate.api.inputs import Input, row_id
from annotate.desk import Desk
from annotate.forms import MAX_ACTIVE_SECONDS
from annotate.models import Annotation, Assignment, Stage, StageVersion
from annotate.services.assigning import Left, NothingLeft
from annotate.services.counting import Progress
from annotate.services.qualifying import Phase, told_to
from annotate.services.showing import given_to
from annotate.shown import shown_pairs

# What is sent


class AnswerInput(Input):
    """An answer: a value for each field, as the form of the item names them."""

    answer = serializers.DictField(
        help_text="Field name -> value, as the field's schema says; a text is read as it is typed in the form."
    )
    form_version = row_id(help_text="`form.version` of the item, as it was handed out.")
    guideline_version = row_id(required=False, allow_null=True, help_text="As it was handed out; left out: the newest.")
    active_seconds = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=MAX_ACTIVE_SECONDS,
        help_text="At work; never more than it was held. Left out: not known.",
    )
    is_flagged = serializers.BooleanField(default=False, help_text="Whether the admins should look at the item.")
    flag_note = serializers.CharField(default="", allow_blank=True, max_length=500)


class SubmitInput(AnswerInput):
    client_key = serializers.RegexField(
        "^[A-Za-z0-9_-]{1,64}$",
        help_text="Made by you, once for each answer: the same request again stores nothing twice.",
    )
    claim_next = serializers.BooleanField(default=True, help_text="Whether the response carries the next item.")


class DraftInput(AnswerInput):
    draft_version = serializers.IntegerField(
        min_value=1,
        max_value=Assignment.LAST_DRAFT_VERSION,
        help_text="One more than the draft before; an older one is refused.",
    )


class SkipInput(Input):
    reason = serializers.ChoiceField(choices=Assignment.SkipReason.values)
    note = serializers.CharField(default="", allow_blank=True, max_length=500)
    claim_next = serializers.BooleanField(default=True, help_text="Whether the response carries the next item.")


# What is told


class Option(serializers.Serializer):
    value = serializers.CharField()
    caption = serializers.CharField()


class AskedField(serializers.Serializer):
    name = serializers.CharField()
    type = serializers.CharField()
    caption = serializers.CharField()
    help = serializers.CharField()
    required = serializers.BooleanField()
    options = Option(many=True)
    max_length = serializers.IntegerField(allow_null=True)
    unit = serializers.CharField(help_text="What is asked in; a number without a unit is read in it.")
    columns = serializers.ListField(
        child=serializers.CharField(), help_text="Of a table; the item's own, if it names any."
    )
    column_types = serializers.ListField(
        child=serializers.CharField(),
        help_text="Beside them: text, number, date, year or nothing; empty where no column has one. None is refused.",
    )
    schema = serializers.DictField(help_text="JSON Schema of the value as it is stored.")


class AskedForm(serializers.Serializer):
    version = serializers.IntegerField()
    instruction = serializers.CharField()
    fields = AskedField(many=True)


class ShownItem(serializers.Serializer):
    id = serializers.CharField(help_text="Text, whatever it looks like.")
    language = serializers.CharField()
    content = serializers.ListField(child=serializers.ListField(), help_text="Pairs [key, value], in order.")


class ShownBeside(serializers.Serializer):
    """What is judged beside the item."""

    caption = serializers.CharField(help_text="What it answers; empty for models' answers.")
    words = serializers.ListField(
        child=serializers.CharField(), help_text="Acceptable values as people read them; empty for models' answers."
    )
    content = serializers.ListField(
        child=serializers.ListField(),
        help_text="As it is stored, pairs [key, value]; of models' answers `answer`, or `first` and `second`.",
    )


class HeldItem(serializers.Serializer):
    """An item in its person's hands."""

    token = serializers.CharField(help_text="Stands in the addresses to submit, draft and skip it.")
    item = ShownItem()
    beside = ShownBeside(allow_null=True, help_text="What is judged, such as a label; null where the item is answered.")
    form = AskedForm()
    guideline_version = serializers.IntegerField(allow_null=True)
    draft = serializers.DictField(allow_null=True, help_text="What was kept of unfinished work.")
    draft_version = serializers.IntegerField()


class NothingToDo(serializers.Serializer):
    """Why there is no item."""

    kind = serializers.ChoiceField(choices=[kind.value for kind in Left])
    n_short = serializers.IntegerField(help_text="Items that still need answers.")
    n_met = serializers.IntegerField(help_text="Of those, the ones this person answered or skipped.")
    n_held = serializers.IntegerField(help_text="Of those, the ones others hold at the moment.")
    seconds_to_return = serializers.FloatField(allow_null=True, help_text="Until the first may come back.")


class OwnProgress(serializers.Serializer):
    mine_done = serializers.IntegerField()
    mine_total = serializers.IntegerField()
    everyone_done = serializers.IntegerField()
    everyone_wanted = serializers.IntegerField()


class GivenAnswer(serializers.Serializer):
    """An answer as it is stored."""

    answer = serializers.DictField()
    revision = serializers.IntegerField()
    client_key = serializers.CharField()
    answered_at = serializers.DateTimeField()


class Qualification(serializers.Serializer):
    """Where I stand before a stage that I have to qualify for: a total, and never which answers were right."""

    phase = serializers.ChoiceField(choices=[phase.value for phase in Phase])
    n_items = serializers.IntegerField()
    mark = serializers.IntegerField(help_text="How many of them must be right.")
    n_right = serializers.IntegerField(allow_null=True, help_text="Of the last attempt, when it has been counted.")
    n_done = serializers.IntegerField()
    n_left = serializers.IntegerField(help_text="Attempts that are still open to me.")


class NextItem(serializers.Serializer):
    """The item in hand, or why there is none. qualification: null where there is none, or I have qualified."""

    qualification = Qualification(allow_null=True)

    held = HeldItem(allow_null=True)
    nothing_left = NothingToDo(allow_null=True)
    progress = OwnProgress()


class Submitted(NextItem):
    """What was stored. `held` and `nothing_left` are both null where no next item was asked for."""

    stored = GivenAnswer()


class Skipped(NextItem):
    """`held` and `nothing_left` are both null where no next item was asked for."""


class DraftKept(serializers.Serializer):
    draft_version = serializers.IntegerField()


class WorkStage(serializers.Serializer):
    """A stage that hands something out to this person."""

    project = serializers.CharField()
    project_title = serializers.CharField()
    stage = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Stage.State.values)
    progress = OwnProgress()


class Condition(serializers.Serializer):
    is_closed_book = serializers.BooleanField()
    time_limit_seconds = serializers.IntegerField(allow_null=True)
    permitted_sources = serializers.CharField()
    current_date = serializers.CharField(help_text="What “today” means in the questions.")


class WorkStageInFull(WorkStage):
    form = AskedForm()
    condition = Condition()
    guideline_version = serializers.IntegerField(allow_null=True)
    guidelines = serializers.CharField(help_text="Markdown.")


# From rows to what is told


def next_item(
    desk: Desk, outcome: Assignment | NothingLeft | None, progress: Progress, version: StageVersion | None = None
) -> dict[str, Any]:
    """For NextItem. outcome: None where no next item was asked for."""
    is_held = isinstance(outcome, Assignment)
    return {
        "held": _held(desk, outcome, version or desk.version) if isinstance(outcome, Assignment) else None,
        "nothing_left": None if is_held or outcome is None else outcome,
        "qualification": None if desk.standing.is_qualified else told_to(desk.stage, desk.person),
        "progress": progress,
    }


def given_answer(annotation: Annotation) -> dict[str, Any]:
    return {
        "answer": annotation.answer,
        "revision": annotation.number,
        "client_key": annotation.client_key,
        "answered_at": annotation.created_at,
    }


def work_stage(stage: Stage, progress: Progress) -> dict[str, Any]:
    return {
        "project": stage.project.slug,
        "project_title": stage.project.title,
        "stage": stage.slug,
        "title": stage.title,
        "state": stage.state,
        "progress": progress,
    }


def work_stage_in_full(desk: Desk, progress: Progress, guidelines: str) -> Mapping[str, Any]:
    stage = desk.stage
    return work_stage(stage, progress) | {
        "form": asked_form(desk.version, fields_from_json(desk.version.fields)),
        "condition": {
            "is_closed_book": stage.is_closed_book,
            "time_limit_seconds": stage.time_limit_seconds,
            "permitted_sources": stage.permitted_sources,
            "current_date": stage.project.current_date,
        },
        "guideline_version": desk.guideline_id,
        "guidelines": guidelines,
    }


def asked_form(version: StageVersion, fields: Sequence[FieldSpec]) -> dict[str, Any]:
    """What is asked. Which fields are voted on is the study's business, not the annotator's."""
    told = ("name", "type", "caption", "help", "required", "options", "max_length", "unit", "columns", "column_types")
    return {
        "version": version.pk,
        "instruction": version.instruction,
        "fields": [
            {name: value for name, value in dataclasses.asdict(spec).items() if name in told}
            | {"schema": get_field_type(spec.type).json_schema(spec)}
            for spec in fields
        ],
    }


def _held(desk: Desk, assignment: Assignment, version: StageVersion) -> dict[str, Any]:
    revision = assignment.stage_item.revision
    given = given_to(assignment, version)
    return {
        "token": assignment.token,
        "item": {
            "id": revision.item.external_id,
            "language": revision.language,
            "content": shown_pairs(given.content, given.shown_keys),
        },
        "beside": given.beside,
        "form": asked_form(
            version, fields_for_item(fields_from_json(version.fields), revision.content, revision.language)
        ),
        "guideline_version": desk.guideline_id,
        "draft": assignment.draft if isinstance(assignment.draft, dict) else None,
        "draft_version": assignment.draft_version,
    }
