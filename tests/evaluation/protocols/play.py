"""A published protocol that is played: set up, filled, worked through by people, asked of models, reported."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from annotate.models import Assignment, Gold, ImportJob, Item, ItemSet, Person, Stage
from annotate.services import adjudicating, assigning, importing, projects, resolving, submitting, vetting
from annotate.services.adjudicating import Ruling
from annotate.services.votes import votes_about
from evaluation.models import Report, Run
from evaluation.services import answering, presets, reporting, running
from tests.factories import make_endpoint, make_item_set, make_member, make_project
from tests.openai_server import Running

# What somebody says of one item: its content and its id in, the answer out.
Says = Callable[[dict[str, Any], str], dict[str, Any]]


class Play:
    """A project that was set up from a preset, with an admin."""

    def __init__(self, name: str) -> None:
        self.preset = presets.get_preset(name)
        self.project = make_project(title=self.preset.title)
        self.admin = make_member(self.project, "admin")
        presets.set_up(project=self.project, by=self.admin, preset=self.preset)
        self.project.refresh_from_db()
        self._keys = itertools.count(1)

    def stage(self, slug: str) -> Stage:
        return self.project.stages.get(slug=slug)

    def people(self, n: int, role: str = "annotator") -> list[Person]:
        return [make_member(self.project, role) for _ in range(n)]

    def load(self, records: Iterable[Mapping[str, Any]], slug: str = "", **asked: Any) -> ImportJob:
        """Import records as a file of JSON lines, into a stage or into none."""
        lines = b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
        stage = self.stage(slug) if slug else None
        return importing.import_file(
            project=self.project, by=self.admin, file=io.BytesIO(lines), name="items.jsonl", stage=stage, **asked
        )

    def add(self, slug: str, items: ItemSet) -> int:
        return projects.add_items_to_stage(stage=self.stage(slug), item_set=items, by=self.admin)

    def open(self, *slugs: str) -> None:
        for slug in slugs:
            projects.open_stage(stage=self.stage(slug), by=self.admin)

    def close(self, *slugs: str) -> None:
        for slug in slugs:
            projects.close_stage(stage=self.stage(slug), by=self.admin)

    def work(self, slug: str, person: Person, says: Says, *, at_most: int = 1_000) -> list[str]:
        """The person takes and answers items until there is nothing left; the ids of the items."""
        stage, done = self.stage(slug), []
        while len(done) < at_most:
            held = assigning.claim_next(stage=stage, person=person)
            if not isinstance(held, Assignment):
                break
            revision = held.stage_item.revision
            name = revision.item.external_id
            # What is judged or audited stands beside the content.
            beside = held.stage_item.candidate.content if held.stage_item.candidate else []
            self._submit(stage, held, says(dict([*revision.content, *beside]), name))
            done.append(name)
        # As workers do every few seconds: votes are counted, and what follows from them follows.
        resolving.resolve_due()
        return done

    def _submit(self, stage: Stage, held: Assignment, answer: dict[str, Any]) -> None:
        given: dict[str, Any] = {
            "assignment": held,
            "client_key": f"key-{next(self._keys)}",
            "stage_version": stage.versions.get(is_current=True),
        }
        if stage.kind == "adjudicate":
            ruling = Ruling(kind="own", seen=votes_about(held.stage_item).seen, **answer)
            adjudicating.adjudicate(ruling=ruling, **given)
        elif stage.kind == "review":
            vetting.review(answer=answer, seen=votes_about(held.stage_item).seen, **given)
        else:
            submitting.submit_annotation(answer=answer, **given)

    def gold(self, field: str) -> dict[str, Any]:
        """The gold label of each item that has one, by the item's id."""
        rows = Gold.objects.filter(item__project=self.project, field=field, is_current=True)
        return {name: answers[0] for name, answers in rows.values_list("item__external_id", "answers")}

    def items_of(self, slug: str, name: str) -> ItemSet:
        """All items of a stage, frozen."""
        items = Item.objects.filter(revisions__stage_items__stage=self.stage(slug)).distinct().order_by("external_id")
        return make_item_set(self.project, list(items), name=name)

    def run(self, setting: str, items: ItemSet, server: Running, exemplars: ItemSet | None = None) -> Run:
        """A run with the protocol's setting, answered by the server as it is playing now."""
        one = self.preset.models.setting(setting)
        assert one is not None
        endpoint = make_endpoint(self.project, provider="openai", model="small", base_url=server.base_url)
        sent = {name: getattr(one, name) for name in ("temperature", "top_p", "max_tokens")}
        run = running.create_run(
            project=self.project,
            by=self.admin,
            name=one.name,
            item_set=items,
            stage_version=self.stage(one.stage).versions.get(is_current=True),
            endpoint=endpoint,
            strategy=one.strategy,
            exemplar_set=exemplars,
            n_steps=one.n_steps,
            parameters={name: value for name, value in sent.items() if value is not None},
            repeats=one.repeats,
        )
        running.start_run(run=run, by=self.admin)
        rung = [True]
        while rung:
            rung.clear()
            answering.answer_chunk(run_id=run.pk, when_more=lambda: rung.append(True))
        run.refresh_from_db()
        assert run.state == Run.State.DONE
        return run

    def report(self, spec: str, items: ItemSet, runs: list[Run]) -> Report:
        """A report with the protocol's specification, made."""
        one = self.preset.models.report(spec)
        assert one is not None
        missing = presets.missing_scorers(one)
        report = reporting.create_report(
            project=self.project,
            by=self.admin,
            title=one.name,
            stage=self.stage(one.stage),
            item_set=items,
            runs=runs,
            field=one.field,
            primary_scorer=one.scorer,
            further_scorers=[name for name in one.further_scorers if name not in missing],
            primary_run=None,
            every_run_is_primary=one.every_run_is_primary,
            n_resamples=200,
        )
        reporting.make_report(report_id=report.pk)
        report.refresh_from_db()
        assert report.state == Report.State.DONE, report.error
        protocol = report.manifest["project"]["protocol"]
        assert protocol == {"name": self.preset.name, "version": self.preset.version}
        return report


def figure(report: Report, **where: Any) -> dict[str, Any]:
    """The one figure of a report that is so."""
    if where.get("section") in ("accuracy", "difference"):
        where = {"denominator": "all"} | where
    found = [one for one in report.figures if all(one[name] == value for name, value in where.items())]
    assert len(found) == 1, [(one["section"], one["row"], one["measure"], one["denominator"]) for one in found]
    return found[0]


def accuracy(report: Report, row: str, measure: str | None = None) -> float | None:
    """A share of a report, of all items."""
    value: float | None = figure(report, section="accuracy", row=row, measure=measure or report.primary_scorer)["value"]
    return value


def of_run(report: Report, run: Run, measure: str | None = None) -> float | None:
    return accuracy(report, f"run_{run.pk}", measure)
