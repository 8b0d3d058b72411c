"""The whole report as JSON: manifest, figures and how each item's vote ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.reports.csv import majority_rows


def report_json(
    *, title: str, manifest: Mapping[str, Any], figures: Sequence[Mapping[str, Any]], matrices: Mapping[str, Any]
) -> bytes:
    """UTF-8, indented, keys in their own order. An undefined number is null, and never NaN."""
    head, *rows = majority_rows(matrices)
    document = {
        "title": title,
        "manifest": manifest,
        "figures": figures,
        "votes": [dict(zip(map(str, head), row, strict=True)) for row in rows],
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False).encode() + b"\n"
