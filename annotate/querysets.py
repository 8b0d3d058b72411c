"""Which rows: every question about rows has a name here. `visible_to` is the one door of each model.

Three doors, from wide to narrow: rows a person may read, rows of projects they run, rows they hold themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Cast, Now

if TYPE_CHECKING:
    from annotate.models import Person, Stage

READING_ROLES = ("admin", "viewer", "adjudicator", "meta_reviewer")
RUNNING_ROLES = ("admin",)
# Roles that judge others' work: while there is such work for them, they must not know what others said of it.
JUDGING_ROLES = ("adjudicator", "meta_reviewer")
# Of places (StageItem.Purpose) whose answers count.
COUNTED_PURPOSES = ("", "counted_check")


def by_role(person: Person | Any, path: str, roles: tuple[str, ...]) -> Q:
    """Rows whose project (reached over `path`, "" for the project itself) has this person in one of the roles."""
    prefix = f"{path}__memberships" if path else "memberships"
    if not person.is_authenticated or not person.is_active:
        return Q(pk__in=[])
    return Q(
        **{f"{prefix}__person": person, f"{prefix}__state": "active", f"{prefix}__role__in": roles},
    )


def reads_results(person: Person | Any, path: str) -> Q:
    """Rows of projects whose results this person reads.

    Adjudicators and meta-reviewers do when they have judged.
    """
    watching = tuple(role for role in READING_ROLES if role not in JUDGING_ROLES)
    return by_role(person, path, watching) | has_judged(person, path)


def has_judged(person: Person | Any, path: str) -> Q:
    """Rows of projects where this person judges others' work, and no stage that their role takes is open or paused.

    A meta-reviewer who reads what the other one said, or which model wrote an answer, is no second opinion.
    """
    own = Q(pk__in=[])
    for role in JUDGING_ROLES:
        # As text, because the membership of a list is asked for differently in each database.
        stages = _model("Stage").objects.annotate(taken_by=Cast("roles", models.TextField()))
        at_work = stages.filter(
            project=models.OuterRef(path or "pk"), state__in=["open", "paused"], taken_by__contains=f'"{role}"'
        )
        own |= by_role(person, path, (role,)) & ~Q(models.Exists(at_work))
    return own


class ProjectRowQuerySet(models.QuerySet[Any]):
    """Rows that belong to a project and are read by those who read its results, never by its annotators."""

    project_path = "project"

    def visible_to(self, person: Person | Any) -> Self:
        """The one door to read: admins and viewers of the row's project, and those who judge when they have judged."""
        return self.filter(reads_results(person, self.project_path))

    def run_by(self, person: Person | Any) -> Self:
        """The one door to change: admins of the row's project."""
        return self.filter(by_role(person, self.project_path, RUNNING_ROLES))

    def decided_by(self, person: Person | Any) -> Self:
        """The door to gold labels outside a stage: admins, and those who judge, when they have judged."""
        admins = by_role(person, self.project_path, RUNNING_ROLES)
        return self.filter(admins | has_judged(person, self.project_path))


class AdminRowQuerySet(ProjectRowQuerySet):
    """Rows that only admins read: people, imports, endpoints, exclusions."""

    def visible_to(self, person: Person | Any) -> Self:
        return self.run_by(person)


class ProjectQuerySet(ProjectRowQuerySet):
    project_path = ""

    def joined_by(self, person: Person | Any) -> Self:
        """Projects that the person has a part in, whatever it is: what they find there is their own."""
        return self.filter(by_role(person, "", (*READING_ROLES, "annotator")))


class MembershipQuerySet(AdminRowQuerySet):
    def active(self) -> Self:
        return self.filter(state="active", person__is_active=True)


class StageQuerySet(ProjectRowQuerySet):
    def workable_by(self, person: Person | Any) -> Self:
        """Stages the person's role may take, open or paused; a draft or closed stage hands nothing out."""
        mine = self.filter(by_role(person, "project", (*READING_ROLES, "annotator")))
        # JSON membership differs between databases, and a project has a handful of stages: compare in Python.
        rows = mine.filter(state__in=["open", "paused"]).values_list("pk", "roles", "project__memberships__role")
        return self.filter(pk__in=[pk for pk, roles, role in rows if role in roles])


class StageItemQuerySet(ProjectRowQuerySet):
    project_path = "stage__project"

    def due(self) -> Self:
        return self.filter(due_at__isnull=False)

    def short_of_answers(self) -> Self:
        return self.filter(state="open", active__lt=F("wanted") - F("done"))

    def lock_in_claim_order(self) -> None:
        """Lock these rows in the order in which a waiting claim does, so that the two never wait for one another."""
        for _ in self.select_for_update(of=("self",)).order_by("stage", "rank").values_list("pk").iterator():
            pass


class FeedQuerySet(ProjectRowQuerySet):
    project_path = "source__project"


class CandidateQuerySet(ProjectRowQuerySet):
    pass


class AuditQuerySet(ProjectRowQuerySet):
    project_path = "stage__project"


class AssignmentQuerySet(ProjectRowQuerySet):
    project_path = "stage__project"

    def held_by(self, person: Person | Any) -> Self:
        """The one door to answer: nobody submits another person's work, an admin neither."""
        if not person.is_authenticated or not person.is_active:
            return self.none()
        return self.filter(person=person)


class AnnotationQuerySet(ProjectRowQuerySet):
    project_path = "assignment__stage__project"

    def current(self) -> Self:
        """The newest revision of each answer: the one that counts."""
        return self.filter(is_current=True)

    def flagged(self) -> Self:
        """Answers that their authors flagged, as they are by now."""
        return self.current().filter(is_flagged=True, assignment__state="submitted")

    def given(self) -> Self:
        """Every revision of what people answered as work of a stage; attempts to qualify are none."""
        return self.filter(assignment__state="submitted").exclude(assignment__purpose="qualification")

    def given_here(self) -> Self:
        """What was answered in this installation: what was imported has no day here."""
        return self.given().filter(assignment__is_imported=False)

    def counted(self) -> Self:
        """Current answers that hold a slot and are not excluded: what every figure is made of.

        Of answers to checks those that their stage counts; none to qualify.
        """
        exclusions = _model("Exclusion").objects.standing()
        by_person = exclusions.filter(
            person=models.OuterRef("assignment__person"), project=models.OuterRef("assignment__stage__project")
        )
        return (
            self.current()
            .filter(assignment__state="submitted", assignment__slot__isnull=False)
            .filter(assignment__purpose__in=COUNTED_PURPOSES)
            # Whichever revision the decision names: changing an answer does not take it back.
            .exclude(models.Exists(exclusions.filter(annotation__assignment=models.OuterRef("assignment"))))
            .exclude(models.Exists(by_person))
        )


class QuestionQuerySet(AdminRowQuerySet):
    """Admins read and answer; whoever asked reads their own."""

    def held_by(self, person: Person | Any) -> Self:
        """A person's own questions in projects they are in: a paused membership opens no door."""
        return self.filter(by_role(person, "project", (*READING_ROLES, "annotator")), person=person)

    def unanswered(self) -> Self:
        return self.filter(state="open")

    def unread(self) -> Self:
        """Answered, and not yet read by whoever asked."""
        return self.filter(state="answered", read_at__isnull=True)

    def pinned_in(self, stage: Stage) -> Self:
        """What everybody in the stage reads beside its guidelines: its own, and those about the whole project."""
        return self.filter(Q(stage=stage) | Q(stage__isnull=True), project=stage.project_id, is_pinned=True)


class FlagSettlementQuerySet(AdminRowQuerySet):
    project_path = "annotation__assignment__stage__project"

    def standing(self) -> Self:
        """Those that nobody took back."""
        return self.filter(reopened_at__isnull=True)


class DecisionQuerySet(ProjectRowQuerySet):
    project_path = "annotation__assignment__stage__project"


class ResolutionQuerySet(ProjectRowQuerySet):
    project_path = "stage_item__stage__project"

    def without_majority(self) -> Self:
        return self.filter(status__in=["plurality", "tie", "no_votes"])


class ItemRowQuerySet(ProjectRowQuerySet):
    """Rows hanging on an item: revisions, keys, gold labels."""

    project_path = "item__project"

    def current(self) -> Self:
        return self.filter(is_current=True)


class ExclusionQuerySet(AdminRowQuerySet):
    def standing(self) -> Self:
        """Decisions in force: not lifted."""
        return self.filter(lifted_at__isnull=True)

    def of_answer(self, annotation: Any) -> Self:
        """Decisions about one answer, whichever of its revisions they name: changing an answer takes none back."""
        return self.filter(annotation__assignment=annotation.assignment_id)


class FreedPlaceQuerySet(AdminRowQuerySet):
    project_path = "exclusion__project"


class QualificationAttemptQuerySet(AdminRowQuerySet):
    project_path = "stage__project"

    def in_force(self) -> Self:
        """Those that nobody set aside."""
        return self.filter(set_aside_at__isnull=True)


class QualificationPlaceQuerySet(AdminRowQuerySet):
    project_path = "attempt__stage__project"


class CheckResultQuerySet(AdminRowQuerySet):
    project_path = "assignment__stage__project"


class EventQuerySet(AdminRowQuerySet):
    pass


class StoredFileQuerySet(ProjectRowQuerySet):
    """Whoever reads results reads the files of reports; uploads and data go to admins."""

    def visible_to(self, person: Person | Any) -> Self:
        of_reports = Q(purpose__in=["export", "chart"])
        return self.filter(by_role(person, "project", RUNNING_ROLES) | (of_reports & reads_results(person, "project")))

    def outdated(self) -> Self:
        return self.filter(keep_until__lte=Now())


class ExportQuerySet(ProjectRowQuerySet):
    """Each reader sees the exports of what that reader may see."""

    def visible_to(self, person: Person | Any) -> Self:
        for_readers = Q(is_for_admins=False)
        return self.filter(by_role(person, "project", RUNNING_ROLES) | (for_readers & reads_results(person, "project")))


class RestorationQuerySet(models.QuerySet[Any]):
    """An archive is its uploader's until it is a project, and then its members'."""

    def held_by(self, person: Person | Any) -> Self:
        if not person.is_authenticated or not person.is_active or not person.is_staff:
            return self.none()
        return self.filter(created_by=person)


class ApiTokenQuerySet(models.QuerySet[Any]):
    """A token is its person's own: no admin sees or revokes those of others."""

    def held_by(self, person: Person | Any) -> Self:
        if not person.is_authenticated or not person.is_active:
            return self.none()
        return self.filter(person=person)

    def live(self) -> Self:
        """Those that still open something, by the database's clock."""
        return self.filter(revoked_at__isnull=True, expires_at__gt=Now(), person__is_active=True)


def _model(name: str) -> Any:
    """Models import this module, so it looks theirs up by name."""
    from django.apps import apps

    return apps.get_model("annotate", name)
