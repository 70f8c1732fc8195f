"""Set attention: blocks in which points look at each other, whatever their number and order.

Sets lie in the second but last dimension, (..., N, width); a mask (..., N) leaves points out. A
point that may look at nothing keeps what it is.

References
----------
Lee et al., *Set Transformer*, 2019: MAB, PMA and ISAB. Scores are divided by the root of the whole
width, not of one head's.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from samekind.errors import InputError


def masked_softmax(scores: Tensor, kept: Tensor | None) -> Tensor:
    """Shares over the last dimension among what is kept; all zero where nothing is."""
    if kept is None:
        return scores.softmax(-1)
    least = torch.finfo(scores.dtype).min
    return torch.where(kept, scores.masked_fill(~kept, least).softmax(-1), 0.0)


class MAB(nn.Module):
    """Each point of one set looks at another set: O = Q + softmax(Q K' / sqrt(d)) V, O + relu(O W).

    >>> looked = MAB(8, heads=2)(torch.randn(3, 5, 8), torch.randn(3, 7, 8))
    >>> looked.shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise InputError(
                f"A width of {width} cannot be shared by {heads} heads. Give a multiple of {heads}."
            )
        self.heads = heads
        self.query, self.key, self.value, self.last = (nn.Linear(width, width) for _ in range(4))

    def forward(self, X: Tensor, Y: Tensor, mask: Tensor | None = None) -> Tensor:
        """X (..., n, d) looks at the points of Y (..., m, d) that `mask` (..., m) keeps."""
        Q = self.query(X)
        q, k, v = (self._split(part) for part in (Q, self.key(Y), self.value(Y)))
        scores = q @ k.transpose(-1, -2) / math.sqrt(Q.shape[-1])  # (..., heads, n, m)
        share = masked_softmax(scores, None if mask is None else mask[..., None, None, :])
        seen = (share @ v).transpose(-2, -3).flatten(-2)  # (..., n, d)
        return self.ending(Q + seen)

    def ending(self, O: Tensor) -> Tensor:  # noqa: E741 - the letter of the paper
        """O + relu(O W)."""
        return O + torch.relu(self.last(O))

    def _split(self, values: Tensor) -> Tensor:
        return values.view(*values.shape[:-1], self.heads, -1).transpose(-2, -3)


class PMA(nn.Module):
    """A set in one vector: a learnt query looks at it.

    >>> PMA(8, heads=2)(torch.randn(3, 5, 8)).shape
    torch.Size([3, 8])
    """

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.seed = nn.Parameter(torch.randn(1, width) / math.sqrt(width))
        self.block = MAB(width, heads)

    def forward(self, Y: Tensor, mask: Tensor | None = None) -> Tensor:
        """(..., N, d) to (..., d)."""
        pooled: Tensor = self.block(self.seed, Y, mask)
        return pooled[..., 0, :]

    def of_subsets(self, Y: Tensor, kept: Tensor) -> Tensor:
        """(B, R, d) of R subsets (B, R, N) of each set (B, N, d), which is never copied."""
        block = self.block
        q = block.query(self.seed).unflatten(-1, (block.heads, -1))[0]  # (heads, d / heads)
        k, v = (part(Y).unflatten(-1, (block.heads, -1)) for part in (block.key, block.value))
        scores = torch.einsum("hd,bnhd->bhn", q, k) / math.sqrt(Y.shape[-1])
        share = masked_softmax(scores[:, None], kept[:, :, None])  # (B, R, heads, N)
        seen = torch.einsum("brhn,bnhd->brhd", share, v).flatten(-2)
        return block.ending(block.query(self.seed) + seen)


class ISAB(nn.Module):
    """Every point looks at the whole set through a few inducing points: linear in N.

    >>> ISAB(8, heads=2, inducing=4)(torch.randn(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, width: int, heads: int = 4, inducing: int = 32) -> None:
        super().__init__()
        self.inducing = nn.Parameter(torch.randn(inducing, width) / math.sqrt(width))
        # Two blocks of their own: shared ones would tie what is asked to what is told.
        self.gather, self.tell = MAB(width, heads), MAB(width, heads)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        """(..., N, d) to the same shape; what is masked is not looked at."""
        points: Tensor = self.gather(self.inducing, X, mask)
        told: Tensor = self.tell(X, points)
        return told
