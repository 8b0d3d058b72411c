"""Questions about tables: what their authors see, what is stored of it, and where the questions go."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotate.debiasing import as_shown, author_seed, what_to_show
from annotate.models import Annotation, Assignment, Gold, Item, StageItem
from annotate.person_token import person_token
from annotate.services import feeds, resolving
from annotate.sources.blocks import infobox
from annotate.stage_options import AuthorOptions
from tests.api_client import ApiClient
from tests.factories import SHORT_ANSWER, make_item, make_member, make_project, make_stage, make_stage_item

PAIRS = [{"name": "pairs", "type": "qa_pairs", "caption": "Three questions with answers", "min": 3, "max": 3}]
OPTIONS = {"hidden_keys": ["Born"], "hidden_sections": ["Olympics"], "is_shuffled": True}
TABLE = infobox(
    {
        "Name": "Ada",
        "Born": "1815",
        "Club": "Rovers",
        "Career": {"Years": "1830–1840", "born ": "x", "Cups": ["12", "13"]},
        "Olympics": {"Gold": "2"},
        "Minister of Tourism": {},
        "In office | 2001": {"President": "P"},
        "In office | 1996": {"President": "Q"},
        "Personal": {"Height": "1.80"},
    },
    title="Ada",
)
CONTENT = [["table", TABLE], ["note", "a text"]]
# Awkward real ones (seeds-data.md, section 8): leaked style text, a key that is an essay, rows without values,
# right-to-left headings, three scripts in a heading, durations that age, direction icons as words.
AWKWARD = (702, 1056, 410, 892, 429, 452, 248)


def rows_of(table) -> list[tuple[str, str]]:
    return [(heading, key) for heading, rows in table["sections"] for key, _ in rows]


class TestWhatAuthorsSee:
    def shown(self, seed: int = 5, **options):
        stored = what_to_show(CONTENT, AuthorOptions(**options), seed=seed)
        return dict(as_shown(CONTENT, stored))["table"], stored

    def test_popular_rows_and_sections_are_hidden_and_named(self):
        table, stored = self.shown(hidden_keys=("BORN",), hidden_sections=("olympics",))
        assert [heading for heading, _ in table["sections"]] == [
            *("", "Career", "Minister of Tourism", "In office | 2001", "In office | 1996", "Personal")
        ]
        assert ("", "Born") not in rows_of(table)
        assert stored["tables"]["table"]["hidden"] == [["", "Born"], ["Career", "born "], ["Olympics"]]

    def test_without_options_everything_stands_as_it_is_stored(self):
        assert self.shown()[0] == TABLE
        assert as_shown(CONTENT, None) == CONTENT

    def test_a_section_of_which_nothing_is_left_is_not_announced(self):
        table, _ = self.shown(hidden_keys=("Height",))
        assert "Personal" not in [heading for heading, _ in table["sections"]]

    @given(st.integers(0, 2**53 - 1))
    def test_a_shuffled_table_has_the_same_rows_and_what_belongs_together_stays(self, seed):
        table, _ = self.shown(seed, is_shuffled=True)
        assert sorted(rows_of(table)) == sorted(rows_of(TABLE))
        headings = [heading for heading, _ in table["sections"]]
        at = headings.index("Minister of Tourism")
        assert headings[at + 1 : at + 3] == ["In office | 2001", "In office | 1996"]

    def test_the_seed_decides_and_orders_differ(self):
        orders = {json.dumps(self.shown(seed, is_shuffled=True)[1]["tables"]) for seed in range(20)}
        assert len(orders) > 10
        assert self.shown(3, is_shuffled=True) == self.shown(3, is_shuffled=True)

    def test_seeds_are_of_who_and_what(self):
        seeds = {author_seed(stage, who, item) for stage in (1, 2) for who in ("P-1", "P-2") for item in ("a", "b")}
        assert len(seeds) == 8
        assert max(seeds) < 2**53

    @pytest.mark.shared_data
    @pytest.mark.parametrize("number", AWKWARD)
    def test_awkward_real_tables_lose_nothing_but_what_is_hidden(self, number, shared_path):
        raw = json.loads(shared_path(f"data/temptabqa/tables/json/{number}.json").read_text(encoding="utf-8"))
        content = [["table", infobox(raw)]]
        options = AuthorOptions(hidden_keys=("Born", "Died", "Years active"), is_shuffled=True)
        stored = json.loads(json.dumps(what_to_show(content, options, seed=number)))
        whole, table = content[0][1], as_shown(content, stored)[0][1]
        gone = stored["tables"]["table"]["hidden"]
        assert len(rows_of(table)) + len(gone) == len(rows_of(whole))
        kept = [json.dumps([heading, row]) for heading, rows in table["sections"] for row in rows]
        known = [json.dumps([heading, row]) for heading, rows in whole["sections"] for row in rows]
        assert set(kept) <= set(known)


@pytest.fixture
def study(db):
    class Study:
        project = make_project()
        author = make_stage(
            project, form=PAIRS, kind="author", shown_keys=["table"], order="sequential", overlap=2, options=OPTIONS
        )
        answer = make_stage(
            project, form=SHORT_ANSWER, kind="answer", shown_keys=["question", "table"], order="sequential", overlap=3
        )

        def add(self, table=TABLE, **fields) -> Item:
            item = make_item(self.project, [["table", table]], **fields)
            make_stage_item(self.author, item)
            return item

        def visit(self, person, stage=None) -> str:
            client = Client()
            client.force_login(person)
            address = reverse("work", args=[self.project.slug, (stage or self.author).slug])
            return client.get(address).content.decode()

        def send(self, person, pairs, address="work-submit", **more):
            client = Client()
            client.force_login(person)
            held = Assignment.objects.filter(person=person).order_by("-pk").first()
            sent = {
                "person": person_token(person),
                "client_key": f"key-{held.pk}",
                "pairs.question": [question for question, _ in pairs],
                "pairs.answer": [answer for _, answer in pairs],
            }
            return client.post(reverse(address, args=[held.token]), sent | more)

    study = Study()
    feeds.set_feed(
        source=study.author, target=study.answer, by=None, recipe=feeds.offered_recipe(study.author, study.answer)
    )
    return study


THREE = [("When did Ada start?", "1830"), ("Which club?", "Rovers"), ("How tall is she", "1.80 m")]


def headings(page: str) -> list[str]:
    return re.findall(r'<th scope="row" dir="auto">([^<]*)</th>', page)


def test_each_author_sees_an_order_of_their_own_and_the_same_again(study):
    study.add()
    first, second = make_member(study.project), make_member(study.project)
    seen = study.visit(first)
    assert "Olympics" not in seen
    assert "Born" not in headings(seen)
    shown = Assignment.objects.get(person=first).shown
    assert shown["tables"]["table"]["hidden"][0] == ["", "Born"] or ["", "Born"] in shown["tables"]["table"]["hidden"]
    assert headings(study.visit(first)) == headings(seen)
    study.visit(second)
    assert Assignment.objects.get(person=second).shown["seed"] != shown["seed"]
    # By a program, too.
    held = ApiClient(first, "work").post(f"work/{study.project.slug}/{study.author.slug}/next/").json()["held"]
    table = dict(held["item"]["content"])["table"]
    assert [key for _, rows in table["sections"] for key, _ in rows] == headings(seen)


def test_an_item_taken_again_after_its_lease_ran_out_looks_as_before(study):
    study.add()
    person = make_member(study.project)
    before = headings(study.visit(person))
    assignment = Assignment.objects.get()
    Assignment.objects.update(state="expired", slot=None)
    StageItem.objects.filter(stage=study.author).update(active=0)
    assert headings(study.visit(person)) == before
    # Other options from now on change nothing for somebody who has seen it.
    study.author.options = {}
    study.author.save()
    assert headings(study.visit(person)) == before
    assert Assignment.objects.get().pk == assignment.pk


def test_pairs_become_items_that_stand_together_and_are_answered_from_the_whole_table(study):
    parents = [study.add(external_id="t1"), study.add(external_id="t2")]
    authors = [make_member(study.project) for _ in range(2)]
    # Two authors by turns: what they write about one table stands together all the same.
    for _ in parents:
        for person in authors:
            study.visit(person)
            assert study.send(person, THREE).status_code == 302
            resolving.resolve_due()
    queue = StageItem.objects.filter(stage=study.answer).order_by("rank").select_related("revision__item")
    assert [place.revision.item.parent_id for place in queue] == [parents[0].pk] * 6 + [parents[1].pk] * 6
    assert [item.external_id for item in Item.objects.filter(parent=parents[0]).order_by("pk")][:2] == ["t1/1", "t1/2"]
    golds = Gold.objects.filter(item__parent=parents[0]).order_by("pk").values_list("field", "answers", "origin")
    assert golds[0] == ("answer", ["1830"], "author")
    reader = make_member(study.project)
    page = study.visit(reader, study.answer)
    assert "When did Ada start?" in page
    assert headings(page) == [key for _, rows in TABLE["sections"] for key, _ in rows]
    assert Assignment.objects.get(person=reader).shown is None
    # The author of a question does not answer it.
    assert "When did Ada start?" in study.visit(authors[0], study.answer)
    held = Assignment.objects.get(person=authors[0], stage=study.answer)
    assert held.stage_item.author != authors[0]


def test_too_few_pairs_and_half_ones_come_back_as_they_stood(study):
    study.add()
    person = make_member(study.project)
    study.visit(person)
    refused = study.send(person, [("When?", "1830"), ("", "")])
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "Write at least 3 pairs; these are 1." in page
    assert page.count("data-pair>") == 3
    half = study.send(person, [("When?", "1830"), ("Which?", ""), ("", "Rovers")])
    assert "Pair 2 has no answer." in half.content.decode()
    assert 'value="Rovers"' in half.content.decode()
    assert not Annotation.objects.exists()


def test_without_scripts_buttons_move_pairs_and_nothing_is_stored(study):
    study.add()
    person = make_member(study.project)
    study.visit(person)
    page = study.send(person, THREE, **{"pairs.step": "up-2"}).content.decode()
    questions = re.findall(r'name="pairs\.question"[^>]*>\n([^<]*)</textarea>', page)
    assert questions == ["When did Ada start?", "How tall is she", "Which club?"]
    # Hints stand beside the pair that they are about, after the move too.
    hints = re.findall(r'id="hints-pairs-(\d)">(.*?)</ul>', page, re.S)
    assert ["question mark" in words for _, words in hints] == [False, True, False]
    assert not Annotation.objects.exists()


def test_hints_know_what_the_same_person_wrote_before(study):
    for n in range(3):
        study.add(external_id=f"t{n}")
    person, other = make_member(study.project), make_member(study.project)
    for one in (person, other):
        study.visit(one)
        study.send(one, [("Which club is it?", "A"), ("Which club was first?", "B"), ("Who won?", "C")])
    study.visit(person)
    client = Client()
    client.force_login(person)
    held = Assignment.objects.get(person=person, state="leased")
    sent = {
        "person": person_token(person),
        "pairs.question": ["Which club came last?", "Which year ended the career?"],
        "pairs.answer": ["D", "yes"],
    }
    told = client.post(reverse("work-hints", args=[held.token]), sent).json()["hints"]
    assert [(hint["position"], hint["code"]) for hint in told] == [(0, "repeated"), (1, "yes_no")]
    assert "2 others" in told[0]["text"]


@pytest.mark.shared_data
@pytest.mark.parametrize("number", AWKWARD)
def test_awkward_real_tables_are_shown_to_authors(study, number, shared_path):
    raw = json.loads(shared_path(f"data/temptabqa/tables/json/{number}.json").read_text(encoding="utf-8"))
    table = infobox(raw)
    study.add(table, external_id=str(number))
    page = study.visit(make_member(study.project))
    assert 'class="infobox"' in page
    shown = Assignment.objects.get().shown["tables"]["table"]
    assert len(headings(page)) == len(rows_of(table)) - sum(len(gone) == 2 for gone in shown["hidden"])
    assert "<script>" not in page.partition('class="infobox"')[2].partition("</table>")[0]
