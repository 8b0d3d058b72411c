"""Names that must differ: of two people who give the same one at the same moment, the second hears so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction

from annotate.exceptions import NameTaken
from annotate.wording import _


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Around the one statement that writes the name. Raises NameTaken where somebody else was faster.

    A form looks before it asks, and a double click still gets past it: only the constraint can tell who came first.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as collision:
        words = _(
            "%(what)s was given a moment ago, perhaps by a double click. Look there, or choose another.", what=what
        )
        raise NameTaken(words) from collision
