"""Self-consistency: each sample reasons and ends in its answer, after exemplars if there are any.

Pinocchio shows three. What the samples come to together is counted in `evaluation.conversations.votes`.
"""

from evaluation.prompts.strategies import Chat, strategy


@strategy("self_consistency", version=1, wording="reasoned_at_once")
def self_consistency(chat: Chat) -> None:
    chat.system()
    for exemplar in chat.prompt.exemplars:
        chat.question(exemplar.content, exemplar)
        chat.answer(exemplar.content, exemplar.answer)
    chat.question(chat.prompt.content)
