"""Few-shot: the instruction, then each exemplar as a question that the model seems to have answered, then the question.

As turns rather than as one long text: an answer in an item's own text can then not pass for an exemplar.
"""

from evaluation.prompts.strategies import Chat, StrategyInputError, strategy


@strategy("few_shot", version=1)
def few_shot(chat: Chat) -> None:
    if not chat.prompt.exemplars:
        raise StrategyInputError("Few-shot needs exemplars, and this input has none.")
    chat.system()
    for exemplar in chat.prompt.exemplars:
        chat.question(exemplar.content, exemplar)
        chat.answer(exemplar.content, exemplar.answer)
    chat.question(chat.prompt.content)
