"""Which item of a set a record of a log is about: by its id, by the hash of its content, by its text.

An id alone proves little, for many programs just count from 1. So where the log has what was asked, it is compared: an
id whose content is another item's gives way to the content, and one whose content is nobody's is reported as changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotate.answers.equivalence import text_key
from annotate.shown import shown_item
from annotate.sources.blocks import plain_text
from annotate.sources.mapping import hash_content, stored_value
from annotate.wording import _
from evaluation.clients.logs.records import LogRecord

How = Literal["id", "hash", "text"]
_SHARED = -1
# Items of one import have their content under the same keys; a set of several imports has a few such lists.
_MAX_SHAPES = 20


@dataclass(frozen=True, slots=True)
class Found:
    """item: its number in the index; None: why not is in reason. changed: the log has another text under this id.
    is_checked: the log has what was asked, and it is the item's."""

    item: int | None
    how: How | None = None
    changed: bool = False
    is_checked: bool = True
    reason: str = ""


class ItemIndex:
    """The items of a set, in the order in which they are added: `add` returns their numbers, from 0."""

    def __init__(self, shown_keys: Sequence[str]) -> None:
        self._shown_keys = list(shown_keys)
        self._hashes: list[str] = []
        self._headlines: list[str] = []
        self._headline_keys: list[str] = []
        self._asking_keys: set[str] = set()
        self._shapes: list[tuple[str, ...]] = []
        self._shape_of: dict[tuple[str, ...], int] = {}
        self._item_shapes: list[int] = []
        self._by_id: dict[str, int] = {}
        self._by_hash: dict[str, int] = {}
        self._by_text: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, *, external_id: str, content: Sequence[Sequence[Any]], content_hash: str) -> int:
        number = len(self._hashes)
        shape = tuple(pair[0] for pair in content)
        if shape not in self._shape_of:
            self._shape_of[shape] = len(self._shapes)
            self._shapes.append(shape)
        key, headline = self._headline(content)
        self._hashes.append(content_hash)
        self._headlines.append(headline)
        self._headline_keys.append(key)
        self._item_shapes.append(self._shape_of[shape])
        self._by_id[external_id] = number
        _note(self._by_hash, content_hash, number)
        if headline:
            self._asking_keys.add(key)
            _note(self._by_text, headline, number)
        return number

    def find(self, record: LogRecord) -> Found:
        """The item of the record, or why it has none."""
        by_id = None if record.external_id is None else self._by_id.get(record.external_id)
        if by_id is None:
            return self._by_content(record)
        is_same = self._is_same(by_id, record)
        if is_same is not False:
            return Found(by_id, "id", is_checked=bool(is_same))
        other = self._by_content(record)
        return other if other.item is not None else Found(by_id, "id", changed=True)

    def _by_content(self, record: LogRecord) -> Found:
        is_shared = False
        for content_hash in self._content_hashes(record):
            number = self._by_hash.get(content_hash)
            if number == _SHARED:
                is_shared = True
            elif number is not None:
                return Found(number, "hash")
        numbers = {self._by_text[key] for key in self._text_keys(record) if key in self._by_text}
        if len(numbers) == 1 and _SHARED not in numbers:
            return Found(numbers.pop(), "text")
        if numbers or is_shared:
            return Found(None, reason="several items have this content, and no id tells which is meant")
        return Found(None, reason=_("no item of the set has this id, and none this content"))

    def _is_same(self, number: int, record: LogRecord) -> bool | None:
        """Whether the log has the item's content; None if it says nothing of it."""
        if record.content_hash:
            return record.content_hash == self._hashes[number]
        if self._hash_by_shape(record, self._shapes[self._item_shapes[number]]) == self._hashes[number]:
            return True
        headline, key = self._headlines[number], self._headline_keys[number]
        if not headline:
            return None
        if key in record.fields and text_key(plain_text(record.fields[key])) == headline:
            return True
        texts = [text_key(text) for text in record.texts]
        if any(headline in text for text in texts):
            return True
        return False if texts or key in record.fields else None

    def _content_hashes(self, record: LogRecord) -> list[str]:
        hashes = [record.content_hash] if record.content_hash else []
        for shape in self._shapes[:_MAX_SHAPES]:
            if content_hash := self._hash_by_shape(record, shape):
                hashes.append(content_hash)
        return hashes

    def _hash_by_shape(self, record: LogRecord, shape: tuple[str, ...]) -> str | None:
        """The hash that an item would have which was imported from the record's fields."""
        if not shape or any(key not in record.fields for key in shape):
            return None
        try:
            return hash_content([[key, stored_value(record.fields[key])] for key in shape])
        except UnicodeEncodeError:  # half a character: no item has one
            return None

    def _text_keys(self, record: LogRecord) -> set[str]:
        keys = {text_key(text) for text in record.texts}
        for name in self._asking_keys & record.fields.keys():
            keys.add(text_key(plain_text(record.fields[name])))
        return keys - {""}

    def _headline(self, content: Sequence[Sequence[Any]]) -> tuple[str, str]:
        """(key, folded text) of what the item asks; empty where the stage shows no text of it first."""
        shown = shown_item(external_id="", language="", content=content, shown_keys=self._shown_keys)
        if not shown["headline"]:
            return "", ""
        present = {pair[0] for pair in content}
        return next(key for key in self._shown_keys if key in present), text_key(shown["headline"])


def _note(numbers: dict[str, int], key: str, number: int) -> None:
    numbers[key] = _SHARED if key in numbers else number
