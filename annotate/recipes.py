"""Recipes for new items: what is offered for a kind of stage, how one reads in words, and whether it can work. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from annotate.answers import FieldSpec
from annotate.exceptions import RecipeInvalid
from annotate.feeding import Recipe
from annotate.wording import _, listed

QUESTION = "question"
PAIR_PARTS = ("question", "answer")
# Fields that an author's answer to a question can be the gold label of.
_ANSWERED = frozenset({"text", "long_text", "number", "date", "list"})
_CHOSEN = frozenset({"choice"})


def offered(fields: Sequence[FieldSpec], target: Sequence[FieldSpec], kept: Sequence[str]) -> dict[str, Any] | None:
    """The usual recipe for a form with questions in it; None where it has none, so that the item itself goes on.

    kept: content keys that the new items take over. The question that was written becomes "question"; where the target
    asks for what the author has said too, that is its gold label.
    """
    pairs = next((field for field in fields if field.type == "qa_pairs"), None)
    question = next((field for field in fields if field.type == "question"), None)
    taken = [[key, f"item.{key}"] for key in dict.fromkeys(kept) if key != QUESTION]
    if pairs is not None:
        gold = [[field.name, "each.answer"] for field in target if field.decides and field.type in _ANSWERED][:1]
        return {"each": pairs.name, "content": [[QUESTION, "each.question"], *taken], "gold": gold}
    if question is not None:
        asked = {field.name: field.type for field in fields}
        alike = [field.name for field in target if field.decides and asked.get(field.name) == field.type]
        gold = [[name, f"answer.{name}"] for name in alike]
        return {"content": [[QUESTION, f"answer.{question.name}"], *taken], "gold": gold}
    return None


def in_words(recipe: Recipe, fields: Iterable[FieldSpec]) -> str:
    """One sentence for whoever runs the study."""
    captions = {field.name: field.caption for field in fields}
    only = listed(
        (
            _(", if “%(field)s” is %(values)s", field=captions.get(field, field), values=_or(sorted(values)))
            for field, values in recipe.when
        ),
        between="",
    )
    if not recipe.makes_items:
        return _("The item itself goes on%(condition)s.", condition=only)
    of = _("Each answer")
    if recipe.each:
        of = _("Each entry of “%(field)s”", field=captions.get(recipe.each, recipe.each))
    content = _listed(
        _("%(name)s from %(place)s", name=name, place=_place(place, captions)) for name, place in recipe.content
    )
    gold = _listed(
        _("%(name)s from %(place)s", name=name, place=_place(place, captions)) for name, place in recipe.gold
    )
    strata = _listed(
        _("%(name)s from %(place)s", name=name, place=_place(place, captions)) for name, place in recipe.strata
    )
    sentences: list[str] = [
        _("%(what)s becomes a new item%(condition)s: %(content)s.", what=of, condition=only, content=content)
    ]
    if gold:
        sentences.append(_("The author's gold label: %(gold)s.", gold=gold))
    if strata:
        sentences.append(_("Strata: %(strata)s.", strata=strata))
    return listed(sentences, between=" ")


def check_recipe(
    recipe: Recipe,
    *,
    fields: Sequence[FieldSpec],
    target: Sequence[FieldSpec],
    target_keys: Sequence[str],
    content_keys: Iterable[str] | None,
) -> None:
    """Raise RecipeInvalid, naming what is at fault, for a recipe that could never make what the target asks for.

    fields: of the stage whose answers are used. target, target_keys: what the other stage asks and shows.
    content_keys: those that the items have; None where nobody can know yet.
    """
    asked = {field.name: field for field in fields}
    if recipe.each and (recipe.each not in asked or asked[recipe.each].type != "qa_pairs"):
        raise RecipeInvalid(_("“%(each)s” is no field of questions with answers in this stage.", each=recipe.each))
    for field, values in recipe.when:
        if field not in asked:
            raise RecipeInvalid(
                _("A condition names the field %(field)s, which this stage does not ask.", field=repr(field))
            )
        options = {option.value for option in asked[field].options}
        if asked[field].type not in _CHOSEN:
            raise RecipeInvalid(
                _("A condition names %(field)s, and only one choice can be a condition.", field=repr(field))
            )
        if unknown := sorted(values - options):
            raise RecipeInvalid(
                _(
                    "A condition names %(unknown)s, which is no option of %(field)s.",
                    unknown=repr(unknown[0]),
                    field=repr(field),
                )
            )
    known = None if content_keys is None else set(content_keys)
    for part in ("content", "gold", "strata"):
        for name, place in getattr(recipe, part):
            _check_place(place, asked, known)
            if part == "gold" and name not in {field.name for field in target}:
                raise RecipeInvalid(
                    _("The gold label %(name)s is of no field that the next stage asks.", name=repr(name))
                )
    made = [name for name, _ in recipe.content]
    if recipe.makes_items and target_keys and not set(made) & set(target_keys):
        shows = f"The next stage shows {_listed(target_keys)}"
        raise RecipeInvalid(
            _("%(shows)s, and the new items would have %(listed)s: nothing to see.", shows=shows, listed=_listed(made))
        )


def _check_place(place: str, asked: dict[str, FieldSpec], known: set[str] | None) -> None:
    source, __, key = place.partition(".")
    if source == "answer" and key not in asked:
        raise RecipeInvalid(_("%(place)s: this stage does not ask %(key)s.", place=repr(place), key=repr(key)))
    if source == "each" and key not in PAIR_PARTS:
        raise RecipeInvalid(
            _("%(place)s: a pair has a question and an answer, no %(key)s.", place=repr(place), key=repr(key))
        )
    if source == "item" and known is not None and key not in known:
        raise RecipeInvalid(_("%(place)s: no item has content called %(key)s.", place=repr(place), key=repr(key)))


def _place(place: str, captions: dict[str, str]) -> str:
    source, __, key = place.partition(".")
    if source == "answer":
        return f"“{captions.get(key, key)}”"
    return _("its %(key)s", key=key) if source == "each" else _("the item's %(key)s", key=key)


def _listed(words: Iterable[str]) -> str:
    return listed(words)


def _or(words: Iterable[str]) -> str:
    return listed(words, between=_(" or "))
