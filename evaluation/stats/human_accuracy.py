"""How right people are: the mean person, the vote of k people, and each against the vote of the others.

Scores come as a matrix in [0, 1], shape (n_items, n_people), NaN where there is no score. A column is a person, or
one repeat of a model: a function here cannot tell which, and that is what makes the figures comparable.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from annotate.resolution import Status
from evaluation.stats.aggregation import majority_votes
from evaluation.stats.intervals import Bootstrap, Floats, Ints, root_codes
from evaluation.stats.means import (
    column_means,
    count_missing_as_wrong,
    mean_or_none,
    mean_over_people,
    pooled_mean,
    row_means,
    score_matrix,
)
from evaluation.stats.results import TOO_FEW, Estimate, with_note


@dataclass(frozen=True)
class PersonMean:
    """One person's share: the mean over the answers given, and over all that could have been given."""

    person: str
    answered: float | None
    all_items: float | None
    n_answered: int
    n_all: int


@dataclass(frozen=True)
class MeanPerson:
    """The mean over people of each person's mean score, by both denominators.

    answered: over the answers given. all_items: a missing answer counts as 0. pooled: every answer given weighs the
    same, whoever gave it. sd: sample standard deviation of the people's `answered` means, None for fewer than two.
    """

    answered: Estimate
    all_items: Estimate
    pooled: Estimate
    sd: float | None
    per_person: tuple[PersonMean, ...]


@dataclass(frozen=True)
class VoteOfK:
    """The accuracy of people's votes, by both denominators, and how the votes ended.

    all_items: a tie and an item without votes count as wrong. resolved: only items where the vote has a winner.
    n_unscored: winners that the scorer cannot score; wrong in the first, left out of the second.
    coverage: share of items whose vote has a winner. votes_per_item: (k, number of items with k votes).
    """

    all_items: Estimate
    resolved: Estimate
    coverage: float | None
    n_unanimous: int
    n_majority: int
    n_plurality: int
    n_tied: int
    n_no_votes: int
    n_unscored: int
    votes_per_item: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class LeaveOneOut:
    """Each person, and a model, against the vote of the other people on the same items.

    person: mean over people of the share of a person's answers that equal the others' vote. model: the same for the
    model's answers to the very items of each person. difference: person - model. n_without_reference: answers that
    could not be compared, because the others tied or were too few.
    """

    person: Estimate
    model: Estimate | None
    difference: Estimate | None
    n_without_reference: int


@dataclass(frozen=True)
class BestPerson:
    """What the best of the people would score on items that did not choose them.

    accuracy: cross-fitted. in_sample: the highest of the people's own means over all items, which chance flatters.
    chosen: (person, number of folds that chose this person), most first. n_eligible: people who answered enough.
    """

    accuracy: Estimate
    in_sample: float | None
    chosen: tuple[tuple[str, int], ...]
    n_eligible: int


def mean_person(
    scores: npt.ArrayLike,
    *,
    offered: npt.ArrayLike | None = None,
    roots: npt.ArrayLike | None = None,
    people: Sequence[str] | None = None,
    bootstrap: Bootstrap | None = None,
    voices: str = "people",
) -> MeanPerson:
    """The mean over people of each one's mean score.

    scores: in [0, 1], shape (n_items, n_people), NaN where there is none. offered: truth values of the same shape, the
    answers that could have been given and scored (not the items without gold); None means all. roots: shape
    (n_items,). people: their names. voices: what to call them in notes.
    A person who was offered items and answered none is part of all_items, with 0, but not of answered.
    Undefined (no_trials) without a score. From 10 people on the interval resamples people and roots, else roots only,
    and a note says so; a single right-or-wrong answer for each independent item gets Wilson's interval.
    Raises ValueError for shapes that do not fit, a score outside [0, 1], or one that was not offered.
    """
    values = score_matrix(scores)
    n_items, n_people = values.shape
    expected = np.ones(values.shape, dtype=bool) if offered is None else np.asarray(offered, dtype=bool)
    if expected.shape != values.shape:
        raise ValueError("offered must have the shape of scores.")
    if (~expected & ~np.isnan(values)).any():
        raise ValueError("A score stands where nothing was offered.")
    names = [f"{voices} {i + 1}" for i in range(n_people)] if people is None else list(people)
    if len(names) != n_people:
        raise ValueError("There must be one name for each column of scores.")
    codes = root_codes(roots, n_items)
    filled = count_missing_as_wrong(values, expected)
    n_missing = int((expected & np.isnan(values)).sum())
    answered = mean_over_people("mean_person_answered", values, codes, bootstrap, voices)
    everything = mean_over_people("mean_person_all", filled, codes, bootstrap, voices)
    answered = replace(answered, n_left_out=n_missing)
    person_means = [float(value) for value in column_means(values) if not np.isnan(value)]
    return MeanPerson(
        answered=answered,
        all_items=everything,
        pooled=replace(pooled_mean(values, codes, bootstrap), n_left_out=n_missing),
        sd=float(np.std(person_means, ddof=1)) if len(person_means) > 1 else None,
        per_person=tuple(
            PersonMean(
                person=name,
                answered=mean_or_none(values[:, i]),
                all_items=mean_or_none(filled[:, i]),
                n_answered=int((~np.isnan(values[:, i])).sum()),
                n_all=int(expected[:, i].sum()),
            )
            for i, name in enumerate(names)
        ),
    )


def vote_of_k(
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    scorable: npt.ArrayLike | None = None,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> VoteOfK:
    """The accuracy of the answer with the most votes on each item.

    labels: whole numbers, shape (n_items, n_people), the answers' keys, -1 where missing. scores: of the same shape,
    the score of each answer, NaN where missing; a winner scores the mean of the answers that voted for it. scorable:
    shape (n_items,), False where there is no gold; None means that every item has gold.
    A tie is counted wrong in all_items, never broken, and left out of resolved; so is a winner without a score, which
    its gold label may not allow. A plurality wins; n_plurality tells how often. Undefined (no_trials) without an item.
    Raises ValueError for shapes that do not fit, or a scored answer without a label.
    """
    keys = np.asarray(labels)
    values = score_matrix(scores)
    if keys.shape != values.shape:
        raise ValueError("labels and scores must have the same shape.")
    if ((keys < 0) & ~np.isnan(values)).any():
        raise ValueError("A scored answer has no label.")
    counted = np.ones(keys.shape[0], dtype=bool) if scorable is None else np.asarray(scorable, dtype=bool)
    if counted.shape != (keys.shape[0],):
        raise ValueError("scorable must have one truth value for each item.")
    item_roots = np.arange(keys.shape[0]) if roots is None else np.asarray(roots)
    if item_roots.shape != counted.shape:
        raise ValueError("roots must have one root for each item.")
    keys, values = keys[counted], values[counted]
    codes = root_codes(item_roots[counted], keys.shape[0])
    votes = majority_votes(keys)
    winner_scores = _scores_of(votes.winners, keys, values)
    n_items = votes.winners.size
    resolved = int((votes.winners >= 0).sum())
    n_unscored = int(np.isnan(winner_scores[votes.winners >= 0]).sum())
    wrong_if_none = np.where(np.isnan(winner_scores), 0.0, winner_scores)
    note = "ties and items without votes count as wrong"
    if n_unscored:
        note = f"ties, items without votes and {n_unscored} that cannot be scored count as wrong"
    overall = mean_over_people("vote_of_k_all", wrong_if_none[:, np.newaxis], codes, bootstrap, "votes")
    decided = mean_over_people("vote_of_k_resolved", winner_scores[:, np.newaxis], codes, bootstrap, "votes")
    voters = int((keys >= 0).any(axis=0).sum())
    return VoteOfK(
        all_items=replace(with_note(overall, note), n_people=voters),
        resolved=replace(decided, n_left_out=n_items - resolved + n_unscored, n_people=voters),
        coverage=resolved / n_items if n_items else None,
        n_unanimous=votes.count(Status.UNANIMOUS),
        n_majority=votes.count(Status.MAJORITY),
        n_plurality=votes.count(Status.PLURALITY),
        n_tied=votes.count(Status.TIE),
        n_no_votes=votes.count(Status.NO_VOTES),
        n_unscored=n_unscored,
        votes_per_item=tuple(sorted(Counter(votes.n_votes.tolist()).items())),
    )


def chosen_label_accuracy(
    name: str,
    chosen: npt.ArrayLike,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    otherwise: npt.ArrayLike | None = None,
    scorable: npt.ArrayLike | None = None,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> tuple[Estimate, Estimate]:
    """The accuracy of one label for each item, however it was chosen: over all scorable items, and over the decided.

    chosen: shape (n_items,), -1 where nothing was decided, which is wrong in the first and left out of the second.
    labels, scores, scorable as in vote_of_k: a label scores as the answers that gave it. otherwise: shape (n_items,),
    the score of a chosen label that nobody gave, NaN where that is not known; the item is then left out of both. The
    choice is taken as it is: the interval does not speak of how it was made.
    """
    keys, values, picked = np.asarray(labels), score_matrix(scores), np.asarray(chosen)
    if keys.shape != values.shape or picked.shape != keys.shape[:1]:
        raise ValueError("labels and scores must have the same shape, and chosen one label for each item.")
    counted = np.ones(picked.shape, dtype=bool) if scorable is None else np.asarray(scorable, dtype=bool)
    given = _scores_of(picked, keys, values)
    if otherwise is not None:
        given = np.where(np.isnan(given), np.asarray(otherwise, dtype=np.float64), given)
    decided = np.where((picked >= 0) & counted, given, np.nan)
    everything = np.where((picked < 0) & counted, 0.0, decided)
    codes = root_codes(roots, picked.size)
    n_voters = int((keys >= 0).any(axis=0).sum())
    estimates = []
    for suffix, column in (("all", everything), ("resolved", decided)):
        estimate = mean_over_people(f"{name}_{suffix}", column[:, np.newaxis], codes, bootstrap, "votes")
        n_left_out = int((counted & np.isnan(column)).sum())
        estimates.append(replace(estimate, n_left_out=n_left_out, n_people=n_voters))
    return estimates[0], estimates[1]


def best_person(
    scores: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    people: Sequence[str] | None = None,
    n_folds: int = 5,
    seed: int = 0,
    bootstrap: Bootstrap | None = None,
) -> BestPerson:
    """The accuracy of whoever is best, chosen on other items than those that are scored (cross-fitting).

    scores: in [0, 1], shape (n_items, n_people), NaN where there is none. Roots are dealt into seeded folds; in each,
    the person with the highest mean over the other folds is scored, among those who answered at least half as much
    there as the busiest. People with the same mean share the place. Items of a fold that the chosen did not answer are
    left out and counted.
    Undefined (too_few) with fewer than two people or fewer roots than folds, (no_trials) without a score.
    Source: cross-fitting against the optimism of a maximum, as in Hastie, Tibshirani & Friedman 2009, section 7.10.
    """
    values = score_matrix(scores)
    n_items, n_people = values.shape
    names = [f"people {i + 1}" for i in range(n_people)] if people is None else list(people)
    if len(names) != n_people:
        raise ValueError("There must be one name for each column of scores.")
    if n_folds < 2:
        raise ValueError("Choosing and scoring need at least two folds.")
    codes = root_codes(roots, n_items)
    of_item = np.arange(n_items) if codes is None else codes
    n_roots = int(of_item.max()) + 1 if n_items else 0
    folds = np.random.default_rng([seed, n_folds]).permutation(n_roots) % n_folds
    fold_of = folds[of_item]
    held_out = np.full(n_items, np.nan)
    chosen_by: Counter[str] = Counter()
    eligible_ever = np.zeros(n_people, dtype=bool)
    for fold in range(n_folds):
        others = values[fold_of != fold]
        counts = (~np.isnan(others)).sum(axis=0)
        eligible = (counts > 0) & (2 * counts >= counts.max(initial=0))
        eligible_ever |= eligible
        means = np.where(eligible, column_means(others), -np.inf)
        best = eligible & (means >= means.max(initial=-np.inf) - 1e-12)
        chosen_by.update(name for name, is_best in zip(names, best, strict=True) if is_best)
        mine = fold_of == fold
        held_out[mine] = row_means(values[mine][:, best])
    estimate = mean_over_people("best_person", held_out[:, np.newaxis], codes, bootstrap, "people")
    n_scored = int((~np.isnan(values).all(axis=1)).sum())
    estimate = replace(estimate, n_left_out=n_scored - estimate.n, n_people=len(chosen_by))
    if n_people < 2 or n_roots < n_folds:
        estimate = replace(estimate, value=None, interval=None, undefined=TOO_FEW, note="")
    own = column_means(values)
    return BestPerson(
        accuracy=estimate,
        in_sample=None if np.isnan(own).all() else float(np.nanmax(own)),
        chosen=tuple(sorted(chosen_by.items(), key=lambda pair: (-pair[1], pair[0]))),
        n_eligible=int(eligible_ever.sum()),
    )


def leave_one_out(
    labels: npt.ArrayLike,
    model: npt.ArrayLike | None = None,
    *,
    model_asked: npt.ArrayLike | None = None,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    min_others: int = 2,
) -> LeaveOneOut:
    """Score each person, and the model, against the vote of the other people: the very same n-1 for both.

    labels: whole numbers, shape (n_items, n_people), -1 where missing. model: labels of the same coding, shape
    (n_items,), -1 where it gave no answer, which counts as wrong; None for people only. model_asked: truth values of
    that shape, False where the model was never asked, which is nobody's error: the item is then left out of model and
    difference. min_others: votes that the others must have cast; one other's answer is no vote.
    Answers where the others tie or are too few are left out for person and model alike. Undefined (too_few) with
    fewer than min_others + 1 people, (no_trials) without a comparable answer.
    """
    keys = np.asarray(labels)
    if keys.ndim != 2:
        raise ValueError("labels must be a two-dimensional array (items x people).")
    n_items, n_people = keys.shape
    answers = None if model is None else np.asarray(model)
    if answers is not None and answers.shape != (n_items,):
        raise ValueError("model must have one label for each item.")
    asked = np.ones(n_items, dtype=bool) if model_asked is None else np.asarray(model_asked, dtype=bool)
    if asked.shape != (n_items,):
        raise ValueError("model_asked must have one truth value for each item.")
    codes = root_codes(roots, n_items)
    agrees, winners = _against_others(keys, min_others)
    model_agrees = np.full(keys.shape, np.nan)
    if answers is not None:
        for person in range(n_people):
            both = ~np.isnan(agrees[:, person]) & asked
            model_agrees[both, person] = answers[both] == winners[both, person]
    n_left_out = int(((keys >= 0) & np.isnan(agrees)).sum())

    too_few = n_people < min_others + 1

    def figure(name: str, values: Floats, *, is_difference: bool = False) -> Estimate:
        estimate = mean_over_people(name, values, codes, bootstrap, "people", wilson_applies=not is_difference)
        left_out = int(((keys >= 0) & np.isnan(values)).sum())
        return replace(estimate, n_left_out=left_out, undefined=TOO_FEW if too_few else estimate.undefined)

    return LeaveOneOut(
        person=figure("leave_one_out_person", agrees),
        model=None if answers is None else figure("leave_one_out_model", model_agrees),
        difference=None
        if answers is None
        else figure("leave_one_out_difference", agrees - model_agrees, is_difference=True),
        n_without_reference=n_left_out,
    )


def each_against_others(
    labels: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
    min_others: int = 2,
) -> tuple[Estimate, ...]:
    """For each person, in the order of the columns, the share of their answers that equal the vote of the others.

    labels, roots, min_others: as in `leave_one_out`, whose `person` is the mean of these. n_left_out: answers that
    could not be compared, because the others tied or were too few. Undefined (too_few) with fewer than min_others + 1
    people, (no_trials) without a comparable answer. With an answer for each independent item the interval is Wilson's,
    else it resamples roots. To look at, one person at a time: that somebody is the lowest of many is no finding.
    """
    keys = np.asarray(labels)
    if keys.ndim != 2:
        raise ValueError("labels must be a two-dimensional array (items x people).")
    codes = root_codes(roots, keys.shape[0])
    agrees, _ = _against_others(keys, min_others)
    found = []
    for person in range(keys.shape[1]):
        own = agrees[:, [person]]
        estimate = mean_over_people("equals_vote_of_others", own, codes, bootstrap, "people")
        left_out = int(((keys[:, person] >= 0) & np.isnan(own[:, 0])).sum())
        undefined = TOO_FEW if keys.shape[1] < min_others + 1 else estimate.undefined
        found.append(replace(estimate, n_left_out=left_out, undefined=undefined))
    return tuple(found)


def _against_others(keys: npt.NDArray[np.int64], min_others: int) -> tuple[Floats, Ints]:
    """Of the shape of the labels: whether each equals the vote of the others, NaN where none is, and that vote."""
    agrees = np.full(keys.shape, np.nan)
    winners = np.full(keys.shape, -1)
    for person in range(keys.shape[1]):
        others = majority_votes(np.delete(keys, person, axis=1))
        compared = (keys[:, person] >= 0) & (others.winners >= 0) & (others.n_votes >= min_others)
        agrees[compared, person] = keys[compared, person] == others.winners[compared]
        winners[:, person] = others.winners
    return agrees, winners


def mean_person_difference(
    scores: npt.ArrayLike,
    model: npt.ArrayLike,
    *,
    roots: npt.ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """Mean person - model, each person compared with the model on exactly the items that both have scores for.

    scores: in [0, 1], shape (n_items, n_people), NaN where missing. model: shape (n_items,), or (n_items, n_repeats),
    averaged over repeats first. The value is the mean over people of the mean difference on a person's items; where
    all people answered all items it is the plain difference of the two accuracies.
    Undefined (no_trials) without a shared item. People and roots are resampled as in mean_person.
    """
    values = score_matrix(scores)
    answers = np.asarray(model, dtype=np.float64)
    answers = answers if answers.ndim == 1 else row_means(score_matrix(answers))
    if answers.shape != values.shape[:1]:
        raise ValueError("model must have one score for each item.")
    differences = values - answers[:, np.newaxis]
    estimate = mean_over_people(
        "mean_person_difference",
        differences,
        root_codes(roots, values.shape[0]),
        bootstrap,
        "people",
        wilson_applies=False,
    )
    return replace(estimate, n_left_out=int((np.isnan(differences) & ~np.isnan(values)).sum()))


def _scores_of(chosen: Ints, keys: Ints, values: Floats) -> Floats:
    """For each item the mean score of the answers that gave the chosen label, NaN where none did."""
    gave_it = (keys == chosen[:, np.newaxis]) & (chosen >= 0)[:, np.newaxis]
    return row_means(np.where(gave_it, values, np.nan))
