"""Projects and their stages: who runs them, what people are asked, which items they get, and when.

Rows of stages and projects are locked without their keys: whoever takes an item at that moment holds it and writes a
row that points to the stage. A lock of the whole row would let the two wait for one another, and PostgreSQL ends one.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, ManyToOneRel, Max
from django.db.models.functions import Greatest, Now

from annotate import events
from annotate.answers import FieldSpec, FieldSpecInvalid, JsonValue, fields_from_json
from annotate.exceptions import LastAdmin, StageFormFrozen, StageNotReady
from annotate.models import (
    Annotation,
    BackgroundWork,
    Exclusion,
    GuidelineVersion,
    ItemSet,
    Membership,
    Person,
    Project,
    Stage,
    StageItem,
    StageVersion,
)
from annotate.services import checks
from annotate.services.batching import add_in_batches, mixes_domains
from annotate.services.excluding import exclude_person, keep_out
from annotate.services.names import naming
from annotate.stage_kinds import KINDS
from annotate.stage_options import options_to_json, read_options
from annotate.wording import _


@transaction.atomic
def create_project(
    *,
    title: str,
    slug: str,
    by: Person,
    description: str = "",
    languages: Sequence[str] = (),
    current_date: str = "",
    time_zone: str = "UTC",
    guidelines: str = "",
    is_sample: bool = False,
) -> Project:
    """A project whose only member, and admin, is its maker. Raises NameTaken for an address that is another's."""
    with naming(f"The address {slug}"):
        project = Project.objects.create(
            title=title,
            slug=slug,
            description=description,
            languages=list(languages),
            current_date=current_date,
            time_zone=time_zone,
            is_sample=is_sample,
        )
    Membership.objects.create(person=by, project=project, role=Membership.Role.ADMIN)
    events.record(actor=by, verb="project.created", subject=project, project_id=project.pk)
    if guidelines:
        write_guidelines(project=project, by=by, markdown=guidelines)
    return project


@transaction.atomic
def change_project(
    *,
    project: Project,
    by: Person,
    title: str,
    description: str,
    languages: Sequence[str],
    current_date: str,
    time_zone: str,
) -> Project:
    """Change what a project is called and how it is read; its address stays, because links point there."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    before = project.current_date
    project.title, project.description = title, description
    project.languages, project.current_date, project.time_zone = list(languages), current_date, time_zone
    project.save(update_fields=["title", "description", "languages", "current_date", "time_zone"])
    # The date changes what the questions mean: what was answered before it must be tellable from what came after.
    detail = {"current_date": [before, current_date]} if before != current_date else {}
    events.record(actor=by, verb="project.changed", subject=project, project_id=project.pk, **detail)
    return project


@transaction.atomic
def create_stage(
    *,
    project: Project,
    by: Person | None,
    kind: str,
    title: str,
    slug: str,
    fields: Sequence[dict[str, Any]],
    shown_keys: Sequence[str],
    overlap: int = 3,
    roles: Sequence[str] = ("annotator",),
    lease_minutes: int | None = None,
    order: str = Stage.Order.SEEDED,
    seed: int | None = None,
    is_closed_book: bool | None = None,
    time_limit_seconds: int | None = None,
    permitted_sources: str = "",
    is_cross_group: bool = False,
    escalate_by: int = 0,
    escalate_times: int = 1,
    adjudicated_in: Stage | None = None,
    shows_decided: bool = True,
    shows_gold: bool = False,
    options: dict[str, JsonValue] | None = None,
    instruction: str = "",
    guidelines: str = "",
) -> Stage:
    """A draft stage with the first version of its form. Nobody sees it until it is opened.

    is_closed_book: None for what is usual of the kind: closed book, or its usual sources.

    Raises FieldSpecInvalid for a form that could not be answered or not be counted, NameTaken for the address of
    another stage, StageNotReady where the stage named for adjudication does not ask what decides here,
    StageOptionsInvalid for an option that stages of this kind do not have.
    """
    form = _checked_form(fields)
    _check_adjudication(kind, form, adjudicated_in)
    options = _checked_options(kind, options or {})
    if is_closed_book is None:
        permitted_sources = permitted_sources or str(KINDS[kind].permitted_sources)
        is_closed_book = not permitted_sources
    last = project.stages.aggregate(last=Max("position"))["last"]
    with naming(f"The address {slug}"):
        stage = Stage.objects.create(
            project=project,
            kind=kind,
            title=title,
            slug=slug,
            position=0 if last is None else last + 1,
            overlap=overlap,
            roles=list(roles),
            lease_minutes=settings.LEASE_MINUTES if lease_minutes is None else lease_minutes,
            order=order,
            # Below 2**53, so that the seed survives every spreadsheet and JavaScript on its way into a paper.
            seed=secrets.randbelow(2**53) if seed is None else seed,
            is_closed_book=is_closed_book,
            time_limit_seconds=time_limit_seconds,
            permitted_sources=permitted_sources,
            is_cross_group=is_cross_group,
            escalate_by=escalate_by,
            escalate_times=escalate_times,
            adjudicated_in=adjudicated_in,
            shows_decided=shows_decided,
            shows_gold=shows_gold,
            options=options,
        )
    StageVersion.objects.create(
        stage=stage, fields=_as_json(form), shown_keys=list(shown_keys), instruction=instruction
    )
    events.record(actor=by, verb="stage.created", subject=stage, project_id=project.pk)
    if guidelines:
        write_guidelines(project=project, stage=stage, by=by, markdown=guidelines)
    return stage


@transaction.atomic
def change_stage(
    *,
    stage: Stage,
    by: Person,
    title: str,
    overlap: int,
    lease_minutes: int,
    order: str,
    is_closed_book: bool,
    time_limit_seconds: int | None,
    permitted_sources: str,
    roles: Sequence[str] | None = None,
    is_cross_group: bool = False,
    escalate_by: int = 0,
    escalate_times: int = 1,
    adjudicated_in: Stage | None = None,
    shows_decided: bool | None = None,
    shows_gold: bool | None = None,
) -> Stage:
    """Change how a stage is run. Another overlap binds the items already in it, as far as places are not taken.

    Raises StageNotReady where the stage named for adjudication does not ask what decides here.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    _check_adjudication(stage.kind, fields_from_json(stage.versions.get(is_current=True).fields), adjudicated_in)
    asked_before = (stage.escalate_by, stage.escalate_times, stage.adjudicated_in_id)
    before = {"overlap": stage.overlap, "lease_minutes": stage.lease_minutes, "order": stage.order}
    stage.title = title
    stage.overlap = overlap
    stage.lease_minutes = lease_minutes
    stage.order = order
    stage.is_closed_book = is_closed_book
    stage.time_limit_seconds = time_limit_seconds
    stage.permitted_sources = permitted_sources
    stage.roles = stage.roles if roles is None else list(roles)
    stage.is_cross_group = is_cross_group
    stage.escalate_by, stage.escalate_times, stage.adjudicated_in = escalate_by, escalate_times, adjudicated_in
    shown_before = {"shows_decided": stage.shows_decided, "shows_gold": stage.shows_gold}
    stage.shows_decided = stage.shows_decided if shows_decided is None else shows_decided
    stage.shows_gold = stage.shows_gold if shows_gold is None else shows_gold
    stage.save()
    if asked_before != (escalate_by, escalate_times, stage.adjudicated_in_id):
        # Items that were left without a majority follow the new rule, too.
        stage.stage_items.all().lock_in_claim_order()
        stage.stage_items.update(due_at=Now())
    if before["overlap"] != overlap:
        work = stage.stage_items.filter(purpose=StageItem.Purpose.WORK)
        work.lock_in_claim_order()
        # Never below what is taken: progress would pass 100 %, and somebody's place would vanish under them. What
        # was opened because there was no majority stays open.
        asked = overlap + (F("round") - 1) * stage.escalate_by
        work.update(wanted=Greatest(asked, F("active") + F("done")), due_at=Now())
    after = {"overlap": overlap, "lease_minutes": lease_minutes, "order": order}
    before |= shown_before
    after |= {"shows_decided": stage.shows_decided, "shows_gold": stage.shows_gold}
    changed = {name: [before[name], value] for name, value in after.items() if before[name] != value}
    events.record(actor=by, verb="stage.changed", subject=stage, project_id=stage.project_id, **changed)
    return stage


@transaction.atomic
def adjudicate_in(*, stage: Stage, judges: Stage, by: Person | None) -> Stage:
    """Let items of a stage that have no majority in the end wait in another, those that have none now included.

    Raises StageNotReady where that one does not ask what decides here.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    _check_adjudication(stage.kind, fields_from_json(stage.versions.get(is_current=True).fields), judges)
    stage.adjudicated_in = judges
    stage.save(update_fields=["adjudicated_in"])
    stage.stage_items.all().lock_in_claim_order()
    stage.stage_items.update(due_at=Now())
    events.record(
        actor=by, verb="stage.changed", subject=stage, project_id=stage.project_id, adjudicated_in=judges.slug
    )
    return stage


@transaction.atomic
def change_options(*, stage: Stage, by: Person | None, options: Mapping[str, Any]) -> Stage:
    """Change what only stages of this kind have; what people were shown so far stays as they were shown it.

    Raises StageOptionsInvalid.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    checked = _checked_options(stage.kind, options)
    if stage.options != checked:
        before, stage.options = stage.options, checked
        stage.save(update_fields=["options"])
        events.record(
            actor=by, verb="stage.options", subject=stage, project_id=stage.project_id, before=before, after=checked
        )
    return stage


def _checked_options(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    read = read_options(kind, options)
    return dict(options) if read is None else options_to_json(read)


@transaction.atomic
def change_form(
    *,
    stage: Stage,
    by: Person,
    fields: Sequence[dict[str, Any]],
    shown_keys: Sequence[str],
    instruction: str = "",
    as_new_version: bool = False,
) -> StageVersion:
    """Change what is asked. Until something has begun with it, and for captions alone, a version changes in place.

    Else there is a new one, and whatever has begun keeps the version it began with: what lies before somebody may be
    answered as it was asked, and a run says what it asked. Raises StageFormFrozen, writing nothing, where people have
    answered, unless `as_new_version` says that this is meant.
    """
    # Whoever saves at the same moment comes after: the version that is current now may then be none any more.
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    # FOR UPDATE waits for answers on their way in: storing one locks the version it points to.
    version = StageVersion.objects.select_for_update().get(stage=stage, is_current=True)
    shown = list(shown_keys)
    specs = _checked_form(fields)
    form = _as_json(specs)
    if (version.fields, version.shown_keys, version.instruction) == (form, shown, instruction):
        return version
    before = fields_from_json(version.fields)
    only_words = shown == version.shown_keys and _without_words(specs) == _without_words(before)
    if only_words or not _has_begun(version):
        version.fields, version.shown_keys, version.instruction = form, shown, instruction
        version.save(update_fields=["fields", "shown_keys", "instruction"])
        events.record(actor=by, verb="stage.reworded", subject=stage, project_id=stage.project_id, form=version.number)
        return version
    if not as_new_version and Annotation.objects.filter(stage_version=version).exists():
        raise StageFormFrozen
    version.is_current = False
    version.save(update_fields=["is_current"])
    new = StageVersion.objects.create(
        stage=stage, number=version.number + 1, fields=form, shown_keys=shown, instruction=instruction
    )
    events.record(actor=by, verb="stage.new_form", subject=stage, project_id=stage.project_id, form=new.number)
    return new


def _has_begun(version: StageVersion) -> bool:
    """Whether somebody was offered an item of its stage, or anything points to it that is not a draft: a run, a log."""
    if version.stage.assignments.exists():
        return True
    for relation in StageVersion._meta.get_fields(include_hidden=True):
        if isinstance(relation, ManyToOneRel):
            rows = relation.related_model._base_manager.filter(**{relation.field.name: version})
            if issubclass(relation.related_model, BackgroundWork):
                rows = rows.exclude(state=BackgroundWork.State.DRAFT)
            if rows.exists():
                return True
    return False


def _checked_form(fields: Iterable[dict[str, Any]]) -> tuple[FieldSpec, ...]:
    form = fields_from_json(fields)
    if not any(field.decides for field in form):
        raise FieldSpecInvalid(_("At least one field must decide: its answers are what is counted and compared."))
    return form


def _check_adjudication(kind: str, form: Iterable[FieldSpec], judges: Stage | None) -> None:
    """An adjudicator's word counts field by field: each field that decides must be asked, with the same type."""
    if judges is None:
        return
    if kind == Stage.Kind.JUDGE:
        raise StageNotReady(
            _("Judges have the last word on models' answers: an adjudicator would not see the answer that is judged.")
        )
    asked = {field.name: field.type for field in fields_from_json(judges.versions.get(is_current=True).fields)}
    missing = [field for field in form if field.decides and asked.get(field.name) != field.type]
    if missing:
        names = ", ".join(f"{field.name} ({field.type})" for field in missing)
        raise StageNotReady(
            _(
                "“%(title)s” does not ask for %(names)s: adjudication decides the same fields.",
                title=judges.title,
                names=names,
            )
        )


def _as_json(form: Iterable[FieldSpec]) -> list[dict[str, JsonValue]]:
    return [field.to_json() for field in form]


def _without_words(form: Iterable[FieldSpec]) -> list[FieldSpec]:
    """The fields without the words around them, which may change while answers keep their meaning."""
    return [
        replace(field, caption="", help="", options=tuple(replace(option, caption="") for option in field.options))
        for field in form
    ]


@transaction.atomic
def open_stage(*, stage: Stage, by: Person) -> Stage:
    """Hand out items from now on. An empty stage would tell everybody that all is done, so it is refused."""
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    if not stage.stage_items.filter(purpose=StageItem.Purpose.WORK).exists():
        raise StageNotReady(_("There are no items in this stage yet: import some, or add an item set."))
    if problem := checks.cannot_be_kept(stage):
        raise StageNotReady(problem)
    return _move(stage, Stage.State.OPEN, by)


@transaction.atomic
def pause_stage(*, stage: Stage, by: Person) -> Stage:
    """Hand out nothing for a while; what is in people's hands may be finished."""
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    if stage.state != Stage.State.OPEN:
        raise StageNotReady(_("Only an open stage can be paused."))
    return _move(stage, Stage.State.PAUSED, by)


@transaction.atomic
def close_stage(*, stage: Stage, by: Person, reason: str = "") -> Stage:
    """End the work. Answers stay; what is in people's hands may still be finished, nothing more is handed out.

    reason: why it ends before it is complete, for the history.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    if stage.state == Stage.State.DRAFT:
        raise StageNotReady(_("A draft was never open, so there is nothing to close."))
    return _move(stage, Stage.State.CLOSED, by, **({"reason": reason} if reason else {}))


def _move(stage: Stage, state: str, by: Person, **detail: str) -> Stage:
    if stage.state != state:
        before, stage.state = stage.state, state
        stage.save(update_fields=["state"])
        verb = f"stage.{state}"
        events.record(actor=by, verb=verb, subject=stage, project_id=stage.project_id, before=before, **detail)
    return stage


@transaction.atomic
def write_guidelines(
    *, project: Project, by: Person | None, markdown: str, stage: Stage | None = None
) -> GuidelineVersion:
    """The guidelines from now on; the same text again makes no new version."""
    # Two admins saving at once must not both write version 4.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    last = GuidelineVersion.objects.filter(project=project, stage=stage).order_by("-number").first()
    text = markdown.replace("\r\n", "\n").strip()
    if last and last.markdown == text:
        return last
    version = GuidelineVersion.objects.create(
        project=project, stage=stage, number=last.number + 1 if last else 1, markdown=text
    )
    subject = stage or project
    events.record(actor=by, verb="guidelines.written", subject=subject, project_id=project.pk, number=version.number)
    return version


@transaction.atomic
def add_items_to_stage(*, stage: Stage, item_set: ItemSet, by: Person | None = None) -> int:
    """Put the set's items at the end of the stage's queue, in its order or in batches; the number added.

    Items of one root stand together, where the first of them stands in the set: one table's questions are read once.
    An item that the stage already has, in whatever revision, is left as it is: nobody is asked twice. Raises
    StageNotReady for a stage whose items are drawn.
    """
    if KINDS[stage.kind].is_drawn:
        raise StageNotReady(_("The items of this stage come from a draw of its own: nothing can be added to them."))
    # Ranks are given out one after another: two sets added at once would collide.
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    last = stage.stage_items.aggregate(last=Max("rank"))["last"]
    last = -1 if last is None else last
    detail: dict[str, Any] = {}
    if mixes_domains(stage):
        added, detail = add_in_batches(stage=stage, item_set=item_set, last_rank=last)
    else:
        with connection.cursor() as cursor:
            # One statement inside the database: 20,000 rows through Python would cost most of an import's time.
            cursor.execute(_ADD_ITEMS, [last, stage.overlap, item_set.pk, stage.pk, stage.pk])
            added = cursor.rowcount
        asked = stage.stage_items.filter(purpose__in=checks.CHECKS, root__isnull=False).values("root")
        new = stage.stage_items.filter(rank__gt=last, root__in=asked)
        checks.bring_together(stage, set(new.values_list("root_id", flat=True)))
    keep_out(stage)
    events.record(
        actor=by,
        verb="stage.items_added",
        subject=stage,
        project_id=stage.project_id,
        item_set=item_set.pk,
        n=added,
        **detail,
    )
    return added


# NOT IN, whose list is read once: where NOT EXISTS asks, a planner with old statistics reads the stage for each item.
# For the same reason nothing is joined to what the window has made: it would be read through for each revision.
_ADD_ITEMS = f"""
INSERT INTO {StageItem._meta.db_table}
    (stage_id, revision_id, rank, root_id, language, author_id, author_group, wanted, active, done, round, state)
SELECT stage.id, entry.revision_id, %s + ROW_NUMBER() OVER (ORDER BY entry.first_of_root, entry.position),
       entry.root_id, entry.language, entry.author_id,
       CASE WHEN stage.is_cross_group THEN COALESCE(writer."group", '') ELSE '' END, %s, 0, 0, 1, 'open'
FROM (SELECT member.position, member.revision_id, drawn.item_id, drawn.language, its.root_id, its.author_id,
             CASE WHEN its.root_id IS NULL THEN member.position
                  ELSE MIN(member.position) OVER (PARTITION BY its.root_id) END AS first_of_root
      FROM annotate_itemsetentry member
      JOIN annotate_itemrevision drawn ON drawn.id = member.revision_id
      JOIN annotate_item its ON its.id = drawn.item_id
      WHERE member.item_set_id = %s) entry
JOIN annotate_stage stage ON stage.id = %s
LEFT JOIN annotate_membership writer ON writer.project_id = stage.project_id AND writer.person_id = entry.author_id
WHERE entry.item_id NOT IN (
    SELECT known.item_id FROM annotate_itemrevision known
    JOIN annotate_stageitem present ON present.revision_id = known.id AND present.stage_id = %s
)
"""


@transaction.atomic
def pause_member(*, membership: Membership, by: Person) -> Membership:
    """The member gets no more items and sees nothing of the project until reactivated; their answers stay."""
    return _set_member_state(membership, Membership.State.PAUSED, by)


@transaction.atomic
def exclude_member(*, membership: Membership, by: Person, pauses: bool, **decision: Any) -> Exclusion:
    """Leave out what a member answered, as `exclude_person` does, and hand them nothing more if asked.

    Raises LastAdmin, and leaves nothing out, where pausing would leave the project without an admin.
    """
    exclusion = exclude_person(project=membership.project, person=membership.person, by=by, **decision)
    if pauses:  # After it: whoever deals groups locks the project first and its members then.
        pause_member(membership=membership, by=by)
    return exclusion


@transaction.atomic
def reactivate_member(*, membership: Membership, by: Person) -> Membership:
    """Let a paused member in again, in the role they had."""
    return _set_member_state(membership, Membership.State.ACTIVE, by)


def _set_member_state(membership: Membership, state: str, by: Person) -> Membership:
    # All admins of the project, in one order: two of them pausing each other must not leave it without any.
    project_id = membership.project_id
    admins = Membership.objects.filter(project_id=project_id, role=Membership.Role.ADMIN).order_by("pk")
    active = [row.pk for row in admins.select_for_update() if row.state == Membership.State.ACTIVE]
    membership = Membership.objects.select_for_update().get(pk=membership.pk)
    if state != Membership.State.ACTIVE and active == [membership.pk]:
        raise LastAdmin
    if membership.state != state:
        membership.state = state
        membership.save(update_fields=["state"])
        events.record(
            actor=by,
            verb=f"member.{state}",
            subject=membership,
            project_id=project_id,
            member=membership.person.pseudonym,
        )
    return membership
