"""What annotators ask and admins answer, for programs."""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.inputs import Input
from annotate.api.paging import PageQuery, page_of
from annotate.desk import held_by
from annotate.models import ApiToken, Question
from annotate.services import questions
from annotate.views.doors import project_joined_by, project_run_by

WORK, READ, RUN = ApiToken.Scope.WORK, ApiToken.Scope.READ, ApiToken.Scope.RUN


class QuestionQuery(PageQuery):
    state = serializers.ChoiceField(choices=Question.State.values, required=False)


class QuestionInput(Input):
    text = serializers.CharField(max_length=questions.MOST_CHARACTERS)
    client_key = serializers.RegexField(
        r"\A[A-Za-z0-9_-]{1,64}\Z", help_text="The same key again asks nothing anew and returns what was asked."
    )
    is_about_item = serializers.BooleanField(default=True, help_text="False: about the stage in general.")


class QuestionAnswerInput(Input):
    answer = serializers.CharField(max_length=questions.MOST_CHARACTERS_ANSWERED)
    is_pinned = serializers.BooleanField(default=False, help_text="Everybody reads it beside the guidelines.")
    pinned_text = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=questions.MOST_CHARACTERS,
        help_text="The question as everybody reads it; empty: as it was asked.",
    )


class OwnQuestion(serializers.Serializer):
    """A question as whoever asked it has it."""

    id = serializers.IntegerField()
    text = serializers.CharField()
    asked_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Question.State.values)
    answer = serializers.CharField()


class AskedQuestion(OwnQuestion):
    """A question as admins have it."""

    person = serializers.CharField(source="person.pseudonym")
    stage = serializers.CharField(source="stage.slug", default=None, allow_null=True)
    item = serializers.CharField(source="revision.item.external_id", default=None, allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    read_at = serializers.DateTimeField(allow_null=True)
    is_pinned = serializers.BooleanField()
    pinned_text = serializers.CharField()


class MyQuestionInput(Input):
    text = serializers.CharField(max_length=questions.MOST_CHARACTERS)
    client_key = serializers.RegexField(
        r"\A[A-Za-z0-9_-]{1,64}\Z", help_text="The same key again asks nothing anew and returns what was asked."
    )


class AskedByMe(OwnQuestion):
    """A question of yours. read_at: when you said that you have read the answer."""

    stage = serializers.CharField(source="stage.slug", default=None, allow_null=True)
    item = serializers.CharField(source="revision.item.external_id", default=None, allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    read_at = serializers.DateTimeField(allow_null=True)


class AnswersRead(serializers.Serializer):
    n_read = serializers.IntegerField()


class MyQuestions(ApiView):
    scopes = {"GET": WORK, "POST": WORK}

    @extend_schema(parameters=[QuestionQuery], responses=page_of(AskedByMe))
    def get(self, request: Request, slug: str) -> Response:
        """What I asked in a project and what was answered, newest first."""
        project = project_joined_by(self.person, slug)
        asked = self.asked(QuestionQuery)
        rows = Question.objects.held_by(self.person).filter(project=project)
        if "state" in asked:
            rows = rows.filter(state=asked["state"])
        return self.page(rows.select_related("stage", "revision__item"), AskedByMe, asked, newest_first=True)

    @extend_schema(request=MyQuestionInput, responses=AskedByMe)
    def post(self, request: Request, slug: str) -> Response:
        """Ask the admins about the project in general."""
        project = project_joined_by(self.person, slug)
        asked = questions.ask_question(project=project, person=self.person, **self.sent(MyQuestionInput))
        return Response(AskedByMe(asked).data)


class MyQuestionsRead(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=None, responses=AnswersRead)
    def post(self, request: Request, slug: str) -> Response:
        """Say that I have read the answers to what I asked."""
        project = project_joined_by(self.person, slug)
        return Response({"n_read": questions.mark_answers_read(project=project, person=self.person)})


class Questions(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[QuestionQuery], responses=page_of(AskedQuestion))
    def get(self, request: Request, slug: str) -> Response:
        """What was asked in a project, newest first."""
        project = project_run_by(self.person, slug)
        asked = self.asked(QuestionQuery)
        rows = Question.objects.visible_to(self.person).filter(project=project)
        if "state" in asked:
            rows = rows.filter(state=asked["state"])
        rows = rows.select_related("person", "stage", "revision__item")
        return self.page(rows, AskedQuestion, asked, newest_first=True)


class QuestionAnswer(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=QuestionAnswerInput, responses=AskedQuestion)
    def post(self, request: Request, slug: str, question_id: int) -> Response:
        """Answer a question, or say it better; whoever asked is told again if the words changed."""
        project = project_run_by(self.person, slug)
        row = get_object_or_404(Question.objects.run_by(self.person).filter(project=project), pk=question_id)
        sent = self.sent(QuestionAnswerInput)
        return Response(AskedQuestion(questions.answer_question(question=row, by=self.person, **sent)).data)


class AssignmentAsk(ApiView):
    scopes = {"POST": WORK}

    @extend_schema(request=QuestionInput, responses=OwnQuestion)
    def post(self, request: Request, token: str) -> Response:
        """Ask the admins about the item in hand; it stays there."""
        held = held_by(person=self.person, token=token)
        if held is None or held.desk.seat is None:
            raise Http404
        sent = self.sent(QuestionInput)
        asked = questions.ask_question(
            project=held.desk.stage.project,
            person=self.person,
            text=sent["text"],
            client_key=sent["client_key"],
            stage=held.desk.stage,
            about=held.assignment if sent["is_about_item"] else None,
        )
        return Response(OwnQuestion(asked).data)
