"""Where somebody works: the stage, the form, the membership and the guidelines of this moment, in one statement.

Every answer begins by reading this. With the ORM the same query took a third of a request's time, most of it spent on
composing SQL, so its text stands here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from django.db.models import Q

from annotate.answers import FieldSpec, fields_from_json
from annotate.checking import Standing
from annotate.claim_sql import newest_guidelines, seconds_since
from annotate.models import Assignment, GuidelineVersion, Membership, Person, Project, Stage, StageItem, StageVersion
from annotate.statements import one_row, row_of


@dataclass(frozen=True)
class Desk:
    """Whatever stays the same from one item of a stage to the next.

    version: the current form. seat: the person's active membership, or None. guideline_id: the newest guidelines of
    the stage, else of the project; known_guideline_id: those that the person began with or was told of last.
    standing: which kind of place comes next. has_unread_answers: to what they asked in the project. pins: changes
    whenever what is pinned beside the guidelines does. The rows hold what working needs; other columns are read when
    asked for.
    """

    person: Person
    stage: Stage
    version: StageVersion
    seat: Membership | None
    guideline_id: int | None
    standing: Standing
    known_guideline_id: int | None = None
    has_unread_answers: bool = False
    pins: str = ""

    @property
    def has_new_guidelines(self) -> bool:
        """Whether they changed since the person began, and nobody has told them yet."""
        return self.known_guideline_id is not None and self.known_guideline_id != self.guideline_id

    @property
    def may_take(self) -> bool:
        """Whether the person's role is one of those that take this stage's items."""
        return self.seat is not None and self.seat.role in self.stage.roles

    @property
    def languages(self) -> Sequence[str]:
        return self.seat.languages if self.seat else []


class Held(NamedTuple):
    """An assignment in its person's hands. seconds: since it was leased, by the database's clock."""

    assignment: Assignment
    seconds: float
    desk: Desk


def desk_at(*, person: Person, project: str, stage: str) -> Desk | None:
    """The person's desk at a stage, by the slugs of its address; None for a stranger and for a draft.

    Closed stages have desks too: what is in somebody's hands may be finished.
    """
    row = one_row(
        f"SELECT {_COLUMNS} FROM annotate_stage stage {_JOINS} "
        "WHERE project.slug = %(project)s AND stage.slug = %(stage)s AND stage.state <> 'draft' "
        "AND seat.id IS NOT NULL",
        {"person": person.pk, "project": project, "stage": stage},
    )
    return _desk(person, row) if row else None


def held_by(*, person: Person, token: str) -> Held | None:
    """The one door to answer: nobody gets at another person's work, an admin neither."""
    row = one_row(_held(), {"person": person.pk, "token": token})
    if row is None:
        return None
    assignment_id, state, purpose, draft, draft_version, seconds, *rest = row
    desk = _desk(person, rest[len(_PLACE) :])
    stage_item = row_of(StageItem, zip(_PLACE, rest[: len(_PLACE)], strict=True), stage=desk.stage)
    own = {"id": assignment_id, "stage_id": desk.stage.pk, "stage_item_id": stage_item.pk, "person_id": person.pk}
    own |= {"token": token, "state": state, "purpose": purpose}
    own |= {"draft": _from_json(draft), "draft_version": draft_version}
    assignment = row_of(Assignment, own.items(), stage=desk.stage, person=person, stage_item=stage_item)
    return Held(assignment, float(seconds), desk)


def form_seen(desk: Desk, sent: int | None) -> StageVersion | None:
    """The form that an answer was given to, which need not be the newest: the author saw what they saw."""
    if sent is None or sent == desk.version.pk:
        return desk.version
    return StageVersion.objects.filter(pk=sent, stage=desk.stage).first()


def guidelines_seen(desk: Desk, sent: int | None) -> int | None:
    """The guidelines that an answer's author could read; the newest where what was sent is none of the project's."""
    if sent is None or sent == desk.guideline_id:
        return desk.guideline_id
    # Not those of another stage: the page that tells what is new would show them.
    known = GuidelineVersion.objects.filter(
        Q(stage=desk.stage.pk) | Q(stage=None), pk=sent, project=desk.stage.project_id
    ).exists()
    return sent if known else desk.guideline_id


_PROJECT = ["id", "title", "slug", "current_date"]
_STAGE = [
    *("id", "project_id", "kind", "title", "slug", "state", "roles", "lease_minutes", "order", "seed"),
    *("is_closed_book", "time_limit_seconds", "permitted_sources"),
    *("qualification_size", "qualification_mark", "check_every", "tells_checks"),
]
_VERSION = ["id", "stage_id", "fields", "shown_keys", "instruction"]
_SEAT = ["id", "role", "languages"]
_PLACE = ["id", "stage_id", "revision_id", "rank", "root_id", "round"]

_COLUMNS = ", ".join(
    [
        *(f'project."{name}"' for name in _PROJECT),
        *(f'stage."{name}"' for name in _STAGE),
        *(f'form."{name}"' for name in _VERSION),
        *(f'seat."{name}"' for name in _SEAT),
        newest_guidelines("stage.id", "stage.project_id"),
        # As services/assigning.py, standing_of; a stage without such rules pays for neither.
        """CASE WHEN stage.qualification_size = 0 THEN 1 ELSE (
            SELECT COUNT(*) FROM annotate_qualificationattempt passed
            WHERE passed.stage_id = stage.id AND passed.person_id = %(person)s AND passed.state = 'passed'
                AND passed.set_aside_at IS NULL) END""",
        "COALESCE(self.n_answered + self.n_skipped, 0)",
        "COALESCE(self.checks_owed, 0)",
        # What the person knows of them, and whether there is something for them to read.
        "self.guidelines_known_id",
        """EXISTS (SELECT 1 FROM annotate_question asked
            WHERE asked.person_id = %(person)s AND asked.project_id = stage.project_id
                AND asked.state = 'answered' AND asked.read_at IS NULL)""",
        # When what is pinned beside the guidelines last changed.
        """(SELECT MAX(pinned.pin_changed_at) FROM annotate_question pinned
            WHERE pinned.project_id = stage.project_id AND (pinned.stage_id = stage.id OR pinned.stage_id IS NULL)
                AND pinned.pin_changed_at IS NOT NULL)""",
    ]
)

_JOINS = """
    JOIN annotate_project project ON project.id = stage.project_id
    JOIN annotate_stageversion form ON form.stage_id = stage.id AND form.is_current
    LEFT JOIN annotate_membership seat
        ON seat.project_id = stage.project_id AND seat.person_id = %(person)s AND seat.state = 'active'
    LEFT JOIN annotate_participation self ON self.stage_id = stage.id AND self.person_id = %(person)s
"""


@cache
def _held() -> str:
    return (
        f"SELECT held.id, held.state, held.purpose, held.draft, held.draft_version, "
        f"{seconds_since('held.leased_at')}, {', '.join(f'place.{name}' for name in _PLACE)}, {_COLUMNS} "
        f"FROM annotate_assignment held JOIN annotate_stageitem place ON place.id = held.stage_item_id "
        f"JOIN annotate_stage stage ON stage.id = held.stage_id {_JOINS} "
        "WHERE held.token = %(token)s AND held.person_id = %(person)s"
    )


def _desk(person: Person, row: Sequence[Any]) -> Desk:
    values = iter(row)

    def take(names: list[str]) -> dict[str, Any]:
        return {name: next(values) for name in names}

    project = row_of(Project, take(_PROJECT).items())
    of_stage = take(_STAGE)
    stage = row_of(Stage, (of_stage | {"roles": _from_json(of_stage["roles"])}).items(), project=project)
    of_version = take(_VERSION)
    asked = {name: _from_json(of_version[name]) for name in ("fields", "shown_keys")}
    version = row_of(StageVersion, (of_version | asked).items())
    if isinstance(of_version["fields"], str):
        version.specs = _specs_in(of_version["fields"])
    of_seat = take(_SEAT)
    of_seat["languages"] = _from_json(of_seat["languages"])
    seat = None if of_seat["id"] is None else row_of(Membership, of_seat.items())
    guideline_id, is_qualified, n_met, checks_owed, known_guideline_id, has_unread_answers, pinned_at = values
    return Desk(
        person=person,
        stage=stage,
        version=version,
        seat=seat,
        guideline_id=guideline_id,
        standing=Standing(bool(is_qualified), n_met, checks_owed),
        known_guideline_id=known_guideline_id,
        has_unread_answers=bool(has_unread_answers),
        pins=str(pinned_at or ""),
    )


@lru_cache(maxsize=256)
def _specs_in(fields: str) -> tuple[FieldSpec, ...]:
    """Read once for all who have the same form before them: nothing in it can be changed."""
    return fields_from_json(json.loads(fields))


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
