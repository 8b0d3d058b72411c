"""Answers of models for people to judge: a seeded sample of each run, as candidates that say nothing of who wrote them.

What is drawn depends on the seed, the items and the names of the runs; which of two answers comes first, and where a
candidate stands in the queue, on the seed, the item and the answers alone. So nothing that a judge sees would be
otherwise if two runs had given each other's answers.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotate import events
from annotate.answers import FieldSpec, fields_from_json, get_field_type
from annotate.exceptions import WorkNotPossible
from annotate.judging import ANSWER, FIRST, SECOND, Asked, Judging, asked_of_judges
from annotate.models import Exclusion, ItemKey, ItemRevision, Person, Project, Stage, StageItem
from annotate.sampling import draw_in_proportion, draw_simple
from annotate.services.candidates import freeze_several
from annotate.services.discarding import empty_queue
from annotate.sources.mapping import hash_content
from annotate.wording import _
from evaluation.models import Call, CandidateOrigin, JudgeSample, Prediction, Run
from evaluation.strategies import strategy_of

MAX_RUNS = 20
# Of all runs or pairs together: 20 runs with 5,000 answers each.
MAX_DRAWN = 100_000
_BATCH = 1_000

# Of these the item was never asked; all other outcomes are drawn, whatever came of them.
_NOT_ASKED = (Prediction.State.PENDING, Prediction.State.CANCELLED)


@dataclass(frozen=True)
class Draw:
    """What is to be drawn. n: answers of each run, or of each pair of runs.

    rule, shows, unanswered: values of JudgeSample. stratum: "": a simple random draw.
    """

    runs: tuple[Run, ...]
    n: int
    seed: int
    rule: str = JudgeSample.Rule.SAME_ITEMS
    stratum: str = ""
    shows: str = JudgeSample.Shows.ANSWER
    unanswered: str = JudgeSample.Unanswered.LEFT_OUT


@dataclass(frozen=True)
class DrawnOf:
    """Of one run, or of a pair of runs: how many items there were to draw from, and how many were drawn.

    n_short: how many fewer than asked for; then all were taken. strata: (value, items there were, drawn).
    """

    runs: tuple[str, ...]
    n_population: int
    n_drawn: int
    n_short: int
    strata: tuple[tuple[str, int, int], ...] = ()


class Outcome(NamedTuple):
    """What one run said of one item. value: as judges would see it; None where there is nothing to judge."""

    prediction: int
    state: str
    value: Any


class Drawn(NamedTuple):
    """One answer that was drawn, or one pair; content: of the candidate, None where there is nothing to judge."""

    revision: int
    prediction: int
    other: int | None
    content: list[list[Any]] | None
    is_same: bool = False


@dataclass(frozen=True)
class Plan:
    """What a draw comes to. n_places: candidates that are put before judges.

    n_judged: answers, or pairs, that these stand for; n_same: pairs of equal answers, which are ties without asking.
    nothing: outcome -> answers drawn in which nothing is to be judged; of a pair, that of the first run without any.
    """

    asked: Asked
    draw: Draw
    field: FieldSpec
    parts: tuple[DrawnOf, ...]
    drawn: tuple[Drawn, ...]
    n_places: int
    n_judged: int
    n_same: int
    nothing: dict[str, int]

    @property
    def n_drawn(self) -> int:
        return len(self.drawn)

    @property
    def n_merged(self) -> int:
        """Answers, or pairs, that are judged together with an equal one."""
        return self.n_judged - self.n_places


def judgeable_runs(project: Project) -> list[Run]:
    """The finished runs of a project, newest first."""
    return list(Run.objects.filter(project=project, state=Run.State.DONE).order_by("-pk"))


def strata_names(project: Project) -> list[str]:
    """The strata that the items of a project have, in the order in which they come."""
    rows = ItemKey.objects.filter(item__project=project).exclude(strata=[]).order_by("pk")
    return list(dict.fromkeys(pair[0] for strata in rows.values_list("strata", flat=True)[:500] for pair in strata))


def plan_draw(*, stage: Stage, draw: Draw) -> Plan:
    """What the draw would come to; nothing is written.

    Raises WorkNotPossible for a stage or a form that judges nothing, for runs that are not finished, of another project
    or asked about another field, for numbers out of range, and where nothing would be left to judge.
    """
    asked = _asked(stage)
    answered = _checked(stage, asked, draw)
    population = _Population(draw)
    sides: list[tuple[Run, ...]] = [(run,) for run in draw.runs]
    if asked.judging is Judging.BETTER:
        sides = list(combinations(draw.runs, 2))
    if draw.n * len(sides) > MAX_DRAWN:
        raise WorkNotPossible(
            _(
                "That would be more than %(max_drawn)s answers: draw fewer, or from fewer runs.",
                max_drawn=f"{MAX_DRAWN:,}",
            )
        )
    chosen = population.draw(sides)
    said = _said(draw, answered, population, chosen)
    drawn: list[Drawn] = []
    nothing: Counter[str] = Counter()
    for side, (__, revisions) in zip(sides, chosen, strict=True):
        for revision in revisions:
            outcomes = [said[run.pk, revision] for run in side]
            drawn.append(_drawn(outcomes, revision, population.key_of[revision], draw.seed))
            nothing.update([one.state for one in outcomes if one.value is None][:1])
    judged = [one for one in drawn if one.content is not None and not one.is_same]
    n_places = len({(one.revision, hash_content(one.content or [])) for one in judged})
    if not drawn:
        raise WorkNotPossible(_("These runs share no items: draw from each run on its own, or choose other runs."))
    if not n_places:
        raise WorkNotPossible(
            _("Nothing would be left to judge: none of these answers can be shown, or all are equal.")
        )
    return Plan(
        asked=asked,
        draw=draw,
        field=answered,
        parts=tuple(part for part, _ in chosen),
        drawn=tuple(drawn),
        n_places=n_places,
        n_judged=len(judged),
        n_same=sum(one.is_same for one in drawn),
        nothing=dict(sorted(nothing.items())),
    )


@transaction.atomic
def draw_judge_sample(*, stage: Stage, by: Person | None, draw: Draw) -> JudgeSample:
    """Draw, freeze and put into the queue what people judge; the same draw again returns what was drawn.

    Equal answers to one item are one candidate with several origins. The order of two answers is drawn for each
    candidate. Raises WorkNotPossible as `plan_draw` does, and for a stage that holds another draw.
    """
    # Two clicks must not draw twice.
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    made: JudgeSample | None = JudgeSample.objects.filter(stage=stage).first()
    if made is not None:
        if _is_same(made, draw):
            return made
        raise WorkNotPossible(
            _("This stage was drawn already, by seed %(seed)s: another draw needs another stage.", seed=made.seed)
        )
    if stage.stage_items.exists():
        raise WorkNotPossible(_("This stage has items that were not drawn from runs: make a new stage for the draw."))
    plan = plan_draw(stage=stage, draw=draw)
    sample: JudgeSample = JudgeSample.objects.create(
        stage=stage,
        mode=plan.asked.judging,
        rule=draw.rule,
        stratum=draw.stratum,
        shows=draw.shows,
        unanswered=draw.unanswered,
        field=plan.field.to_json(),
        n_per_run=draw.n,
        seed=draw.seed,
        counts=[_part_json(part) for part in plan.parts],
    )
    sample.runs.set(draw.runs)
    candidates = freeze_several(
        project_id=stage.project_id,
        contents=[(one.revision, one.content) for one in plan.drawn if one.content is not None],
    )
    CandidateOrigin.objects.bulk_create(
        (
            CandidateOrigin(
                sample=sample,
                candidate_id=None if one.content is None else candidates[one.revision, hash_content(one.content)],
                prediction_id=one.prediction,
                other_id=one.other,
            )
            for one in plan.drawn
        ),
        batch_size=_BATCH,
    )
    _store_places(stage, plan, candidates)
    events.record(
        actor=by,
        verb="judge_sample.drawn",
        subject=stage,
        project_id=stage.project_id,
        runs=[run.pk for run in draw.runs],
        seed=draw.seed,
        wanted=draw.n,
        rule=draw.rule,
        stratum=draw.stratum,
        shows=draw.shows,
        unanswered=draw.unanswered,
        drawn=plan.n_drawn,
        places=plan.n_places,
        nothing=plan.nothing,
    )
    return sample


@transaction.atomic
def discard_judge_sample(*, stage: Stage, by: Person, reason: str) -> Stage:
    """Take a draw of answers back, so that the stage can be drawn for anew; the history keeps what it was and why.

    Raises WorkNotPossible for a stage without a draw, and where somebody has judged or holds a candidate.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    sample = JudgeSample.objects.filter(stage=stage).first()
    if sample is None:
        raise WorkNotPossible(_("Nothing was drawn for this stage yet."))
    before = stage.state
    n = empty_queue(stage=stage)
    events.record(
        actor=by,
        verb="judge_sample.discarded",
        subject=stage,
        project_id=stage.project_id,
        reason=reason,
        before=before,
        n=n,
        runs=sorted(sample.runs.values_list("pk", flat=True)),
        seed=sample.seed,
        wanted=sample.n_per_run,
        rule=sample.rule,
        stratum=sample.stratum,
        shows=sample.shows,
        unanswered=sample.unanswered,
    )
    sample.delete()
    return stage


@dataclass(frozen=True)
class Told:
    """What a draw came to, counted from its rows: the same whenever it is asked. Numbers as in Plan."""

    seed: int
    parts: tuple[DrawnOf, ...]
    n_drawn: int
    n_places: int
    n_merged: int
    n_same: int
    nothing: dict[str, int]


def told_of(sample: JudgeSample) -> Told:
    """A draw as it was made, whatever became of runs, items and figures since."""
    placed = StageItem.objects.filter(stage=sample.stage_id, candidate__isnull=False)
    candidates = set(placed.values_list("candidate", flat=True))
    origins = CandidateOrigin.objects.filter(sample=sample).values_list(
        "candidate", "prediction__state", "other", "other__state"
    )
    n_judged = n_same = n_drawn = 0
    nothing: Counter[str] = Counter()
    for candidate, state, other, other_state in origins.iterator():
        n_drawn += 1
        if candidate is None:
            states = [state, other_state] if other else [state]
            nothing[next((one for one in states if one != Prediction.State.ANSWERED), state)] += 1
        elif candidate in candidates:
            n_judged += 1
        else:
            n_same += 1
    return Told(
        seed=sample.seed,
        parts=parts_of(sample),
        n_drawn=n_drawn,
        n_places=len(candidates),
        n_merged=n_judged - len(candidates),
        n_same=n_same,
        nothing=dict(sorted(nothing.items())),
    )


def parts_of(sample: JudgeSample) -> tuple[DrawnOf, ...]:
    """What was drawn of which run or pair, as it was written down at the draw."""
    return tuple(
        DrawnOf(**part | {"runs": tuple(part["runs"]), "strata": tuple(tuple(one) for one in part["strata"])})
        for part in sample.counts
    )


def _part_json(part: DrawnOf) -> dict[str, Any]:
    return {
        "runs": list(part.runs),
        "n_population": part.n_population,
        "n_drawn": part.n_drawn,
        "n_short": part.n_short,
        "strata": [list(one) for one in part.strata],
    }


def _asked(stage: Stage) -> Asked:
    if stage.kind != Stage.Kind.JUDGE:
        raise WorkNotPossible(_("Only a stage of the kind “judge” is filled from runs."))
    asked = asked_of_judges(fields_from_json(stage.versions.get(is_current=True).fields))
    if asked is None:
        raise WorkNotPossible(
            _(
                "The form asks neither “right or wrong” nor “which is better”: it needs a choice that "
                "decides, with the values right and wrong (and unsure), or first and second (and tie, "
                "both_bad)."
            )
        )
    return asked


def _checked(stage: Stage, asked: Asked, draw: Draw) -> FieldSpec:
    """The field that all runs answered."""
    n_needed = 2 if asked.judging is Judging.BETTER else 1
    if len(draw.runs) < n_needed:
        needed = _("Choose two runs or more to compare.") if n_needed > 1 else _("Choose at least one run.")
        raise WorkNotPossible(needed)
    if len(draw.runs) > MAX_RUNS or len({run.pk for run in draw.runs}) < len(draw.runs):
        raise WorkNotPossible(_("Choose at most %(max_runs)s runs, each once.", max_runs=MAX_RUNS))
    if draw.n < 1:
        raise WorkNotPossible(_("Draw at least one answer of each run."))
    if any(run.project_id != stage.project_id for run in draw.runs):
        raise WorkNotPossible(_("A run of another project cannot be judged here."))
    if unfinished := [run.name for run in draw.runs if run.state != Run.State.DONE]:
        raise WorkNotPossible(
            _(
                "Not finished yet: %(unfinished)s. What is judged must not change any more.",
                unfinished=", ".join(unfinished),
            )
        )
    fields = [_answered_field(run) for run in draw.runs]
    if len({(spec.name, spec.type) for spec in fields}) > 1:
        raise WorkNotPossible(_("These runs answered different fields: judge them in stages of their own."))
    return fields[0]


def _answered_field(run: Run) -> FieldSpec:
    from evaluation.services.prompting import answered_field  # Jinja2: only where something is drawn

    return answered_field(run.stage_version)


def _is_same(made: JudgeSample, draw: Draw) -> bool:
    return (made.n_per_run, made.seed, made.rule, made.stratum, made.shows, made.unanswered) == (
        draw.n,
        draw.seed,
        draw.rule,
        draw.stratum,
        draw.shows,
        draw.unanswered,
    ) and set(made.runs.values_list("pk", flat=True)) == {run.pk for run in draw.runs}


class _Population:
    """The items that each run was asked, by revision; of an item that is left out of the project's figures nothing."""

    def __init__(self, draw: Draw) -> None:
        self.asked = draw
        left_out = Exclusion.objects.standing().filter(item=OuterRef("revision__item"))
        # Of several answers of one run to an item the first is judged, as in the paper.
        rows = (
            Prediction.objects.filter(run__in=draw.runs, repeat=0)
            .exclude(state__in=_NOT_ASKED)
            .exclude(Exists(left_out))
            .order_by("run", "position")
            .values_list("run_id", "revision_id", "revision__item__external_id", "revision__number", "revision__item")
        )
        self.key_of: dict[int, str] = {}
        self._of_run: dict[int, list[int]] = {run.pk: [] for run in draw.runs}
        item_of: dict[int, int] = {}
        for run, revision, external_id, number, item in rows:
            self._of_run[run].append(revision)
            # Two wordings of one item are two items here.
            self.key_of[revision] = external_id if number == 1 else f"{external_id} {number}"
            item_of[revision] = item
        self._stratum = self._strata(item_of) if draw.stratum else {}

    def draw(self, sides: Sequence[tuple[Run, ...]]) -> list[tuple[DrawnOf, list[int]]]:
        """For each run, or pair of runs, what was drawn of it: revisions, in the order of the first run."""
        if self.asked.rule == JudgeSample.Rule.SAME_ITEMS:
            everywhere = self._shared(self.asked.runs)
            revisions = self._drawn(everywhere, self.asked.seed)
            return [(self._part(side, everywhere, revisions), revisions) for side in sides]
        found = []
        for side in sides:
            there = self._shared(side)
            name = "\n".join(sorted(run.name for run in side))
            revisions = self._drawn(there, _number(f"{self.asked.seed}:{name}"))
            found.append((self._part(side, there, revisions), revisions))
        return found

    def _shared(self, runs: Iterable[Run]) -> list[int]:
        first, *others = (self._of_run[run.pk] for run in runs)
        kept = set(first).intersection(*others)
        return [revision for revision in first if revision in kept]

    def _drawn(self, there: list[int], seed: int) -> list[int]:
        if not there:
            return []
        keys = [self.key_of[revision] for revision in there]
        n = min(self.asked.n, len(keys))
        if not self.asked.stratum:
            return [there[place] for place in draw_simple(keys, n, seed=seed)]
        strata = {self.key_of[revision]: self._stratum[revision] for revision in there}
        return [there[place] for place in draw_in_proportion(keys, strata, n, seed=seed)]

    def _part(self, side: tuple[Run, ...], there: list[int], drawn: list[int]) -> DrawnOf:
        strata = Counter(self._stratum[revision] for revision in there) if self.asked.stratum else Counter()
        of_drawn = Counter(self._stratum[revision] for revision in drawn) if self.asked.stratum else Counter()
        return DrawnOf(
            runs=tuple(run.name for run in side),
            n_population=len(there),
            n_drawn=len(drawn),
            n_short=self.asked.n - len(drawn),
            strata=tuple((value, strata[value], of_drawn[value]) for value in sorted(strata)),
        )

    def _strata(self, item_of: Mapping[int, int]) -> dict[int, str]:
        """The value of the stratum of each revision; of several the first, of none "(none)"."""
        name, items = self.asked.stratum, sorted(set(item_of.values()))
        value_of: dict[int, str] = {}
        for start in range(0, len(items), _BATCH):
            rows = ItemKey.objects.filter(item__in=items[start : start + _BATCH]).values_list("item", "strata")
            for item, strata in rows:
                value_of[item] = next((value for key, value in strata if key == name), "(none)")
        found = {revision: value_of.get(item, "(none)") for revision, item in item_of.items()}
        if found and set(found.values()) == {"(none)"}:
            raise WorkNotPossible(_("None of these items has a stratum called %(name)s.", name=repr(name)))
        return found


def _said(
    draw: Draw, answered: FieldSpec, population: _Population, chosen: Sequence[tuple[DrawnOf, list[int]]]
) -> dict[tuple[int, int], Outcome]:
    """What each run said of each item that was drawn, by run and revision."""
    revisions = sorted({revision for _, drawn in chosen for revision in drawn})
    specs = {run.pk: _answered_field(run) for run in draw.runs}
    found: dict[tuple[int, int], Outcome] = {}
    for start in range(0, len(revisions), _BATCH):
        rows = list(
            Prediction.objects.filter(run__in=draw.runs, repeat=0, revision__in=revisions[start : start + _BATCH])
            .exclude(state__in=_NOT_ASKED)
            .values_list("pk", "run_id", "revision_id", "state", "answer", "revision__language")
        )
        # A completion is read only where it is shown: it may be long.
        spoken = [row[0] for row in rows if _shows_completion(draw, row[3])]
        completions = _completions(spoken)
        for pk, run, revision, state, answer, language in rows:
            if _shows_completion(draw, state):
                value = completions.get(pk, "").strip() or None
            elif state == Prediction.State.ANSWERED:
                value = shown_answer((answer or {}).get(answered.name), specs[run], language)
            else:
                value = None
            found[run, revision] = Outcome(pk, state, value)
    return found


def _completions(predictions: Sequence[int]) -> dict[int, str]:
    """What was said last, where each call builds on the one before; else all that was said."""
    found: dict[int, str] = {}
    calls = Call.objects.filter(prediction__in=predictions).order_by("step")
    for pk, completion, strategy in calls.values_list("prediction_id", "completion", "prediction__run__strategy"):
        before = "" if strategy_of(strategy).kind == "stages" or pk not in found else f"{found[pk]}\n\n"
        found[pk] = before + completion
    return found


def _shows_completion(draw: Draw, state: str) -> bool:
    if state == Prediction.State.ANSWERED:
        return draw.shows == JudgeSample.Shows.COMPLETION
    return draw.unanswered == JudgeSample.Unanswered.AS_SAID


def shown_answer(value: Any, spec: FieldSpec, language: str) -> Any:
    """An answer as a block of content, which is how judges see it: options by their captions, tables as grids.

    None for no answer: an empty list is one.
    """
    if value is None:
        return None
    if isinstance(value, dict) and "rows" in value:
        return {"type": "grid", "columns": list(value["columns"]), "rows": [list(row) for row in value["rows"]]}
    if spec.type == "list" and isinstance(value, list):
        return list(value)
    return get_field_type(spec.type).in_words(value, spec.in_language(language))


def _drawn(outcomes: Sequence[Outcome], revision: int, key: str, seed: int) -> Drawn:
    first = outcomes[0]
    if len(outcomes) == 1:
        content = None if first.value is None else [[ANSWER, first.value]]
        return Drawn(revision, first.prediction, None, content)
    second = outcomes[1]
    if first.value is None or second.value is None:
        return Drawn(revision, first.prediction, second.prediction, None)
    hashes = [hash_content([[ANSWER, one.value]]) for one in outcomes]
    is_same = hashes[0] == hashes[1]
    # By the answers, not by the runs: the same two answers of other runs come in the same order.
    in_order = sorted(zip(hashes, outcomes, strict=True), key=lambda pair: pair[0])
    if _number(f"{seed}:{key}:{':'.join(sorted(hashes))}") % 2:
        in_order.reverse()
    first, second = (outcome for _, outcome in in_order)
    return Drawn(revision, first.prediction, second.prediction, [[FIRST, first.value], [SECOND, second.value]], is_same)


def _store_places(stage: Stage, plan: Plan, candidates: Mapping[tuple[int, str], int]) -> None:
    """The queue: items in an order drawn by the seed, the answers to one item beside each other."""
    seed = plan.draw.seed
    judged = {
        (one.revision, hash_content(one.content)): None
        for one in plan.drawn
        if one.content is not None and not one.is_same
    }
    revisions: dict[int, ItemRevision] = {}
    wanted = sorted({revision for revision, _ in judged})
    for start in range(0, len(wanted), _BATCH):
        rows = ItemRevision.objects.filter(pk__in=wanted[start : start + _BATCH]).select_related("item")
        revisions |= {row.pk: row for row in rows.defer("content")}

    def rank(place: tuple[int, str]) -> tuple[int, str]:
        item = revisions[place[0]].item
        return _number(f"{seed}:{item.external_id}"), place[1]

    StageItem.objects.bulk_create(
        (
            StageItem(
                stage=stage,
                revision_id=revision,
                candidate_id=candidates[revision, digest],
                rank=position,
                language=revisions[revision].language,
                author_id=revisions[revision].item.author_id,
                wanted=stage.overlap,
            )
            for position, (revision, digest) in enumerate(sorted(judged, key=rank))
        ),
        batch_size=_BATCH,
    )


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
