"""What judges say of models' answers: shares judged right, the better of two runs, and how far metrics agree with it.

A judgement is what most judges of a candidate say when all that were asked for have spoken, or an adjudicator; every
answer that the candidate stands for gets it. "Unsure", a tie of judges and what waits are no judgement: they are left
out and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Exists, OuterRef

from annotate.answers import fields_from_json
from annotate.exceptions import WorkNotPossible
from annotate.judging import BOTH_BAD, FIRST, RIGHT, SECOND, TIE, WRONG, asked_of_judges
from annotate.models import Annotation, Exclusion, Resolution, Stage, StageItem
from annotate.resolution import Status, resolve
from annotate.wording import _
from evaluation.models import CandidateOrigin, JudgeSample, Run, Score

if TYPE_CHECKING:
    from evaluation.reports.figures import Figure

SEED = 1
RESAMPLES = 1_000
# More answers than these have no intervals while somebody waits; correlations take far longer to resample.
MAX_RESAMPLED = 20_000
MAX_CORRELATED = 2_000
# What decides: two of three, or a single judge where only one is asked.
_DECIDED = (Status.UNANIMOUS, Status.MAJORITY)

# What is no judgement, beside the outcomes of runs in which nothing was to be judged.
WAITING, UNDECIDED, LEFT_OUT = "waiting", "undecided", "left_out"


class Judgement(NamedTuple):
    """What the judges of one candidate say. key: None where they do not decide, for the reason in `status`."""

    key: str | None
    status: str
    votes: dict[str, int]


class Origin(NamedTuple):
    """One answer that was drawn, or one pair of answers.

    run, prediction: of a pair, of its first answer. judgement: None where nothing was to be judged: then `nothing`
    names the outcome, of a pair that of the first run without any. is_same: a tie without asking.
    """

    item: str
    unit: int
    run: int
    prediction: int
    other_run: int | None
    other: int | None
    outcome: str
    candidate: int | None
    judgement: Judgement | None
    nothing: str
    is_same: bool


@dataclass(frozen=True)
class Judged:
    """Everything that figures are made of. units: items in the order of their ids; roots beside them.

    votes: candidates x judges, the place of each judgement among `keys`, -1 without one; vote_roots beside them.
    n_waiting: judgements that are still asked for.
    """

    sample: JudgeSample
    runs: list[Run]
    origins: list[Origin]
    units: list[str]
    roots: list[int]
    keys: tuple[str, ...]
    captions: dict[str, str]
    judges: list[str]
    votes: list[list[int]] = field(repr=False)
    vote_roots: list[int] = field(repr=False)
    n_waiting: int

    @property
    def is_resampled(self) -> bool:
        return len(self.origins) <= MAX_RESAMPLED


@dataclass(frozen=True)
class RunShare:
    """One run. counts: by judgement. left_out: without one, by why. nothing: outcomes that left nothing to judge.

    judged: only what was judged right or wrong. judged_or_nothing: beside it what had nothing to be judged, which
    counts as not right. Neither has what is left out.
    """

    run: Run
    n_drawn: int
    counts: dict[str, int]
    left_out: dict[str, int]
    nothing: dict[str, int]
    judged: dict[str, Any]
    judged_or_nothing: dict[str, Any]


@dataclass(frozen=True)
class PairOfRuns:
    """How often the answers of `first` were better than those of `second`. difference: share of wins minus losses.

    n_same: equal answers, ties without asking, which are among the ties.
    """

    first: Run
    second: Run
    n_drawn: int
    wins: int
    ties: int
    losses: int
    both_bad: int
    n_same: int
    left_out: dict[str, int]
    nothing: dict[str, int]
    difference: dict[str, Any]
    test: str


@dataclass(frozen=True)
class JudgeShare:
    """How often one judge said what."""

    name: str
    n: int
    counts: dict[str, int]


@dataclass(frozen=True)
class MetricStudy:
    """One scorer against the judges on the same answers: three coefficients by item and by system, as figures."""

    scorer: str
    items: list[dict[str, Any]]
    systems: list[dict[str, Any]]


@dataclass(frozen=True)
class Results:
    judged: Judged
    runs: list[RunShare]
    pairs: list[PairOfRuns]
    agreement: list[dict[str, Any]]
    judges: list[JudgeShare]
    studies: list[MetricStudy]
    positions: dict[str, int]


def sample_of(stage: Stage) -> JudgeSample | None:
    """The draw of a stage, or None."""
    return JudgeSample.objects.filter(stage=stage).first()


def read_judged(*, stage: Stage) -> Judged:
    """What was drawn and what its judges say. Raises WorkNotPossible for a stage without a draw, or whose form was
    changed so that it judges nothing."""
    sample = sample_of(stage)
    if sample is None:
        raise WorkNotPossible(_("Nothing was drawn for this stage yet."))
    asked = asked_of_judges(fields_from_json(stage.versions.get(is_current=True).fields))
    if asked is None or asked.judging != sample.mode:
        raise WorkNotPossible(_("The form of this stage asks something else than what was drawn for."))
    keys = tuple(option.value for option in asked.field.options)
    places = {
        row[1]: row
        for row in StageItem.objects.filter(stage=stage, candidate__isnull=False).values_list(
            "pk", "candidate", "state", "done", "wanted"
        )
    }
    votes = _votes(stage, asked.field.name, keys)
    settled = _adjudicated(stage, asked.field.name)
    judgements = {
        candidate: _judgement(votes.get(pk, {}), settled.get(pk), state, is_complete=done >= wanted)
        for candidate, (pk, _, state, done, wanted) in places.items()
    }
    rows = _origin_rows(sample)
    units = {revision: unit for unit, revision in enumerate(dict.fromkeys(row["revision"] for row in rows))}
    roots: list[int] = [0] * len(units)
    names: list[str] = [""] * len(units)
    for row in rows:
        roots[units[row["revision"]]], names[units[row["revision"]]] = row["root"], row["item"]
    origins = [_origin(row, units[row["revision"]], judgements) for row in rows]
    root_of = {row["candidate"]: row["root"] for row in rows if row["candidate"] in places}
    judges = sorted({name for given in votes.values() for name in given})
    at = {name: n for n, name in enumerate(judges)}
    matrix, vote_roots = [], []
    for candidate in sorted(root_of):
        given = votes.get(places[candidate][0], {})
        line = [-1] * len(judges)
        for name, key in given.items():
            line[at[name]] = keys.index(key)
        matrix.append(line)
        vote_roots.append(root_of[candidate])
    open_places = [row for row in places.values() if row[2] == StageItem.State.OPEN]
    return Judged(
        sample=sample,
        runs=list(sample.runs.order_by("name")),
        origins=origins,
        units=names,
        roots=roots,
        keys=keys,
        captions={option.value: option.caption for option in asked.field.options},
        judges=judges,
        votes=matrix,
        vote_roots=vote_roots,
        n_waiting=sum(wanted - done for *_, done, wanted in open_places),
    )


def judge_results(*, stage: Stage) -> Results:
    """Every figure of a judge stage as it stands. Raises WorkNotPossible as `read_judged` does."""
    judged = read_judged(stage=stage)
    is_verdict = judged.sample.mode == JudgeSample.Mode.VERDICT
    return Results(
        judged=judged,
        runs=[_run_share(judged, run) for run in judged.runs] if is_verdict else [],
        pairs=[] if is_verdict else _pairs(judged),
        agreement=_agreement(judged),
        judges=[_judge_share(judged, n) for n in range(len(judged.judges))],
        studies=_studies(judged) if is_verdict else [],
        positions={} if is_verdict else _positions(judged),
    )


def matrix_rows(*, stage: Stage) -> Iterator[Sequence[object]]:
    """The matrix behind every figure: one row for each answer, or pair of answers, that was drawn."""
    judged = read_judged(stage=stage)
    scores = _scores(judged)
    names = {run.pk: run.name for run in judged.runs}
    is_pair = judged.sample.mode == JudgeSample.Mode.BETTER
    yield [
        "item", "root", *(("first_run", "second_run") if is_pair else ("run",)), "outcome", "candidate", "judgement",
        "status", *(f"votes.{key}" for key in judged.keys), *(f"score.{scorer}" for scorer in scores),
    ]  # fmt: skip
    roots = {root: n for n, root in enumerate(dict.fromkeys(judged.roots))}
    for one in judged.origins:
        said = one.judgement
        yield [
            one.item,
            roots[judged.roots[one.unit]],
            names[one.run],
            *([names[one.other_run]] if one.other_run is not None else []),
            one.nothing or one.outcome,
            one.candidate,
            (said.key or "") if said else "",
            said.status if said else "nothing_to_judge",
            *(said.votes.get(key, 0) if said else 0 for key in judged.keys),
            *(values.get(one.prediction) for values in scores.values()),
        ]


def results_json(results: Results) -> dict[str, Any]:
    """The figures with their circumstances, for the API and the file beside the page."""
    judged = results.judged
    sample = judged.sample
    return {
        "mode": sample.mode,
        "draw": {
            "rule": sample.rule,
            "n_per_run": sample.n_per_run,
            "seed": sample.seed,
            "stratum": sample.stratum,
            "shows": sample.shows,
            "unanswered": sample.unanswered,
            "drawn_at": sample.drawn_at.isoformat(),
            "parts": sample.counts,
        },
        "n_drawn": len(judged.origins),
        "n_candidates": len(judged.votes),
        "n_judgements_waiting": judged.n_waiting,
        "runs": [
            {
                "run": one.run.pk,
                "name": one.run.name,
                "n_drawn": one.n_drawn,
                "counts": one.counts,
                "left_out": one.left_out,
                "nothing_to_judge": one.nothing,
                "judged": one.judged,
                "judged_or_nothing": one.judged_or_nothing,
            }
            for one in results.runs
        ],
        "pairs": [
            {
                "first": one.first.name,
                "second": one.second.name,
                "n_drawn": one.n_drawn,
                "wins": one.wins,
                "ties": one.ties,
                "losses": one.losses,
                "both_bad": one.both_bad,
                "n_same": one.n_same,
                "left_out": one.left_out,
                "nothing_to_judge": one.nothing,
                "difference": one.difference,
                "test": one.test,
            }
            for one in results.pairs
        ],
        "agreement": results.agreement,
        "judges": [{"name": one.name, "n": one.n, "counts": one.counts} for one in results.judges],
        "positions": results.positions,
        "metrics": [
            {"scorer": one.scorer, "items": one.items, "systems": one.systems} for one in results.studies
        ],
    }  # fmt: skip


# What was drawn and said


def _votes(stage: Stage, name: str, keys: tuple[str, ...]) -> dict[int, dict[str, str]]:
    """Counted judgements by place and pseudonym; what an earlier form offered and this one does not is none."""
    votes: dict[int, dict[str, str]] = defaultdict(dict)
    rows = Annotation.objects.counted().filter(assignment__stage=stage)
    for place, person, answer in rows.values_list("assignment__stage_item", "assignment__person__pseudonym", "answer"):
        if (key := answer.get(name)) in keys:
            votes[place][person] = key
    return votes


def _adjudicated(stage: Stage, name: str) -> dict[int, str]:
    rows = Resolution.objects.filter(stage_item__stage=stage, field=name, status=Resolution.Status.ADJUDICATED).exclude(
        answer_key=None
    )
    return {place: str(key) for place, key in rows.values_list("stage_item", "answer_key")}


def _judgement(votes: Mapping[str, str], settled: str | None, state: str, *, is_complete: bool) -> Judgement:
    """is_complete: all judges that the place asks for have answered; before, the first would decide for them."""
    counts = dict(Counter(votes.values()))
    if state in (StageItem.State.WITHDRAWN, StageItem.State.LEFT_OUT):
        return Judgement(None, LEFT_OUT, counts)
    if settled is not None:
        return Judgement(settled, "adjudicated", counts)
    outcome = resolve(list(votes.values()))
    if outcome.status is Status.NO_VOTES or not is_complete:
        return Judgement(None, WAITING, counts)
    if outcome.status in _DECIDED:
        return Judgement(outcome.key, str(outcome.status), counts)
    return Judgement(None, UNDECIDED, counts)


def _origin_rows(sample: JudgeSample) -> list[dict[str, Any]]:
    gone = Exclusion.objects.standing().filter(item=OuterRef("prediction__revision__item"))
    rows = (
        CandidateOrigin.objects.filter(sample=sample)
        .annotate(is_gone=Exists(gone))
        .order_by("prediction__revision__item__external_id", "prediction__revision", "prediction", "other")
        .values_list("is_gone", *_ORIGIN_COLUMNS.values())
    )
    names = ("is_gone", *_ORIGIN_COLUMNS)
    found = [dict(zip(names, row, strict=True)) for row in rows]
    return [row | {"root": row["root"] or row["item_id"]} for row in found]


_ORIGIN_COLUMNS = {
    "candidate": "candidate",
    "prediction": "prediction",
    "run": "prediction__run",
    "state": "prediction__state",
    "other": "other",
    "other_run": "other__run",
    "other_state": "other__state",
    "revision": "prediction__revision",
    "item_id": "prediction__revision__item",
    "root": "prediction__revision__item__root",
    "item": "prediction__revision__item__external_id",
}


def _origin(row: Mapping[str, Any], unit: int, judgements: Mapping[int, Judgement]) -> Origin:
    candidate = row["candidate"]
    is_same = candidate is not None and candidate not in judgements
    judgement = judgements.get(candidate) if candidate is not None else None
    if is_same:
        judgement = Judgement(TIE, "same", {})
    if row["is_gone"]:
        judgement = Judgement(None, LEFT_OUT, judgement.votes if judgement else {})
    nothing = ""
    if judgement is None:
        states = [row["state"], *([row["other_state"]] if row["other"] else [])]
        nothing = next((state for state in states if state != "answered"), "answered")
    return Origin(
        item=row["item"],
        unit=unit,
        run=row["run"],
        prediction=row["prediction"],
        other_run=row["other_run"],
        other=row["other"],
        outcome=row["state"],
        candidate=candidate,
        judgement=judgement,
        nothing=nothing,
        is_same=is_same,
    )


def _counts(judged: Judged, origins: Sequence[Origin]) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """What came of what was drawn: judgements, why there is none, and outcomes in which nothing was to be judged."""
    found = Counter(one.judgement.key or one.judgement.status for one in origins if one.judgement)
    nothing = Counter(one.nothing for one in origins if one.judgement is None)
    return (
        {key: found[key] for key in judged.keys},
        {why: found[why] for why in (UNDECIDED, WAITING, LEFT_OUT) if found[why]},
        dict(sorted(nothing.items())),
    )


# Right or wrong


def _human(judged: Judged) -> Any:
    """Items x runs: 1 judged right, 0 judged wrong, NaN where there is neither."""
    import numpy as np

    column = {run.pk: n for n, run in enumerate(judged.runs)}
    scores = np.full((len(judged.units), len(judged.runs)), np.nan)
    for one in judged.origins:
        if one.judgement and one.judgement.key in (RIGHT, WRONG):
            scores[one.unit, column[one.run]] = float(one.judgement.key == RIGHT)
    return scores


def _run_share(judged: Judged, run: Run) -> RunShare:
    import numpy as np

    from evaluation.reports.figures import Row, from_estimate
    from evaluation.stats import mean_person

    origins = [one for one in judged.origins if one.run == run.pk]
    counts, left_out, nothing = _counts(judged, origins)
    scores = _human(judged)[:, [judged.runs.index(run)]]
    offered = ~np.isnan(scores)
    for one in origins:
        if one.judgement is None:
            offered[one.unit, 0] = True
    means = mean_person(
        scores, offered=offered, roots=judged.roots, people=[run.name], bootstrap=_bootstrap(judged), voices="runs"
    )
    row = Row(f"run_{run.pk}", "model", run.name, run.pk)
    return RunShare(
        run=run,
        n_drawn=len(origins),
        counts=counts,
        left_out=left_out,
        nothing=nothing,
        judged=from_estimate("judged", row, "judged_right", means.answered, denominator="answered").to_json(),
        judged_or_nothing=from_estimate("judged", row, "judged_right", means.all_items, denominator="all").to_json(),
    )


# The better of two


def _pairs(judged: Judged) -> list[PairOfRuns]:
    from evaluation.stats import holm

    pairs = [_pair(judged, first, second) for first, second in combinations(judged.runs, 2)]
    tested = [pair for pair in pairs if pair.difference["p"] is not None]
    if len(tested) < 2:
        return pairs
    adjusted = dict(zip(map(id, tested), holm([pair.difference["p"] for pair in tested]), strict=True))
    return [
        replace(
            pair,
            difference=pair.difference
            | {"p_adjusted": adjusted[id(pair)], "adjustment": "holm", "n_family": len(tested)},
        )
        if id(pair) in adjusted
        else pair
        for pair in pairs
    ]


def _pair(judged: Judged, first: Run, second: Run) -> PairOfRuns:
    """A win counts 1, a tie one half for both, also where both are bad."""
    import numpy as np

    from evaluation.reports.figures import Figure, interval_columns
    from evaluation.stats import mcnemar, paired_difference, permutation_test

    origins = [one for one in judged.origins if {one.run, one.other_run} == {first.pk, second.pk}]
    counts, left_out, nothing = _counts(judged, origins)
    scores = np.full(len(judged.units), np.nan)
    for one in origins:
        key = one.judgement.key if one.judgement else None
        if key in (FIRST, SECOND):
            scores[one.unit] = float((key == FIRST) == (one.run == first.pk))
        elif key in (TIE, BOTH_BAD):
            scores[one.unit] = 0.5
    bootstrap = _bootstrap(judged)
    found = paired_difference(scores, 1 - scores, roots=judged.roots, bootstrap=bootstrap)
    wins, losses = int((scores == 1).sum()), int((scores == 0).sum())
    p, test = None, ""
    if found.n and found.n_roots == found.n:
        p, test = mcnemar(wins, losses).exact_p, "sign"
    elif found.n and bootstrap is not None:
        # Answers about one table are not independent: their signs are swapped together.
        p, test = permutation_test(scores, 1 - scores, roots=judged.roots, bootstrap=bootstrap).p, "permutation"
    figure = Figure(
        section="judged",
        row=f"run_{first.pk}",
        who="model",
        label=f"{first.name} against {second.name}",
        measure="wins_minus_losses",
        value=found.value,
        n=found.n,
        n_items=found.n,
        n_left_out=len(origins) - found.n,
        n_roots=found.n_roots if found.n else 0,
        undefined=found.undefined,
        run=first.pk,
        p=p,
        note=found.note,
        **interval_columns(found.interval),
    )
    n_bad = counts.get(BOTH_BAD, 0)
    return PairOfRuns(
        first=first,
        second=second,
        n_drawn=len(origins),
        wins=wins,
        ties=int((scores == 0.5).sum()) - n_bad,
        losses=losses,
        both_bad=n_bad,
        n_same=sum(one.is_same and one.judgement is not None and one.judgement.key == TIE for one in origins),
        left_out=left_out,
        nothing=nothing,
        difference=figure.to_json(),
        test=test,
    )


def _positions(judged: Judged) -> dict[str, int]:
    """How often the better answer stood first, and second: judges who look at places lean to one."""
    by_candidate = {one.candidate: one.judgement for one in judged.origins if one.judgement and not one.is_same}
    chosen = Counter(judgement.key for judgement in by_candidate.values())
    return {FIRST: chosen[FIRST], SECOND: chosen[SECOND]}


# Judges


def _agreement(judged: Judged) -> list[dict[str, Any]]:
    """Among judges, over candidates; nothing where no candidate has two judgements."""
    if not any(sum(code >= 0 for code in line) > 1 for line in judged.votes):
        return []
    import numpy as np

    from evaluation.reports.figures import Row, from_coefficient
    from evaluation.stats import Ratings, gwet_ac1, krippendorff_alpha_nominal, percent_agreement

    ratings = Ratings.from_labels(np.array(judged.votes), np.array(judged.vote_roots), n_labels=len(judged.keys))
    bootstrap = _bootstrap(judged)
    row = Row("judges", "people", "Judges")
    return [
        from_coefficient("agreement", row, coefficient(ratings, bootstrap)).to_json()
        for coefficient in (percent_agreement, krippendorff_alpha_nominal, gwet_ac1)
    ]


def _judge_share(judged: Judged, column: int) -> JudgeShare:
    given = Counter(judged.keys[line[column]] for line in judged.votes if line[column] >= 0)
    return JudgeShare(judged.judges[column], given.total(), {key: given[key] for key in judged.keys})


# Metrics against judges


def _scores(judged: Judged) -> dict[str, dict[int, float | None]]:
    """By scorer, what its newest version says of each prediction that was drawn, against the gold label of now."""
    found: dict[str, dict[int, float | None]] = {}
    newest: dict[str, int] = {}
    rows = Score.objects.filter(
        prediction__run__in=[run.pk for run in judged.runs],
        prediction__in=CandidateOrigin.objects.filter(sample=judged.sample).values("prediction"),
        field=judged.sample.field["name"],
        gold__is_current=True,
    ).order_by("scorer", "scorer_version")
    for scorer, version, prediction, value in rows.values_list("scorer", "scorer_version", "prediction", "value"):
        if version > newest.get(scorer, 0):
            newest[scorer], found[scorer] = version, {}
        found[scorer][prediction] = value
    return found


def _studies(judged: Judged) -> list[MetricStudy]:
    import numpy as np

    from evaluation.stats import metric_correlations

    human = _human(judged)
    column = {run.pk: n for n, run in enumerate(judged.runs)}
    studies = []
    for scorer, values in _scores(judged).items():
        scores = np.full(human.shape, np.nan)
        for one in judged.origins:
            if (value := values.get(one.prediction)) is not None:
                scores[one.unit, column[one.run]] = value
        bootstrap = _bootstrap(judged) if len(judged.origins) <= MAX_CORRELATED else None
        found = metric_correlations(human, scores, roots=judged.roots, bootstrap=bootstrap)
        studies.append(
            MetricStudy(
                scorer=scorer,
                items=[_correlation(scorer, "items", one) for one in found.items],
                systems=[_correlation(scorer, "systems", one) for one in found.systems],
            )
        )
    return studies


def _correlation(scorer: str, level: str, coefficient: Any) -> dict[str, Any]:
    from evaluation.reports.figures import Row, from_coefficient

    figure: Figure = from_coefficient("metric_study", Row(scorer, "scorer", scorer), coefficient)
    return replace(figure, denominator=level).to_json()


def _bootstrap(judged: Judged) -> Any:
    from evaluation.stats import Bootstrap

    return Bootstrap(seed=SEED, n_resamples=RESAMPLES) if judged.is_resampled else None
