"""What of an item somebody is shown, where a kind of stage shows it otherwise than it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from annotate.answers import FieldSpec, fields_for_item, fields_from_json
from annotate.auditing import label_words, labels_in
from annotate.debiasing import as_shown, author_seed, what_to_show
from annotate.models import Assignment, Audit, ItemRevision, Stage, StageItem, StageVersion
from annotate.rewriting import with_source_label
from annotate.services.candidates import content_beside
from annotate.stage_options import author_options, rewrite_options
from annotate.wording import _

SOURCE_SAYS = _("The source says")


class Beside(NamedTuple):
    """What is judged beside an item: an answer, frozen, without a word about who gave it.

    caption: what it answers. words: its acceptable values as people read them; of models' answers neither, for they are
    shown as they are stored. content: as it is stored (annotate/judging.py and auditing.py say how).
    """

    caption: str
    words: Sequence[str]
    content: Sequence[Sequence[Any]]


class Given(NamedTuple):
    """Content as it is shown, which of its keys, and captions of those that would not explain themselves.

    beside: what is judged; None where the item itself is answered.
    """

    content: Sequence[Sequence[Any]]
    shown_keys: Sequence[str]
    captions: Mapping[str, str] = {}
    beside: Beside | None = None


def given_to(assignment: Assignment, version: StageVersion) -> Given:
    """The one place that says what the person of an assignment sees, for the page and the API alike.

    A person who comes back to an item sees it as the first time: what an author was shown is stored.
    """
    content = assignment.stage_item.revision.content
    if assignment.stage.kind == Stage.Kind.REWRITE:
        return _with_source_label(assignment.stage, content, fields_from_json(version.fields), version.shown_keys)
    if assignment.stage.kind == Stage.Kind.AUTHOR:
        return Given(as_shown(content, _arranged(assignment)), version.shown_keys)
    if assignment.stage.kind == Stage.Kind.AUDIT:
        language = assignment.stage_item.revision.language
        beside = _label(assignment.stage, content_beside(assignment.stage_item_id), language)
        return Given(content, version.shown_keys, beside=beside)
    if assignment.stage.kind == Stage.Kind.JUDGE:
        return Given(content, version.shown_keys, beside=_answers(content_beside(assignment.stage_item_id)))
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
    if None in (stage.pk, revision.pk):
        return Given(revision.content, shown_keys)  # nothing was drawn for a stage or an item that is stored nowhere
    if stage.kind == Stage.Kind.AUDIT:
        place = StageItem.objects.filter(stage=stage, revision=revision).first()
        return Given(
            revision.content,
            shown_keys,
            beside=_label(stage, content_beside(place.pk), revision.language) if place else None,
        )
    if stage.kind == Stage.Kind.JUDGE:
        place = StageItem.objects.filter(stage=stage, revision=revision).order_by("rank").first()
        return Given(revision.content, shown_keys, beside=_answers(content_beside(place.pk)) if place else None)
    return Given(revision.content, shown_keys)


def _answers(content: Sequence[Sequence[Any]]) -> Beside | None:
    """The answer, or the two, that are judged: frozen as they are shown, so there is nothing to put in words."""
    return Beside("", [], content) if content else None


def _label(stage: Stage, content: Sequence[Sequence[Any]], language: str) -> Beside | None:
    """The label that is audited, in the words of its field at the draw."""
    audit = Audit.objects.filter(stage=stage).values_list("field", flat=True).first()
    if audit is None or not content:
        return None
    (spec,) = fields_for_item([FieldSpec.from_json(audit)], [], language)
    return Beside(spec.caption, label_words(spec, labels_in(content)), content)


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
