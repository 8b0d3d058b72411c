"""Where a program decides about answers in the name of an adjudicator or reviewer, and what was decided is read."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.answers import AnswerInvalid
from annotate.api import for_judges, for_workers
from annotate.api.base import ApiView
from annotate.api.paging import PageQuery, page_of
from annotate.api.work import answer_sent, form_of, held_with_token
from annotate.desk import Desk, guidelines_seen
from annotate.models import ApiToken, Assignment, Decision, Stage, StageItem
from annotate.services import adjudicating, assigning, counting, vetting
from annotate.services.adjudicating import Ruling
from annotate.services.assigning import Left, NothingLeft
from annotate.services.exporting import answer_id
from annotate.services.submitting import DECIDED, Circumstances
from annotate.services.votes import votes_about
from annotate.stage_options import review_options
from annotate.views.doors import project_read_by

READ, WORK = ApiToken.Scope.READ, ApiToken.Scope.WORK


class AssignmentVotes(ApiView):
    scopes = {"GET": WORK}

    @extend_schema(responses=for_judges.VotesOnItem)
    def get(self, request: Request, token: str) -> Response:
        """The answers to the item that I decide about, equal ones together, without a word about who gave them."""
        assignment, _, desk = held_with_token(self, token)
        _check_decided(desk)
        place = _place(assignment)
        is_review = desk.stage.kind == Stage.Kind.REVIEW
        given = assignment.annotations.exists()
        proposals = vetting.proposals_for(place, without=self.person if given else None) if is_review else []
        shows_votes = not is_review or review_options(place.stage.options).shows_votes
        told = for_judges.votes_told(votes_about(place), proposals, shows_votes=shows_votes)
        return Response(for_judges.VotesOnItem(told).data)


class AssignmentDecide(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=for_judges.DecideInput, responses=for_workers.Submitted)
    def post(self, request: Request, token: str) -> Response:
        """Store what I decide about an item. 409 with the new `votes_hash` where the votes have changed meanwhile."""
        assignment, seconds, desk = held_with_token(self, token)
        _check_decided(desk)
        sent = self.sent(for_judges.DecideInput)
        version = form_of(desk, sent["form_version"])
        answer = answer_sent(assignment, version, sent["answer"])
        circumstances = Circumstances(
            guideline_version_id=guidelines_seen(desk, sent.get("guideline_version")),
            held_seconds=None if sent["revises"] else seconds,
            active_seconds=sent["active_seconds"],
            is_flagged=sent["is_flagged"],
            flag_note=sent["flag_note"],
        )
        stored: dict[str, Any] = {
            "assignment": assignment,
            "client_key": sent["client_key"],
            "stage_version": version,
            "circumstances": circumstances,
            "revises": sent["revises"],
        }
        if desk.stage.kind == Stage.Kind.REVIEW:
            emptied = [name for name in sent["answer"] if name not in answer]
            annotation = vetting.review(answer=answer, seen=sent["votes_hash"], emptied=emptied, **stored)
        else:
            if "kind" not in sent:
                raise AnswerInvalid("kind", "Say how you came to it: taken, edited, own or bad.")
            ruling = Ruling(
                kind=sent["kind"],
                seen=sent["votes_hash"],
                card=sent["card"],
                answer=answer,
                reason=sent["reason"].strip(),
                is_gold=sent["is_gold"] and sent["kind"] != Decision.Kind.BAD,
            )
            annotation = adjudicating.adjudicate(ruling=ruling, **stored)
        following: Assignment | NothingLeft | None = None
        if sent["claim_next"]:
            following = _next(desk)
        told = for_workers.next_item(desk, following, counting.progress(desk.stage, desk.person))
        told |= {"stored": for_workers.given_answer(annotation)}
        return Response(for_workers.Submitted(told).data)


class Decisions(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_judges.DecisionInProject))
    def get(self, request: Request, slug: str) -> Response:
        """How adjudicators came to their answers: from which vote, why, and on which votes; earlier revisions too."""
        project = project_read_by(self.person, slug)
        rows = Decision.objects.visible_to(self.person).filter(annotation__assignment__stage__project=project)
        item = "assignment__stage_item__revision__item"
        rows = rows.select_related(
            "annotation__assignment__stage", "annotation__assignment__person", f"annotation__{item}",
            "taken_from__assignment__stage", "taken_from__assignment__person", f"taken_from__{item}",
        )  # fmt: skip
        found, following = self.take_page(rows)
        for row in found:
            row.answer_id = _id_of(row.annotation)
            row.source_id = _id_of(row.taken_from) if row.taken_from else None
        return Response({"next": following, "results": for_judges.DecisionInProject(found, many=True).data})


def _id_of(annotation: Any) -> str:
    assignment = annotation.assignment
    item = assignment.stage_item.revision.item.external_id
    return answer_id(assignment.stage.slug, item, assignment.person.pseudonym, annotation.number)


def _check_decided(desk: Desk) -> None:
    """Elsewhere there are no votes to be seen."""
    if desk.stage.kind not in DECIDED or desk.seat is None:
        raise Http404


def _place(assignment: Assignment) -> StageItem:
    rows = StageItem.objects.select_related("stage", "source__stage", "revision__item")
    return rows.get(pk=assignment.stage_item_id)


def _next(desk: Desk) -> Assignment | NothingLeft:
    if not desk.may_take:
        return NothingLeft(Left.PAUSED)
    return assigning.claim_next(stage=desk.stage, person=desk.person, languages=desk.languages, standing=desk.standing)
