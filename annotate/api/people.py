"""The people of a project for its admins: what each did, how others are asked in, and how somebody leaves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.base import ApiView
from annotate.api.inputs import Input, checked, filled, input_of
from annotate.api.paging import PageQuery, page_of
from annotate.api.times import DayOfWork, day_told, time_told
from annotate.models import ApiToken, Invite, Membership, Participation, Person, Project
from annotate.project_forms import CodesForm, InviteForm
from annotate.services import leaving, member_list, people, projects
from annotate.services.days_of_work import days_of
from annotate.services.own_work import active_in
from annotate.views.doors import project_run_by

READ, RUN = ApiToken.Scope.READ, ApiToken.Scope.RUN
DAYS = 31
STEPS: dict[str, Callable[[Membership, Person], object]] = {
    "pause": lambda member, by: projects.pause_member(membership=member, by=by),
    "let_work": lambda member, by: projects.reactivate_member(membership=member, by=by),
    "deactivate": lambda member, by: leaving.deactivate_person(person=member.person, by=by),
    "reactivate": lambda member, by: leaving.reactivate_person(person=member.person, by=by),
}

NewPeopleInput = input_of(CodesForm, "NewPeopleInput")
NewInviteInput = input_of(InviteForm, "NewInviteInput")


class PeopleQuery(PageQuery):
    standing = serializers.ChoiceField(choices=list(member_list.STANDINGS), required=False)
    role = serializers.ChoiceField(choices=Membership.Role.values, required=False)
    group = serializers.CharField(required=False, max_length=8, help_text="none: those without one.")


class MemberStepInput(Input):
    step = serializers.ChoiceField(
        choices=list(STEPS),
        help_text="pause, let_work: in this project. deactivate, reactivate: whether the person signs in at all.",
    )


class Member(serializers.Serializer):
    """A person in a project, by pseudonym, with what they did in all its stages."""

    person = serializers.CharField(source="person.pseudonym")
    role = serializers.ChoiceField(choices=Membership.Role.values)
    standing = serializers.ChoiceField(
        choices=list(member_list.STANDINGS), help_text="invited: an annotator who has not begun."
    )
    group = serializers.CharField()
    languages = serializers.ListField(child=serializers.CharField(), help_text="Empty: every language.")
    joined_at = serializers.DateTimeField()
    answered = serializers.IntegerField(source="n_answered")
    skipped = serializers.IntegerField(source="n_skipped")
    flagged = serializers.IntegerField(source="n_flagged")
    checks = serializers.IntegerField(source="n_checks", help_text="Answered checks with a gold label.")
    checks_right = serializers.IntegerField(source="n_right")
    active_seconds = serializers.IntegerField(
        source="active.seconds", allow_null=True, help_text="Null: not known of any answer."
    )
    answers_not_timed = serializers.IntegerField(
        source="active.n_unknown", help_text="Answers that active_seconds leaves out: their time is not known."
    )
    of_them_imported = serializers.IntegerField(source="active.n_imported")
    last_seen_at = serializers.DateTimeField(allow_null=True)
    excluded = serializers.BooleanField(source="is_excluded")
    is_sample = serializers.BooleanField(source="person.is_sample")


class MemberInStage(serializers.Serializer):
    stage = serializers.CharField()
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    active_seconds = serializers.IntegerField(allow_null=True)
    answers_not_timed = serializers.IntegerField()
    of_them_imported = serializers.IntegerField()
    last_seen_at = serializers.DateTimeField()


class MemberInFull(Member):
    time_zone = serializers.CharField(help_text="By whose clock the days are told.")
    stages = MemberInStage(many=True)
    days = DayOfWork(many=True)


class NewPerson(serializers.Serializer):
    """Somebody new with the code they sign in with: it is told this once."""

    person = serializers.CharField()
    code = serializers.CharField()


class NewPeople(serializers.Serializer):
    people = NewPerson(many=True)


class InviteOfProject(serializers.Serializer):
    """A link that lets people in; its address is told when it is made and never again."""

    id = serializers.IntegerField()
    role = serializers.CharField()
    group = serializers.CharField()
    uses = serializers.IntegerField()
    max_uses = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewInvite(InviteOfProject):
    address = serializers.CharField()


class People(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[PeopleQuery], responses=page_of(Member))
    def get(self, request: Request, slug: str) -> Response:
        """The people of a project in the order they joined. For its admins."""
        project = project_run_by(self.person, slug)
        asked = self.asked(PeopleQuery)
        which = {name: asked[name] for name in ("standing", "role", "group") if name in asked}
        rows, following = self.take_page(member_list.asked_for(project, member_list.Asked(**which)), asked)
        return Response({"next": following, "results": Member(member_list.with_times(rows), many=True).data})

    @extend_schema(request=NewPeopleInput, responses={201: NewPeople})
    def post(self, request: Request, slug: str) -> Response:
        """Make participant codes: each is one new person."""
        project = project_run_by(self.person, slug)
        asked = checked(filled(CodesForm, self.sent(NewPeopleInput)))
        n = asked.pop("n_codes")
        made = [people.new_annotator(project=project, by=self.person, **asked) for _ in range(n)]
        told = {"people": [{"person": person.pseudonym, "code": code} for person, code in made]}
        return Response(NewPeople(told).data, status=201)


class PersonInFull(ApiView):
    scopes = {"GET": READ}

    @extend_schema(responses=MemberInFull)
    def get(self, request: Request, slug: str, pseudonym: str) -> Response:
        """What somebody did in each stage, and on which days."""
        project, member = _member(self, slug, pseudonym)
        return Response(MemberInFull(_in_full(project, member)).data)


class PersonState(ApiView):
    scopes = {"POST": RUN}

    @extend_schema(request=MemberStepInput, responses=Member)
    def post(self, request: Request, slug: str, pseudonym: str) -> Response:
        """Pause somebody here and let them work again, or end their sign-in everywhere and give it back."""
        _project, member = _member(self, slug, pseudonym)
        STEPS[self.sent(MemberStepInput)["step"]](member, self.person)
        return Response(Member(_member(self, slug, pseudonym)[1]).data)


class Invites(ApiView):
    scopes = {"GET": READ, "POST": RUN}

    @extend_schema(parameters=[PageQuery], responses=page_of(InviteOfProject))
    def get(self, request: Request, slug: str) -> Response:
        """The invitations of a project, newest first, those that are over too. For its admins."""
        project = project_run_by(self.person, slug)
        rows = Invite.objects.run_by(self.person).filter(project=project)
        return self.page(rows, InviteOfProject, newest_first=True)

    @extend_schema(request=NewInviteInput, responses={201: NewInvite})
    def post(self, request: Request, slug: str) -> Response:
        """Make an invitation link."""
        project = project_run_by(self.person, slug)
        asked = checked(filled(InviteForm, self.sent(NewInviteInput)))
        invite, token = people.make_invite(
            project=project,
            by=self.person,
            role=asked["role"],
            group=asked["group"],
            max_uses=asked["max_uses"],
            expires_at=timezone.now() + timedelta(days=asked["days"]),
        )
        told: Any = invite
        told.address = request.build_absolute_uri(reverse("join", args=[token]))
        return Response(NewInvite(told).data, status=201)


class InviteInFull(ApiView):
    scopes = {"DELETE": RUN}

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, invite_id: int) -> Response:
        """Revoke a link: nobody joins by it any more, and whoever did stays."""
        project = project_run_by(self.person, slug)
        invite = get_object_or_404(Invite.objects.run_by(self.person), project=project, pk=invite_id)
        people.revoke_invite(invite=invite, by=self.person)
        return Response(status=204)


def _member(view: ApiView, slug: str, pseudonym: str) -> tuple[Project, Any]:
    project = project_run_by(view.person, slug)
    found = get_object_or_404(member_list.members(project), person__pseudonym=pseudonym)
    (member,) = member_list.with_times([found])
    return project, member


def _in_full(project: Project, member: Any) -> Any:
    rows = list(
        Participation.objects.filter(stage__project=project, person=member.person)
        .select_related("stage")
        .order_by("stage__position", "stage")
    )
    active = active_in(member.person, [row.stage for row in rows])
    member.time_zone = project.time_zone
    member.stages = [
        {
            "stage": row.stage.slug,
            "answered": row.n_answered,
            "skipped": row.n_skipped,
            **time_told("active_seconds", "answers_not_timed", active[row.stage_id]),
            "of_them_imported": active[row.stage_id].n_imported,
            "last_seen_at": row.last_seen_at,
        }
        for row in rows
    ]
    member.days = [day_told(day) for day in days_of(project, member.person, most=DAYS)]
    return member
