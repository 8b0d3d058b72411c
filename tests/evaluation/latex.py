"""A small reader of LaTeX, strict where TeX would stop: every command it meets is known, every brace is closed.

It knows what tables of reports are made of and nothing else, so that a command which slipped in from a text is found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SIGNS = {
    **{f"\\{sign}": sign for sign in "{}$&#_%"},
    "\\textbackslash": "\\",
    "\\textasciitilde": "~",
    "\\textasciicircum": "^",
    "\\textless": "<",
    "\\textgreater": ">",
    "\\textbar": "|",
    "\\textasciigrave": "`",
    "\\textendash": "–",
    "\\textemdash": "—",
    "\\textquoteleft": "‘",
    "\\textquoteright": "’",
    "\\textquotedblleft": "“",
    "\\textquotedblright": "”",
    "\\textellipsis": "…",
    "\\times": "×",
    "\\rightarrow": "→",
    "\\leq": "≤",
    "\\geq": "≥",
    "\\pm": "±",
    "\\char34": '"',
    "~": "\u00a0",
}
# Commands that print nothing by themselves.
SILENT = {"\\textbf", "\\ensuremath", "\\footnotesize", "\\par", "\\smallskip"}
TOKEN = re.compile(r"\\char34|\\[a-zA-Z]+|\\.|[{}]|~|[^\\{}~]+", re.S)
LIGATURES = ("--", ",,", "''", "``", "?`", "!`")


def read(source: str) -> str:
    """The text that a cell or a caption prints. Raises ValueError for an unknown command, an open or lone brace, or a
    sign that TeX would take for something else."""
    printed, depth = [], 0
    tokens = TOKEN.findall(source)
    for place in range(len(tokens)):
        token = tokens[place]
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            if depth < 0:
                raise ValueError(f"a brace closes nothing in {source!r}")
        elif token in SIGNS:
            printed.append(SIGNS[token])
            if re.fullmatch(r"\\[a-zA-Z]+", token) and tokens[place + 1 : place + 2] not in (["{"], ["}"]):
                raise ValueError(f"{token} swallows what follows in {source!r}")
        elif token in SILENT:
            # A space after a command ends its name and is not printed.
            if place + 1 < len(tokens):
                tokens[place + 1] = tokens[place + 1].lstrip(" ")
        elif token.startswith("\\"):
            raise ValueError(f"{token} is no command of ours in {source!r}")
        else:
            if found := [sign for sign in '$&#_%^<>|`"' if sign in token]:
                raise ValueError(f"{found} stand bare in {source!r}")
            if found := [pair for pair in LIGATURES if pair in token]:
                raise ValueError(f"{found} would become another sign in {source!r}")
            printed.append(token)
    if depth:
        raise ValueError(f"a brace is open in {source!r}")
    return "".join(printed)


@dataclass(frozen=True)
class Table:
    """rows: the head first; cells as they print. n_columns: that were declared."""

    label: str
    caption: str
    n_columns: int
    rows: list[list[str]]


def parsed(document: str) -> list[Table]:
    """Every table of the document. Raises ValueError where one is not what booktabs takes."""
    bodies = re.findall(r"\\begin\{table\}.*?\\end\{table\}|\\begin\{longtable\}.*?\\end\{longtable\}", document, re.S)
    return [_table(body) for body in bodies]


def _table(body: str) -> Table:
    titled = re.search(r"^\\caption\{(.*)\}\\label\{(tab:[a-z0-9_-]+)\}", body, re.M)
    declared = re.search(r"\\begin\{(?:tabular|longtable)\}\{((?:[lr]|p\{0\.3\\linewidth\})+)\}$", body, re.M)
    if titled is None or declared is None:
        raise ValueError(f"no caption, label or columns in {body[:200]!r}")
    rules = [rule for rule in ("\\toprule", "\\midrule", "\\bottomrule") if rule not in body]
    if rules:
        raise ValueError(f"{rules} are missing in {body[:200]!r}")
    lines = body.splitlines()
    first = lines.index("\\toprule") + 1
    rows = [line for line in lines[first : lines.index("\\bottomrule")] if line.endswith("\\\\")]
    if "longtable" in body:
        rows = [rows[0], *rows[2:]]  # the head stands twice: for the first page and for the others
    return Table(
        label=titled[2],
        caption=read(titled[1]),
        n_columns=len(declared[1].replace("p{0.3\\linewidth}", "l")),
        rows=[[read(cell.strip()) for cell in re.split(r"(?<!\\)&", row.removesuffix("\\\\"))] for row in rows],
    )
