"""Plan and solve, in two stages: the model makes a plan and carries it out, and is then asked for the answer alone.

Source: Wang et al. 2023, Plan-and-Solve Prompting; StrucText-Eval uses it.
"""

from evaluation.prompts.strategies import Chat, strategy

CUE = (
    "Let's first understand the question and devise a plan to answer it. "
    "Then let's carry out the plan and answer the question step by step."
)


@strategy("plan_and_solve", version=1, wording="reasoned")
def plan_and_solve(chat: Chat) -> None:
    chat.system()
    chat.question(chat.prompt.content, cue=CUE)
    chat.reply()
    chat.follow_up()
