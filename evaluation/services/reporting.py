"""Reports: named before they are made, made by a worker, frozen when made.

The request part (create, cancel, again) imports nothing heavy; NumPy and the rest come with `make_report`, which runs
in a worker or a command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotate import events
from annotate.answers import FieldSpec, fields_from_json
from annotate.csv_text import FORMS, csv_chunks
from annotate.exceptions import WorkNotPossible, WorkTaken
from annotate.models import ItemSet, Person, Project, Stage, StoredFile
from annotate.services.background import beat, cancel_work, claim_work, end_work, holding, restart_work
from annotate.services.files import store_file
from annotate.wording import _
from config.bells import ring
from evaluation.models import Report, Run
from evaluation.scorers import SCORERS, ScorerUnavailable, Takes
from evaluation.services import report_audits, report_judgements
from evaluation.services.judgements import matrix_rows

# Making it: read, score, figures, chart, files.
N_STEPS = 5
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex",
    "svg": "image/svg+xml",
    "png": "image/png",
}


class ReportNotPossible(WorkNotPossible):
    """The inputs of a report do not fit together, or there is nothing to report."""

    http_status = 422


@transaction.atomic
def create_report(
    *,
    project: Project,
    by: Person | None,
    title: str,
    stage: Stage,
    item_set: ItemSet,
    runs: Sequence[Run],
    field: str,
    primary_scorer: str,
    primary_run: Run | None,
    further_scorers: Sequence[str] = (),
    every_run_is_primary: bool = False,
    seed: int = 0,
    n_resamples: int = 2000,
    level: float = 0.95,
) -> Report:
    """Name a comparison before its results are seen, and have it made.

    every_run_is_primary: the family is the mean person against each run, not against primary_run alone.
    Raises ReportNotPossible for rows of another project, a field that decides nothing, a scorer that does not fit the
    field or cannot be used here, or a primary run that is not compared.
    """
    spec = deciding_field(stage=stage, name=field)
    if not scorers_for(spec):
        raise ReportNotPossible(
            _("No score fits answers to the field %(field)s (%(type)s).", field=field, type=spec.type)
        )
    _check_inputs(project=project, stage=stage, item_set=item_set, runs=runs, primary_run=primary_run)
    for scorer in (primary_scorer, *further_scorers):
        if scorer not in selectable_scorers(spec):
            raise ReportNotPossible(
                _(
                    "The scorer %(scorer)s does not fit the field %(field)s, or is not installed.",
                    scorer=scorer,
                    field=field,
                )
            )
    report = Report.objects.create(
        project=project,
        title=title,
        stage=stage,
        item_set=item_set,
        field=field,
        primary_scorer=primary_scorer,
        further_scorers=list(further_scorers),
        primary_run=primary_run,
        every_run_is_primary=every_run_is_primary,
        seed=seed,
        n_resamples=n_resamples,
        level=level,
        created_by=by,
        n_total=N_STEPS,
    )
    report.runs.set(runs)
    events.record(
        actor=by,
        verb="report.created",
        subject=report,
        project_id=project.pk,
        runs=[run.pk for run in runs],
        primary_run=primary_run.pk if primary_run else None,
        every_run_is_primary=every_run_is_primary,
        scorers=[primary_scorer, *further_scorers],
    )
    _ring_when_stored(report)
    return report


def cancel_report(*, report: Report, by: Person) -> None:
    """Stop it; what a worker may still bring is refused. Raises WorkNotPossible if it has ended."""
    cancel_work(work=report, by=by)


@transaction.atomic
def remake_report(*, report: Report, by: Person) -> None:
    """Try again one that failed or was cancelled. A finished one is frozen: make a new one instead."""
    restart_work(work=report, by=by)
    _ring_when_stored(report)


def make_report(*, report_id: int) -> None:
    """Claim the report and make it; nothing happens if it is in other hands, cancelled or done."""
    report = claim_work(model=Report, pk=report_id)
    if report is None:
        return
    try:
        made = _make(report)
    except WorkTaken:
        return
    except ReportNotPossible as refusal:
        _end_if_ours(report, error=str(refusal))
        return
    _keep(report, made)


def deciding_field(*, stage: Stage, name: str | None = None) -> FieldSpec:
    """The stage's field of that name, or its first, among those that decide. Raises ReportNotPossible."""
    for spec in fields_from_json(stage.versions.get(is_current=True).fields):
        if spec.decides and name in (None, spec.name):
            return spec
    raise ReportNotPossible(_("This stage has no field %(name)s that decides.", name=repr(name)))


# What every report on a type of field computes, the main score first where none is chosen. Published rules never.
DEFAULT_SCORERS: dict[str, tuple[str, ...]] = {
    "choice": ("label_accuracy",),
    "choices": ("items_exact", "items_f1"),
    "scale": ("label_accuracy",),
    "text": ("exact_match", "token_f1"),
    "long_text": ("token_f1", "exact_match"),
    "question": ("token_f1", "exact_match"),
    "number": ("same_answer",),
    "date": ("same_answer",),
    "list": ("items_f1", "items_exact"),
    "table": ("cell_f1", "tuple_similarity", "tuple_fraction"),
}


def scorers_for(spec: FieldSpec) -> tuple[str, ...]:
    """The scorers that every report on this field computes, the default main one first; none for some types."""
    return DEFAULT_SCORERS.get(spec.type, ())


def fitting_scorers(spec: FieldSpec) -> tuple[str, ...]:
    """Every scorer that takes answers of this field: the defaults, ours, then published rules."""
    defaults = scorers_for(spec)
    takes = {SCORERS[name].takes for name in defaults}
    if Takes.TEXT in takes:
        # A text is a list of one item.
        takes.add(Takes.ITEMS)
    others = [found for name, found in SCORERS.items() if found.takes in takes and name not in defaults]
    return (*defaults, *(found.name for found in sorted(others, key=lambda found: found.is_published_rule)))


def selectable_scorers(spec: FieldSpec) -> tuple[str, ...]:
    """Those of them that can be used here: some need what an installation may lack."""
    defaults = scorers_for(spec)
    return tuple(name for name in fitting_scorers(spec) if name in defaults or not SCORERS[name].missing())


@dataclass(frozen=True)
class _Made:
    frozen_at: Any
    manifest: dict[str, Any]
    matrices: dict[str, Any]
    figures: list[dict[str, Any]]
    contents: dict[str, bytes]


def _make(report: Report) -> _Made:
    """Read, score, compute, draw, write. Raises WorkTaken as soon as a beat finds the claim gone."""
    # Imported here: the web server, which only shows reports, never pays for NumPy.
    from evaluation.left_out import read_left_out
    from evaluation.matrices import compare, read_models, read_people, read_units
    from evaluation.reports import differences
    from evaluation.reports.account import account_figures
    from evaluation.reports.agreement import agreement_part_figures
    from evaluation.reports.confusion import confusion_figures
    from evaluation.reports.dawid_skene import dawid_skene_figures, estimate_classes, frozen_classes
    from evaluation.reports.figures import all_figures
    from evaluation.reports.frozen import freeze
    from evaluation.reports.manifest import build_manifest
    from evaluation.reports.mcnemar import mcnemar_figures
    from evaluation.reports.metric_study import metric_figures
    from evaluation.reports.spread import Asked, grid_figures, prompt_figures
    from evaluation.reports.strata_compared import strata_compared_figures
    from evaluation.reports.weighted_vote import weighted_vote_figures
    from evaluation.scorers.spread import ScoringFailed
    from evaluation.services.scoring import score_answers
    from evaluation.stats import Bootstrap

    frozen_at = timezone.now()
    spec = deciding_field(stage=report.stage, name=report.field)
    chosen = report.runs.select_related("endpoint", "stage_version", "exemplar_set").order_by("pk")
    runs = list(chosen)
    scorers = list(dict.fromkeys([report.primary_scorer, *scorers_for(spec), *report.further_scorers]))

    units = read_units(item_set=report.item_set, field=report.field)
    if not len(units):
        raise ReportNotPossible(_("The item set is empty."))
    people = read_people(stage=report.stage, item_set=report.item_set, units=units, field=report.field)
    models = read_models(runs=runs, item_set=report.item_set, units=units, field=report.field)
    left_out = read_left_out(stage=report.stage, item_set=report.item_set, units=units, people=people, runs=runs)
    beat(report, n_done=1)
    try:
        scores = score_answers(
            field=report.field,
            scorers=scorers,
            units=units,
            people=people,
            runs=models,
            progress=partial(_beat_while_scoring, report),
        )
    except (ScorerUnavailable, ScoringFailed) as problem:
        raise ReportNotPossible(str(problem)) from problem
    beat(report, n_done=2)
    comparison = compare(units=units, people=people, runs=models, scores=scores, spec=spec)
    bootstrap = Bootstrap(seed=report.seed, n_resamples=report.n_resamples, level=report.level)
    found = all_figures(
        comparison,
        scorers=scorers,
        primary_scorer=report.primary_scorer,
        primary_run=report.primary_run_id,
        bootstrap=bootstrap,
        every_run_is_primary=report.every_run_is_primary,
        progress=partial(beat, report),
    )
    scorer = report.primary_scorer
    found += differences.vote_difference_figures(comparison, scorer=scorer, bootstrap=bootstrap)
    found += differences.run_difference_figures(comparison, scorer=scorer, bootstrap=bootstrap)
    found += differences.planning_figures(comparison, scorer=scorer, run=report.primary_run_id)
    found = differences.adjust_together(found)
    for figure in agreement_part_figures(comparison, bootstrap=bootstrap):
        found.append(figure)
        beat(report)
    classes = estimate_classes(comparison, seed=report.seed)
    found += weighted_vote_figures(comparison, scorers=scorers, bootstrap=bootstrap)
    if classes is not None:
        found += dawid_skene_figures(comparison, classes, scorers=scorers, bootstrap=bootstrap)
    found += confusion_figures(comparison, classes)
    found += mcnemar_figures(comparison, scorer=scorer)
    found += strata_compared_figures(comparison, scorer=scorer, level=report.level)
    for figure in metric_figures(comparison, scorers=scorers, primary_scorer=scorer, bootstrap=bootstrap):
        found.append(figure)
        beat(report)
    asked = {run.pk: Asked(run.endpoint.model or run.endpoint.name, run.strategy) for run in runs}
    found += prompt_figures(comparison, scorer=scorer, asked=asked, bootstrap=bootstrap)
    found += grid_figures(comparison, scorer=scorer)
    found += account_figures(comparison, left_out, scorer=scorer)
    audits = report_audits.audits_of(report.project, progress=partial(beat, report))
    judged = report_judgements.judgements_of(runs, progress=partial(beat, report))
    for one in audits:
        found += report_audits.audit_figures(one)
    for draw in judged:
        found += report_judgements.judged_figures(draw)
    figures = [figure.to_json() for figure in found]
    matrices = freeze(
        units=units,
        people=people,
        runs=models,
        scores=scores,
        keys=comparison.keys,
        estimated=None if classes is None else frozen_classes(comparison, classes),
    )
    manifest = build_manifest(
        report=report,
        spec=spec,
        scorers=scorers,
        runs=runs,
        units=units,
        people=people,
        models=models,
        frozen_at=frozen_at,
        audits=[report_audits.audit_manifest(one) for one in audits],
        judged=[report_judgements.judged_manifest(one) for one in judged],
    )
    beat(report, n_done=3)
    contents = _drawings(report, figures)
    beat(report, n_done=4)
    contents |= _tables(report, manifest, matrices, figures)
    from evaluation.reports.csv import answer_rows

    rows = answer_rows(
        units=units,
        people=people,
        runs=models,
        scores=scores,
        is_sample=report.project.is_sample,
        decisions=left_out.of_answers,
    )
    contents |= _both_forms("answers", list(rows))
    for one in audits:
        name = f"audit-verdicts-{one.drawn.audit.stage.slug}"
        contents |= _both_forms(name, list(report_audits.verdict_table(one)))
    for draw in judged:
        stage = draw.judged.sample.stage
        contents |= _both_forms(f"judgements-{stage.slug}", list(matrix_rows(stage=stage)))
    return _Made(frozen_at, manifest, matrices, figures, contents)


def _beat_while_scoring(report: Report, n_scored: int, n_to_score: int) -> None:
    """Tell how many pairs are scored, and stop the scoring if the claim is gone (WorkTaken)."""
    beat(report)
    Report.objects.filter(pk=report.pk, claim_token=report.claim_token).update(n_scored=n_scored, n_to_score=n_to_score)


def _drawings(report: Report, figures: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    from evaluation.reports import charts
    from evaluation.reports.words import measure_words

    run = report.primary_run or report.runs.order_by("pk").first()
    rows = charts.chart_rows(figures, scorer=report.primary_scorer, run=run.pk if run else None)
    if not rows:
        return {}
    measure = measure_words(report.primary_scorer)
    draw = partial(
        charts.chart_spec,
        rows,
        people="People, mean person",
        model=run.name if run else None,
        measure=measure,
        description=f"{report.title}: {measure} of people and of {run.name if run else 'no model'}, with intervals.",
    )
    light = draw(scheme="light")
    return {
        "chart.svg": charts.svg(light),
        "chart-dark.svg": charts.svg(draw(scheme="dark")),
        "chart.png": charts.png(light),
    }


def _tables(
    report: Report, manifest: dict[str, Any], matrices: dict[str, Any], figures: list[dict[str, Any]]
) -> dict[str, bytes]:
    from evaluation.reports import csv
    from evaluation.reports.figures import FIGURE_COLUMNS
    from evaluation.reports.json import report_json
    from evaluation.reports.latex import report_latex
    from evaluation.reports.markdown import report_markdown

    written: dict[str, Any] = {
        "title": report.title,
        "manifest": manifest,
        "figures": figures,
        "primary_scorer": report.primary_scorer,
    }
    errors = _both_forms("audit-errors", list(report_audits.error_rows(manifest["audits"])))
    return {
        **_both_forms("figures", list(csv.figure_rows(figures, FIGURE_COLUMNS))),
        **(errors if manifest["audits"] else {}),
        **_both_forms("votes", list(csv.majority_rows(matrices))),
        **_both_forms("matrix", list(csv.label_matrix_rows(matrices))),
        **_both_forms("scores", list(csv.score_matrix_rows(matrices, report.primary_scorer))),
        "report.json": report_json(title=report.title, manifest=manifest, figures=figures, matrices=matrices),
        "report.md": report_markdown(**written),
        "report.tex": report_latex(**written),
    }


def _both_forms(name: str, rows: Sequence[Sequence[object]]) -> dict[str, bytes]:
    """The file as it is, and the file for a spreadsheet."""
    names = {"exact": f"{name}.csv", "spreadsheet": f"{name}.spreadsheet.csv"}
    return {names[form]: b"".join(csv_chunks(rows, form)) for form in FORMS}


def _stored(report: Report, contents: Mapping[str, bytes]) -> list[StoredFile]:
    return [
        store_file(
            project=report.project,
            purpose=StoredFile.Purpose.CHART if name.startswith("chart") else StoredFile.Purpose.EXPORT,
            name=name,
            media_type=MEDIA_TYPES[name.rpartition(".")[2]],
            content=content,
        )
        for name, content in contents.items()
    ]


def _keep(report: Report, made: _Made) -> None:
    """Write result and files together if the claim still holds; else nothing is kept."""
    try:
        with holding(report) as row:
            row.frozen_at = made.frozen_at
            row.manifest, row.matrices, row.figures = made.manifest, made.matrices, made.figures
            row.n_done = N_STEPS
            row.save(update_fields=["frozen_at", "manifest", "matrices", "figures", "n_done"])
            row.files.set(_stored(row, made.contents))
            end_work(row)
    except WorkTaken:
        return


def _end_if_ours(report: Report, *, error: str) -> None:
    try:
        with holding(report) as row:
            end_work(row, error=error)
    except WorkTaken:
        return


def _check_inputs(
    *, project: Project, stage: Stage, item_set: ItemSet, runs: Sequence[Run], primary_run: Run | None
) -> None:
    if {stage.project_id, item_set.project_id, *(run.project_id for run in runs)} != {project.pk}:
        raise ReportNotPossible(_("Stage, item set and runs must belong to this project."))
    if primary_run is not None and primary_run.pk not in {run.pk for run in runs}:
        raise ReportNotPossible(_("The primary comparison must be with one of the runs of the report."))


def _ring_when_stored(report: Report) -> None:
    from evaluation.tasks import make_report as task

    transaction.on_commit(lambda: ring(task, report.pk))
