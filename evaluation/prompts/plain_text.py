"""A chat as one text, for models that only go on writing: base models, and servers with text completions alone."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.prompts.inputs import Message

BETWEEN_TURNS = "\n\n"


def as_plain_text(chat: Sequence[Message]) -> list[Message]:
    """One turn whose content is sent as it stands: all turns in their order, a blank line between and after them.

    Nothing names the roles: an exemplar is a question and its answer, and the model goes on after the last question.
    """
    text = "".join(message["content"].strip("\n") + BETWEEN_TURNS for message in chat)
    return [Message(role="user", content=text)]
