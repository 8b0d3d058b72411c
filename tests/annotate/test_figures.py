"""Words and rounding: what a reader sees of a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.templatetags import figures


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.8125, "81.2"),  # 81.25: half to even, as the tables of the papers
        (0.8375, "83.8"),
        (1.0, "100.0"),
        (0.0, "0.0"),
        (None, "undefined"),
        (-0.00001, "0.0"),  # a zero keeps no sign
    ],
)
def test_a_proportion_is_shown_in_per_cent(value: float | None, shown: str) -> None:
    assert figures.percent(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-0.118, "\u221211.8"), (0.124, "+12.4"), (0.0, "0.0"), (-0.0001, "0.0"), (0.0001, "0.0"), (None, "undefined")],
)
def test_a_difference_carries_its_sign_unless_it_rounds_to_zero(value: float | None, shown: str) -> None:
    assert figures.signed_percent(value) == shown


def test_undefined_is_never_shown_as_a_number() -> None:
    shown = [show(None) for show in (figures.percent, figures.coefficient, figures.p_value, figures.thousands)]
    assert shown == ["undefined"] * 4


def test_a_tiny_p_value_is_not_shown_as_zero() -> None:
    assert [figures.p_value(p) for p in (0.0004, 0.001, 0.0123)] == ["< 0.001", "0.001", "0.012"]


@pytest.mark.parametrize(
    ("lower", "upper", "style", "shown"),
    [
        (0.759, 0.856, "percent", "75.9 \u2013 85.6"),
        (-0.186, -0.052, "signed_percent", "\u221218.6 to \u22125.2"),
        (-0.1, 0.3, "coefficient", "\u22120.10 to 0.30"),  # a dash would read as another minus
        (None, 0.5, "percent", ""),
    ],
)
def test_an_interval_reads_like_its_value(lower: float | None, upper: float | None, style: str, shown: str) -> None:
    assert figures.span(lower, upper, style) == shown


def test_durations_name_their_units() -> None:
    assert [figures.duration(seconds) for seconds in (9, 72, 5400)] == ["9 s", "1 min 12 s", "1 h 30 min"]


def test_segments_follow_one_another_and_leave_out_empty_outcomes() -> None:
    # 30 and 20 of 200: 15 % and 10 %.
    placed = figures.segments([{"count": 30}, {"count": 0}, {"count": 20}], 200)
    assert [(part["x"], part["width"]) for part in placed] == [("0.0000", "15.0000"), ("15.0000", "10.0000")]


def test_segments_of_nothing_are_no_segments() -> None:
    assert figures.segments([{"count": 0}]) == []


@given(st.lists(st.integers(0, 10_000), max_size=8), st.integers(0, 5_000))
def test_a_bar_never_runs_out_of_its_frame(counts: list[int], total: int) -> None:
    for part in figures.segments([{"count": count} for count in counts], total):
        assert 0 <= float(part["x"]) <= 100
        assert float(part["width"]) >= 0
        assert float(part["x"]) + float(part["width"]) <= 100.001
