"""Dealing items into batches that mix domains, and people into groups: what holds whatever is dealt."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.allocation import deal, mix_domains
from annotate.models import Event, StageItem
from annotate.services import projects
from tests.factories import make_item, make_item_set, make_project, make_stage

DOMAINS = st.dictionaries(st.text(min_size=1, max_size=6), st.sampled_from("abcdefghijklmnopq"), max_size=120)
SEEDS = st.integers(0, 2**53 - 1)


@given(DOMAINS, SEEDS, st.integers(1, 13), st.integers(1, 4))
def test_every_item_stands_in_one_batch_that_mixes_domains(domains, seed, n_domains, per_domain):
    dealt = mix_domains(domains, seed=seed, n_domains=n_domains, per_domain=per_domain)
    assert sorted(dealt.keys) == sorted(domains)
    left = Counter(domains.values())
    for batch, width in zip(dealt.batches, dealt.n_domains, strict=True):
        found = Counter(domains[key] for key in batch)
        assert max(found.values()) <= per_domain
        # As many domains as asked for, or all that were left.
        assert len(found) == width == min(n_domains, len(left))
        for domain, n in found.items():
            assert n == min(per_domain, left[domain])
            left[domain] -= n
        left = +left
    assert not left


@given(DOMAINS, SEEDS)
def test_only_the_seed_and_the_items_decide(domains, seed):
    backwards = dict(reversed(domains.items()))
    assert mix_domains(domains, seed=seed) == mix_domains(backwards, seed=seed)


@given(DOMAINS, SEEDS)
def test_one_of_each_domain_comes_before_the_second_of_any(domains, seed):
    for batch in mix_domains(domains, seed=seed).batches:
        found = [domains[key] for key in batch]
        turns = [found[:place].count(domain) for place, domain in enumerate(found)]
        assert turns == sorted(turns)


def test_large_domains_do_not_remain_for_the_end():
    domains = {
        f"{domain}{n}": domain for domain, size in zip("abcdefgh", range(8, 0, -1), strict=True) for n in range(size)
    }
    dealt = mix_domains(domains, seed=3, n_domains=4, per_domain=2)
    assert [len(batch) for batch in dealt.batches[:3]] == [8, 8, 8]
    assert dict(dealt.short) == {"b": 7, "d": 5, "f": 3, "h": 1}


def test_another_seed_deals_otherwise():
    domains = {str(n): "abcd"[n % 4] for n in range(40)}
    assert mix_domains(domains, seed=1).keys != mix_domains(domains, seed=2).keys


@pytest.mark.parametrize("numbers", [{"n_domains": 0}, {"per_domain": 0}])
def test_a_batch_of_nothing_is_refused(numbers):
    with pytest.raises(ValueError):
        mix_domains({"a": "x"}, seed=1, **numbers)


@given(st.sets(st.text(min_size=1, max_size=5), max_size=40), SEEDS, st.integers(0, 12), st.integers(0, 12))
def test_groups_become_as_equal_as_those_that_had_one_allow(keys, seed, a, b):
    dealt = deal(sorted(keys), into=("A", "B"), seed=seed, sizes={"A": a, "B": b})
    assert dealt.keys() == keys
    got = Counter(dealt.values())
    sizes = (a + got["A"], b + got["B"])
    assert abs(sizes[0] - sizes[1]) <= max(1, abs(a - b) - len(keys))


def test_of_an_odd_number_a_lot_says_who_gets_one_more():
    larger = {Counter(deal(list("abc"), into=("A", "B"), seed=seed).values())["A"] for seed in range(30)}
    assert larger == {1, 2}


def test_nobody_is_dealt_twice_and_groups_have_names():
    with pytest.raises(ValueError):
        deal(["a", "a"], into=("A", "B"), seed=1)
    with pytest.raises(ValueError):
        deal(["a"], into=(), seed=1)


@pytest.mark.django_db
class TestQueueOfAnAuthorStage:
    def make(self, sizes: dict[str, int], **options):
        project = make_project()
        items = [
            make_item(project, [["table", "T"]], external_id=f"{domain}-{n}", strata=[["domain", domain]])
            for domain, size in sizes.items()
            for n in range(size)
        ]
        items.append(make_item(project, [["table", "T"]], external_id="alone"))
        stage = make_stage(
            project,
            kind="author",
            seed=7,
            options={"domain": "domain", "n_domains": 3, "per_domain": 2, **options},
            form=[{"name": "pairs", "type": "qa_pairs", "caption": "Write"}],
        )
        return stage, make_item_set(project, items)

    def domains(self, stage) -> list[str]:
        places = StageItem.objects.filter(stage=stage).order_by("rank")
        return [place.revision.item.external_id.partition("-")[0] for place in places]

    def test_items_come_in_batches_and_the_event_says_what_is_short(self):
        stage, item_set = self.make({"sport": 5, "film": 4, "ship": 2, "town": 1})
        assert projects.add_items_to_stage(stage=stage, item_set=item_set) == 13
        queue = self.domains(stage)
        assert Counter(queue[:6]) == {"sport": 2, "film": 2, "ship": 2}
        assert StageItem.objects.filter(stage=stage).count() == 13
        detail = Event.objects.get(verb="stage.items_added").detail
        assert detail["batches"][0] == 6
        assert sum(detail["batches"]) == 13
        assert (detail["seed"], detail["n_without_domain"]) == (7, 1)
        assert detail["short_domains"] == {"(none)": 1, "town": 1, "sport": 5}

    def test_adding_again_adds_nothing_and_what_is_new_stands_behind(self):
        stage, item_set = self.make({"sport": 2, "film": 1})
        projects.add_items_to_stage(stage=stage, item_set=item_set)
        assert projects.add_items_to_stage(stage=stage, item_set=item_set) == 0
        late = make_item(stage.project, [["table", "T"]], strata=[["domain", "sport"]], external_id="late-1")
        projects.add_items_to_stage(stage=stage, item_set=make_item_set(stage.project, [late]))
        assert self.domains(stage)[-1] == "late"

    def test_without_a_domain_the_order_of_the_set_stays(self):
        stage, item_set = self.make({"sport": 3, "film": 3}, domain="")
        projects.add_items_to_stage(stage=stage, item_set=item_set)
        assert self.domains(stage) == ["sport"] * 3 + ["film"] * 3 + ["alone"]
