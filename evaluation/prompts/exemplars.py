"""Exemplars must not give away what is evaluated: no shared root, no shared text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from annotate.normal_form import normal_form
from evaluation.prompts.content import content_parts
from evaluation.prompts.inputs import ContentPairs

_SHOWN_CULPRITS = 5


@dataclass(frozen=True, slots=True)
class Unit:
    """An item as the overlap check sees it.

    name: its external id, for the message; root: the id of its topmost parent, table, database or duplicate group,
    or its own; text: see `shown_text`.
    """

    name: str
    root: str
    text: str


@dataclass(frozen=True, slots=True)
class Overlap:
    exemplar: str
    evaluated: str
    reason: str  # "same root" or "same text"


class ExemplarOverlap(ValueError):
    """Exemplars share a root or a text with evaluated items. `overlaps` lists every culprit; nothing was rendered."""

    http_status = 409

    def __init__(self, overlaps: tuple[Overlap, ...]) -> None:
        self.overlaps = overlaps
        shown = "; ".join(
            f"{overlap.exemplar} and {overlap.evaluated} ({overlap.reason})" for overlap in overlaps[:_SHOWN_CULPRITS]
        )
        n_more = len(overlaps) - _SHOWN_CULPRITS
        more = f"; and {n_more} more." if n_more > 0 else "."
        super().__init__(f"Exemplars must share nothing with the evaluated items: {shown}{more}")


def check_exemplars(exemplars: Iterable[Unit], evaluated: Iterable[Unit]) -> None:
    """Raises ExemplarOverlap if any exemplar shares its root or its folded text with any evaluated item.

    An item without text (nothing left after folding) shares no text with anything.
    """
    by_root: dict[str, list[Unit]] = {}
    by_text: dict[str, list[Unit]] = {}
    for exemplar in exemplars:
        by_root.setdefault(exemplar.root, []).append(exemplar)
        if text := folded(exemplar.text):
            by_text.setdefault(text, []).append(exemplar)
    overlaps: list[Overlap] = []
    for unit in evaluated:
        of_root = by_root.get(unit.root, [])
        overlaps += [Overlap(exemplar.name, unit.name, "same root") for exemplar in of_root]
        of_text = by_text.get(folded(unit.text), [])
        overlaps += [Overlap(exemplar.name, unit.name, "same text") for exemplar in of_text if exemplar not in of_root]
    if overlaps:
        raise ExemplarOverlap(tuple(overlaps))


def shown_text(content: ContentPairs) -> str:
    """All that an item shows, as one text: two questions in the same words about two tables are different items."""
    return "\n".join(part["text"] for part in content_parts(content))


def folded(text: str) -> str:
    """NFKC, casefolded, letters, digits and marks only: a missing question mark does not make another item."""
    return re.sub(r"[\W_]+", " ", normal_form("NFKC", text).casefold()).strip()
