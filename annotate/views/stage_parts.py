"""Parts of the stage editor that only some stages have: options, what follows, the draw for a cross-check."""

from __future__ import annotations

from collections import Counter
from typing import Any

from annotate.answers import fields_from_json
from annotate.checks_forms import ChecksForm, SetApartForm
from annotate.exceptions import RecipeInvalid
from annotate.feeding import Recipe
from annotate.models import Event, Feed, ProlificStudy, Stage, StageItem, StageVersion
from annotate.prolific import PLACEHOLDERS
from annotate.recipes import in_words, offered
from annotate.recruiting_forms import ProlificForm
from annotate.services import auditing, discarding, recruiting
from annotate.services.auditing import Plan
from annotate.services.checks import CHECKED_KINDS, n_standing_out
from annotate.services.cross_checking import GROUPS, draw_made, written_by
from annotate.services.grouping import group_sizes
from annotate.services.protocols import planned_draw
from annotate.stage_forms import AuditForm, CrossCheckForm, FeedForm, options_form
from annotate.wording import _


def stage_parts(stage: Stage, version: StageVersion) -> dict[str, Any]:
    """For the context of the stage's page, with forms as they are stored."""
    fields = fields_from_json(version.fields)
    # None: questions are not what this form asks for, so the item itself goes on.
    writes = offered(fields, fields, []) is not None
    parts: dict[str, Any] = {
        "options_form": options_form(stage),
        "batches": _last_batches(stage),
        "feeds": [
            {"feed": feed, "words": _words(feed, fields)}
            for feed in Feed.objects.filter(source=stage).select_related("target").order_by("pk")
        ],
        "fed_by": Feed.objects.filter(target=stage).select_related("source").order_by("pk"),
        "feed_form": FeedForm(
            stage=stage, initial={"makes_items": writes, "kept_keys": version.shown_keys, "rule": _usual_rule(stage)}
        ),
        "writes_questions": writes,
    }
    if stage.kind in CHECKED_KINDS:
        apart = Counter(stage.stage_items.exclude(purpose=StageItem.Purpose.WORK).values_list("purpose", flat=True))
        n_pool = apart.pop(StageItem.Purpose.QUALIFICATION, 0)
        parts |= {
            "checks_form": ChecksForm(initial={name: getattr(stage, name) for name in ChecksForm.base_fields}),
            "apart_form": SetApartForm(project=stage.project),
            "n_checks": apart.total(),
            "n_standing_out": n_standing_out(stage) if apart.total() else 0,
            "n_pool": n_pool,
        }
    if stage.kind in recruiting.RECRUITED_KINDS:
        study = ProlificStudy.objects.filter(stage=stage).first()
        parts |= {
            "prolific_form": ProlificForm(initial=ProlificForm.initial_of(study)),
            "prolific": study,
            "prolific_seats": recruiting.seats_by_outcome(study) if study else [],
            "prolific_placeholders": PLACEHOLDERS,
        }
    if stage.kind == Stage.Kind.AUDIT:
        parts["audit_drawn"] = drawn = auditing.draw_made(stage)
        parts["audit_form"] = None if drawn else AuditForm(stage=stage, initial=_planned_audit(stage))
        parts["audit_strata"] = strata_rows(drawn) if drawn else []
        parts["draw_ends"] = discarding.way_to_end(stage) if drawn else ""
    if stage.is_cross_group:
        made = draw_made(stage)
        sizes = group_sizes(stage.project)
        parts |= {
            "cross_check_form": CrossCheckForm(stage=stage, initial=_planned_cross_check(stage)),
            "drawn": made,
            "groups": [
                {
                    "name": group,
                    "n_people": sizes[group],
                    "n_written": None if made else written_by(stage, group).count(),
                }
                for group in GROUPS
            ],
            "n_without_group": sizes[""],
        }
    return parts


def _planned_audit(stage: Stage) -> dict[str, Any]:
    """What the protocol of the project draws; without one, what the form suggests."""
    plan = planned_draw(stage)
    return {"keys": list(plan.strata), **({"k": plan.k} if plan.k else {})}


def _planned_cross_check(stage: Stage) -> dict[str, Any]:
    plan = planned_draw(stage)
    written_in = stage.project.stages.filter(slug=plan.written_in).first() if plan.written_in else None
    return {**({"n": plan.n} if plan.n else {}), **({"written_in": written_in} if written_in else {})}


def strata_rows(plan: Plan) -> list[dict[str, Any]]:
    """The strata of a draw, planned or made, as a table shows them."""
    return [{"words": plan.in_words(stratum.values), "stratum": stratum} for stratum in plan.strata]


def _usual_rule(stage: Stage) -> str:
    """What people write goes on answer by answer; what they vote on when it is decided."""
    return Feed.Rule.EVERY if stage.kind in (Stage.Kind.REWRITE, Stage.Kind.AUTHOR) else Feed.Rule.DECIDED


def _words(feed: Feed, fields: Any) -> str:
    try:
        return in_words(Recipe.from_json(feed.recipe), fields)
    except RecipeInvalid as problem:
        return _("This cannot be followed: %(problem)s", problem=problem)


def _last_batches(stage: Stage) -> dict[str, Any] | None:
    """How the items that came in last were dealt, with how many batches miss a domain."""
    if stage.kind != Stage.Kind.AUTHOR:
        return None
    added = Event.objects.filter(project=stage.project_id, verb="stage.items_added", subject_id=stage.pk)
    for detail in added.order_by("-pk").values_list("detail", flat=True)[:20]:
        if detail.get("batches"):
            narrow = sum(width < detail["asked_domains"] for width in detail["batch_domains"])
            return {**detail, "n_batches": len(detail["batches"]), "n_narrow": narrow}
    return None
