"""The labels that a method is sure of, remembered over the whole set on the device."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from samekind.errors import InputError


class PseudoLabels(nn.Module):
    """A memory of one label for each item, -1 for none (TCL's boosting; IDC, Eq. 14).

    Of a batch only the surest items of each group may enter, so that no group takes over. A label
    stays while the largest membership reaches the threshold.

    Parameters
    ----------
    n : items of the set.
    k : groups.
    share : of a batch of B items at most ``ceil(share * B / k)`` of each group enter: 0.5 in TCL,
        0.2 in IDC.
    threshold : membership above which an item may enter, and below which it is forgotten.
    repaired : forget a label also when the item is now largest in another group. The published
        programs keep the old one for as long as the network is sure, of whatever.

    >>> memory = PseudoLabels(5, 2, share=0.5)
    >>> p = torch.tensor([[0.999, 0.001], [0.995, 0.005], [0.6, 0.4]])
    >>> memory.update(torch.tensor([0, 2, 4]), p).tolist(), memory.labels.tolist()
    ([0, -1, -1], [0, -1, -1, -1, -1])
    """

    labels: Tensor

    def __init__(
        self, n: int, k: int, *, share: float = 0.5, threshold: float = 0.99, repaired: bool = False
    ) -> None:
        super().__init__()
        if n < 1 or k < 1:
            raise InputError(f"{n} items in {k} groups cannot be remembered. Take at least 1.")
        if not (0 < share <= 1 and 0 < threshold < 1):
            raise InputError(
                "Expected a share above 0 and at most 1, and a threshold between 0 and 1, got "
                f"{share!r} and {threshold!r}. Try 0.5 and 0.99."
            )
        self.k, self.share, self.threshold, self.repaired = k, share, threshold, repaired
        self.register_buffer("labels", torch.full((n,), -1, dtype=torch.long))

    def quota(self, batch: int) -> int:
        """How many items of each group may enter from a batch of so many."""
        return min(batch, math.ceil(self.share * batch / self.k - 1e-9))

    @torch.no_grad()
    def update(self, items: Tensor, p: Tensor) -> Tensor:
        """Learn from memberships p (B, k) of the plain views of `items` (B,), all different.

        Returns their labels (B,) from now on. Nothing here waits for the device.
        """
        if p.ndim != 2 or p.shape[1] != self.k or items.shape != p.shape[:1]:
            raise InputError(
                f"The memory wants B items and their memberships (B, {self.k}); the shapes are "
                f"{tuple(items.shape)} and {tuple(p.shape)}."
            )
        surest, group = p.max(dim=1)  # (B,)
        known = self.labels[items]
        if self.repaired:
            known = (known + 1) * (known == group) - 1
        entering = (group + 1) * self._enter(surest, group) - 1
        labels = torch.where(known < 0, entering, known)
        labels = (labels + 1) * (surest >= self.threshold) - 1
        self.labels.index_copy_(0, items, labels)
        return labels

    def _enter(self, surest: Tensor, group: Tensor) -> Tensor:
        """Which items (B,) are sure enough, and among the surest of their group."""
        mine = group[:, None] == torch.arange(self.k, device=group.device)  # (B, k)
        rated = surest[:, None] * mine
        # A stable sort and not topk: many are sure to the last digit, and the first shall enter.
        best = rated.sort(dim=0, descending=True, stable=True).indices[: self.quota(len(group))]
        chosen = torch.zeros_like(mine).scatter_(0, best, torch.ones_like(best, dtype=torch.bool))
        return (chosen & mine).any(dim=1) & (surest > self.threshold)

    def forget(self) -> None:
        """Begin anew: after groups were renumbered or the head was exchanged."""
        self.labels.fill_(-1)

    def extra_repr(self) -> str:
        return (
            f"n={len(self.labels)}, k={self.k}, share={self.share}, threshold={self.threshold}, "
            f"repaired={self.repaired}"
        )
