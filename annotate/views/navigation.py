"""What each page of a project has: its places as links in the head, and whether the reader runs the project."""

from __future__ import annotations

from typing import Any, TypedDict

from django.urls import reverse

from annotate.models import Membership, Person, Project
from annotate.querysets import JUDGING_ROLES, READING_ROLES, RUNNING_ROLES
from annotate.wording import _

WORKING_ROLES = ("annotator", *JUDGING_ROLES)

# (current, words, URL name, roles). By name only: the pages of the model side are reached without importing it.
PLACES = (
    ("project", _("Project"), "project", READING_ROLES),
    ("items", _("Items"), "items", READING_ROLES),
    ("runs", _("Runs"), "runs", READING_ROLES),
    ("side-by-side", _("Side by side"), "side-by-side", READING_ROLES),
    ("reports", _("Reports"), "reports", READING_ROLES),
    ("people", _("People"), "people", RUNNING_ROLES),
    ("questions", _("Questions"), "questions", RUNNING_ROLES),
    ("my-work", _("My work"), "my-work", WORKING_ROLES),
    ("my-questions", _("My questions"), "my-questions", WORKING_ROLES),
)


class Place(TypedDict):
    label: str
    url: str
    current: bool


def project_page(project: Project, person: Person, current: str) -> dict[str, Any]:
    """The context that all pages of a project share: project, nav (for partials/nav.html), may_run.

    current: the first word of a line of PLACES, or "". This is for what a page offers; rows go through `visible_to`.
    """
    role = _role_in(project, person)
    places: list[Place] = [
        {"label": label, "url": reverse(url_name, args=[project.slug]), "current": name == current}
        for name, label, url_name, roles in PLACES
        if role in roles
    ]
    return {"project": project, "nav": places, "may_run": role in RUNNING_ROLES}


def _role_in(project: Project, person: Person) -> str:
    memberships = Membership.objects.active().filter(project=project, person=person)
    return memberships.values_list("role", flat=True).first() or ""
