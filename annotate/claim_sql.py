"""The statements of the queue: one text for PostgreSQL and SQLite, apart from the clock and the row lock.

Written by hand because an UPDATE that picks its row and returns it is one statement here and three with the ORM, and
every answer pays for it. `ELIGIBLE` is the one place that says which items a person may get.
Parameters: %(stage)s, %(person)s, and those of the language condition.
"""

from collections.abc import Sequence
from functools import cache, lru_cache

from django.db import connection

from annotate.checking import MODULUS

# The person has not met the item in this stage, did not write it, and reads its language. A lease that ran out or was
# taken back may be offered again: nothing was decided about the item. OFFSET and "+ 0" have PostgreSQL look at the few
# people of each item: until it knew how much somebody had answered, it read all of that for each claim.
UNSEEN = """NOT EXISTS (
    SELECT 1 FROM annotate_assignment seen
    WHERE seen.stage_item_id = place.id AND seen.person_id + 0 = %(person)s
        AND seen.state NOT IN ('expired', 'withdrawn') LIMIT 1 OFFSET 0)"""
NOT_MINE = "(place.author_id IS NULL OR place.author_id <> %(person)s)"
# In a cross-check nobody of the author's group gets it; elsewhere no place names a group.
NOT_OF_MY_GROUP = """(place.author_group = '' OR NOT EXISTS (
    SELECT 1 FROM annotate_membership peer JOIN annotate_stage crossed ON crossed.project_id = peer.project_id
    WHERE crossed.id = place.stage_id AND peer.person_id = %(person)s AND peer."group" = place.author_group))"""
# Who answered an item does not decide about the answers.
NOT_JUDGED_BY_ITS_VOTERS = """(place.source_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM annotate_assignment voted
    WHERE voted.stage_item_id IN (place.source_id, (
            SELECT audited.source_id FROM annotate_stageitem audited WHERE audited.id = place.source_id))
        AND voted.person_id = %(person)s AND voted.state = 'submitted'))"""
# And whoever was to decide about the answers has read them.
NOT_JUDGED_BY_ME = """NOT EXISTS (
    SELECT 1 FROM annotate_stageitem follower
        JOIN annotate_assignment judged ON judged.stage_item_id = follower.id
        JOIN annotate_stage judging ON judging.id = follower.stage_id
    WHERE follower.source_id = place.id AND follower.candidate_id IS NULL AND judged.person_id = %(person)s
        AND judging.kind IN ('adjudicate', 'review'))"""
# Who had a part in a label does not audit it. Other stages than audits have no candidates, or of models.
NOT_AUDITED_BY_ITS_MAKERS = """(place.candidate_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM annotate_itemrevision labelled
        JOIN annotate_itemrevision worded ON worded.item_id = labelled.item_id
        JOIN annotate_stageitem elsewhere ON elsewhere.revision_id = worded.id
        JOIN annotate_assignment made ON made.stage_item_id = elsewhere.id
        JOIN annotate_stage making ON making.id = elsewhere.stage_id
        JOIN annotate_stage auditing ON auditing.id = place.stage_id
    WHERE labelled.id = place.revision_id AND made.person_id = %(person)s AND made.state IN ('leased', 'submitted')
        AND auditing.kind = 'audit' AND making.kind NOT IN ('audit', 'judge')))"""
# And whoever was shown its label in an audit, or a model's answer to judge, answers it no more: in whatever wording.
NOT_AUDITED_BY_ME = """(place.candidate_id IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM annotate_itemrevision asked
        JOIN annotate_itemrevision worded ON worded.item_id = asked.item_id
        JOIN annotate_stageitem shown ON shown.revision_id = worded.id
        JOIN annotate_assignment audited ON audited.stage_item_id = shown.id
        JOIN annotate_stage auditing ON auditing.id = shown.stage_id
    WHERE asked.id = place.revision_id AND shown.candidate_id IS NOT NULL
        AND audited.person_id = %(person)s AND auditing.kind IN ('audit', 'judge')))"""
# Who made, accepted or refused a gold label of the item, in a stage or outside, neither answers nor audits it, and does
# not decide about the audit of it. Adjudicators and reviewers who make labels by deciding go on with their work.
NOT_GOLD_BY_MY_HAND = """NOT EXISTS (
    SELECT 1 FROM annotate_itemrevision handled
        JOIN annotate_itemhand hand ON hand.item_id = handled.item_id
        JOIN annotate_stage asking ON asking.id = place.stage_id
    WHERE handled.id = place.revision_id AND hand.person_id = %(person)s
        AND (asking.kind NOT IN ('adjudicate', 'review') OR EXISTS (
            SELECT 1 FROM annotate_stageitem checked
            WHERE checked.id = place.source_id AND checked.candidate_id IS NOT NULL)))"""

# Written exactly as in the partial index stage_item_claimable: else neither database would use it.
CLAIMABLE = "place.state = 'open' AND place.purpose = '' AND place.active < (place.wanted - place.done)"

# Of a stage's other places: a handful, found by the partial index stage_item_apart.
APART = "NOT (place.purpose = '')"
OPEN_CHECK = "place.state = 'open' AND place.purpose IN ('check', 'counted_check')"
# One that comes by itself, or with others of its table that are checks. A question of a table whose other questions are
# work comes with them, and alone only when they have their answers.
CHECK = f"""{OPEN_CHECK} AND {APART} AND NOT EXISTS (
    SELECT 1 FROM annotate_stageitem beside
    WHERE beside.stage_id = place.stage_id AND beside.root_id = place.root_id AND beside.purpose = ''
        AND beside.state = 'open' AND beside.done < beside.wanted)"""
# What was drawn is asked, whatever became of the item since: else an attempt would have no end.
DRAWN = f"""{APART} AND place.purpose = 'qualification' AND place.id IN (
    SELECT drawn.stage_item_id FROM annotate_qualificationplace drawn
        JOIN annotate_qualificationattempt attempt ON attempt.id = drawn.attempt_id
    WHERE attempt.stage_id = %(stage)s AND attempt.person_id = %(person)s AND attempt.state = 'open')"""

HOLDS_A_LEASE = """EXISTS (
    SELECT 1 FROM annotate_assignment held
    WHERE held.stage_id = %(stage)s AND held.person_id = %(person)s AND held.state = 'leased')"""
# Than the one that ends in the same statement.
HOLDS_ANOTHER_LEASE = """EXISTS (
    SELECT 1 FROM annotate_assignment held
    WHERE held.stage_id = %(stage)s AND held.person_id = %(person)s AND held.state = 'leased'
        AND held.id <> %(assignment)s)"""

# Where the person reads on; -1 for somebody who has not begun.
CURSOR = """COALESCE((
    SELECT mine.rank FROM annotate_participation mine
    WHERE mine.stage_id = %(stage)s AND mine.person_id = %(person)s), -1)"""

# What the person took last, a check or work; NULL for somebody who has not begun.
LAST = """(
    SELECT mine.last_rank FROM annotate_participation mine
    WHERE mine.stage_id = %(stage)s AND mine.person_id = %(person)s)"""

# How far around the person's place the others of its root are looked for: a bound, so that a claim in a root of ten
# thousand items reads no more rows than one in a table with nine questions.
NEAR = 50
# What belongs to the item that the person took last. They may have passed over one that somebody else was answering at
# that moment, or that was given back since: it comes before the next table, also where it stands before their place.
OF_THE_ROOT_AT_HAND = f"""place.root_id = (
        SELECT here.root_id FROM annotate_stageitem here WHERE here.stage_id = %(stage)s AND here.rank = {LAST})
    AND place.rank BETWEEN {LAST} - {NEAR} AND {LAST} + {NEAR}"""

# More items of one root than that are not counted for a line that says which of how many it is.
MOST_OF_A_ROOT = 100

SMALLEST_FREE_SLOT = """(
    SELECT MIN(candidate.slot) FROM (
        SELECT 0 AS slot UNION ALL
        SELECT taken.slot + 1 FROM annotate_assignment taken
        WHERE taken.stage_item_id = %(stage_item)s AND taken.slot IS NOT NULL) candidate
    WHERE candidate.slot NOT IN (
        SELECT held.slot FROM annotate_assignment held
        WHERE held.stage_item_id = %(stage_item)s AND held.slot IS NOT NULL))"""

# As SMALLEST_FREE_SLOT, but it looks when it is called: within a statement others' rows are those of its beginning.
FREE_SLOT_NOW = "annotate_smallest_free_slot"


@cache
def now() -> str:
    """The database's clock: the machines of an installation need not agree on the time."""
    if connection.vendor == "postgresql":
        return "STATEMENT_TIMESTAMP()"
    # As Django stores a time in SQLite.
    return "strftime('%%Y-%%m-%%d %%H:%%M:%%f000', 'now')"


@cache
def lease_end() -> str:
    """%(lease_minutes)s from now."""
    if connection.vendor == "postgresql":
        return "STATEMENT_TIMESTAMP() + make_interval(mins => %(lease_minutes)s)"
    return "strftime('%%Y-%%m-%%d %%H:%%M:%%f000', 'now', %(lease_minutes)s || ' minutes')"


def seconds_since(column: str) -> str:
    """How long ago the column's time was, by the clock that wrote it."""
    if connection.vendor == "postgresql":
        return f"EXTRACT(EPOCH FROM STATEMENT_TIMESTAMP() - {column})"
    return f"(julianday('now') - julianday({column})) * 86400"


def newest_guidelines(stage: str, project: str) -> str:
    """The id of the newest guidelines of a stage, else of its project; both are given as SQL for an id."""
    return f"""(
    SELECT known.id FROM annotate_guidelineversion known
    WHERE known.project_id = {project} AND (known.stage_id = {stage} OR known.stage_id IS NULL)
    ORDER BY CASE WHEN known.stage_id IS NULL THEN 1 ELSE 0 END, known.number DESC LIMIT 1)"""


# Somebody who begins now knows these, and is told when there are newer ones.
KNOWN_FROM_THE_START = newest_guidelines(
    "%(stage)s", "(SELECT guided.project_id FROM annotate_stage guided WHERE guided.id = %(stage)s)"
)


def reads_language(languages: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The condition that an item is in one of the languages, and its parameters.

    "en" takes en and en-GB, as basic filtering does (RFC 4647, section 3.3.1). No language given: every item. An
    item without a language is for everybody.
    """
    if not languages:
        return "1 = 1", {}
    conditions, parameters = ["place.language = ''"], {}
    for n, tag in enumerate(languages):
        exact, longer = f"language_{n}", f"longer_{n}"
        conditions.append(f"LOWER(place.language) = %({exact})s OR LOWER(place.language) LIKE %({longer})s ESCAPE '!'")
        tag = tag.lower()
        parameters[exact] = tag
        parameters[longer] = tag.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "-%"
    return f"({' OR '.join(conditions)})", parameters


def eligible(languages: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The condition that the person may get the item, if it has a place."""
    reads, parameters = reads_language(languages)
    apart = (NOT_MINE, NOT_OF_MY_GROUP, NOT_JUDGED_BY_ITS_VOTERS, NOT_JUDGED_BY_ME)
    audits = (NOT_AUDITED_BY_ITS_MAKERS, NOT_AUDITED_BY_ME, NOT_GOLD_BY_MY_HAND)
    return " AND ".join([*apart, *audits, reads, UNSEEN]), parameters


def count_of_root(place: str, *, has_checks: bool, condition: str = "1 = 1") -> str:
    """How many items of the root of `place` the stage hands out, MOST_OF_A_ROOT at most; of those, the ones that meet a
    condition. has_checks: whether its checks are handed out: then they are questions like the others."""
    kinds = "" if has_checks else "AND alike.purpose = ''"
    return f"""(SELECT COUNT(*) FROM (
        SELECT 1 FROM annotate_stageitem alike
        WHERE alike.stage_id = {place}.stage_id AND alike.root_id = {place}.root_id {kinds}
            AND alike.state NOT IN ('withdrawn', 'left_out') AND {condition}
        LIMIT {MOST_OF_A_ROOT}) counted)"""


def take_place(
    languages: Sequence[str],
    *,
    where: str,
    wait: bool,
    stays_with_root: bool = False,
    has_checks: bool = False,
    owes_check: bool = False,
) -> tuple[str, dict[str, str]]:
    """Count one place of the first item that the person may get as taken, and return the item with its content.

    where: which places, one of those below. wait: whether rows that others are changing at this moment are waited for
    or passed over. stays_with_root: an item of the same root as the last one comes first. has_checks: the checks of a
    table are among its questions. owes_check: one that stands by itself comes before the work, as long as there is
    work: nobody is kept for checks alone.
    It takes nothing from somebody who holds a lease already: two tabs must not collect two items.
    """
    return _take_place(tuple(languages), where, wait, stays_with_root, has_checks, owes_check)


@lru_cache(maxsize=256)
def _take_place(
    languages: tuple[str, ...], where: str, wait: bool, stays_with_root: bool, has_checks: bool, owes_check: bool
) -> tuple[str, dict[str, str]]:
    which, parameters = _first_place(languages, where, HOLDS_A_LEASE, wait, stays_with_root, has_checks, owes_check)
    content, language, item, external_id = (
        f"(SELECT {column} FROM annotate_itemrevision shown JOIN annotate_item item ON item.id = shown.item_id "
        "WHERE shown.id = revision_id)"
        for column in _SHOWN
    )
    return (
        f"""
UPDATE annotate_stageitem SET active = active + 1
WHERE id = {which}
RETURNING {_taken(has_checks, is_counted=True)}, {content}, {language}, {item}, {external_id}
""",
        parameters,
    )


def _first_place(
    languages: tuple[str, ...],
    where: str,
    holds_a_lease: str,
    wait: bool,
    stays_with_root: bool,
    has_checks: bool,
    owes_check: bool,
    what: str = "id",
) -> tuple[str, dict[str, str]]:
    """The first place that the person may get, in brackets, its row locked; see `take_place`.

    holds_a_lease: the condition that takes nothing more. what: its id, or on PostgreSQL "place", the whole row as it is
    when it is locked.
    """
    condition, parameters = (UNSEEN, {}) if where == DRAWN else eligible(languages)
    is_locking = connection.vendor == "postgresql"
    passing_over = "FOR UPDATE OF place SKIP LOCKED" if is_locking else ""
    waiting = "FOR UPDATE OF place" if is_locking else ""
    column, work_id = ("place", "(found.work).id") if what == "place" else ("place.id", "found.work")

    def first(where: str, order: str = "place.rank", lock: str = passing_over) -> str:
        return f"""(
    SELECT {column} FROM annotate_stageitem place
    WHERE place.stage_id = %(stage)s AND {where} AND {condition} AND NOT {holds_a_lease}
    ORDER BY {order} LIMIT 1 {lock})"""

    which = first(where, _ORDERS.get(where, "place.rank"), waiting if wait else passing_over)
    if has_checks:
        # Never waited for: whoever waits holds the work that was found.
        before_work = [first(CHECK, _OWN_ORDER)] if owes_check else []
        before_work.append(first(f"{OPEN_CHECK} AND {_BEFORE_THE_WORK_OF_ITS_ROOT}"))
        # No column is called "place": within `first` it would be taken for the row of that name.
        which = f"""(
    SELECT COALESCE({", ".join(before_work)}, found.work)
    FROM (SELECT {which} AS work LIMIT 1 OFFSET 0) found
        JOIN annotate_stageitem work ON work.id = {work_id})"""
    if stays_with_root:
        # COALESCE looks no further than it must: what is after the cursor is read when the root has nothing more.
        handed_out = f"({CLAIMABLE} OR {OPEN_CHECK})" if has_checks else CLAIMABLE
        which = f"COALESCE({first(f'{OF_THE_ROOT_AT_HAND} AND {handed_out}')}, {which})"
    return which, parameters


def _taken(has_checks: bool, *, is_counted: bool) -> str:
    """What is read of a place that was taken, in the order in which `services/assigning.py` expects it.

    is_counted: whether those of its root are; else it says NULL, and they are counted where there is a root.
    """
    position, n_in_root = "CAST(NULL AS bigint)", "CAST(NULL AS bigint)"
    if is_counted:
        position = count_of_root(
            "annotate_stageitem", has_checks=has_checks, condition="alike.rank <= annotate_stageitem.rank"
        )
        n_in_root = count_of_root("annotate_stageitem", has_checks=has_checks)
    return f"id, rank, round, purpose, revision_id, root_id, {position} AS position, {n_in_root} AS n_in_root"


_SHOWN = ("shown.content", "shown.language", "item.id", "item.external_id")

AFTER_CURSOR = f"{CLAIMABLE} AND place.rank > {CURSOR}"
UP_TO_CURSOR = f"{CLAIMABLE} AND place.rank <= {CURSOR}"
ANYWHERE = CLAIMABLE

# A table is begun with its first question, whichever kind it is.
_BEFORE_THE_WORK_OF_ITS_ROOT = f"""place.root_id = work.root_id
    AND place.rank BETWEEN work.rank - {NEAR} AND work.rank"""

# Everybody has an order of their own, so that nobody can tell from others' which items are checks. Those that hang
# together stay together.
_OWN_ORDER = f"""(COALESCE((
        SELECT MIN(first.rank) FROM annotate_stageitem first
        WHERE first.stage_id = place.stage_id AND first.root_id = place.root_id), CAST(place.rank AS bigint))
    * %(factor)s + %(offset)s) %% {MODULUS}, place.rank"""

_ORDERS = {
    DRAWN: """(
        SELECT MIN(drawn.position) FROM annotate_qualificationplace drawn
            JOIN annotate_qualificationattempt attempt ON attempt.id = drawn.attempt_id
        WHERE drawn.stage_item_id = place.id AND attempt.person_id = %(person)s AND attempt.state = 'open')""",
}


def may_be_drawn(languages: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The items from which an attempt to qualify is drawn: none that the person has met in an earlier one."""
    condition, parameters = eligible(languages)
    return (
        f"""
SELECT place.id, place.rank FROM annotate_stageitem place
WHERE place.stage_id = %(stage)s AND place.state = 'open' AND {APART} AND place.purpose = 'qualification'
    AND {condition}
ORDER BY place.rank
""",
        parameters,
    )


@cache
def lease() -> str:
    """Offer the item: a new assignment, or the person's earlier one again with the draft it had.

    Nothing is returned if the person met the item in the meantime through another request.
    """
    return f"""
INSERT INTO annotate_assignment
    (stage_id, stage_item_id, person_id, token, state, slot, round, purpose, leased_at, lease_expires_at, skip_reason,
     skip_note, draft_version)
VALUES (%(stage)s, %(stage_item)s, %(person)s, %(token)s, 'leased', {SMALLEST_FREE_SLOT}, %(round)s, %(purpose)s,
        {now()}, {lease_end()}, '', '', 0)
{_OFFERED_AGAIN}
RETURNING id, token, draft, draft_version
"""


_OFFERED_AGAIN = """ON CONFLICT (stage_item_id, person_id) DO UPDATE
SET state = 'leased', slot = excluded.slot, round = excluded.round, purpose = excluded.purpose,
    leased_at = excluded.leased_at,
    lease_expires_at = excluded.lease_expires_at, finished_at = NULL
WHERE annotate_assignment.state IN ('expired', 'withdrawn')"""


@cache
def enter() -> str:
    """Make or lock the person's participation. A person begins at a place drawn by %(draw)s, or at the first item.

    Whoever is drawn into the middle of a root begins at its first item: before it stands their cursor.
    The row lock lets one tab after the other look for an item.
    """
    drawn = """%(draw)s %% (SELECT COALESCE(MAX(place.rank), 0) + 1 FROM annotate_stageitem place
                     WHERE place.stage_id = %(stage)s)"""
    return f"""
INSERT INTO annotate_participation
    (stage_id, person_id, rank, n_answered, n_skipped, active_seconds, checks_owed, last_seen_at, guidelines_known_id)
VALUES (%(stage)s, %(person)s,
        COALESCE((SELECT MIN(first.rank) FROM annotate_stageitem drawn
                      JOIN annotate_stageitem first ON first.stage_id = drawn.stage_id AND first.root_id = drawn.root_id
                  WHERE drawn.stage_id = %(stage)s AND drawn.rank = {drawn}), {drawn}) - 1,
        0, 0, 0, 0, {now()}, {KNOWN_FROM_THE_START})
ON CONFLICT (stage_id, person_id) DO UPDATE SET last_seen_at = excluded.last_seen_at
"""


@cache
def move_on() -> str:
    """Write where the person reads on and what they did; returns what it adds up to. A NULL rank changes no place.

    checks_owed is what comes to what is owed; keeps_debt: 0 where the rest of it is owed no more, else 1.
    """
    return f"""
INSERT INTO annotate_participation
    (stage_id, person_id, rank, last_rank, n_answered, n_skipped, active_seconds, checks_owed, last_seen_at,
     guidelines_known_id)
VALUES (%(stage)s, %(person)s, COALESCE(%(rank)s, -1), %(last_rank)s, %(answered)s, %(skipped)s, %(active_seconds)s,
        %(checks_owed)s, {now()}, {KNOWN_FROM_THE_START})
ON CONFLICT (stage_id, person_id) DO UPDATE
SET rank = COALESCE(%(rank)s, annotate_participation.rank),
    last_rank = COALESCE(excluded.last_rank, annotate_participation.last_rank),
    checks_owed = (annotate_participation.checks_owed + excluded.checks_owed) * %(keeps_debt)s,
    n_answered = annotate_participation.n_answered + excluded.n_answered,
    n_skipped = annotate_participation.n_skipped + excluded.n_skipped,
    active_seconds = annotate_participation.active_seconds + excluded.active_seconds,
    last_seen_at = excluded.last_seen_at
RETURNING n_answered, n_skipped, active_seconds
"""


@cache
def store_answer(annotation: tuple[str, ...], event: tuple[str, ...]) -> str:
    """End a lease with its answer: the assignment, the place it counts in, the annotation and the event at once.

    annotation, event: the columns of their rows, each the name of a parameter behind "annotation." or "event.".
    It returns the annotation's id, and changes nothing and returns nothing where the lease is not there: another click
    was faster, or it ran out. Each step takes its row from the one before, so that rows are locked in the order of all
    services: the assignment, then its place. For PostgreSQL: SQLite has no statements within statements.
    """
    return f"WITH {_stored(annotation, event)} SELECT id FROM stored"


@lru_cache(maxsize=256)
def store_and_take_next(
    annotation: tuple[str, ...],
    event: tuple[str, ...],
    *,
    languages: tuple[str, ...],
    where: str,
    stays_with_root: bool,
    has_checks: bool,
    owes_check: bool,
) -> tuple[str, dict[str, str]]:
    """`store_answer`, `take_place`, `lease` and `move_on` in one statement, which is a transaction by itself.

    It returns the annotation's id, what the person did, the assignment (id NULL: there was no place) and the place with
    its content; nothing, changing nothing, as `store_answer`, and where the person has no participation to count in.
    For PostgreSQL, and for work: nobody qualifies by it.

    All of it sees the rows as they were when it began, but for those that it locks. So the lease that ends here is left
    out when it asks whether the person holds one, the slot comes from a function, which looks when it is called and
    finds what stood in the locked place until then, and a place is counted as taken only when it is leased: there is
    nothing to give back where another tab was faster. The steps stand in the order of all services' locks, each taking
    its row from the one before: the assignment, its place, the next place, the person's participation.
    """
    another_lease = HOLDS_A_LEASE.replace(
        "held.state = 'leased'", "held.state = 'leased' AND held.id <> %(assignment)s"
    )
    which, parameters = _first_place(
        languages, where, another_lease, False, stays_with_root, has_checks, owes_check, what="place"
    )
    # As services/submitting.py, _may_still_owe.
    keeps_debt = """CASE WHEN %(owes_check)s AND taken.purpose = ''
            AND (taken.root_id IS NULL OR taken.root_id IS DISTINCT FROM %(ended_root)s) THEN 0 ELSE 1 END"""
    return (
        f"""
WITH {_stored(annotation, event, IN_THE_STAGE)}, found AS MATERIALIZED (
    SELECT {which} AS next FROM stored
), leased AS (
    INSERT INTO annotate_assignment
        (stage_id, stage_item_id, person_id, token, state, slot, round, purpose, leased_at, lease_expires_at,
         skip_reason, skip_note, draft_version)
    SELECT %(stage)s, (found.next).id, %(person)s, %(token)s, 'leased', {FREE_SLOT_NOW}((found.next).id),
        (found.next).round, (found.next).purpose, {now()}, {lease_end()}, '', '', 0
    FROM found WHERE (found.next).id IS NOT NULL
    {_OFFERED_AGAIN}
    RETURNING id, token, draft, draft_version, stage_item_id
), taken AS (
    UPDATE annotate_stageitem SET active = active + 1
    WHERE id = (SELECT stage_item_id FROM leased)
    RETURNING {_taken(has_checks, is_counted=stays_with_root)}
), moved AS (
    UPDATE annotate_participation mine
    SET rank = CASE WHEN taken.purpose = '' THEN taken.rank ELSE mine.rank END,
        last_rank = COALESCE(taken.rank, mine.last_rank),
        checks_owed = (mine.checks_owed + %(checks_owed)s) * {keeps_debt},
        n_answered = mine.n_answered + 1, active_seconds = mine.active_seconds + %(active_seconds)s,
        last_seen_at = {now()}
    FROM stored LEFT JOIN taken ON TRUE
    WHERE mine.stage_id = %(stage)s AND mine.person_id = %(person)s
    RETURNING mine.n_answered, mine.n_skipped, mine.active_seconds
)
SELECT stored.id, moved.n_answered, moved.n_skipped, moved.active_seconds,
    leased.id, leased.token, leased.draft, leased.draft_version,
    taken.id, taken.rank, taken.round, taken.purpose, taken.revision_id, taken.root_id, taken.position, taken.n_in_root,
    {", ".join(_SHOWN)}
FROM stored CROSS JOIN moved LEFT JOIN leased ON TRUE LEFT JOIN taken ON TRUE
    LEFT JOIN annotate_itemrevision shown ON shown.id = taken.revision_id
    LEFT JOIN annotate_item item ON item.id = shown.item_id
""",
        parameters,
    )


IN_THE_STAGE = """EXISTS (
    SELECT 1 FROM annotate_participation mine WHERE mine.stage_id = %(stage)s AND mine.person_id = %(person)s)"""


def _stored(annotation: tuple[str, ...], event: tuple[str, ...], condition: str = "TRUE") -> str:
    """The steps of `store_answer`, of which "stored" has a row with the annotation's id, or none."""
    return f"""ended AS (
    UPDATE annotate_assignment
    SET state = 'submitted', finished_at = {now()}, draft = NULL, draft_version = draft_version + 1
    WHERE id = %(assignment)s AND state = 'leased' AND {condition}
    RETURNING stage_item_id
), counted AS (
    UPDATE annotate_stageitem SET active = active - 1, done = done + 1, due_at = {now()}
    WHERE id = (SELECT stage_item_id FROM ended)
    RETURNING id
), stored AS (
    INSERT INTO annotate_annotation ({", ".join(annotation)})
    SELECT {", ".join(f"%(annotation.{column})s" for column in annotation)} FROM counted
    RETURNING id
), recorded AS (
    INSERT INTO annotate_event (subject_id, {", ".join(event)})
    SELECT stored.id, {", ".join(f"%(event.{column})s" for column in event)} FROM stored
)"""


@cache
def hold_slot() -> str:
    """Give the assignment the smallest free slot of its item, whose row the caller has locked by counting."""
    return f"UPDATE annotate_assignment SET slot = {SMALLEST_FREE_SLOT} WHERE id = %(assignment)s"


def what_is_left(languages: Sequence[str]) -> tuple[str, dict[str, str]]:
    """How many items are short of answers: all of them, those the person has met, those the person may get."""
    may, parameters = eligible(languages)
    return (
        f"""
SELECT COUNT(*),
    COALESCE(SUM(CASE WHEN {UNSEEN} THEN 0 ELSE 1 END), 0),
    COALESCE(SUM(CASE WHEN {may} THEN 1 ELSE 0 END), 0)
FROM annotate_stageitem place
WHERE place.stage_id = %(stage)s AND place.state = 'open' AND place.purpose = '' AND place.done < place.wanted
""",
        parameters,
    )


def first_return(languages: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Seconds until the first lease ends on an item that the person may get; NULL if there is none."""
    condition, parameters = eligible(languages)
    return (
        f"""
SELECT -({seconds_since("MIN(other.lease_expires_at)")})
FROM annotate_assignment other JOIN annotate_stageitem place ON place.id = other.stage_item_id
WHERE other.stage_id = %(stage)s AND other.state = 'leased' AND place.state = 'open' AND place.purpose = ''
    AND {condition}
""",
        parameters,
    )
