"""One call, or a fixed number of them, each built on what the model said before; the last one gives the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotate.wording import _
from evaluation.clients.base import Completion, CompletionStatus
from evaluation.conversations.base import Ask, Item, Reading, Reply
from evaluation.conversations.reading import read_answer, without_answer
from evaluation.prompts.inputs import Message, is_reply


def read(item: Item, step: int, completion: Completion) -> Reading:
    """Of the last step its answer. A former one ends the conversation only if there is nothing to go on with.

    Reasoning that the token limit ended is still reasoning: the answer is asked for all the same.
    """
    if step == n_replies(item.chat):
        return read_answer(item.field, completion, item.language)
    if completion.status == CompletionStatus.REFUSED or not Reply(completion.text, Reading("")).said:
        return without_answer(completion) or Reading("empty", _("The completion holds nothing but hidden reasoning."))
    return Reading("")


def following(item: Item, replies: Sequence[Reply]) -> Ask | Reading:
    if replies and replies[-1].reading.state:
        return replies[-1].reading
    return Ask(filled(item.chat, [reply.said for reply in replies]))


def n_replies(chat: Iterable[Message]) -> int:
    """How often the model speaks in between."""
    return sum(is_reply(message) for message in chat)


def filled(chat: Iterable[Message], said: Sequence[str]) -> list[Message]:
    """The chat with these replies in place, up to the next one."""
    messages: list[Message] = []
    left = iter(said)
    for message in chat:
        if not is_reply(message):
            messages.append(message)
        elif (words := next(left, None)) is not None:
            messages.append(Message(role="assistant", content=words))
        else:
            break
    return messages
