"""Archive -> project: checked first, then written in one transaction; and the same as background work."""

from __future__ import annotations

import logging
import secrets
from array import array
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import IO, Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import DataError, IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotate import events
from annotate.exceptions import ArchiveRefused, WorkTaken
from annotate.models import BackgroundWork, Membership, Person, Project, Restoration, StoredFile
from annotate.services.archiving.checking import Checked, check_archive
from annotate.services.archiving.inserting import insert, take_ids
from annotate.services.archiving.references import renamed
from annotate.services.archiving.tables import PEOPLE, TABLES, Table
from annotate.services.archiving.writing import content_name
from annotate.services.background import beat, claim_work, end_work, holding
from annotate.services.files import forget_file, store_file
from annotate.wording import _

logger = logging.getLogger(__name__)

STATE = BackgroundWork.State
# An archive that was not restored is there for a second try, and then gone.
KEPT = timedelta(days=2)
BATCH = 500


@dataclass
class Restored:
    """The new project, and what there is to say of it."""

    project: Project
    report: dict[str, Any]


def restore(*, file: IO[bytes], by: Person, slug: str = "", joins_people: bool = False) -> Restored:
    """Make a project of an archive, here and now; `by` becomes its admin.

    slug: its address, else the archived one, or the next that is free.
    joins_people: pseudonyms that can sign in here mean the same people; without it they are refused.
    Raises ArchiveRefused, writing nothing, with every fault that was found.
    """
    checked = check_archive(file)
    with checked.archive, transaction.atomic():
        return _Writing(checked, by, slug, joins_people).project()


@transaction.atomic
def request_restoration(
    *, by: Person, file: File[Any], name: str, slug: str = "", joins_people: bool = False
) -> Restoration:
    """Keep the archive, and have it restored by a worker."""
    stored = store_file(
        project=None,
        purpose=StoredFile.Purpose.DATA,
        name=name,
        media_type="application/zip",
        content=file,
        keep_until=timezone.now() + KEPT,
    )
    # The database's clock, as claims have it.
    row = Restoration.objects.create(
        created_by=by, name=name[-200:], source=stored, slug=slug, joins_people=joins_people, due_at=Now()
    )
    row.refresh_from_db(fields=["due_at"])
    events.record(actor=by, verb="restoration.requested", subject=row, project_id=None)
    _ring_when_stored(row)
    return row


def run_restoration(*, restoration_id: int) -> None:
    """Do a restoration that is due and in nobody's hands: the whole project, or nothing and the reasons."""
    row = claim_work(model=Restoration, pk=restoration_id)
    if row is None:
        return
    try:
        try:
            _restore(row)
        except ArchiveRefused as refusal:
            with holding(row) as held:
                held.report = {"problems": refusal.problems}
                held.save(update_fields=["report"])
                end_work(held, error=str(refusal))
    except WorkTaken:
        logger.info("Restoration %d was cancelled or taken over; nothing was written.", row.pk)


def _restore(row: Restoration) -> None:
    if row.source is None:
        raise ArchiveRefused(_("The uploaded archive is not kept any more: upload it again."))
    try:
        file = row.source.file.open("rb")
    except OSError as fault:
        raise ArchiveRefused(_("The uploaded archive cannot be opened any more: upload it again.")) from fault
    with file:
        checked = check_archive(file)
        n_rows = sum(checked.n_rows.values())
        # From here on the page says that rows are being stored: inside one transaction nothing else can be told.
        beat(row, n_done=n_rows, n_total=n_rows)
        with checked.archive, holding(row) as held:
            assert held.created_by is not None
            restored = _Writing(checked, held.created_by, held.slug, held.joins_people).project()
            held.project, held.report = restored.project, restored.report
            if held.source is not None:
                forget_file(held.source)
                held.source = None
            held.save(update_fields=["project", "report", "source"])
            # Its end is an event of nobody's project: the new one begins with its history.
            end_work(held)


class _Writing:
    """The rows of a checked archive, written in the caller's transaction."""

    def __init__(self, checked: Checked, by: Person, slug: str, joins_people: bool) -> None:
        self.checked, self.by, self.joins_people = checked, by, joins_people
        self.slug = slug
        self.ids: dict[str, array[int]] = {}
        self.people: dict[str, int] = {}
        self.kept: list[str] = []
        self.content_of: dict[int, str] = {}

    def project(self) -> Restored:
        with ExitStack() as unless_done:
            # The storage knows nothing of transactions.
            unless_done.callback(self._forget_contents)
            restored = self._project()
            unless_done.pop_all()
        return restored

    def _forget_contents(self) -> None:
        for name in self.kept:
            default_storage.delete(name)

    def _project(self) -> Restored:
        known = self._store_people()
        for table in TABLES:
            self.ids[table.name] = take_ids(table.model_class, self.checked.n_rows[table.name])
        slug = self._free_slug()
        for table in TABLES:
            try:
                # Of its own, so that the fault names the table and the caller's transaction lives on.
                with transaction.atomic():
                    self._store(table, {"slug": slug} if table.name == "project" else {})
            except (IntegrityError, DataError) as fault:
                words = str(fault).strip().partition("\n")[0][:300]
                problem: dict[str, object] = {"member": f"{table.name}.jsonl", "line": None, "message": words}
                raise ArchiveRefused(
                    _(
                        "Nothing was restored: rows of %(name)s.jsonl contradict one another or the database "
                        "(%(words)s).",
                        name=table.name,
                        words=words,
                    ),
                    [problem],
                ) from fault
        project = Project.objects.get(pk=self.ids["project"][0])
        Membership.objects.update_or_create(
            person=self.by,
            project=project,
            defaults={"role": Membership.Role.ADMIN, "state": Membership.State.ACTIVE},
        )
        archived = self.checked.manifest.get("project") or {}
        report = {
            "rows": {table.name: self.checked.n_rows[table.name] for table in TABLES},
            "n_people": len(self.people),
            "n_people_known": known,
            "n_files": len(self.checked.contents),
            "made_at": str(self.checked.manifest.get("made_at"))[:40],
            "sha256": self.checked.sha256,
            "other_address": slug != archived.get("slug"),
        }
        events.record(
            actor=self.by,
            verb="project.restored",
            subject=project,
            project_id=project.pk,
            sha256=self.checked.sha256,
            made_at=report["made_at"],
            people=len(self.people),
        )
        return Restored(project, report)

    def _store_people(self) -> int:
        """Whoever is unknown comes as somebody who cannot sign in; how many were known."""
        pseudonyms = sorted(self.checked.people)
        known: dict[str, int] = {}
        can_sign_in = 0
        for start in range(0, len(pseudonyms), BATCH):
            there = Person.objects.filter(pseudonym__in=pseudonyms[start : start + BATCH])
            for person in there:
                known[person.pseudonym] = person.pk
                can_sign_in += person.is_active or bool(person.code_digest or person.username)
        if can_sign_in and not self.joins_people:
            raise ArchiveRefused(
                _(
                    "%(can_sign_in)s of the %(n_pseudonyms)s people of the archive have an account here under "
                    "the same pseudonym. If these are the same people, say so when you restore it; else it "
                    "cannot be restored here, for nobody's answers may be given to somebody else.",
                    can_sign_in=f"{can_sign_in:,}",
                    n_pseudonyms=f"{len(pseudonyms):,}",
                )
            )
        new = [row for row in self.checked.rows(PEOPLE) if row["pseudonym"] not in known]
        for start in range(0, len(new), BATCH):
            people = [Person(**row, **PEOPLE.restored) for row in new[start : start + BATCH]]
            for person in people:
                person.set_unusable_password()
            Person.objects.bulk_create(people)
        self.people = known
        for start in range(0, len(pseudonyms), BATCH):
            some = Person.objects.filter(pseudonym__in=pseudonyms[start : start + BATCH])
            self.people.update(some.values_list("pseudonym", "pk"))
        return len(pseudonyms) - len(new)

    def _free_slug(self) -> str:
        if self.slug:
            if Project.objects.filter(slug=self.slug).exists():
                raise ArchiveRefused(
                    _("The address %(slug)s is another project's: choose another one.", slug=self.slug)
                )
            return self.slug
        (archived,) = self.checked.rows(next(table for table in TABLES if table.name == "project"))
        slug: str = archived["slug"]
        base, number = slug[:70], 1
        while Project.objects.filter(slug=slug).exists():
            number += 1
            slug = f"{base}-{number}"
        return slug

    def _store(self, table: Table, changed: Mapping[str, Any]) -> None:
        model, others = table.model_class, table.other_columns
        project_column = table.project_column
        if table.has_contents:
            self._store_contents(table)
            others = tuple(column for column in others if column.name != "file")
        columns = ["id", *(column.db_column for column in table.columns)]
        columns += [column.db_column for column in others]
        columns += [project_column] if project_column else []
        columns += ["file"] if table.has_contents else []
        insert(model._meta.db_table, columns, self._values(table, others, changed))
        for name in table.many:
            self._store_many(table, name)

    def _values(self, table: Table, others: Any, changed: Mapping[str, Any]) -> Iterator[list[Any]]:
        ids, project = self.ids[table.name], self.ids["project"][0]
        stored = [self._stored(table, column) for column in table.columns]
        names = [column.name for column in table.columns]
        for place, row in enumerate(self.checked.rows(table)):
            if table.has_contents and place + 1 not in self.content_of:
                continue  # the archive has no more of it than its name
            values: list[Any] = [ids[place]]
            row.update(changed)
            values += [store(row[name]) for name, store in zip(names, stored, strict=True)]
            for column in others:
                value = table.restored.get(column.name, column.default())
                values.append(None if value is None else column.stored(value))
            if table.project_column:
                values.append(project)
            if table.has_contents:
                values.append(self.content_of[place + 1])
            yield values

    def _stored(self, table: Table, column: Any) -> Any:
        """How a value of the archive is written: references become ids here."""
        if column.target == "person":
            return lambda pseudonym: None if pseudonym is None else self.people[pseudonym]
        if column.target is not None:
            ids = self.ids[column.target]
            return lambda place: None if place is None else ids[place - 1]
        paths = table.ids.get(column.name, {})

        def stored(value: Any) -> Any:
            if value is None:
                return None
            for path, target in paths.items():
                ids = self.ids[target]
                value = renamed(value, path, partial(_id_or_0, ids))
            return column.stored(value)

        return stored

    def _store_many(self, table: Table, name: str) -> None:
        relation: Any = table.model_class._meta.get_field(name)
        through = relation.remote_field.through
        name_of_target = relation.remote_field.model._meta.model_name
        target = self.ids[name_of_target]
        is_of_files = any(other.has_contents for other in TABLES if other.name == name_of_target)
        ids = self.ids[table.name]
        columns = [f"{relation.m2m_field_name()}_id", f"{relation.m2m_reverse_field_name()}_id"]
        pairs = (
            (ids[place], target[other - 1])
            for place, row in enumerate(self.checked.rows(table))
            for other in row[name]
            if not is_of_files or other in self.content_of
        )
        insert(through._meta.db_table, columns, pairs)

    def _store_contents(self, table: Table) -> None:
        """The files go to the storage under new names that tell nothing, as any other file."""
        for place in self.checked.contents:
            name = f"{self.ids['project'][0]}/restored/{secrets.token_urlsafe(16)}"
            with self.checked.archive.open(content_name(place)) as member:
                try:
                    kept = default_storage.save(name, File(member))
                except OSError as fault:
                    default_storage.delete(name)
                    raise ArchiveRefused(
                        _("A file of the archive could not be stored: is the disk full? Nothing was restored.")
                    ) from fault
            self.kept.append(kept)
            self.content_of[place] = kept


def _id_or_0(ids: array[int], place: int) -> int:
    return ids[place - 1] if place else 0


def _ring_when_stored(row: Restoration) -> None:
    from annotate.tasks import restore_archive as task
    from config.bells import ring

    transaction.on_commit(lambda: ring(task, row.pk))
