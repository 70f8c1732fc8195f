"""PCL's constrained contrast: answers decide which items attract and which repel twice."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from samekind.errors import InputError
from samekind.objectives.links import BatchLinks, LinkMasks, both_views, partners
from samekind.objectives.similarity import cosines, dots, items_of, positive

Profile = Literal["reference", "paper"]


class ConstrainedContrast(nn.Module):
    r"""PCL, Eq. 1-3: contrast in feature space and in membership space, weighted by answers.

    Eq. 1 is the loss of one pair of rows, Eq. 2 its weight, Eq. 3 their mean. Same-answers are
    further positives, different-answers count twice among the negatives.

    ============== ================================== ============================================
    ..             ``paper``                          ``reference`` (the program)
    ============== ================================== ============================================
    row itself     among the negatives                left out
    :math:`\mu_i`  :math:`N/(N+c_i)`                  :math:`2N/(2N-1+c_i)`
    weights        :math:`1:\lambda N/N_+`            :math:`1:1+\max(\lambda N/(N_++1), 2)`
    :math:`N_+`    unordered pairs                    ordered pairs
    mean           within each row, then over rows    over all pairs at once
    memberships    cosine / temperature               dot product, no temperature
    ============== ================================== ============================================

    with :math:`c_i` the different rows of row i, both views counted. Without any same-answer the
    weights of Eq. 2 are 0/0; here the two views of an item then keep weight 1. Guessed links are
    positives of weight 1 and are not counted in :math:`N_+`.

    Parameters
    ----------
    temperature : lower looks harder at the nearest rows.
    weight : lambda, how much all same-answers together weigh against the views of the items.
    profile : the printed equations, or what produced the published figures.

    References
    ----------
    Personalized Clustering via Targeted Representation Learning, AAAI 2025, arXiv 2412.13690.

    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).repeat(2, 1)
    >>> contrast = ConstrainedContrast()
    >>> apart = contrast.instance(z, BatchLinks.from_pairs(different=[(0, 1)]))
    >>> bool(contrast.instance(z, BatchLinks.from_pairs(same=[(0, 1)])) > apart)
    True
    """

    def __init__(
        self, *, temperature: float = 1.0, weight: float = 4.0, profile: Profile = "reference"
    ) -> None:
        super().__init__()
        if profile not in ("reference", "paper"):
            raise InputError(
                f"{profile!r} is not a profile of PCL. Choose one of: reference, paper."
            )
        self.temperature = positive("temperature", temperature)
        self.weight = positive("weight", weight)
        self.profile = profile

    def forward(self, z: Tensor, p: Tensor, links: BatchLinks | LinkMasks) -> Tensor:
        """The loss of the features z (2N, M) and the memberships p (2N, K) of one batch."""
        known = links.masks(items_of(z))
        return self._contrast(self._of_features(z), known) + self._contrast(
            self._of_memberships(p), known
        )

    def instance(self, z: Tensor, links: BatchLinks | LinkMasks) -> Tensor:
        """The part in feature space, z (2N, M)."""
        return self._contrast(self._of_features(z), links.masks(items_of(z)))

    def assignment(self, p: Tensor, links: BatchLinks | LinkMasks) -> Tensor:
        """The part in membership space, p (2N, K)."""
        return self._contrast(self._of_memberships(p), links.masks(items_of(p)))

    def pair_losses(self, similarity: Tensor, known: LinkMasks) -> Tensor:
        """Eq. 1 for every two rows (2N, 2N), given similarities already divided by temperature."""
        rows = len(similarity)
        twice = both_views(known.different).to(similarity.dtype)
        counts = 1 + twice  # (2N, 2N) how often each row stands in the denominator
        if self.profile == "reference":
            counts = counts.fill_diagonal_(0)
            log_mu = math.log(rows) - counts.sum(dim=1).log()
        else:
            log_mu = math.log(rows / 2) - (rows / 2 + twice.sum(dim=1)).log()
        denominator = (similarity + counts.log()).logsumexp(dim=1) + log_mu  # (2N,)
        return denominator.unsqueeze(1) - similarity

    def pair_weights(self, known: LinkMasks, dtype: torch.dtype = torch.float32) -> Tensor:
        """Eq. 2 for every two rows (2N, 2N), in units of the weight of an item's two views."""
        n = len(known.same)
        ordered = known.same.sum().to(dtype)  # N_+, without waiting for the device
        if self.profile == "reference":
            answered = 1 + (self.weight * n / (ordered + 1)).clamp_min(2)
        else:
            answered = self.weight * n / (ordered / 2).clamp_min(1)
        views = partners(n, known.same.device).to(dtype)
        guessed = both_views(known.guessed).to(dtype)
        return views + guessed + answered * both_views(known.same).to(dtype)

    def _contrast(self, similarity: Tensor, known: LinkMasks) -> Tensor:
        """Eq. 3, averaged over the rows."""
        weights = self.pair_weights(known, similarity.dtype)
        weighted = weights * self.pair_losses(similarity, known)
        if self.profile == "reference":
            return weighted.sum() / weights.sum()
        return (weighted.sum(dim=1) / weights.sum(dim=1)).mean()

    def _of_features(self, z: Tensor) -> Tensor:
        return cosines(z) / self.temperature

    def _of_memberships(self, p: Tensor) -> Tensor:
        # The cosine of two equal but flat memberships is 1 already: it asks for no confidence.
        return dots(p) if self.profile == "reference" else cosines(p) / self.temperature

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}, weight={self.weight}, profile={self.profile!r}"
