"""API tokens: made and revoked by the person they stand for, and looked up by every request of a program."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.codes import API_TOKEN_PREFIX, api_token_digest, new_api_token
from annotate.exceptions import TokenNotPossible
from annotate.models import ApiToken, Membership, Person
from annotate.querysets import READING_ROLES
from annotate.wording import _

MAX_DAYS = 366
MAX_LIVE = 20
# How fresh "last used" is: every request of a program writing its token's row would cost each of them a commit.
USED_EVERY = timedelta(hours=1)


def offered_scopes(person: Person) -> list[str]:
    """The scopes that may mean something for this person; those who only answer have use for `work` alone."""
    reads = Membership.objects.active().filter(person=person, role__in=READING_ROLES).exists()
    return list(ApiToken.Scope.values) if person.is_staff or reads else [ApiToken.Scope.WORK]


@transaction.atomic
def make_token(*, person: Person, name: str, scopes: Sequence[str], days: int) -> tuple[ApiToken, str]:
    """A token, and its text, to be shown this once.

    Raises TokenNotPossible for no scope or one that is not offered to the person, a life longer than MAX_DAYS, and
    more than MAX_LIVE tokens at a time.
    """
    wanted = [scope for scope in ApiToken.Scope.values if scope in scopes]
    if not wanted or set(scopes) - set(offered_scopes(person)):
        raise TokenNotPossible(
            _("Choose from these scopes: %(offered_scopes)s.", offered_scopes=", ".join(offered_scopes(person)))
        )
    if not 1 <= days <= MAX_DAYS:
        raise TokenNotPossible(_("A token lives for 1 to %(max_days)s days.", max_days=MAX_DAYS))
    if ApiToken.objects.held_by(person).live().count() >= MAX_LIVE:
        raise TokenNotPossible(
            _("There are %(max_live)s tokens already. Revoke one that is no longer used.", max_live=MAX_LIVE)
        )
    text = new_api_token()
    token = ApiToken.objects.create(
        person=person,
        name=name,
        digest=_digest(text),
        scopes=wanted,
        expires_at=timezone.now() + timedelta(days=days),
    )
    events.record(actor=person, verb="token.made", subject=token, project_id=None, scopes=wanted, days=days)
    return token, text


@transaction.atomic
def revoke_token(*, token: ApiToken, by: Person | None) -> None:
    """Nothing is opened by it any more, from the next request on."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=Now()):
        events.record(actor=by, verb="token.revoked", subject=token, project_id=None)


def revoke_tokens_of(*, person: Person, by: Person | None) -> None:
    """For whoever loses their sign-in: a step of the transaction that takes it away."""
    for token in ApiToken.objects.filter(person=person, revoked_at__isnull=True):
        revoke_token(token=token, by=by)


def find_token(*, text: str) -> ApiToken | None:
    """The live token of this text, with its person; None for one that is unknown, revoked or past its time."""
    if not text.startswith(API_TOKEN_PREFIX):
        return None
    token: ApiToken | None = ApiToken.objects.live().filter(digest=_digest(text)).select_related("person").first()
    if token is not None and (token.last_used_at is None or timezone.now() - token.last_used_at > USED_EVERY):
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=Now() - USED_EVERY)
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=Now())
    return token


def _digest(text: str) -> str:
    return api_token_digest(text, key=settings.CODE_KEY)
