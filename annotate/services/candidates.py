"""Answers and labels frozen beside an item, to be judged or audited without a word about who gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.models import Candidate
from annotate.sources.mapping import hash_content

Content = list[list[Any]]

_BATCH = 1_000


def freeze_candidates(*, project_id: int, contents: Mapping[int, Content]) -> dict[int, int]:
    """Candidate by revision, for one content of each; equal content beside one revision is one candidate.

    A step of the caller's transaction.
    """
    frozen = freeze_several(project_id=project_id, contents=contents.items())
    return {revision: frozen[revision, hash_content(content)] for revision, content in contents.items()}


def freeze_several(*, project_id: int, contents: Iterable[tuple[int, Content]]) -> dict[tuple[int, str], int]:
    """Candidate by revision and hash of its content, for any number of contents beside each revision.

    What the project has frozen already is taken as it is. A step of the caller's transaction.
    """
    by_hash = {(revision, hash_content(content)): content for revision, content in contents}
    Candidate.objects.bulk_create(
        (
            Candidate(project_id=project_id, revision_id=revision, content=content, content_hash=digest)
            for (revision, digest), content in by_hash.items()
        ),
        ignore_conflicts=True,
        batch_size=_BATCH,
    )
    found: dict[tuple[int, str], int] = {}
    revisions = list(dict.fromkeys(revision for revision, _ in by_hash))
    for start in range(0, len(revisions), _BATCH):
        rows = Candidate.objects.filter(revision__in=revisions[start : start + _BATCH])
        found |= {(row[0], row[1]): row[2] for row in rows.values_list("revision", "content_hash", "pk")}
    return {key: found[key] for key in by_hash}


def content_beside(stage_item_id: int) -> Sequence[Sequence[Any]]:
    """What is judged or audited in a place; empty where it has no candidate."""
    contents = Candidate.objects.filter(stage_items=stage_item_id).values_list("content", flat=True)
    return contents.first() or []
