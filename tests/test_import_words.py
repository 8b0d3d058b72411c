"""Whatever is wrong with a file is said in the language of the page, with its place, live and as it was stored."""

from __future__ import annotations

import ast
import json
import re
from types import SimpleNamespace

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotate.exceptions import ImportRefused
from annotate.models import ImportJob
from annotate.services import importing
from annotate.services.importing.problems import Problems
from annotate.sources.errors import SourceError
from annotate.speaking import said_again
from annotate.wording import _, said
from config.env import PROJECT
from tests.factories import make_item, make_member, make_project, make_stage

pytestmark = pytest.mark.django_db

FOLDERS = (
    "annotate/sources",
    "annotate/services/importing",
    "evaluation/clients/logs",
    "evaluation/services/log_importing",
)
DAMAGED = _("The ZIP cannot be read (it has no directory at its end); pack it again.")
HAN = re.compile("[\u4e00-\u9fff]")

# Files that are refused at once, or whose preview lists what is wrong.
BAD = {
    "empty": ("a.jsonl", b""),
    "blank lines alone": ("a.jsonl", b"\n\n\n"),
    "no JSON": ("a.jsonl", b'{"id": "1", "question": "Is it?"}\n{"id": "2", "question": \n'),
    "a list in JSONL": ("a.jsonl", b'{"id": "1", "question": "Is it?"}\n[1, 2]\n'),
    "a value after the JSON": ("a.jsonl", b'{"id": "1"} 7\n{"id": "2"}\n'),
    "a key twice": ("a.jsonl", b'{"id": "1", "question": "a", "question": "b"}\n'),
    "NaN": ("a.jsonl", b'{"id": "1", "question": NaN}\n'),
    "NUL": ("a.csv", b"id,question\n1,a\x00b\n"),
    "JSON array cut off": ("a.json", b'[{"id": "1", "question": "Is it?"}, {"id": '),
    "JSON of no rows": ("a.json", b"7"),
    "more fields than names": ("a.csv", b"id,question\n1,Is it?,more\n2,Is it\n"),
    "quote that is not closed": ("a.csv", b'id,question\n1,"Is it?\n2,Is it\n'),
    "a name twice": ("a.csv", b"id,id,question\n1,1,Is it?\n"),
    "names alone": ("a.csv", b"id,question\n"),
    "an id twice": ("a.csv", b"id,question\n1,Is it?\n1,Was it?\n"),
    "a known id with other content": ("a.csv", b"id,question\nknown,Other?\n"),
    "no ZIP": ("a.zip", b"PK\x03\x04 and nothing more"),
    "no workbook": ("a.xlsx", b"PK\x03\x04 and nothing more"),
    "no Parquet": ("a.parquet", b"PAR1 and nothing more PAR1"),
    "a picture": ("a.jsonl", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    "deep": ("a.jsonl", b'{"id": "1", "question": ' + b"[" * 200 + b"]" * 200 + b"}\n"),
}


class World(SimpleNamespace):
    def __init__(self) -> None:
        project = make_project()
        super().__init__(project=project, admin=make_member(project, "admin"))
        make_item(project, [["question", "Known?"]], external_id="known")

    def browser(self, language: str) -> Client:
        client = Client(headers={"accept-language": language})
        client.force_login(self.admin)
        return client


def faults_on(page: str) -> list[str]:
    """What the lists of faults and the alerts of a page say, without the excerpts of the file."""
    lists = re.findall(r'<ol class="error-list">(.*?)</ol>', page, re.DOTALL)
    alerts = re.findall(r'<div class="alert is-bad"[^>]*>(.*?)</div>', page, re.DOTALL)
    found = []
    for part in (*lists, *alerts):
        for text in re.split(r"</li>|</p>", re.sub(r'<span class="excerpt".*?</span>', "", part, flags=re.DOTALL)):
            words = " ".join(re.sub(r"<[^>]+>", " ", text).split())
            if words:
                found.append(words)
    return found


def left_in_english(told: list[str]) -> list[str]:
    """Sentences without Chinese, and three English words in a row, but for what a library said of its own format."""
    ours = [re.sub("（Parquet .*?）", "", words) for words in told]
    return [words for words in ours if not HAN.search(words) or re.search("[a-z]+ [a-z]+ [a-z]+", words)]


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_file_is_said_in_chinese(name: str):
    world = World()
    file, data = BAD[name]

    def page(language: str) -> str:
        sent = {"file": ContentFile(data, name=file)}
        response = world.browser(language).post(reverse("import", args=[world.project.slug]), sent, follow=True)
        return response.content.decode()

    english, chinese = faults_on(page("en")), faults_on(page("zh-CN"))
    assert english, "this file is not bad enough"
    assert len(english) == len(chinese)
    assert left_in_english(chinese) == []


@pytest.mark.parametrize("name", BAD)
def test_a_stored_fault_is_said_in_chinese_by_every_page_that_shows_it(name: str):
    world = World()
    file, data = BAD[name]
    try:
        job = importing.draft_import(project=world.project, by=world.admin, file=ContentFile(data), name=file)
    except ImportRefused as refusal:
        stored = ImportJob(error=str(refusal), report={"problems": json.loads(json.dumps(refusal.problems))})
    else:
        try:
            importing.start_import(job=job, by=world.admin)
            importing.run_import(job_id=job.pk)
        except ImportRefused:
            pass
        stored = ImportJob.objects.get()
    with translation.override("zh-hans"):
        told = [said_again(stored.error), *(said_again(one["message"]) for one in stored.report.get("problems", []))]
    assert left_in_english([words for words in told if words]) == []


def test_the_stages_to_choose_from_say_their_state_in_chinese():
    world = World()
    make_stage(world.project, title="Label")
    page = world.browser("zh-CN").get(reverse("import", args=[world.project.slug])).content.decode()
    sent = {"file": ContentFile(b"id,question\n1,Is it?\n", name="a.csv")}
    page += (
        world.browser("zh-CN").post(reverse("import", args=[world.project.slug]), sent, follow=True).content.decode()
    )
    (label,) = set(re.findall(r"Label \(([^)]*)\)", page))
    assert HAN.search(label)


# The place before a sentence


@pytest.mark.parametrize(
    ("place", "english", "chinese"),
    [
        ({}, "", ""),
        ({"line": 1_203}, "Line 1,203: ", "第 1,203 行："),
        ({"line": 3, "column": 4}, "Line 3, column 4: ", "第 3 行，第 4 列："),
        ({"line": 3, "row": 2, "field": "a, b"}, "Line 3, row 2, field “a, b”: ", "第 3 行，第 2 行，字段“a, b”："),
        ({"field": "line 7: x"}, "Field “line 7: x”: ", "字段“line 7: x”："),
    ],
)
def test_a_fault_has_its_place_before_it_in_either_language(place, english: str, chinese: str):
    fault = SourceError(DAMAGED, **place)
    assert fault.message == f"{english}{fault.problem}"
    assert said(fault.message) == fault.message, "in English as it is stored"
    with translation.override("zh-hans"):
        problem = said(fault.problem)
        assert HAN.search(problem)
        assert said(fault.message) == f"{chinese}{problem}"
        assert said_again(str.__str__(fault.message)) == f"{chinese}{problem}"


def test_faults_of_many_rows_say_how_many_and_where_first():
    problems = Problems()
    for line in (2, 5, 9):
        problems.add(SourceError(DAMAGED, line=line, field="gold"))
    (told,) = problems.shown
    assert told["message"].startswith("3 rows, first in lines 2, 5, 9, field “gold”: The ZIP")
    with translation.override("zh-hans"):
        again = said_again(json.loads(json.dumps(told))["message"])
        assert again == said(told["message"])
        assert not re.search("[a-z]{3}.*[a-z]{3} ", again.replace("gold", ""))
        assert HAN.search(said_again(str.__str__(str(problems.as_refusal()))))


@pytest.mark.parametrize("text", ["Line 3", "Line x: y", "Field of flowers: a poem", "3 rows", "In “a” we trust"])
def test_what_only_begins_like_a_place_stays_as_it_is(text: str):
    with translation.override("zh-hans"):
        assert said_again(text) == text


def test_no_fault_of_a_file_is_raised_with_bare_english():
    """A sentence that is no Words, or is glued together, stays English on every page."""
    bare = []
    for folder in FOLDERS:
        for path in sorted((PROJECT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Name):
                    continue
                if re.search("(SourceError|MappingError|Refused|LogError)$", node.func.id):
                    words = node.args[0]
                    is_text = isinstance(words, ast.Constant) and isinstance(words.value, str)
                    if is_text or isinstance(words, ast.JoinedStr | ast.BinOp):
                        bare.append(f"{path.name}:{node.lineno}")
    assert bare == []
