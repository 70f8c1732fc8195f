"""Contrast of groups: a group should look like itself in the other view, and like no other."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.similarity import cosines, items_of, positive, without_self

ClusterProfile = Literal["reference", "paper", "occ"]


class ClusterContrast(nn.Module):
    r"""The columns of the memberships, contrasted (CC, Eq. 6-7; PCL, Eq. 4; OCC, L(Y^T, O)).

    The rows that are compared are :math:`C=[P_a^\top; P_b^\top]`, (2K, N); the partner of
    :math:`c_i` is :math:`c_{i+K}` (PCL prints :math:`c_{i+N}`). Similarity is the cosine.

    Parameters
    ----------
    temperature : 1.0 in CC and OCC, 2.0 in PCL.
    profile : what stands in the denominator. ``reference``: the 2K-1 other columns (CC and the PCL
        program). ``paper``: all 2K columns, PCL's Eq. 1 with its factor, which is 1 here. ``occ``:
        OCC's Eq. 3-4 without answers, that is ``paper`` plus the constant log K.

    >>> ClusterContrast()(torch.ones(6, 1)).item()
    0.0
    """

    def __init__(self, *, temperature: float = 1.0, profile: ClusterProfile = "reference") -> None:
        super().__init__()
        if profile not in ("reference", "paper", "occ"):
            raise InputError(
                f"{profile!r} is not a profile of ClusterContrast. "
                "Choose one of: reference, paper, occ."
            )
        self.temperature = positive("temperature", temperature)
        self.profile = profile

    def forward(self, p: Tensor) -> Tensor:
        """The loss of the memberships p (2N, K)."""
        n, k = items_of(p), p.shape[1]
        columns = torch.cat([p[:n].T, p[n:].T])  # (2K, N)
        similarity = cosines(columns) / self.temperature  # (2K, 2K)
        own = similarity.diagonal(offset=k).repeat(2)  # (2K,)
        others = without_self(similarity) if self.profile == "reference" else similarity
        loss = (others.logsumexp(dim=1) - own).mean()
        return loss + math.log(k) if self.profile == "occ" else loss

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}, profile={self.profile!r}"
