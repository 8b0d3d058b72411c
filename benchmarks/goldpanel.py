"""The platform as one of the systems of an annotation load driver: what it does to prepare, answer and export.

The driver's `common` module gives `Adapter`, `Config` and the helpers; this file knows the pages. Everything happens as
in a browser: sign-in by participant code, session cookie, CSRF check, the form of the work page, the import page, the
export link. Two forms of the hot path:

    --set apart=0   (default) the response that acknowledges an answer carries the next item: one request an answer
    --set apart=1   one request fetches the page, one submits

Run from the project's folder, with the folder that holds `driver.py` and `common.py` on PYTHONPATH.
"""

import asyncio
import contextlib
import csv
import html
import json
import os
import re
import shutil
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path

import aiohttp
import common
from common import Adapter, timed_get

PROJECT = Path(__file__).resolve().parent.parent

SETUP = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
import django
django.setup()
from django.urls import reverse
from annotate.models import Person, Project
from annotate.services import people, projects
admin = Person.objects.create_staff(username="admin", password="a long bench password", pseudonym="P-ADMIN000")
project = projects.create_project(by=admin, title="Bench", slug="bench")
fields = [{{"name": "label", "type": "choice", "caption": "Which is it?", "decides": True, "required": True,
           "options": [{{"value": choice, "caption": choice}} for choice in {choices}]}}]
stage = projects.create_stage(project=project, by=admin, kind="label", title="Label", slug="label", fields=fields,
                              shown_keys=["text"], overlap={overlap})
members = []
for _ in range({n}):
    person, code = people.new_annotator(project=project, by=admin)
    members.append([code, person.pseudonym])
addresses = {{"work": reverse("work", args=["bench", "label"]), "submit": reverse("work-submit", args=["TOKEN"])}}
json.dump([members, addresses], sys.stdout)
"""

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
TOKEN = re.compile(r'data-token="([^"]+)"')
HEADLINE = re.compile(r'data-headline="([^"]*)"')


class System(Adapter):
    name = "goldpanel"
    database_name = "bench_goldpanel"

    def _env(self):
        pg = self.cfg.pg
        settings = {
            # As shipped, but for the cookies: production sends them over https alone, and the driver speaks http.
            "GOLDPANEL_MODE": "development",
            "GOLDPANEL_DEBUG": "false",
            "GOLDPANEL_DATA": str(Path(self.cfg.work).resolve() / "data"),
            "GOLDPANEL_ENV_FILE": "",
            "GOLDPANEL_WEB_PROCESSES": str(self.cfg.workers),
            "GOLDPANEL_WEB_THREADS": self.cfg.extra.get("threads", "4"),
            "PATH": os.environ["PATH"],
        }
        if self.cfg.database == "postgres":
            address = f"{pg['host']}:{pg['port']}/{self.database_name}"
            settings["DATABASE_URL"] = f"postgres://{pg['user']}:{pg['password']}@{address}"
        if url := self.cfg.extra.get("redis"):
            settings["REDIS_URL"] = url
        return settings

    def _python(self, *arguments):
        python = str(Path(self.cfg.system_dir) / "bin" / "python")
        done = subprocess.run([python, *arguments], cwd=PROJECT, env=self._env(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        return done.stdout

    # -- life cycle
    def prepare(self):
        shutil.rmtree(self.cfg.work, ignore_errors=True)
        (Path(self.cfg.work) / "data").mkdir(parents=True)
        if self.cfg.database == "postgres":
            common.pg_recreate(self.cfg.pg, self.database_name)
        self._python("manage.py", "migrate", "-v0")

    def start(self):
        self.port = common.free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        env = self._env() | {"GOLDPANEL_PORT": str(self.port)}
        launcher = [str(Path(self.cfg.system_dir) / "bin" / "python"), "-m", "config.launcher", "serve"]
        log = str(Path(self.cfg.work) / "server.log")
        self.procs.append(common.spawn(launcher, env=env, cwd=str(PROJECT), log=log))
        self.server = f"granian WSGI {self.cfg.workers} x {env['GOLDPANEL_WEB_THREADS']}, a worker, a scheduler"
        common.wait_http(self.base + "/sign-in/")
        # `serve` starts its children in sessions of their own; each is a child of the recorded process all the same.

    def versions(self):
        return {"goldpanel": subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=PROJECT, capture_output=True,
                                            text=True).stdout.strip()}  # fmt: skip

    # -- workload
    async def setup(self, annotators):
        program = SETUP.format(n=annotators, overlap=self.cfg.overlap, choices=common.CHOICES)
        self.members, self.addresses = json.loads(self._python("-c", program))
        self.index = {pseudonym: i for i, (_, pseudonym) in enumerate(self.members)}
        self.held = {}

    async def import_items(self, texts):
        """Upload, look at the draft, import, wait for the worker, open the stage: as an admin clicks it."""
        lines = "".join(json.dumps({"id": common.key_of(text), "text": text}) + "\n" for text in texts)
        async with self._admin() as session:
            page, _ = await self._get(session, "/p/bench/import/")
            form = controls(page, 'enctype="multipart/form-data"')
            stage = re.search(r'<option value="(\d+)"[^>]*>Label', page)[1]
            upload = aiohttp.FormData(form | {"stage": stage})
            upload.add_field("file", lines, filename="items.jsonl", content_type="application/json")
            page, draft = await self._post(session, "/p/bench/import/", upload)
            clicked = time.monotonic()
            form = controls(page, 'id="draft-form"') | {"step": "start"}
            page, job = await self._post(session, f"{draft.path}mapping/", form)
            while 'hx-trigger="every 1s"' in page:
                await asyncio.sleep(0.05)
                page, _ = await self._get(session, f"{job.path}progress/")
            if "is-good" not in page:
                raise RuntimeError(f"the import ended as {page[:1500]}")
            page, _ = await self._get(session, "/p/bench/stages/label/")
            address = "/p/bench/stages/label/state/"
            await self._post(session, address, controls(page, f'action="{address}"') | {"step": "open"})
            print(f"from the click on Import to claimable: {time.monotonic() - clicked:.2f} s", flush=True)

    async def login(self, session, i):
        await self._sign_in(session, {"code": self.members[i][0]})

    async def fetch_next(self, session, i):
        if i in self.held and self.cfg.extra.get("apart") != "1":
            return self.held.pop(i)
        async with session.get(self.base + self.addresses["work"]) as response:
            return _item_on(await self._text(response))

    async def submit(self, session, i, handle, choice):
        async with session.post(
            self.base + self.addresses["submit"].replace("TOKEN", handle["token"]),
            data=handle["form"] | {"label": choice, "active_seconds": "1"},
            headers={"HX-Request": "true", "Referer": self.base},
        ) as response:
            page = await self._text(response)
        if following := _item_on(page):
            self.held[i] = following

    async def export(self, path):
        size = 0
        async with self._admin() as session, session.get(f"{self.base}/p/bench/export/answers.csv?form=exact") as got:
            got.raise_for_status()
            with open(path, "wb") as file:
                async for chunk in got.content.iter_chunked(1 << 16):
                    file.write(chunk)
                    size += len(chunk)
        return size

    def read_export(self, path):
        with open(path, newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                if row["revision"]:  # else an offer that was skipped or ran out
                    yield row["item"], self.index[row["person"]], row["answer.label"]

    async def list_page(self):
        async with self._admin() as session:
            return [await timed_get(session, "items", f"{self.base}/p/bench/items/")]

    # -- as a browser does it
    async def _text(self, response):
        page = await response.text()
        if response.status >= 400:
            raise RuntimeError(f"{response.status} {page[:200]}")
        return page

    async def _get(self, session, path):
        async with session.get(self.base + path) as response:
            return await self._text(response), response.url

    async def _post(self, session, path, form):
        async with session.post(self.base + path, data=form, headers={"Referer": self.base}) as response:
            return await self._text(response), response.url

    async def _sign_in(self, session, secret):
        async with session.get(f"{self.base}/sign-in/") as response:
            form = dict(HIDDEN.findall(await self._text(response)))
        data = {"csrfmiddlewaretoken": form["csrfmiddlewaretoken"]} | secret
        async with session.post(f"{self.base}/sign-in/", data=data, headers={"Referer": self.base}) as response:
            await self._text(response)

    @contextlib.asynccontextmanager
    async def _admin(self):
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            await self._sign_in(session, {"username": "admin", "password": "a long bench password"})
            yield session


class _Controls(HTMLParser):
    """The successful controls of a form, as a browser would send them; buttons and files aside."""

    def __init__(self):
        super().__init__()
        self.sent, self.select, self.area = {}, None, None

    def handle_starttag(self, tag, attrs):
        at = dict(attrs)
        if tag == "input" and at.get("name") and at.get("type") not in ("file", "submit"):
            if at.get("type") not in ("checkbox", "radio") or "checked" in at:
                self.sent[at["name"]] = at.get("value") or ("on" if at.get("type") == "checkbox" else "")
        elif tag == "select":
            self.select = at.get("name")
        elif tag == "option" and self.select and ("selected" in at or self.select not in self.sent):
            self.sent[self.select] = at.get("value", "")
        elif tag == "textarea":
            self.area = at.get("name")

    def handle_endtag(self, tag):
        if tag == "select":
            self.select = None


def controls(page, mark):
    """{name: value} of the first form whose start tag holds `mark`."""
    start = page.rindex("<form", 0, page.index(mark) + 1)
    parser = _Controls()
    parser.feed(page[start : page.index("</form>", start)])
    return parser.sent


def _item_on(page):
    """(handle, text) of the item on a work page or fragment; None where it shows that nothing is left."""
    if 'id="answer-form"' not in page:
        return None
    token, text = TOKEN.search(page), HEADLINE.search(page)
    form = dict(HIDDEN.findall(page[page.index('id="answer-form"') :].partition("</form>")[0]))
    return {"token": token[1], "form": form}, html.unescape(text[1])
