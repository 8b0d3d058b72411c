"""Answers and labels frozen beside an item, to be judged or audited without a word about who gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.models import Candidate
from annotate.sources.mapping import hash_content

Content = list[list[Any]]


def freeze_candidates(*, project_id: int, contents: Mapping[int, Content]) -> dict[int, int]:
    """Candidate by revision, for one content of each; equal content beside one revision is one candidate.

    A step of the caller's transaction.
    """
    hashes = {revision: hash_content(content) for revision, content in contents.items()}
    Candidate.objects.bulk_create(
        [
            Candidate(project_id=project_id, revision_id=revision, content=content, content_hash=hashes[revision])
            for revision, content in contents.items()
        ],
        ignore_conflicts=True,
        batch_size=1_000,
    )
    rows = Candidate.objects.filter(revision__in=list(contents)).values_list("revision", "content_hash", "pk")
    return {revision: pk for revision, digest, pk in rows if hashes[revision] == digest}


def content_beside(stage_item_id: int) -> Sequence[Sequence[Any]]:
    """What is judged or audited in a place; empty where it has no candidate."""
    contents = Candidate.objects.filter(stage_items=stage_item_id).values_list("content", flat=True)
    return contents.first() or []
