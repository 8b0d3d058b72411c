"""The people of a project: who they are by pseudonym, what they did, how others are asked in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotate.checks_forms import ExcludePersonForm
from annotate.exceptions import GoldpanelError, LastAdmin
from annotate.models import Exclusion, Invite, Membership, Participation, Project
from annotate.people_forms import BulkForm, EraseForm, MembersForm
from annotate.project_forms import CodesForm, InviteForm
from annotate.services import excluding, grouping, leaving, people, projects, quality_page
from annotate.services.days_of_work import days_of
from annotate.services.member_list import history_of, member_rows, members, page_of_members
from annotate.services.own_work import active_in
from annotate.stage_forms import GroupsForm
from annotate.views.doors import PersonRequest, project_run_by, signed_in
from annotate.views.files import csv_file
from annotate.views.navigation import project_page
from annotate.views.paging import page_number, row_before
from annotate.views.quality import words_of_exclusion, words_of_lifting
from annotate.wording import _, listed, ngettext, said

# Of the calendar, on the page of a person.
DAYS = 14
STATES = {"pause": projects.pause_member, "reactivate": projects.reactivate_member}


@require_safe
@signed_in
def people_list(request: PersonRequest, slug: str) -> HttpResponse:
    return _people_page(request, project_run_by(request.user, slug))


@require_safe
@signed_in
def people_csv(request: PersonRequest, slug: str) -> HttpResponseBase:
    """The list as it is filtered and sorted, whole, for a spreadsheet."""
    project = project_run_by(request.user, slug)
    return csv_file(f"{project.slug}-people.csv", member_rows(project, MembersForm(request.GET).asked))


@require_POST
@signed_in
def people_bulk(request: PersonRequest, slug: str) -> HttpResponse:
    """Pause, let in again, or deal into groups everybody who is ticked; who cannot be is told of, and left."""
    project = project_run_by(request.user, slug)
    form = BulkForm(request.POST)
    chosen = list(
        Membership.objects.filter(project=project, person__pseudonym__in=request.POST.getlist("who"))
        .select_related("person")
        .order_by("pk")
    )
    if not form.is_valid() or not chosen:
        messages.error(request, _("Tick the people first, then choose what happens."))
        return redirect("people", slug)
    step = form.cleaned_data["step"]
    if step == "deal":
        seed = form.cleaned_data["seed"] or 1
        ids = [row.person_id for row in chosen]
        got = grouping.deal_groups(project=project, by=request.user, seed=seed, people=ids)
        _tell_dealt(request, got, seed)
        return redirect("people", slug)
    n_done = 0
    for membership in chosen:
        try:
            STATES[step](membership=membership, by=request.user)
        except GoldpanelError as problem:
            messages.error(request, f"{membership.person.pseudonym}: {said(str(problem))}")
        else:
            n_done += 1
    if n_done:
        n = f"{n_done:,}"
        paused = ngettext("%(n)s person is paused.", "%(n)s people are paused.", n_done, n=n)
        let_in = ngettext("%(n)s person may work again.", "%(n)s people may work again.", n_done, n=n)
        messages.success(request, paused if step == "pause" else let_in)
    return redirect("people", slug)


@require_POST
@signed_in
def people_codes(request: PersonRequest, slug: str) -> HttpResponse:
    """Make participant codes. They stand in this one response and nowhere else."""
    project = project_run_by(request.user, slug)
    form = CodesForm(request.POST)
    if not form.is_valid():
        return _people_page(request, project, status=422, codes_form=form)
    asked = form.cleaned_data
    made = [
        people.new_annotator(
            project=project, by=request.user, role=asked["role"], group=asked["group"], languages=asked["languages"]
        )
        for _ in range(asked["n_codes"])
    ]
    return _people_page(request, project, new_codes=[(person.pseudonym, code) for person, code in made])


@require_POST
@signed_in
def people_groups(request: PersonRequest, slug: str) -> HttpResponse:
    """Deal those without a group into A and B."""
    project = project_run_by(request.user, slug)
    form = GroupsForm(request.POST)
    if not form.is_valid():
        return _people_page(request, project, status=422, groups_form=form)
    got = grouping.deal_groups(project=project, by=request.user, **form.cleaned_data)
    _tell_dealt(request, got, form.cleaned_data["seed"])
    return redirect("people", slug)


@require_POST
@signed_in
def people_invite(request: PersonRequest, slug: str) -> HttpResponse:
    """Make an invitation link. It stands in this one response and nowhere else."""
    project = project_run_by(request.user, slug)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _people_page(request, project, status=422, invite_form=form)
    asked = form.cleaned_data
    invite, token = people.make_invite(
        project=project,
        by=request.user,
        role=asked["role"],
        group=asked["group"],
        max_uses=asked["max_uses"],
        expires_at=timezone.now() + timedelta(days=asked["days"]),
    )
    link = request.build_absolute_uri(reverse("join", args=[token]))
    return _people_page(request, project, new_link=link, new_invite=invite)


@require_POST
@signed_in
def people_invite_revoke(request: PersonRequest, slug: str, invite_id: int) -> HttpResponse:
    project = project_run_by(request.user, slug)
    invite = get_object_or_404(Invite.objects.run_by(request.user), project=project, pk=invite_id)
    people.revoke_invite(invite=invite, by=request.user)
    messages.success(request, _("The link is revoked: nobody can join by it any more."))
    return redirect("people", slug)


@require_safe
@signed_in
def person(request: PersonRequest, slug: str, pseudonym: str) -> HttpResponse:
    project, membership = _member(request, slug, pseudonym)
    return _person_page(request, project, membership)


@require_POST
@signed_in
def person_state(request: PersonRequest, slug: str, pseudonym: str) -> HttpResponse:
    __, membership = _member(request, slug, pseudonym)
    if step := STATES.get(request.POST.get("step", "")):
        try:
            step(membership=membership, by=request.user)
        except GoldpanelError as problem:
            messages.error(request, str(problem))
        else:
            messages.success(request, _("Saved."))
    return redirect("person", slug, pseudonym)


@require_POST
@signed_in
def person_sign_in(request: PersonRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Whether the person signs in at all, in any project."""
    _project, membership = _member(request, slug, pseudonym)
    step = request.POST.get("step", "")
    try:
        if step == "deactivate":
            left = leaving.deactivate_person(person=membership.person, by=request.user)
            said = ngettext(
                "Deactivated: signed out everywhere. %(n)s item went back to the queue; answers and drafts are kept.",
                "Deactivated: signed out everywhere. %(n)s items went back to the queue; answers and drafts are kept.",
                left.n_places,
                n=f"{left.n_places:,}",
            )
            messages.success(request, said)
        elif step == "reactivate":
            leaving.reactivate_person(person=membership.person, by=request.user)
            messages.success(request, _("May sign in again, with the same code or password."))
    except GoldpanelError as problem:
        messages.error(request, str(problem))
    return redirect("person", slug, pseudonym)


@require_POST
@signed_in
def person_erase(request: PersonRequest, slug: str, pseudonym: str) -> HttpResponse:
    """Remove what tells who the person is; the pseudonym is typed to confirm it."""
    project, membership = _member(request, slug, pseudonym)
    form = EraseForm(request.POST, person=membership.person)
    if not form.is_valid():
        return _person_page(request, project, membership, status=422, erase_form=form)
    try:
        left = leaving.erase_person(person=membership.person, by=request.user)
    except GoldpanelError as problem:
        form.add_error(None, str(problem))
        return _person_page(request, project, membership, status=problem.http_status, erase_form=form)
    messages.success(request, _("Erased: nothing here tells who this was. The answers stay under the pseudonym."))
    if left.n_files:
        emptied = ngettext(
            "%(n)s uploaded file of this study was emptied, because it named people.",
            "%(n)s uploaded files of this study were emptied, because they named people.",
            left.n_files,
            n=f"{left.n_files:,}",
        )
        messages.success(request, emptied)
    return redirect("person", slug, pseudonym)


@require_POST
@signed_in
def person_code(request: PersonRequest, slug: str, pseudonym: str) -> HttpResponse:
    """A new participant code instead of a lost one, which stops working at once."""
    project, membership = _member(request, slug, pseudonym)
    if membership.person.is_staff:
        messages.error(request, _("This person signs in with a password and has no code."))
        return redirect("person", slug, pseudonym)
    if membership.person.erased_at is not None:
        messages.error(request, _("This person was erased: nobody could sign in as them again."))
        return redirect("person", slug, pseudonym)
    # Whoever has the code is that person, in every project they take part in.
    if problem := leaving.why_not(person=membership.person, by=request.user):
        messages.error(request, problem)
        return redirect("person", slug, pseudonym)
    return _person_page(request, project, membership, new_code=people.issue_code(person=membership.person))


@require_POST
@signed_in
def person_exclude(request: PersonRequest, slug: str, pseudonym: str) -> HttpResponse:
    project, membership = _member(request, slug, pseudonym)
    form = ExcludePersonForm(request.POST)
    if not form.is_valid():
        return _person_page(request, project, membership, status=422, exclude_form=form)
    try:
        made = projects.exclude_member(membership=membership, by=request.user, **form.cleaned_data)
    except LastAdmin as problem:
        form.add_error("pauses", said(str(problem)))
        return _person_page(request, project, membership, status=409, exclude_form=form)
    messages.success(request, words_of_exclusion(made))
    return redirect("person", slug, pseudonym)


@require_POST
@signed_in
def exclusion_lift(request: PersonRequest, slug: str, exclusion_id: int) -> HttpResponse:
    project = project_run_by(request.user, slug)
    exclusion = get_object_or_404(Exclusion.objects.run_by(request.user), project=project, pk=exclusion_id)
    lifted = excluding.lift_exclusion(exclusion=exclusion, by=request.user)
    messages.success(request, words_of_lifting(lifted))
    if request.POST.get("from") == "quality":
        return redirect("quality", slug)
    if exclusion.annotation is not None:
        return redirect("answer", slug, exclusion.annotation.pk)
    if exclusion.person is None:
        return redirect("people", slug)
    return redirect("person", slug, exclusion.person.pseudonym)


def _tell_dealt(request: PersonRequest, got: Mapping[str, int], seed: int) -> None:
    if any(got.values()):
        dealt = listed(_("%(n)s to group %(group)s", n=f"{n:,}", group=group) for group, n in got.items())
        messages.success(request, _("Dealt by seed %(seed)s: %(dealt)s.", seed=seed, dealt=dealt))
    else:
        messages.success(request, _("Everybody has a group already."))


@require_safe
@signed_in
def person_answers(request: PersonRequest, slug: str, pseudonym: str) -> HttpResponse:
    """What somebody answered, the newest first, each with a page where it can be left out."""
    project, membership = _member(request, slug, pseudonym)
    rows, has_more = quality_page.answers_of(project, membership.person, before=row_before(request))
    address = reverse("person-answers", args=[slug, pseudonym])
    context = project_page(project, request.user, "people") | {
        "member": membership,
        "rows": rows,
        "next_url": f"{address}?after={rows[-1].annotation.pk}" if has_more else "",
    }
    return render(request, "annotate/person_answers.html", context)


def _member(request: PersonRequest, slug: str, pseudonym: str) -> tuple[Project, Membership]:
    project = project_run_by(request.user, slug)
    return project, get_object_or_404(members(project), person__pseudonym=pseudonym)


def _people_page(request: PersonRequest, project: Project, *, status: int = 200, **shown: Any) -> HttpResponse:
    """`shown`: forms that come back with their errors, and what is shown this one time."""
    asked_form = MembersForm(request.GET)
    asked = replace(asked_form.asked, page=page_number(request))
    page = page_of_members(project, asked)
    kept = {name: value for name, value in asked_form.cleaned_data.items() if value}
    address, query = reverse("people", args=[project.slug]), urlencode(kept)
    context = project_page(project, request.user, "people") | {
        "members": page.members,
        "has_checks": page.has_checks,
        "asked_form": asked_form,
        "is_filtered": any(name != "sort" for name in kept),
        "csv_url": f"{reverse('people-csv', args=[project.slug])}?{query}",
        "before_url": f"{address}?{urlencode(kept | {'page': asked.page - 1})}" if asked.page > 1 else "",
        "next_url": f"{address}?{urlencode(kept | {'page': asked.page + 1})}" if page.has_more else "",
        "codes_form": CodesForm(),
        "invite_form": InviteForm(),
        "groups_form": GroupsForm(),
        "group_sizes": grouping.group_sizes(project),
        "invites": Invite.objects.filter(
            project=project, revoked_at__isnull=True, expires_at__gt=timezone.now()
        ).order_by("-pk")[:50],
    }
    return render(request, "annotate/people.html", context | shown, status=status)


def _person_page(
    request: PersonRequest, project: Project, membership: Membership, *, status: int = 200, **shown: Any
) -> HttpResponse:
    exclusions = Exclusion.objects.filter(project=project, person=membership.person).select_related(
        "decided_by", "lifted_by"
    )
    participations = list(
        Participation.objects.filter(stage__project=project, person=membership.person)
        .select_related("stage")
        .order_by("stage__position")
    )
    active = active_in(membership.person, [row.stage for row in participations])
    context = project_page(project, request.user, "people") | {
        "member": membership,
        "participations": [{"row": row, "active": active[row.stage_id]} for row in participations],
        "exclusions": exclusions.order_by("-decided_at"),
        "exclude_form": ExcludePersonForm(),
        "days": days_of(project, membership.person, n_days=DAYS),
        "history": history_of(project, membership.person),
        "erase_form": EraseForm(person=membership.person),
        "why_not": leaving.why_not(person=membership.person, by=request.user),
    }
    return render(request, "annotate/person.html", context | shown, status=status)
