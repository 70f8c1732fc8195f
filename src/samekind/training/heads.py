"""Heads on top of a backbone: unit vectors to compare, and memberships in groups."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import nll_loss, normalize, relu

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision

SHARPNESS = 0.1
"""Temperature of memberships by nearness to centres; the nearest centre does not depend on it."""
HEAD_STEPS = 80
"""Steps in which a head is fitted to groups that are known."""


class InstanceHead(nn.Module):
    """From features (B, width) to unit vectors (B, out): linear, ReLU, linear, length 1.

    Parameters
    ----------
    rectified : begin with a ReLU, for features that come from a linear layer (TCL).

    >>> InstanceHead(8, 4)(torch.ones(2, 8)).norm(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    rectified = False

    def __init__(self, width: int, out: int = 128, *, rectified: bool = False) -> None:
        super().__init__()
        if out < 1:
            raise InputError(f"Vectors cannot have {out} coordinates. Take at least 1.")
        self.rectified = rectified
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, out))

    def forward(self, x: Tensor) -> Tensor:
        """Unit vectors, in float32 or better."""
        x = relu(x) if self.rectified else x
        return normalize(full_precision(self.layers(x)), dim=-1)


class ClusterHead(nn.Module):
    """From features (B, width) to shares (B, k) in each group: linear, ReLU, linear, softmax.

    Parameters
    ----------
    rectified : begin with a ReLU, for features that come from a linear layer (TCL).

    >>> ClusterHead(8, 3)(torch.ones(2, 8)).sum(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    rectified = False

    def __init__(self, width: int, k: int, *, rectified: bool = False) -> None:
        super().__init__()
        if k < 1:
            raise InputError(f"{k} groups cannot be made. Ask for at least 1.")
        self.rectified = rectified
        self.k = k
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, k))

    def forward(self, x: Tensor) -> Tensor:
        """Shares, in float32 or better."""
        x = relu(x) if self.rectified else x
        return torch.softmax(full_precision(self.layers(x)), dim=-1)


class LinearUnits(InstanceHead):
    """From features (B, width) to unit vectors (B, out): linear, length 1.

    >>> LinearUnits(8, 4)(torch.ones(2, 8)).norm(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    def __init__(self, width: int, out: int = 128) -> None:
        super().__init__(width, out)
        self.layers = nn.Sequential(nn.Linear(width, out))


class LinearShares(ClusterHead):
    """From features (B, width) to shares (B, k) in each group: linear, softmax.

    >>> LinearShares(8, 3)(torch.ones(2, 8)).sum(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    def __init__(self, width: int, k: int) -> None:
        super().__init__(width, k)
        self.layers = nn.Sequential(nn.Linear(width, k))


class CentreHead(ClusterHead):
    """Memberships (B, k) by the nearness of unit vectors to centres.

    Parameters
    ----------
    units : from features to vectors (B, out).
    centres : (k, out) unit vectors.
    """

    def __init__(self, units: nn.Module, centres: Tensor) -> None:
        nn.Module.__init__(self)
        self.k = len(centres)
        self.shares = CentreShares(units, centres)

    def forward(self, x: Tensor) -> Tensor:
        """Shares, in float32 or better."""
        shares: Tensor = self.shares(x)
        return shares


class CentreShares(nn.Module):
    """Memberships by the nearness of projections to centres (ProPos).

    Parameters
    ----------
    projector : from features to projections. centres : (k, out) unit vectors.
    """

    centres: Tensor

    def __init__(self, projector: nn.Module, centres: Tensor) -> None:
        super().__init__()
        self.projector = projector
        self.register_buffer("centres", centres)

    def forward(self, h: Tensor) -> Tensor:
        """Shares (B, k) of features h (B, width)."""
        with torch.autocast(h.device.type, enabled=False):
            z = normalize(self.projector(full_precision(h)), dim=1)
            return torch.softmax(z @ self.centres.T / SHARPNESS, dim=1)


def fit_head(head: nn.Module, x: Tensor, target: Tensor) -> None:
    """Fit a head that gives memberships to known groups, on fixed features x (n, width).

    The target is a group for each item (n,), or its memberships (n, k).
    """
    optimiser = torch.optim.Adam(head.parameters(), lr=1e-2)
    with torch.enable_grad():
        for _ in range(HEAD_STEPS):
            found = head(x).clamp_min(1e-9).log()
            if target.ndim == 2:
                loss = -(target * found).sum(dim=1).mean()
            else:
                loss = nll_loss(found, target)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
    for parameter in head.parameters():
        parameter.grad = None


@torch.no_grad()
def soften(head: ClusterHead, temperature: float) -> None:
    """Make a head less sure: its logits are divided by the temperature, in place.

    >>> head = ClusterHead(8, 3)
    >>> before = head(torch.ones(1, 8))
    >>> soften(head, 4.0)
    >>> bool(head(torch.ones(1, 8)).max() < before.max())
    True
    """
    last = next(layer for layer in reversed(head.layers) if isinstance(layer, nn.Linear))
    for parameter in last.parameters():
        parameter.div_(temperature)
