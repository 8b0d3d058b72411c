"""Reports in a browser: the chart in both schemes, keys that page through items, a waiting page that follows."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluation.services import reporting
from tests.browser.visitors import NARROW, WIDE, sign_in
from tests.evaluation.studies import make_study
from tests.evaluation.whole_report import make_whole_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def visit(new_context, site):
    """visit(study, name, *arguments): a page of the study's project, as its admin sees it."""

    def open_page(study, name, *arguments):
        context = new_context()
        sign_in(context, study.admin, site)
        page = context.new_page()
        page.goto(reverse(name, args=[study.project.slug, *arguments]))
        return page

    return open_page


def test_the_chart_is_a_picture_of_its_own_in_light_and_dark(visit):
    study = make_study(n_items=24)
    page = visit(study, "report", study.made_report().pk)
    drawing = page.locator(".chart img")
    for scheme, name in (("light", "chart.svg"), ("dark", "chart-dark.svg")):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("(name) => document.querySelector('.chart img').currentSrc.endsWith(name)", arg=name)
        expect(drawing).to_be_visible()
        page.wait_for_function("document.querySelector('.chart img').naturalWidth > 100")


def test_j_and_k_page_through_the_items(visit):
    study = make_study(n_items=4)
    study.made_report()
    page = visit(study, "side-by-side")
    expect(page.locator(".site-head")).to_contain_text("1 of 4")
    page.keyboard.press("j")
    expect(page.locator(".site-head")).to_contain_text("2 of 4")
    expect(page.locator(".headline")).to_have_text("Question 1 about rivers?")
    page.keyboard.press("k")
    expect(page.locator(".site-head")).to_contain_text("1 of 4")
    page.keyboard.press("k")
    expect(page).to_have_url(re.compile("at=1"))


def test_a_waiting_page_becomes_the_report_when_it_is_made(visit):
    study = make_study(n_items=4)
    report = study.report()
    page = visit(study, "report", report.pk)
    expect(page.get_by_role("heading", name="Waiting for a worker")).to_be_visible()
    reporting.make_report(report_id=report.pk)
    expect(page.get_by_role("heading", name="Agreement among people")).to_be_visible()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_link_of_the_contents_opens_its_part_and_no_part_runs_out_of_the_page(new_context, site, size):
    whole = make_whole_study(n_items=12)
    report = whole.study.made_report()
    context = new_context(viewport=size)
    sign_in(context, whole.study.admin, site)
    page = context.new_page()
    page.goto(reverse("report", args=[whole.study.project.slug, report.pk]))
    parts = page.locator("details.report-part")
    assert parts.count() > 8
    assert page.locator("details.report-part[open]").count() == 0
    contents = page.get_by_role("navigation", name="Contents")
    for name in ("Where each n comes from", "Audit: Audit of gold", "Judged by people: Judges, better"):
        contents.get_by_role("link", name=name).click()
        expect(parts.filter(has=page.get_by_role("heading", name=name, exact=True))).to_have_attribute("open", "")
    expect(page.get_by_role("table", name="What each rule left out")).to_be_visible()
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
