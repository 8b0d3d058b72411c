"""People in front of a browser: how they come in, and what somebody at the work page sees and does."""

from __future__ import annotations

from typing import Any, Literal

from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, ViewportSize, expect

from annotate.models import Assignment, Person, Stage
from config.doctor import find_browser

WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 390, "height": 844}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# Words of up to twelve letters that stand on two lines in what has to be read at a glance: captions, buttons, heads.
BROKEN_WORDS = """() => {
  const broken = [];
  const read = ".option-caption, button, a.button, th, .pill, h1, h2, nav a, label";
  for (const element of document.querySelectorAll(read)) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (!text.parentElement.checkVisibility() || text.parentElement.closest(".visually-hidden")) continue;
      for (const word of text.data.matchAll(/\\b[A-Za-z]{2,12}\\b/g)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def where_answers_go() -> str:
    """How every address begins to which a page of work sends."""
    return reverse("work-submit", args=["-"]).removesuffix("-/submit/")


def launch(playwright: Playwright) -> Browser:
    """Debian's own chromium: nothing is downloaded."""
    return playwright.chromium.launch(executable_path=find_browser().state, args=ARGUMENTS)


def sign_in(context: BrowserContext, person: Person, site: str) -> None:
    """A session as signing in gives it, without the page for it: that has tests of its own."""
    client = Client()
    client.force_login(person)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])


class Worker:
    """Somebody at the work page of a stage."""

    def __init__(self, page: Page, person: Person, stage: Stage) -> None:
        self.page = page
        self.person = person
        self.stage = stage

    @property
    def path(self) -> str:
        return reverse("work", args=[self.stage.project.slug, self.stage.slug])

    def open(self) -> None:
        self.page.goto(self.path)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def sees_item(self, headline: str) -> None:
        expect(self.headline).to_have_text(headline)

    def sees_state(self, words: Any) -> None:
        expect(self.page.locator("#save-state")).to_have_text(words)

    @property
    def headline(self) -> Locator:
        return self.page.locator("#item .headline")

    def field(self, name: str) -> Locator:
        return self.page.locator(f"#answer-form [name={name}]")

    def option(self, value: str) -> Locator:
        return self.page.locator(f"#answer-form input[value={value}]")

    @property
    def submit(self) -> Locator:
        return self.page.locator("#submit-answer")

    @property
    def notice(self) -> Locator:
        return self.page.locator("#notice")

    def mark(self) -> None:
        """Leave a mark in the page that a full navigation would wipe out."""
        self.page.evaluate("window.isSamePage = true")

    @property
    def is_same_page(self) -> bool:
        return bool(self.page.evaluate("window.isSamePage === true"))

    @property
    def focused(self) -> str | None:
        """The name of the field that has the focus."""
        name: str | None = self.page.evaluate("document.activeElement.name ?? null")
        return name

    @property
    def held(self) -> Assignment:
        return Assignment.objects.get(stage=self.stage, person=self.person, state="leased")
