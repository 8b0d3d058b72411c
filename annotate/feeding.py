"""What an answer becomes in the next stage: new items by a recipe, or the same item again. Pure: answers in, items out.

A recipe is stored with its feed:

    {"each": "pairs", "when": [["decision", ["accept", "edit"]]],
     "content": [["question", "each.question"], ["table", "item.table"]],
     "gold": [["answer", "each.answer"]], "strata": [["written by", "answer.kind"]]}

`answer.NAME` is a field of the answer, `item.KEY` a content key of the item it was given to, `each.KEY` a part of one
entry of the list field that `each` names: one new item an entry. Without `content` the item itself goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.exceptions import RecipeInvalid
from annotate.wording import _

_SOURCES = ("answer", "item", "each")
_PARTS = frozenset({"each", "when", "content", "gold", "strata"})

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class NewItem:
    """One item to be made: `position` among those of the same answer; content and strata as pairs, gold by field."""

    position: int
    content: list[list[Any]]
    gold: dict[str, list[Any]]
    strata: list[list[str]]


@dataclass(frozen=True)
class Recipe:
    """How items are made of an answer.

    each: the list field of which every entry becomes an item, or "" for one item an answer.
    when: conditions that an answer must meet, as (field, values); an answer that does not meet them becomes nothing.
    content, gold, strata: (name in the new item, where it is taken from).
    """

    each: str = ""
    when: tuple[tuple[str, frozenset[str]], ...] = ()
    content: Pairs = ()
    gold: Pairs = ()
    strata: Pairs = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Recipe:
        """Raises RecipeInvalid, naming the part at fault."""
        if unknown := sorted(set(data) - _PARTS):
            raise RecipeInvalid(_("A recipe has no part called %(unknown)s.", unknown=repr(unknown[0])))
        each = data.get("each", "")
        if not isinstance(each, str):
            raise RecipeInvalid(_("“each” must be the name of a field."))
        recipe = cls(
            each=each,
            when=_conditions(data.get("when", [])),
            content=_pairs(data, "content", each),
            gold=_pairs(data, "gold", each),
            strata=_pairs(data, "strata", each),
        )
        if not recipe.content and (recipe.each or recipe.gold or recipe.strata):
            raise RecipeInvalid(_("A recipe for new items must say what their content is."))
        return recipe

    @property
    def makes_items(self) -> bool:
        """Whether answers become items of their own; else the item itself goes on."""
        return bool(self.content)

    def admits(self, answer: Mapping[str, Any]) -> bool:
        """Whether the answer meets every condition."""
        return all(answer.get(field) in values for field, values in self.when)

    def new_items(self, answer: Mapping[str, Any], content: Iterable[Sequence[Any]]) -> list[NewItem]:
        """What the answer to an item becomes; nothing if a condition is not met.

        A value that is not there (a key the item lacks, a field left empty) is left out of the new item.
        """
        if not self.makes_items or not self.admits(answer):
            return []
        given: dict[str, Mapping[str, Any]] = {"answer": answer, "item": {pair[0]: pair[1] for pair in content}}
        entries: list[Any] = [{}]
        if self.each:
            listed = answer.get(self.each)
            entries = listed if isinstance(listed, list) else []
        return [
            self._one(position, {**given, "each": entry})
            for position, entry in enumerate(entries)
            if isinstance(entry, Mapping)
        ]

    def _one(self, position: int, given: Mapping[str, Mapping[str, Any]]) -> NewItem:
        return NewItem(
            position=position,
            content=[[name, value] for name, value in _values(self.content, given)],
            gold={name: value if isinstance(value, list) else [value] for name, value in _values(self.gold, given)},
            strata=[[name, str(value)] for name, value in _values(self.strata, given)],
        )


def _values(pairs: Pairs, given: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, Any]]:
    found = []
    for name, place in pairs:
        source, _, key = place.partition(".")
        value = given[source].get(key)
        if value is not None:
            found.append((name, value))
    return found


def _conditions(data: Any) -> tuple[tuple[str, frozenset[str]], ...]:
    conditions = []
    for entry in data if isinstance(data, list) else [data]:
        if not (isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and _texts(entry[1])):
            raise RecipeInvalid(_("“when” must be a list of pairs: a field, and the list of its values that pass."))
        conditions.append((entry[0], frozenset(entry[1])))
    return tuple(conditions)


def _pairs(data: Mapping[str, Any], part: str, each: str) -> Pairs:
    pairs = []
    entries = data.get(part, [])
    for entry in entries if isinstance(entries, list) else [entries]:
        if not (isinstance(entry, list) and len(entry) == 2 and _texts(entry)):
            raise RecipeInvalid(
                _("“%(part)s” must be a list of pairs: a name, and where its value is taken from.", part=part)
            )
        name, place = entry
        source, dot, key = place.partition(".")
        if source not in _SOURCES or not dot or not key:
            raise RecipeInvalid(
                _("“%(part)s”: %(place)s is none of answer.FIELD, item.KEY and each.KEY.", part=part, place=repr(place))
            )
        if source == "each" and not each:
            raise RecipeInvalid(
                _("“%(part)s” takes %(place)s, but no field is named in “each”.", part=part, place=repr(place))
            )
        pairs.append((name, place))
    names = [name for name, _ in pairs]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise RecipeInvalid(_("“%(part)s” has %(repeated)s twice.", part=part, repeated=repr(repeated)))
    return tuple(pairs)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)
