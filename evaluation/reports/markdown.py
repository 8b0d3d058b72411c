"""The report as Markdown: the same tables as the page, through a template of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation

from evaluation.reports import tables
from evaluation.reports.further_sections import further_sections


def report_markdown(
    *, title: str, manifest: Mapping[str, Any], figures: Sequence[Mapping[str, Any]], primary_scorer: str
) -> bytes:
    """UTF-8, GitHub-flavoured tables. Rounding and per cent are the template's."""
    context = {
        "title": title,
        "manifest": manifest,
        "main": tables.main_table(
            figures, scorers=[name for name, _ in manifest["scorers"]], primary_scorer=primary_scorer
        ),
        "comparisons": tables.comparisons_table(figures),
        "planning": tables.planning(figures),
        "leave_one_out": tables.leave_one_out_table(figures),
        "agreement": tables.agreement_table(figures),
        "agreement_parts": tables.agreement_part_tables(figures),
        "votes": tables.votes_table(figures),
        "outcomes": tables.outcomes_table(figures),
        "breakdowns": tables.breakdown_tables(figures),
        "sections": further_sections(figures, manifest, primary_scorer=primary_scorer),
    }
    # Files are in English, whoever asked for them.
    with translation.override(settings.LANGUAGE_CODE):
        return render_to_string("evaluation/report.md", context).encode()
