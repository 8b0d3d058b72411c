"""Where a program answers in the name of a person: the same desk, queue and services as the work page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.answers import read_answer
from annotate.api import for_workers
from annotate.api.base import ApiView
from annotate.api.paging import PageQuery, page_of
from annotate.desk import Desk, Held, desk_at, form_seen, guidelines_seen, held_by
from annotate.exceptions import AnswerBelongsElsewhere
from annotate.models import ApiToken, Assignment, GuidelineVersion, Stage, StageVersion
from annotate.services import assigning, counting, qualifying, submitting
from annotate.services.assigning import Left, NothingLeft
from annotate.services.submitting import Circumstances

WORK = ApiToken.Scope.WORK


class Work(ApiView):
    """My stages."""

    scopes = {"GET": WORK}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_workers.WorkStage))
    def get(self, request: Request) -> Response:
        """The stages that hand something out to me, with my progress and everyone's."""
        found, following = self.take_page(Stage.objects.workable_by(self.person).select_related("project"))
        everyone, mine = counting.stage_counts(found), counting.person_counts(self.person, found)
        rows = [
            for_workers.work_stage(
                stage, counting.progress_of(everyone[stage.pk], mine[stage.pk], check_every=stage.check_every)
            )
            for stage in found
        ]
        return Response({"next": following, "results": for_workers.WorkStage(rows, many=True).data})


class WorkStage(ApiView):
    scopes = {"GET": WORK}

    @extend_schema(responses=for_workers.WorkStageInFull)
    def get(self, request: Request, project: str, stage: str) -> Response:
        """What is asked in a stage, under which conditions, and its guidelines."""
        desk = _desk(self, project, stage)
        guidelines = ""
        if desk.guideline_id is not None:
            guidelines = GuidelineVersion.objects.values_list("markdown", flat=True).get(pk=desk.guideline_id)
        told = for_workers.work_stage_in_full(desk, counting.progress(desk.stage, desk.person), guidelines)
        return Response(for_workers.WorkStageInFull(told).data)


class WorkNext(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=None, responses=for_workers.NextItem)
    def post(self, request: Request, project: str, stage: str) -> Response:
        """The item I hold, or the next one. Asking again gives the same item and keeps it for longer."""
        desk = _desk(self, project, stage)
        outcome = assigning.claim_next(
            stage=desk.stage, person=desk.person, languages=desk.languages, standing=desk.standing
        )
        told = for_workers.next_item(desk, outcome, counting.progress(desk.stage, desk.person))
        return Response(for_workers.NextItem(told).data)


class WorkQualify(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=None, responses=for_workers.NextItem)
    def post(self, request: Request, project: str, stage: str) -> Response:
        """Begin my next attempt to qualify, or go on with the one under way; its next item."""
        desk = _desk(self, project, stage)
        qualifying.begin(stage=desk.stage, person=desk.person, languages=desk.languages)
        outcome = assigning.claim_next(
            stage=desk.stage, person=desk.person, languages=desk.languages, standing=desk.standing
        )
        told = for_workers.next_item(desk, outcome, counting.progress(desk.stage, desk.person))
        return Response(for_workers.NextItem(told).data)


class AssignmentSubmit(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=for_workers.SubmitInput, responses=for_workers.Submitted)
    def post(self, request: Request, token: str) -> Response:
        """Store my answer. The same request again returns what was stored; nothing is stored twice."""
        assignment, seconds, desk = held_with_token(self, token)
        sent = self.sent(for_workers.SubmitInput)
        version = form_of(desk, sent["form_version"])
        stored: dict[str, Any] = {
            "assignment": assignment,
            "answer": answer_sent(assignment, version, sent["answer"]),
            "client_key": sent["client_key"],
            "stage_version": version,
            "circumstances": Circumstances(
                guideline_version_id=guidelines_seen(desk, sent.get("guideline_version")),
                held_seconds=seconds,
                active_seconds=sent["active_seconds"],
                is_flagged=sent["is_flagged"],
                flag_note=sent["flag_note"],
            ),
        }
        following: Assignment | NothingLeft | None
        if sent["claim_next"] and desk.may_take:
            done = submitting.submit_and_claim_next(**stored, languages=desk.languages, standing=desk.standing)
            annotation, following, mine = done.annotation, done.next, done.mine
        else:
            # Somebody whose membership was paused meanwhile: what they did is kept, nothing more is handed out.
            annotation, mine = submitting.submit_annotation(**stored), None
            following = NothingLeft(Left.PAUSED) if sent["claim_next"] else None
        assert annotation is not None  # a submission always has one
        is_at_work = isinstance(following, Assignment)
        progress = counting.progress(desk.stage, desk.person, mine, is_at_work=is_at_work)
        told = for_workers.next_item(desk, following, progress) | {"stored": for_workers.given_answer(annotation)}
        return Response(for_workers.Submitted(told).data)


class AssignmentDraft(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=for_workers.DraftInput, responses=for_workers.DraftKept)
    def post(self, request: Request, token: str) -> Response:
        """Keep unfinished work with the item, and the item for longer."""
        assignment, _, desk = held_with_token(self, token)
        sent = self.sent(for_workers.DraftInput)
        version = form_of(desk, sent["form_version"])
        draft = {
            "answer": read_answer(submitting.fields_asked(assignment, version), sent["answer"]),
            "active_seconds": sent["active_seconds"],
            "is_flagged": sent["is_flagged"],
            "flag_note": sent["flag_note"],
        }
        submitting.save_draft(assignment=assignment, draft=draft, version=sent["draft_version"])
        return Response(for_workers.DraftKept({"draft_version": sent["draft_version"]}).data)


class AssignmentSkip(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=for_workers.SkipInput, responses=for_workers.Skipped)
    def post(self, request: Request, token: str) -> Response:
        """Give the item back with a reason; I do not get it again."""
        assignment, _, desk = held_with_token(self, token)
        sent = self.sent(for_workers.SkipInput)
        given_up = {"assignment": assignment, "reason": sent["reason"], "note": sent["note"]}
        following: Assignment | NothingLeft | None
        if sent["claim_next"] and desk.may_take:
            done = submitting.skip_and_claim_next(**given_up, languages=desk.languages, standing=desk.standing)
            following, mine = done.next, done.mine
        else:
            submitting.skip_assignment(**given_up)
            following, mine = NothingLeft(Left.PAUSED) if sent["claim_next"] else None, None
        is_at_work = isinstance(following, Assignment)
        progress = counting.progress(desk.stage, desk.person, mine, is_at_work=is_at_work)
        told = for_workers.next_item(desk, following, progress)
        return Response(for_workers.Skipped(told).data)


def _desk(view: ApiView, project: str, stage: str) -> Desk:
    desk = desk_at(person=view.person, project=project, stage=stage)
    if desk is None or not desk.may_take:
        raise Http404
    return desk


def held_with_token(view: ApiView, token: str) -> Held:
    held = held_by(person=view.person, token=token)
    if held is None:
        raise Http404
    return held


def form_of(desk: Desk, sent: int) -> StageVersion:
    version = form_seen(desk, sent)
    if version is None:
        raise AnswerBelongsElsewhere
    return version


def answer_sent(assignment: Assignment, version: StageVersion, sent: Mapping[str, Any]) -> dict[str, Any]:
    """As the fields read it; a name that is no field's stays, for the service to refuse."""
    specs = submitting.fields_asked(assignment, version)
    known = {spec.name for spec in specs}
    return {name: value for name, value in sent.items() if name not in known} | read_answer(specs, sent)
