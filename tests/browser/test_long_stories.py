"""Studies played to their end by several people, each in a browser of their own; the worker's part runs in between."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from annotate.models import Decision, Gold, Item, Person, Project, Resolution, Stage, StageItem
from annotate.services import feeds, projects, resolving
from annotate.sources.blocks import infobox
from annotate.stage_kinds import KINDS, adjudication_fields, review_fields
from tests.browser.visitors import Worker, sign_in
from tests.factories import SHORT_ANSWER, make_item, make_item_set, make_member, make_project, make_stage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


ALL_DONE, MINE_DONE = "All done", "You have done everything you can here"


@dataclass(frozen=True)
class Bundle:
    """A table, what its author asks about it, and what six people answer.

    hidden: a row that the author does not see. The first question is answered alike in other words, the second never
    comes to a majority, the third gets one that the author does not share. right: what the second should be.
    """

    table: dict[str, Any]
    hidden: str
    pairs: tuple[tuple[str, str], ...]
    answers: tuple[tuple[str, ...], ...]
    right: str


INVENTED = Bundle(
    table=infobox(
        {"Born": "4 May 1950", "Club": "Rovers", "Career": {"Debut": "1971", "Last match": "1986", "Cups": "12"}},
        title="Ada Example",
    ),
    hidden="Born",
    pairs=(
        ("How long was the career of Ada Example?", "15 years"),
        ("How old was Ada Example at the first match?", "21"),
        ("For which club did Ada Example play?", "Wanderers"),
    ),
    answers=(
        ("15 years", "fifteen years", "180 months"),
        ("20", "21", "22", "22", "21", "20"),
        ("Rovers", "rovers", "Wanderers"),
    ),
    right="20",
)
# Birth and death are keys without a value in this table of TempTabQA; questions and answers are the published ones.
MCFARLAND = (
    "How long did Ed McFarland play in MLB?",
    "How old was Ed McFarland when he made his MLB debut?",
    "Who was the last team that Ed McFarland played for?",
)


def bundle_of_mcfarland(shared_path: Callable[..., Any]) -> Bundle:
    raw = json.loads(shared_path("data/temptabqa/tables/json/410.json").read_text(encoding="utf-8"))
    published = {}
    for name in ("train", "dev", "head", "tail"):
        path = shared_path(f"data/temptabqa/qapairs/{name}-set/{name}-set.json")
        rows = json.loads(path.read_text(encoding="utf-8"))
        published |= {row["question"].strip(): row["answer"] for row in rows if row["table_id"] == 410}
    pairs = tuple((question, published[question]) for question in MCFARLAND)
    hidden = next(key for key in raw if key.startswith("Died"))
    return Bundle(
        table=infobox(raw),
        hidden=hidden,
        pairs=(*pairs[:2], (pairs[2][0], "Chicago White Sox")),
        answers=(
            (pairs[0][1], "fifteen years", "180 months"),
            ("18", pairs[1][1], "20", "20", "18", "19 years"),
            (pairs[2][1], "boston red sox", "New York"),
        ),
        right=pairs[1][1],
    )


@pytest.fixture
def enter(new_context: Callable[..., BrowserContext], site: str) -> Callable[..., Page]:
    """enter(person): a page of a browser in which that person is signed in."""

    def come_in(person: Person, **options: Any) -> Page:
        context = new_context(**options)
        sign_in(context, person, site)
        return context.new_page()

    return come_in


def shot(page: Page, name: str) -> None:
    if folder := os.environ.get("GOLDPANEL_SHOTS"):
        page.screenshot(path=f"{folder}/story-{name}.png", full_page=True, caret="initial")


def make_writing(bundle: Bundle) -> tuple[Project, dict[str, Stage]]:
    """Author -> validate by three and three more -> adjudicate -> review, with one table waiting for its author."""
    project = make_project(title="Tables of people", current_date="December 2022")
    lead = make_member(project, "admin")

    def stage(slug: str, title: str, **more: Any) -> Stage:
        kind = more["kind"]
        usual = {"roles": KINDS[kind].roles, "overlap": KINDS[kind].overlap, "order": "sequential"}
        made = projects.create_stage(project=project, by=lead, slug=slug, title=title, **usual | more)
        return made

    keys = ["question", "table"]
    judging = stage(
        "adjudicate", "Adjudicate", kind="adjudicate", fields=adjudication_fields(SHORT_ANSWER), shown_keys=keys,
        options={"makes_gold": True},
    )  # fmt: skip
    review = stage(
        "review", "Review", kind="review", fields=review_fields(SHORT_ANSWER), shown_keys=keys, roles=["meta_reviewer"]
    )
    validate = stage(
        "validate", "Validate", kind="answer", fields=SHORT_ANSWER, shown_keys=keys, escalate_by=3, escalate_times=1,
        adjudicated_in=judging,
    )  # fmt: skip
    write = stage(
        "write", "Write questions", kind="author", fields=list(KINDS["author"].fields), shown_keys=["table"], overlap=1,
        options={"hidden_keys": [bundle.hidden], "hidden_sections": [bundle.hidden], "is_shuffled": True},
    )  # fmt: skip
    recipe = feeds.offered_recipe(write, validate)
    feeds.set_feed(source=write, target=validate, by=lead, recipe=recipe)
    feeds.set_feed(source=validate, target=review, by=lead, rule="decided", recipe={})
    table = make_item(project, [["table", bundle.table]], external_id="table-1")
    projects.add_items_to_stage(stage=write, item_set=make_item_set(project, [table]), by=lead)
    stages = {"write": write, "validate": validate, "adjudicate": judging, "review": review}
    for one in stages.values():
        projects.open_stage(stage=one, by=lead) if one is write else Stage.objects.filter(pk=one.pk).update(
            state="open"
        )
    return project, stages


def write_pairs(worker: Worker, bundle: Bundle) -> None:
    expect(worker.page.get_by_text(bundle.hidden, exact=True)).to_have_count(0)
    questions, answers = worker.field("'pairs.question'"), worker.field("'pairs.answer'")
    # A hint stands in nobody's way.
    questions.first.fill("Did she win")
    expect(worker.page.locator("#hints-pairs-0 li")).not_to_have_count(0)
    for n, (question, answer) in enumerate(bundle.pairs):
        questions.nth(n).fill(question)
        answers.nth(n).fill(answer)
    shot(worker.page, "write")
    worker.press("Control+Enter")
    worker.sees_item(ALL_DONE)


def answer_all(worker: Worker, given: dict[str, str], *, last: str) -> None:
    """Answer what comes, until the page says `last`."""
    for _ in given:
        expect(worker.headline).to_have_text(_one_of([*given]))
        question = worker.headline.inner_text()
        worker.field("answer").fill(given[question])
        worker.field("why").fill(f"I read {given[question]}.")
        worker.press("Control+Enter")
        expect(worker.headline).not_to_have_text(question)
    worker.sees_item(last)


def _one_of(texts: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(text) for text in texts))


@pytest.mark.parametrize("source", ["invented", pytest.param("temptabqa", marks=pytest.mark.shared_data)])
def test_questions_are_written_validated_escalated_adjudicated_and_reviewed(source, request, at_work, enter):
    bundle = INVENTED if source == "invented" else bundle_of_mcfarland(request.getfixturevalue("shared_path"))
    project, stages = make_writing(bundle)
    agreed, disputed, corrected = (question for question, _ in bundle.pairs)

    # Somebody writes three questions about a table of which they do not see all.
    write_pairs(at_work(make_member(project), stages["write"]), bundle)
    resolving.resolve_due()
    assert stages["validate"].stage_items.count() == 3

    # Three people answer all of them, each from the whole table.
    validators = [make_member(project) for _ in range(6)]
    for n, person in enumerate(validators[:3]):
        worker = at_work(person, stages["validate"])
        expect(worker.page.locator(".infobox")).to_contain_text(bundle.hidden)
        if n == 0:
            shot(worker.page, "validate")
        given = {question: bundle.answers[k][n] for k, (question, _) in enumerate(bundle.pairs)}
        answer_all(worker, given, last=ALL_DONE if n == 2 else MINE_DONE)
    resolving.resolve_due()
    statuses = Resolution.objects.filter(stage_item__stage=stages["validate"], field="answer")
    assert {row.stage_item.revision.content[0][1]: row.status for row in statuses} == {
        agreed: "unanimous",
        disputed: "tie",
        corrected: "majority",
    }

    # Three others are asked about the one without a majority, and about nothing else.
    for n, person in enumerate(validators[3:], start=3):
        worker = at_work(person, stages["validate"])
        answer_all(worker, {disputed: bundle.answers[1][n]}, last=ALL_DONE if n == 5 else MINE_DONE)
    first = at_work(validators[0], stages["validate"])
    first.sees_item(ALL_DONE)
    resolving.resolve_due()

    # They disagree as well: an adjudicator sees three answers with two votes each, and who gave them nowhere.
    judge = at_work(make_member(project, "adjudicator"), stages["adjudicate"])
    judge.sees_item(disputed)
    expect(judge.page.locator(".vote-card")).to_have_count(3)
    expect(judge.page.locator(".vote-card .tag")).to_have_text(["2 of 6"] * 3)
    assert not any(person.pseudonym in judge.page.content() for person in validators)
    card = judge.page.locator(".vote-card").filter(has_text=bundle.right).first
    judge.press(card.locator("kbd").inner_text())
    judge.page.get_by_label("Accept it as the gold label, too").check()
    judge.page.locator("#decision-reason").fill("It is before the birthday.")
    expect(judge.submit).to_contain_text("Take “")
    shot(judge.page, "adjudicate")
    judge.press("Control+Enter")
    judge.sees_item(ALL_DONE)
    resolving.resolve_due()

    # A reviewer accepts two and corrects the third, whose label the people who answered did not share.
    reviewer = at_work(make_member(project, "meta_reviewer"), stages["review"])
    for _ in bundle.pairs:
        question = reviewer.headline.inner_text()
        if question == corrected:
            expect(reviewer.page.locator(".evidence")).to_contain_text("The two differ.")
            shot(reviewer.page, "review")
            reviewer.press("2")
            reviewer.field("answer").fill(bundle.answers[2][0])
        else:
            reviewer.press("1")
        reviewer.press("Control+Enter")
        expect(reviewer.headline).not_to_have_text(question)
    reviewer.sees_item(ALL_DONE)
    resolving.resolve_due()

    items = {
        item.revisions.get(is_current=True).content[0][1]: item for item in Item.objects.filter(parent__isnull=False)
    }
    golds = {
        question: [
            (one.version, one.origin, one.answers[0]) for one in Gold.objects.filter(item=item).order_by("version")
        ]
        for question, item in items.items()
    }
    right = Decision.objects.get().annotation.answer["answer"]
    assert golds == {
        agreed: [(1, "author", bundle.pairs[0][1])],
        disputed: [(1, "author", bundle.pairs[1][1]), (2, "adjudicator", right)],
        corrected: [(1, "author", bundle.pairs[2][1]), (2, "expert", bundle.answers[2][0])],
    }
    assert right in bundle.answers[1]

    # Whoever runs the study reads all of it on the page of the item, and takes it home.
    lead = enter(project.memberships.get(role="admin").person)
    lead.goto(reverse("item", args=[project.slug, items[disputed].pk]))
    expect(lead.locator("#gold")).to_contain_text("adjudicator")
    expect(lead.get_by_text("It is before the birthday.")).to_be_visible()
    shot(lead, "item")
    exported = lead.request.get(reverse("export-answers", args=[project.slug]))
    rows = list(csv.DictReader(io.StringIO(exported.text())))
    of_item = [row for row in rows if row["item"] == items[disputed].external_id]
    votes = [row for row in of_item if row["stage"] == "validate"]
    assert [row["round"] for row in votes] == ["1"] * 3 + ["2"] * 3
    assert {row["person"] for row in votes} == {person.pseudonym for person in validators}
    (decision,) = [row for row in of_item if row["decision"]]
    (source_vote,) = [row for row in rows if row["answer_id"] == decision["decision_from"]]
    assert source_vote in votes
    assert (decision["decision"], decision["answer.answer"]) == ("taken", source_vote["answer.answer"])
    assert (decision["decision_reason"], decision["decision_votes"]) == ("It is before the birthday.", "6")
    assert (decision["decision_gold"], len(decision["votes_hash"])) == ("yes", 32)
    reviews = {row["item"]: row["answer.decision"] for row in rows if row["stage"] == "review"}
    assert reviews == {
        items[agreed].external_id: "accept",
        items[disputed].external_id: "accept",
        items[corrected].external_id: "edit",
    }


# What each author says of their claims, and what the other group says of the questions.
CLAIMS = ("Water is wet.", "The sea is salty.", "Ice is warm.", "Snow is black.",
          "Iron is a metal.", "Gold is a gas.", "Lead is light.", "Tin melts.")  # fmt: skip
AUTHORS = ("yes", "yes", "no", "no", "yes", "no", "no", "yes")
CHECKS = ("yes", "no", "no", "no", "yes", "no", "yes", "yes")


def question_of(claim: str) -> str:
    return f"Is it so that {claim[:-1].lower()}?"


def test_claims_are_rewritten_labelled_and_cross_checked(at_work, enter):
    project = make_project(title="Claims")
    lead = make_member(project, "admin")
    people = {group: make_member(project, group=group) for group in "AB"}
    rewrite = make_stage(
        project, kind="rewrite", form=[dict(field) for field in KINDS["rewrite"].fields], shown_keys=["claim"],
        order="sequential", title="Rewrite", slug="rewrite",
    )  # fmt: skip
    check = make_stage(project, title="Cross-check", slug="check", is_cross_group=True, order="sequential")
    for claims in (CLAIMS[:4], CLAIMS[4:]):
        items = [make_item(project, [["claim", claim]]) for claim in claims]
        projects.add_items_to_stage(stage=rewrite, item_set=make_item_set(project, items), by=lead)
        # Each of the two writes four: the second batch comes when the first one is done.
        worker = at_work(people["A" if claims[0] == CLAIMS[0] else "B"], rewrite)
        for claim, following in pairwise([*claims, ALL_DONE]):
            worker.sees_item(claim)
            worker.field("question").fill(question_of(claim))
            worker.option(AUTHORS[CLAIMS.index(claim)]).check()
            if claim == CLAIMS[0]:
                shot(worker.page, "rewrite")
            worker.press("Control+Enter")
            worker.sees_item(following)
        resolving.resolve_due()

    # The lead lets the questions become items, and draws all four of each group for the other.
    feeds.set_feed(source=rewrite, target=make_stage(project, state="draft"), by=lead,
                   recipe=feeds.offered_recipe(rewrite, check))  # fmt: skip
    resolving.resolve_due()
    page = enter(lead)
    page.goto(reverse("stage", args=[project.slug, "check"]))
    draw = page.locator("form[action$='/cross-check/']")
    draw.locator("[name=n]").fill("4")
    draw.locator("button").click()
    expect(page.get_by_text("8 items drawn")).to_be_visible()
    assert StageItem.objects.filter(stage=check).count() == 8

    checked = dict(zip(map(question_of, CLAIMS), CHECKS, strict=True))
    for group, theirs in (("B", CLAIMS[:4]), ("A", CLAIMS[4:])):
        worker = at_work(people[group], check)
        met = set()
        for _ in theirs:
            question = worker.headline.inner_text()
            met.add(question)
            worker.option(checked[question]).check()
            worker.press("Control+Enter")
            expect(worker.headline).not_to_have_text(question)
        # Nobody got what they wrote themselves.
        assert met == {question_of(claim) for claim in theirs}
    resolving.resolve_due()

    # Six of eight pairs are alike: 75 %. Both say yes to half: by chance 1/2, so pi and kappa are (3/4 - 1/2) / (1/2).
    # Alpha: 4 of 16 values observed to differ, 2 * 8 * 8 / (16 * 15) expected; 1 - (1/4) / (8/15) = 0.53125.
    page.goto(reverse("cross-check-agreement", args=[project.slug, "check"]))
    figures = page.locator("table").filter(has_text="Measure").first
    for measure, value in (("Percent agreement", "75"), ("Scott", "0.50"), ("Krippendorff", "0.53"), ("Cohen", "0.50")):
        expect(figures.locator("tr").filter(has_text=measure).first).to_contain_text(value)
    matrix = page.locator("table").filter(has_text="Author said")
    lines = [line.locator("th, td").all_inner_texts() for line in matrix.locator("tbody tr").all()]
    assert lines[:2] == [["Yes", "3", "1", "0", "4"], ["No", "1", "3", "0", "4"]]
    shot(page, "agreement")
