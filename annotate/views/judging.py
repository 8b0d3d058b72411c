"""Where models' answers are judged: the item, and the answer or the two answers to it, from nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.forms import AnswerForm
from annotate.models import Annotation, Assignment
from annotate.views.sheets import Sheet, Shown


def _show(
    assignment: Assignment, form: AnswerForm | None, revising: Annotation | None, answer: Mapping[str, Any]
) -> Shown:
    return Shown(answer, {})


SHEET = Sheet(form=AnswerForm, template="annotate/partials/judge.html", show=_show)
