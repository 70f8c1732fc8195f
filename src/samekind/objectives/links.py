"""Links between the items of one batch, as the losses want them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

import torch
from torch import Tensor


class LinkMasks(NamedTuple):
    """The links as symmetric matrices over items, (N, N) bool, nothing on the diagonal."""

    same: Tensor
    different: Tensor
    guessed: Tensor

    def masks(self, n: int) -> LinkMasks:
        """These: whoever takes pairs takes matrices that were made of them before."""
        return self


class BatchLinks(NamedTuple):
    """Known links between the items of a batch; each is a LongTensor (P, 2) of batch positions.

    Answers come with all that follows from them. A pair counts once, in whatever order and however
    often it is given. Pairs of an item with itself are ignored, so that a tensor can be filled up
    with them to a fixed length. A guess never overrules an answer.

    Parameters
    ----------
    same : pairs that the person called the same kind.
    different : pairs that the person called different.
    guessed : pairs that the method itself takes for the same kind (label extension).

    >>> BatchLinks.from_pairs(same=[(0, 2)]).masks(3).same.int().tolist()
    [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    """

    same: Tensor
    different: Tensor
    guessed: Tensor

    @classmethod
    def from_pairs(
        cls,
        same: Iterable[tuple[int, int]] = (),
        different: Iterable[tuple[int, int]] = (),
        guessed: Iterable[tuple[int, int]] = (),
        *,
        device: torch.device | str | None = None,
    ) -> Self:
        """Links from lists of pairs."""
        parts = (
            torch.tensor(list(pairs), dtype=torch.long, device=device).reshape(-1, 2)
            for pairs in (same, different, guessed)
        )
        return cls(*parts)

    @classmethod
    def none(cls, device: torch.device | str | None = None) -> Self:
        """A batch about which nothing is known."""
        return cls.from_pairs(device=device)

    def to(self, device: torch.device | str) -> BatchLinks:
        """The same links on another device."""
        return BatchLinks(*(pairs.to(device, non_blocking=True) for pairs in self))

    def masks(self, n: int) -> LinkMasks:
        """The links as matrices over the `n` items of the batch."""
        same, different, guessed = (_mask(pairs, n) for pairs in self)
        return LinkMasks(same, different, guessed & ~same & ~different)


def both_views(mask: Tensor) -> Tensor:
    """A matrix over items (N, N) as one over rows (2N, 2N): links hold in all view pairs."""
    return mask.repeat(2, 2)


def partners(n: int, device: torch.device) -> Tensor:
    """Which rows (2N, 2N) are the two views of one item."""
    return torch.eye(2 * n, dtype=torch.bool, device=device).roll(n, dims=1)


def _mask(pairs: Tensor, n: int) -> Tensor:
    mask = torch.zeros(n, n, dtype=torch.bool, device=pairs.device)
    i, j = pairs.unbind(dim=1)
    mask.index_put_((i, j), mask.new_ones(()))  # a Python True would be copied over each time
    return (mask | mask.T).fill_diagonal_(False)  # (N, N)
