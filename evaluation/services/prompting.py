"""From rows to prompts: what of an item a model is shown, and with which exemplars.

The gold label of an evaluated item is never read here: only that of exemplars, which share nothing with what is
evaluated. Imports Jinja2, so whoever only changes the state of a run imports it late.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet

from annotate.answers import AnswerInvalid, FieldSpec, fields_for_item, fields_from_json
from annotate.exceptions import WorkNotPossible
from annotate.models import Gold, ItemRevision, ItemSet, ItemSetEntry, StageVersion
from annotate.wording import _
from evaluation.conversations import Item
from evaluation.models import Call, Endpoint, Run
from evaluation.parsing import PARSER_VERSION
from evaluation.prompts import (
    Exemplar,
    ExemplarOverlap,
    Message,
    Option,
    PromptInput,
    RenderFailure,
    Unit,
    as_plain_text,
    check_exemplars,
    default_wording,
    fingerprint,
    render_chunk,
    shown_content,
)
from evaluation.prompts.answer_wording import answer_form, kind_of_answer, written_answer
from evaluation.prompts.exemplars import shown_text
from evaluation.prompts.inputs import AnswerKind, ContentPairs, is_reply
from evaluation.strategies import strategy_of

# All of them stand in every prompt of the run, and are paid for with every item.
MAX_EXEMPLARS = 64
_NAMED = 5


def answered_field(version: StageVersion) -> FieldSpec:
    """The field a run answers: the first that decides. Explanations and later fields are asked of people only."""
    return next(field for field in fields_from_json(version.fields) if field.decides)


def has_captions(field: FieldSpec) -> bool:
    """Whether its options are called otherwise in other languages."""
    return any(option.captions for option in field.options)


@dataclass(frozen=True)
class Asking:
    """What is the same for every item of a run: the question, and the exemplars before it.

    field: as the form has it; beside an item it is what `field_for` gives. conversation, n_steps: kind and n_steps of
    `conversations.Item`.
    """

    field: FieldSpec
    shown_keys: Sequence[str]
    current_date: str
    language: str
    exemplars: tuple[Exemplar, ...] = ()
    conversation: str = "stages"
    n_steps: int = 1

    @property
    def kind(self) -> AnswerKind:
        return kind_of_answer(self.field)

    def field_for(self, content: ContentPairs, language: str) -> FieldSpec:
        """The field as people are asked beside an item: its columns, captions in its language."""
        if not self.field.columns_from and not has_captions(self.field):
            return self.field  # beside every item the same
        (field,) = fields_for_item((self.field,), content, language)
        return field

    def field_of(self, revision: ItemRevision) -> FieldSpec:
        return self.field_for(revision.content, revision.language)

    def of(self, revision: ItemRevision) -> PromptInput:
        """One item as the model may see it: the content that people are shown, in the same order, and no more."""
        field = self.field_of(revision)
        return PromptInput(
            content=shown_content(revision.content, self.shown_keys),
            caption=field.caption,
            kind=self.kind,
            options=_prompt_options(field),
            answer_form=answer_form(field),
            current_date=self.current_date,
            language=revision.language or self.language,
            exemplars=self.exemplars,
        )

    def item(self, revision: ItemRevision, chat: Sequence[Message]) -> Item:
        """One item with all that is said about it."""
        return Item(
            name=revision.item.external_id,
            field=self.field_of(revision),
            prompt=self.of(revision),
            chat=chat,
            kind=self.conversation,
            n_steps=self.n_steps,
        )


@dataclass(frozen=True)
class SamplePrompt:
    """A rendered prompt of a run, or why there is none. `was_sent`: from the stored call, word for word."""

    external_id: str
    messages: list[Message]
    failure: str = ""
    was_sent: bool = False


def asking_of(run: Run) -> Asking:
    """Raises WorkNotPossible if an exemplar has no gold label that can be shown as an answer."""
    field = answered_field(run.stage_version)
    project = run.project
    asking = Asking(
        field=field,
        shown_keys=run.stage_version.shown_keys,
        current_date=project.current_date,
        language=project.languages[0] if project.languages else "en",
        conversation=strategy_of(run.strategy).kind,
        n_steps=run.n_steps or 1,
    )
    if run.exemplar_set is None or strategy_of(run.strategy).exemplars == "none":
        return asking
    return replace(asking, exemplars=_exemplars(run.exemplar_set, asking))


def render_items(run: Run, asking: Asking, revisions: Iterable[ItemRevision]) -> list[list[Message] | RenderFailure]:
    """All that is said about each item, rendered in one child process with limits."""
    return render_chunk(run.strategy, [asking.of(revision) for revision in revisions])


def as_sent(messages: Sequence[Message], protocol: str) -> list[Message]:
    """The turns of one call: as one text where the server takes no chats."""
    return as_plain_text(messages) if protocol == Endpoint.Protocol.TEXT else list(messages)


def wording_hash(run: Run, asking: Asking) -> str:
    """SHA-256 of everything but the items that decides what is asked and how the answer is read.

    Frozen when the run starts and compared before every chunk: a form that is changed in place, an edited exemplar or
    an upgrade of the platform must not give one run two kinds of answers.
    """
    decided_by = {
        "prompts": fingerprint(run.strategy, default_wording(run.strategy, asking.kind)),
        "parser": PARSER_VERSION,
        "field": asking.field.to_json(),
        "shown_keys": list(asking.shown_keys),
        "current_date": asking.current_date,
        "language": asking.language,
        "exemplars": [[exemplar.content, exemplar.answer] for exemplar in asking.exemplars],
    }
    # Only where there is such a thing, so that runs of plain labels and short answers have the hash they always had.
    if form := answer_form(asking.field):
        decided_by["answer_form"] = form
    if has_captions(asking.field):
        decided_by["captions"] = "in the item's language"
    if run.n_steps is not None:
        decided_by["n_steps"] = run.n_steps
    if run.endpoint.protocol != Endpoint.Protocol.CHAT:
        decided_by["protocol"] = run.endpoint.protocol
    return hashlib.sha256(json.dumps(decided_by, sort_keys=True).encode()).hexdigest()


def refuse_overlap(run: Run) -> None:
    """Raises WorkNotPossible, naming culprits, if an exemplar shares its root or its text with an evaluated item."""
    if run.exemplar_set is None:
        return
    shown_keys = run.stage_version.shown_keys
    try:
        check_exemplars(_units(run.exemplar_set, shown_keys), _units(run.item_set, shown_keys))
    except ExemplarOverlap as overlap:
        raise WorkNotPossible(str(overlap)) from overlap


def sample_prompts(run: Run, n: int = 5) -> list[SamplePrompt]:
    """The first prompts of a run: as they were sent if it has begun, else as they would be. Raises WorkNotPossible."""
    sent = Call.objects.filter(prediction__run=run, prediction__repeat=0, step=0).order_by("prediction__position")
    stored = sent.values_list("prediction__revision__item__external_id", "messages")[:n]
    if found := [SamplePrompt(external_id, messages, was_sent=True) for external_id, messages in stored]:
        return found
    revisions = [entry.revision for entry in _entries(run.item_set)[:n]]
    rendered = render_items(run, asking_of(run), revisions)
    return [
        SamplePrompt(revision.item.external_id, [], failure=chat.message)
        if isinstance(chat, RenderFailure)
        else SamplePrompt(revision.item.external_id, _as_it_will_be_sent(chat, run.endpoint.protocol))
        for revision, chat in zip(revisions, rendered, strict=True)
    ]


def _as_it_will_be_sent(chat: Sequence[Message], protocol: str) -> list[Message]:
    """The turns of the first call as they are sent, and after them, one by one, what follows its reply."""
    n_first = next((n for n, message in enumerate(chat) if is_reply(message)), len(chat))
    return as_sent(chat[:n_first], protocol) + list(chat[n_first:])


def _entries(item_set: ItemSet) -> QuerySet[ItemSetEntry]:
    return item_set.entries.select_related("revision__item__root").order_by("position")


def _units(item_set: ItemSet, shown_keys: Sequence[str]) -> Iterable[Unit]:
    for entry in _entries(item_set).iterator(chunk_size=500):
        item = entry.revision.item
        text = shown_text(shown_content(entry.revision.content, shown_keys))
        yield Unit(name=item.external_id, root=str(item.root_id or item.pk), text=text)


def _exemplars(item_set: ItemSet, asking: Asking) -> tuple[Exemplar, ...]:
    if not 0 < item_set.n_items <= MAX_EXEMPLARS:
        raise WorkNotPossible(
            _(
                "%(name)s has %(n_items)s items; an exemplar set has 1 to %(max_exemplars)s, for all of them "
                "stand in every prompt.",
                name=item_set.name,
                n_items=f"{item_set.n_items:,}",
                max_exemplars=MAX_EXEMPLARS,
            )
        )
    entries = list(_entries(item_set))
    golds: dict[int, list[Any]] = dict(
        Gold.objects.filter(
            item__in=[entry.revision.item_id for entry in entries],
            field=asking.field.name,
            label_set="",
            is_current=True,
        ).values_list("item_id", "answers")
    )
    exemplars: list[Exemplar] = []
    without: list[str] = []
    for entry in entries:
        revision = entry.revision
        field = asking.field_of(revision)
        # Of several acceptable answers the first is shown: it is the one the source gives.
        answer = _shown_answer(field, next(iter(golds.get(revision.item_id, [])), None))
        if answer is None:
            without.append(revision.item.external_id)
        else:
            content = shown_content(revision.content, asking.shown_keys)
            exemplars.append(Exemplar(content, answer, answer_form(field), _prompt_options(field)))
    if without:
        more = f" and {len(without) - _NAMED} more" if len(without) > _NAMED else ""
        raise WorkNotPossible(
            _(
                "Exemplars need a gold label for “%(name)s” that the form knows; there is none for "
                "%(without)s%(more)s.",
                name=asking.field.name,
                without=", ".join(without[:_NAMED]),
                more=more,
            )
        )
    return tuple(exemplars)


def _prompt_options(field: FieldSpec) -> tuple[Option, ...]:
    """The options of a label question; other fields say in words what there is to choose from."""
    return tuple(Option(option.value, option.caption) for option in field.options) if field.type == "choice" else ()


def _shown_answer(field: FieldSpec, gold: Any) -> str | None:
    """A gold label as an exemplar shows it; None if the form does not know it."""
    if gold is None:
        return None
    if kind_of_answer(field) == "short_answer":
        return str(gold)
    try:
        return written_answer(field, gold)
    except AnswerInvalid:
        return None
