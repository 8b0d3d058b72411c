"""The page of an item that nobody has begun, filled into a frame that is made once.

From one item of a stage to the next the page differs in a dozen places: the item, addresses, tokens. To render the
rest anew was a quarter of what an answer cost. There is one template for both ways: the frame is the template of the
item, rendered with a mark in each of those places.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from annotate.answers import get_field_type
from annotate.services.counting import Progress
from config.csrf import masked_token

TEMPLATE = "annotate/partials/item.html"

# With any of these an item is not simply the next one, and its page is rendered as a whole.
OF_OTHER_PAGES = (
    *("empty", "form_error", "revising", "qualification", "guidelines", "has_new_guidelines", "answers"),
    *("beside", "evidence", "gives_hints", "n_drawn"),
)
# What a page has in common with that of the next item; of mappings, only what is named here.
SAME: dict[str, tuple[str, ...]] = {
    "project": ("slug", "current_date"),
    "stage": ("is_closed_book", "permitted_sources", "time_limit_seconds"),
    "flags": ("is_flagged",),
}
SAME_TEXTS = ("instruction", "guideline_version", "pins", "stage_version", "skip_options")
# No text has one: forms, imports and the API refuse it.
MARK = re.compile("\x00([^\x00]+)\x00")


class Mark(SafeString):
    """What stands in a frame for a value; put into a format, for the value in that format."""

    def __format__(self, form: str) -> str:
        return f"{self[:-1]}:{form}\x00" if form else str(self)


def fresh_item(request: HttpRequest, context: Mapping[str, Any]) -> SafeString | None:
    """The fragment for the page's script; None where it must be rendered as a whole.

    context: of annotate/work.html.
    """
    if any(context.get(name) for name in OF_OTHER_PAGES) or not context["is_open"]:
        return None
    if not all(_is_untouched(field) for field in context["fields"]):
        return None
    item, in_root, last = context["item"], context["in_root"], context["last_answer"]
    same: dict[str, Any] = {name: {key: _of(context[name], key) for key in keys} for name, keys in SAME.items()}
    same |= {name: context[name] for name in SAME_TEXTS}
    same["fields"] = [
        {"spec": field["spec"], "value": field["value"], "error": "", "name": field["name"]}
        for field in context["fields"]
    ]
    same["item"] = {"blocks": bool(item["blocks"])}
    same["request"] = {"htmx": True}
    same["in_root"] = in_root and {name: in_root[name] for name in ("position", "n", "is_table")}
    each = {
        "assignment.token": context["assignment"].token,
        "assignment.draft_version": str(context["assignment"].draft_version),
        **{f"addresses.{name}": address for name, address in context["addresses"].items()},
        **{f"item.{name}": item[name] for name in ("headline", "external_id", "language")},
        "item.content": render_to_string("annotate/partials/content.html", {"item": item}) if item["blocks"] else "",
        **({"in_root.root": str(in_root["root"])} if in_root else {}),
        **({f"last_answer.{name}": last[name] for name in ("summary", "url")} if last else {}),
        "flags.note": context["flags"]["note"],
        "attention": context["attention"],
        "active_seconds": str(context["active_seconds"] or ""),
        "person_token": context["person_token"],
        "client_key": context["client_key"],
        "csrf_token": masked_token(request),
        **_counts_of(context["progress"]),
    }
    return framed(TEMPLATE, same, each)


def _counts_of(progress: Progress) -> dict[str, str]:
    """As the template writes them: in attributes as they are, in words with separators. A total of 0 is none."""
    counts = {"mine_done": progress.mine_done, "mine_total": progress.mine_total}
    written = {f"progress.{name}": str(n) if n or name == "mine_done" else "" for name, n in counts.items()}
    return written | {f"progress.{name}:,": f"{n:,}" for name, n in counts.items()}


def framed(template: str, same: Mapping[str, Any], each: Mapping[str, str]) -> SafeString:
    """The template as it is rendered with both; it is rendered once for all that have `same` in common.

    each: values by dotted names, which the template may only put out or test for being empty; behind a colon the format
    of one that it puts out in a format. A name in neither is empty: whatever a frame is made of is named here, so that
    nobody's page can keep what was another's.
    """
    given = tuple((name, bool(value)) for name, value in each.items() if ":" not in name)
    parts = list(_frame(template, get_language(), _frozen(same), given))
    escaped = {name: value if isinstance(value, SafeString) else html.escape(value) for name, value in each.items()}
    parts[1::2] = [escaped[name] for name in parts[1::2]]
    return SafeString("".join(parts))


@lru_cache(maxsize=256)
def _frame(template: str, language: str, same: Any, given: tuple[tuple[str, bool], ...]) -> tuple[str, ...]:
    """Text, name, text, name, ..., text. language: the active one, in which it is rendered.

    given: each name, and whether it has a value: what is empty decides how the page looks.
    """
    context = _thawed(same)
    for name, has_value in given:
        *path, last = name.split(".")
        inner = context
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = Mark(f"\x00{name}\x00") if has_value else ""
    return tuple(MARK.split(render_to_string(template, context)))


def _is_untouched(field: Mapping[str, Any]) -> bool:
    """Nothing typed, nothing said about it, and the same beside every item: some tables have columns of their own."""
    spec = field["spec"]
    is_empty = field["value"] == get_field_type(spec.type).to_form(None, spec)
    return is_empty and not (field["error"] or field["reading"] or spec.columns_from)


def _of(row: Any, name: str) -> Any:
    return row[name] if isinstance(row, Mapping) else getattr(row, name)


def _frozen(value: Any) -> Any:
    """Dictionaries and lists as pairs of a type and a tuple, which can be the key of a cache."""
    if isinstance(value, dict):
        return dict, tuple((name, _frozen(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return list, tuple(_frozen(inner) for inner in value)
    return value


def _thawed(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    kind, inner = value
    return {name: _thawed(one) for name, one in inner} if kind is dict else [_thawed(one) for one in inner]
