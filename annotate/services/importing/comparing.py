"""The staged file against itself and against the project: what makes it refused, and what its report must tell."""

from __future__ import annotations

import json
from typing import Any

from django.db import connection

from annotate.models import Project, Stage
from annotate.services.importing.problems import MAX_SHOWN, Problems
from annotate.sources.errors import SourceError, shortened
from annotate.wording import _

# Duplicates and conflicts that a report shows with their lines; it always has the number of all.
FIRST = 20

Row = dict[str, Any]


def find_problems(project: Project, *, id_column: str | None, new_revisions: bool) -> Problems:
    """Ids that stand for two different things: in the file, or in the file and in the project."""
    problems = Problems()
    for row in _rows(_IDS_WITH_TWO_CONTENTS, [MAX_SHOWN], problems):
        problem = _(
            "the id “%(shortened)s” stands in line %(other_line)s too, with different content; correct "
            "one of them, or choose another id column.",
            shortened=shortened(row["external_id"]),
            other_line=f"{row['other_line']:,}",
        )
        problems.add(_at(row, problem, id_column))
    if not new_revisions:
        for row in _rows(_KNOWN_IDS_WITH_NEW_CONTENT, [project.pk, MAX_SHOWN], problems):
            problem = _(
                "the project has an item “%(shortened)s” with different content; correct the id, or choose "
                "to make new revisions.",
                shortened=shortened(row["external_id"]),
            )
            problems.add(_at(row, problem, id_column))
    for row in _rows(_IDS_OF_GROUPS, [project.pk, MAX_SHOWN], problems):
        problem = _(
            "“%(shortened)s” is the name of a group of items; give this item another id.",
            shortened=shortened(row["external_id"]),
        )
        problems.add(_at(row, problem, id_column))
    return problems


def find_problems_of_answers(*, repeats: str, has_content: bool, id_column: str | None) -> Problems:
    """Answers whose item nobody knows, and those of one person to one item that no rule can tell apart."""
    problems = Problems()
    if not has_content:
        for row in _rows(_ANSWERS_TO_NOTHING, [MAX_SHOWN], problems):
            problem = _(
                "the project has no item “%(shortened)s”; import the items first, or choose a column that is "
                "shown to people.",
                shortened=shortened(row["external_id"]),
            )
            problems.add(_at(row, problem, id_column))
    if repeats == "times":
        for row in _rows(_ANSWERED_TWICE, [MAX_SHOWN], problems):
            problem = _(
                "%(shortened)s answers “%(shortened_2)s” in line %(other_line)s too, and no times say which "
                "answer is the newer one; choose what repeated answers are, or remove one.",
                shortened=shortened(row["annotator"]),
                shortened_2=shortened(row["external_id"]),
                other_line=f"{row['other_line']:,}",
            )
            problems.add(_at(row, problem, id_column))
    return problems


def find_answers_to_other_content(stage: Stage, *, id_column: str | None) -> Problems:
    """Items whose place in the stage shows an earlier revision: what was answered here is not what was asked there."""
    problems = Problems()
    for row in _rows(_ANSWERS_TO_FORMER_REVISIONS, [stage.pk, stage.project_id, MAX_SHOWN], problems):
        problem = _(
            "“%(shortened)s” stands in the stage in a former revision; import these answers into another stage.",
            shortened=shortened(row["external_id"]),
        )
        problems.add(_at(row, problem, id_column))
    return problems


def answers_staged() -> dict[str, int]:
    """How many answers, skips, people, answered items, and pairs of person and item that stand there repeatedly."""
    return _fetched(_ANSWERS_STAGED, [])[0]


def n_known_with_new_content(project: Project) -> int:
    return _count(_KNOWN_IDS_WITH_NEW_CONTENT, [project.pk, 1])


def content_duplicates() -> dict[str, Any]:
    """Rows whose content stands earlier in the file. With the same id they are left out; else both are imported."""
    return _listed(_SAME_CONTENT_IN_FILE, [])


def content_known(project: Project) -> dict[str, Any]:
    """New items whose content the project has under another id."""
    return _listed(_SAME_CONTENT_IN_PROJECT, [project.pk])


def conflicting_gold(project: Project, *, new_revisions: bool) -> dict[str, Any]:
    """Same content, different gold: within the file, and between the file and what the project has.

    What new revisions will replace is no conflict.
    """
    in_file = _listed(_GOLD_CONFLICTS_IN_FILE, [])
    replaced = (
        "AND (item.external_id <> staged.external_id OR stored.origin NOT IN ('source', 'program'))"
        if new_revisions
        else ""
    )
    stored = _listed(_GOLD_CONFLICTS_WITH_PROJECT.format(not_replaced=replaced), [project.pk])
    return {"n": in_file["n"] + stored["n"], "first": [*in_file["first"], *stored["first"]][:FIRST]}


def n_with_other_details(project: Project) -> int:
    """Known items with the same content and another language, stratum, group or column kept aside."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM ({OTHER_DETAILS}) AS other", [project.pk])
        (n,) = cursor.fetchone()
    return int(n)


def _at(row: Row, problem: str, id_column: str | None) -> SourceError:
    return SourceError(problem, line=row["line"], row=row["row_number"], field=id_column)


def _rows(query: str, parameters: list[Any], problems: Problems) -> list[Row]:
    """At most MAX_SHOWN rows; the rest is counted."""
    rows = _fetched(query, parameters)
    if rows:
        problems.add_others(rows[0]["n"] - len(rows))
    return rows


def _count(query: str, parameters: list[Any]) -> int:
    rows = _fetched(query, parameters)
    return int(rows[0]["n"]) if rows else 0


def _listed(query: str, parameters: list[Any]) -> dict[str, Any]:
    rows = _fetched(query, [*parameters, FIRST])
    n = rows[0]["n"] if rows else 0
    return {"n": n, "first": [_as_json(row) for row in rows]}


def _as_json(row: Row) -> Row:
    """What a report keeps of a row: raw cursors give JSON as text, and SQLite truth as a number."""
    kept = {name: value for name, value in row.items() if name != "n"}
    for name in ("answers", "other_answers"):
        if name in kept:
            kept[name] = json.loads(kept[name])
    if "is_left_out" in kept:
        kept["is_left_out"] = bool(kept["is_left_out"])
    return kept


def _fetched(query: str, parameters: list[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


_IDS_WITH_TWO_CONTENTS = """
SELECT later.line, later.row_number, later.external_id, earlier.line AS other_line, COUNT(*) OVER () AS n
FROM (SELECT external_id, MIN(position) AS position FROM staged_item GROUP BY external_id HAVING COUNT(*) > 1) repeated
JOIN staged_item earlier ON earlier.position = repeated.position
JOIN staged_item later ON later.external_id = repeated.external_id AND later.position > repeated.position
WHERE later.content_hash <> earlier.content_hash
ORDER BY later.position LIMIT %s
"""

_KNOWN_IDS_WITH_NEW_CONTENT = """
SELECT staged.line, staged.row_number, staged.external_id, COUNT(*) OVER () AS n
FROM staged_item staged
JOIN annotate_item item ON item.project_id = %s AND item.external_id = staged.external_id
JOIN annotate_itemrevision shown ON shown.item_id = item.id AND shown.is_current
WHERE shown.content_hash <> staged.content_hash
ORDER BY staged.position LIMIT %s
"""

# A group's own item is the only kind without content.
_IDS_OF_GROUPS = """
SELECT staged.line, staged.row_number, staged.external_id, COUNT(*) OVER () AS n
FROM staged_item staged
WHERE staged.external_id IN (SELECT member.root_name FROM staged_item member WHERE member.root_name <> '')
   OR EXISTS (SELECT 1 FROM annotate_item item
              WHERE item.project_id = %s AND item.external_id = staged.external_id
                AND NOT EXISTS (SELECT 1 FROM annotate_itemrevision shown WHERE shown.item_id = item.id))
ORDER BY staged.position LIMIT %s
"""

_ANSWERS_TO_NOTHING = """
SELECT answer.line, answer.row_number, answer.external_id, COUNT(*) OVER () AS n
FROM staged_answer answer
WHERE NOT EXISTS (SELECT 1 FROM staged_item item WHERE item.external_id = answer.external_id)
ORDER BY answer.position LIMIT %s
"""

_ANSWERED_TWICE = """
SELECT later.line, later.row_number, later.external_id, later.annotator, earlier.line AS other_line,
       COUNT(*) OVER () AS n
FROM (SELECT external_id, annotator, MIN(position) AS position FROM staged_answer
      GROUP BY external_id, annotator HAVING COUNT(*) > COUNT(DISTINCT answered_at) AND COUNT(*) > 1) repeated
JOIN staged_answer earlier ON earlier.position = repeated.position
JOIN staged_answer later ON later.external_id = repeated.external_id AND later.annotator = repeated.annotator
                        AND later.position > repeated.position
ORDER BY later.position LIMIT %s
"""

_ANSWERS_TO_FORMER_REVISIONS = """
SELECT staged.line, staged.row_number, staged.external_id, COUNT(*) OVER () AS n
FROM annotate_stageitem place
JOIN annotate_itemrevision asked ON asked.id = place.revision_id AND place.stage_id = %s
JOIN annotate_item item ON item.id = asked.item_id AND item.project_id = %s
JOIN staged_item staged ON staged.external_id = item.external_id
WHERE asked.content_hash <> staged.content_hash
ORDER BY staged.position LIMIT %s
"""

_ANSWERS_STAGED = """
SELECT COALESCE(SUM(n - n_skips), 0) AS n_answers, COALESCE(SUM(n_skips), 0) AS n_skips,
       COUNT(DISTINCT annotator) AS n_people, COUNT(DISTINCT external_id) AS n_items,
       COALESCE(SUM(CASE WHEN n > 1 THEN 1 ELSE 0 END), 0) AS n_repeated
FROM (SELECT external_id, annotator, COUNT(*) AS n, SUM(is_skip) AS n_skips FROM staged_answer
      GROUP BY external_id, annotator) AS pair
"""

_SAME_CONTENT_IN_FILE = """
SELECT later.line, later.row_number, later.external_id, earlier.line AS other_line,
       earlier.external_id AS other_id, later.external_id = earlier.external_id AS is_left_out, COUNT(*) OVER () AS n
FROM (SELECT content_hash, MIN(position) AS position FROM staged_item
      GROUP BY content_hash HAVING COUNT(*) > 1) repeated
JOIN staged_item earlier ON earlier.position = repeated.position
JOIN staged_item later ON later.content_hash = repeated.content_hash AND later.position > repeated.position
ORDER BY later.position LIMIT %s
"""

_SAME_CONTENT_IN_PROJECT = """
SELECT staged.line, staged.row_number, staged.external_id, MIN(item.external_id) AS other_id, COUNT(*) OVER () AS n
FROM staged_item staged
JOIN annotate_itemrevision shown ON shown.content_hash = staged.content_hash AND shown.is_current
JOIN annotate_item item ON item.id = shown.item_id AND item.project_id = %s
WHERE NOT EXISTS (SELECT 1 FROM annotate_item known
                  WHERE known.project_id = item.project_id AND known.external_id = staged.external_id)
GROUP BY staged.position, staged.line, staged.row_number, staged.external_id
ORDER BY staged.position LIMIT %s
"""

_GOLD_CONFLICTS_IN_FILE = """
WITH repeated AS (SELECT content_hash FROM staged_item GROUP BY content_hash HAVING COUNT(*) > 1),
labelled AS (
    SELECT staged.position, staged.line, staged.row_number, staged.external_id, staged.content_hash, gold.field,
           gold.answers
    FROM repeated
    JOIN staged_item staged ON staged.content_hash = repeated.content_hash
    JOIN staged_gold gold ON gold.position = staged.position
),
begun AS (SELECT content_hash, field, MIN(position) AS position FROM labelled GROUP BY content_hash, field)
SELECT later.line, later.row_number, later.external_id, later.field, later.answers, earlier.line AS other_line,
       earlier.external_id AS other_id, earlier.answers AS other_answers, COUNT(*) OVER () AS n
FROM begun
JOIN labelled earlier ON earlier.position = begun.position AND earlier.field = begun.field
JOIN labelled later ON later.content_hash = begun.content_hash AND later.field = begun.field
                   AND later.position > begun.position
WHERE later.answers <> earlier.answers
ORDER BY later.position LIMIT %s
"""

_GOLD_CONFLICTS_WITH_PROJECT = """
SELECT staged.line, staged.row_number, staged.external_id, gold.field, gold.answers, item.external_id AS other_id,
       stored.answers AS other_answers, COUNT(*) OVER () AS n
FROM staged_item staged
JOIN staged_gold gold ON gold.position = staged.position
JOIN annotate_itemrevision shown ON shown.content_hash = staged.content_hash AND shown.is_current
JOIN annotate_item item ON item.id = shown.item_id AND item.project_id = %s
JOIN annotate_gold stored ON stored.item_id = item.id AND stored.field = gold.field AND stored.label_set = ''
                         AND stored.is_current
WHERE stored.answers <> gold.answers {not_replaced}
ORDER BY staged.position, item.id LIMIT %s
"""

OTHER_DETAILS = """
SELECT item.id AS item_id, staged.position
FROM staged_item staged
JOIN annotate_item item ON item.project_id = %s AND item.external_id = staged.external_id
JOIN annotate_itemrevision shown ON shown.item_id = item.id AND shown.is_current
JOIN annotate_itemkey kept ON kept.item_id = item.id
LEFT JOIN annotate_item root ON root.id = item.root_id
WHERE shown.content_hash = staged.content_hash
  AND (shown.language <> staged.language OR kept.strata <> staged.strata OR kept.extra <> staged.extra
       OR COALESCE(root.external_id, '') <> staged.root_name)
"""
