"""MiCE: a mixture of experts, each of which tells items apart for one group."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from samekind.errors import InputError
from samekind.objectives.similarity import full_precision, positive


class ExpertContrast(nn.Module):
    r"""Which expert tells an item best from others, and how well it does so (MiCE, Eq. 2-9).

    With gates :math:`\omega` and prototypes :math:`\mu`,

    .. math:: \pi_{ik}\propto e^{\omega_k\cdot g_i/\kappa},\quad
        \Phi_{ik}=\frac{e^{v_{ik}\cdot(f_{ik}+\mu_k)/\tau}}
        {e^{v_{ik}\cdot(f_{ik}+\mu_k)/\tau}+\sum_{q}e^{q_k\cdot(f_{ik}+\mu_k)/\tau}},\quad
        p_{ik}\propto\pi_{ik}\Phi_{ik}

    The published loss :math:`-\sum_kp_k(\log\pi_k+\log\Phi_k-\log p_k)` at this p is
    :math:`-\log\sum_k\pi_{ik}\Phi_{ik}`, which is computed here.

    Parameters
    ----------
    temperature : of experts and gates (tau and kappa), 1 as published.

    References
    ----------
    Tsai et al., MiCE: Mixture of Contrastive Experts for Unsupervised Image Clustering, ICLR 2021,
    arXiv 2105.01899.
    """

    def __init__(self, *, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(self, joint: Tensor) -> tuple[Tensor, Tensor]:
        """The loss, and p (B, K), of log pi + log Phi (B, K); see :meth:`joint`."""
        return -joint.logsumexp(dim=1).mean(), joint.detach().softmax(dim=1)

    def joint(
        self, f: Tensor, v: Tensor, g: Tensor, *, gates: Tensor, prototypes: Tensor, queue: Tensor
    ) -> Tensor:
        """Logarithms (B, K) of pi times Phi.

        Parameters
        ----------
        f, v : (B, K, d) unit vectors of each expert, of the network and of the slow one.
        g : (B, d) unit vectors that choose the expert.
        gates, prototypes : (K, d) unit vectors.
        queue : (Q, K, d) earlier vectors of the slow network.
        """
        f, v, g = (full_precision(x) for x in (f, v, g))
        _check(f, v, g, queue)
        gates, prototypes, queue = (x.to(f.dtype) for x in (gates, prototypes, queue))
        with torch.autocast(device_type=f.device.type, enabled=False):
            shares = log_softmax(g @ gates.T / self.temperature, dim=1)  # (B, K)
            wanted = (f + prototypes) / self.temperature  # (B, K, d)
            own = (v * wanted).sum(dim=2)  # (B, K)
            others = torch.einsum("qkd,bkd->bkq", queue, wanted)
        found = log_softmax(torch.cat([own[..., None], others], dim=2), dim=2)[..., 0]
        return shares + found

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}"


def simplex(k: int, d: int) -> Tensor:
    """Unit vectors (k, d) as far from each other as can be: inner products of -1 / (k - 1).

    MiCE's gates (max-Mahalanobis centres), for any number of groups.

    >>> (simplex(3, 2) @ simplex(3, 2).T).round(decimals=4)[0].tolist()
    [1.0, -0.5, -0.5]
    """
    if k < 1 or d < max(1, k - 1):
        raise InputError(
            f"Expected {max(1, k - 1)} coordinates for {k} equidistant vectors, got {d}."
        )
    found = torch.zeros(k, d, dtype=torch.float64)
    found[0, 0] = 1
    for i in range(1, k):
        for j in range(i):
            there = found[j, j]
            found[i, j] = -(1 / (k - 1) + found[i] @ found[j]) / there if there else 0
        if i < d:
            found[i, i] = math.sqrt(max(0.0, 1 - float(found[i].square().sum())))
    return found.float()


def _check(f: Tensor, v: Tensor, g: Tensor, queue: Tensor) -> None:
    shapes = (f.shape, v.shape, (*g.shape[:1], *f.shape[1:]), (*f.shape[:1], *queue.shape[1:]))
    if f.ndim != 3 or g.ndim != 2 or len(set(map(tuple, shapes))) > 1:
        given = ", ".join(str(tuple(x.shape)) for x in (f, v, g, queue))
        raise InputError(
            "Vectors of experts (B, K, d) twice, of the gate (B, d) and a queue (Q, K, d) belong "
            f"together, got shapes {given}."
        )
