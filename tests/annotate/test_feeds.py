"""Where answers go: what is offered, how it reads, what is refused, on the page and by programs."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotate.answers import fields_from_json
from annotate.exceptions import FeedNotPossible, RecipeInvalid
from annotate.feeding import Recipe
from annotate.models import Event, Feed, Item, StageItem
from annotate.recipes import check_recipe, in_words, offered
from annotate.services import feeds, resolving
from tests.api_client import ApiClient
from tests.factories import (
    SHORT_ANSWER,
    YES_NO,
    make_annotation,
    make_item,
    make_member,
    make_project,
    make_stage,
    make_stage_item,
)

QUESTION = {"name": "question", "type": "question", "caption": "The question"}
REWRITE = [QUESTION, {**YES_NO[0]}]
AUTHOR = [{"name": "pairs", "type": "qa_pairs", "caption": "Your questions"}]


def read(*forms):
    return [fields_from_json(form) for form in forms]


class TestRecipes:
    def test_what_is_usual_for_a_rewriting(self):
        fields, target = read(REWRITE, YES_NO)
        assert offered(fields, target, ["claim", "question", "claim"]) == {
            "content": [["question", "answer.question"], ["claim", "item.claim"]],
            "gold": [["label", "answer.label"]],
        }
        # The next stage asks something else: what the writer said is no gold label there.
        (other,) = read(SHORT_ANSWER)
        assert offered(fields, other, [])["gold"] == []

    def test_what_is_usual_for_authors(self):
        fields, target = read(AUTHOR, SHORT_ANSWER)
        recipe = offered(fields, target, ["table"])
        assert recipe == {
            "each": "pairs",
            "content": [["question", "each.question"], ["table", "item.table"]],
            "gold": [["answer", "each.answer"]],
        }
        assert in_words(Recipe.from_json(recipe), fields) == (
            "Each entry of “Your questions” becomes a new item: question from its question, table from the item's "
            "table. The author's gold label: answer from its answer."
        )

    def test_what_was_voted_on_goes_on_as_itself(self):
        fields, target = read(YES_NO, YES_NO)
        assert offered(fields, target, ["question"]) is None
        assert in_words(Recipe.from_json({"when": [["label", ["yes", "no"]]]}), fields) == (
            "The item itself goes on, if “Is it so?” is no or yes."
        )

    @pytest.mark.parametrize(
        ("recipe", "words"),
        [
            ({"each": "label", "content": [["question", "each.question"]]}, "no field of questions"),
            ({"each": "pairs", "content": [["question", "each.hint"]]}, "no 'hint'"),
            ({"each": "pairs", "content": [["question", "answer.quest"]]}, "does not ask 'quest'"),
            ({"content": [["question", "item.clam"]]}, "no item has content called 'clam'"),
            ({"content": [["quest", "item.claim"]]}, "nothing to see"),
            ({"content": [["question", "item.claim"]], "gold": [["lable", "answer.label"]]}, "no field that the next"),
            ({"when": [["why", ["yes"]]]}, "does not ask"),
            ({"when": [["label", ["perhaps"]]]}, "no option of 'label'"),
            ({"when": [["pairs", ["yes"]]]}, "only one choice"),
        ],
    )
    def test_what_could_never_come_about_is_named(self, recipe, words):
        fields, target = read([*AUTHOR, YES_NO[0]], YES_NO)
        with pytest.raises(RecipeInvalid, match=words):
            check_recipe(
                Recipe.from_json(recipe), fields=fields, target=target, target_keys=["question"], content_keys=["claim"]
            )

    def test_before_there_are_items_nobody_knows_their_keys(self):
        fields, target = read(REWRITE, YES_NO)
        recipe = Recipe.from_json({"content": [["question", "item.anything"]]})
        check_recipe(recipe, fields=fields, target=target, target_keys=["question"], content_keys=None)


@pytest.fixture
def study(db):
    class Study:
        project = make_project()
        admin = make_member(project, "admin")
        rewrite = make_stage(project, form=REWRITE, kind="rewrite", shown_keys=["claim"])
        label = make_stage(project, title="Label")
        review = make_stage(project, title="Review", kind="review")

        @property
        def client(self):
            client = Client()
            client.force_login(self.admin)
            return client

        def address(self, name: str, *more) -> str:
            return reverse(name, args=[self.project.slug, self.rewrite.slug, *more])

    return Study()


def test_a_circle_is_refused_with_its_way(study):
    feeds.set_feed(source=study.label, target=study.review, by=None, recipe={})
    study.review.title = "Review"
    with pytest.raises(FeedNotPossible, match="Review → Label → Review") as refused:
        feeds.set_feed(source=study.review, target=study.label, by=None, recipe={})
    assert refused.value.part == "target"
    with pytest.raises(FeedNotPossible):
        feeds.set_feed(source=study.label, target=study.label, by=None, recipe={})
    with pytest.raises(FeedNotPossible):
        feeds.set_feed(source=study.label, target=make_stage(), by=None, recipe={})
    assert Feed.objects.count() == 1


def test_a_circle_over_adjudication_is_refused_too(study):
    judges = make_stage(study.project, kind="adjudicate", title="Judges")
    study.label.adjudicated_in = judges
    study.label.save()
    with pytest.raises(FeedNotPossible, match="Judges → Label → Judges"):
        feeds.set_feed(source=judges, target=study.label, by=None, recipe={})


def test_a_key_that_only_the_last_item_has_is_a_key(study):
    for n in range(3):
        make_item(study.project, [["claim", f"{n}."]])
    recipe = {"content": [["question", "answer.question"], ["note", "item.note"]]}
    with pytest.raises(FeedNotPossible, match="'note'"):
        feeds.set_feed(source=study.rewrite, target=study.label, by=None, recipe=recipe)
    make_item(study.project, [["claim", "4."], ["note", "n"]])
    assert feeds.set_feed(source=study.rewrite, target=study.label, by=None, recipe=recipe).recipe == recipe


def test_what_was_answered_before_follows_a_new_feed(study):
    place = make_stage_item(study.rewrite, make_item(study.project, [["claim", "Water is wet."]]))
    make_annotation(place, make_member(study.project), {"question": "Is water wet?", "label": "yes"})
    resolving.resolve_due()
    assert not Item.objects.filter(parent__isnull=False).exists()
    feeds.set_feed(
        source=study.rewrite, target=study.label, by=None, recipe=feeds.offered_recipe(study.rewrite, study.label)
    )
    resolving.resolve_due()
    assert StageItem.objects.get(stage=study.label).revision.content[0] == ["question", "Is water wet?"]


def test_it_is_made_changed_and_ended_on_the_stages_page(study):
    make_item(study.project, [["claim", "Water is wet."]])
    sent = {"target": study.label.pk, "rule": "every", "makes_items": "on", "kept_keys": "claim"}
    assert study.client.post(study.address("stage-feeds"), sent).status_code == 302
    feed = Feed.objects.get()
    assert feed.recipe["content"] == [["question", "answer.question"], ["claim", "item.claim"]]
    page = study.client.get(study.address("stage")).content.decode()
    assert "Each answer becomes a new item: question from “The question”, claim from the item&#x27;s claim." in page
    study.client.post(study.address("stage-feeds"), sent | {"rule": "complete"})
    assert Feed.objects.get().rule == "complete"
    assert study.client.post(study.address("stage-feed-end", feed.pk)).status_code == 302
    assert not Feed.objects.exists()
    verbs = Event.objects.filter(verb__startswith="feed.").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["feed.made", "feed.changed", "feed.ended"]


def test_what_is_wrong_comes_back_beside_its_field(study):
    make_item(study.project, [["claim", "Water is wet."]])
    sent = {"target": study.label.pk, "rule": "every", "makes_items": "on", "kept_keys": "clam"}
    refused = study.client.post(study.address("stage-feeds"), sent)
    assert refused.status_code == 422
    assert "no item has content called &#x27;clam&#x27;" in refused.content.decode()
    half = study.client.post(study.address("stage-feeds"), sent | {"only_field": "label"})
    assert "Fill in both, or neither." in half.content.decode()
    assert not Feed.objects.exists()


def test_a_condition_is_part_of_the_recipe(study):
    sent = {"target": study.review.pk, "rule": "decided", "only_field": "label", "only_values": "yes\nno"}
    label = reverse("stage-feeds", args=[study.project.slug, study.label.slug])
    assert study.client.post(label, sent).status_code == 302
    assert Feed.objects.get().recipe == {"when": [["label", ["yes", "no"]]]}


def test_programs_make_list_and_end_them(study):
    make_item(study.project, [["claim", "Water is wet."]])
    api = ApiClient(study.admin, "run", "read")
    address = f"projects/{study.project.slug}/feeds/"
    made = api.post(address, source=study.rewrite.slug, target=study.label.slug)
    assert (made.status_code, made.json()["recipe"]["gold"]) == (201, [["label", "answer.label"]])
    assert [row["id"] for row in api.get(address).json()["results"]] == [made.json()["id"]]
    refused = api.post(address, source=study.label.slug, target=study.rewrite.slug, recipe={})
    assert (refused.status_code, refused.json()["error"]) == (422, "feed_not_possible")
    unknown = api.post(address, source=study.label.slug, target="nowhere")
    assert unknown.json()["fields"] == {"target": "This project has no stage 'nowhere'."}
    assert api.delete(f"{address}{made.json()['id']}/").status_code == 204
    assert not Feed.objects.exists()
