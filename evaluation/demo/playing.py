"""The sample people at work: everything they do is a request that a browser without scripts would send. No Django."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, field

from evaluation.demo.browser import Browser, Form, Page, PageMissing
from evaluation.demo.sample_people import CHANGED, Reply, reply
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
    """One sample person.

    number: 0, 1 or 2, which decides what they get wrong. gold: item -> acceptable answers. changes: the item whose
    answer this person changes right after giving it.
    """

    number: int
    sign_in: SignIn
    base_url: str
    gold: Mapping[str, Sequence[str]]
    changes: str = ""
    played: Played = field(default_factory=Played)
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
        following = self.browser.send(page, form, _filled(form, does))
        return self.change_last(following) if page.item_id == self.changes else following

    def answer_late(self, page: Page) -> Page:
        """Send the form of a page whose lease has run out meanwhile."""
        self.played.late += 1
        self.played.answered += 1
        form = page.form_to("/submit/")
        return self.browser.send(page, form, _filled(form, self._reply(page)))

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
    """The three annotators do everything there is, at the same time. gold: a stage's work page -> item -> answers.

    The first one leaves an item lying and answers it late; until_lease_is_over is called with its page and returns
    when the lease has run out. The second one changes an answer. Which items these are does not depend on the order in
    which items come, so that the figures are the same every time.
    """
    everything = {item: answers for stage in gold.values() for item, answers in stage.items()}
    players = [Player(number, sign_in, base_url, everything) for number, sign_in in enumerate(sign_ins)]
    for player in players:
        player.enter()
    late, changing, *_ = players
    changing.changes = CHANGED
    left_lying = late.open(list(gold)[-1])
    if left_lying.data.get("state") == "open":
        until_lease_is_over(left_lying)
        late.answer_late(left_lying)

    def at_work(player: Player) -> None:
        for work_url in gold:
            player.work_through(work_url)

    with ThreadPoolExecutor(max_workers=len(players)) as together:
        for done in [together.submit(at_work, player) for player in players]:
            done.result()
    return Played(*(sum(numbers) for numbers in zip(*(astuple(player.played) for player in players), strict=True)))
