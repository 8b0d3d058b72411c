"""The places of a project, as links in the head of each of its pages."""

from __future__ import annotations

from typing import TypedDict

from django.urls import reverse

from annotate.models import Membership, Person, Project
from annotate.querysets import READING_ROLES, RUNNING_ROLES

# (current, words, URL name, roles). By name only: the pages of the model side are reached without importing it.
PLACES = (
    ("project", "Project", "project", READING_ROLES),
    ("items", "Items", "items", READING_ROLES),
    ("runs", "Runs", "runs", READING_ROLES),
    ("side-by-side", "Side by side", "side-by-side", READING_ROLES),
    ("reports", "Reports", "reports", READING_ROLES),
    ("people", "People", "people", RUNNING_ROLES),
)


class Place(TypedDict):
    label: str
    url: str
    current: bool


def project_nav(project: Project, person: Person, current: str) -> list[Place]:
    """What this person may open in this project; `current` is the first word of a line of PLACES, or "".

    A page passes the result as `nav` beside `project`; partials/nav.html renders it.
    """
    role = role_in(project, person)
    return [
        {"label": label, "url": reverse(url_name, args=[project.slug]), "current": name == current}
        for name, label, url_name, roles in PLACES
        if role in roles
    ]


def role_in(project: Project, person: Person) -> str:
    """The person's active role in the project, or "". For what a page offers; rows go through `visible_to`."""
    memberships = Membership.objects.active().filter(project=project, person=person)
    return memberships.values_list("role", flat=True).first() or ""
