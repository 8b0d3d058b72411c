"""Claims that become questions: what the writer sees, what is refused, what goes on, and who gets it next."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate.answers import AnswerInvalid, fields_from_json
from annotate.models import Annotation, Assignment, Feed, Gold, Item, StageItem
from annotate.person_token import person_token
from annotate.rewriting import IDENTICAL, check_rewriting, claim_of, with_source_label
from annotate.services import feeds, resolving
from annotate.stage_kinds import KINDS
from annotate.stage_options import RewriteOptions
from tests.api_client import ApiClient
from tests.factories import make_item, make_member, make_project, make_stage, make_stage_item

FORM = [dict(field) for field in KINDS["rewrite"].fields]
FIELDS = fields_from_json(FORM)
CLAIMS = {
    "en": ("Water is wet.", "Is water wet?"),
    "ar": ("الماء رطب.", "هل الماء رطب؟"),
    "zh": ("水是湿的。", "水是湿的吗？"),
    "ta": ("தண்ணீர் ஈரமானது.", "தண்ணீர் ஈரமானதா?"),
}


class TestRule:
    def test_the_claim_itself_is_no_question(self):
        for question in ("Water is wet.", " WATER  is wet. ", "Water is\u200b wet."):
            with pytest.raises(AnswerInvalid) as refused:
                check_rewriting(FIELDS, {"question": question, "label": "yes"}, "Water is wet.")
            assert refused.value.errors == {"question": IDENTICAL}

    def test_anything_else_may_be_one(self):
        # A question mark makes a question of a claim in many languages.
        for question in ("Is water wet?", "Water is wet?", "¿El agua moja?"):
            check_rewriting(FIELDS, {"question": question}, "Water is wet.")
        check_rewriting(FIELDS, {"question": "Is it?"}, "")

    def test_where_the_claim_stands(self):
        content = [["id", 7], ["claim", "Water is wet."], ["note", "n"]]
        assert claim_of(content, ["claim", "note"], RewriteOptions()) == "Water is wet."
        assert claim_of(content, ["nothing", "note"], RewriteOptions()) == "n"
        assert claim_of(content, ["note"], RewriteOptions(claim_key="claim")) == "Water is wet."
        assert claim_of(content, ["id"], RewriteOptions()) == ""

    def test_the_sources_label_in_the_words_of_ours(self):
        options = RewriteOptions(source_label_key="verdict", source_labels=(("SUPPORTS", "yes"),))
        content = [["claim", "c"], ["verdict", "SUPPORTS"]]
        assert with_source_label(content, options, FIELDS) == ([["claim", "c"], ["verdict", "Yes"]], ["verdict"])
        unmapped = [["claim", "c"], ["verdict", "DISPUTED"]]
        assert with_source_label(unmapped, options, FIELDS) == (unmapped, ["verdict"])
        assert with_source_label([["claim", "c"]], options, FIELDS) == ([["claim", "c"]], [])
        assert with_source_label(content, RewriteOptions(), FIELDS) == (content, [])


@pytest.fixture
def study(db):
    class Study:
        project = make_project()
        rewrite = make_stage(project, form=FORM, kind="rewrite", shown_keys=["claim"], order="sequential")
        label = make_stage(project, overlap=1, order="sequential")
        writer = make_member(project)
        client = Client()

        def add(self, claim: str, language: str = "en", **more) -> Item:
            content = [["claim", claim], *([key, value] for key, value in more.items())]
            item = make_item(self.project, content, language=language)
            make_stage_item(self.rewrite, item)
            return item

        def page(self) -> str:
            self.client.force_login(self.writer)
            return self.client.get(reverse("work", args=[self.project.slug, self.rewrite.slug])).content.decode()

        def send(self, address: str = "work-submit", **answer):
            held = Assignment.objects.filter(person=self.writer).order_by("-pk").first()
            sent = {"person": person_token(self.writer), "client_key": f"key-{held.pk}", "label": "yes"} | answer
            return self.client.post(reverse(address, args=[held.token]), sent)

    study = Study()
    feeds.set_feed(
        source=study.rewrite,
        target=study.label,
        by=None,
        recipe=feeds.offered_recipe(study.rewrite, study.label),
    )
    return study


@pytest.mark.parametrize("language", CLAIMS)
def test_a_claim_of_any_script_is_rewritten_labelled_and_handed_to_the_next(study, language):
    claim, question = CLAIMS[language]
    parent = study.add(claim, language)
    page = study.page()
    assert claim in page
    assert f'lang="{language}"' in page
    assert study.send(question=question).status_code == 302
    resolving.resolve_due()
    child = Item.objects.get(parent=parent)
    revision = child.revisions.get()
    assert revision.content == [["question", question], ["claim", claim]]
    assert (child.author, revision.language, revision.annotation.answer["label"]) == (study.writer, language, "yes")
    gold = Gold.objects.get(item=child)
    assert (gold.field, gold.answers, gold.origin) == ("label", ["yes"], "author")
    reader = make_member(study.project)
    client = Client()
    client.force_login(reader)
    shown = client.get(reverse("work", args=[study.project.slug, study.label.slug])).content.decode()
    assert question in shown
    # Her label of her own question is gold: nobody who labels it sees it, nor the claim, which is not listed.
    assert claim not in shown
    assert " checked" not in shown.partition('id="answer-form"')[2].partition("</form>")[0]


def test_an_empty_question_and_the_claim_itself_come_back_with_words_beside_the_field(study):
    study.add("Water is wet.")
    study.page()
    empty = study.send(question=" ")
    assert empty.status_code == 422
    assert re.search(r'id="error-question"[^>]*>Write the question\.', empty.content.decode())
    same = study.send(question="water is WET.")
    assert same.status_code == 422
    assert IDENTICAL in same.content.decode()
    assert "water is WET." in same.content.decode()
    assert not Annotation.objects.exists()


def test_the_rule_holds_for_programs_and_for_changes_too(study):
    study.add("Water is wet.")
    api = ApiClient(study.writer, "work")
    held = api.post(f"work/{study.project.slug}/{study.rewrite.slug}/next/").json()["held"]
    sent = {"form_version": held["form"]["version"], "client_key": "one"}
    address = f"assignments/{held['token']}/submit/"
    refused = api.post(address, **sent, answer={"question": "Water is wet.", "label": "yes"})
    assert (refused.status_code, refused.json()["fields"]) == (422, {"question": IDENTICAL})
    assert api.post(address, **sent, answer={"question": "Is water wet?", "label": "yes"}).status_code == 200
    study.client.force_login(study.writer)
    assert study.send("work-revise", question="Water is wet.").status_code == 422
    assert Annotation.objects.get().answer["question"] == "Is water wet?"


def test_a_missing_question_mark_is_a_hint_and_never_a_wall(study):
    study.add("Water is wet.")
    study.add("น้ำเปียก", "th")
    study.page()
    looked = study.send(question="Is water wet", **{"look.over": "1"})
    assert "usually ends with a question mark" in looked.content.decode()
    assert not Annotation.objects.exists()
    held = Assignment.objects.get(person=study.writer)
    told = study.client.post(
        reverse("work-hints", args=[held.token]), {"person": person_token(study.writer), "question": "Is water wet"}
    )
    assert [hint["code"] for hint in told.json()["hints"]] == ["no_question_mark"]
    assert study.send(question="Is water wet").status_code == 302
    study.page()
    assert "question mark" not in study.send(question="น้ำเปียกไหม", **{"look.over": "1"}).content.decode()


def test_a_later_change_revises_the_question_and_its_label(study):
    parent = study.add("Water is wet.")
    study.page()
    study.send(question="Is water wet?")
    resolving.resolve_due()
    study.send("work-revise", question="Is all water wet?", label="no", client_key="again")
    resolving.resolve_due()
    child = Item.objects.get(parent=parent)
    assert [row.content[0][1] for row in child.revisions.order_by("number")] == ["Is water wet?", "Is all water wet?"]
    assert StageItem.objects.get(stage=study.label).revision.number == 2
    assert Gold.objects.get(item=child, is_current=True).answers == ["no"]


def test_the_sources_label_is_shown_only_where_the_stage_says_so(study):
    study.add("Water is wet.", verdict="SUPPORTS")
    assert "SUPPORTS" not in study.page()
    study.rewrite.options = {"source_label_key": "verdict", "source_labels": [["SUPPORTS", "yes"]]}
    study.rewrite.save()
    page = study.page()
    assert "SUPPORTS" not in page
    assert re.search(r'<p class="content-text" dir="auto">Yes</p>', page)
    api = ApiClient(study.writer, "work")
    held = api.post(f"work/{study.project.slug}/{study.rewrite.slug}/next/").json()["held"]
    assert held["item"]["content"] == [["claim", "Water is wet."], ["verdict", "Yes"]]


def test_nobody_else_asks_for_hints_and_labels_have_none(study):
    study.add("Water is wet.")
    study.page()
    held = Assignment.objects.get()
    stranger = Client()
    stranger.force_login(make_member(study.project))
    assert stranger.post(reverse("work-hints", args=[held.token]), {"question": "x"}).status_code == 404
    make_stage_item(study.label)
    client = Client()
    client.force_login(study.writer)
    client.get(reverse("work", args=[study.project.slug, study.label.slug]))
    other = Assignment.objects.get(stage=study.label)
    sent = {"person": person_token(study.writer)}
    assert client.post(reverse("work-hints", args=[other.token]), sent).status_code == 404


def test_the_feed_between_the_two_is_what_was_offered(study):
    assert Feed.objects.get().recipe == {
        "content": [["question", "answer.question"], ["claim", "item.claim"]],
        "gold": [["label", "answer.label"]],
    }
