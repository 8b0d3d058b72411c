"""The session of a request and the person it belongs to, in one statement.

Every page and every answer begins by asking who is there. Django asks twice, for the session and then for the user, and
composes both questions anew each time: together a fifth of an answer. What makes a session valid stays Django's rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import auth
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.backends import db
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from annotate.models import Person, Session
from annotate.statements import one_row


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
            # from_db: what was not read is read when asked for, instead of being a default that is not true.
            self.person = Person.from_db(connection.alias, _PERSON, _of_person(of_person))
        return self.decode(data)

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = cast(Session, super().create_model_instance(data))
        row.person_id = data.get(auth.SESSION_KEY)
        return row


class PersonMiddleware(AuthenticationMiddleware):
    """Django's, but for the statement that it saves."""

    def process_request(self, request: HttpRequest) -> None:
        request.user = SimpleLazyObject(lambda: _person_of(request))  # type: ignore[assignment]  # stands for them


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
# In the order of the model, as from_db wants them.
_PERSON = ["id", "password", "is_superuser", "username", "pseudonym", "is_staff", "is_active"]
_READ = f"""
    SELECT session.session_data, {", ".join(f'person."{name}"' for name in _PERSON)}
    FROM annotate_session session LEFT JOIN annotate_person person ON person.id = session.person_id
    WHERE session.session_key = %(key)s AND session.expire_date > %(now)s"""
