"""A published protocol becomes draft stages, feeds and guidelines of a project, through what the stage editor calls."""

from __future__ import annotations

from django.db import transaction

from annotate import events
from annotate.exceptions import FeedNotPossible, ProtocolNotPossible
from annotate.models import Person, Project, Stage
from annotate.protocols import DrawPlan, HumanPart, StagePlan, human_part
from annotate.services import feeds, projects
from annotate.wording import _


@transaction.atomic
def set_up_protocol(*, project: Project, by: Person | None, protocol: HumanPart) -> list[Stage]:
    """Make the stages of a protocol, in their order, as drafts that nobody sees: all of them or nothing.

    The project gets the protocol's name and version, and its current date where it has none of its own.
    Raises ProtocolNotPossible where the project follows a protocol already, has a stage of the same address or title,
    or has items that a feed of the protocol could take nothing from.
    """
    # Two clicks must not make every stage twice.
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    _check_room(project, protocol)
    stages = {plan.slug: _make_stage(project, by, plan) for plan in protocol.stages}
    for plan in protocol.stages:
        if plan.adjudicated_in:
            projects.adjudicate_in(stage=stages[plan.slug], judges=stages[plan.adjudicated_in], by=by)
    for feed in protocol.feeds:
        source, target = stages[feed.source], stages[feed.target]
        try:
            feeds.set_feed(source=source, target=target, by=by, rule=feed.rule, recipe=feed.recipe)
        except FeedNotPossible as refusal:
            raise ProtocolNotPossible(
                _(
                    "The items of this project do not fit the protocol: from “%(source)s” to “%(target)s”: %(problem)s",
                    source=source.title,
                    target=target.title,
                    problem=str(refusal),
                )
            ) from refusal
    project.protocol_name, project.protocol_version = protocol.name, protocol.version
    project.current_date = project.current_date or protocol.current_date
    project.save(update_fields=["protocol_name", "protocol_version", "current_date"])
    events.record(
        actor=by,
        verb="protocol.set_up",
        subject=project,
        project_id=project.pk,
        protocol=protocol.name,
        version=protocol.version,
        stages=[stage.slug for stage in stages.values()],
        feeds=len(protocol.feeds),
    )
    return list(stages.values())


def plan_of(stage: Stage) -> StagePlan | None:
    """What the protocol that the project follows says of this stage; None for a stage of one's own."""
    part = human_part(stage.project.protocol_name)
    return part.stage(stage.slug) if part is not None else None


def planned_draw(stage: Stage) -> DrawPlan:
    """What the protocol draws into this stage; without one, nothing is said."""
    plan = plan_of(stage)
    return (plan.draw if plan is not None else None) or DrawPlan()


def protocol_title(project: Project) -> str:
    """As people read it; the stored name where a project came from an installation that has other protocols."""
    part = human_part(project.protocol_name)
    return part.title if part is not None else project.protocol_name


def _check_room(project: Project, protocol: HumanPart) -> None:
    if project.protocol_name:
        raise ProtocolNotPossible(
            _("This project follows the protocol %(title)s already.", title=protocol_title(project))
        )
    taken = list(project.stages.order_by("position", "pk").values_list("slug", "title"))
    slugs, titles = {slug for slug, __ in taken}, {title.casefold() for __, title in taken}
    if same := [plan.title for plan in protocol.stages if plan.slug in slugs or plan.title.casefold() in titles]:
        raise ProtocolNotPossible(
            _(
                "This project has stages that the protocol would make: %(titles)s. Set it up in a new project.",
                titles=", ".join(f"“{title}”" for title in same),
            )
        )


def _make_stage(project: Project, by: Person | None, plan: StagePlan) -> Stage:
    return projects.create_stage(
        project=project,
        by=by,
        kind=plan.kind,
        title=plan.title,
        slug=plan.slug,
        fields=plan.fields,
        shown_keys=plan.shown_keys,
        instruction=plan.instruction,
        guidelines=plan.guidelines,
        overlap=plan.overlap,
        roles=plan.roles,
        order=plan.order,
        lease_minutes=plan.lease_minutes,
        is_closed_book=not plan.sources,
        permitted_sources=plan.sources,
        time_limit_seconds=plan.time_limit_seconds,
        is_cross_group=plan.is_cross_group,
        escalate_by=plan.escalate_by,
        escalate_times=plan.escalate_times,
        shows_decided=plan.shows_decided,
        options=plan.options,
    )
