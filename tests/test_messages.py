"""No word of a page is missing in any of its languages, and none says something else.

What is gathered anew from templates, Python and scripts must be what is committed; templates hold no words outside of
translation tags.
"""

from __future__ import annotations

import ast
import gettext
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.utils import translation

from config import messages
from config.env import PROJECT

TEMPLATES = sorted((PROJECT / "templates").rglob("*.html"))
SCRIPTS = sorted((PROJECT / "static" / "js").glob("*.js"))
CATALOGUES = messages.catalogues()
# What stands in every language as it is: names, file formats, units, keys.
UNTRANSLATED = frozenset(
    [
        *(
            "Goldpanel",
            "gold",
            "panel",
            "UTC",
            "CSV",
            "JSON",
            "SVG",
            "PNG",
            "Markdown",
            "LaTeX",
            "SHA",
            "SD",
            "Holm",
            "BH",
        ),
        *("ms", "s", "p", "n", "h", "Ctrl", "Alt", "Del", "Shift", "Esc"),
    ]
)
# Attributes that people read or hear.
READ_ALOUD = frozenset(["aria-label", "aria-description", "title", "placeholder", "alt", "data-dialog"])


@dataclass
class Message:
    id: str
    plural: str = ""
    context: str = ""
    said: list[str] = field(default_factory=list)
    flags: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[str, str, str]:
        return self.context, self.id, self.plural


@pytest.fixture(scope="module")
def gathered(tmp_path_factory) -> Path:
    """A copy of the project whose catalogues were just brought up to date."""
    if shutil.which("xgettext") is None:
        pytest.skip("GNU gettext is not installed (apt install gettext)")
    copy = tmp_path_factory.mktemp("gathered")
    for folder in ("config", "annotate", "evaluation", "templates", "locale", "static/js"):
        shutil.copytree(PROJECT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", "migrations"))
    for path in (PROJECT / "manage.py", *PROJECT.glob("requirements*.txt")):
        shutil.copy(path, copy)
    messages.gather(copy)
    return copy


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_every_message_is_in_the_catalogue_and_no_other(path, gathered):
    now = {message.key for message in read(gathered / path.relative_to(PROJECT))}
    committed = {message.key for message in read(path)}
    assert now - committed == set(), "new words: run python -m config.messages and translate what is empty"
    assert committed - now == set(), "words that are gone: run python -m config.messages"


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_every_message_is_translated_and_none_is_fuzzy(path):
    text = path.read_text(encoding="utf-8")
    assert "#~" not in text
    rows = read(path)
    assert [message.id for message in rows if "fuzzy" in message.flags] == []
    assert [message.id for message in rows if not message.said or not all(message.said)] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_translation_has_the_placeholders_and_the_markup_of_its_message(path):
    n_forms = int(re.search(r"nplurals=(\d+)", path.read_text(encoding="utf-8"))[1])
    for message in read(path):
        assert len(message.said) == (n_forms if message.plural else 1), message.id
        expected = placeholders(message.plural or message.id)
        for said in message.said:
            assert placeholders(said) == expected, (message.id, said)
            assert sorted(re.findall(r"<[^>]+>", said)) == sorted(
                re.findall(r"<[^>]+>", message.plural or message.id)
            ), (message.id, said)


@pytest.mark.parametrize("folder", ["annotate", "evaluation", "config"])
def test_words_are_marked_by_a_name_that_the_gathering_knows(folder):
    # Under another one they would stay English, and no test above would miss them.
    known = {"_", *(name for name in dir(translation) if "gettext" in name)}
    for path in sorted((PROJECT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in ("django.utils.translation", "annotate.wording"):
                for one in node.names:
                    if "gettext" in one.name or one.name == "_":
                        assert (one.asname or one.name) in known, f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("folder", ["annotate", "evaluation"])
def test_what_a_page_says_after_a_step_is_marked(folder):
    # A text as it stands, and a sentence that an f-string has swallowed, stay English on every page.
    for path in sorted((PROJECT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name("messages")), args=[_, told, *_]):
                    where = f"{path.name}:{node.lineno}"
                    assert not isinstance(told, ast.Constant), where
                    assert not isinstance(told, ast.JoinedStr) or "said(" in ast.unparse(told), where


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_what_is_compiled_says_what_its_source_says(path):
    compiled = _compiled(path.with_suffix(".mo"))
    expected = {}
    for message in read(path):
        context = f"{message.context}\x04" if message.context else ""
        for form, said in enumerate(message.said):
            expected[(context + message.id, form) if message.plural else context + message.id] = said
    assert compiled == expected, "compile it: python -m config.messages"


def test_a_translation_is_in_its_own_script():
    # A Chinese sentence without a Chinese character was not translated; names and formats of dates are.
    (path,) = [path for path in CATALOGUES if path.parts[-3] == "zh_Hans" and path.stem == "django"]
    names = re.compile(r"[A-Z0-9][\w.-]*|[a-z]+-?[A-Z]\w*|\W+|[nD]|token|\./goldpanel.*")
    left = [
        message.id
        for message in read(path)
        if re.search(r"[a-z]{3,} [a-z]{3,}", message.id)
        and not re.search(r"[\u4e00-\u9fff]", "".join(message.said))
        and not names.fullmatch(message.id)
        and not message.id.startswith("./goldpanel")
        and re.sub(r"%\(\w+\)s|<[^>]*>", "", message.said[0]).strip(" /，；。：…–")
    ]
    assert left == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(PROJECT / "templates")))
def test_a_template_has_no_words_outside_of_translation_tags(path):
    assert words_left(path.read_text(encoding="utf-8")) == []


def test_words_outside_of_translation_tags_are_found():
    assert words_left('{% load i18n %}<p title="a word">{{ name }} and {% translate "these" %}</p>') == [
        "a word",
        "and",
    ]
    assert words_left("{# none #}<p>{% blocktranslate %}All of it{% endblocktranslate %} <kbd>Ctrl Z</kbd></p>") == []
    assert words_left('{% include "x.html" with title="No item" only %}') == ["No item"]
    assert words_left('{{ name|default:"nobody at all" }}') == ["nobody at all"]


def words_left(template: str) -> list[str]:
    """Words in the text and the attributes of a template that no translation tag holds."""
    template = re.sub(r"\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}", "", template, flags=re.S)
    template = re.sub(r"\{% blocktranslate.*?\{% endblocktranslate %\}", "", template, flags=re.S)
    template = re.sub(r"\{% block (?:page|body)_class %\}.*?\{% endblock %\}", "", template, flags=re.S)
    found = []
    for tag in re.findall(r"\{%.*?%\}|\{\{.*?\}\}", template, flags=re.S):
        # Sentences as arguments: title="No item yet", default:"nobody".
        literals = re.findall(r"""(?:=|default:|default_if_none:)"([^"]*)\"""", tag)
        found += [text for text in literals if re.search(r"[A-Za-z]{2,} [A-Za-z]|[A-Z][a-z]", text) and "/" not in text]
    reader = _Words()
    reader.feed(re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", template, flags=re.S))
    reader.close()
    return found + reader.found


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._silent += tag in {"kbd", "code"}
        for name, value in attributes:
            if name in READ_ALOUD and _is_words(value or ""):
                self.found.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in {"kbd", "code"}

    def handle_data(self, data: str) -> None:
        if not self._silent and _is_words(data):
            self.found.append(data.strip())


def _is_words(text: str) -> bool:
    return any(word not in UNTRANSLATED for word in re.findall(r"[^\W\d_]+", text))


def placeholders(text: str) -> list[str]:
    """What is filled in, each once: a language may name a thing twice."""
    return sorted(set(re.findall(r"%\(\w+\)[sd]|\{\w*\}|%%", text)))


def read(path: Path) -> list[Message]:
    """The messages of a catalogue, without its head."""
    return [message for message in _messages(path.read_text(encoding="utf-8")) if message.id]


def _messages(text: str) -> Iterator[Message]:
    for block in re.split(r"\n\s*\n", text):
        parts: dict[str, str] = {}
        flags: frozenset[str] = frozenset()
        current = ""
        for line in block.splitlines():
            if line.startswith("#,"):
                flags = frozenset(flag.strip() for flag in line[2:].split(","))
            elif match := re.fullmatch(r'(msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?) (".*")', line):
                current = match[1]
                parts[current] = json.loads(match[2])
            elif line.startswith('"'):
                parts[current] += ast.literal_eval(line)
        if "msgid" in parts:
            said = [text for name, text in parts.items() if name.startswith("msgstr")]
            yield Message(parts["msgid"], parts.get("msgid_plural", ""), parts.get("msgctxt", ""), said, flags)


def _compiled(path: Path) -> dict[object, str]:
    with path.open("rb") as file:
        said = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    return {key: text for key, text in said.items() if key != ""}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_says_nothing_outside_of_gettext(path):
    assert said_by(path.read_text(encoding="utf-8")) == []


def test_what_a_script_says_outside_of_gettext_is_found():
    assert said_by("announce(`Next item: ${title}`); // A comment: it's no matter") == ["Next item: ${title}"]
    assert said_by('notice(gettext("Not saved (%(status)s).", { status }), again("x y")); /* "Some words" */') == []


def said_by(script: str) -> list[str]:
    """Sentences in a script that stand neither in a call of gettext nor in one of the console."""
    text = r"([\"'`])(?:(?!\{}).)*\{}"
    code = re.sub(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", "", script, flags=re.DOTALL)
    code = re.sub(rf"(?:gettext|console\.\w+)\(\s*{text.format(1, 1)}(?:,\s*{text.format(2, 2)})?", "", code)
    texts = [text for _, text in re.findall(r"([\"'`])((?:(?!\1).)*)\1", code)]
    return [text for text in texts if re.match(r"[A-Z][a-z]+:? (?:[a-z]{2,}|\$\{)", text)]
