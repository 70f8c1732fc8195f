"""OCC's active contrast: same-answers join the numerator, with a weight that fades."""

from __future__ import annotations

import math
from typing import Any, Literal

from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.links import BatchLinks, LinkMasks, both_views, partners
from samekind.objectives.similarity import cosines, items_of, positive, without_self

Mean = Literal["rows", "pairs"]


class ActiveContrast(nn.Module):
    r"""OCC, Eq. 1-4: one close positive is enough, since the logarithm is taken of their sum.

    .. math:: l_i = \frac{s_{ii'}+\sum_j C_{ij}[s_{ij}+s_{ij'}]}
        {\sum_j(C_{ij}+1)\ \sum_j[s_{ij}+s_{ij'}]},\qquad
        \mathcal L=\frac1{2N}\sum_{i=1}^{2N}-\log l_i

    with :math:`s=e^{\cos/\tau}` (Eq. 2), :math:`C_{ij}=\lambda` for same-answers (Eq. 1), 1 for
    guessed links and 0 elsewhere, also on the diagonal. Used for the features and again for the
    memberships. The factor :math:`\sum_j(C_{ij}+1)` has no gradient; it is kept for the value.

    Parameters
    ----------
    temperature : lower looks harder at the nearest rows.
    include_self : whether a row stands in its own denominator, as printed; False as in CC and PCL.
    mean : ``rows`` as printed. With ``pairs`` all positive pairs of the batch are averaged at once
        with their weights, each with a logarithm of its own, as in PCL's program: answers then
        outweigh views, instead of one row counting as much as another.
    use_different : False as printed; True counts different-answers twice in the denominator, with
        its mean kept as a mean (PCL, Eq. 1).

    References
    ----------
    Oracle-guided Contrastive Clustering, arXiv 2211.00409.

    >>> import torch
    >>> x = torch.tensor([[1.0, 0.0], [0.6, 0.8]]).repeat(2, 1)
    >>> answered = BatchLinks.from_pairs(same=[(0, 1)])
    >>> contrast, lam = ActiveContrast(), ActiveContrast.lam_at(0, 1000)
    >>> bool(contrast(x, answered, lam) < contrast(x, BatchLinks.none(), lam))
    True
    """

    def __init__(
        self,
        *,
        temperature: float = 0.5,
        include_self: bool = True,
        use_different: bool = False,
        mean: Mean = "rows",
    ) -> None:
        super().__init__()
        if mean not in ("rows", "pairs"):
            raise InputError(f"Expected the mean of 'rows' or 'pairs', got {mean!r}.")
        self.mean = mean
        self.temperature = positive("temperature", temperature)
        self.include_self = include_self
        self.use_different = use_different

    @staticmethod
    def lam_at(epoch: Any, epochs: Any, *, start: float = 50.0) -> Any:
        """The weight of same-answers in an epoch: from `start` down to 0 along a straight line.

        With 1000 epochs this is the published (1000 - epoch) * 0.05. Numbers on a device give a
        number on that device.

        >>> ActiveContrast.lam_at(100, 1000)
        45.0
        """
        if isinstance(epochs, Tensor):
            return start * ((epochs - epoch) / epochs).clamp_min(0)
        return start * max(0.0, (epochs - epoch) / positive("epochs", epochs))

    def forward(self, x: Tensor, links: BatchLinks | LinkMasks, lam: float | Tensor) -> Tensor:
        """Eq. 4 for the rows x (2N, M): features, or memberships."""
        if self.mean == "rows":
            return self.rows(x, links, lam).mean()
        similarity, weights, denominator = self._terms(x, links, lam)
        return (weights * (denominator.unsqueeze(1) - similarity)).sum() / weights.sum()

    def rows(self, x: Tensor, links: BatchLinks | LinkMasks, lam: float | Tensor) -> Tensor:
        """Eq. 3 as -log l of each row (2N,)."""
        similarity, positives, denominator = self._terms(x, links, lam)
        near = (similarity + positives.log()).logsumexp(dim=1)  # log 0 takes a row out
        factor = (len(x) / 2 + (positives.sum(dim=1) - 1) / 2).log()
        return factor + denominator - near

    def _terms(
        self, x: Tensor, links: BatchLinks | LinkMasks, lam: float | Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Similarities and weights of positives (2N, 2N), logarithms of the second sum (2N,)."""
        if not isinstance(lam, Tensor) and not 0 <= lam < math.inf:
            raise InputError(f"Expected lam to be 0 or more, got {lam!r}. See lam_at.")
        n = items_of(x)
        known = links.masks(n)
        similarity = cosines(x) / self.temperature  # (2N, 2N)
        C = lam * known.same.to(similarity.dtype) + known.guessed.to(similarity.dtype)  # (N, N)
        positives = both_views(C) + partners(n, x.device).to(similarity.dtype)
        return similarity, positives, self._denominator(similarity, known.different)

    def _denominator(self, similarity: Tensor, different: Tensor) -> Tensor:
        """Log of the second sum of Eq. 3's denominator, for each row (2N,)."""
        terms = similarity if self.include_self else without_self(similarity)
        if not self.use_different:
            return terms.logsumexp(dim=1)
        twice = both_views(different).to(similarity.dtype)
        n_terms = len(similarity) - (not self.include_self)
        scale = math.log(n_terms) - (n_terms + twice.sum(dim=1)).log()
        return (terms + twice.log1p()).logsumexp(dim=1) + scale

    def extra_repr(self) -> str:
        about = f"temperature={self.temperature}, include_self={self.include_self}"
        return f"{about}, mean={self.mean!r}"
