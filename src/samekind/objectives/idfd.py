"""IDFD: every item a class of its own, and features that say different things."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.errors import InputError
from samekind.objectives.similarity import dots, full_precision, positive


class InstanceDiscrimination(nn.Module):
    r"""A bank of one vector for each item; an item is told from all others by it (IDFD, Eq. 1-2).

    .. math:: \mathcal L_I=-\log\frac{e^{v_i\cdot\bar v_i/\tau}}{\sum_je^{v_i\cdot\bar v_j/\tau}}

    over all items j of the set. Afterwards :math:`\bar v_i\leftarrow
    \mathrm{norm}(m\bar v_i+(1-m)v_i)`.

    Parameters
    ----------
    n, out : items, and width of the vectors.
    temperature : 1 as published: all items count, not only the nearest.
    past : the weight m of what the bank held.

    References
    ----------
    Tao et al., Clustering-friendly Representation Learning via Instance Discrimination and Feature
    Decorrelation, ICLR 2021.

    >>> loss = InstanceDiscrimination(3, 2)
    >>> loss.bank.norm(dim=1).round(decimals=4).tolist()
    [1.0, 1.0, 1.0]
    """

    bank: Tensor

    def __init__(
        self,
        n: int,
        out: int = 128,
        *,
        temperature: float = 1.0,
        past: float = 0.5,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if n < 1 or not 0 <= past < 1:
            raise InputError(
                f"Expected a bank of at least one item and a past from 0 to below 1, got {n} and "
                f"{past}. Published is 0.5."
            )
        self.temperature, self.past = positive("temperature", temperature), past
        self.register_buffer("bank", normalize(torch.randn(n, out, generator=generator), dim=1))

    def forward(self, v: Tensor, items: Tensor) -> Tensor:
        """The loss of unit vectors v (B, out) of `items` (B,), by the bank as it is."""
        v = full_precision(v)
        # A copy: the bank is changed in place before gradients are computed.
        bank = self.bank.to(v.dtype, copy=True)
        with torch.autocast(device_type=v.device.type, enabled=False):
            logits = v @ bank.T / self.temperature  # (B, n)
        own = logits.gather(1, items[:, None])[:, 0]
        return (logits.logsumexp(dim=1) - own).mean()

    @torch.no_grad()
    def remember(self, v: Tensor, items: Tensor) -> None:
        """Move the vectors of these items, all different, towards v (B, out)."""
        v = v.detach().to(self.bank.dtype)
        moved = normalize(self.past * self.bank[items] + (1 - self.past) * v, dim=1)
        self.bank.index_copy_(0, items, moved)

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}, past={self.past}"


class FeatureDecorrelation(nn.Module):
    r"""Each feature is like itself and like no other feature, over a batch (IDFD, Eq. 8).

    .. math:: \mathcal L_F=\frac1d\sum_l-\log\frac{e^{f_l\cdot f_l/\tau_2}}
        {\sum_me^{f_l\cdot f_m/\tau_2}}

    where :math:`f_l` is the l-th feature of all items of the batch, at unit length. The paper
    prints the sum over l, its program takes the mean.

    Parameters
    ----------
    temperature : 2 as published.

    >>> round(FeatureDecorrelation()(torch.eye(3)).item(), 4)
    0.7944
    """

    def __init__(self, *, temperature: float = 2.0) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(self, v: Tensor) -> Tensor:
        """The loss of vectors v (B, d)."""
        features = normalize(full_precision(v).T, dim=1)  # (d, B)
        logits = dots(features) / self.temperature  # (d, d)
        return (logits.logsumexp(dim=1) - logits.diagonal()).mean()

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}"
