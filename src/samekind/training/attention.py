"""Attention between the items of a batch, and the same for one item among fixed ones."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from samekind.errors import InputError


class CrossAttention(nn.Module):
    """Self-attention of several heads over the items of a batch (PCL, cross-instance attention).

    As published: queries, keys and values without bias, scale ``1 / sqrt(width / heads)``, and no
    projection, residual, normalisation or dropout after it.

    **In training** every row attends to all rows of its batch, itself among them. What a row
    becomes thus depends on its neighbours, which is what the method wants while it learns.

    **With a reference set** every row attends to itself and to the reference rows, never to its
    neighbours, so its result is the same in any order, in any batch, and alone. For row i

    ``out_i = (e(i,i) v_i + w sum_r e(i,r) v_r) / (e(i,i) + w sum_r e(i,r))``,
    ``e(i,j) = exp(q_i k_j / sqrt(width / heads))``, ``w = peers / R``,

    once per head. The R reference rows stand for the `peers` other items of a training batch:
    with the weight w they count as much against the row itself as those did, however many there
    are, and more of them only make the estimate steadier. With ``peers=None`` w is 1; a reference
    of exactly the other rows of a batch then gives exactly what training gives.

    Parameters
    ----------
    width : of the vectors; divisible by `heads`.
    heads : attentions side by side, each on its own ``width / heads`` coordinates.

    >>> attention = CrossAttention(16)
    >>> attention(torch.ones(3, 16)).shape, attention(torch.ones(1, 16), torch.ones(9, 16)).shape
    (torch.Size([3, 16]), torch.Size([1, 16]))
    """

    def __init__(self, width: int, heads: int = 8) -> None:
        super().__init__()
        if heads < 1 or width % heads:
            raise InputError(
                f"Vectors of width {width} cannot be shared out among {heads} heads. "
                "Choose a number of heads that divides the width."
            )
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)

    def forward(
        self, x: Tensor, reference: Tensor | None = None, *, peers: int | None = None
    ) -> Tensor:
        """Attended vectors, of the shape of x.

        Parameters
        ----------
        x : (B, D), or (V, B, D) for several batches that do not see each other.
        reference : (R, D) rows to attend to in place of the neighbours.
        peers : how many other items the reference rows stand for; None: as many as they are.
        """
        if reference is None:
            mixed = scaled_dot_product_attention(
                self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))
            )
            return self._joined(mixed)
        if reference.ndim != 2 or len(reference) == 0:
            raise InputError(
                "A reference set has the shape (R, D) with at least one row; this has the shape "
                f"{tuple(reference.shape)}. Take features of some training items."
            )
        return self._among(x, reference, len(reference) if peers is None else peers)

    def _among(self, x: Tensor, reference: Tensor, peers: int) -> Tensor:
        """Every row of x among the reference rows alone."""
        query, key, value = (self._split(part(x)) for part in (self.query, self.key, self.value))
        others, theirs = self._split(self.key(reference)), self._split(self.value(reference))
        scale = 1 / math.sqrt(query.shape[-1])
        own = (query * key).sum(dim=-1, keepdim=True) * scale  # (..., heads, B, 1)
        shift = math.log(peers / len(reference)) if peers > 0 else -math.inf
        to_others = query @ others.transpose(-1, -2) * scale + shift  # (..., heads, B, R)
        weight = torch.softmax(torch.cat([own, to_others], dim=-1), dim=-1).to(value.dtype)
        return self._joined(weight[..., :1] * value + weight[..., 1:] @ theirs)

    def _split(self, x: Tensor) -> Tensor:
        """(..., B, D) to (..., heads, B, D / heads)."""
        return x.view(*x.shape[:-1], self.heads, -1).transpose(-2, -3)

    def _joined(self, x: Tensor) -> Tensor:
        return x.transpose(-2, -3).flatten(start_dim=-2)
