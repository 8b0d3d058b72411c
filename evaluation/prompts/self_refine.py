"""Refinement, in three stages: the model answers, judges its answer, and answers again in the light of that.

Source: Madaan et al. 2023, Self-Refine; Pinocchio goes on until no refinement is needed, here there is one.
"""

from evaluation.prompts.strategies import Chat, strategy


@strategy("self_refine", version=1, wording="refined")
def self_refine(chat: Chat) -> None:
    chat.system()
    chat.question(chat.prompt.content)
    chat.reply()
    chat.follow_up(0)
    chat.reply()
    chat.follow_up(1)
