"""Tests of a difference between two sets of scores on the same items.

A test is about one comparison that was named before. Several are adjusted together (multiplicity.py).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.stats.intervals import Bootstrap, Floats, root_codes
from evaluation.stats.means import score_matrix
from evaluation.stats.paired import item_means
from evaluation.stats.results import NO_DISCORDANT, NO_TRIALS

# Up to this many roots that differ every assignment of signs is tried: 4,096 of them.
MAX_EXACT_ROOTS = 12


@dataclass(frozen=True)
class McNemar:
    """b: first right and second wrong; c: the other way round. n: items that both have.

    exact_p and mid_p: two-sided. chi2 and chi2_p without, chi2_cc and chi2_cc_p with continuity correction, None
    (no_discordant) where no item tells the two apart: then nothing speaks against equality, and p is 1.
    """

    b: int
    c: int
    n: int | None
    exact_p: float
    mid_p: float
    chi2: float | None
    chi2_p: float | None
    chi2_cc: float | None
    chi2_cc_p: float | None
    undefined: str = ""


@dataclass(frozen=True)
class PermutationTest:
    """p: two-sided, None (no_trials) without a shared item. difference: first - second.

    n: shared items. n_left_out: items that only one side has. n_roots: independent groups among them. method: all
    assignments, or how many random ones; seed: of these, else None.
    """

    p: float | None
    difference: float | None
    n: int
    n_left_out: int
    n_roots: int
    method: str = ""
    n_permutations: int | None = None
    seed: int | None = None
    undefined: str = ""


def mcnemar(b: int, c: int, n: int | None = None) -> McNemar:
    """McNemar's test from the two discordant counts. Only for one independent right-or-wrong answer per root.

    Raises ValueError for a negative count. Mid-p is 2 P(X <= min) - P(X = min), X ~ Bin(b + c, 1/2).
    Source: Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13:91.
    """
    if b < 0 or c < 0:
        raise ValueError("Counts of discordant items cannot be negative.")
    b, c = int(b), int(c)
    discordant, fewer = b + c, min(b, c)
    if not discordant:
        return McNemar(b, c, n, 1.0, 1.0, None, None, None, None, undefined=NO_DISCORDANT)
    from scipy.special import bdtr

    up_to = float(bdtr(fewer, discordant, 0.5))
    here = up_to - (float(bdtr(fewer - 1, discordant, 0.5)) if fewer else 0.0)
    # Where b = c both halves share the middle: the exact p is 1, and mid-p leaves half of the middle out.
    mid_p = 1 - here / 2 if b == c else 2 * up_to - here
    chi2, chi2_cc = (b - c) ** 2 / discordant, (abs(b - c) - 1) ** 2 / discordant
    return McNemar(
        b=b,
        c=c,
        n=n,
        exact_p=min(1.0, 2 * up_to),
        mid_p=mid_p,
        chi2=chi2,
        chi2_p=_chi2_p(chi2),
        chi2_cc=chi2_cc,
        chi2_cc_p=_chi2_p(chi2_cc),
    )


def mcnemar_of_scores(first: npt.ArrayLike, second: npt.ArrayLike) -> McNemar:
    """The same from two arrays of 0, 1 and NaN (missing, left out on both sides), shape (n_items,) each.

    Raises ValueError for other shapes or other scores.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError("first and second must have one score for each of the same items.")
    shared = ~np.isnan(one) & ~np.isnan(other)
    one, other = one[shared], other[shared]
    if not (np.isin(one, (0, 1)).all() and np.isin(other, (0, 1)).all()):
        raise ValueError("McNemar's test is about answers that are right or wrong, not about scores in between.")
    return mcnemar(int((one > other).sum()), int((one < other).sum()), int(shared.sum()))


def permutation_test(
    first: npt.ArrayLike, second: npt.ArrayLike, *, roots: npt.ArrayLike | None = None, bootstrap: Bootstrap
) -> PermutationTest:
    """Is the mean difference larger than when first and second are swapped at random, root by root?

    first, second: scores in [0, 1], NaN where missing, shape (n_items,) or (n_items, n_repeats); repeats are averaged
    per item first. roots: shape (n_items,); all items of a root are swapped together. bootstrap: its seed and number of
    resamples, for the random assignments; with up to 12 roots that differ, all assignments are tried.
    p counts the observed assignment among the random ones, so it is never 0. Raises ValueError as paired_difference.
    """
    one, other = item_means(first), item_means(second)
    if one.shape != other.shape:
        raise ValueError("first and second must have scores for the same items, in the same order.")
    shared = ~np.isnan(one) & ~np.isnan(other)
    n_left_out = int((np.isnan(one) != np.isnan(other)).sum())
    return _swapped_at_random(one - other, shared, n_left_out, roots, bootstrap)


def permutation_test_of_people(
    scores: npt.ArrayLike, model: npt.ArrayLike, *, roots: npt.ArrayLike | None = None, bootstrap: Bootstrap
) -> PermutationTest:
    """The same for mean person - model, where everybody is swapped with the model on a root at once.

    scores: shape (n_items, n_people), NaN where missing; model: (n_items,) or (n_items, n_repeats), averaged first. The
    difference is that of mean_person_difference: a person's items weigh as much as that person answered few of them.
    Where all people answered all items it is permutation_test. Raises ValueError as mean_person_difference.
    """
    values, answers = score_matrix(scores), item_means(model)
    if answers.shape != values.shape[:1]:
        raise ValueError("model must have one score for each item.")
    differences = values - answers[:, np.newaxis]
    given = ~np.isnan(differences)
    per_person = given.sum(axis=0)
    n_people = int((per_person > 0).sum())
    shared = np.asarray(given.any(axis=1), dtype=bool)
    # What each item adds to the mean over people, times the number of items: their mean is the difference.
    shares = np.where(given, differences, 0.0) / np.maximum(per_person, 1)
    moves = shares.sum(axis=1) * int(shared.sum()) / max(n_people, 1)
    has_people, has_model = (~np.isnan(values)).any(axis=1), ~np.isnan(answers)
    return _swapped_at_random(moves, shared, int((has_people != has_model).sum()), roots, bootstrap)


def _swapped_at_random(
    differences: Floats,
    shared: npt.NDArray[np.bool_],
    n_left_out: int,
    roots: npt.ArrayLike | None,
    bootstrap: Bootstrap,
) -> PermutationTest:
    """The test that the mean of the shared items' differences is none; differences, shared: shape (n_items,)."""
    n = int(shared.sum())
    if not n:
        return PermutationTest(None, None, 0, n_left_out, 0, undefined=NO_TRIALS)
    codes = root_codes(roots, differences.size)
    kept = root_codes(np.flatnonzero(shared) if codes is None else codes[shared], n)
    differences = differences[shared]
    sums: Floats = differences if kept is None else np.bincount(kept, weights=differences).astype(np.float64)
    result: dict[str, Any] = {
        "difference": float(differences.mean()),
        "n": n,
        "n_left_out": n_left_out,
        "n_roots": sums.size,
    }
    # A root whose differences cancel is the same with either sign.
    moving = np.abs(sums[np.abs(sums) > 1e-12])
    # Sums of fractions differ in their last digits; what is equal but for these is as extreme.
    observed = abs(float(sums.sum())) - 1e-9
    if moving.size <= MAX_EXACT_ROOTS:
        assignments = (np.arange(2**moving.size)[:, np.newaxis] >> np.arange(moving.size)) & 1
        totals = (1 - 2 * assignments) @ moving if moving.size else np.zeros(1)
        return PermutationTest(
            p=float((np.abs(totals) >= observed).mean()),
            method=f"all {totals.size:,} assignments of signs to roots",
            n_permutations=int(totals.size),
            **result,
        )
    as_extreme = sum(int((np.abs(block) >= observed).sum()) for block in _random_totals(moving, bootstrap))
    return PermutationTest(
        p=(1 + as_extreme) / (1 + bootstrap.n_resamples),
        method="random signs of roots",
        n_permutations=bootstrap.n_resamples,
        seed=bootstrap.seed,
        **result,
    )


def _random_totals(sums: Floats, bootstrap: Bootstrap) -> Any:
    rng = bootstrap.generator("signs")
    block = max(1, 4_000_000 // sums.size)
    for start in range(0, bootstrap.n_resamples, block):
        size = min(block, bootstrap.n_resamples - start)
        yield (1 - 2 * rng.integers(0, 2, size=(size, sums.size), dtype=np.int8)) @ sums


def _chi2_p(chi2: float) -> float:
    """Upper tail of the chi-squared distribution with one degree of freedom."""
    return math.erfc(math.sqrt(chi2 / 2))
