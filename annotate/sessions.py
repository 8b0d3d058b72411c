"""The session of a request and the person it belongs to, in one statement.

Every page and every answer begins by asking who is there. Django asks twice, for the session and then for the user, and
composes both questions anew each time: together a fifth of an answer. What makes a session valid stays Django's rule.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.backends import db
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from annotate.models import Person, Session
from annotate.statements import one_row, row_of


class SessionStore(db.SessionStore):
    """The session engine (SESSION_ENGINE). person: whom the row names, once the session was read."""

    person: Person | None = None

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def load(self) -> dict[str, Any]:
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        row = one_row(_READ, {"key": self.session_key, "now": now})
        if row is None:
            self._session_key = None
            return {}
        data, *of_person = row
        if of_person[0] is not None:
            self.person = row_of(Person, zip(_PERSON, _of_person(of_person), strict=True))
        return self.decode(data)

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        decoded: dict[str, Any] = json.loads(_signed(session_data, settings.SECRET_KEY))
        return decoded

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast(Session, super().create_model_instance(data))
        row.person_id = data.get(auth.SESSION_KEY)
        return row


class PersonMiddleware(AuthenticationMiddleware):
    """Django's, but for the statement that it saves."""

    def process_request(self, request: HttpRequest) -> None:
        request.user = SimpleLazyObject(lambda: _person_of(request))  # type: ignore[assignment]  # stands for them


@lru_cache(maxsize=1024)
def _signed(session_data: bytes | str, _secret_key: str) -> str:
    """What a session says, as JSON: the same words need not be checked anew with each answer of the same person."""
    return json.dumps(db.SessionStore().decode(session_data))


def _of_person(values: Sequence[Any]) -> list[Any]:
    """SQLite knows no truth values."""
    named = zip(_PERSON, values, strict=True)
    return [bool(value) if name.startswith("is_") else value for name, value in named]


def _person_of(request: HttpRequest) -> Any:
    """Whoever came with the session, if they are active and their password has not changed since they signed in.

    In any other case Django decides: it ends the session, or renews it where the secret key was changed.
    """
    session = request.session
    named = session.get(auth.SESSION_KEY)
    person = session.person  # type: ignore[attr-defined]
    if (
        person is not None
        and person.is_active
        and named == str(person.pk)
        and session.get(auth.BACKEND_SESSION_KEY) == _BACKEND
        and constant_time_compare(session.get(auth.HASH_SESSION_KEY) or "", person.get_session_auth_hash())
    ):
        return person
    return auth.get_user(request)


_BACKEND = "django.contrib.auth.backends.ModelBackend"
_PERSON = ["id", "password", "is_superuser", "username", "pseudonym", "is_staff", "is_active"]
_READ = f"""
    SELECT session.session_data, {", ".join(f'person."{name}"' for name in _PERSON)}
    FROM annotate_session session LEFT JOIN annotate_person person ON person.id = session.person_id
    WHERE session.session_key = %(key)s AND session.expire_date > %(now)s"""
