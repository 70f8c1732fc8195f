"""Pairwise comparison of systems over blocks, or over seeds where blocks are few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from samekind.reports.statistics import (
    friedman,
    holm,
    indistinguishable,
    mean_ranks,
    nemenyi,
    signed_rank,
    without_gaps,
)
from samekind.reports.study import Study

Floats = NDArray[np.float64]
MIN_BLOCKS = 6
"""Blocks needed to use them as units: with fewer, no exact signed-rank test could reach .05."""
MIN_UNITS = 5
"""Units needed for ranks: with fewer, the critical difference would exceed them."""


@dataclass(frozen=True)
class Pair:
    """Two systems compared over the units that both have.

    Parameters
    ----------
    difference : median of first minus second. wins, ties, losses : of the first.
    p, corrected : before and after Holm's correction over all pairs. exact : see signed_rank.
    """

    first: str
    second: str
    difference: float
    wins: int
    ties: int
    losses: int
    p: float
    corrected: float
    exact: bool


@dataclass(frozen=True, eq=False)
class Comparison:
    """Areas of all systems, unit by unit.

    Parameters
    ----------
    systems : columns. units : rows, by name. values : (units, systems), NaN where not run.
    blocks : how many blocks compare at least two systems.
    by_seed : whether a unit is a seed of a block.
    """

    systems: Sequence[str]
    units: Sequence[str]
    values: Floats
    blocks: int
    by_seed: bool

    @classmethod
    def of(cls, study: Study) -> Comparison:
        """Blocks as units when there are enough of them, else (block, seed)."""
        systems = [name for name in study.systems if any(s == name for _, s in study.areas)]
        blocks = [b for b in study.blocks if sum(found == b for found, _ in study.areas) > 1]
        by_seed = len(blocks) < MIN_BLOCKS
        units: list[str] = []
        rows: list[list[float]] = []
        for block in blocks:
            found = [study.areas.get((block, name), {}) for name in systems]
            name = study.block_name(block)
            if by_seed:
                for seed in sorted({seed for values in found for seed in values}):
                    units.append(f"{name}, seed {seed}")
                    rows.append([values.get(seed, np.nan) for values in found])
            else:
                units.append(name)
                rows.append([float(np.mean(list(v.values()))) if v else np.nan for v in found])
        values = np.array(rows, dtype=np.float64).reshape(len(units), len(systems))
        return cls(systems, units, values, len(blocks), by_seed)

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs of systems, the better-ranked first, corrected together."""
        found = []
        for a, b in combinations(range(len(self.systems)), 2):
            differences = self.values[:, a] - self.values[:, b]
            differences = np.round(differences[np.isfinite(differences)], 10)
            if len(differences):
                found.append((a, b, differences, signed_rank(differences)))
        corrected = holm([test.p for *_, test in found])
        return [
            Pair(
                self.systems[a],
                self.systems[b],
                float(np.median(differences)),
                int((differences > 0).sum()),
                int((differences == 0).sum()),
                int((differences < 0).sum()),
                test.p,
                float(p),
                test.exact,
            )
            for (a, b, differences, test), p in zip(found, corrected, strict=True)
        ]

    @property
    def against_first(self) -> list[Pair]:
        """The first-ranked system with each of the others."""
        return [pair for pair in self.pairs if pair.first == self.systems[0]]

    @cached_property
    def whole(self) -> Comparison:
        """The part without gaps, see :func:`~samekind.reports.statistics.without_gaps`."""
        rows, columns = without_gaps(np.isnan(self.values))
        return Comparison(
            [self.systems[at] for at in columns],
            [self.units[at] for at in rows],
            self.values[np.ix_(rows, columns)],
            self.blocks,
            self.by_seed,
        )

    @cached_property
    def ranking(self) -> Ranking | None:
        """Mean ranks of the part without gaps; None with fewer than 3 systems or 5 units."""
        part = self.whole
        if len(part.systems) < 3 or len(part.units) < MIN_UNITS:
            return None
        ranks = mean_ranks(part.values)
        order = np.argsort(ranks, kind="stable")
        critical = nemenyi(len(part.systems), len(part.units))
        chi_square, p = friedman(part.values)
        return Ranking(
            [part.systems[at] for at in order],
            ranks[order],
            critical,
            indistinguishable(ranks[order], critical),
            chi_square,
            p,
            len(part.units),
        )


@dataclass(frozen=True, eq=False)
class Ranking:
    """Mean ranks, best first, with Friedman's test and Nemenyi's critical difference at .05.

    Parameters
    ----------
    together : ranges (first, last) of systems that do not differ significantly.
    """

    systems: Sequence[str]
    ranks: Floats
    critical: float
    together: Sequence[tuple[int, int]]
    chi_square: float
    p: float
    units: int
