"""The watch over the other browser tests: one that sees nothing would prove nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.faults import Faults

pytestmark = pytest.mark.browser


def test_violations_errors_and_failed_requests_are_seen(chromium, site):
    faults = Faults()
    context = chromium.new_context(base_url=site)
    faults.watch(context)
    page = context.new_page()
    page.goto("/sign-in/")
    assert faults.found == []

    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        document.querySelector("h1").setAttribute("style", "color: red");
        setTimeout(() => { throw new Error("thrown on purpose"); });
        console.warn("warned on purpose");
    }""")
    page.evaluate("fetch('/nowhere/')")
    page.route("**/away/", lambda route: route.abort())
    page.evaluate("fetch('/away/').catch(() => {})")
    expect(page.locator("h1")).to_be_visible()

    seen = "\n".join(faults.found)
    for kind in (
        "violation: script-src-elem refused inline",
        "violation: style-src-attr refused inline",
        "script: thrown on purpose",
        "console: warned on purpose",
        "404: GET /nowhere/",
        "failed: GET /away/",
    ):
        assert kind in seen
    assert page.evaluate("window.ran") is None
    faults.announce("on purpose", "violation", "nowhere", "away", "console: .*Content Security Policy", "never")
    assert faults.unannounced() == []
    assert faults.missing() == ["never"]
    context.close()
