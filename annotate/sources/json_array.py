"""One JSON document that holds all records, read through a growing window: never more than one record in memory.

Three shapes: a list of objects; an object with one list of objects in it, `{"version": 1, "data": [...]}`; an object
whose values are all objects, `{"702": {...}, "703": {...}}`, whose keys become the column KEY_COLUMN.
"""

from collections.abc import Iterator
from typing import Literal

from annotate.sources.decoding import BinaryFile
from annotate.sources.errors import SourceError, shortened
from annotate.sources.json_window import JsonWindow
from annotate.sources.jsonl import read_jsonl
from annotate.sources.records import Limits, Record
from annotate.wording import _

KEY_COLUMN = "(key)"  # the parentheses keep it apart from any column a file is likely to have


def read_json(file: BinaryFile, *, encoding: str, limits: Limits) -> Iterator[Record]:
    """Raises SourceError with line and column; for a document of another shape, saying which shapes can be read."""
    opening = JsonWindow(file, encoding, limits).peek()
    window = JsonWindow(file, encoding, limits)
    if opening == "[":
        yield from window.records()
        window.expect_end()
    elif opening == "{":
        # Which of its values are records can be known only at the end: {"info": {...}, "data": [...]} begins like the
        # third shape. So such a file is read twice; the first time only looks.
        shape = _shape(JsonWindow(file, encoding, limits))
        yield from _members(window, shape)
        window.expect_end()
    else:
        raise window.wrong(_("a JSON file must begin with [ or {"))


def read_json_or_lines(file: BinaryFile, *, encoding: str, limits: Limits) -> Iterator[Record]:
    """Records in a list, or one a line: which of the two their first character tells."""
    if JsonWindow(file, encoding, limits).peek() == "[":
        yield from read_json(file, encoding=encoding, limits=limits)
    else:
        yield from read_jsonl(file, encoding=encoding, limits=limits)


def _members(window: JsonWindow, shape: str | None) -> Iterator[Record]:
    """The records of the object that begins here: those of the list called `shape`, or, for None, every value."""
    number = 0
    for key, line in window.members():
        if shape is None:
            number += 1
            value = window.value(row=number)
            if KEY_COLUMN in value:
                raise SourceError(
                    _("rename the field “%(key_column)s”: the import uses that name.", key_column=KEY_COLUMN),
                    line=line,
                    row=number,
                )
            yield Record(number, line, [(KEY_COLUMN, key), *value.items()])
        elif key == shape:
            yield from window.records()
        else:
            window.value(row=None)


def _shape(window: JsonWindow) -> str | None:
    """The name of the only list of objects, or None when every value is an object. Raises SourceError otherwise."""
    lists: list[str] = []
    kinds: set[Literal["object", "list", "other"]] = set()
    seen: set[str] = set()
    first_line = 1
    for key, line in window.members():
        first_line = first_line if seen else line
        if key in seen:
            raise SourceError(_("the same key stands twice in one object; keep one of them."), line=line, field=key)
        seen.add(key)
        opening = window.peek()
        if opening == "[":
            kinds.add("list")
            if window.is_list_of_objects():
                lists.append(key)
                for __ in window.records():
                    pass
                continue
        else:
            kinds.add("object" if opening == "{" else "other")
        window.value(row=None)
    if len(lists) == 1:
        return lists[0]
    if not lists and kinds == {"object"}:
        return None
    if len(lists) > 1:
        names = ", ".join(f"“{shortened(name)}”" for name in lists[:5])
        raise SourceError(
            _(
                "there are several lists of records (%(names)s); put the one to import into a file of its own.",
                names=names,
            ),
            line=first_line,
        )
    raise SourceError(
        _(
            "no records were found: a JSON file must hold a list of objects, an object with one such "
            "list in it, or an object whose values are all objects."
        ),
        line=first_line,
    )
