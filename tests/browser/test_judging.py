"""Judging models' answers in a browser: drawn from runs that were made, judged with keys, told in numbers."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotate.models import Annotation, Stage
from annotate.stage_kinds import first_fields
from evaluation.models import JudgeSample
from evaluation.services.judging import draw_judge_sample
from tests.browser.accessibility import problems_of
from tests.browser.visitors import sign_in
from tests.evaluation.judged import judge, make_bench
from tests.evaluation.runs import started, work
from tests.factories import make_endpoint, make_item, make_item_set, make_member, make_project, make_stage

pytestmark = pytest.mark.browser

TABLE = {"type": "grid", "columns": ["Year", "Rank"], "rows": [["2014", "1"], ["2015", "7"], ["2016", "2"]]}


def test_answers_of_two_real_runs_are_drawn_judged_and_told(new_context, site, at_work):
    project = make_project()
    label = make_stage(project)
    items = [make_item(project, [["question", f"Is claim {k} true?"]], gold={"label": ["yes"]}) for k in range(6)]
    item_set = make_item_set(project, items)
    for model in ("majority_label", "seeded_random"):
        endpoint = make_endpoint(project, model=model, name=model)
        run = work(started(item_set, stage=label, endpoint=endpoint, name=f"Run of {model}", seed=4))
        assert run.state == "done", run.error
    admin = make_member(project, "admin")
    context = new_context()
    sign_in(context, admin, site)
    page = context.new_page()

    # A stage of judges, from the page of a new stage.
    page.goto(f"/p/{project.slug}/stages/new/")
    page.get_by_role("link", name="Judge: is the model's answer right?").click()
    expect(page.get_by_role("link", name="The better of two")).to_be_visible()
    page.get_by_label("Title").fill("Judges")
    page.get_by_role("button", name="Make the draft").click()

    # What a draw comes to, before it is made.
    page.get_by_label("Run of majority_label").check()
    page.get_by_label("Run of seeded_random").check()
    page.get_by_label("Answers of each run").fill("4")
    page.get_by_role("button", name="See what it comes to").click()
    plan = page.locator("#judge-plan")
    expect(plan).to_contain_text("to judge")
    assert not JudgeSample.objects.exists()
    page.get_by_role("button", name="Draw and freeze").click()
    expect(page.locator("#judge-draw")).to_contain_text("before the judges")
    stage = Stage.objects.get(kind="judge")
    n = stage.stage_items.count()
    assert 4 <= n <= 8
    expect(page.locator(".stage-preview .judged-value")).to_be_visible()
    page.get_by_role("button", name="Open").click()

    # Keys alone: 1 is right, 2 wrong, 3 unsure.
    worker = at_work(make_member(project), Stage.objects.get(pk=stage.pk))
    for k in range(n):
        expect(worker.page.locator(".judged-value")).to_have_count(1)
        expect(worker.page.locator("body")).not_to_contain_text("Run of")
        token = worker.page.locator("#item").get_attribute("data-token")
        worker.press("1" if k % 2 else "2", "Control+Enter")
        expect(worker.page.locator("#item")).not_to_have_attribute("data-token", token or "")
    worker.sees_item("All done")
    assert Annotation.objects.filter(assignment__stage=stage).count() == n

    page.goto(f"/p/{project.slug}/stages/{stage.slug}/")
    page.get_by_role("link", name="What the judges say").click()
    row = page.get_by_role("row", name="Run of majority_label").first
    expect(row).to_contain_text("4")
    with page.expect_download() as download:
        page.get_by_role("link", name="Every judgement, CSV").click()
    assert download.value.suggested_filename.endswith("-judged.csv")


@pytest.fixture
def bench():
    bench = make_bench(5, overlap=2)
    for item in bench.items:
        item.revisions.update(content=[["question", "By how many places did they fall?"], ["table", TABLE]])
    Stage.objects.filter(pk=bench.judges.pk).update(title="Human judges", order="sequential")
    bench.judges.versions.update(shown_keys=["question", "table"])
    return bench


@pytest.mark.parametrize("form", ["verdict", "better"])
def test_what_is_judged_is_accessible_and_fits(bench, at_work, form):
    bench.judges.versions.update(fields=first_fields("judge", form))
    first = bench.run("Model A", ["They fell by 6 places."] * 5)
    second = bench.run("Model B", ["From the first to the seventh place, which is six places in one year. " * 3] * 5)
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(first, second))
    worker = at_work(make_member(bench.project), Stage.objects.get(pk=bench.judges.pk))
    expect(worker.page.locator(".judged .vote-card")).to_have_count(1 if form == "verdict" else 2)
    assert list(problems_of(worker.page, f"judge-{form}")) == []


@pytest.mark.parametrize("form", ["verdict", "better"])
def test_the_draw_and_the_results_are_accessible_and_fit(bench, new_context, site, form):
    bench.judges.versions.update(fields=first_fields("judge", form))
    one = bench.run("SmolLM2 135M, few-shot", ["6", "six", "7", "1", None])
    two = bench.run("Lexical overlap", ["6", "x", "y", "z", "w"])
    context = new_context()
    sign_in(context, bench.admin, site)
    page = context.new_page()
    address = f"/p/{bench.project.slug}/stages/{bench.judges.slug}/"
    page.goto(address)
    page.get_by_label("SmolLM2").check()
    page.get_by_label("Lexical").check()
    page.get_by_role("button", name="See what it comes to").click()
    expect(page.locator("#judge-plan")).to_be_visible()
    assert list(problems_of(page, f"judge-draw-{form}")) == []
    draw_judge_sample(stage=bench.judges, by=None, draw=bench.draw(one, two))
    said = ("right", "wrong") if form == "verdict" else ("first", "tie")
    for item in bench.items[1:4]:
        judge(bench.judges, one, item, said[0], said[0])
        if form == "verdict":
            judge(bench.judges, two, item, *said)
    page.goto(f"{address}judge/")
    expect(page.get_by_role("heading", name="What was drawn")).to_be_visible()
    assert list(problems_of(page, f"judge-results-{form}")) == []
