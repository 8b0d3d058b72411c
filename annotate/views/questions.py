"""Questions: asked beside an item, answered by admins, read by whoever asked."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.models import Question, StageVersion
from annotate.question_forms import AnswerQuestionForm, QuestionForm
from annotate.services import questions
from annotate.shown import ShownItem, shown_item
from annotate.views.at_work import at_work, held_assignment
from annotate.views.doors import PersonRequest, project_joined_by, project_run_by, signed_in
from annotate.views.navigation import project_page
from annotate.views.signing_in import wants_json


@require_POST
@at_work
def work_ask(request: HttpRequest, token: str) -> HttpResponse:
    """Ask about the item in hand, or about the stage in general. The item stays where it is."""
    held = held_assignment(request, token)
    desk = held.desk
    if desk.seat is None:
        raise Http404
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return _refused(request, form, reverse("work", args=[desk.stage.project.slug, desk.stage.slug]))
    questions.ask_question(
        project=desk.stage.project,
        person=desk.person,
        text=form.cleaned_data["text"],
        client_key=form.cleaned_data["client_key"],
        stage=desk.stage,
        about=None if form.cleaned_data["about"] == "stage" else held.assignment,
    )
    return _asked(request, reverse("work", args=[desk.stage.project.slug, desk.stage.slug]))


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def my_questions(request: PersonRequest, slug: str) -> HttpResponse:
    """What I asked in a project and what was answered; POST asks about the project in general."""
    project = project_joined_by(request.user, slug)
    form = QuestionForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        questions.ask_question(
            project=project,
            person=request.user,
            text=form.cleaned_data["text"],
            client_key=form.cleaned_data["client_key"],
        )
        return _asked(request, reverse("my-questions", args=[slug]))
    mine = Question.objects.held_by(request.user).filter(project=project)
    page = questions.page_of_questions(mine, after=request.GET.get("after", ""))
    context = project_page(project, request.user, "my-questions") | {
        "page": page,
        "has_unread": any(one.state == "answered" and one.read_at is None for one in page.questions),
        "client_key": secrets.token_urlsafe(16),
        "text": form.data.get("text", "") if form else "",
        "problem": _problem(form) if form else "",
    }
    return render(request, "annotate/my_questions.html", context, status=422 if form else 200)


@require_POST
@signed_in
def my_questions_read(request: PersonRequest, slug: str) -> HttpResponse:
    """The answers were read; back to where they stood."""
    project = project_joined_by(request.user, slug)
    questions.mark_answers_read(project=project, person=request.user)
    if request.htmx:
        return HttpResponse()  # the notice goes, the item stays
    stage = project.stages.filter(slug=request.POST.get("stage", "")).first()
    return redirect("work", slug, stage.slug) if stage else redirect("my-questions", slug)


@require_safe
@signed_in
def question_list(request: PersonRequest, slug: str) -> HttpResponse:
    return _list(request, slug)


@require_POST
@signed_in
def question_answer(request: PersonRequest, slug: str, question_id: int) -> HttpResponse:
    """Answer, or change an answer and whether all read it."""
    project = project_run_by(request.user, slug)
    question = get_object_or_404(Question.objects.run_by(request.user).filter(project=project), pk=question_id)
    form = AnswerQuestionForm(request.POST, prefix=f"q{question.pk}")
    if not form.is_valid():
        return _list(request, slug, bound={question.pk: form}, status=422)
    questions.answer_question(question=question, by=request.user, **form.cleaned_data)
    messages.success(request, _("Answered. Whoever asked sees it beside their next item."))
    return redirect("questions", slug)


def _list(
    request: PersonRequest, slug: str, *, bound: dict[int, AnswerQuestionForm] | None = None, status: int = 200
) -> HttpResponse:
    project = project_run_by(request.user, slug)
    rows = Question.objects.visible_to(request.user).filter(project=project)
    page = questions.page_of_questions(rows, after=request.GET.get("after", ""))
    shown: list[dict[str, Any]] = [
        {"question": one, "form": (bound or {}).get(one.pk) or _answer_form(one)} for one in page.questions
    ]
    missing = set(bound or {}) - {one.pk for one in page.questions}
    for one in rows.filter(pk__in=missing).select_related(
        "stage", "person", "answered_by", "stage_item", "revision__item"
    ):
        # What was refused comes back with its words, also from another page of the list.
        shown.insert(0, {"question": one, "form": (bound or {})[one.pk]})
    keys = _keys_shown([one["question"] for one in shown])
    for one in shown:
        one["item"] = _item(one["question"], keys)
    context = project_page(project, request.user, "questions") | {
        "page": page,
        "shown": shown,
        "n_unanswered": questions.n_unanswered(project),
        "is_first": not request.GET.get("after"),
    }
    return render(request, "annotate/questions.html", context, status=status)


def _keys_shown(asked: list[Question]) -> dict[int | None, list[str]]:
    """Stage id -> the content keys that its people see, in one query."""
    forms = StageVersion.objects.filter(stage__in={one.stage_id for one in asked}, is_current=True)
    return dict(forms.values_list("stage", "shown_keys"))


def _item(question: Question, keys: dict[int | None, list[str]]) -> ShownItem | None:
    """What the asker had before them, as the stage shows items now."""
    if question.revision is None:
        return None
    return shown_item(
        external_id=question.revision.item.external_id,
        language=question.revision.language,
        content=question.revision.content,
        shown_keys=keys.get(question.stage_id, []),
    )


def _answer_form(question: Question) -> AnswerQuestionForm:
    initial = {
        "answer": question.answer,
        "is_pinned": question.is_pinned,
        "pinned_text": question.pinned_text or question.text,
    }
    return AnswerQuestionForm(prefix=f"q{question.pk}", initial=initial)


def _asked(request: HttpRequest, back: str) -> HttpResponse:
    words = _("Your question was sent. The answer comes to you beside an item and under My questions.")
    if wants_json(request):
        return JsonResponse({"message": words, "client_key": secrets.token_urlsafe(16)})
    messages.success(request, words)
    return redirect(back)


def _refused(request: HttpRequest, form: QuestionForm, back: str) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": "invalid", "message": _problem(form)}, status=422)
    messages.error(request, _problem(form))
    return redirect(back)


def _problem(form: QuestionForm) -> str:
    return " ".join(str(error) for errors in form.errors.values() for error in errors)
