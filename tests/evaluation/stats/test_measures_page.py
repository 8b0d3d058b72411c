"""docs/measures.md describes every number that the project computes."""

import inspect
import re
from pathlib import Path

import pytest

from evaluation import stats
from evaluation.scorers import SCORERS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "measures.md"
FUNCTIONS = [name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))]


@pytest.mark.parametrize("name", [*SCORERS, *FUNCTIONS])
def test_the_page_has_a_section_for(name):
    headings = re.findall(r"^#+ .*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert any(f"`{name}`" in heading for heading in headings), f"docs/measures.md has no heading with `{name}`"


@pytest.mark.parametrize("name", SCORERS)
def test_the_page_tells_the_version_of(name):
    assert f"`{name}` (version {SCORERS[name].version})" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "reason",
    [stats.NO_PAIRS, stats.NO_VARIATION, stats.NO_TRIALS, stats.TOO_FEW, stats.ZERO_VARIANCE, stats.NO_DISCORDANT],
)
def test_the_page_explains_why_a_figure_is_undefined(reason):
    assert f"`{reason}`" in PAGE.read_text(encoding="utf-8")
