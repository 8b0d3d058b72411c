"""Which guidelines somebody knows: a change is told once."""

from __future__ import annotations

from annotate.models import Participation, Person, Stage


def tell_of_guidelines(*, stage: Stage, person: Person, guideline_id: int | None) -> None:
    """The person knows of these guidelines from now on, until there are others."""
    Participation.objects.filter(stage=stage, person=person).update(guidelines_known=guideline_id)
