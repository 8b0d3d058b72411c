"""Tables as their authors see them: without what everybody asks about, in an order of each author's own. Pure.

What was shown is stored with the assignment, and the same page is made of it again; who answers sees the whole table
in its stored order, else some questions could not be answered.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotate.answers import text_key
from annotate.sources.blocks import block_type
from annotate.stage_options import AuthorOptions

Shown = dict[str, Any]
_STEM = re.compile(r"^[^|\d]*")


def author_seed(stage_seed: int, pseudonym: str, external_id: str) -> int:
    """The seed of one person's order of one item; below 2**53, so that it survives every spreadsheet."""
    digest = hashlib.sha256(f"{stage_seed}/{pseudonym}/{external_id}".encode()).digest()
    return int.from_bytes(digest[:8]) >> 11


def what_to_show(content: Sequence[Sequence[Any]], options: AuthorOptions, *, seed: int) -> Shown:
    """What an author sees of the tables of an item, to be stored.

    {"seed": ..., "tables": {content key: {"order": [[section, [row, ...]], ...], "hidden": [[heading, key], ...]}}}:
    sections and rows by their places in the stored table; of what is hidden a section has no key.
    """
    rng = random.Random(seed)
    tables = {key: _table(value, options, rng) for key, value in content if block_type(value) == "table"}
    return {"seed": seed, "tables": tables}


def as_shown(content: Sequence[Sequence[Any]], shown: Shown | None) -> list[Sequence[Any]]:
    """The content as `what_to_show` has it; everything as stored where nothing was arranged."""
    tables: Mapping[str, Any] = (shown or {}).get("tables", {})
    return [[key, _arranged(value, tables[key]["order"]) if key in tables else value] for key, value in content]


def _table(table: Mapping[str, Any], options: AuthorOptions, rng: random.Random) -> dict[str, Any]:
    keys = {text_key(key) for key in options.hidden_keys}
    headings = {text_key(heading) for heading in options.hidden_sections}
    order: list[list[Any]] = []
    hidden: list[list[str]] = []
    groups = _groups(table["sections"]) if options.is_shuffled else [list(range(len(table["sections"])))]
    if options.is_shuffled:
        rng.shuffle(groups)
    for place in (place for group in groups for place in group):
        heading, rows = table["sections"][place]
        if heading and text_key(heading) in headings:
            hidden.append([heading])
            continue
        kept = [n for n, (key, _) in enumerate(rows) if text_key(key) not in keys]
        hidden += [[heading, key] for key, _ in rows if text_key(key) in keys]
        if options.is_shuffled:
            rng.shuffle(kept)
        # A heading of which every row is hidden would only ask for them.
        if kept or not rows:
            order.append([place, kept])
    return {"order": order, "hidden": hidden}


def _groups(sections: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Places of sections that stay together.

    A heading without rows names what follows ("Minister of Tourism", then twice "In office | ..."): it keeps the next
    section, and those after it that are headed alike. Moved apart, a term of office would stand under another office.
    """
    groups: list[list[int]] = []
    stem: str | None = None  # how the sections of the open group are headed; None: whatever comes next
    is_open = False
    for place, (heading, rows) in enumerate(sections):
        if is_open and (stem is None or (rows and stem and _stem(heading) == stem)):
            groups[-1].append(place)
            stem = _stem(heading) if rows else None
            continue
        groups.append([place])
        is_open, stem = not rows, None
    return groups


def _stem(heading: str) -> str:
    found = _STEM.match(heading)
    return text_key(found.group() if found else "")


def _arranged(table: Mapping[str, Any], order: Sequence[Sequence[Any]]) -> dict[str, Any]:
    sections = table["sections"]
    arranged = [[sections[place][0], [sections[place][1][row] for row in rows]] for place, rows in order]
    return {**table, "sections": arranged}
