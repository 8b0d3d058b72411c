"""What the person of a token did themselves: answers, days, times, and what was decided once a stage is closed."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.paging import PageQuery, page_of
from annotate.api.times import DayOfWork, day_told, time_told
from annotate.models import Annotation, ApiToken, Membership, Stage
from annotate.services import days_of_work, decided, own_work
from annotate.views.doors import own_stage, project_joined_by

WORK = ApiToken.Scope.WORK
DAYS = 31


class OwnStage(serializers.Serializer):
    """left: what you may still get, as far as anybody knows; null in a closed stage."""

    stage = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Stage.State.values)
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    flagged = serializers.IntegerField()
    left = serializers.IntegerField(allow_null=True)
    active_seconds = serializers.IntegerField(allow_null=True, help_text="Null: not known of any answer.")
    answers_not_timed = serializers.IntegerField(help_text="Answers that active_seconds leaves out.")
    of_them_imported = serializers.IntegerField()
    open_seconds = serializers.IntegerField(allow_null=True)
    answers_without_open_time = serializers.IntegerField(help_text="Answers that open_seconds leaves out.")


class OwnWork(serializers.Serializer):
    time_zone = serializers.CharField(help_text="By whose clock the days are told.")
    today = DayOfWork()
    days = DayOfWork(many=True, help_text="The last ones on which you answered, the newest first.")
    stages = OwnStage(many=True)


class OwnAnswer(serializers.Serializer):
    """An answer of yours as it counts by now. token: of its assignment."""

    item = serializers.CharField(source="assignment.stage_item.revision.item.external_id")
    token = serializers.CharField(source="assignment.token")
    answer = serializers.DictField()
    form_version = serializers.IntegerField(source="stage_version_id")
    revision = serializers.IntegerField(source="number")
    answered_at = serializers.DateTimeField(source="created_at")
    active_seconds = serializers.IntegerField(allow_null=True)
    is_flagged = serializers.BooleanField()
    flag_note = serializers.CharField()


class DecidedQuery(PageQuery):
    show = serializers.ChoiceField(
        choices=[decided.SAME, decided.DIFFERED, decided.SPLIT, decided.LEFT_OUT], required=False
    )


class DecidedOfField(serializers.Serializer):
    """Of one field, in words; decided is empty where nothing was. gold: only where the stage shows it."""

    caption = serializers.CharField()
    mine = serializers.CharField()
    decided = serializers.CharField()
    status = serializers.CharField()
    is_same = serializers.BooleanField()
    n_votes = serializers.IntegerField()
    n_for = serializers.IntegerField()
    gold = serializers.ListField(child=serializers.CharField())


class OtherAnswer(serializers.Serializer):
    answer = serializers.CharField()
    why = serializers.CharField()


class ComparedAnswer(serializers.Serializer):
    """An answer of yours beside what was decided, why, and how others explained theirs."""

    id = serializers.IntegerField()
    item = serializers.CharField()
    verdict = serializers.ChoiceField(choices=[decided.SAME, decided.DIFFERED, decided.SPLIT, decided.LEFT_OUT])
    fields = DecidedOfField(many=True)
    reason = serializers.CharField(help_text="An adjudicator's.")
    others = OtherAnswer(many=True)


class Verdicts(serializers.Serializer):
    n = serializers.IntegerField()
    same = serializers.IntegerField()
    differed = serializers.IntegerField()
    split = serializers.IntegerField()
    left_out = serializers.IntegerField()


class ComparedAnswers(serializers.Serializer):
    next = serializers.CharField(allow_null=True, help_text="The address of the next page; null on the last one.")
    verdicts = Verdicts(help_text="Of all your answers in the stage.")
    results = ComparedAnswer(many=True)


class MyWork(ApiView):
    scopes = {"GET": WORK}

    @extend_schema(responses=OwnWork)
    def get(self, request: Request, slug: str) -> Response:
        """My answers and time today, by day and by stage."""
        project = project_joined_by(self.person, slug)
        role = Membership.objects.active().filter(project=project, person=self.person).values_list("role", flat=True)[0]
        days = days_of_work.days_of(project, self.person, most=DAYS)
        told = {
            "time_zone": project.time_zone,
            "today": day_told(days_of_work.today_of(project, days)),
            "days": [day_told(day) for day in days],
            "stages": [_stage_told(work) for work in own_work.stages_of(project, self.person, role)],
        }
        return Response(OwnWork(told).data)


class MyAnswers(ApiView):
    scopes = {"GET": WORK}

    @extend_schema(parameters=[PageQuery], responses=page_of(OwnAnswer))
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        """My answers in a stage, newest first."""
        stage = own_stage(self.person, slug, stage_slug)
        return self.page(own_work.answers_in(stage, self.person), OwnAnswer, newest_first=True)


class MyDecided(ApiView):
    scopes = {"GET": WORK}

    @extend_schema(parameters=[DecidedQuery], responses=ComparedAnswers)
    def get(self, request: Request, slug: str, stage_slug: str) -> Response:
        """My answers in a closed stage beside what was decided. Refused while knowing it would tell."""
        stage = own_stage(self.person, slug, stage_slug)
        asked = self.asked(DecidedQuery)
        decided.check_shows_decided(stage)
        verdicts = decided.verdicts_of(stage, self.person)
        chosen = {pk: verdict for pk, verdict in verdicts if asked.get("show") in (None, verdict)}
        rows = Annotation.objects.filter(pk__in=chosen).select_related(*decided.OF_AN_ANSWER)
        found, following = self.take_page(rows, asked, newest_first=True)
        compared = decided.compare(stage, found, chosen)
        told = {
            "next": following,
            "verdicts": decided.count_verdicts(verdicts),
            "results": [
                {
                    "id": one.mine.pk,
                    "item": one.mine.external_id,
                    "verdict": one.verdict,
                    "fields": one.fields,
                    "reason": one.reason,
                    "others": [{"answer": said, "why": why} for said, why in one.others],
                }
                for one in compared
            ],
        }
        return Response(ComparedAnswers(told).data)


def _stage_told(work: own_work.StageWork) -> dict[str, object]:
    return {
        "stage": work.stage.slug,
        "title": work.stage.title,
        "state": work.stage.state,
        "answered": work.n_answered,
        "skipped": work.n_skipped,
        "flagged": work.n_flagged,
        "left": work.n_left,
        **time_told("active_seconds", "answers_not_timed", work.active),
        "of_them_imported": work.active.n_imported,
        **time_told("open_seconds", "answers_without_open_time", work.wall),
    }
