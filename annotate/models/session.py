"""Who is signed in where: Django's sessions, with a column that says whose each is."""

from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Session(AbstractBaseSession):
    """person: None until somebody signs in. The signed data says the same; only the column can be joined."""

    person = models.ForeignKey("annotate.Person", on_delete=models.CASCADE, null=True, related_name="+")

    @classmethod
    def get_session_store_class(cls):
        from annotate.sessions import SessionStore

        return SessionStore
