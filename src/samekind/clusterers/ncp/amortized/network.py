"""The network of the neural clustering process: h, u, g and f on a shared encoder.

A grouping of the points placed so far is described by G, the sum over its groups of g(H_k), where
H_k is the sum of h over the members; the points not yet placed by U, the sum of u over them. The
score of putting the next point into group k is f(G with the point in k, U). All three are sums, so
the order within a group, among groups and among unplaced points cannot matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from samekind.clusterers.ncp.amortized.layers import ACTIVATIONS, ISAB, encoder_of, mlp
from samekind.errors import InputError


class Points(NamedTuple):
    """Features of each point: h (B, N, dh) and u (B, N, du), zero where padded."""

    h: Tensor
    u: Tensor


class Functions(Protocol):
    """The functions of the process. Anything that has them can be trained, scored and sampled."""

    def points(self, x: Any, mask: Tensor | None) -> Points:
        """H and u of every point; rows that `mask` (B, N) leaves out are zero."""
        ...

    def g(self, H: Tensor) -> Tensor:
        """(..., dh) sums over the members of a group to (..., dg)."""
        ...

    def context(self, U: Tensor, h: Tensor) -> Tensor:
        """Input of f besides G, once per point: (..., du) and (..., dh) to (..., c)."""
        ...

    def f(self, G: Tensor, context: Tensor) -> Tensor:
        """(..., dg) and (..., c) to scores (...)."""
        ...


@dataclass(frozen=True)
class PlainSizes:
    """Sizes of a network, to and from what a file can hold."""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Back from :meth:`as_json`; InputError if it holds unknown sizes."""
        known = {field.name for field in fields(cls)}
        odd = sorted(set(values) - known)
        if odd:
            raise InputError(
                f"The sizes of the network name {', '.join(odd)}, which this version does not "
                "know. Use a newer version of samekind, or other weights."
            )
        return cls(**values)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Sizes(PlainSizes):
    """How large the network is, as plain values that go into a weights file.

    Parameters
    ----------
    encoder : ``points`` (also for frozen vectors), ``images``, ``image-points`` (images as a few
        numbers, then as points), ``residual`` (deeper, for images), ``none``, or ``given``: a
        module handed to :class:`NCPNetwork` that maps (x, mask) to (B, N, inputs).
    inputs : numbers per point, channels of an image, or width of the given encoder's features.
    features, encoder_layers : width and depth of the encoder.
    width : of every hidden layer.
    h_layers, g_layers, f_layers : hidden layers of h and u, of g, and of f.
    h_outputs, g_outputs : lengths of h and u, and of g.
    pool : ``mean`` lets g and f see means and counts, which carries over to larger data sets;
        ``sum`` is the published form.
    share : u is h (as in spike sorting).
    feed_point : f sees h of the point to be placed as well.
    attention : blocks in which all points look at each other before h and u; 0: none, as published.
    heads, inducing : of these blocks; `width` is a multiple of `heads`.
    """

    encoder: Literal["points", "images", "image-points", "residual", "none", "given"] = "points"
    inputs: int = 2
    features: int = 128
    encoder_layers: int = 2
    width: int = 128
    h_layers: int = 1
    g_layers: int = 3
    f_layers: int = 3
    h_outputs: int = 128
    g_outputs: int = 128
    pool: Literal["mean", "sum"] = "mean"
    activation: str = "gelu"
    share: bool = False
    feed_point: bool = False
    attention: int = 0
    heads: int = 4
    inducing: int = 32

    @classmethod
    def reference(cls, inputs: int = 2) -> Self:
        """The sizes of the published program for 2-D Gaussians: 495,506 parameters."""
        return cls(
            encoder="none", inputs=inputs, h_layers=4, g_layers=5, f_layers=5,
            h_outputs=256, g_outputs=512, pool="sum", activation="prelu",
        )  # fmt: skip


class NCPNetwork(nn.Module):
    """h, u, g and f, on a shared encoder. Sums are kept in float32 (float64 stays float64).

    Parameters
    ----------
    sizes : None takes the defaults (about 0.2 million parameters).
    encoder : for ``sizes.encoder == "given"``: maps (x, mask) to (B, N, sizes.inputs).

    >>> network = NCPNetwork(Sizes.reference())
    >>> sum(p.numel() for p in network.parameters())
    495506
    """

    def __init__(self, sizes: Sizes | None = None, encoder: nn.Module | None = None) -> None:
        super().__init__()
        self.sizes = s = sizes or Sizes()
        if (encoder is None) == (s.encoder == "given"):
            raise InputError(
                "An encoder of your own goes with Sizes(encoder='given', inputs=its width), and "
                f"only with it; here encoder={s.encoder!r} and "
                f"{'none' if encoder is None else 'one'} was given."
            )
        own = s.encoder not in ("given", "none")
        self.encoder = encoder if encoder is not None else encoder_of(
            s.encoder, s.inputs, s.features, s.encoder_layers, s.activation
        )  # fmt: skip
        counted = int(s.pool == "mean")
        ins, hidden = s.features if own else s.inputs, [s.width]
        self.mix_in = nn.Linear(ins, s.width) if s.attention else None
        self.mix = nn.ModuleList(
            ISAB(s.width, s.heads, s.inducing, norm=True) for _ in range(s.attention)
        )
        self.mix_out = nn.LayerNorm(s.width) if s.attention else None
        ins = s.width if s.attention else ins
        self.h_net = mlp([ins, *hidden * s.h_layers, s.h_outputs], s.activation)
        self.u_net = (
            None if s.share else mlp([ins, *hidden * s.h_layers, s.h_outputs], s.activation)
        )
        seen = s.h_outputs + counted
        self.g_net = mlp([seen, *hidden * s.g_layers, s.g_outputs], s.activation)
        # The first layer of f, in parts: of G, of U, and of the point.
        self.f_choice = nn.Linear(s.g_outputs, s.width)
        self.f_context = nn.Linear(seen, s.width, bias=False)
        self.f_point = nn.Linear(s.h_outputs, s.width, bias=False) if s.feed_point else None
        self.f_net = nn.Sequential(
            ACTIVATIONS[s.activation](),
            mlp([*hidden * s.f_layers, 1], s.activation, last_bias=False),
        )

    # Between the last layer of h and the first of g there is only a sum, and so there is between g
    # and f, and u and f. Both layers are linear, so the sum is taken after the second: rows are
    # shorter, and the second layer runs once per point instead of once per point and choice.

    def points(
        self, x: Any, mask: Tensor | None = None, seen: Sequence[Tensor] | None = None
    ) -> Points:
        """H and u of every point (B, N, ...), through the first layer behind their sums.

        `seen` is the :meth:`summaries` of another set: points then look at it, not at each other.
        """
        e = self._mixed(x, mask, seen)[0]
        h = self.h_net(e)
        u = h if self.u_net is None else self.u_net(e)
        first: Any = self.g_net[0]
        parts = [linear(h, first.weight[:, : self.sizes.h_outputs])]
        if self.f_point is not None:
            parts.append(self.f_point(h))
        behind_u = linear(u, self.f_context.weight[:, : self.sizes.h_outputs])
        return Points(self._summand(parts, mask), self._summand([behind_u], mask))

    def summaries(self, x: Any, mask: Tensor | None = None) -> list[Tensor]:
        """(B, m, width) for each block of attention: what it sees of the set."""
        return self._mixed(x, mask, None)[1]

    def _mixed(
        self, x: Any, mask: Tensor | None, seen: Sequence[Tensor] | None
    ) -> tuple[Tensor, list[Tensor]]:
        """Features (B, N, ...) after attention, and the summaries that points looked at."""
        e = x if self.encoder is None else self.encoder(x, mask)
        if self.mix_in is None or self.mix_out is None:
            return e, []
        e, found = self.mix_in(e), []
        if mask is not None:  # what lies in the padding may be anything, even not a number
            e = torch.where(mask[..., None], e, 0.0)
        for number, block in enumerate(self.mix):
            summary = block.summary(e, mask) if seen is None else seen[number]  # type: ignore[operator]
            e = block.tell(e, summary)  # type: ignore[operator]
            found.append(summary)
        return self.mix_out(e), found

    def g(self, H: Tensor) -> Tensor:
        """Description of a group by the sum over its members, already through f's first layer."""
        first: Any = self.g_net[0]
        last: Any = self.g_net[-1]
        hidden = self.g_net[1:-1](self._pooled(H, first.weight) + first.bias)
        onward = self.f_choice.weight
        return _full(linear(hidden, onward @ last.weight, onward @ last.bias))

    def context(self, U: Tensor, h: Tensor) -> Tensor:
        """The part of f's first layer that all choices of a point share."""
        shared = self._pooled(U, self.f_context.weight) + self.f_choice.bias
        if self.f_point is not None:
            shared = shared + h[..., self.sizes.width : 2 * self.sizes.width]
        return shared

    def f(self, G: Tensor, context: Tensor) -> Tensor:
        """Score of one choice."""
        score: Tensor = self.f_net(G + context)
        return _full(score[..., 0])

    def _summand(self, parts: list[Tensor], mask: Tensor | None) -> Tensor:
        if self.sizes.pool == "mean":  # a last entry that counts
            parts = [*parts, torch.ones_like(parts[0][..., :1])]
        values = torch.cat([_full(part) for part in parts], dim=-1)
        # Where, not times: what lies in the padding may be anything, even not a number.
        return values if mask is None else torch.where(mask[..., None], values, 0.0)

    def _pooled(self, sums: Tensor, weight: Tensor) -> Tensor:
        """Sums as they are, or means and the logarithm of the count, behind a linear layer."""
        values = sums[..., : self.sizes.width]
        if self.sizes.pool == "sum":
            return values
        count = sums[..., -1:]
        return values / count.clamp_min(1) + count.log1p() * weight[:, -1]


def _full(values: Tensor) -> Tensor:
    return values if values.dtype == torch.float64 else values.float()
