"""What the answers of a stage become in another: made, changed, ended, and refused where nothing could come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotate import events
from annotate.answers import FieldSpec, fields_from_json
from annotate.exceptions import FeedNotPossible, RecipeInvalid
from annotate.feeding import Recipe
from annotate.models import Feed, ItemRevision, Person, Project, Stage, StageVersion
from annotate.recipes import check_recipe, offered
from annotate.services import projects
from annotate.stage_kinds import KINDS, REVIEW_PARTS
from annotate.wording import _


@transaction.atomic
def set_feed(
    *, source: Stage, target: Stage, by: Person | None, rule: str = Feed.Rule.EVERY, recipe: Mapping[str, Any]
) -> Feed:
    """Let the answers of one stage become work in another; a feed between the two that there is already is changed.

    Answers that were given before follow it too. Raises FeedNotPossible, writing nothing, for a circle, a recipe that
    names what is not there, or one that the next stage could show nothing of.
    """
    # One after another: of two feeds that make a circle together, the second must see the first.
    Project.objects.select_for_update(no_key=True).get(pk=source.project_id)
    if target.project_id != source.project_id or target.pk == source.pk:
        raise FeedNotPossible("target", _("Choose another stage of this project."))
    if KINDS[target.kind].is_drawn:
        raise FeedNotPossible("target", _("The items of “%(title)s” come from a draw of its own.", title=target.title))
    if rule not in Feed.Rule.values:
        raise FeedNotPossible("rule", _("There is no rule called %(rule)s.", rule=repr(rule)))
    if circle := _way(source.project_id, target, source):
        names = " → ".join([source.title, *(stage.title for stage in circle)])
        raise FeedNotPossible("target", _("That would lead in a circle: %(names)s.", names=names))
    form = StageVersion.objects.get(stage=source, is_current=True)
    next_form = StageVersion.objects.get(stage=target, is_current=True)
    try:
        read = Recipe.from_json(recipe)
        check_recipe(
            read,
            fields=fields_from_json(form.fields),
            target=fields_from_json(next_form.fields),
            target_keys=next_form.shown_keys,
            content_keys=_keys_known(source, read),
        )
    except RecipeInvalid as problem:
        raise FeedNotPossible("recipe", str(problem)) from None
    feed, is_new = Feed.objects.update_or_create(
        source=source, target=target, defaults={"rule": rule, "recipe": dict(recipe)}
    )
    events.record(
        actor=by,
        verb="feed.made" if is_new else "feed.changed",
        subject=feed,
        project_id=source.project_id,
        source=source.slug,
        target=target.slug,
        rule=rule,
    )
    # What is answered already goes on, too.
    source.stage_items.filter(done__gt=0).lock_in_claim_order()
    source.stage_items.filter(done__gt=0).update(due_at=Now())
    return feed


@transaction.atomic
def end_feed(*, feed: Feed, by: Person | None) -> None:
    """Nothing more goes this way; what came of earlier answers stays where it is."""
    events.record(
        actor=by,
        verb="feed.ended",
        subject=feed,
        project_id=feed.source.project_id,
        source=feed.source.slug,
        target=feed.target.slug,
    )
    feed.delete()


@transaction.atomic
def lead_to(*, source: Stage, target: Stage, by: Person | None) -> None:
    """Let come to a stage of decisions what it is about: undecided items to adjudicators, the others to reviewers.

    What people wrote comes as new items, by the usual recipe; what they voted on when it is decided.
    Raises FeedNotPossible or StageNotReady, writing nothing.
    """
    if target.kind == Stage.Kind.ADJUDICATE:
        projects.adjudicate_in(stage=source, judges=target, by=by)
        return
    recipe = offered_recipe(source, target)
    rule = Feed.Rule.EVERY if recipe else Feed.Rule.DECIDED
    set_feed(source=source, target=target, by=by, rule=rule, recipe=recipe)


def offered_recipe(source: Stage, target: Stage, kept: list[str] | None = None) -> dict[str, Any]:
    """What is usual between two such stages; empty where the item itself goes on.

    kept: content keys that new items take over; None: those that either stage shows.
    """
    form, shown = _form(source)
    next_form, next_shown = _form(target)
    if target.kind == Stage.Kind.REVIEW:
        # There the gold label is what may be corrected, and nobody votes on it.
        next_form = tuple(replace(field, decides=field.name not in REVIEW_PARTS) for field in next_form)
    return offered(form, next_form, [*next_shown, *shown] if kept is None else kept) or {}


def _form(stage: Stage) -> tuple[tuple[FieldSpec, ...], list[str]]:
    version = StageVersion.objects.get(stage=stage, is_current=True)
    return fields_from_json(version.fields), version.shown_keys


def _way(project_id: int, start: Stage, goal: Stage) -> list[Stage]:
    """The stages from start to goal by feeds and adjudication; empty if there is no way."""
    stages = Stage.objects.filter(project=project_id).in_bulk()
    steps: dict[int, list[int]] = {
        pk: [stage.adjudicated_in_id] if stage.adjudicated_in_id else [] for pk, stage in stages.items()
    }
    for source_id, target_id in Feed.objects.filter(source__project=project_id).values_list("source", "target"):
        steps[source_id].append(target_id)
    came_from: dict[int, int | None] = {start.pk: None}
    waiting = [start.pk]
    while waiting:
        here = waiting.pop(0)
        if here == goal.pk:
            way: list[Stage] = []
            step: int | None = here
            while step is not None:
                way.insert(0, stages[step])
                step = came_from[step]
            return way
        for there in steps[here]:
            if there not in came_from:
                came_from[there] = here
                waiting.append(there)
    return []


def _keys_known(source: Stage, recipe: Recipe) -> set[str] | None:
    """Content keys that the recipe may take from items; None before the project has any.

    Contents are read until each key has been met: a key that only the last of 20,000 items has is a key.
    """
    wanted = {place.partition(".")[2] for _, place in (*recipe.content, *recipe.strata) if place.startswith("item.")}
    known = {
        pair[0]
        for made in Feed.objects.filter(target=source).values_list("recipe", flat=True)
        for pair in made.get("content", [])
    }
    contents = ItemRevision.objects.current().filter(item__project=source.project_id).values_list("content", flat=True)
    has_items = False
    for content in contents.iterator():
        has_items = True
        known |= {pair[0] for pair in content}
        if wanted <= known:
            return known
    return known if has_items else None
