"""Who comes in: codes, passwords, invitations, and how often somebody may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.codes import code_digest, invite_digest, new_code, new_invite_token
from annotate.exceptions import InviteNotValid, PasswordRefused, SignInRefused, TooManyAttempts, TooManyPasswords
from annotate.models import Invite, Membership, Person, Project, SignInFailure
from annotate.services.tokens import revoke_tokens_of

WINDOW = timedelta(minutes=10)
FAILURES_PER_ADDRESS = 30
PASSWORDS_PER_ACCOUNT = 10
KEEP_FAILURES = timedelta(days=1)

# A link can be passed on: it never makes somebody who may change the project.
INVITED_ROLES = [role for role in Membership.Role.values if role != Membership.Role.ADMIN]


@transaction.atomic
def issue_code(*, person: Person, by: Person | None = None) -> str:
    """A new participant code, to be shown this once; the one before stops working; its sessions and tokens end."""
    code = new_code()
    person.code_digest = _digest(code)
    # Sessions are bound to the password field, also to an unusable one: whoever found the old code is out.
    person.set_unusable_password()
    person.save(update_fields=["code_digest", "password"])
    # So are the programs that this person, or whoever found the code, has let in.
    revoke_tokens_of(person=person, by=by)
    events.record(actor=by, verb="code.issued", subject=person, project_id=None)
    return code


@transaction.atomic
def new_annotator(
    *,
    project: Project,
    by: Person | None = None,
    role: str = Membership.Role.ANNOTATOR,
    group: str = "",
    languages: Sequence[str] = (),
    is_sample: bool = False,
) -> tuple[Person, str]:
    """A person without personal data, a member of the project, and the code to be shown this once."""
    code = new_code()
    person = Person.objects.create_annotator(code_digest=_digest(code), is_sample=is_sample)
    _join(project, person, role, group, languages, by)
    return person, code


@transaction.atomic
def new_person_from_outside(*, project: Project) -> Person:
    """An annotator without a code: who they are, and that they may come in, another service says each time."""
    person = Person(note="")
    person.set_unusable_password()
    person.save()
    _join(project, person, Membership.Role.ANNOTATOR, "", (), None)
    return person


def sign_in_with_code(*, code: str, address: str) -> Person:
    """The person whose code it is. A right code passes however many wrong ones came from the address.

    Raises SignInRefused, or TooManyAttempts from the 30th wrong attempt in ten minutes on.
    """
    person: Person | None = Person.objects.filter(code_digest=_digest(code), is_active=True).first()
    if person is not None:
        return person
    _count_failure(address=address)
    raise SignInRefused


def sign_in_with_password(*, username: str, password: str, address: str) -> Person:
    """The person of that name, if the password is theirs.

    Raises PasswordRefused; TooManyPasswords or TooManyAttempts, without looking at the password, after ten wrong ones
    for the name or thirty from the address in ten minutes.
    """
    account = username.casefold()[:150]
    if _failures(address=address).count() >= FAILURES_PER_ADDRESS:
        raise TooManyAttempts
    if _failures(account=account).count() >= PASSWORDS_PER_ACCOUNT:
        raise TooManyPasswords
    person = authenticate(username=username, password=password)
    if isinstance(person, Person):
        return person
    # For unknown names as well: the answer must not tell which names exist.
    _count_failure(address=address, account=account)
    raise PasswordRefused


@transaction.atomic
def make_invite(
    *,
    project: Project,
    by: Person,
    role: str = Membership.Role.ANNOTATOR,
    group: str = "",
    max_uses: int = 1,
    expires_at: datetime,
) -> tuple[Invite, str]:
    """An invitation, and the token of its link, to be shown this once.

    Raises ValueError for a role that links never give.
    """
    if role not in INVITED_ROLES:
        raise ValueError(f"a link never makes somebody {role}")
    token = new_invite_token()
    invite = Invite.objects.create(
        project=project,
        token_digest=invite_digest(token),
        role=role,
        group=group,
        created_by=by,
        expires_at=expires_at,
        max_uses=max_uses,
    )
    events.record(actor=by, verb="invite.made", subject=invite, project_id=project.pk, role=role, max_uses=max_uses)
    return invite, token


@transaction.atomic
def revoke_invite(*, invite: Invite, by: Person) -> None:
    """Nobody joins by the link any more; whoever did stays."""
    if Invite.objects.filter(pk=invite.pk, revoked_at__isnull=True).update(revoked_at=Now()):
        events.record(actor=by, verb="invite.revoked", subject=invite, project_id=invite.project_id)


def open_invite(*, token: str) -> Invite:
    """The invitation behind a link, unused by looking at it. Raises InviteNotValid."""
    invite: Invite | None = _open_invites(token).select_related("project").first()
    if invite is None:
        raise InviteNotValid
    return invite


@transaction.atomic
def accept_invite(*, token: str, person: Person | None = None) -> tuple[Person, str | None]:
    """Take one use of the invitation: for somebody new, with the code to be shown once, or for a known person.

    A person who is a member already stays what they are, and no use is taken. Raises InviteNotValid.
    """
    invite = open_invite(token=token)
    if person is not None and Membership.objects.filter(person=person, project=invite.project_id).exists():
        return person, None
    try:
        with transaction.atomic():
            # Taken by condition: the last use of a link that two people press at once lets one of them in.
            if not _open_invites(token).update(uses=F("uses") + 1):
                raise InviteNotValid
            if person is None:
                return new_annotator(project=invite.project, role=invite.role, group=invite.group)
            _join(invite.project, person, invite.role, invite.group, (), None)
    except IntegrityError:
        # The button was pressed twice, and the other request has made the membership: no second use is taken.
        if person is None:
            raise
    return person, None


def _open_invites(token: str) -> QuerySet[Invite]:
    return Invite.objects.filter(
        token_digest=invite_digest(token), revoked_at__isnull=True, expires_at__gt=Now(), uses__lt=F("max_uses")
    )


def _join(project: Project, person: Person, role: str, group: str, languages: Sequence[str], by: Person | None) -> None:
    membership = Membership.objects.create(
        person=person, project=project, role=role, group=group, languages=list(languages)
    )
    events.record(
        actor=by or person,
        verb="member.joined",
        subject=membership,
        project_id=project.pk,
        member=person.pseudonym,
        role=role,
    )


def _digest(code: str) -> str:
    return code_digest(code, key=settings.CODE_KEY)


def _failures(**whose: Any) -> QuerySet[SignInFailure]:
    return SignInFailure.objects.filter(at__gt=timezone.now() - WINDOW, **whose)


def _count_failure(*, address: str, account: str = "") -> None:
    """Write the failure down; raises TooManyAttempts, writing nothing more, once there are enough."""
    if _failures(address=address).count() >= FAILURES_PER_ADDRESS:
        raise TooManyAttempts
    SignInFailure.objects.create(address=address, account=account)
    # Failures that no longer count are nobody's business; wrong attempts are rare enough to pay for it.
    SignInFailure.objects.filter(at__lt=timezone.now() - KEEP_FAILURES).delete()
