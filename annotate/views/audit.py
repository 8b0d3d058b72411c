"""Where meta-reviewers audit labels: the item, the frozen label, and what is left of the draw to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.answers import answer_text, fields_from_json
from annotate.auditing import labels_in
from annotate.forms import AnswerForm
from annotate.models import Annotation, Assignment
from annotate.services.auditing import draw_made, left_to_audit
from annotate.services.candidates import content_beside
from annotate.views.sheets import Sheet, Shown


def _show(
    assignment: Assignment, form: AnswerForm | None, revising: Annotation | None, answer: Mapping[str, Any]
) -> Shown:
    made = draw_made(assignment.stage)
    if made is None:
        return Shown(answer, {})
    left = left_to_audit(stage=assignment.stage, person=assignment.person)
    version = assignment.stage.versions.get(is_current=True)
    rows = []
    # Strata are hidden from annotators: a count of what is left would tell them before, and of whom, they are told.
    if (made.keys or made.by_label) and made.may_be_told(version.shown_keys):
        rows = [{"words": made.in_words(one.values), "n_left": one.n_left, "n_drawn": one.n_drawn} for one in left]
    context = {
        "draw_left": rows,
        "draw_keys": [*made.keys, *([""] if made.by_label else [])],
        "n_left": sum(one.n_left for one in left),
        "n_drawn": made.n_drawn,
    }
    # What is called wrong is no correction of itself.
    audited = [answer_text(label) for label in labels_in(content_beside(assignment.stage_item_id))]
    verdicts = [spec.name for spec in fields_from_json(version.fields) if spec.type == "verdict"]
    return Shown(answer, context, {name: {"audited": audited} for name in verdicts})


SHEET = Sheet(form=AnswerForm, template="annotate/partials/item.html", show=_show)
