"""What the work page shows and takes beyond an item with its form, for kinds of stages that need more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.forms import AnswerForm
from annotate.models import Annotation, Assignment


@dataclass(frozen=True)
class Shown:
    """answer: what the fields begin with. context: what the template has beside the work page's own.

    fields: by name, what a field has beside its value, such as the decision that it belongs to.
    """

    answer: Mapping[str, Any]
    context: Mapping[str, Any]
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheet:
    """One kind of page.

    form: the shape of what is sent. template: of the item and the form. show(assignment, form, revising, answer): what
    is shown with an answer as it stands. store(form, stored, revises): the answer, where `stored` holds the arguments
    of every service that stores one; None where it is stored as every answer is.
    """

    form: type[AnswerForm]
    template: str
    show: Callable[[Assignment, Any, Annotation | None, Mapping[str, Any]], Shown]
    store: Callable[[Any, Mapping[str, Any], bool], Annotation] | None = None
