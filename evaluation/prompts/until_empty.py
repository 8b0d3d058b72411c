"""Until empty: a table, and more of its rows after each reply. What is said to one that cannot be read stands last.

How the rounds end is decided in `evaluation.conversations.rounds`.
"""

from evaluation.prompts.strategies import Chat, strategy


@strategy("until_empty", version=1, wording="in_rounds")
def until_empty(chat: Chat) -> None:
    chat.system()
    chat.question(chat.prompt.content)
    chat.reply()
    chat.follow_up(0)
    chat.reply()
    chat.follow_up(1)
