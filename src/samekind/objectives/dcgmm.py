"""DC-GMM: an autoencoder whose codes follow a mixture, in which answers tilt the balance."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.objectives.links import BatchLinks, LinkMasks
from samekind.objectives.similarity import full_precision


class Mixture(NamedTuple):
    """A mixture of k normal distributions with a diagonal covariance, in logarithms."""

    log_share: Tensor  # (k,)
    mean: Tensor  # (k, D)
    log_variance: Tensor  # (k, D)


def log_responsibilities(z: Tensor, mixture: Mixture) -> Tensor:
    r"""Logarithms of the chance of each group, given codes (VaDE).

    .. math:: \log\gamma_{ic}=\log\pi_c+\log\mathcal N(z_i;\mu_c,\sigma_c^2)
        -\log\sum_l\pi_l\mathcal N(z_i;\mu_l,\sigma_l^2)

    Densities are never taken out of the logarithm, so that far items do not divide 0 by 0.

    Parameters
    ----------
    z : (N, D) codes.

    >>> mixture = Mixture(torch.zeros(2), torch.tensor([[0.0], [1e3]]), torch.zeros(2, 1))
    >>> log_responsibilities(torch.tensor([[0.0], [500.0]]), mixture).exp().tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    z = full_precision(z)
    log_variance = full_precision(mixture.log_variance)
    far = (z[:, None, :] - full_precision(mixture.mean)).square() * (-log_variance).exp()
    log_density = -0.5 * (log_variance + far).sum(dim=2)  # (N, k), without a common constant
    return torch.log_softmax(full_precision(mixture.log_share) + log_density, dim=1)


def prior_loss(code: Tensor, log_spread: Tensor, log_gamma: Tensor, mixture: Mixture) -> Tensor:
    r"""Cost of codes under the mixture (VaDE without the reconstruction), per item.

    .. math:: \frac12\sum_c\gamma_c\sum_d\Bigl(\log\sigma_{cd}^2
        +\frac{\tilde\sigma_d^2+(\tilde\mu_d-\mu_{cd})^2}{\sigma_{cd}^2}\Bigr)
        -\sum_c\gamma_c\log\frac{\pi_c}{\gamma_c}-\frac12\sum_d(1+\log\tilde\sigma_d^2)

    Parameters
    ----------
    code : (N, D) means of the codes. log_spread : (N, D) logarithms of their variances.
    log_gamma : (N, k) from :func:`log_responsibilities` of drawn codes.

    References
    ----------
    Jiang et al., Variational Deep Embedding, IJCAI 2017, arXiv 1611.05148.
    """
    code, log_spread = full_precision(code), full_precision(log_spread)
    log_variance = full_precision(mixture.log_variance)
    away = log_spread.exp()[:, None, :] + (code[:, None, :] - mixture.mean).square()  # (N, k, D)
    cost = 0.5 * (log_variance + away * (-log_variance).exp()).sum(dim=2)  # (N, k)
    gamma = log_gamma.exp()
    groups = (gamma * (cost - mixture.log_share + log_gamma)).sum(dim=1)
    return (groups - 0.5 * (1 + log_spread).sum(dim=1)).mean()


def tilted_prior(gamma: Tensor, links: BatchLinks | LinkMasks, alpha: float = 1.0) -> Tensor:
    r"""Term that the answers add to the loss of DC-GMM.

    .. math:: -\frac1b\sum_i\sum_k\gamma_{ik}\sum_jW_{ij}\gamma_{jk},\qquad
        W_{ij}=\alpha\text{ (same)},\ -\alpha\text{ (different)},\ 0

    Parameters
    ----------
    gamma : (b, k) responsibilities of the batch.
    links : between its items; only pairs that meet in a batch act.
    alpha : how sure the answers are.

    References
    ----------
    Manduchi et al., Deep Conditional Gaussian Mixture Model for Constrained Clustering,
    NeurIPS 2021, arXiv 2106.06385.

    >>> gamma = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> tilted_prior(gamma, BatchLinks.from_pairs(same=[(0, 1)]), alpha=10.0).item()
    -10.0
    """
    gamma = full_precision(gamma)
    known = links.masks(len(gamma))
    W = alpha * (known.same.to(gamma.dtype) - known.different.to(gamma.dtype))  # (b, b)
    with torch.autocast(device_type=gamma.device.type, enabled=False):
        return -(gamma * (W @ gamma)).sum() / len(gamma)
