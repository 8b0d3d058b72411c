"""Words and rounding. Everything below the templates keeps proportions; only here do they become per cent.

An undefined number arrives as None and is shown as "undefined", never as 0 or as an empty cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from django import template

from annotate.wording import _, said

register = template.Library()

UNDEFINED = _("undefined")
MINUS = "\u2212"
EN_DASH = "\u2013"


@register.filter
def percent(value: float | None, digits: int = 1) -> str:
    """0.8125 -> "81.2". The unit stands in the head of the column."""
    return UNDEFINED if value is None else _rounded(value * 100, digits)


@register.filter
def signed_percent(value: float | None, digits: int = 1) -> str:
    """A difference of proportions in percentage points, with its sign: -0.118 -> "−11.8", 0.124 -> "+12.4"."""
    if value is None:
        return UNDEFINED
    text = _rounded(value * 100, digits)
    return text if text.startswith(MINUS) or not text.strip("0.") else f"+{text}"


@register.filter
def coefficient(value: float | None, digits: int = 2) -> str:
    """A coefficient in [-1, 1] as it is printed in papers: 0.8 -> "0.80"."""
    return UNDEFINED if value is None else _rounded(value, digits)


@register.filter
def p_value(value: float | None) -> str:
    """0.0123 -> "0.012"; below a thousandth only that is said."""
    if value is None:
        return UNDEFINED
    return "< 0.001" if value < 0.001 else _rounded(value, 3)


@register.simple_tag
def span(lower: float | None, upper: float | None, style: str = "percent") -> str:
    """An interval in the style of its value: percent "75.9 – 85.6", signed_percent "−18.6 to −5.2", coefficient."""
    if lower is None or upper is None:
        return ""
    show = {"percent": percent, "signed_percent": signed_percent, "coefficient": coefficient}[style]
    # A dash between signed numbers would read as a third minus.
    if style == "signed_percent" or lower < 0:
        return said(_("%(lower)s to %(upper)s", lower=show(lower), upper=show(upper)))
    return f"{show(lower)} {EN_DASH} {show(upper)}"


@register.filter
def thousands(value: int | None) -> str:
    """1851 -> "1,851"."""
    return UNDEFINED if value is None else f"{value:,}".replace("-", MINUS)


@register.filter
def duration(seconds: float | None) -> str:
    """72 -> "1 min 12 s", 5400 -> "1 h 30 min"."""
    if seconds is None:
        return UNDEFINED
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return _("%(hours)s h %(minutes)s min", hours=hours, minutes=minutes)
    if minutes:
        return _("%(minutes)s min %(seconds)s s", minutes=minutes, seconds=rest)
    return _("%(seconds)s s", seconds=rest)


@register.filter
def segments(outcomes: Iterable[dict[str, Any]], total: int | None = None) -> list[dict[str, Any]]:
    """Outcomes {count, ...} with x and width in per cent of `total` (else of their sum), for an SVG bar.

    Attributes of SVG, because the content security policy refuses style attributes. Counts beyond the total
    (an overlap that was lowered) are clipped at 100: a bar never runs out of its frame.
    """
    rows: Sequence[dict[str, Any]] = [row for row in outcomes if row["count"] > 0]
    whole = total or sum(row["count"] for row in rows)
    placed, before = [], 0
    for row in rows:
        x = min(100.0, 100 * before / whole)
        before += row["count"]
        # Formatted here: a locale with decimal commas would break the attribute.
        placed.append({**row, "x": f"{x:.4f}", "width": f"{min(100.0, 100 * before / whole) - x:.4f}"})
    return placed


def _rounded(value: float, digits: int) -> str:
    text = str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN))
    # "-0.0" is a zero that remembers where it came from.
    return text.replace("-", MINUS) if text.strip("-0.") else text.lstrip("-")
