"""The prompt strategies by name: how many calls each takes for one answer, and what a run with it needs.

What they say stands in `evaluation.prompts`, under the same names; this is what pages, forms and services may know
without the library that writes prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from annotate.wording import _


@dataclass(frozen=True, slots=True)
class Steps:
    """How many calls a run allows for each answer, where that is its own to say: from, usually, to."""

    label: str
    least: int
    usual: int
    most: int


@dataclass(frozen=True, slots=True)
class Strategy:
    """label: its name; about: what it does, for whoever chooses one.

    kind: how its calls come to an answer, see `evaluation.conversations`. stages: what each call is for, where their
    number is fixed; steps: where it is the run's. exemplars: whether a run must, may or cannot show some.
    field_types: of the questions it is for, all if empty. by_chance: its calls must be able to differ.
    """

    label: str
    about: str
    kind: Literal["stages", "votes", "rounds"] = "stages"
    stages: tuple[str, ...] = (_("answer"),)
    steps: Steps | None = None
    exemplars: Literal["needed", "allowed", "none"] = "none"
    field_types: frozenset[str] = frozenset()
    by_chance: bool = False

    @property
    def takes_several_calls(self) -> bool:
        return len(self.stages) > 1 or self.steps is not None

    def n_calls(self, n_steps: int | None) -> tuple[int, int | None]:
        """The calls for an answer, at least and at most; None where no number bounds them."""
        if self.kind == "stages":
            return len(self.stages), len(self.stages)
        return (n_steps or 1, n_steps) if self.kind == "votes" else (1, None)


STRATEGIES: dict[str, Strategy] = {
    "zero_shot": Strategy(_("zero-shot"), _("zero-shot: the question alone")),
    "few_shot": Strategy(_("few-shot"), _("few-shot: answered exemplars before the question"), exemplars="needed"),
    "zero_shot_cot": Strategy(
        _("zero-shot chain of thought"),
        _("zero-shot chain of thought: the model reasons step by step, then a second call asks it for the answer"),
        stages=(_("reasoning"), _("answer")),
    ),
    "plan_and_solve": Strategy(
        _("plan and solve"),
        _("plan and solve: the model plans and carries out its plan, then a second call asks it for the answer"),
        stages=(_("plan and reasoning"), _("answer")),
    ),
    "self_refine": Strategy(
        _("refinement"),
        _("refinement: the model answers, judges its answer in a second call, and answers anew in a third"),
        stages=(_("first answer"), _("judgement of it"), _("answer")),
    ),
    "self_consistency": Strategy(
        _("self-consistency"),
        _("self-consistency: several samples reason and answer, and the answers vote; exemplars if you like"),
        kind="votes",
        steps=Steps(_("Samples"), least=2, usual=5, most=50),
        exemplars="allowed",
        by_chance=True,
    ),
    "until_empty": Strategy(
        _("until empty"),
        _("until empty: for tables; asks for more rows after each reply, until there are none"),
        kind="rounds",
        steps=Steps(_("Rounds at most"), least=1, usual=10, most=50),
        field_types=frozenset({"table"}),
    ),
}


def strategy_of(name: str) -> Strategy:
    """Of a run; one call for an answer where others than us decided how it is asked, as in imported logs."""
    return STRATEGIES.get(name) or Strategy(name.replace("_", "-"), "")
