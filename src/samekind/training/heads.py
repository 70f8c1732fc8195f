"""What stands on top of a backbone: unit vectors to compare, and shares in each group."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.errors import InputError


class InstanceHead(nn.Module):
    """From features (B, width) to unit vectors (B, out): linear, ReLU, linear, length 1.

    >>> InstanceHead(8, 4)(torch.ones(2, 8)).norm(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    def __init__(self, width: int, out: int = 128) -> None:
        super().__init__()
        if out < 1:
            raise InputError(f"Vectors cannot have {out} coordinates. Take at least 1.")
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, out))

    def forward(self, x: Tensor) -> Tensor:
        """Unit vectors, in float32 or better."""
        return normalize(_precise(self.layers(x)), dim=-1)


class ClusterHead(nn.Module):
    """From features (B, width) to shares (B, k) in each group: linear, ReLU, linear, softmax.

    >>> ClusterHead(8, 3)(torch.ones(2, 8)).sum(dim=1).round(decimals=4).tolist()
    [1.0, 1.0]
    """

    def __init__(self, width: int, k: int) -> None:
        super().__init__()
        if k < 1:
            raise InputError(f"{k} groups cannot be made. Ask for at least 1.")
        self.k = k
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, k))

    def forward(self, x: Tensor) -> Tensor:
        """Shares, in float32 or better."""
        return torch.softmax(_precise(self.layers(x)), dim=-1)


def _precise(x: Tensor) -> Tensor:
    """Float32 where it came in less: logarithms are taken of what comes out of here."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
