"""An audit from the draw to the repaired label: an admin, two reviewers with keys alone, an adjudicator."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotate.models import Annotation, Audit, Gold
from annotate.services import projects, repairing, resolving
from annotate.services.auditing import draw_made
from tests.annotate.audits import AuditStudy
from tests.browser.accessibility import problems_of
from tests.browser.visitors import sign_in
from tests.factories import YES_NO, make_item, make_member, make_stage

pytestmark = pytest.mark.browser

SIZES = {("adversarial", "yes"): 5, ("adversarial", "no"): 3, ("science", "yes"): 1, ("science", "not_sure"): 3}


@pytest.fixture
def study() -> AuditStudy:
    study = AuditStudy(SIZES)
    study.judges = make_stage(
        study.project, kind="adjudicate", roles=["adjudicator"], title="Adjudication", form=YES_NO,
        options={"makes_gold": True},
    )  # fmt: skip
    return study


def address(study: AuditStudy, name: str) -> str:
    return reverse(name, args=[study.project.slug, study.stage.slug])


def test_from_the_draw_to_the_repaired_label(study, new_context, at_work, site):
    context = new_context()
    sign_in(context, study.admin, site)
    page = context.new_page()
    page.goto(address(study, "stage"))
    draw = page.locator("#audit")
    draw.get_by_label("domain").check()
    draw.get_by_label("Items of each stratum").fill("2")
    draw.get_by_label("Seed").fill("5")
    page.evaluate("window.isSamePage = true")
    draw.get_by_role("button", name="Show the strata").click()
    # Of six strata one is empty on either side, and one has a single item: 2 + 2 + 1 + 2.
    expect(draw.get_by_role("status")).to_contain_text("7 labels of 12 would be drawn.")
    expect(draw).to_contain_text("taken whole: 1 fewer than asked for")
    assert page.evaluate("window.isSamePage") is True
    assert not Audit.objects.exists()
    draw.get_by_role("button", name="Draw and add them").click()
    expect(page.locator("#audit")).to_contain_text("7 labels of 12, up to 2 of each stratum")

    # The first reviewer calls the two labels "yes" of adversarial wrong, the second one of them; both with keys alone.
    wrong: list[str] = []
    for number, person in enumerate(study.reviewers):
        worker = at_work(person, study.stage)
        for left in range(7, 0, -1):
            expect(worker.page.locator(".draw-left summary")).to_have_text(f"{left} of 7 left to you")
            expect(worker.page.locator("[data-option-key]").first).to_have_text("1")
            words = worker.headline.text_content() or ""
            name = re.search(r"[a-z]+-[a-z_]+-\d", words)[0]
            label = worker.page.locator(".label-words").text_content().strip()
            assert label == {"yes": "Yes", "no": "No", "not_sure": "Not sure enough"}[name.split("-")[1]]
            if name.startswith("adversarial-yes") and (number == 0 or name == wrong[0]):
                wrong.append(name)
                worker.press("2")
                # The label itself is no correction: its key does nothing.
                expect(worker.page.locator("input[name='verdict.correction'][value=yes]")).to_be_disabled()
                worker.press("4", "5")
                expect(worker.page.locator("input[name='verdict.correction'][value=no]")).to_be_checked()
                if number == 0:
                    worker.field("note").fill("The source says otherwise.")
            else:
                worker.press("1")
            worker.press("Control+Enter")
            if left > 1:
                expect(worker.headline).not_to_have_text(words)
        expect(worker.headline).to_have_text(re.compile("All done|You have done everything"))
    first, second, again = wrong
    assert again == first
    assert Annotation.objects.filter(assignment__stage=study.stage).count() == 14

    # Nobody has decided yet. 14 verdicts, 3 of them wrong; of the population of 12 adversarial yes has 5.
    page.get_by_role("link", name="What the audit says").click()
    expect(page.locator("main")).to_contain_text("Provisional")
    mean = page.locator("tr", has_text="Mean of the reviewers")
    # 11 / 14 = 78.6; adversarial yes is right by 1/4: (5/4 + 3 + 1 + 3) / 12 = 68.8.
    expect(mean).to_contain_text("78.6")
    expect(mean).to_contain_text("68.8")
    expect(page.locator("#errors")).to_contain_text("2 labels were called wrong by somebody, 1 by all reviewers")
    projects.close_stage(stage=study.stage, by=study.admin)
    page.reload()
    page.get_by_label("Send to adjudicators what").select_option("all")
    page.get_by_role("button", name="Send them").click()
    expect(page.get_by_text("1 label waits for adjudicators now.")).to_be_visible()

    judge = at_work(make_member(study.project, "adjudicator"), study.judges)
    expect(judge.page.locator("#item")).to_contain_text("called wrong in an audit")
    expect(judge.page.locator(".vote-card")).to_have_count(1)
    judge.press("1")
    judge.page.get_by_label("Accept it as the gold label").check()
    judge.press("Control+Enter")
    judge.sees_item("All done")
    resolving.resolve_due()
    assert Gold.objects.get(item__external_id=first, is_current=True).answers == ["no"]
    page.reload()
    expect(page.locator("#errors")).to_contain_text("1 repaired since.")
    expect(page.locator("#errors tr", has_text=first)).to_contain_text("repaired: No")
    expect(page.locator("#errors tr", has_text=second)).to_contain_text("the label is as it was")


def test_a_draw_by_mistake_is_discarded_and_drawn_anew(study, new_context, site):
    study.draw(k=2)
    context = new_context()
    sign_in(context, study.admin, site)
    page = context.new_page()
    page.goto(address(study, "stage"))
    page.get_by_text("Discard this draw").click()
    page.get_by_label("Reason").fill("By domain, not by language.")
    page.get_by_role("button", name="Discard it").click()
    expect(page.locator("main")).to_contain_text("The draw is discarded, and the stage is a draft again.")
    assert not Audit.objects.exists()
    draw = page.locator("#audit")
    draw.get_by_label("Items of each stratum").fill("1")
    draw.get_by_role("button", name="Show the strata").click()
    draw.get_by_role("button", name="Draw and add them").click()
    expect(draw).to_contain_text("3 labels of 12, up to 1 of each stratum")


def test_words_typed_before_a_reload_are_kept(study, at_work):
    study.draw(k=1)
    worker = at_work(study.reviewers[0], study.stage)
    worker.press("2")
    worker.field("note").press_sequentially("Half a thought")
    worker.sees_state(re.compile("Saved"))
    worker.open()
    expect(worker.field("note")).to_have_value("Half a thought")
    expect(worker.option("wrong")).to_be_checked()


def test_the_pages_of_an_audit_are_accessible_and_fit(study, new_context, at_work, site):
    context = new_context()
    sign_in(context, study.admin, site)
    page = context.new_page()
    page.goto(address(study, "stage"))
    page.get_by_role("button", name="Show the strata").click()
    expect(page.locator("#audit-plan")).to_be_visible()
    assert list(problems_of(page, "audit-draw")) == []
    study.draw(k=2)
    page.goto(address(study, "stage"))
    page.get_by_text("Discard this draw").click()
    expect(page.get_by_label("Reason")).to_be_visible()
    assert list(problems_of(page, "audit-drawn")) == []
    worker = at_work(study.reviewers[0], study.stage)
    worker.press("2")
    worker.page.locator(".draw-left summary").click()
    # The domain is no content of these items, so how many of which are left is not told.
    expect(worker.page.locator(".draw-left")).not_to_contain_text("science")
    assert list(problems_of(worker.page, "audit-work")) == []
    worker.sees_state(re.compile("Saved"))
    worker.page.close()
    study.audit_all(
        lambda number, name: ("wrong", "no") if "yes" in name else "unsure" if number and "sure" in name else "right"
    )
    projects.close_stage(stage=study.stage, by=study.admin, reason="Enough is known.")
    page.goto(address(study, "audit-results"))
    expect(page.locator("main")).to_contain_text("Wilson")
    assert list(problems_of(page, "audit-results")) == []
    # Labels that share tables are told so, in more words and with wider intervals.
    tables = [make_item(study.project, external_id=f"table {n}") for n in range(3)]
    for n, item in enumerate(study.project.items.filter(golds__isnull=False).order_by("external_id")):
        study.project.items.filter(pk=item.pk).update(root=tables[n % 3])
    page.goto(address(study, "audit-results"))
    expect(page.locator("main")).to_contain_text("roots")
    assert list(problems_of(page, "audit-results-of-tables")) == []
    sent = repairing.send_errors(stage=study.stage, target=study.judges, by=study.admin, found_by="any")
    assert sent.n_sent == sum(one.n_drawn for one in draw_made(study.stage).strata if one.values[1] == "yes")
    judge = at_work(make_member(study.project, "adjudicator"), study.judges)
    expect(judge.page.locator(".vote-card")).to_have_count(1)
    assert list(problems_of(judge.page, "audit-adjudicate")) == []
