"""A small browser: pages by HTTP, forms filled in and sent with everything hidden in them. No Django, no scripts."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookiejar import CookieJar
from urllib.parse import urlencode, urljoin

TIMEOUT_SECONDS = 30.0


class PageMissing(Exception):
    """The server answered with an error, or a page had no such form: its address and what was found."""


@dataclass
class Form:
    """A form as it would be sent untouched; `choices` holds the values of its radio buttons by name."""

    action: str
    method: str
    values: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


@dataclass
class Page:
    """What came back. `data` are the data-attributes of the element with id="item", `item_id` its external id."""

    url: str
    status: int
    html: str
    forms: dict[str, Form]
    links: list[str]
    data: dict[str, str]
    item_id: str

    def form_to(self, ending: str) -> Form:
        """The form whose address ends like this."""
        for form in self.forms.values():
            if form.action.partition("?")[0].endswith(ending):
                return form
        raise PageMissing(f"{self.url} ({self.status}) has no form to …{ending}")


class Browser:
    """One person's: its own cookies, its own session."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(CookieJar()),
            # The demonstration talks to this machine; a proxy of the environment has no part in it.
            urllib.request.ProxyHandler({}),
        )

    def get(self, address: str) -> Page:
        return self._open(urllib.request.Request(urljoin(self.base_url, address)))

    def send(self, page: Page, form: Form, changes: Mapping[str, str] | None = None) -> Page:
        """Send the form of the page with these values in it, as its button would."""
        body = urlencode(form.values | dict(changes or {})).encode()
        # Over HTTPS Django compares the referring page; sending it always is what a browser does.
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Referer": page.url}
        return self._open(urllib.request.Request(urljoin(page.url, form.action), data=body, headers=headers))

    def _open(self, request: urllib.request.Request) -> Page:
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as response:
                return read_page(response.url, response.status, response.read().decode())
        except urllib.error.HTTPError as problem:
            with problem:
                seen = problem.read(300).decode(errors="replace")
            raise PageMissing(f"{request.full_url} answered {problem.code}: {seen}") from None


def read_page(url: str, status: int, html: str) -> Page:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return Page(url, status, html, reader.forms, reader.links, reader.data, reader.item_id)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: dict[str, Form] = {}
        self.links: list[str] = []
        self.data: dict[str, str] = {}
        self.item_id = ""
        self._form: Form | None = None
        self._textarea = ""
        self._in_meta = False
        self._takes_id = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if found.get("id") == "item":
            self.data = {name.removeprefix("data-"): value for name, value in found.items() if name[:5] == "data-"}
        if "item-meta" in found.get("class", "").split():
            self._in_meta = True
        if tag == "bdi" and self._in_meta and not self.item_id:
            self._takes_id = True
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "form":
            self._form = Form(found.get("action", ""), found.get("method", "get").lower())
            self.forms[found.get("id") or f"form-{len(self.forms)}"] = self._form
        elif tag == "input":
            self._input(found)
        elif tag == "textarea" and self._form and found.get("name"):
            self._textarea = found["name"]
            self._form.names.add(self._textarea)
            self._form.values[self._textarea] = ""

    def _input(self, found: dict[str, str]) -> None:
        form = self.forms.get(found["form"]) if "form" in found else self._form
        name = found.get("name")
        if form is None or not name:
            return
        form.names.add(name)
        kind = found.get("type", "text")
        if kind == "radio":
            form.choices.setdefault(name, []).append(found.get("value", "on"))
        if kind not in ("radio", "checkbox") or "checked" in found:
            form.values[name] = found.get("value", "on" if kind == "checkbox" else "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "textarea":
            self._textarea = ""
        elif tag == "p":
            self._in_meta = False
        elif tag == "bdi":
            self._takes_id = False

    def handle_data(self, data: str) -> None:
        if self._textarea and self._form:
            # The line break right after <textarea> belongs to the markup.
            known = self._form.values[self._textarea]
            self._form.values[self._textarea] = known + data if known else data.removeprefix("\n")
        elif self._takes_id:
            self.item_id += data
