"""What of an item somebody is shown, where a kind of stage shows it otherwise than it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from annotate.answers import FieldSpec, fields_from_json
from annotate.debiasing import as_shown, author_seed, what_to_show
from annotate.models import Assignment, ItemRevision, Stage, StageVersion
from annotate.rewriting import with_source_label
from annotate.stage_options import author_options, rewrite_options

SOURCE_SAYS = "The source says"


class Given(NamedTuple):
    """Content as it is shown, which of its keys, and captions of those that would not explain themselves."""

    content: Sequence[Sequence[Any]]
    shown_keys: Sequence[str]
    captions: Mapping[str, str] = {}


def given_to(assignment: Assignment, version: StageVersion) -> Given:
    """The one place that says what the person of an assignment sees, for the page and the API alike.

    A person who comes back to an item sees it as the first time: what an author was shown is stored.
    """
    content = assignment.stage_item.revision.content
    if assignment.stage.kind == Stage.Kind.REWRITE:
        return _with_source_label(assignment.stage, content, fields_from_json(version.fields), version.shown_keys)
    if assignment.stage.kind == Stage.Kind.AUTHOR:
        return Given(as_shown(content, _arranged(assignment)), version.shown_keys)
    return Given(content, version.shown_keys)


def given_in_preview(
    stage: Stage, revision: ItemRevision, fields: Sequence[FieldSpec], shown_keys: Sequence[str]
) -> Given:
    """What somebody would see of an item with the form as it stands in the editor; an author's order is an example."""
    if stage.kind == Stage.Kind.REWRITE:
        return _with_source_label(stage, revision.content, fields, shown_keys)
    if stage.kind == Stage.Kind.AUTHOR:
        options = author_options(stage.options)
        shown = what_to_show(revision.content, options, seed=stage.seed) if options.debiases else None
        return Given(as_shown(revision.content, shown), shown_keys)
    return Given(revision.content, shown_keys)


def _with_source_label(
    stage: Stage, content: Sequence[Sequence[Any]], fields: Sequence[FieldSpec], shown_keys: Sequence[str]
) -> Given:
    told, keys = with_source_label(content, rewrite_options(stage.options), fields)
    added = [key for key in keys if key not in shown_keys]
    return Given(told, [*shown_keys, *added], dict.fromkeys(added, SOURCE_SAYS))


def _arranged(assignment: Assignment) -> dict[str, Any] | None:
    """How the tables of the item are arranged for their author; stored the first time it is asked."""
    stage, revision = assignment.stage, assignment.stage_item.revision
    known = assignment.shown
    # Of another revision, places of sections and rows mean something else.
    if known is not None and known.get("revision") == revision.pk:
        return dict(known)
    options = author_options(stage.options)
    if not options.debiases:
        return None
    seed = author_seed(stage.seed, assignment.person.pseudonym, revision.item.external_id)
    shown = what_to_show(revision.content, options, seed=seed) | {"revision": revision.pk}
    # Two tabs at once work out the same: the seed is made of who and what.
    Assignment.objects.filter(pk=assignment.pk).update(shown=shown)
    assignment.shown = shown
    return shown
