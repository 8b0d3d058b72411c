"""An item as it is shown: the headline and the blocks of the keys that a stage lists. No Django here.

What a stage does not list is not shown: the work page, the previews, the side-by-side page and the API read items here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict


class Block(TypedDict):
    key: str
    caption: str
    value: Any


class ShownItem(TypedDict):
    """headline: what is asked, as text ("" where the first shown value is a table or the like). blocks: the rest."""

    external_id: str
    language: str
    headline: str
    blocks: list[Block]


def shown_pairs(content: Iterable[Sequence[Any]], shown_keys: Sequence[str]) -> list[tuple[str, Any]]:
    """The shown keys that the item has, in the order of `shown_keys`, with their values."""
    values: dict[str, Any] = {pair[0]: pair[1] for pair in content}
    return [(key, values[key]) for key in shown_keys if key in values]


def shown_item(
    *,
    external_id: str,
    language: str,
    content: Iterable[Sequence[Any]],
    shown_keys: Sequence[str],
    captions: Mapping[str, str] | None = None,
) -> ShownItem:
    """The item's values in the order of `shown_keys`; a key that it does not have is passed over.

    A single block needs no caption: its key would only repeat what is seen. captions: of keys that need their own.
    """
    values = dict(shown_pairs(content, shown_keys))
    present = list(values)
    first = values[present[0]] if present else None
    headline = str(first) if isinstance(first, str | int | float) and not isinstance(first, bool) else ""
    rest = present[1:] if headline else present
    return {
        "external_id": external_id,
        "language": language,
        "headline": headline,
        "blocks": [
            {
                "key": key,
                "caption": (captions or {}).get(key) or (key.replace("_", " ") if len(rest) > 1 else ""),
                "value": values[key],
            }
            for key in rest
        ],
    }
