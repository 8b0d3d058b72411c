"""The spread of accuracy over a grid of depth and width, as StrucText-Eval reports it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.stats.results import NO_TRIALS, TOO_FEW


@dataclass(frozen=True)
class GridSpread:
    """means: (depth, width) -> mean score, None for a cell without a score. n_cells: cells with one. n: scores.

    std_sample divides by cells - 1 and needs two of them; std_population by cells. The paper does not say which is its.
    """

    means: dict[tuple[object, object], float | None]
    std_sample: float | None
    std_population: float | None
    n_cells: int
    n: int
    undefined: str = ""


def spread_over_grid(depths: npt.ArrayLike, widths: npt.ArrayLike, scores: npt.ArrayLike) -> GridSpread:
    """Mean score of every cell that an item stands in, and the standard deviation over filled cells.

    depths, widths, scores: shape (n_items,), a NaN score is none. Each cell weighs the same, however many items it has.
    Raises ValueError for other shapes.
    """
    values = np.asarray(scores, dtype=np.float64)
    where = list(zip(np.asarray(depths).tolist(), np.asarray(widths).tolist(), strict=True))
    if values.shape != (len(where),):
        raise ValueError("There must be one depth, one width and one score for each item.")
    cells: dict[tuple[object, object], list[float]] = {cell: [] for cell in sorted(set(where))}
    for cell, value in zip(where, values.tolist(), strict=True):
        if not np.isnan(value):
            cells[cell].append(value)
    means = {cell: float(np.mean(found)) if found else None for cell, found in cells.items()}
    filled = [mean for mean in means.values() if mean is not None]
    n = sum(map(len, cells.values()))
    if not filled:
        return GridSpread(means, None, None, 0, n, undefined=NO_TRIALS)
    sample = float(np.std(filled, ddof=1)) if len(filled) > 1 else None
    return GridSpread(
        means, sample, float(np.std(filled)), len(filled), n, undefined="" if sample is not None else TOO_FEW
    )
