"""Zero-shot: the instruction, then the question."""

from evaluation.prompts.strategies import Chat, strategy


@strategy("zero_shot", version=1)
def zero_shot(chat: Chat) -> None:
    chat.system()
    chat.question(chat.prompt.content)
