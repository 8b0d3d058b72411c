"""The prompt strategies by name: how many calls each takes for one answer, and what a run with it needs.

What they say stands in `evaluation.prompts`, under the same names; this is what pages, forms and services may know
without the library that writes prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from annotate.wording import _


@dataclass(frozen=True, slots=True)
class Strategy:
    """label: its name; about: what it does, for whoever chooses one.

    exemplars: whether a run must, may or cannot show some.
    stages: what each call is for, where their number is fixed.
    """

    label: str
    about: str
    exemplars: Literal["needed", "allowed", "none"] = "none"
    stages: tuple[str, ...] = (_("answer"),)

    @property
    def takes_several_calls(self) -> bool:
        return len(self.stages) > 1


STRATEGIES: dict[str, Strategy] = {
    "zero_shot": Strategy(_("zero-shot"), _("zero-shot: the question alone")),
    "few_shot": Strategy(_("few-shot"), _("few-shot: answered exemplars before the question"), exemplars="needed"),
    "zero_shot_cot": Strategy(
        _("zero-shot chain of thought"),
        _("zero-shot chain of thought: the model reasons step by step, then a second call asks it for the answer"),
        stages=(_("reasoning"), _("answer")),
    ),
}


def strategy_of(name: str) -> Strategy:
    """Of a run; one call for an answer where others than us decided how it is asked, as in imported logs."""
    return STRATEGIES.get(name) or Strategy(name.replace("_", "-"), "")
