"""K-means by cosine on the device that the vectors lie on, in pieces: never items by items."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from samekind.errors import InputError

PIECE = 2**25
"""Numbers of one table (items of a piece x groups) at a time."""
EVERY = 5
"""Rounds between two looks at how far the centres moved; each one waits for the device."""


class Grouping(NamedTuple):
    """Groups of n vectors."""

    labels: Tensor  # (n,) int64
    centres: Tensor  # (k, d) unit vectors
    cosine: float  # mean cosine of a vector and its centre: higher is tighter
    rounds: int


@torch.no_grad()
def cosine_kmeans(
    x: Tensor,
    k: int,
    *,
    seed: int = 0,
    n_init: int = 1,
    most: int = 300,
    tolerance: float = 1e-4,
) -> Grouping:
    """Group vectors x (n, d) by the angle between them (spherical k-means).

    Starts are drawn by greedy k-means++. A group that runs empty takes over the vector that is
    farthest from its centre. Chance comes from the host, so a seed gives the same start on every
    device.

    Parameters
    ----------
    k : groups, at most n.
    n_init : starts, of which the tightest result is kept.
    most : rounds at most.
    tolerance : it ends when the square of the distance that all centres together have moved in
        one round is below this.

    >>> x = torch.tensor([[1.0, 0.0], [5.0, 0.1], [0.0, 1.0], [0.1, 3.0]])
    >>> labels = cosine_kmeans(x, 2).labels.tolist()
    >>> labels[0] == labels[1] != labels[2] == labels[3]
    True
    """
    if x.ndim != 2 or not 1 <= k <= len(x):
        raise InputError(
            f"{k} groups cannot be made of vectors of shape {tuple(x.shape)}. Give (n, d) vectors "
            "and a number of groups from 1 to n."
        )
    if n_init < 1 or most < 1:
        raise InputError(f"Expected n_init and most to be at least 1, got {n_init} and {most}.")
    if not bool(torch.isfinite(x).all()):
        raise InputError("Some vectors hold numbers that are not finite. Leave those items out.")
    x = normalize(x.to(torch.promote_types(x.dtype, torch.float32)), dim=1)
    chance = torch.Generator().manual_seed(seed)
    runs = (_lloyd(x, _start(x, k, chance), most, tolerance) for _ in range(n_init))
    return max(runs, key=lambda run: run.cosine)


@torch.no_grad()
def nearest(x: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest of the unit centres (k, d) to unit vectors (n, d), and the cosine to it."""
    found = [(part @ centres.T).max(dim=1) for part in torch.split(x, _rows(len(centres)))]
    return torch.cat([index for _, index in found]), torch.cat([value for value, _ in found])


def _rows(k: int) -> int:
    return max(1, PIECE // k)


def _start(x: Tensor, k: int, chance: torch.Generator) -> Tensor:
    """Centres (k, d) by greedy k-means++: of some candidates the one that helps most."""
    n, tries = len(x), 2 + int(math.log(k))
    precise = torch.float32 if x.device.type == "mps" else torch.float64
    draws = torch.rand(k, tries, generator=chance, dtype=torch.float64).to(x.device, precise)
    first = (draws[0, 0] * n).long().clamp(max=n - 1)
    centres = [x[first]]
    away = (1 - x @ centres[0]).clamp_min(0)  # (n,): half of the squared distance
    for draw in draws[1:]:
        heights = away.to(precise).cumsum(dim=0)
        candidates = torch.searchsorted(heights, draw * heights[-1], right=True).clamp(max=n - 1)
        left = torch.minimum(away[:, None], (1 - x @ x[candidates].T).clamp_min(0))  # (n, tries)
        best = left.sum(dim=0).argmin()
        centres.append(x[candidates[best]])
        away = left[:, best]
    return torch.stack(centres)


def _lloyd(x: Tensor, centres: Tensor, most: int, tolerance: float) -> Grouping:
    for rounds in range(1, most + 1):
        labels, cosine = nearest(x, centres)
        moved = _centres(x, labels, cosine, centres)
        shift = (moved - centres).norm(dim=1).sum() ** 2
        centres = moved
        if (rounds % EVERY == 0 or rounds < 3) and bool(shift < tolerance):
            break
    labels, cosine = nearest(x, centres)
    return Grouping(labels, centres, float(cosine.mean()), rounds)


def _centres(x: Tensor, labels: Tensor, cosine: Tensor, before: Tensor) -> Tensor:
    """Directions (k, d) of the groups' means, without a wait."""
    k = len(before)
    sums, counts = torch.zeros_like(before), before.new_zeros(k)
    step = _rows(k)
    for rows, group in zip(torch.split(x, step), torch.split(labels, step), strict=True):
        member = one_hot(group, k).to(x.dtype)  # a product is steadier than adding by index
        sums += member.T @ rows
        counts += member.sum(dim=0)
    empty = counts == 0
    far = cosine.topk(k, largest=False).indices  # (k,), one for each group that may be empty
    spare = x[far[(empty.cumsum(dim=0) - 1).clamp_min(0)]]
    # Opposite vectors may add up to nothing: such a group stays where it was.
    means = torch.where(sums.norm(dim=1, keepdim=True) > 1e-6, sums, before)
    return normalize(torch.where(empty[:, None], spare, means), dim=1)
