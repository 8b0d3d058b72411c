"""Where disputed items are decided: the item, the answers to it as cards, and what is taken, changed or written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.answers import FieldSpec, get_field_type
from annotate.deciding_forms import BAD, EDIT, MODES, OWN, PREFIX, TAKE, AdjudicationForm
from annotate.differences import MarkedRow, Piece, marked_rows, marked_text
from annotate.models import Annotation, Assignment, Decision, StageItem
from annotate.services import adjudicating
from annotate.services.votes import Card, Votes, votes_about
from annotate.stage_options import adjudicate_options
from annotate.views.sheets import Sheet, Shown
from annotate.wording import _

MODE_OF = {kind: mode for mode, kind in MODES.items()}
CHOOSE_FIRST = _("Choose the answer that you want to change.")


def cards_shown(votes: Votes) -> list[dict[str, Any]]:
    """Each card with what differs from the answer that most people gave, or from the first where there is none."""
    with_answers = votes.leading or next(iter(votes.cards), None)
    return [_card(card, with_answers, votes) for card in votes.cards]


def place_of(assignment: Assignment) -> StageItem:
    rows = StageItem.objects.select_related("stage", "source__stage", "revision__item")
    return rows.get(pk=assignment.stage_item_id)


def _show(
    assignment: Assignment, form: AdjudicationForm | None, revising: Annotation | None, answer: Mapping[str, Any]
) -> Shown:
    place = place_of(assignment)
    votes = votes_about(place)
    stands = _as_sent(form) if form else _as_decided(revising, votes) if revising else _as_drafted(assignment)
    errors = dict(form.field_errors) if form else {}
    mode, card = stands["mode"], votes.card(stands["card"])
    if form is not None and form.is_look and mode == EDIT:
        if card is None:
            mode, errors[f"{PREFIX}card"] = TAKE, CHOOSE_FIRST
        else:
            answer = card.answer
    if not votes.cards and mode in (TAKE, EDIT):
        mode = OWN
    context = {
        "votes": votes,
        "cards": cards_shown(votes),
        "mode": mode,
        "chosen": card,
        "reason": stands["reason"],
        "is_gold": stands["is_gold"],
        "may_make_gold": mode != BAD and adjudicate_options(place.stage.options).makes_gold,
        "decision_errors": {name.removeprefix(PREFIX): text for name, text in errors.items()},
        "prefix": PREFIX,
    }
    return Shown(answer, context)


def _as_sent(form: AdjudicationForm) -> dict[str, Any]:
    def sent(name: str) -> str:
        return str(form.data.get(f"{PREFIX}{name}") or "")

    wanted = sent("look") or sent("mode")
    return {
        "mode": wanted if wanted in MODES else TAKE,
        "card": sent("card"),
        "reason": sent("reason"),
        "is_gold": bool(sent("is_gold")),
    }


def _as_decided(revising: Annotation, votes: Votes) -> dict[str, Any]:
    decision = Decision.objects.filter(annotation=revising).first()
    if decision is None:
        return _NOTHING | {"mode": OWN}
    taken = next((card.id for card in votes.cards if decision.taken_from_id in {one.pk for one in card.votes}), "")
    return {
        "mode": MODE_OF[decision.kind],
        "card": taken,
        "reason": decision.reason,
        "is_gold": decision.is_gold,
    }


def _as_drafted(assignment: Assignment) -> dict[str, Any]:
    draft = assignment.draft if isinstance(assignment.draft, dict) else {}
    stands = _NOTHING | {name: draft[name] for name in _NOTHING if name in draft}
    return stands if stands["mode"] in MODES else _NOTHING


_NOTHING: dict[str, Any] = {"mode": TAKE, "card": "", "reason": "", "is_gold": False}


def _card(card: Card, compared: Card | None, votes: Votes) -> dict[str, Any]:
    other = compared if compared is not card else None
    first = other.votes[0].answer if other else {}
    values = [
        shown
        for spec in votes.fields
        if (shown := _value(spec, card.answer.get(spec.name), first.get(spec.name), is_compared=other is not None))
    ]
    notes = [
        shown | {"caption": spec.caption if len(votes.supporting) > 1 else ""}
        for vote in card.votes
        for spec in votes.supporting
        if (shown := _value(spec, vote.answer.get(spec.name), first.get(spec.name), is_compared=other is not None))
    ]
    return {
        "id": card.id,
        "letter": card.letter,
        "n": card.n,
        "is_leading": card == votes.leading,
        "is_compared_with": card is compared,
        "words": _in_words(card, votes),
        "values": values if len(votes.fields) > 1 else [value | {"caption": ""} for value in values],
        # Sorted by what they say: the order in which people answered tells who they are.
        "notes": sorted(notes, key=lambda note: note["text"]),
        "flags": sorted(vote.flag_note for vote in card.votes if vote.is_flagged),
    }


def _value(spec: FieldSpec, value: Any, other: Any, *, is_compared: bool) -> dict[str, Any] | None:
    if value is None:
        return None
    shown: dict[str, Any] = {"caption": spec.caption, "text": get_field_type(spec.type).in_words(value, spec)}
    if isinstance(value, dict) and "rows" in value:
        rows = value["rows"]
        theirs = other["rows"] if isinstance(other, dict) and is_compared else rows
        marked: list[MarkedRow] = marked_rows(rows, theirs)
        return shown | {"columns": value["columns"], "rows": marked}
    pieces: list[Piece] = [Piece("same", shown["text"])]
    if is_compared and other is not None:
        pieces = marked_text(shown["text"], get_field_type(spec.type).in_words(other, spec))
    return shown | {"pieces": pieces}


def _in_words(card: Card, votes: Votes) -> str:
    spec = votes.fields[0]
    value = card.answer.get(spec.name)
    return "" if value is None else get_field_type(spec.type).in_words(value, spec)


def _store(form: AdjudicationForm, stored: Mapping[str, Any], revises: bool) -> Annotation:
    given = {name: value for name, value in stored.items() if name != "answer"}
    return adjudicating.adjudicate(ruling=form.ruling(), revises=revises, **given)


SHEET = Sheet(form=AdjudicationForm, template="annotate/partials/adjudicate.html", store=_store, show=_show)
