"""What adjudicators and reviewers send and are told: the answers to an item in groups, and never who gave them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.answers import FieldSpec
from annotate.api.for_workers import SubmitInput
from annotate.models import Annotation, Decision, Resolution
from annotate.services.vetting import Proposal
from annotate.services.votes import Card, Votes


class DecideInput(SubmitInput):
    answer = serializers.DictField(
        default=dict,
        help_text="Field name -> value. Of an adjudicator: where it is edited or own. Of a reviewer: decision, code, "
        "note, and what is corrected; what is left out stays as it is, null is refused.",
    )
    votes_hash = serializers.RegexField("^[0-9a-f]{32}$", help_text="Of the votes that were seen.")
    kind = serializers.ChoiceField(
        choices=Decision.Kind.values, required=False, help_text="How an adjudicator came to it; a reviewer sends none."
    )
    card = serializers.CharField(
        default="", allow_blank=True, max_length=16, help_text="What was taken or edited: the id of a card."
    )
    reason = serializers.CharField(default="", allow_blank=True, max_length=20_000)
    is_gold = serializers.BooleanField(default=False, help_text="Whether it is accepted as the gold label, too.")
    revises = serializers.BooleanField(default=False, help_text="Whether it changes an earlier decision.")


class VoteCard(serializers.Serializer):
    """Equal answers."""

    id = serializers.CharField()
    letter = serializers.CharField()
    n = serializers.IntegerField(help_text="How many said so.")
    answer = serializers.DictField(help_text="What decides, by field, as the earliest of them wrote it.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="What they wrote about it, sorted.")


class ProposedLabel(serializers.Serializer):
    field = serializers.CharField()
    gold = serializers.JSONField(help_text="The acceptable answers that count now; null where there are none.")
    origin = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(allow_null=True)
    voted = serializers.JSONField(help_text="What the votes came to; null where they are undecided.")
    status = serializers.ChoiceField(choices=Resolution.Status.values, allow_null=True)


class VotesOnItem(serializers.Serializer):
    """The answers to the item in hand."""

    votes_hash = serializers.CharField(help_text="Sent with the decision; refused with 409 when the votes changed.")
    n = serializers.IntegerField()
    cards = VoteCard(many=True, help_text="In an order that says nothing; empty where reviewers do not see them.")
    leading = serializers.CharField(allow_null=True, help_text="The card with more votes than any other.")
    skips = serializers.ListField(child=serializers.ListField(), help_text="Pairs [reason, how many].")
    proposals = ProposedLabel(many=True, help_text="Of a review: the labels to be accepted or corrected.")


class DecisionInProject(serializers.Serializer):
    """How an adjudicator came to an answer."""

    stage = serializers.CharField(source="annotation.assignment.stage.slug")
    item = serializers.CharField(source="annotation.assignment.stage_item.revision.item.external_id")
    revision = serializers.IntegerField(source="annotation.number")
    is_current = serializers.BooleanField(source="annotation.is_current")
    kind = serializers.ChoiceField(choices=Decision.Kind.values)
    answer = serializers.DictField(source="annotation.answer")
    answer_id = serializers.CharField(help_text="As in exports of answers.")
    taken_from = serializers.CharField(source="source_id", allow_null=True, help_text="The answer_id of the vote.")
    reason = serializers.CharField()
    n_votes = serializers.IntegerField()
    n_alike = serializers.IntegerField()
    votes_hash = serializers.CharField()
    is_gold = serializers.BooleanField()
    decided_at = serializers.DateTimeField(source="annotation.created_at")


def votes_told(votes: Votes, proposals: list[Proposal], *, shows_votes: bool) -> dict[str, Any]:
    return {
        "votes_hash": votes.seen,
        "n": votes.n,
        "cards": [_card(card, votes) for card in votes.cards] if shows_votes else [],
        "leading": votes.leading.id if votes.leading and shows_votes else None,
        "skips": votes.skips,
        "proposals": [
            {
                "field": one.field,
                "gold": one.gold.answers if one.gold and one.gold.answers else None,
                "origin": one.gold.origin if one.gold else None,
                "version": one.gold.version if one.gold else None,
                "voted": one.voted.answer if one.voted else None,
                "status": one.voted.status if one.voted else None,
            }
            for one in proposals
        ],
    }


def _card(card: Card, votes: Votes) -> dict[str, Any]:
    return {
        "id": card.id,
        "letter": card.letter,
        "n": card.n,
        "answer": {spec.name: card.answer[spec.name] for spec in votes.fields if spec.name in card.answer},
        "notes": sorted(note for vote in card.votes for note in _notes(vote, votes.supporting)),
    }


def _notes(vote: Annotation, supporting: tuple[FieldSpec, ...]) -> list[str]:
    return [str(vote.answer[spec.name]) for spec in supporting if vote.answer.get(spec.name) is not None]
