"""Draws: who is drawn depends on seed and names alone, everybody equally often, and the set says how it was drawn."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.exceptions import WorkNotPossible
from annotate.models import Event
from annotate.sampling import draw_simple
from annotate.services.sampling import draw_item_set
from tests.factories import make_item, make_item_set, make_member, make_project


def test_the_smallest_lots_are_drawn():
    keys = ["a", "b", "c", "d"]
    lots = {key: hashlib.sha256(f"3:{key}".encode()).hexdigest() for key in keys}
    first, second = sorted(keys, key=lambda key: lots[key])[:2]
    assert draw_simple(keys, 2, seed=3) == sorted([keys.index(first), keys.index(second)])


@given(st.sets(st.text(max_size=5), min_size=1, max_size=30), st.integers(), st.data())
def test_a_draw_has_its_size_and_does_not_care_about_the_order(keys, seed, data):
    ordered = sorted(keys)
    n = data.draw(st.integers(1, len(ordered)))
    drawn = draw_simple(ordered, n, seed=seed)
    assert len(set(drawn)) == n
    assert drawn == sorted(drawn)
    backwards = ordered[::-1]
    assert {backwards[place] for place in draw_simple(backwards, n, seed=seed)} == {ordered[place] for place in drawn}


def test_everybody_is_drawn_equally_often():
    keys = [f"item-{n}" for n in range(10)]
    drawn = Counter(place for seed in range(2000) for place in draw_simple(keys, 3, seed=seed))
    # 2,000 draws of probability 3/10: 600 each, with a standard deviation of 20.5; five of them to either side.
    assert all(abs(drawn[place] - 600) < 103 for place in range(10))


@pytest.mark.parametrize(("keys", "n"), [(["a"], 2), (["a"], 0), ([], 1), (["a", "a"], 1)])
def test_what_cannot_be_drawn_is_refused(keys, n):
    with pytest.raises(ValueError, match=r"cannot draw|twice"):
        draw_simple(keys, n, seed=0)


@pytest.mark.django_db
def test_a_drawn_set_says_where_it_comes_from_and_with_what_chance():
    project = make_project()
    admin = make_member(project, "admin")
    items = [make_item(project) for _ in range(10)]
    population = make_item_set(project, items, name="all")
    drawn = draw_item_set(population=population, by=admin, name="four", n=4, seed=5)
    assert (drawn.n_items, drawn.n_population, drawn.seed) == (4, 10, 5)
    assert drawn.rule == {"kind": "draw", "from": population.pk, "from_name": "all", "method": "simple"}
    entries = list(drawn.entries.order_by("position").select_related("revision"))
    assert [entry.position for entry in entries] == [0, 1, 2, 3]
    assert {entry.inclusion_probability for entry in entries} == {0.4}
    places = draw_simple([item.external_id for item in items], 4, seed=5)
    assert [entry.revision.item_id for entry in entries] == [items[place].pk for place in places]
    assert Event.objects.get(verb="item_set.drawn").project_id == project.pk
    # Two of these four are two of ten: 2/10, not 2/4.
    again = draw_item_set(population=drawn, by=admin, name="two", n=2, seed=5)
    assert {entry.inclusion_probability for entry in again.entries.all()} == {0.2}


@pytest.mark.django_db
def test_a_draw_larger_than_its_set_or_of_a_taken_name_is_refused():
    project = make_project()
    admin = make_member(project, "admin")
    population = make_item_set(project, [make_item(project)], name="all")
    with pytest.raises(WorkNotPossible, match="2 items cannot be drawn from 1"):
        draw_item_set(population=population, by=admin, name="more", n=2, seed=0)
    with pytest.raises(WorkNotPossible, match="“all” already"):
        draw_item_set(population=population, by=admin, name="all", n=1, seed=0)
    assert project.item_sets.count() == 1
