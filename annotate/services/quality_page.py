"""Everything the quality page of a project shows, in a constant number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, OuterRef
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from annotate.answers import fields_from_json, get_field_type
from annotate.models import (
    Annotation,
    Assignment,
    Exclusion,
    Membership,
    Person,
    Project,
    QualificationAttempt,
    Stage,
)
from annotate.querysets import COUNTED_PURPOSES
from annotate.services import quality
from annotate.services.checks import CHECKED_KINDS, MAX_ATTEMPTS
from annotate.services.quality import CheckFigures, CheckItem, Contributed
from annotate.signals import Signals, StageSignals

# Rows of the page; the table to download has everybody.
PAGE = 500
ANSWERS = 50


@dataclass(frozen=True)
class PersonRow:
    """One person in one stage. membership: null for somebody who is in the project no more."""

    person: Person
    membership: Membership | None
    is_excluded: bool
    signals: Signals | None
    top: str
    checks: CheckFigures
    attempts: list[QualificationAttempt] = field(default_factory=list)

    @property
    def in_force(self) -> list[QualificationAttempt]:
        return [attempt for attempt in self.attempts if attempt.set_aside_at is None]

    @property
    def has_passed(self) -> bool:
        return any(attempt.state == QualificationAttempt.State.PASSED for attempt in self.in_force)

    @property
    def has_no_attempt_left(self) -> bool:
        return len(self.in_force) >= MAX_ATTEMPTS and not self.has_passed


@dataclass(frozen=True)
class StageQuality:
    """A stage with its people, in the order of their pseudonyms, and the items whose answer is known."""

    stage: Stage
    field_name: str
    signals: StageSignals
    rows: list[PersonRow]
    items: list[CheckItem]


@dataclass(frozen=True)
class LeftOut:
    """A decision that stands, and how many answers of how many people no figure counts because of it."""

    exclusion: Exclusion
    n_answers: int
    n_people: int


def stages_with_people(project: Project) -> list[Stage]:
    """The stages in which answers can be looked at: those where people label, answer or judge."""
    kinds = CHECKED_KINDS | {Stage.Kind.JUDGE}
    return list(project.stages.filter(kind__in=kinds).exclude(state="draft").order_by("position", "pk"))


def stage_quality(stage: Stage, *, floor: float | None = None) -> StageQuality:
    """Everybody who answered, skipped or tried to qualify in the stage."""
    signals = quality.stage_signals(stage, floor=floor)
    checks = quality.check_figures(project=stage.project, stage=stage)
    attempts: dict[int, list[QualificationAttempt]] = defaultdict(list)
    for attempt in QualificationAttempt.objects.filter(stage=stage).select_related("decided_by").order_by("number"):
        attempts[attempt.person_id].append(attempt)
    excluded = set(
        Exclusion.objects.standing()
        .filter(project=stage.project_id, person__isnull=False)
        .values_list("person_id", flat=True)
    )
    ids = signals.people.keys() | checks.keys() | attempts.keys()
    seats = {row.person_id: row for row in Membership.objects.filter(project=stage.project_id, person__in=ids)}
    spec = quality.compared_field(stage)
    rows = []
    for person in Person.objects.filter(pk__in=ids).order_by("pseudonym"):
        found = signals.people.get(person.pk)
        rows.append(
            PersonRow(
                person=person,
                membership=seats.get(person.pk),
                is_excluded=person.pk in excluded,
                signals=found,
                top=_in_words(spec, found.top_key) if found and found.top_key is not None else "",
                checks=checks.get(person.pk, CheckFigures()),
                attempts=attempts.get(person.pk, []),
            )
        )
    return StageQuality(stage, spec.caption, signals, rows, quality.check_items(stage))


def contribution_rows(project: Project, stage: Stage | None) -> tuple[Contributed, list[tuple[str, int, float]]]:
    """Who gave how much, and (pseudonym, answers, share of all answers up to this person), the most first."""
    found = quality.contribution(project=project, stage=stage)
    names = dict(Person.objects.filter(pk__in=[pk for pk, _ in found.people]).values_list("pk", "pseudonym"))
    rows = [(names[pk], n, found.curve.curve[place]) for place, (pk, n) in enumerate(found.people, start=1)]
    return found, rows


def left_out(project: Project) -> list[LeftOut]:
    """The decisions that stand about people and answers, newest first, with what they leave out."""
    standing = list(
        Exclusion.objects.standing()
        .filter(project=project, item__isnull=True)
        .select_related("person", "annotation__assignment__person", "annotation__assignment__stage", "decided_by")
        .order_by("-decided_at", "-pk")
    )
    answers = dict(
        Annotation.objects.current()
        .filter(
            assignment__stage__project=project,
            assignment__state=Assignment.State.SUBMITTED,
            assignment__purpose__in=COUNTED_PURPOSES,
            assignment__person__in=[one.person_id for one in standing if one.person_id],
        )
        .order_by()
        .values("assignment__person")
        .annotate(n=Count("pk"))
        .values_list("assignment__person", "n")
    )
    found = []
    for one in standing:
        n = answers.get(one.person_id, 0) if one.person_id else 1
        found.append(LeftOut(one, n, 1 if n else 0))
    return found


@dataclass(frozen=True)
class AnswerRow:
    """One current answer in a list. status: as the export names it."""

    annotation: Annotation
    words: str
    status: str


def answers_of(project: Project, person: Person, *, before: int = 0) -> tuple[list[AnswerRow], bool]:
    """The newest answers of somebody, those before the one with this primary key, and whether earlier ones follow."""
    rows = Annotation.objects.current().filter(assignment__stage__project=project, assignment__person=person)
    if before:
        rows = rows.filter(pk__lt=before)
    standing = Exclusion.objects.standing().filter(project=project)
    is_excluded = standing.filter(person=person).exists()
    found = list(
        rows.select_related("stage_version", "assignment__stage", "assignment__stage_item__revision__item")
        .annotate(is_excluded=Exists(standing.filter(annotation__assignment=OuterRef("assignment"))))
        .order_by("-pk")[: ANSWERS + 1]
    )
    listed = [AnswerRow(one, summary(one), _status(one, is_excluded or one.is_excluded)) for one in found[:ANSWERS]]
    return listed, len(found) > ANSWERS


def summary(annotation: Annotation) -> str:
    """The first thing that an answer says, in one line."""
    for spec in fields_from_json(annotation.stage_version.fields):
        if (value := annotation.answer.get(spec.name)) is not None:
            return Truncator(get_field_type(spec.type).in_words(value, spec)).chars(160)
    return ""


def _status(annotation: Annotation, is_excluded: bool) -> str:
    assignment = annotation.assignment
    if is_excluded:
        return _("excluded")
    if assignment.purpose not in COUNTED_PURPOSES:
        return str(assignment.get_purpose_display())
    return _("surplus") if assignment.slot is None else _("counted")


SIGNAL_COLUMNS = (
    *("project", "stage", "person", "excluded", "answers", "median_seconds", "timed_answers", "stage_median_seconds"),
    *("floor_seconds", "fast_answers", "longest_run", "answers_with_value", "most_frequent", "most_frequent_share"),
    *("others_share", "agreement", "shared_items", "watched_answers", "answers_with_paste", "pasted_characters"),
    *("answers_page_left", "away_seconds", "checks", "checks_right", "checks_lower", "checks_upper"),
    *("checks_skipped", "qualification_attempts", "qualified", "unknown"),
)


def signal_rows(found: StageQuality) -> Iterator[list[object]]:
    """A head row, then one of each person; what is not known is empty, and the last column says why."""
    yield list(SIGNAL_COLUMNS)
    for told in signals_told(found):
        reasons = "; ".join(f"{column}: {why}" for column, why in told["unknown"].items())
        yield [told[column] for column in SIGNAL_COLUMNS[:-1]] + [reasons]


def signals_told(found: StageQuality) -> Iterator[dict[str, Any]]:
    """Each person's numbers by their columns: None where one is not known, which is no 0, and the reason in `unknown`.

    A count of what there is, such as the timed answers, is always known.
    """
    for row in found.rows:
        unknown = _unknown(row, found)
        numbers = _numbers(row, found)
        yield {name: None if name in unknown else number for name, number in numbers.items()} | {"unknown": unknown}


def _numbers(row: PersonRow, found: StageQuality) -> dict[str, Any]:
    one = row.signals or NO_SIGNALS
    lower, upper = row.checks.interval or (None, None)
    return {
        "project": found.stage.project.slug,
        "stage": found.stage.slug,
        "person": row.person.pseudonym,
        "excluded": row.is_excluded,
        "answers": one.n,
        "median_seconds": one.seconds,
        "timed_answers": one.n_timed,
        "stage_median_seconds": found.signals.seconds,
        "floor_seconds": found.signals.floor,
        "fast_answers": one.n_fast,
        "longest_run": one.longest_run,
        "answers_with_value": one.n_said,
        "most_frequent": one.top_key,
        "most_frequent_share": one.top_share,
        "others_share": one.others_top,
        "agreement": one.agreement,
        "shared_items": one.n_shared,
        "watched_answers": one.n_watched,
        "answers_with_paste": one.n_pasted,
        "pasted_characters": one.pasted_characters,
        "answers_page_left": one.n_left,
        "away_seconds": one.away_seconds,
        "checks": row.checks.n,
        "checks_right": row.checks.n_right,
        "checks_lower": lower,
        "checks_upper": upper,
        "checks_skipped": row.checks.n_skipped,
        "qualification_attempts": len(row.attempts),
        "qualified": row.has_passed,
    }


def _unknown(row: PersonRow, found: StageQuality) -> dict[str, str]:
    """Column -> why it has no number. In English, as all files and the API are."""
    one = row.signals or NO_SIGNALS
    nothing = "no answer to work"
    reasons: list[tuple[bool, str, tuple[str, ...]]] = [
        (found.signals.seconds is None, "no time recorded in this stage", ("stage_median_seconds",)),
        (found.signals.floor is None, "no time recorded in this stage", ("floor_seconds",)),
        (not one.n_timed, "no time recorded" if one.n else nothing, ("median_seconds", "fast_answers")),
        (
            not one.n_said,
            "no answer with a value" if one.n else nothing,
            ("longest_run", "most_frequent", "most_frequent_share", "others_share"),
        ),
        (bool(one.n_said) and not one.n_others, "nobody else has answered", ("others_share",)),
        (not one.n_shared, "no item that somebody else answered, too" if one.n else nothing, ("agreement",)),
        (
            not one.n_watched,
            "no page watched these answers" if one.n else nothing,
            ("answers_with_paste", "pasted_characters", "answers_page_left", "away_seconds"),
        ),
        (not row.checks.n, _why_no_check(row.checks), ("checks_right", "checks_lower", "checks_upper")),
        (
            not found.stage.qualification_size and not row.attempts,
            "no qualification in this stage",
            ("qualified",),
        ),
    ]
    return {column: why for is_unknown, why, columns in reasons if is_unknown for column in columns}


def _why_no_check(checks: CheckFigures) -> str:
    if checks.n_waiting:
        return "not compared yet, or without a gold label"
    return "every check skipped" if checks.n_skipped else "no check met"


NO_SIGNALS = Signals(
    n=0, seconds=None, n_timed=0, n_fast=0, longest_run=0, n_said=0, top_key=None, n_top=0, others_top=None, n_others=0,
    agreement=None, n_shared=0, n_watched=0, n_pasted=0, pasted_characters=0, n_left=0, away_seconds=0,
)  # fmt: skip


def _in_words(spec: Any, key: str) -> str:
    """A key as people know it: the caption of an option; else the key, shortened."""
    caption = next((option.caption for option in spec.options if option.value == key), key)
    return caption if len(caption) <= 40 else f"{caption[:39]}…"
