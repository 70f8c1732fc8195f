"""Features and answers on which the proofs of the papers are tried."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

from samekind.objectives import BatchLinks

SEEDS = st.integers(0, 10_000)
TAUS = st.sampled_from([0.3, 0.5, 1.0, 2.0])
QUICK = settings(max_examples=40, deadline=None)


def features(n: int, seed: int, width: int = 3) -> Tensor:
    chance = torch.Generator().manual_seed(seed)
    return torch.randn(2 * n, width, generator=chance, dtype=torch.float64)


def links(n: int, seed: int, share: float = 0.3) -> tuple[BatchLinks, list[tuple[int, int]]]:
    """Truthful answers about some pairs of two kinds; (0, 1) and (0, 2) are left open."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    open_pairs = [(0, 1), (0, 2)]
    pairs = [p for p in itertools.combinations(range(n), 2) if rng.random() < share]
    pairs = [p for p in pairs if p not in open_pairs]
    same = [(a, b) for a, b in pairs if kind[a] == kind[b]]
    return BatchLinks.from_pairs(same, [p for p in pairs if p not in same]), open_pairs


def and_also(known: BatchLinks, *, same: bool, pair: tuple[int, int]) -> BatchLinks:
    more = torch.tensor([pair])
    if same:
        return known._replace(same=torch.cat([known.same, more]))
    return known._replace(different=torch.cat([known.different, more]))


def rows_of(n: int, a: int, b: int) -> list[tuple[int, list[int]]]:
    """The four rows of a pair of items, each with the two rows of the other item."""
    return [(a, [b, b + n]), (a + n, [b, b + n]), (b, [a, a + n]), (b + n, [a, a + n])]


def plane(*degrees: float) -> Tensor:
    """Unit vectors in the plane, view a of every item and then view b."""
    angle = torch.deg2rad(torch.tensor(degrees, dtype=torch.float64))
    return torch.stack([angle.cos(), angle.sin()], dim=1)
