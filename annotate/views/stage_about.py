"""On the page of a new stage: which other stage it is about, the fields that follow from that, and what leads there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.utils.translation import gettext as _

from annotate.exceptions import FeedNotPossible, StageNotReady
from annotate.models import Project, Stage
from annotate.services import feeds
from annotate.stage_kinds import ABOUT, fields_about
from annotate.views.doors import PersonRequest


@dataclass(frozen=True)
class About:
    """The stage whose answers are adjudicated or reviewed, and what the new stage begins with."""

    stage: Stage
    title: str
    fields: list[dict[str, Any]]
    shown_keys: list[str]


def stage_about(project: Project, kind: str, slug: str) -> About | None:
    """None for a kind that is about no other stage, and where none is named."""
    stage = stages_for(project, kind).filter(slug=slug).first() if kind in ABOUT and slug else None
    if stage is None:
        return None
    version = stage.versions.get(is_current=True)
    # What people write in pairs or rewrite becomes items with a question of their own.
    writes = stage.kind in (Stage.Kind.AUTHOR, Stage.Kind.REWRITE)
    shown = [key for key in version.shown_keys if key != "question"]
    keys = ["question", *shown] if writes else list(version.shown_keys)
    fields = version.fields
    if stage.kind == Stage.Kind.AUDIT:
        # Decided is the label that was audited, not whether it is right.
        fields = [stage.audit.field]
    title = _("{title}: adjudication") if kind == Stage.Kind.ADJUDICATE else _("{title}: review")
    return About(
        stage, title.format(title=stage.title)[:120], fields_about(kind, fields, keys[0] if keys else ""), keys
    )


def stages_for(project: Project, kind: str) -> Any:
    stages = project.stages.filter(kind__in=ABOUT.get(kind, ()))
    return stages.exclude(kind=Stage.Kind.AUDIT, audit=None).select_related("audit").order_by("position", "pk")


def about_options(kind: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a new stage of that kind, as they were sent."""
    return {"makes_gold": True} if kind == Stage.Kind.ADJUDICATE and "makes_gold" in sent else {}


def about_context(request: PersonRequest, project: Project, kind: str, about: About | None) -> dict[str, Any]:
    is_sent = request.method == "POST"
    return {
        "about": about.stage if about else None,
        "may_be_about": stages_for(project, kind),
        "makes_gold": "makes_gold" in request.POST,
        "leads_here": not is_sent or "leads_here" in request.POST,
    }


def tell_led(request: PersonRequest, about: About, stage: Stage) -> None:
    """Let the items of the other stage come into the new one, and say so, or why not.

    What an audit found wrong is sent from its results, when it is closed.
    """
    if about.stage.kind == Stage.Kind.AUDIT:
        return
    try:
        feeds.lead_to(source=about.stage, target=stage, by=request.user)
    except (FeedNotPossible, StageNotReady) as refusal:
        words = _("The stage is made, and nothing leads to it yet: {why} See “What its answers become” of “{title}”.")
        messages.warning(request, words.format(why=refusal, title=about.stage.title))
