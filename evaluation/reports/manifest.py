"""Under which circumstances a report was made: enough to judge it, and to get the same numbers again."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

from annotate.answers import KEY_VERSION, FieldSpec
from annotate.models import Exclusion, Stage, StageVersion
from annotate.wording import _
from evaluation.matrices import ModelRun, People, Standing, Units
from evaluation.models import Report, Run
from evaluation.scorers import get_scorer

VERSION = 1
_LIBRARIES = ("Django", "numpy", "scipy", "nltk", "rapidfuzz", "sacrebleu", "altair", "vl-convert-python")


def build_manifest(
    *,
    report: Report,
    spec: FieldSpec,
    scorers: Sequence[str],
    runs: Sequence[Run],
    units: Units,
    people: People,
    models: Sequence[ModelRun],
    frozen_at: datetime,
    audits: Sequence[dict[str, Any]] = (),
    judged: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Ids, settings, versions, hashes and what was left out. JSON, without any name.

    audits, judged: how each audit and each draw for judges was made (services/report_audits.py, report_judgements.py).
    """
    stage, item_set, project = report.stage, report.item_set, report.project
    shown = shown_keys(stage=stage, runs=runs, people=people)
    return {
        "version": VERSION,
        "frozen_at": frozen_at.isoformat(),
        "software": {"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        "is_sample": project.is_sample or any(row.is_sample for row in people.answers),
        "provisional": [
            *_why_provisional(stage=stage, runs=runs, units=units, people=people),
            *(f"{one['title']} is not closed" for one in (*audits, *judged) if one["state"] != Stage.State.CLOSED),
        ],
        "project": {
            "slug": project.slug,
            "title": project.title,
            "current_date": project.current_date,
            "protocol": {"name": project.protocol_name, "version": project.protocol_version},
        },
        "stage": {
            "slug": stage.slug,
            "title": stage.title,
            "kind": stage.kind,
            "state": stage.state,
            "overlap": stage.overlap,
            "is_closed_book": stage.is_closed_book,
            "time_limit_seconds": stage.time_limit_seconds,
            "permitted_sources": stage.permitted_sources,
            "form_versions": sorted({row.stage_version for row in people.answers if row.stage_version is not None}),
            "guideline_versions": sorted(
                {row.guideline_version for row in people.answers if row.guideline_version is not None}
            ),
        },
        "field": spec.to_json(),
        "item_set": {
            "id": item_set.pk,
            "name": item_set.name,
            "rule": item_set.rule,
            "seed": item_set.seed,
            "n_items": len(units),
            "n_population": item_set.n_population,
            "left_out": _counts(rule for _, rule in units.left_out),
            "n_roots": len(set(units.roots)),
            "external_ids_sha256": _digest(units.external_ids),
            "contents_sha256": _digest(units.content_hashes),
        },
        "gold": {
            "n_items": int(units.has_gold.sum()),
            "n_of_these_votes": len(people.decided_gold),
            "versions": _counts(number for number in units.gold_versions if number is not None),
            "sha256": _digest(json.dumps(gold, ensure_ascii=False) for gold in units.golds),
        },
        "people": {
            "n_people": len(people.pseudonyms),
            "n_sample_people": len({row.person for row in people.answers if row.is_sample}),
            "outcomes": people.outcomes(),
            "rounds": _counts(row.round for row in people.answers),
        },
        "runs": [_run(run, model) for run, model in zip(runs, models, strict=True)],
        "shown": shown,
        "exclusions": _exclusions(report),
        "audits": list(audits),
        "judged": list(judged),
        "primary": {
            "scorer": report.primary_scorer,
            "run": report.primary_run_id,
            "every_run": report.every_run_is_primary,
        },
        "scorers": [[name, get_scorer(name).version] for name in scorers],
        "scorer_parameters": {name: dict(get_scorer(name).parameters) for name in scorers},
        "answer_key_version": KEY_VERSION,
        "resampling": {
            "method": "percentile bootstrap over roots",
            "percentiles": "expanded for few roots (Hesterberg 2015)",
            "n_resamples": report.n_resamples,
            "seed": report.seed,
            "level": report.level,
        },
    }


def shown_keys(*, stage: Stage, runs: Sequence[Run], people: People) -> dict[str, Any]:
    """Which content keys people and models saw, and whether they are the same: else it is no human baseline."""
    numbers = {row.stage_version for row in people.answers if row.stage_version is not None}
    versions = StageVersion.objects.filter(stage=stage).values_list("number", "shown_keys", "is_current")
    seen = [set(keys) for number, keys, is_current in versions if number in numbers or (not numbers and is_current)]
    by_people = set().union(*seen)
    models = {run.name: sorted(run.stage_version.shown_keys) for run in runs}
    differences = {
        name: {"only_people": sorted(by_people.difference(keys)), "only_model": sorted(set(keys) - by_people)}
        for name, keys in models.items()
        if set(keys) != by_people
    }
    return {
        "people": sorted(by_people),
        "models": models,
        "differences": differences,
        "is_same": not differences and len({frozenset(keys) for keys in seen}) <= 1,
    }


def _run(run: Run, model: ModelRun) -> dict[str, Any]:
    endpoint = run.endpoint
    return {
        "run": run.pk,
        "name": run.name,
        "state": run.state,
        "provider": endpoint.provider,
        "model": endpoint.model,
        "protocol": endpoint.protocol,
        "strategy": run.strategy,
        "strategy_hash": run.strategy_hash,
        "n_steps": run.n_steps,
        "exemplar_set": run.exemplar_set.name if run.exemplar_set else None,
        "parameters": run.parameters,
        "seed": run.seed,
        "repeats": run.repeats,
        "form_version": model.form_version,
        "frozen_at": run.frozen_at.isoformat() if run.frozen_at else None,
        "outcomes": model.outcomes(),
    }


def _exclusions(report: Report) -> list[dict[str, Any]]:
    """The decisions that stand, whether or not they touch an answer of this report."""
    rows = Exclusion.objects.standing().filter(project=report.project_id).order_by("pk")
    return [
        {
            "scope": "person" if person else "annotation" if annotation else "item",
            "person": person,
            "annotation": annotation,
            "item": item,
            "rule": rule,
            "reason": reason,
            "decided_at": decided_at.isoformat(),
        }
        for person, annotation, item, rule, reason, decided_at in rows.values_list(
            "person__pseudonym", "annotation_id", "item__external_id", "rule", "reason", "decided_at"
        )
    ]


def _why_provisional(*, stage: Stage, runs: Sequence[Run], units: Units, people: People) -> list[str]:
    """What may still move the numbers; empty for a study that has ended."""
    reasons: list[str] = []
    if stage.state != Stage.State.CLOSED:
        reasons.append(_("the stage is not closed"))
    answered = {row.unit for row in people.answers if row.standing is Standing.COUNTED}
    if missing := len(units) - len(answered):
        reasons.append(_("nobody has answered %(n)s of %(n_all)s items", n=f"{missing:,}", n_all=f"{len(units):,}"))
    unfinished = [run.name for run in runs if run.state != Run.State.DONE]
    if unfinished:
        reasons.append(_("not finished: %(runs)s", runs=", ".join(unfinished)))
    return reasons


def _digest(lines: Iterable[str]) -> str:
    """SHA-256 of the texts in order; a line break or any other character in one cannot pass for two."""
    return hashlib.sha256(json.dumps(list(lines), ensure_ascii=False).encode()).hexdigest()


def _counts(values: Iterable[int] | Iterable[str]) -> dict[str, int]:
    return {str(value): n for value, n in sorted(Counter(values).items())}
