"""The audits of a project as its reports hold them: estimates, the reviewers' agreement, errors and their repair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from annotate.csv_text import yes_no
from annotate.exceptions import WorkNotPossible
from annotate.models import Audit, Project
from evaluation.services.audits import AuditResults, audit_results, verdict_rows

# Repairs in the order in which they are told; an error that is as it was may wait for an adjudicator, or have had one.
STATES = ("repaired", "changed", "taken_back", "excluded", "as_it_was_waiting", "as_it_was_decided", "as_it_was")


def audits_of(project: Project, *, progress: Callable[[], None] = lambda: None) -> list[AuditResults]:
    """What every audit says of which somebody has judged a label, oldest first."""
    found = []
    for audit in Audit.objects.filter(stage__project=project).select_related("stage").order_by("pk"):
        try:
            results = audit_results(stage=audit.stage)
        except WorkNotPossible:
            continue
        if results.reviewers:
            found.append(results)
        progress()
    return found


def audit_figures(results: AuditResults) -> Iterator[Any]:
    """Figures of one audit: by reviewer, mean and consensus, by both denominators, in the sample and in the population;
    by stratum; the agreement of the reviewers; errors by what became of them. They add up to the number of errors."""
    from evaluation.reports.figures import Figure

    stage = results.drawn.audit.stage.slug
    for one in results.results:
        for measure, figure in (("audit_sampled", one.sampled), ("audit_population", one.population)):
            yield replace(
                Figure(**figure), section="audit", measure=measure, stage=stage, label=_label(one.row, one.label)
            )
    keys = " × ".join([*results.drawn.keys, *(["label"] if results.drawn.by_label else [])])
    for stratum in results.strata:
        value = ", ".join(stratum.words) or "(all)"
        blank = Figure("audit_stratum", "drawn", "people", "drawn", "audit_drawn", stratum=keys, stratum_value=value)
        blank = replace(blank, stage=stage)
        yield replace(blank, count=stratum.stratum.n_drawn, n=stratum.stratum.n_population)
        for row, figure in (("mean", stratum.mean), ("consensus", stratum.consensus)):
            yield replace(
                Figure(**figure),
                section="audit_stratum",
                measure="audit_sampled",
                label=_label(row, ""),
                stratum=keys,
                stratum_value=value,
                stage=stage,
            )
    for figure in results.agreement:
        yield replace(Figure(**figure), section="audit_agreement", stage=stage)
    states = Counter(error["state"] for error in errors_of(results))
    for state in STATES:
        yield Figure(
            "audit_errors", "errors", "people", "errors", state,
            count=states[state], n=len(results.errors), stage=stage,
            value=states[state] / len(results.errors) if results.errors else None,
            undefined="" if results.errors else "no_trials",
        )  # fmt: skip


def audit_manifest(results: AuditResults) -> dict[str, Any]:
    """How the audit was made, and every label that somebody called wrong with what became of it. Reviewers' notes,
    which may name anybody, are left to the page of the audit."""
    drawn, stage = results.drawn, results.drawn.audit.stage
    source = drawn.audit.label_stage
    return {
        "stage": stage.slug,
        "title": stage.title,
        "state": stage.state,
        "field": drawn.field.name,
        "audited": {"decisions_of": source.title} if source else {"gold": drawn.audit.label_set},
        "strata": [*drawn.keys, *(["label"] if drawn.by_label else [])],
        "k": drawn.k,
        "seed": drawn.seed,
        "drawn_at": drawn.audit.drawn_at.isoformat(),
        "n_population": drawn.n_population,
        "n_drawn": drawn.n_drawn,
        "n_waiting": results.n_waiting,
        "n_gone": results.n_gone,
        "n_unsure": results.n_unsure,
        "n_errors": len(results.errors),
        "n_repaired": results.n_repaired,
        "reviewers": list(results.reviewers),
        "errors": list(errors_of(results)),
    }


def errors_of(results: AuditResults) -> Iterator[dict[str, Any]]:
    """{item, stratum, label, verdicts: [{reviewer, verdict, label}], state, now}."""
    for error in results.errors:
        repair = error.repair
        state = f"{repair.state}_{repair.sent}" if repair.state == "as_it_was" and repair.sent else repair.state
        yield {
            "item": error.audited.external_id,
            "stratum": list(error.stratum),
            "label": list(error.words),
            "verdicts": [
                {"reviewer": said.reviewer, "verdict": said.verdict, "label": said.correction} for said in error.said
            ],
            "state": state,
            "now": list(repair.now),
        }


def error_rows(manifests: Sequence[dict[str, Any]]) -> Iterator[list[object]]:
    """A head row, then one row for each label that was called wrong; several values of a cell stand with " / "."""
    yield ["audit", "item", "stratum", "label", "called_wrong_by", "put_in_its_place", "became", "now", "is_repaired"]
    for audit in manifests:
        for error in audit["errors"]:
            wrong = [said for said in error["verdicts"] if said["verdict"] == "wrong"]
            yield [
                audit["stage"],
                error["item"],
                ", ".join(error["stratum"]),
                " / ".join(error["label"]),
                " / ".join(said["reviewer"] for said in wrong),
                " / ".join(dict.fromkeys(said["label"] for said in wrong if said["label"])),
                error["state"],
                " / ".join(error["now"]),
                yes_no(error["state"] == "repaired"),
            ]


def verdict_table(results: AuditResults) -> Iterator[list[object]]:
    """Every drawn label with its stratum's sizes and the verdicts, from which the estimates follow; without notes."""
    rows = verdict_rows(stage=results.drawn.audit.stage)
    head = list(next(rows))
    kept = [place for place, name in enumerate(head) if not str(name).startswith("note.")]
    yield [head[place] for place in kept]
    for row in rows:
        yield [row[place] for place in kept]


def _label(row: str, label: str) -> str:
    return label or {"mean": "Mean of the reviewers", "consensus": "Consensus of the reviewers"}.get(row, row)
