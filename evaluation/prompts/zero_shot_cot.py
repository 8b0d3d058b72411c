"""Zero-shot chain of thought, in two stages: the model reasons, and is then asked for the answer alone.

Source: Kojima et al. 2022, Large Language Models are Zero-Shot Reasoners; Pinocchio uses it so.
"""

from evaluation.prompts.strategies import Chat, strategy

CUE = "Let's think step by step."


@strategy("zero_shot_cot", version=1, wording="reasoned")
def zero_shot_cot(chat: Chat) -> None:
    chat.system()
    chat.question(chat.prompt.content, cue=CUE)
    chat.reply()
    chat.follow_up()
