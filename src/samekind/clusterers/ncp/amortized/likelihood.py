"""The probability of known groupings, for all points at once: what training makes large.

The labels are known, so no loop over points is needed: what a group was before a step is what it
became when its last member was placed. So one row per point, the sum over its group up to it, holds
all H_k that there ever are, and g is evaluated once per point and open choice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.network import Functions, Points
from samekind.errors import InputError


def relabel(labels: Tensor, mask: Tensor | None = None) -> Tensor:
    """(B, N) labels 0..N-1 renamed in order of first appearance; padding gets 0.

    >>> relabel(torch.tensor([[3, 1, 3, 0]]))
    tensor([[0, 1, 0, 2]])
    """
    n = labels.shape[1]
    place = torch.arange(n, device=labels.device).expand_as(labels)
    named = labels if mask is None else torch.where(mask, labels, n)
    empty = torch.full((len(labels), n + 1), n, device=labels.device)
    first = empty.scatter_reduce(1, named, place, "amin").gather(1, named)  # (B, N)
    rank = (first == place).cumsum(1) - 1
    renamed = rank.gather(1, first.clamp(max=n - 1))
    return renamed if mask is None else torch.where(mask, renamed, 0)


def random_order(mask: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """(B, N) a random order of each row's points; padding stays last."""
    uniform = torch.rand(mask.shape, generator=generator, device=mask.device)
    return torch.where(mask, uniform, 2.0).argsort(dim=1)


def reordered(points: Points, order: Tensor) -> Points:
    """The same points, placed in another order (B, N)."""
    return Points(*(_picked(part, order) for part in points))


def _picked(values: Tensor, index: Tensor) -> Tensor:
    """(B, N, d) rows of values (B, M, d) by index (B, N); quicker than `take_along_dim`."""
    B, M, d = values.shape
    begin = torch.arange(B, device=index.device)[:, None] * M
    return values.reshape(B * M, d).index_select(0, (index + begin).flatten()).view(B, -1, d)


def unplaced(u: Tensor) -> Tensor:
    """(B, N, du) U before each step: the sum of u over the points that come after it."""
    after = u.flip(1).cumsum(1).flip(1)[:, 1:]
    return torch.cat([after, torch.zeros_like(u[:, :1])], dim=1)


def step_log_probs(
    network: Functions,
    x: Any,
    labels: Tensor,
    mask: Tensor | None = None,
    *,
    n_groups: int | None = None,
) -> Tensor:
    """(B, N, K + 1) log-probability of each choice at each step, given the labels before it.

    Parameters
    ----------
    labels : (B, N) in order of first appearance (:func:`relabel`); rows may differ.
    mask : (B, N) True for points, False for the padding after them.
    n_groups : K, the largest number of groups in a row. Given, all shapes are fixed and nothing
        waits for the device; None looks it up and computes only what is needed.
    """
    return step_distributions(network, network.points(x, mask), labels, mask, n_groups=n_groups)


def log_joint(
    network: Functions,
    x: Any,
    labels: Tensor,
    mask: Tensor | None = None,
    *,
    n_groups: int | None = None,
) -> Tensor:
    """(B,) log-probability of each row's grouping, in the order in which its points come."""
    found = step_log_probs(network, x, labels, mask, n_groups=n_groups)
    return chosen(found, labels).sum(1)


def chosen(log_probs: Tensor, labels: Tensor) -> Tensor:
    """(B, N) log-probability of what was chosen at each step; 0 where padded."""
    return log_probs.gather(2, labels[..., None])[..., 0]


def step_distributions(
    network: Functions,
    points: Points,
    labels: Tensor,
    mask: Tensor | None = None,
    *,
    n_groups: int | None = None,
    capacity: int | None = None,
) -> Tensor:
    """As :func:`step_log_probs`, for points that are encoded already.

    `capacity` goes with `n_groups`: room for so many open choices in all, at least what
    :func:`open_choices` of the rows adds up to; None: room for all that there could be.
    """
    if points.h.shape[:2] != labels.shape:
        raise InputError(
            f"There are {tuple(points.h.shape[:2])} points but {tuple(labels.shape)} labels. "
            "Give one label for each point of each data set."
        )
    there = torch.ones_like(labels, dtype=torch.bool) if mask is None else mask
    K = int(labels.max()) + 1 if n_groups is None else n_groups
    past = _past(labels, there, K)
    valid = past.open & there[..., None]
    rows, where = _rows(valid, n_groups is not None, capacity)
    context = network.context(unplaced(points.u), points.h)  # (B, N, c)
    scores = _scores(network, points.h, context, past, labels, there, rows, where)
    # Padding: the only choice is 0, so that it costs nothing.
    first = torch.arange(K + 1, device=labels.device) == 0
    scores = torch.where(valid, scores, 0.0)
    return scores.masked_fill(~(valid | (first & ~there[..., None])), -torch.inf).log_softmax(-1)


def open_choices(labels: Tensor, mask: Tensor) -> Tensor:
    """(B,) the most choices that are open over all steps of each row, whatever its order."""
    n_groups = torch.where(mask, labels, -1).amax(1) + 1
    return mask.sum(1) * (n_groups + 1)


class _Past(NamedTuple):
    """Members and open choices before each step n, by the labels."""

    last: Tensor
    """(B, N, K + 1) row of the last member of k before n, counted from 1; 0: none."""
    open: Tensor
    """(B, N, K + 1) whether k can be chosen: a group that exists, or the next new one."""


def _past(labels: Tensor, there: Tensor, K: int) -> _Past:
    B, N = labels.shape
    slots = torch.arange(K + 1, device=labels.device)
    member = (labels[..., None] == slots) & there[..., None]  # (B, N, K + 1)
    place = torch.arange(1, B * N + 1, device=labels.device).view(B, N, 1)
    seen = torch.where(member, place, 0).cummax(1).values
    last = torch.cat([torch.zeros_like(seen[:, :1]), seen[:, :-1]], dim=1)
    return _Past(last, slots <= (last > 0).sum(2, keepdim=True))


def _rows(valid: Tensor, fixed: bool, capacity: int | None) -> tuple[Tensor, Tensor]:
    """Which choices (flat) are computed, (V,), and the place of each choice among them."""
    flat = valid.flatten()
    if not fixed:
        return flat.nonzero()[:, 0], (flat.cumsum(0) - 1).clamp_min(0)
    everything = torch.arange(len(flat), device=flat.device)
    if capacity is None or capacity >= len(flat):
        return everything, everything
    # One more place takes what is not open; unused rows compute the first choice.
    where = torch.where(flat, (flat.cumsum(0) - 1).clamp_max(capacity), capacity)
    rows = torch.zeros(capacity + 1, dtype=torch.long, device=flat.device)
    return rows.scatter(0, where, everything)[:capacity], where.clamp_max(capacity - 1)


def _scores(
    network: Functions,
    h: Tensor,
    context: Tensor,
    past: _Past,
    labels: Tensor,
    there: Tensor,
    rows: Tensor,
    where: Tensor,
) -> Tensor:
    """(B, N, K + 1) scores of the choices that are computed; anything for the others."""
    B, N, C = past.last.shape
    point, last = rows // C, past.last.flatten().index_select(0, rows)
    joined = _under_none(_group_sums(h, labels, there).flatten(0, 1))
    H = joined.index_select(0, last) + h.flatten(0, 1).index_select(0, point)  # (V, dh)
    described = network.g(H)  # (V, dg)
    own = torch.arange(B * N, device=labels.device) * C + labels.flatten()
    after = described.index_select(0, where.index_select(0, own)).view(B, N, -1)
    after = torch.where(there[..., None], after, 0.0)  # g of each point's group with the point
    table = _under_none(after.flatten(0, 1))
    before = table.index_select(0, past.last.gather(2, labels[..., None]).flatten())
    total = torch.where(there[..., None], after - before.view(B, N, -1), 0.0).cumsum(1)
    G = torch.cat([torch.zeros_like(total[:, :1]), total[:, :-1]], dim=1)  # before each step
    rest = G.flatten(0, 1).index_select(0, point) - table.index_select(0, last)
    found = network.f(rest + described, context.flatten(0, 1).index_select(0, point))
    return found.index_select(0, where).view(B, N, C)


def _group_sums(h: Tensor, labels: Tensor, there: Tensor) -> Tensor:
    """(B, N, dh) sums of h over the members of each point's group up to and with the point."""
    by_group, order = torch.where(there, labels, labels.shape[1]).sort(dim=1, stable=True)
    # Groups are told apart by a difference of long sums, so those are kept in double precision.
    exact = torch.float32 if h.device.type == "mps" else torch.float64
    sums = _picked(h, order).cumsum(1, dtype=exact)
    sums = torch.cat([torch.zeros_like(sums[:, :1]), sums], dim=1)  # (B, N + 1, dh)
    begin = torch.searchsorted(by_group, by_group)  # first member of the group of each
    mine = (sums[:, 1:] - _picked(sums, begin)).to(h.dtype)
    place = torch.arange(labels.shape[1], device=labels.device).expand_as(order)
    back = torch.empty_like(order).scatter_(1, order, place)
    return _picked(mine, back)


def _under_none(values: Tensor) -> Tensor:
    """A table whose row 0 stands for no group yet."""
    return torch.cat([torch.zeros_like(values[:1]), values])
