"""docs/measures.md describes every number that the project computes."""

import inspect
import re
from pathlib import Path

import pytest

from annotate.answers import FIELD_TYPES, KEY_VERSION
from annotate.answers.meaning import KINDS, short_answer_key
from evaluation import stats
from evaluation.parsing import ParseStatus, loose_json, tables
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


@pytest.mark.parametrize("name", FIELD_TYPES)
def test_the_page_says_when_two_answers_of_a_field_are_one(name):
    rows = _rows_under("When two answers are one")
    assert [row for row in rows if f"`{name}`" in row[0]], f"no row for {name}"
    assert f"version of its keys ({KEY_VERSION})" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_has_examples_of_every_kind_of_key_that_are_one_answer(kind):
    *_, row = [row for row in _rows_under("When two answers are one") if row[0] == f"`{kind}`"]
    # Semicolons stand between sets of equal answers; those of a list and a moment contain commas themselves.
    has_commas = kind in {"list", "moment"}
    sets = [row[2].split("; ")] if has_commas else [examples.split(", ") for examples in row[2].split("; ")]
    for examples in sets:
        (key,) = {short_answer_key(example) for example in examples}
        assert key.startswith(f"{kind}:") or (kind == "text" and ":" not in key)


@pytest.mark.parametrize("status", [status for status in ParseStatus if status != ParseStatus.OK])
def test_the_page_explains_how_a_completion_is_unparsed(status):
    assert f"`{status}`" in PAGE.read_text(encoding="utf-8")


def test_the_page_names_every_repair_of_a_table():
    sources = {module: Path(module.__file__).read_text(encoding="utf-8") for module in (tables, loose_json)}
    said = {flag for source in sources.values() for flag in re.findall(r'flags\.add\("(\w+)"\)', source)}
    said |= set(re.findall(r'{"(\w+)"[,}]', sources[tables]))
    assert len(said) > 15
    text = PAGE.read_text(encoding="utf-8")
    assert sorted(flag for flag in said if f"`{flag}`" not in text) == []


def _rows_under(heading: str) -> list[list[str]]:
    """The cells of all table rows in a section."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
