"""Whether a page can be read and used by everybody: axe's rules, its width and its words, in each size and scheme."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.visitors import BROKEN_WORDS, NARROW, SCHEMES, WIDE

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# The schemes differ in nothing but colours: in the second one only the rules about colours are applied again.
RULES: dict[str, dict[str, Any]] = {
    "light": {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"]},
    "dark": {"runOnly": ["color-contrast", "link-in-text-block"], "resultTypes": ["violations"]},
}


def problems_of(page: Page, name: str) -> Iterator[str]:
    """What is wrong with the page on screen, in each size and scheme, in words that find it."""
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)
        yield from problems_at_this_size(page, name)


def problems_at_this_size(page: Page, name: str) -> Iterator[str]:
    """The same for a page whose size the test has chosen; with GOLDPANEL_SHOTS=FOLDER it is photographed as well."""
    size = page.evaluate("innerWidth")
    width = page.evaluate("document.documentElement.scrollWidth")
    if width > size:
        yield f"{name} at {size}: the page is {width} wide"
    if broken := page.evaluate(BROKEN_WORDS):
        yield f"{name} at {size}: words broken in two, {broken}"
    for scheme in SCHEMES:
        # No colour is on its way to another.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if folder := os.environ.get("GOLDPANEL_SHOTS"):
            page.screenshot(path=f"{folder}/{name}-{size}-{scheme}.png", full_page=True)
        found = Axe().run(page, options=RULES[scheme]).response
        assert found["passes"], "no rule was applied"
        for violation in found["violations"]:
            for node in violation["nodes"]:
                yield f"{name} at {size}, {scheme}: {violation['id']} {node['html'][:300]}"
