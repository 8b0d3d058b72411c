"""What waits for the admins of a project: whatever keeps its work from going on, each with what helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from annotate.answers import fields_from_json
from annotate.exceptions import RecipeInvalid
from annotate.feeding import Recipe
from annotate.models import (
    Assignment,
    Feed,
    GuidelineVersion,
    ImportJob,
    Item,
    Membership,
    Project,
    Question,
    Stage,
    StageItem,
    StageVersion,
)
from annotate.protocols import human_part
from annotate.recipes import check_recipe
from annotate.services.flags import OPEN, flags_of
from annotate.services.heartbeats import Hearing, last_heard
from annotate.services.overview import FunnelRow
from annotate.services.reaching import Reach, Shortage, reach
from annotate.stage_kinds import KINDS

# The scheduler gives leases back and rings for votes every few seconds: after these, something is wrong.
LEASES_ARE_STUCK_AFTER = timedelta(minutes=10)
VOTES_ARE_STUCK_AFTER = timedelta(minutes=5)
# A failed import stays on its own page; whoever runs the project is told for so long.
FAILURES_ARE_NEWS_FOR = timedelta(days=7)
AT_WORK = (Stage.State.OPEN, Stage.State.PAUSED)


@dataclass(frozen=True)
class Need:
    """Something that waits for an admin: its kind has words and an action in partials/need.html."""

    kind: str
    n: int = 0
    stage: Stage | None = None
    hearing: Hearing | None = None
    since: datetime | None = None
    job: ImportJob | None = None
    reach: Reach | None = None
    shortages: Sequence[Shortage] = field(default_factory=list)
    problem: str = ""


def needs(project: Project, rows: Sequence[FunnelRow]) -> list[Need]:
    """What keeps the work from going on: first what concerns everything, then stage by stage, then what people said.

    A constant number of queries, whatever the number of stages, items and people.
    """
    return [
        *_of_the_platform(project),
        *_of_imports(project, has_stages=bool(rows)),
        *_of_stages(project, rows),
        *_of_people(project, rows),
    ]


def _of_the_platform(project: Project) -> list[Need]:
    found: list[Need] = []
    hearing = last_heard()
    if hearing.is_silent:
        found.append(Need("worker_silent", hearing=hearing))
    now = timezone.now()
    stuck = Assignment.objects.filter(
        stage__project=project, state=Assignment.State.LEASED, lease_expires_at__lt=now - LEASES_ARE_STUCK_AFTER
    ).aggregate(n=Count("pk"), since=Min("lease_expires_at"))
    if stuck["n"]:
        found.append(Need("leases_stuck", n=stuck["n"], since=stuck["since"]))
    late = StageItem.objects.filter(stage__project=project, due_at__lt=now - VOTES_ARE_STUCK_AFTER)
    uncounted = late.aggregate(n=Count("pk"), since=Min("due_at"))
    if uncounted["n"] and not hearing.is_silent:
        found.append(Need("votes_stuck", n=uncounted["n"], since=uncounted["since"]))
    return found


def _of_imports(project: Project, *, has_stages: bool) -> list[Need]:
    found: list[Need] = []
    on_their_way = Q(state__in=[ImportJob.State.WAITING, ImportJob.State.RUNNING])
    news = Q(state=ImportJob.State.FAILED, finished_at__gt=timezone.now() - FAILURES_ARE_NEWS_FOR)
    # Whoever has mended the file and imported it has done what the alert asks for.
    done = ImportJob.objects.filter(project=project, state=ImportJob.State.DONE).aggregate(last=Max("pk"))["last"] or 0
    jobs = list(ImportJob.objects.filter(on_their_way | news, project=project).select_related("source").order_by("-pk"))
    jobs = [job for job in jobs if job.state != ImportJob.State.FAILED or job.pk > done]
    failed = [job for job in jobs if job.state == ImportJob.State.FAILED]
    if failed:
        found.append(Need("import_failed", n=len(failed), job=failed[0]))
    if len(jobs) > len(failed):
        found.append(Need("import_waits", n=len(jobs) - len(failed)))
    elif not failed and not Item.objects.filter(project=project).exists():
        found.append(Need("no_items"))
    if not has_stages:
        found.append(Need("no_stage"))
    return found


def _takes_item_sets(project: Project, stage: Stage) -> bool:
    """Whether items come by hand: not by a draw, nor from what others left undecided, nor for models alone."""
    if KINDS[stage.kind].is_drawn or stage.is_cross_group or stage.kind == Stage.Kind.ADJUDICATE:
        return False
    part = human_part(project.protocol_name)
    plan = part.stage(stage.slug) if part else None
    return not (plan and plan.for_models_only)


def _of_stages(project: Project, rows: Sequence[FunnelRow]) -> list[Need]:
    found: list[Need] = []
    reached = reach(row.stage for row in rows if row.stage.state in AT_WORK)
    guided = set(GuidelineVersion.objects.filter(project=project).exclude(markdown="").values_list("stage", flat=True))
    broken = _feeds_that_cannot_be_followed(project)
    at_work = {row.stage.pk for row in rows if row.stage.state != Stage.State.CLOSED and row.counts.n_short}
    for row in rows:
        stage, counts = row.stage, row.counts
        if stage.state == Stage.State.DRAFT:
            if counts.n_items:
                found.append(Need("stage_draft", n=counts.n_items, stage=stage))
            elif not row.fed_by and _takes_item_sets(project, stage):
                found.append(Need("stage_empty", stage=stage))
        elif stage.state in AT_WORK and reached[stage.pk].items:
            out = reached[stage.pk]
            found.append(Need("out_of_reach", n=len(out.items), stage=stage, reach=out, shortages=out.shortages))
        if stage.state == Stage.State.OPEN and not guided & {stage.pk, None}:
            found.append(Need("no_guidelines", stage=stage))
        is_done = counts.n_items and not counts.n_short and not counts.n_review
        # As long as work before it goes on, more may come.
        if stage.state in AT_WORK and is_done and not any(source.pk in at_work for source in row.fed_by):
            found.append(Need("stage_finished", n=counts.n_items, stage=stage))
        if counts.n_review:
            found.append(Need("in_review", n=counts.n_review, stage=stage))
        if counts.undecided and stage.adjudicated_in_id is None:
            found.append(Need("undecided", n=counts.undecided, stage=stage))
        if stage.pk in broken:
            found.append(Need("feed_broken", stage=stage, problem=broken[stage.pk]))
    return found


def _feeds_that_cannot_be_followed(project: Project) -> dict[int, str]:
    """Source stage -> why: a form has changed since somebody said what becomes of its answers."""
    feeds = list(Feed.objects.filter(source__project=project).order_by("pk"))
    stages = {feed.source_id for feed in feeds} | {feed.target_id for feed in feeds}
    forms = StageVersion.objects.filter(stage__in=stages, is_current=True)
    asked = {form.stage_id: fields_from_json(form.fields) for form in forms}
    shown = {form.stage_id: form.shown_keys for form in forms}
    found: dict[int, str] = {}
    for feed in feeds:
        try:
            check_recipe(
                Recipe.from_json(feed.recipe),
                fields=asked[feed.source_id],
                target=asked[feed.target_id],
                target_keys=shown[feed.target_id],
                content_keys=None,  # reading every content is for when it is made
            )
        except RecipeInvalid as problem:
            found[feed.source_id] = str(problem)
    return found


def _of_people(project: Project, rows: Sequence[FunnelRow]) -> list[Need]:
    found: list[Need] = []
    asked = Question.objects.unanswered().filter(project=project).aggregate(n=Count("pk"), since=Min("asked_at"))
    if asked["n"]:
        found.append(Need("questions", n=asked["n"], since=asked["since"]))
    n_flagged = flags_of(project, show=OPEN).aggregate(
        n=Count("assignment__stage_item__revision__item", distinct=True)
    )["n"]
    if n_flagged:
        found.append(Need("flagged", n=n_flagged))
    members = Counter(Membership.objects.active().filter(project=project).values_list("role", flat=True))
    waits = any(row.stage.state in AT_WORK and row.counts.n_short for row in rows)
    if not members["annotator"] and not waits:
        # Where a stage waits for people, that is said there, with its name.
        found.append(Need("no_annotators"))
    return found
