"""The staged answers become people, assignments and annotations of a stage, inside the transaction of their import.

Nobody signs in as these people, and nothing is made up for them: a time that the file does not have is null.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from django.contrib.auth.hashers import make_password
from django.db import connection
from django.db.models import Max, Min
from django.utils import timezone

from annotate import events
from annotate.models import (
    Annotation,
    Assignment,
    ImportedAnnotator,
    ImportJob,
    Membership,
    Participation,
    Person,
    Stage,
    StageItem,
    StageVersion,
)
from annotate.services.importing.answer_reading import AnswerReader
from annotate.services.importing.problems import Problems, refusal
from annotate.services.projects import create_stage
from annotate.services.stage_form import content_keys
from annotate.sources import argilla
from annotate.sources.errors import SourceError, shortened
from annotate.sources.mapping import Mapping
from annotate.wording import _

# Places whose answers are written together: all of them are locked meanwhile.
PLACES_AT_ONCE = 200
# More names than these are no people: another column was meant.
MAX_PEOPLE = 20_000
SKIP_NOTE = "Skipped where it was imported from."
UNKNOWN_CONDITION = "not known: the answers were imported"


@dataclass
class Stored:
    """What became of the staged answers; revised: earlier versions of them, which were stored too."""

    stage: Stage
    answers: int = 0
    revised: int = 0
    skips: int = 0
    known: int = 0
    people: int = 0
    new_people: int = 0
    problems: Problems = field(default_factory=Problems)

    def as_report(self) -> dict[str, Any]:
        return {
            "stage": self.stage.slug,
            "answers": self.answers,
            "revised": self.revised,
            "skips": self.skips,
            "known": self.known,
            "people": self.people,
            "new_people": self.new_people,
        }


class _Row(NamedTuple):
    place: int
    annotator: str
    position: int
    line: int
    number: int
    external_id: str
    answer: dict[str, Any]
    answered_at: datetime | None
    seconds: int | None
    is_skip: bool


def stage_for(job: ImportJob, reader: AnswerReader, mapping: Mapping, *, title: str, by: Person | None) -> Stage:
    """The job's stage; else the one that an earlier import of the same file has made; else a new one, closed.

    Raises ImportRefused if no form can be made of the answers.
    """
    chosen: Stage | None = job.stage
    if chosen is not None:
        return chosen
    same_file = ImportJob.objects.filter(
        project=job.project_id, state=ImportJob.State.DONE, source__sha256=job.source.sha256, stage__isnull=False
    )
    for earlier in same_file.select_related("stage").order_by("-pk"):
        made: Stage | None = earlier.stage
        if made is not None and earlier.report.get("made_stage") and earlier.mapping == job.mapping:
            return made
    try:
        fields = reader.new_form()
    except SourceError as fault:
        raise refusal(fault) from fault
    title = title or f"Answers from {job.source.name}"[:120]
    stage = create_stage(
        project=job.project,
        by=by,
        kind=Stage.Kind.LABEL if fields[0]["type"] == "choice" else Stage.Kind.ANSWER,
        title=title,
        slug=_free_slug(job),
        fields=fields,
        shown_keys=[entry.key for entry in mapping.content] or content_keys(job.project),
        overlap=1,
        # Nobody told under which condition people answered, so no figure may claim one.
        is_closed_book=False,
        permitted_sources=UNKNOWN_CONDITION,
    )
    # Nobody is asked anything in it; an admin may open it for more answers.
    Stage.objects.filter(pk=stage.pk).update(state=Stage.State.CLOSED)
    stage.state = Stage.State.CLOSED
    return stage


def store_answers(job: ImportJob, *, stage: Stage, repeats: str, is_new: bool, by: Person | None) -> Stored:
    """Write the staged answers; the caller has put their items into the stage, and raises the problems that are told.

    An answer that is stored already is known; another answer of the same person to the same item is a problem.
    """
    stored = Stored(stage)
    people = _people(job, repeats, stored, by)
    version = stage.versions.get(is_current=True)
    done: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    writer = _Writer(job, stage, version, people, repeats, stored, done)
    most = 0
    for places in _batches(stage):
        most = max(most, writer.write(places, is_new=is_new))
    _add_to_participations(stage, done)
    if is_new and most > stage.overlap:
        Stage.objects.filter(pk=stage.pk).update(overlap=most)
        stage.overlap = most
    if stored.answers or stored.skips:
        events.record(
            actor=by,
            verb="answers.imported",
            subject=job,
            project_id=job.project_id,
            stage=stage.pk,
            n_answers=stored.answers,
            n_skips=stored.skips,
            n_people=stored.people,
        )
    return stored


class _Writer:
    def __init__(
        self,
        job: ImportJob,
        stage: Stage,
        version: StageVersion,
        people: dict[str, int],
        repeats: str,
        stored: Stored,
        done: dict[int, list[int]],
    ) -> None:
        self._job, self._stage, self._version = job, stage, version
        self._people, self._repeats, self._stored, self._done = people, repeats, stored, done
        self._now = timezone.now()
        self._answers: dict[int, dict[str, Any]] = {}

    def write(self, places: list[StageItem], *, is_new: bool) -> int:
        """Write the answers to these places, which are locked; the most answers that one of them has got."""
        by_place = {place.pk: place for place in places}
        rows = _rows(self._stage, places[0].rank, places[-1].rank)
        held: dict[int, dict[int, Assignment]] = defaultdict(dict)
        if not is_new:
            for assignment in Assignment.objects.filter(stage_item__in=by_place):
                held[assignment.stage_item_id][assignment.person_id] = assignment
            given_before = Annotation.objects.filter(assignment__stage_item__in=by_place, is_current=True)
            self._answers = dict(given_before.values_list("assignment", "answer"))
        assignments: list[Assignment] = []
        versions: list[list[_Row]] = []
        touched: list[StageItem] = []
        for place_id, given in groupby(rows, key=lambda row: row.place):
            place = by_place[place_id]
            taken = {one.slot for one in held[place_id].values() if one.slot is not None}
            n_new = 0
            for person, of_person in self._by_person(given):
                final = of_person[-1]
                if (earlier := held[place_id].get(person)) is not None:
                    self._compare(earlier, final)
                    continue
                slot = None
                if not final.is_skip:
                    slot = next(n for n in range(len(taken) + 1) if n not in taken)
                    taken.add(slot)
                    n_new += 1
                assignments.append(self._assignment(place, person, slot, of_person))
                versions.append([] if final.is_skip else of_person)
                self._done[person][final.is_skip] += 1
            if n_new or is_new:
                place.done += n_new
                wanted = place.active + place.done
                place.wanted = wanted if is_new and wanted else max(place.wanted, wanted)
                place.due_at = self._now if n_new else place.due_at
                touched.append(place)
        Assignment.objects.bulk_create(assignments, batch_size=1_000)
        Annotation.objects.bulk_create(
            [
                self._annotation(assignment, row, number, is_current=row is given[-1])
                for assignment, given in zip(assignments, versions, strict=True)
                for number, row in enumerate(given, start=1)
            ],
            batch_size=1_000,
        )
        StageItem.objects.bulk_update(touched, ["wanted", "done", "due_at"], batch_size=200)
        self._stored.answers += sum(1 for given in versions if given)
        self._stored.skips += sum(1 for given in versions if not given)
        self._stored.revised += sum(len(given) - 1 for given in versions if given)
        return max((place.done for place in touched), default=0)

    def _by_person(self, rows: Iterator[_Row]) -> Iterator[tuple[int, list[_Row]]]:
        """(person, their rows in the order in which they answered) of one place, in the order of the file.

        An answer outranks a skip: somebody came back to the item.
        """
        by_name: dict[str, list[_Row]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.position):
            name = row.annotator
            if self._repeats == "separate":
                name, number = row.annotator, 1
                while name in by_name:
                    number += 1
                    name = f"{row.annotator} ({number})"
            by_name[name].append(row)
        for name, given in by_name.items():
            if self._repeats == "times":
                given.sort(key=lambda row: (row.answered_at or self._now, row.position))
            answers = [row for row in given if not row.is_skip]
            yield self._people[name], answers or given[-1:]

    def _compare(self, earlier: Assignment, row: _Row) -> None:
        if row.is_skip and earlier.state == Assignment.State.SKIPPED:
            self._stored.known += 1
            return
        if not row.is_skip and self._answers.get(earlier.pk) == row.answer:
            self._stored.known += 1
            return
        self._stored.problems.add(
            SourceError(
                _(
                    "%(shortened)s has another answer to “%(shortened_2)s” in the stage “%(shortened_3)s” "
                    "already; leave the row out, or choose another stage.",
                    shortened=shortened(row.annotator),
                    shortened_2=shortened(row.external_id),
                    shortened_3=shortened(self._stage.title),
                ),
                line=row.line,
                row=row.number,
            )
        )

    def _assignment(self, place: StageItem, person: int, slot: int | None, rows: list[_Row]) -> Assignment:
        final = rows[-1]
        ended = rows[0].answered_at or self._now
        return Assignment(
            stage=self._stage,
            stage_item=place,
            person_id=person,
            state=Assignment.State.SKIPPED if final.is_skip else Assignment.State.SUBMITTED,
            slot=slot,
            round=place.round,
            purpose=place.purpose,
            leased_at=ended - timedelta(seconds=rows[0].seconds or 0),
            lease_expires_at=ended,
            finished_at=final.answered_at,
            skip_reason=Assignment.SkipReason.OTHER if final.is_skip else "",
            skip_note=SKIP_NOTE if final.is_skip else "",
            is_imported=True,
        )

    def _annotation(self, assignment: Assignment, row: _Row, number: int, *, is_current: bool) -> Annotation:
        return Annotation(
            assignment=assignment,
            stage_version=self._version,
            number=number,
            is_current=is_current,
            answer=row.answer,
            active_seconds=None,
            wall_seconds=row.seconds,
            client_key=f"import-{self._job.pk}-{row.position}",
            created_at=row.answered_at or self._now,
        )


def _batches(stage: Stage) -> Iterator[list[StageItem]]:
    """The places of the stage that got answers, locked in the order of a claim, some hundred at a time."""
    ranks = stage.stage_items.aggregate(first=Min("rank"), last=Max("rank"))
    if ranks["first"] is None:
        return
    for start in range(ranks["first"], ranks["last"] + 1, PLACES_AT_ONCE):
        places = stage.stage_items.filter(rank__gte=start, rank__lt=start + PLACES_AT_ONCE).order_by("rank")
        if locked := list(places.select_for_update()):
            yield locked


def _rows(stage: Stage, first: int, last: int) -> list[_Row]:
    with connection.cursor() as cursor:
        cursor.execute(_PLACED, [stage.project_id, stage.pk, first, last])
        return [
            _Row(
                place,
                annotator,
                position,
                line,
                number,
                external_id,
                json.loads(answer),
                datetime.fromisoformat(answered_at).astimezone(UTC) if answered_at else None,
                seconds,
                bool(is_skip),
            )
            for (
                place, annotator, position, line, number, external_id, answer, answered_at, seconds, is_skip
            ) in cursor.fetchall()
        ]  # fmt: skip


def _people(job: ImportJob, repeats: str, stored: Stored, by: Person | None) -> dict[str, int]:
    """Name in the file -> person: known from an earlier file, a member under their pseudonym, or new and inactive."""
    with connection.cursor() as cursor:
        cursor.execute(_NAMES)
        found = cursor.fetchall()
    names = [
        name if number == 1 else f"{name} ({number})"
        for name, most in found
        for number in range(1, (most if repeats == "separate" else 1) + 1)
    ]
    if len(names) > MAX_PEOPLE:
        raise refusal(
            SourceError(
                _(
                    "The file names more than %(max_people)s people; choose the column that names them.",
                    max_people=f"{MAX_PEOPLE:,}",
                )
            )
        )
    people = dict(ImportedAnnotator.objects.filter(project=job.project_id).values_list("name", "person"))
    members = dict(Person.objects.filter(memberships__project=job.project_id).values_list("pseudonym", "pk"))
    # As users of Argilla, members come back from there under the numbers that they left with.
    users = {argilla.user_id(pseudonym): person for pseudonym, person in members.items()}
    people = {**users, **members, **people}
    new = [name for name in names if name not in people]
    password = make_password(None)
    # Without a name, a code or a password of theirs: these people can only be exported, never sign in.
    made = Person.objects.bulk_create(
        [
            Person(is_active=False, is_sample=job.project.is_sample, password=password, note=note[:200])
            for note in (f"Imported from {job.source.name}" for _ in new)
        ]
    )
    Membership.objects.bulk_create(
        Membership(person=person, project=job.project, role=Membership.Role.ANNOTATOR, state=Membership.State.LEFT)
        for person in made
    )
    ImportedAnnotator.objects.bulk_create(
        ImportedAnnotator(project=job.project, name=name, person=person) for name, person in zip(new, made, strict=True)
    )
    stored.people, stored.new_people = len(names), len(made)
    return people | {name: person.pk for name, person in zip(new, made, strict=True)}


def _add_to_participations(stage: Stage, done: dict[int, list[int]]) -> None:
    rows = {row.person_id: row for row in Participation.objects.filter(stage=stage, person__in=done)}
    new = []
    for person, (n_answered, n_skipped) in done.items():
        row = rows.get(person)
        if row is None:
            new.append(Participation(stage=stage, person_id=person, n_answered=n_answered, n_skipped=n_skipped))
        else:
            row.n_answered += n_answered
            row.n_skipped += n_skipped
    Participation.objects.bulk_create(new, batch_size=1_000)
    Participation.objects.bulk_update(rows.values(), ["n_answered", "n_skipped"], batch_size=500)


def _free_slug(job: ImportJob) -> str:
    taken = set(job.project.stages.values_list("slug", flat=True))
    number, slug = 1, "imported"
    while slug in taken:
        number += 1
        slug = f"imported-{number}"
    return slug


_PLACED = """
SELECT place.id, answer.annotator, answer.position, answer.line, answer.row_number, answer.external_id, answer.answer,
       answer.answered_at, answer.seconds, answer.is_skip
FROM annotate_stageitem place
JOIN annotate_itemrevision revision ON revision.id = place.revision_id
JOIN annotate_item item ON item.id = revision.item_id AND item.project_id = %s
JOIN staged_answer answer ON answer.external_id = item.external_id
WHERE place.stage_id = %s AND place.rank >= %s AND place.rank <= %s
  AND place.source_id IS NULL AND place.candidate_id IS NULL
ORDER BY place.rank, answer.position
"""

# How often a person answered one item at most: so many people they are where each answer counts.
_NAMES = """
SELECT annotator, MAX(n) FROM (
    SELECT annotator, external_id, COUNT(*) AS n, MIN(position) AS first FROM staged_answer
    GROUP BY annotator, external_id
) AS given GROUP BY annotator ORDER BY MIN(first)
"""
