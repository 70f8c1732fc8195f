"""The probability of known groupings, for all points at once: what training makes large.

The labels are known, so each H_k before step n is an exclusive cumulative sum, and no loop over
points is needed. g is evaluated once per point and choice: what a group was before a step is what
it became when its last member was placed, and that has been computed there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from samekind.amortized.network import Functions, Points
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
    chance = torch.rand(mask.shape, generator=generator, device=mask.device)
    return torch.where(mask, chance, 2.0).argsort(dim=1)


def reordered(points: Points, order: Tensor) -> Points:
    """The same points, placed in another order (B, N)."""
    h, u = (torch.take_along_dim(part, order[..., None], dim=1) for part in points)
    return Points(h, u)


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
    return law_of_steps(network, network.points(x, mask), labels, mask, n_groups=n_groups)


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


def law_of_steps(
    network: Functions,
    points: Points,
    labels: Tensor,
    mask: Tensor | None = None,
    *,
    n_groups: int | None = None,
) -> Tensor:
    """As :func:`step_log_probs`, for points that are encoded already."""
    B, N = labels.shape
    if points.h.shape[:2] != labels.shape:
        raise InputError(
            f"There are {tuple(points.h.shape[:2])} points but {tuple(labels.shape)} labels. "
            "Give one label for each point of each data set."
        )
    there = torch.ones_like(labels, dtype=torch.bool) if mask is None else mask
    K = int(labels.max()) + 1 if n_groups is None else n_groups
    past = _past(labels, there, K)
    member = past.member[..., None].to(points.h.dtype)  # (B, N, K, 1)
    now = (member * points.h[:, :, None]).cumsum(1)
    none = torch.zeros_like(now[:, :1])
    H = torch.cat([none, now[:, :-1]], dim=1)  # (B, N, K, dh) exclusive
    H = torch.cat([H, none[:, :, :1].expand(B, N, 1, -1)], dim=2) + points.h[:, :, None]
    context = network.context(unplaced(points.u), points.h)  # (B, N, c)
    valid = past.open & there[..., None]
    if n_groups is None:
        scores = _packed(network, H, context, past, labels, there, valid)
    else:
        scores = _padded(network, H, context, past, labels, there)
    # Padding: the only choice is 0, so that it costs nothing.
    first = torch.arange(K + 1, device=labels.device) == 0
    scores = torch.where(there[..., None], scores, 0.0)
    return scores.masked_fill(~(valid | (first & ~there[..., None])), -torch.inf).log_softmax(-1)


class _Past(NamedTuple):
    """What the labels say about each step n and group k."""

    member: Tensor
    """(B, N, K) whether point n is in k."""
    last: Tensor
    """(B, N, K + 1) the last member of k before n; -1: none."""
    open: Tensor
    """(B, N, K + 1) whether k can be chosen: a group that exists, or the next new one."""


def _past(labels: Tensor, there: Tensor, K: int) -> _Past:
    N = labels.shape[1]
    slots = torch.arange(K + 1, device=labels.device)
    member = (labels[..., None] == slots) & there[..., None]  # (B, N, K + 1)
    place = torch.arange(N, device=labels.device)[:, None]
    seen = torch.where(member, place, -1).cummax(1).values
    last = torch.cat([torch.full_like(seen[:, :1], -1), seen[:, :-1]], dim=1)
    count = (last >= 0).sum(2, keepdim=True)
    return _Past(member[..., :K], last, slots <= count)


def _padded(
    network: Functions, H: Tensor, context: Tensor, past: _Past, labels: Tensor, there: Tensor
) -> Tensor:
    """Scores of all K + 1 choices, also of those that are not open."""
    B, N, C, _ = H.shape
    described = network.g(H)  # (B, N, K + 1, dg)
    flat = described.flatten(0, 2)
    rows = torch.arange(B * N, device=H.device) * C + labels.flatten()
    before, total = _before(flat.index_select(0, rows), past, labels, there)
    index = _flat_last(past.last).flatten()
    rest = total[:, :, None] - before.index_select(0, index).view(B, N, C, -1)
    return network.f(rest + described, context[:, :, None])


def _packed(
    network: Functions,
    H: Tensor,
    context: Tensor,
    past: _Past,
    labels: Tensor,
    there: Tensor,
    valid: Tensor,
) -> Tensor:
    """Scores of the choices that are open, and of nothing else."""
    B, N, C, _ = H.shape
    rows = valid.flatten().nonzero()[:, 0]  # (V,)
    point = rows // C
    described = network.g(H.flatten(0, 2).index_select(0, rows))  # (V, dg)
    where = valid.flatten().cumsum(0) - 1
    chosen_rows = torch.arange(B * N, device=H.device) * C + labels.flatten()
    after = described.index_select(0, where[chosen_rows].clamp_min(0))
    before, total = _before(after, past, labels, there)
    index = _flat_last(past.last).flatten()[rows]
    rest = total.flatten(0, 1).index_select(0, point) - before.index_select(0, index)
    found = network.f(rest + described, context.flatten(0, 1).index_select(0, point))
    return found.new_zeros(B * N * C).index_put((rows,), found).view(B, N, C)


def _before(after: Tensor, past: _Past, labels: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
    """What groups were, by last member (row 0: no group yet), and G before each step.

    `after` (B * N, dg) is g of the group of each point just after it was placed.
    """
    B, N = labels.shape
    after = torch.where(there.flatten()[:, None], after, 0.0)
    before = torch.cat([torch.zeros_like(after[:1]), after])
    own = _flat_last(past.last).gather(2, labels[..., None]).flatten()
    change = torch.where(
        there[..., None], (after - before.index_select(0, own)).view(B, N, -1), 0.0
    )
    total = change.cumsum(1)
    return before, torch.cat([torch.zeros_like(total[:, :1]), total[:, :-1]], dim=1)


def _flat_last(last: Tensor) -> Tensor:
    """Rows of the table of groups by last member: 0 for none, else 1 + b * N + n."""
    B, N, _ = last.shape
    begin = (torch.arange(B, device=last.device) * N + 1)[:, None, None]
    return torch.where(last >= 0, last + begin, 0)
