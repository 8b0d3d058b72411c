"""What judges say of the runs of a report: shares judged right, wins, the judges' agreement, metrics against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from annotate.exceptions import WorkNotPossible
from evaluation.models import JudgeSample, Run
from evaluation.services.judgements import PairOfRuns, Results, RunShare, judge_results


def judgements_of(runs: Sequence[Run], *, progress: Callable[[], None] = lambda: None) -> list[Results]:
    """Every draw that has answers of one of the runs and a judgement, oldest first. A stage whose form was changed so
    that it judges nothing any more has none."""
    samples = JudgeSample.objects.filter(runs__in=runs).distinct().select_related("stage").order_by("pk")
    found = []
    for sample in samples:
        try:
            results = judge_results(stage=sample.stage)
        except WorkNotPossible:
            continue
        if results.judges:
            found.append(results)
        progress()
    return found


def judged_figures(results: Results) -> Iterator[Any]:
    """Figures of one draw. Under judged_counts, what came of every answer that was drawn: they add up to `n`."""
    from evaluation.reports.figures import Figure

    stage = results.judged.sample.stage.slug
    for run in results.runs:
        yield replace(Figure(**run.judged), section="judged", stage=stage)
        yield replace(Figure(**run.judged_or_nothing), section="judged", stage=stage)
    for pair in results.pairs:
        yield from _pair(pair, stage)
    for run in results.runs:
        yield from _counts(f"run_{run.run.pk}", run.run.name, run, run.counts, stage)
    for pair in results.pairs:
        said = {"wins": pair.wins, "ties": pair.ties, "losses": pair.losses, "both_bad": pair.both_bad}
        yield from _counts(_row(pair), str(pair.difference["label"]), pair, said, stage)
    for figure in results.agreement:
        yield replace(Figure(**figure), section="judged_agreement", stage=stage)
    for study in results.studies:
        for figure in (*study.items, *study.systems):
            yield replace(Figure(**figure), section="judged_metrics", stage=stage)


def judged_manifest(results: Results) -> dict[str, Any]:
    """How the draw was made, and how much of it waits."""
    judged, sample = results.judged, results.judged.sample
    return {
        "stage": sample.stage.slug,
        "title": sample.stage.title,
        "state": sample.stage.state,
        "mode": sample.mode,
        "field": sample.field["name"],
        "rule": sample.rule,
        "n_per_run": sample.n_per_run,
        "seed": sample.seed,
        "stratum": sample.stratum,
        "shows": sample.shows,
        "unanswered": sample.unanswered,
        "drawn_at": sample.drawn_at.isoformat(),
        "runs": [run.name for run in judged.runs],
        "n_drawn": len(judged.origins),
        "n_judges": len(results.judges),
        "n_judgements_waiting": judged.n_waiting,
        "positions": results.positions,
    }


def _pair(pair: PairOfRuns, stage: str) -> Iterator[Any]:
    """Wins minus losses, and the win rate, in which a tie is half a win: the same number on another scale."""
    from evaluation.reports.figures import Figure

    difference = replace(
        Figure(**pair.difference),
        section="judged_pair",
        row=_row(pair),
        stage=stage,
        method=" ".join(part for part in (pair.difference["method"], pair.test and f"({pair.test} test)") if part),
    )
    yield difference
    value, lower, upper = (
        None if bound is None else (1 + bound) / 2 for bound in (difference.value, difference.lower, difference.upper)
    )
    yield replace(
        difference, measure="win_rate", value=value, lower=lower, upper=upper, p=None, p_adjusted=None, adjustment="",
        n_family=None, count=pair.wins,
    )  # fmt: skip


def _counts(row: str, label: str, one: RunShare | PairOfRuns, said: dict[str, int], stage: str) -> Iterator[Any]:
    from evaluation.reports.figures import Figure

    for measure, count in (said | one.left_out | one.nothing).items():
        yield Figure(
            "judged_counts", row, "model", label, measure,
            count=count, n=one.n_drawn, value=count / one.n_drawn if one.n_drawn else None,
            undefined="" if one.n_drawn else "no_trials", stage=stage,
        )  # fmt: skip


def _row(pair: PairOfRuns) -> str:
    return f"run_{pair.first.pk}_run_{pair.second.pk}"
