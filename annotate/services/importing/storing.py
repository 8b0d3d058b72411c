"""The staged file becomes items: a few statements inside the database, all of them or none.

Each statement writes what is not there yet, so the order of the functions of `write` is their only link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models.expressions import RawSQL
from django.utils import timezone

from annotate import events
from annotate.models import Gold, ImportJob, ItemSet, Person, StageItem
from annotate.services import checks
from annotate.services.importing.options import options_of
from annotate.services.projects import add_items_to_stage
from annotate.services.staged_rows import analyse
from annotate.sources.detect import GENERATED_FORMATS


@dataclass
class Written:
    """What became of the staged items; left_out: rows that repeat an earlier one with the same id and content."""

    n_staged: int = 0
    left_out: int = 0
    imported: int = 0
    new_revisions: int = 0
    groups: int = 0
    gold: int = 0
    details: int = 0
    stage_items: int = 0
    moved: int = 0
    stayed: int = 0
    without_gold: int = 0
    item_set: ItemSet | None = None

    @property
    def unchanged(self) -> int:
        return self.n_staged - self.imported - self.new_revisions

    def as_report(self) -> dict[str, int]:
        counts = {name: n for name, n in vars(self).items() if isinstance(n, int)}
        return counts | {"unchanged": self.unchanged}


def leave_out_repeats() -> int:
    """Keep the first of several rows with one id (their content is the same, or the file would have been refused)."""
    with connection.cursor() as cursor:
        cursor.execute("""
DELETE FROM staged_item WHERE EXISTS (
    SELECT 1 FROM staged_item earlier
    WHERE earlier.external_id = staged_item.external_id AND earlier.position < staged_item.position
)""")
        n_left_out = int(cursor.rowcount)
        if n_left_out:
            cursor.execute("""
DELETE FROM staged_gold WHERE NOT EXISTS (SELECT 1 FROM staged_item kept WHERE kept.position = staged_gold.position)
""")
    return n_left_out


def write(job: ImportJob, *, new_revisions: bool, by: Person | None) -> Written:
    """Store the staged items of a job, whose project the caller has locked, and put them into its stage."""
    project = job.project_id
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    written = Written(n_staged=_one("SELECT COUNT(*) FROM staged_item", []))
    written.without_gold = _one(_WITHOUT_GOLD, [])
    written.groups = _do(_NEW_ROOTS, [project, now, project])
    written.imported = _do(_NEW_ITEMS, [project, now, project, project])
    if new_revisions:
        written.details = _do(_CHANGED_KEYS, [project])
        _do(_CHANGED_ROOTS, [project, project])
        written.new_revisions = _do(_RETIRED_REVISIONS, [project])
        _do(_RETIRED_GOLD, [project])
    _do(_NEW_REVISIONS, [now, project])
    _do(_NEW_KEYS, [project])
    written.gold = _do(_NEW_GOLD, [_origin(job), now, project])
    if written.gold:
        checks.score_again(StageItem.objects.filter(stage__project=project))
    if written.new_revisions:
        written.moved, written.stayed = _move_unanswered(project)
    if written.imported or written.new_revisions or _misses_items(job):
        written.item_set = _item_set(job, written.n_staged)
        if job.stage is not None:
            written.stage_items = add_items_to_stage(stage=job.stage, item_set=written.item_set, by=by)
    if written.item_set or written.gold or written.details:
        events.record(
            actor=by,
            verb="items.imported",
            subject=job,
            project_id=project,
            n_new=written.imported,
            n_revised=written.new_revisions,
            n_gold=written.gold,
        )
    return written


def renew_planner_figures() -> None:
    """Tell PostgreSQL how large the tables have become: until then it plans as if the new items were not there.

    It does so by itself a minute later, and until then the first page of the item list read every item.
    """
    # Without the content, which is long: nothing is looked up by it.
    revisions = "annotate_itemrevision (item_id, number, is_current, content_hash)"
    analyse("annotate_item", revisions, "annotate_stageitem")


def _move_unanswered(project: int) -> tuple[int, int]:
    """Stage items of revised items: those nobody holds or answered move to the new revision, the others stay."""
    outdated = StageItem.objects.filter(
        revision__is_current=False, revision__item__in=RawSQL(_STAGED_ITEM_IDS, [project])
    )
    outdated.lock_in_claim_order()
    n_outdated = outdated.count()
    moved = _do(_MOVED_STAGE_ITEMS, [project])
    return moved, n_outdated - moved


def _misses_items(job: ImportJob) -> bool:
    """Whether items of the file are not in the job's stage yet."""
    return job.stage_id is not None and bool(_one(_MISSING_IN_STAGE, [job.project_id, job.stage_id]))


def _item_set(job: ImportJob, n_items: int) -> ItemSet:
    """The file's items in its order, those of a group together: a table is read once for all its questions."""
    item_set = ItemSet.objects.create(
        project=job.project,
        name=_free_name(job),
        rule={"kind": "import", "job": job.pk, "file": job.source.name, "sha256": job.source.sha256},
        n_population=n_items,
        n_items=n_items,
    )
    _do(_ENTRIES, [item_set.pk, job.project_id])
    return item_set


def _origin(job: ImportJob) -> str:
    """Whose word the gold labels are: of whoever made the file, or of the program that derived them."""
    options = options_of(job)
    is_derived = options.source.format in GENERATED_FORMATS or options.asked is not None
    return Gold.Origin.PROGRAM if is_derived else Gold.Origin.SOURCE


def _free_name(job: ImportJob) -> str:
    base = job.source.name[:100]
    taken = set(ItemSet.objects.filter(project=job.project, name__startswith=base).values_list("name", flat=True))
    number, name = 1, base
    while name in taken:
        number += 1
        name = f"{base} ({number})"
    return name


def _do(statement: str, parameters: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def _one(query: str, parameters: list[Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return int(cursor.fetchone()[0])


_KNOWN = "JOIN annotate_item item ON item.project_id = %s AND item.external_id = staged.external_id"

_STAGED_ITEM_IDS = f"SELECT item.id FROM staged_item staged {_KNOWN}"

_WITHOUT_GOLD = """
SELECT COUNT(*) FROM staged_item staged
WHERE NOT EXISTS (SELECT 1 FROM staged_gold gold WHERE gold.position = staged.position)
"""

_NEW_ROOTS = """
INSERT INTO annotate_item (project_id, external_id, created_at)
SELECT %s, staged.root_name, %s FROM staged_item staged
WHERE staged.root_name <> '' AND NOT EXISTS (
    SELECT 1 FROM annotate_item known WHERE known.project_id = %s AND known.external_id = staged.root_name
)
GROUP BY staged.root_name ORDER BY MIN(staged.position)
"""

_NEW_ITEMS = """
INSERT INTO annotate_item (project_id, external_id, root_id, created_at)
SELECT %s, staged.external_id, root.id, %s FROM staged_item staged
LEFT JOIN annotate_item root
       ON staged.root_name <> '' AND root.project_id = %s AND root.external_id = staged.root_name
WHERE NOT EXISTS (
    SELECT 1 FROM annotate_item known WHERE known.project_id = %s AND known.external_id = staged.external_id
)
ORDER BY staged.position
"""

_RETIRED_REVISIONS = f"""
UPDATE annotate_itemrevision SET is_current = FALSE
WHERE is_current AND EXISTS (
    SELECT 1 FROM staged_item staged {_KNOWN}
    WHERE item.id = annotate_itemrevision.item_id
      AND (staged.content_hash <> annotate_itemrevision.content_hash
           OR staged.language <> annotate_itemrevision.language)
)
"""

_NEW_REVISIONS = f"""
INSERT INTO annotate_itemrevision (item_id, number, content, content_hash, language, is_current, created_at)
SELECT item.id,
       COALESCE((SELECT MAX(earlier.number) FROM annotate_itemrevision earlier WHERE earlier.item_id = item.id), 0) + 1,
       staged.content, staged.content_hash, staged.language, TRUE, %s
FROM staged_item staged {_KNOWN}
WHERE NOT EXISTS (SELECT 1 FROM annotate_itemrevision shown WHERE shown.item_id = item.id AND shown.is_current)
ORDER BY staged.position
"""

_NEW_KEYS = f"""
INSERT INTO annotate_itemkey (item_id, strata, extra, is_check)
SELECT item.id, staged.strata, staged.extra, FALSE
FROM staged_item staged {_KNOWN}
WHERE NOT EXISTS (SELECT 1 FROM annotate_itemkey kept WHERE kept.item_id = item.id)
ORDER BY staged.position
"""

_CHANGED_KEYS = f"""
UPDATE annotate_itemkey SET strata = staged.strata, extra = staged.extra
FROM staged_item staged {_KNOWN}
WHERE annotate_itemkey.item_id = item.id
  AND (annotate_itemkey.strata <> staged.strata OR annotate_itemkey.extra <> staged.extra)
"""

_CHANGED_ROOTS = """
UPDATE annotate_item SET root_id = root.id
FROM staged_item staged JOIN annotate_item root ON root.project_id = %s AND root.external_id = staged.root_name
WHERE staged.root_name <> '' AND annotate_item.project_id = %s AND annotate_item.external_id = staged.external_id
  AND (annotate_item.root_id IS NULL OR annotate_item.root_id <> root.id)
"""

# A label that people repaired outranks the file it came from.
_RETIRED_GOLD = f"""
UPDATE annotate_gold SET is_current = FALSE
WHERE is_current AND origin IN ('source', 'program') AND label_set = '' AND EXISTS (
    SELECT 1 FROM staged_item staged {_KNOWN}
    JOIN staged_gold gold ON gold.position = staged.position
    WHERE item.id = annotate_gold.item_id AND gold.field = annotate_gold.field
      AND gold.answers <> annotate_gold.answers
)
"""

_NEW_GOLD = f"""
INSERT INTO annotate_gold (item_id, field, label_set, version, answers, origin, is_current, created_at)
SELECT item.id, gold.field, '',
       COALESCE((SELECT MAX(earlier.version) FROM annotate_gold earlier
                 WHERE earlier.item_id = item.id AND earlier.field = gold.field AND earlier.label_set = ''), 0) + 1,
       gold.answers, %s, TRUE, %s
FROM staged_item staged {_KNOWN}
JOIN staged_gold gold ON gold.position = staged.position
WHERE NOT EXISTS (SELECT 1 FROM annotate_gold stored
                  WHERE stored.item_id = item.id AND stored.field = gold.field AND stored.label_set = ''
                    AND stored.is_current)
ORDER BY staged.position
"""

_ENTRIES = f"""
INSERT INTO annotate_itemsetentry (item_set_id, position, revision_id, inclusion_probability)
SELECT %s, ROW_NUMBER() OVER (ORDER BY staged.first_of_group, staged.position) - 1, shown.id, 1.0
FROM (SELECT position, external_id,
             CASE WHEN root_name = '' THEN position
                  ELSE MIN(position) OVER (PARTITION BY root_name) END AS first_of_group
      FROM staged_item) staged
{_KNOWN}
JOIN annotate_itemrevision shown ON shown.item_id = item.id AND shown.is_current
"""

# EXCEPT, because either planner may read the whole stage once for each item where NOT EXISTS asks.
_MISSING_IN_STAGE = f"""
SELECT COUNT(*) FROM (
    SELECT item.id FROM staged_item staged {_KNOWN}
    EXCEPT
    SELECT placed.item_id FROM annotate_stageitem place
    JOIN annotate_itemrevision placed ON placed.id = place.revision_id WHERE place.stage_id = %s
) AS missing
"""

_MOVED_STAGE_ITEMS = f"""
UPDATE annotate_stageitem SET revision_id = shown.id, language = shown.language
FROM staged_item staged {_KNOWN}
JOIN annotate_itemrevision shown ON shown.item_id = item.id AND shown.is_current
JOIN annotate_itemrevision former ON former.item_id = item.id AND NOT former.is_current
WHERE annotate_stageitem.revision_id = former.id AND annotate_stageitem.candidate_id IS NULL AND NOT EXISTS (
    SELECT 1 FROM annotate_assignment taken
    WHERE taken.stage_item_id = annotate_stageitem.id AND taken.state IN ('leased', 'submitted')
)
"""
