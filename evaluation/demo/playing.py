"""The sample people at work: everything they do is a request that a browser without scripts would send. No Django."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.demo.browser import Browser, Form, Page, PageMissing
from evaluation.demo.sample_people import Reply, reply
from evaluation.demo.sign_ins import SignIn

# More pages than this for one stage would be a page that never ends.
MOST_PAGES = 10_000


@dataclass
class Played:
    """What was done, in numbers."""

    answered: int = 0
    skipped: int = 0
    late: int = 0
    changed: int = 0


@dataclass
class Player:
    """One sample person. number: 0, 1 or 2, which decides what they get wrong; gold: item -> acceptable answers."""

    number: int
    sign_in: SignIn
    base_url: str
    gold: Mapping[str, Sequence[str]]
    played: Played
    browser: Browser = field(init=False)

    def __post_init__(self) -> None:
        self.browser = Browser(self.base_url)

    def enter(self) -> None:
        """Sign in with the code. Raises PageMissing if that does not lead to the person's own stages."""
        page = self.browser.get("/sign-in/")
        form = next((form for form in page.forms.values() if "code" in form.names), None)
        if form is None:
            raise PageMissing(f"{page.url} asks for no code")
        home = self.browser.send(page, form, {"code": self.sign_in.secret})
        if not any(link.startswith("/work/") for link in home.links):
            raise PageMissing(f"{home.url} offers {self.sign_in.pseudonym} no stage")

    def open(self, work_url: str) -> Page:
        return self.browser.get(work_url)

    def work_through(self, work_url: str, page: Page | None = None) -> Page:
        """Answer or skip item after item until nothing is left; the page that says so."""
        page = page or self.open(work_url)
        for _ in range(MOST_PAGES):
            if page.data.get("state") != "open":
                return page
            page = self.deal_with(page)
        raise PageMissing(f"{work_url} never ends")

    def deal_with(self, page: Page) -> Page:
        does = self._reply(page)
        if does.skip_reason:
            self.played.skipped += 1
            return self.browser.send(page, page.form_to("/skip/"), {"reason": does.skip_reason, "note": does.skip_note})
        self.played.answered += 1
        form = page.form_to("/submit/")
        return self.browser.send(page, form, _filled(form, does))

    def answer_late(self, page: Page) -> Page:
        """Send the form of a page whose lease has run out meanwhile, whatever it takes to have an answer."""
        self.played.late += 1
        self.played.answered += 1
        form = page.form_to("/submit/")
        does = self._reply(page)
        if does.skip_reason:
            does = Reply(self.gold[page.item_id][0], active_seconds=30)
        return self.browser.send(page, form, _filled(form, does))

    def change_last(self, page: Page) -> Page:
        """Change the last answer to one that differs; the page says where."""
        link = next((link for link in page.links if link.endswith("/revise/")), None)
        if link is None:
            raise PageMissing(f"{page.url} offers no way to change the last answer")
        before = self.browser.get(link)
        form = before.form_to("/revise/")
        (name, options), *_ = form.choices.items()
        other = next(option for option in options if option != form.values.get(name))
        self.played.changed += 1
        return self.browser.send(before, form, {name: other, "active_seconds": "6"})

    def _reply(self, page: Page) -> Reply:
        if page.item_id not in self.gold:
            raise PageMissing(f"{page.url} shows {page.item_id!r}, which has no gold here")
        options = next(iter(page.form_to("/submit/").choices.values()), [])
        return reply(self.number, page.item_id, self.gold[page.item_id], options)


def _filled(form: Form, does: Reply) -> dict[str, str]:
    """The answer under the name of the form's first field, the reason under the second."""
    values = {"active_seconds": str(does.active_seconds)}
    if form.choices:
        return values | {next(iter(form.choices)): does.answer}
    return values | {"answer": does.answer, "why": does.why}


def play(
    *,
    base_url: str,
    sign_ins: Sequence[SignIn],
    gold: Mapping[str, Mapping[str, Sequence[str]]],
    until_lease_is_over: Callable[[Page], None],
) -> Played:
    """The three annotators do everything there is in both stages. gold: path of a stage's work page -> item -> answers.

    until_lease_is_over: called with the page that the first one leaves lying; it returns when the lease has run out.
    """
    played = Played()
    everything = {item: answers for stage in gold.values() for item, answers in stage.items()}
    first, *others = [Player(number, sign_in, base_url, everything, played) for number, sign_in in enumerate(sign_ins)]
    left_lying: Page | None = None
    first.enter()
    last_stage = list(gold)[-1]
    page = first.open(last_stage)
    if page.data.get("state") == "open":
        left_lying = page
        until_lease_is_over(page)
    for player in others:
        player.enter()
        for number, work_url in enumerate(gold):
            before = played.answered
            end = player.work_through(work_url)
            if number == 0 and player is others[0] and played.answered > before:
                player.change_last(end)
    if left_lying is not None:
        first.answer_late(left_lying)
    for work_url in gold:
        first.work_through(work_url)
    return played
