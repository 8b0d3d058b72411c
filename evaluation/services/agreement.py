"""Agreement as it stands: worked out on request while that is cheap, else as the last report found it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from annotate.models import Project, Stage
from evaluation.models import Report
from evaluation.services.reporting import ReportNotPossible, deciding_field

if TYPE_CHECKING:
    from evaluation.reports.comparison import Comparison

# 2,000 items with three answers take some 0.3 s on one core; more than that belongs to a worker.
MAX_UNITS = 2_000
MAX_STAGES = 3
_RESAMPLES = 1_000
_SEED = 1
_SHOWN = ("majority_agreement", "krippendorff_alpha_nominal")


@dataclass(frozen=True)
class AgreementNow:
    """Of one stage: figures by measure. report: where they come from, or None if they are of this moment."""

    stage: Stage
    field: str
    figures: dict[str, dict[str, Any]]
    report: Report | None = None
    frozen_at: datetime | None = None


def agreement_now(*, project: Project) -> list[AgreementNow]:
    """For the first stages that have answers: majority agreement and alpha of round one, with intervals."""
    found = []
    for stage in project.stages.filter(stage_items__done__gt=0).distinct().order_by("position", "pk")[:MAX_STAGES]:
        try:
            field = deciding_field(stage=stage).name
        except ReportNotPossible:
            continue
        n_units = stage.stage_items.filter(done__gt=0).count()
        now = _worked_out(stage, field) if n_units <= MAX_UNITS else _from_last_report(stage, field)
        if now is not None:
            found.append(now)
    return found


@dataclass(frozen=True)
class PeopleNow:
    """Of one stage: each person against the vote of the others, by pseudonym; None where there are too many answers."""

    stage: Stage
    figures: dict[str, dict[str, Any]] | None


def people_now(*, project: Project) -> list[PeopleNow]:
    """For the first stages that have answers: round one, first things people said, exclusions left out."""
    found = []
    for stage in project.stages.filter(stage_items__done__gt=0).distinct().order_by("position", "pk")[:MAX_STAGES]:
        try:
            field = deciding_field(stage=stage).name
        except ReportNotPossible:
            continue
        n_units = stage.stage_items.filter(done__gt=0).count()
        found.append(PeopleNow(stage, _each_person(stage, field) if n_units <= MAX_UNITS else None))
    return found


def _each_person(stage: Stage, field: str) -> dict[str, dict[str, Any]]:
    from evaluation.reports.figures import LEAVE_ONE_OUT, from_estimate
    from evaluation.stats import Bootstrap, each_against_others

    comparison = _compared(stage, field)
    estimates = each_against_others(
        comparison.people.labels, roots=comparison.roots, bootstrap=Bootstrap(seed=_SEED, n_resamples=_RESAMPLES)
    )
    return {
        pseudonym: from_estimate("leave_one_out", LEAVE_ONE_OUT, estimate.name, estimate).to_json()
        for pseudonym, estimate in zip(comparison.people.names, estimates, strict=True)
    }


def last_comparison(*, project: Project) -> tuple[Report, dict[str, Any]] | None:
    """The newest report that named a primary run, with its primary difference."""
    done = Report.objects.filter(project=project, state=Report.State.DONE, primary_run__isnull=False)
    report = done.select_related("primary_run").defer("matrices", "manifest").order_by("-pk").first()
    if report is None:
        return None
    primary = [figure for figure in report.figures if figure["is_primary"]]
    return (report, primary[0]) if primary else None


def _worked_out(stage: Stage, field: str) -> AgreementNow:
    from evaluation.reports.figures import agreement_figures
    from evaluation.stats import Bootstrap

    bootstrap = Bootstrap(seed=_SEED, n_resamples=_RESAMPLES)
    figures = agreement_figures(_compared(stage, field), bootstrap=bootstrap, measures=_SHOWN)
    return AgreementNow(stage, field, {figure.measure: figure.to_json() for figure in figures})


def _compared(stage: Stage, field: str) -> Comparison:
    # Imported here: most requests of the web server never need NumPy.
    from evaluation.matrices import Scores, compare, read_people, units_of_stage

    units = units_of_stage(stage=stage, field=field)
    people = read_people(stage=stage, units=units, field=field)
    spec = deciding_field(stage=stage, name=field)
    return compare(units=units, people=people, runs=[], scores=Scores(), spec=spec)


def _from_last_report(stage: Stage, field: str) -> AgreementNow | None:
    done = Report.objects.filter(stage=stage, field=field, state=Report.State.DONE)
    report = done.defer("matrices", "manifest").order_by("-pk").first()
    if report is None:
        return AgreementNow(stage, field, {})
    figures = {
        figure["measure"]: figure
        for figure in report.figures
        if figure["section"] == "agreement" and figure["measure"] in _SHOWN
    }
    return AgreementNow(stage, field, figures, report, report.frozen_at)
