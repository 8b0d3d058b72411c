"""Markdown, LaTeX and Org: headings with a line of text each, in which words are bold and pictures stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from annotate.sources.structext.chance import Chance
from annotate.sources.structext.names import WORDS, name_of, names
from annotate.sources.structext.problem import Problem, Size, Task, distinct
from annotate.sources.structext.trees import Node, full_tree

ENDINGS = ("jpg", "jpeg", "png", "gif")
# Texts count on from a number of at least so many words, so that those of neighbours look alike.
LEAST_WORDS = 3
# More levels than these a published question cannot name.
PUBLISHED_LEVELS = ("section", "subsection", "subsubsection")


@dataclass(frozen=True, slots=True)
class Markup:
    """How headings (of level 1 and more), bold texts and pictures are written, and what is answered without any.

    published_lag: by so many levels the published headings below the first are too high.
    """

    language: str
    caption: str
    heading: Callable[[str, int], str]
    bold: str
    picture: str
    pictures: str
    no_picture: str
    published_lag: int = 0

    @property
    def no_bold(self) -> str:
        return "No bold text is in the file."


@dataclass(slots=True)
class Outline:
    """bold and pictures: of all texts, in the order of the file."""

    root: Node
    bold: list[str]
    pictures: list[str]


MARKDOWN = Markup(
    "markdown",
    "Markdown",
    lambda name, level: f"{'#' * level} {name}",
    "**{}**",
    '![alt]({} "hover text")',
    "pictures",
    "No picture is in the file.",
)
LATEX = Markup(
    "latex",
    "LaTeX",
    lambda name, level: f"\\{'sub' * (level - 1)}section{{{name}}}",
    "\\textbf{{{}}}",
    "\\includegraphics[width=0.5\\textwidth]{{{}}}",
    "figures",
    "No figure is in the file.",
    published_lag=1,
)
ORG = Markup(
    "org",
    "Org",
    lambda name, level: f"{'*' * level} {name}",
    "*{}*",
    "[[{}]]",
    "pictures",
    "No picture is in the file.",
)


def make_outline(markup: Markup, size: Size, chance: Chance) -> Outline:
    ids, phrases = names(chance.below(26)), names(chance.below(26), WORDS, " ")
    number = _first_text(max(size.attributes, LEAST_WORDS), chance)
    stems = names(chance.between(100, 250))
    outline = Outline(Node(""), [], [])

    def made(path: tuple[int, ...]) -> Node:
        nonlocal number
        text = name_of(number, WORDS, " ")
        number += 1
        marks = []
        # Each place is drawn whether it is used or not: the others must not move with it.
        for is_bold in (True, False):
            place, is_there = chance.below(len(text) + 1), chance.happens(0.5)
            if is_bold and is_there:
                outline.bold.append(next(phrases))
                marks.append((place, markup.bold.format(outline.bold[-1])))
            elif is_there:
                outline.pictures.append(f"{next(stems)}.{chance.pick(ENDINGS)}")
                marks.append((place, markup.picture.format(outline.pictures[-1])))
        return Node(next(ids), path, text=_with_marks(text, marks, is_published=size.is_published))

    outline.root = full_tree(size.depth, size.width, made)
    return outline


def _first_text(n_words: int, chance: Chance) -> int:
    """A number that is written with so many words; the last of them is not the one that stands for nothing."""
    digits = [chance.below(26) for _ in range(n_words - 1)] + [chance.between(1, 25)]
    return sum(digit * 26**place for place, digit in enumerate(digits))


def _with_marks(text: str, marks: list[tuple[int, str]], *, is_published: bool) -> str:
    """The text with the marks at their places. As published the bold one is first, and what lies between is doubled."""
    if not is_published:
        marks = sorted(marks, key=lambda mark: mark[0])
    parts, at = [], 0
    for place, mark in marks:
        parts += [text[at:place], mark]
        at = place
    return "".join([*parts, text[at:]])


def write(markup: Markup, node: Node, *, is_published: bool) -> list[str]:
    """The heading, the text, and what is below it. The root's heading is its bare name."""
    level = max(1, node.depth - markup.published_lag) if is_published else node.depth
    heading = markup.heading(node.name, level) if node.depth else node.name
    below = (line for child in node.children for line in write(markup, child, is_published=is_published))
    return [heading, node.text, *below]


def written(markup: Markup, node: Node, *, is_published: bool) -> str:
    return "\n".join(write(markup, node, is_published=is_published))


def listed(values: list[str], none: str) -> str:
    return "\n".join(values) or none


def published_place(path: tuple[int, ...]) -> str:
    """`2th subsection under 1th section`: deeper levels go without saying."""
    named = zip(path, PUBLISHED_LEVELS, strict=False)
    return " under ".join(reversed([f"{place + 1}th {level}" for place, level in named]))


def place_in_words(path: tuple[int, ...]) -> str:
    first, *others = path
    return f"the first-level heading number {first + 1}" + "".join(
        f", then of the headings directly below it number {place + 1}" for place in others
    )


def _bold(markup: Markup, size: Size, chance: Chance) -> Problem:
    outline = make_outline(markup, size, chance)
    question = (
        f"Which texts of the {markup.caption} file are bold? Write each on a line of its own, in the order of the "
        f"file. If there is none, answer: {markup.no_bold}"
    )
    return _listing(markup, size, chance, question, outline.root, outline.bold, none=markup.no_bold)


def _listing(
    markup: Markup, size: Size, chance: Chance, question: str, root: Node, values: list[str], *, none: str
) -> Problem:
    """All of a kind that the text has. The published edition gives them in an arbitrary order."""
    values = chance.shuffled(values) if size.is_published else values
    return Problem(question, written(markup, root, is_published=size.is_published), distinct(listed(values, none)))


def _section(markup: Markup, size: Size, chance: Chance) -> Problem:
    root = make_outline(markup, size, chance).root
    node = chance.pick([node for node in root.walk() if node.path])
    copied = f"Copy it from the {markup.caption} file with its heading and everything below it."
    if size.is_published:
        question = f"What is the content of {published_place(node.path)}? {copied}"
    else:
        question = f"Go to {place_in_words(node.path)}. What is the content of this section? {copied}"
    text, section = (written(markup, one, is_published=size.is_published) for one in (root, node))
    return Problem(question, text, distinct(section))


def _pictures(markup: Markup, size: Size, chance: Chance) -> Problem:
    outline = make_outline(markup, size, chance)
    question = (
        f"Which files does the {markup.caption} file include as {markup.pictures}? Write the name of each on a line of "
        f"its own, in the order of the file. If there is none, answer: {markup.no_picture}"
    )
    return _listing(markup, size, chance, question, outline.root, outline.pictures, none=markup.no_picture)


def _tasks(markup: Markup, bold_hint: str, section_hint: str, picture_hint: str) -> tuple[Task, ...]:
    def of(make: Callable[[Markup, Size, Chance], Problem]) -> Callable[[Size, Chance], Problem]:
        return lambda size, chance: make(markup, size, chance)

    language = markup.language
    return (
        Task(f"{language}-bold", language, "TextRetrieval", bold_hint, of(_bold)),
        Task(f"{language}-section", language, "PathWalk", section_hint, of(_section)),
        Task(f"{language}-pictures", language, "TextRetrieval", picture_hint, of(_pictures)),
    )


_COUNT = (
    "Count the headings of the first level up to the number that is asked for. From there count those of the next "
    "level, as far as a level is asked for. The section ends before the next heading of its own level or a higher one."
)

TASKS = (
    *_tasks(
        MARKDOWN,
        "A bold text stands between two double stars, **. Number the double stars from the beginning of the file: each "
        "odd one opens a bold text, and the even one after it closes it.",
        f"A heading begins with as many hashes as its level. {_COUNT}",
        "A picture is written ![...](FILE ...): its file is what follows the opening round bracket, up to the blank.",
    ),
    *_tasks(
        LATEX,
        r"A bold text is what stands between \textbf{ and the next closing brace.",
        rf"Headings are \section{{...}}, below them \subsection{{...}}, then \subsubsection{{...}} and so on. {_COUNT}",
        r"A figure is written \includegraphics[...]{FILE}: its file is what stands in the curly braces.",
    ),
    *_tasks(
        ORG,
        "A bold text stands between two single stars within a line; stars at the beginning of a line with a blank "
        "after them are a heading. Number the others from the beginning of the file: each odd one opens a bold text, "
        "and the even one after it closes it.",
        f"A heading begins with as many stars as its level, and a blank. {_COUNT}",
        "A picture is written [[FILE]]: its file is what stands between the double square brackets.",
    ),
)
