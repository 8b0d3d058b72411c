"""The largest number of expected things that can be paired with matching actual ones, one to one."""

from collections.abc import Mapping, Sequence

# Above this many pairs of distinct things the question is refused rather than answered after minutes.
MAX_PAIRS = 2_000_000
# Some hundred tables a second: from here on child processes are done sooner.
TABLES_PAY_FROM = 2_000


class TooManyPairs(ValueError):
    """There are too many matching pairs to find the best assignment among."""


def n_paired(n_expected: Sequence[int], n_actual: Sequence[int], matches: Mapping[int, Sequence[int]]) -> int:
    """How many of the expected can be paired, at most.

    n_expected, n_actual: how often each distinct thing occurs. matches: for an expected thing the actual ones that it
    may be paired with. Not greedy: expected 100 and 110 against 109 and 92 give 2, though 100 is nearer to 109.
    Equal things are interchangeable, so this is a flow between distinct ones. Raises TooManyPairs.
    """
    edges = [(one, other) for one, others in matches.items() for other in others]
    if len(edges) > MAX_PAIRS:
        raise TooManyPairs(f"more than {MAX_PAIRS:,} matching pairs")
    partners = [0] * len(n_actual)
    for _, other in edges:
        partners[other] += 1
    if all(len(others) <= 1 for others in matches.values()) and max(partners, default=0) <= 1:
        return sum(min(n_expected[one], n_actual[other]) for one, other in edges)
    return _flow(n_expected, n_actual, edges)


def _flow(n_expected: Sequence[int], n_actual: Sequence[int], edges: Sequence[tuple[int, int]]) -> int:
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n, m = len(n_expected), len(n_actual)
    source, sink = 0, n + m + 1
    # Source -> expected -> actual -> sink; what may flow is how often each occurs.
    tails = [source] * n + [one + 1 for one, _ in edges] + [n + 1 + other for other in range(m)]
    heads = [one + 1 for one in range(n)] + [n + 1 + other for _, other in edges] + [sink] * m
    room = [*n_expected, *(min(n_expected[one], n_actual[other]) for one, other in edges), *n_actual]
    network = csr_array((np.array(room, dtype=np.int32), (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, source, sink).flow_value)
