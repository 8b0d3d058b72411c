"""Whose form it is: a keyed mark of a person that forms carry.

On a shared device one person opens a form and another may be signed in when it is sent. The session alone would store
the answer under the wrong name.
"""

from functools import lru_cache

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from annotate.models import Person


def person_token(person: Person) -> str:
    return _token_of(person.pk, settings.SECRET_KEY)


@lru_cache(maxsize=1024)
def _token_of(pk: int, secret_key: str) -> str:
    return salted_hmac("annotate.person_token", str(pk), secret=secret_key, algorithm="sha256").hexdigest()[:32]


def is_token_of(person: Person, token: str) -> bool:
    return constant_time_compare(token, person_token(person))
