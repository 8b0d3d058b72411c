"""What annotators ask, what admins answer, and what everybody reads of it beside the guidelines.

Nobody but admins learns who asked: what is pinned stands there without a name.
"""

from __future__ import annotations

from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from annotate import events
from annotate.models import Assignment, Person, Project, Question, Stage

MOST_CHARACTERS = 2_000  # as in templates/annotate/partials/work_aside.html
MOST_CHARACTERS_ANSWERED = 10_000
PAGE = 30


class Pinned(NamedTuple):
    """A question with its answer, as everybody reads them."""

    question: str
    answer: str


class QuestionPage(NamedTuple):
    """last: the address of its end, after which the next page begins."""

    questions: list[Question]
    last: str
    has_more: bool


@transaction.atomic
def ask_question(
    *,
    project: Project,
    person: Person,
    text: str,
    client_key: str,
    stage: Stage | None = None,
    about: Assignment | None = None,
) -> Question:
    """Put a question to the admins: about an item in the person's hands, a stage, or the project.

    The same key again returns what was asked with it: words that are sent once more when the network is back ask once.
    """
    asked, is_new = Question.objects.get_or_create(
        person=person,
        project=project,
        client_key=client_key,
        defaults={
            "stage": about.stage if about else stage,
            "stage_item": about.stage_item if about else None,
            "revision_id": about.stage_item.revision_id if about else None,
            "text": text,
        },
    )
    if is_new:
        events.record(actor=person, verb="question.asked", subject=asked, project_id=project.pk)
    return asked


@transaction.atomic
def answer_question(
    *, question: Question, by: Person, answer: str, is_pinned: bool = False, pinned_text: str = ""
) -> Question:
    """Answer a question, or say it better: whoever asked is told again if the words changed.

    is_pinned: everybody in the stage (in the project, where it is about no stage) reads it beside the guidelines, in
    the asker's words or in those of pinned_text. False takes it down.
    """
    # Two admins at once: the later one decides, knowing nothing of the earlier one; what is told is one of the two.
    question = Question.objects.select_for_update(of=("self",)).get(pk=question.pk)
    is_reworded = answer != question.answer
    pin_before = (question.is_pinned, question.pinned_text, question.answer)
    question.state, question.answer = Question.State.ANSWERED, answer
    question.is_pinned, question.pinned_text = is_pinned, pinned_text if is_pinned else ""
    if is_reworded:
        question.answered_by, question.answered_at, question.read_at = by, Now(), None
    is_pin_changed = (is_pinned or pin_before[0]) and pin_before != (is_pinned, question.pinned_text, answer)
    if is_pin_changed:
        question.pin_changed_at = Now()
    question.save()
    if is_reworded:
        events.record(actor=by, verb="question.answered", subject=question, project_id=question.project_id)
    if is_pin_changed:
        verb = "question.pinned" if is_pinned else "question.unpinned"
        events.record(actor=by, verb=verb, subject=question, project_id=question.project_id)
    question.refresh_from_db(fields=["answered_at", "pin_changed_at"])
    return question


def mark_answers_read(*, project: Project, person: Person) -> int:
    """The person has read what they asked for in a project; how many answers that were."""
    return Question.objects.unread().filter(project=project, person=person).update(read_at=Now())


def n_unanswered(project: Project) -> int:
    """How many questions wait for an admin."""
    return Question.objects.unanswered().filter(project=project).count()


def unread_answers(*, project: Project, person: Person) -> list[Question]:
    """What the person has not read yet, in the order in which it was answered."""
    rows = Question.objects.unread().filter(project=project, person=person)
    return list(rows.select_related("stage_item__revision__item", "stage").order_by("answered_at", "pk")[:PAGE])


def n_unread_by_project(person: Person) -> dict[int, int]:
    """For the home of somebody who works in several projects: project id -> answers they have not read."""
    counted: dict[int, int] = {}
    for project_id in Question.objects.held_by(person).unread().values_list("project", flat=True):
        counted[project_id] = counted.get(project_id, 0) + 1
    return counted


def pinned_beside(stage: Stage) -> list[Pinned]:
    """What stands beside the guidelines of a stage, the oldest first."""
    rows = Question.objects.pinned_in(stage).order_by("answered_at", "pk")
    return [
        Pinned(pinned_text or text, answer)
        for pinned_text, text, answer in rows.values_list("pinned_text", "text", "answer")
    ]


def page_of_questions(questions: QuerySet[Question], *, after: str = "") -> QuestionPage:
    """Unanswered questions first, the newest of each first; by key, so that any page costs the same."""
    state, _, pk = after.partition("-")
    if state in Question.State.values and pk.isascii() and pk.isdecimal() and len(pk) < 19:
        # Descending: "open" comes before "answered", in the order of the index question_by_state.
        questions = questions.filter(Q(state__lt=state) | Q(state=state, pk__lt=int(pk)))
    rows = questions.select_related("stage", "person", "answered_by", "stage_item", "revision__item")
    found = list(rows.order_by("-state", "-pk")[: PAGE + 1])
    shown = found[:PAGE]
    return QuestionPage(shown, f"{shown[-1].state}-{shown[-1].pk}" if shown else "", len(found) > PAGE)
