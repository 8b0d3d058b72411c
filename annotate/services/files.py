"""Files of a project, kept through Django's storages under names that tell nothing."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.core.files.base import ContentFile, File
from django.db import transaction

from annotate.models import Project, StoredFile


@transaction.atomic
def store_file(
    *,
    project: Project | None,
    purpose: str,
    name: str,
    media_type: str,
    content: File[Any] | bytes,
    keep_until: datetime | None = None,
) -> StoredFile:
    """Keep the content and a row that says what it is; its SHA-256 and size are taken while it is written.

    `name` is only for people: the storage gets a random one, so that no upload chooses a path.
    """
    measured = _Measured(ContentFile(content) if isinstance(content, bytes) else content)
    stored = StoredFile(project=project, purpose=purpose, name=name[-200:], media_type=media_type[:100])
    name_in_storage = f"{project.pk if project else 'none'}/{purpose}/{secrets.token_urlsafe(16)}"
    try:
        stored.file.save(name_in_storage, measured, save=False)
    except OSError:
        # A full disk: half of a file helps nobody, and it takes the room that is missing.
        stored.file.storage.delete(name_in_storage)
        raise
    stored.n_bytes = measured.n_bytes
    stored.sha256 = measured.hash.hexdigest()
    stored.keep_until = keep_until
    stored.save()
    return stored


def forget_outdated_files(*, limit: int = 100) -> int:
    """Remove files that were kept as long as was said; how many. What made them stays, and says that it had a file."""
    outdated = list(StoredFile.objects.outdated().order_by("keep_until")[:limit])
    for stored in outdated:
        forget_file(stored)
    return len(outdated)


@transaction.atomic
def forget_file(stored: StoredFile) -> None:
    """Remove the row now, and the content when that is certain."""
    transaction.on_commit(lambda: stored.file.delete(save=False))
    StoredFile.objects.filter(pk=stored.pk).delete()


class _Measured(File):  # type: ignore[type-arg]  # subscriptable for the checker only
    """Counts and hashes a file while a storage reads it: a large upload is read once, and never held in memory."""

    def __init__(self, source: File[Any]) -> None:
        super().__init__(source.file, name=source.name)
        self.source = source
        self.hash = hashlib.sha256()
        self.n_bytes = 0

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        for chunk in self.source.chunks(chunk_size):
            self.hash.update(chunk)
            self.n_bytes += len(chunk)
            yield chunk
