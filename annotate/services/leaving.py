"""Somebody leaves: signs in no more, comes back, or is erased, so that nothing here tells who they were.

What people gave stays whatever becomes of them, under their pseudonym: a vote that vanished would change results.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from annotate import events
from annotate.exceptions import LastAdmin, PersonNotYours
from annotate.models import (
    ApiToken,
    Assignment,
    ImportedAnnotator,
    ImportJob,
    Membership,
    Person,
    Project,
    Session,
    SignInFailure,
    StoredFile,
)
from annotate.services.assigning import take_back_leases
from annotate.services.tokens import revoke_tokens_of
from annotate.wording import _

# Of what is told of an import: sentences that quote the file.
_QUOTING = frozenset({"problems", "warnings"})


@dataclass(frozen=True)
class Left:
    """n_places: that others may take now. n_files: uploads that were emptied, because they named the person."""

    n_places: int = 0
    n_files: int = 0


def why_not(*, person: Person, by: Person) -> str:
    """Why this admin may not say whether the person signs in; empty where they may. For what a page offers."""
    if person.pk == by.pk:
        return _("Nobody shuts themselves out: another admin can.")
    if by.is_superuser:
        return ""
    if person.is_staff:
        return _("Whether staff sign in is decided by whoever runs this installation.")
    elsewhere = Membership.objects.filter(person=person).exclude(state=Membership.State.LEFT)
    if elsewhere.exclude(project__in=Project.objects.run_by(by)).exists():
        return _("This person also takes part in a project that you do not run. Pause them here instead.")
    return ""


@transaction.atomic
def deactivate_person(*, person: Person, by: Person) -> Left:
    """From this moment the person opens no page and no program of theirs does; what they hold goes back to the queue.

    Answers, drafts and memberships stay. A second time changes nothing. Raises PersonNotYours, LastAdmin.
    """
    person = _locked(person, by)
    if not person.is_active:
        return Left()
    left = _shut_out(person, by)
    _record("person.deactivated", person, by)
    return left


@transaction.atomic
def reactivate_person(*, person: Person, by: Person) -> None:
    """Let the person sign in again, with the code or password they had. Raises PersonNotYours, also for the erased."""
    person = _locked(person, by)
    if person.erased_at is not None:
        raise PersonNotYours(_("This person was erased: nobody could sign in as them again."))
    if not person.is_active:
        person.is_active = True
        person.save(update_fields=["is_active"])
        _record("person.reactivated", person, by)


@transaction.atomic
def erase_person(*, person: Person, by: Person) -> Left:
    """Remove whatever tells who the person is: name, code, password, note, names in imported files, drafts, tokens.

    The pseudonym and what they answered stay. Uploads of finished imports that named them are emptied. It cannot be
    undone; a second time changes nothing. Raises PersonNotYours, LastAdmin.
    """
    person = _locked(person, by)
    if person.erased_at is not None:
        return Left()
    left = _shut_out(person, by)
    if person.username:
        SignInFailure.objects.filter(account=person.username.casefold()[:150]).delete()
    n_files = _forget_names_in_files(person)
    # Words that were never sent are nobody's answer. Those that are on their way at this moment come too late.
    never_sent = Assignment.objects.filter(person=person).exclude(state=Assignment.State.SUBMITTED)
    never_sent.update(draft=None, draft_version=Assignment.LAST_DRAFT_VERSION)
    ApiToken.objects.filter(person=person).delete()
    person.groups.clear()
    person.user_permissions.clear()
    person.username = person.code_digest = person.last_login = None
    person.note = ""
    person.is_staff = person.is_superuser = False
    person.erased_at = timezone.now()
    person.set_unusable_password()
    person.save()
    _record("person.erased", person, by)
    return Left(left.n_places, n_files)


def _locked(person: Person, by: Person) -> Person:
    # The admins of the person's projects first, in one order: two who shut each other out leave a project to nobody.
    projects = Membership.objects.filter(person=person).values("project")
    admins = Membership.objects.filter(project__in=projects, role=Membership.Role.ADMIN).order_by("pk")
    rows = [row for row in admins.select_for_update() if row.state == Membership.State.ACTIVE]
    locked: Person = Person.objects.select_for_update(no_key=True).get(pk=person.pk)
    if problem := why_not(person=locked, by=by):
        raise PersonNotYours(problem)
    able = set(
        Person.objects.filter(pk__in={row.person_id for row in rows}, is_active=True).values_list("pk", flat=True)
    )
    for project in {row.project_id for row in rows if row.person_id == locked.pk}:
        if able & {row.person_id for row in rows if row.project_id == project} == {locked.pk}:
            raise LastAdmin
    return locked


def _shut_out(person: Person, by: Person) -> Left:
    person.is_active = False
    person.save(update_fields=["is_active"])
    Session.objects.filter(person=person).delete()
    revoke_tokens_of(person=person, by=by)
    return Left(n_places=take_back_leases(person=person, by=by))


def _forget_names_in_files(person: Person) -> int:
    """Remove the names that stood for the person, and the contents of the files that had them; how many files."""
    named = list(ImportedAnnotator.objects.filter(person=person))
    if not named:
        return 0
    jobs = ImportJob.objects.filter(project__in={row.project_id for row in named})
    for job in jobs.exclude(mapping={}):
        answers = job.mapping.get("answers") or {}
        if answers.get("annotator") in {row.name for row in named}:
            # As the files that say who answered by pseudonym.
            job.mapping = job.mapping | {"answers": answers | {"annotator": person.pseudonym}}
            job.save(update_fields=["mapping"])
    # Also what was a draft or failed: the file is the same, and its problems quote it.
    at_rest = jobs.exclude(state__in=[ImportJob.State.WAITING, ImportJob.State.RUNNING])
    naming = [job for job in at_rest if job.mapping.get("answers")]
    ids = {file for job in naming for file in (job.source_id, job.joined_id) if file}
    files = StoredFile.objects.filter(pk__in=ids, n_bytes__gt=0)
    for job in naming:
        job.error, job.report = "", {name: value for name, value in job.report.items() if name not in _QUOTING}
        job.save(update_fields=["error", "report"])
    n_files = 0
    for stored in files.select_for_update():
        _empty(stored)
        n_files += 1
    ImportedAnnotator.objects.filter(person=person).delete()
    return n_files


def _empty(stored: StoredFile) -> None:
    """Keep the row, which imports point to, without what the file said."""
    storage, before = stored.file.storage, str(stored.file.name)
    transaction.on_commit(lambda: storage.delete(before))
    stored.file.save(f"{before}-emptied", ContentFile(b""), save=False)
    stored.n_bytes, stored.sha256 = 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    stored.save()


def _record(verb: str, person: Person, by: Person) -> None:
    """In the history of each project the person is in: nobody else's admins read of it."""
    projects = list(Membership.objects.filter(person=person).order_by("pk").values_list("project", flat=True))
    for project_id in projects or [None]:
        events.record(actor=by, verb=verb, subject=person, project_id=project_id, person=person.pseudonym)
