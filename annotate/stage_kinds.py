"""The kinds of human work: what people do in each, who usually does it, and a first form to change. No Django here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from annotate.answers import RESERVED_NAMES
from annotate.judging import BOTH_BAD, FIRST, RIGHT, SECOND, TIE, UNSURE, WRONG
from annotate.wording import _

# Fields of a review that are about the decision; every other corrects a text of the item or its gold label.
REVIEW_PARTS = ("decision", "code", "note")
_A_NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")

Field = dict[str, Any]


def _field(name: str, type_: str, caption: str, **settings: Any) -> Field:
    return {"name": name, "type": type_, "caption": caption, "decides": True, "required": True} | settings


def _options(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"value": value, "caption": caption} for value, caption in pairs]


_LABEL = _field(
    "label",
    "choice",
    "Is it true?",
    options=_options(("yes", "Yes"), ("no", "No"), ("not_sure", "Not sure enough")),
)
_WHY = _field("why", "long_text", "Why?", decides=False, required=False)

# Why somebody who reviews a question would not keep it.
DROP_CODES = (
    ("ambiguous", "It can be read in several ways"),
    ("subjective", "It is a matter of opinion"),
    ("trivial", "It is trivial"),
    ("outside_knowledge", "It needs more than what is shown"),
    ("wrong_gold", "Its answer is wrong"),
    ("other", "Another reason"),
)


@dataclass(frozen=True)
class Variant:
    """Another first form of a kind, for the one who makes a stage: its name in addresses, its caption, its fields."""

    name: str
    caption: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class StageKind:
    """caption: for the one who makes a stage. roles, overlap, order, fields: what a new stage begins with.

    is_offered: whether the page of a new stage offers it. is_drawn: its items come from a draw of its own, and from
    nowhere else.
    permitted_sources: what people of a new stage may look things up in; empty: it begins closed book.
    variants: the first forms to choose from, where there are several; the first has `fields`.
    """

    caption: str
    says: str
    fields: tuple[Field, ...]
    roles: tuple[str, ...] = ("annotator",)
    overlap: int = 3
    order: str = "seeded"
    is_offered: bool = True
    is_drawn: bool = False
    permitted_sources: str = ""
    variants: tuple[Variant, ...] = ()


_RIGHT_OR_WRONG = (
    _field(
        "judgement",
        "choice",
        "Is the answer right?",
        options=_options((RIGHT, "Right"), (WRONG, "Wrong"), (UNSURE, "Unsure")),
    ),
    _WHY,
)
_BETTER_OF_TWO = (
    _field(
        "judgement",
        "choice",
        "Which answer is better?",
        options=_options(
            (FIRST, "The first"), (SECOND, "The second"), (TIE, "Equally good"), (BOTH_BAD, "Both are bad")
        ),
    ),
    _WHY,
)

KINDS: dict[str, StageKind] = {
    "label": StageKind(
        _("Label: people choose"), _("Each item gets a label from several people; the majority decides."), (_LABEL,)
    ),
    "answer": StageKind(
        _("Answer: people write"),
        _("People answer the items themselves: the human baseline."),
        (_field("answer", "text", "Answer"), _WHY),
    ),
    "rewrite": StageKind(
        _("Rewrite: a claim becomes a question"),
        _("Each claim is rewritten as a question and labelled; the questions go on into the next stage."),
        (_field("question", "question", "The claim as a question"), _LABEL),
        overlap=1,
    ),
    "author": StageKind(
        _("Write: people make questions"),
        _("People write questions with their answers about a table or a text; each pair becomes an item."),
        (_field("pairs", "qa_pairs", "Questions with their answers", min=3, max=3),),
    ),
    "review": StageKind(
        _("Review: accept, edit or drop"),
        _("Experts decide about items that people wrote or answered, and about the proposed gold label."),
        (
            _field(
                "decision",
                "choice",
                "What becomes of it?",
                options=_options(("accept", "Accept"), ("edit", "Edit"), ("drop", "Drop")),
            ),
            _field(
                "code",
                "choice",
                "Why is it dropped?",
                required=False,
                decides=False,
                help="needed when you drop it",
                options=_options(*DROP_CODES),
            ),
            _field("question", "question", "The question, corrected", required=False, decides=False),
            _field("answer", "text", "The answer, corrected", required=False, decides=False),
            _field("note", "long_text", "Note", required=False, decides=False),
        ),
        roles=("adjudicator",),
        overlap=1,
        order="sequential",
    ),
    "adjudicate": StageKind(
        _("Adjudicate: settle what people disagree on"),
        _("Items without a majority wait here for a word that outranks the votes."),
        (_LABEL,),
        roles=("adjudicator",),
        overlap=1,
        order="sequential",
    ),
    "audit": StageKind(
        _("Audit: is the label right?"),
        _("Meta-reviewers, blind to each other, check a random sample of every stratum."),
        (
            _field("verdict", "verdict", "Is the label right?"),
            _field("note", "long_text", "Note", decides=False, required=False),
        ),
        roles=("meta_reviewer",),
        overlap=2,
        is_drawn=True,
        # Whether a label is right is checked, not remembered.
        permitted_sources=_("the sources that the item names, reference works and the web, but no model"),
    ),
    "judge": StageKind(
        _("Judge: is the model's answer right?"),
        _("People judge what models answered, blind to which model wrote it: right or wrong, or the better of two."),
        _RIGHT_OR_WRONG,
        overlap=1,
        is_drawn=True,
        variants=(
            Variant("verdict", _("Right or wrong"), _RIGHT_OR_WRONG),
            Variant("better", _("The better of two"), _BETTER_OF_TWO),
        ),
    ),
}


# Kinds of stages that are about what came of another one, and the kinds that each can be about.
ABOUT: dict[str, tuple[str, ...]] = {
    "adjudicate": ("label", "answer", "audit"),
    "review": ("label", "answer", "rewrite", "author"),
}


def fields_about(kind: str, asked: list[Field] | tuple[Field, ...], wording: str = "question") -> list[Field]:
    """The first form of a stage of that kind about a stage with these fields. wording: see `review_fields`."""
    return adjudication_fields(asked) if kind == "adjudicate" else review_fields(asked, wording)


def first_fields(kind: str, variant: str) -> list[Field]:
    """What a new stage of the kind asks to begin with; an unknown variant is the first."""
    described = KINDS[kind]
    return [dict(field) for one in described.variants if one.name == variant for field in one.fields] or list(
        described.fields
    )


def adjudication_fields(asked: list[Field] | tuple[Field, ...]) -> list[Field]:
    """What an adjudicator of a stage with these fields is asked: what decides there. The page adds a reason."""
    return [dict(field) for field in asked if field.get("decides", True)]


def review_fields(asked: list[Field] | tuple[Field, ...], wording: str = "question") -> list[Field]:
    """What a reviewer of items from a stage with these fields is asked: what decides there, to correct the label.

    wording: the content key whose text can be corrected; none where it could be no field's name. What authors wrote in
    pairs comes one by one: a question with a short answer.
    """
    usual = {field["name"]: field for field in KINDS["review"].fields}
    corrected = [
        usual["answer"] if field["type"] == "qa_pairs" else {**field, "required": False, "decides": False}
        for field in asked
        if field.get("decides", True) and field["name"] not in (*REVIEW_PARTS, "question", wording)
    ]
    reworded = []
    if wording == "question":
        reworded = [usual["question"]]
    elif _A_NAME.fullmatch(wording) and wording not in (RESERVED_NAMES | set(REVIEW_PARTS)):
        reworded = [usual["question"] | {"name": wording, "type": "text", "caption": f"{wording}, corrected"}]
    return [usual["decision"], usual["code"], *reworded, *corrected, usual["note"]]
