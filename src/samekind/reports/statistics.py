"""Statistics of a comparison: Student, signed ranks, Holm, Friedman and Nemenyi.

References: Wilcoxon 1945; Holm 1979; Demšar, "Statistical comparisons of classifiers over
multiple data sets", JMLR 7, 2006 (Friedman and Nemenyi, section 3.2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.errors import InputError

Floats = NDArray[np.float64]
MAX_EXACT = 50
"""Differences (zeros left out) up to which the signed-rank test is exact."""
_DECIMALS = 10
"""Differences beyond this many decimals are noise of the arithmetic, not of a method."""


@dataclass(frozen=True)
class SignedRank:
    """Result of a two-sided Wilcoxon signed-rank test.

    Parameters
    ----------
    p : probability of ranks at least as lopsided when neither side is better.
    statistic : the smaller of the two sums of ranks. n : differences that are not zero.
    exact : whether all 2^n signs were counted; else the normal approximation.
    """

    p: float
    statistic: float
    n: int
    exact: bool


def mean_interval(parts: Sequence[ArrayLike]) -> tuple[Floats, Floats, Floats]:
    """Mean of the means of the parts with the ends of its 95 % interval (Student's t).

    This is the one interval of the package: in bands, in tables and in ``docs/results.md``. A part
    holds the seeds of one block along its first axis. With several parts the variances of their
    means add up, and the degrees of freedom are those of Welch and Satterthwaite. A part of one
    seed adds nothing to the width.

    Student's interval was chosen over the percentile bootstrap because there are few seeds: of
    normal values it holds the true mean in 95 % of all cases, the bootstrap in 73 % (3 seeds), 84 %
    (5) or 89 % (10). The interval tells what other seeds would change on the same sets. It says
    nothing about other sets. A score cannot exceed 1, so neither does the upper end.

    >>> [round(float(end), 3) for end in mean_interval([[0.5, 0.6, 0.7]])]
    [0.6, 0.352, 0.848]
    """
    arrays = [np.asarray(part, dtype=np.float64) for part in parts]
    if not arrays or any(not len(array) for array in arrays):
        raise InputError("Expected at least one value in each part, got none.")
    mean: Floats = np.mean([array.mean(axis=0) for array in arrays], axis=0)
    half = half_width(arrays)
    return mean, mean - half, np.maximum(mean, np.minimum(mean + half, 1.0))


def half_width(parts: Sequence[Floats]) -> Floats:
    """Half the width of the interval of :func:`mean_interval`; 0 where all parts have one seed."""
    from scipy.stats import t

    several = [part for part in parts if len(part) > 1]
    if not several:
        return np.zeros(parts[0].shape[1:])
    # Variance of the mean of each part, as a share of the mean of all parts. (parts, ...)
    shares = np.stack([part.var(axis=0, ddof=1) / len(part) for part in several]) / len(parts) ** 2
    freedom = np.array([len(part) - 1.0 for part in several])
    total = shares.sum(axis=0)
    spread = np.tensordot(1 / freedom, shares**2, axes=1)
    degrees = np.where(total > 0, total**2 / np.where(spread > 0, spread, 1), freedom.sum())
    return np.asarray(t.ppf(0.975, degrees) * np.sqrt(total))


def signed_rank(differences: ArrayLike) -> SignedRank:
    """Two-sided Wilcoxon test of paired differences.

    Zeros are left out (Wilcoxon's own way) and tied sizes share their mean rank. Up to
    :data:`MAX_EXACT` differences all signs are counted, ties or not.

    >>> signed_rank([1, 2, 3, 4, 5, 6]).p
    0.03125
    """
    from scipy.stats import rankdata, wilcoxon

    found = np.round(np.asarray(differences, dtype=np.float64), _DECIMALS)
    found = found[found != 0]
    n = len(found)
    if not n:
        return SignedRank(1.0, 0.0, 0, True)
    ranks = rankdata(np.abs(found))
    below = float(min(ranks[found > 0].sum(), ranks[found < 0].sum()))
    if n > MAX_EXACT:
        p = float(wilcoxon(found, zero_method="wilcox", correction=False, method="approx").pvalue)
        return SignedRank(p, below, n, False)
    doubled = np.rint(2 * ranks).astype(np.int64)  # mean ranks end in .0 or .5
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():  # ways[s]: share of the signs whose positive ranks sum to s / 2
        moved = np.zeros_like(ways)
        moved[rank:] = ways[: len(ways) - rank]
        ways = (ways + moved) / 2
    tail = float(ways[: round(2 * below) + 1].sum())
    return SignedRank(min(1.0, 2 * tail), below, n, True)


def holm(p: ArrayLike) -> Floats:
    """P-values corrected for their number, step by step (Holm); never in another order.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    found = np.asarray(p, dtype=np.float64)
    order = np.argsort(found, kind="stable")
    steps = found[order] * np.arange(len(found), 0, -1)
    corrected = np.empty_like(found)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return corrected


def mean_ranks(values: ArrayLike) -> Floats:
    """Mean rank of each column over the rows; 1 is the largest value, ties share their rank.

    >>> mean_ranks([[0.9, 0.5, 0.5], [0.8, 0.9, 0.1]]).tolist()
    [1.5, 1.75, 2.75]
    """
    from scipy.stats import rankdata

    table = np.round(np.asarray(values, dtype=np.float64), _DECIMALS)
    found: Floats = rankdata(-table, axis=1).mean(axis=0)
    return found


def friedman(values: ArrayLike) -> tuple[float, float]:
    """Chi-square and p-value of the Friedman test: rows are sets, columns at least 3 systems."""
    from scipy.stats import friedmanchisquare

    table = np.round(np.asarray(values, dtype=np.float64), _DECIMALS)
    if table.ndim != 2 or table.shape[1] < 3 or table.shape[0] < 2:
        raise InputError(
            f"Expected at least 2 rows and 3 columns for a Friedman test, got {table.shape}."
        )
    if bool((table == table[:, :1]).all()):
        return 0.0, 1.0  # nothing differs: the statistic would be 0 / 0
    done = friedmanchisquare(*table.T)
    return float(done.statistic), float(done.pvalue)


def nemenyi(systems: int, blocks: int, *, alpha: float = 0.05) -> float:
    """Critical difference of mean ranks: closer systems do not differ significantly.

    >>> round(nemenyi(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - alpha, systems, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(systems * (systems + 1) / (6 * blocks)))


def indistinguishable(ranks: ArrayLike, critical: float) -> list[tuple[int, int]]:
    """Largest stretches (first, last) of rising ranks whose ends differ by at most `critical`.

    >>> indistinguishable([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found = np.asarray(ranks, dtype=np.float64)
    stretches: list[tuple[int, int]] = []
    for first in range(len(found)):
        last = int(np.searchsorted(found, found[first] + critical, side="right")) - 1
        if last > first and (not stretches or last > stretches[-1][1]):
            stretches.append((first, last))
    return stretches


def without_gaps(gaps: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """Rows and columns of a part without gaps: what has the largest share of gaps goes first.

    >>> without_gaps(np.array([[False, True], [False, False], [False, False]]))
    ([1, 2], [0, 1])
    """
    rows, columns = np.arange(gaps.shape[0]), np.arange(gaps.shape[1])
    while len(rows) and len(columns):
        left = gaps[np.ix_(rows, columns)]
        if not left.any():
            break
        by_row, by_column = left.mean(axis=1), left.mean(axis=0)
        if by_column.max() > by_row.max():
            columns = np.delete(columns, int(by_column.argmax()))
        else:
            rows = np.delete(rows, int(by_row.argmax()))
    return rows.tolist(), columns.tolist()


def median_with_never(values: Sequence[float | None]) -> float | None:
    """Median where None stands for "never", later than all others; None: the median is never.

    >>> median_with_never([10, None, 30]), median_with_never([10, None])
    (30.0, None)
    """
    found = float(np.median([np.inf if value is None else value for value in values]))
    return found if np.isfinite(found) else None
