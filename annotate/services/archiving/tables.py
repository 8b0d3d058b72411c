"""Which tables make an archive, and which do not and why. The model side registers its own when Django starts.

A table travels with all its columns but those named here, so a new column needs no line. Rows are named by their place
in the file, and point to one another by it; people are named by their pseudonym.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.apps import apps
from django.db.models import Model, Q, QuerySet

from annotate.answers import FieldSpecInvalid, fields_from_json
from annotate.services.archiving.columns import Column, column_of

# Any text a response may carry as its type: nothing that ends a header.
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9.+-]+(; charset=utf-8)?")
_PSEUDONYM = re.compile(r"[A-Za-z0-9-]{1,16}")

# What holds a piece of background work while it is under way: of no use elsewhere.
CLAIMS = ("due_at", "claim_token", "heartbeat_at", "attempts")


@dataclass(frozen=True)
class Table:
    """One table of an archive.

    model: "app.Model". paths: lookups to the project; a row that one of them leads from belongs to it.
    only: which of its rows travel, where not all do.
    without: columns that do not travel; keeps: the only ones that do, where a new column may be a secret.
    restored: what the others hold afterwards, where that is not the model's default.
    archived_as: values that are written as something else, such as the state of what is under way.
    ids: for a JSON column, paths to ids in it and the table they are of.
    many: many-to-many columns, written as lists.
    check: raises ValueError with what is wrong with a row, beyond its columns.
    """

    model: str
    paths: tuple[str, ...] = ("project",)
    only: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    keeps: tuple[str, ...] | None = None
    restored: Mapping[str, Any] = field(default_factory=dict)
    archived_as: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    ids: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    many: tuple[str, ...] = ()
    has_contents: bool = False
    check: Callable[[dict[str, Any]], None] | None = None

    @cached_property
    def name(self) -> str:
        """As its member is called, and as others point to it."""
        return self.model.rpartition(".")[2].lower()

    @cached_property
    def model_class(self) -> type[Model]:
        return apps.get_model(self.model)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        meta = self.model_class._meta
        return tuple(
            column_of(one)
            for one in meta.concrete_fields
            if not one.primary_key and not _is_project(one) and self._travels(one)
        )

    @cached_property
    def other_columns(self) -> tuple[Column, ...]:
        """Those that get the same value in every restored row."""
        meta, mine = self.model_class._meta, {column.name for column in self.columns}
        return tuple(
            column_of(one)
            for one in meta.concrete_fields
            if not one.primary_key and not _is_project(one) and one.name not in mine
        )

    def _travels(self, one: Any) -> bool:
        if one.remote_field is not None and one.remote_field.model._meta.label not in _labels():
            return False  # what it points to does not
        return one.name not in self.without if self.keeps is None else one.name in self.keeps

    @cached_property
    def project_column(self) -> str | None:
        found = [one.column for one in self.model_class._meta.concrete_fields if _is_project(one)]
        return found[0] if found else None

    def rows(self, project_id: int) -> QuerySet[Any]:
        belongs = Q()
        for path in self.paths:
            belongs |= Q(**{path: project_id})
        return self.model_class._base_manager.filter(belongs, **self.only).order_by("pk")


@dataclass(frozen=True)
class LeftOut:
    """A table that does not travel, and why, as the manifest says it."""

    model: str
    why: str


def _labels() -> set[str]:
    return {table.model for table in (*TABLES, PEOPLE)}


def _is_project(one: Any) -> bool:
    return one.remote_field is not None and one.remote_field.model._meta.label == "annotate.Project"


def unfinished_as_cancelled(state: str) -> str:
    """Nobody goes on elsewhere with what was under way here."""
    return "cancelled" if state in ("waiting", "running", "paused") else state


def _check_form(row: dict[str, Any]) -> None:
    try:
        fields_from_json(row["fields"])
    except (FieldSpecInvalid, TypeError, ValueError, KeyError, AttributeError) as fault:
        raise ValueError(f"this is no form: {str(fault)[:200]}") from fault
    if not isinstance(row["shown_keys"], list) or not all(isinstance(key, str) for key in row["shown_keys"]):
        raise ValueError("shown_keys must be a list of texts")


def _check_pairs(*names: str) -> Callable[[dict[str, Any]], None]:
    def check(row: dict[str, Any]) -> None:
        for name in names:
            value = row[name]
            if not isinstance(value, list) or not all(
                isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
            ):
                raise ValueError(f"{name} must be a list of pairs")

    return check


def _check_answer(row: dict[str, Any]) -> None:
    if not isinstance(row["answer"], dict):
        raise ValueError("answer must be an object")


def _check_gold(row: dict[str, Any]) -> None:
    if not isinstance(row["answers"], list):
        raise ValueError("answers must be a list")


def _check_file(row: dict[str, Any]) -> None:
    if not _MEDIA_TYPE.fullmatch(row["media_type"]):
        raise ValueError("media_type is none")


def check_person(row: dict[str, Any]) -> None:
    if not _PSEUDONYM.fullmatch(row["pseudonym"]):
        raise ValueError("pseudonym is none")


# People stand apart: not all of an installation, but those who are named by the rows of the project.
PEOPLE = Table(
    "annotate.Person",
    paths=(),
    keeps=("pseudonym", "is_sample", "created_at", "erased_at"),
    restored={"is_active": False},
    check=check_person,
)

TABLES: list[Table] = [
    Table("annotate.Project", paths=("pk",)),
    Table(
        "annotate.Membership",
        # Neither a role nor a way in comes out of a file: who was a member is history.
        without=("role", "state"),
        restored={"role": "annotator", "state": "left"},
    ),
    Table("annotate.Stage"),
    Table("annotate.StageVersion", paths=("stage__project",), check=_check_form),
    Table("annotate.GuidelineVersion"),
    Table("annotate.Item"),
    Table("annotate.ItemRevision", paths=("item__project",), check=_check_pairs("content")),
    Table("annotate.ItemKey", paths=("item__project",), check=_check_pairs("strata", "extra")),
    Table("annotate.Gold", paths=("item__project",), check=_check_gold),
    Table("annotate.GoldRefusal", paths=("item__project",)),
    Table("annotate.ItemHand", paths=("item__project",)),
    Table("annotate.ItemSet"),
    Table("annotate.ItemSetEntry", paths=("item_set__project",)),
    Table("annotate.Candidate", check=_check_pairs("content")),
    Table("annotate.Audit", paths=("stage__project",)),
    Table("annotate.Feed", paths=("source__project",)),
    Table("annotate.StageItem", paths=("stage__project",)),
    Table("annotate.Participation", paths=("stage__project",)),
    # The token opens the assignment to whoever holds it: a new one is made.
    Table("annotate.Assignment", paths=("stage__project",), without=("token",)),
    Table("annotate.Annotation", paths=("assignment__stage__project",), check=_check_answer),
    Table("annotate.FlagSettlement", paths=("annotation__assignment__stage__project",)),
    Table("annotate.Question"),
    Table("annotate.Decision", paths=("annotation__assignment__stage__project",)),
    Table("annotate.Resolution", paths=("stage_item__stage__project",)),
    Table("annotate.Exclusion"),
    Table("annotate.FreedPlace", paths=("exclusion__project",)),
    Table("annotate.QualificationAttempt", paths=("stage__project",)),
    Table("annotate.QualificationPlace", paths=("attempt__stage__project",)),
    Table("annotate.CheckResult", paths=("assignment__stage__project",)),
    Table(
        "annotate.StoredFile",
        only={"purpose__in": ("export", "chart")},
        without=("file", "keep_until"),
        has_contents=True,
        check=_check_file,
    ),
    # Its ids stay those of the installation where it happened.
    Table("annotate.Event", without=("is_restored",), restored={"is_restored": True}),
]

LEFT_OUT: list[LeftOut] = [
    LeftOut("annotate.Invite", "an invitation lets people in"),
    LeftOut("annotate.ImportJob", "the items are here; the uploaded files, and how they were read, are not"),
    LeftOut("annotate.ImportedAnnotator", "names in files stand for people here, and an archive has no names"),
    LeftOut("annotate.ProlificStudy", "a link lets people in"),
    LeftOut("annotate.ProlificSeat", "who came by such a link is known to this installation only"),
    LeftOut("annotate.Export", "an export can be made again"),
    LeftOut("annotate.Restoration", "it belongs to whoever uploaded an archive"),
]


def register(*, tables: tuple[Table, ...] = (), left_out: tuple[LeftOut, ...] = ()) -> None:
    """Add tables of another application, after those they point to or not: references may go either way."""
    known = {table.model for table in TABLES}
    TABLES.extend(table for table in tables if table.model not in known)
    LEFT_OUT.extend(one for one in left_out if one not in LEFT_OUT)
