"""Heads without a hidden layer, and one that goes by the nearest centre."""

from __future__ import annotations

from torch import Tensor, nn

from samekind.training.heads import ClusterHead, InstanceHead
from samekind.training.selflearn_file import CentreShares


class LinearUnits(InstanceHead):
    """From features (B, width) to unit vectors (B, out): linear, length 1.

    >>> import torch
    >>> LinearUnits(8, 4)(torch.ones(2, 8)).norm(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    def __init__(self, width: int, out: int = 128) -> None:
        super().__init__(width, out)
        self.layers = nn.Sequential(nn.Linear(width, out))


class LinearShares(ClusterHead):
    """From features (B, width) to shares (B, k) in each group: linear, softmax.

    >>> import torch
    >>> LinearShares(8, 3)(torch.ones(2, 8)).sum(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    def __init__(self, width: int, k: int) -> None:
        super().__init__(width, k)
        self.layers = nn.Sequential(nn.Linear(width, k))


class CentreHead(ClusterHead):
    """Shares (B, k) in groups: near which of the centres do the unit vectors of features lie?

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
