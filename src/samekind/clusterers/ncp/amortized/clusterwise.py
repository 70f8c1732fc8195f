"""The clusterwise process: one whole group per pass, so that N points cost K passes, not N steps.

A pass starts from an anchor, drawn evenly from the points that are left. The network sees the
anchor, the points that are left (U) and the groups so far (G), draws a latent vector z that says
which group it has in mind, and then every other point joins on its own. Pools are means or
attention, never sums, so that a network trained on hundreds of points groups a hundred thousand.

Tensors are (B, R, ...): R rows (passes, or samples) for each of B data sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from samekind.clusterers.ncp.amortized.layers import ACTIVATIONS, ISAB, MAB, PMA, encoder_of, mlp
from samekind.clusterers.ncp.amortized.network import PlainSizes
from samekind.errors import InputError


class Normal(NamedTuple):
    """A normal distribution with independent axes: mean and log of the deviation, (..., L)."""

    mean: Tensor
    log_std: Tensor

    def log_density(self, z: Tensor) -> Tensor:
        """(...) of z (..., L), up to a constant."""
        away = (z - self.mean) * (-self.log_std).exp()
        return (-0.5 * away.square() - self.log_std).sum(-1)


class Items(NamedTuple):
    """Features of each point, (B, N, ...) each."""

    e: Tensor
    """Features."""
    h: Tensor
    """As a member of a group."""
    u: Tensor
    """As one of those that are left."""
    first: Tensor
    """Through the first layer of the head that decides which points join."""

    def at(self, places: Tensor | slice) -> Items:
        """Some of the points."""
        return Items(*(part[:, places] for part in self))


class PassContext(NamedTuple):
    """Context of a pass, before a group is drawn around an anchor."""

    anchor: Tensor
    """(B, R, d) features of the anchor."""
    U: Tensor
    """(B, R, du) of the points that are left."""
    G: Tensor
    """(B, R, dg) of the groups so far."""
    own: Tensor | None = None
    """(B, R, N, d) features that points have in this pass only; None: those of all passes."""


class ClusterwiseFunctions(Protocol):
    """The functions of the process. Anything that has them can be scored and sampled."""

    @property
    def latent(self) -> int:
        """Length of z; 0: members are independent given the anchor."""
        ...

    def items(self, x: Any, mask: Tensor | None) -> Items:
        """Features of every point, once for all passes."""
        ...

    def describe(self, items: Items, member: Tensor) -> Tensor:
        """(B, R, dg) of groups with members (B, R, N); G is the sum over groups."""
        ...

    def look(self, items: Items, left: Tensor, anchor: Tensor, G: Tensor) -> PassContext:
        """Before a pass: `left` (B, R, N) without the anchor (B, R), and the groups so far."""
        ...

    def prior(self, context: PassContext) -> Normal:
        """Distribution of z (B, R, L)."""
        ...

    def guide(self, items: Items, context: PassContext, left: Tensor, member: Tensor) -> Normal:
        """Distribution from which z is drawn when the members (B, R, N) are known."""
        ...

    def join(self, items: Items, context: PassContext, z: Tensor) -> Tensor:
        """(B, R, S, N) log-odds of joining, for z (B, R, S, L)."""
        ...


@dataclass(frozen=True)
class ClusterwiseSizes(PlainSizes):
    """How large the network is, as plain values that go into a weights file.

    Parameters
    ----------
    kind : ``ccp`` pools by means; ``acp-s`` lets all points look at each other once and pools by
        attention; ``acp`` does so again in every pass, over what is left: the slowest.
    encoder, inputs, features, encoder_layers : as in
        :class:`~samekind.clusterers.ncp.amortized.network.Sizes`.
    width : of every hidden layer and every pool; a multiple of `heads`.
    g_layers, law_layers, join_layers : hidden layers of g, of the two distributions of z, and of
        the head that decides which points join, which runs on every point of every pass.
    latent : length of z; 0 leaves it out, and members are independent given the anchor.
    heads, inducing : of attention; the others ignore them.
    """

    kind: Literal["ccp", "acp-s", "acp"] = "ccp"
    encoder: Literal["points", "images", "none", "given"] = "points"
    inputs: int = 2
    features: int = 128
    encoder_layers: int = 2
    width: int = 128
    g_layers: int = 2
    law_layers: int = 2
    join_layers: int = 2
    latent: int = 16
    heads: int = 4
    inducing: int = 32
    activation: str = "gelu"


class ClusterwiseNetwork(nn.Module):
    """CCP, ACP-S or ACP, by `sizes.kind`.

    Parameters
    ----------
    sizes : None takes the defaults.
    encoder : for ``sizes.encoder == "given"``: maps (x, mask) to (B, N, sizes.inputs).

    >>> network = ClusterwiseNetwork(ClusterwiseSizes(width=16, features=16))
    >>> items = network.items(torch.zeros(1, 5, 2), None)
    >>> network.describe(items, torch.ones(1, 3, 5, dtype=torch.bool)).shape
    torch.Size([1, 3, 16])
    """

    def __init__(
        self, sizes: ClusterwiseSizes | None = None, encoder: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.sizes = s = sizes or ClusterwiseSizes()
        if (encoder is None) == (s.encoder == "given"):
            raise InputError(
                "An encoder of your own goes with ClusterwiseSizes(encoder='given', inputs=its "
                f"width), and only with it; here encoder={s.encoder!r} and "
                f"{'none' if encoder is None else 'one'} was given."
            )
        if s.kind not in ("ccp", "acp-s", "acp"):
            raise InputError(f"Expected the kind ccp, acp-s or acp, got {s.kind!r}.")
        self.encoder = encoder if encoder is not None else encoder_of(
            s.encoder, s.inputs, s.features, s.encoder_layers, s.activation
        )  # fmt: skip
        d = s.features if s.encoder not in ("given", "none") else s.inputs
        w, L, act, hidden = s.width, s.latent, s.activation, [s.width]
        self.h_net: nn.Module
        self.u_net: nn.Module
        self.out_net: nn.Module | None = None
        if s.kind == "ccp":
            self.h_net, self.u_net = mlp([d, w, w], act), mlp([d, w, w], act)
            self.out_net = mlp([d, w, w], act) if L else None
        else:
            self.mix_in, self.mix = nn.Linear(d, w), ISAB(w, s.heads, s.inducing)
            self.h_net, self.u_net = nn.Linear(w, w), nn.Linear(w, w)
            self.h_pool, self.u_pool = PMA(w, s.heads), PMA(w, s.heads)
            self.in_pool, self.out_pool = PMA(w, s.heads), PMA(w, s.heads)
            self.look_at_anchor = MAB(w, s.heads) if s.kind == "acp" else None
            d = w
        self.g_net = mlp([w + 1, *hidden * s.g_layers, w], act)
        known = d + (w + 1) + w  # anchor, U and its count, G
        self.prior_net = mlp([known, *hidden * s.law_layers, 2 * L], act) if L else None
        self.guide_net = (
            mlp([known + 2 * (w + 1), *hidden * s.law_layers, 2 * L], act) if L else None
        )
        # The first layer of the head, in parts: of the point, of z, and of what is known. The last
        # two stretch and move what the first gives, which is learnt faster than a sum.
        self.join_point = nn.Linear(d, w)
        self.join_known = nn.Linear(known, 2 * w, bias=False)
        self.join_latent = nn.Linear(L, 2 * w, bias=False) if L else None
        self.join_net = nn.Sequential(ACTIVATIONS[act](), mlp([*hidden * s.join_layers, 1], act))

    @property
    def latent(self) -> int:
        """Length of z."""
        return self.sizes.latent

    def items(self, x: Any, mask: Tensor | None = None, seen: Tensor | None = None) -> Items:
        """Features of every point, and what follows from them alone.

        `seen` is the :meth:`summary` of another set: points then look at it, not at each other.
        """
        e = self._features(x, mask)
        if self.sizes.kind == "acp-s":
            e = self.mix(e, mask) if seen is None else self.mix.tell(e, seen)
        return Items(e, self.h_net(e), self.u_net(e), self.join_point(e))

    def summary(self, x: Any, mask: Tensor | None = None) -> Tensor | None:
        """(B, m, width) what attention sees of the whole set; None for a kind without it."""
        return None if self.sizes.kind == "ccp" else self.mix.summary(self._features(x, mask), mask)

    def beside(self, items: Items, seen: Tensor) -> Tensor | None:
        """(B, 1, N, d) features in a first pass over another set, of which `seen` is the summary.

        None for kinds whose points have the same features in all passes.
        """
        return self.mix.tell(items.e, seen)[:, None] if self.sizes.kind == "acp" else None

    def _features(self, x: Any, mask: Tensor | None) -> Tensor:
        e: Tensor = x if self.encoder is None else self.encoder(x, mask)
        if mask is not None:  # what lies in the padding may be anything, even not a number
            e = torch.where(mask[..., None], e, 0.0)
        return e if self.sizes.kind == "ccp" else self.mix_in(e)

    def describe(self, items: Items, member: Tensor) -> Tensor:
        """G of the pooled members of each group; zero where there are none."""
        if self.sizes.kind == "ccp":
            pooled = _mean(items.h, member)
        else:
            pooled = self.h_pool.of_subsets(items.h, member)
        found: Tensor = self.g_net(torch.cat([pooled, _few(member)], dim=-1))
        return torch.where(member.any(-1, keepdim=True), found, 0.0)

    def look(self, items: Items, left: Tensor, anchor: Tensor, G: Tensor) -> PassContext:
        """The anchor, and a pool of what is left besides it."""
        if self.sizes.kind != "acp":
            e_a = torch.take_along_dim(items.e, anchor[..., None], dim=1)  # (B, R, d)
            if self.sizes.kind == "ccp":
                U = _mean(items.u, left)
            else:
                U = self.u_pool.of_subsets(items.u, left)
            return PassContext(e_a, torch.cat([U, _few(left)], -1), G)
        shape = (*left.shape, items.e.shape[-1])
        both = left.scatter(-1, anchor[..., None], True)
        own = self.mix(items.e[:, None].expand(shape), both)  # (B, R, N, d)
        e_a = torch.take_along_dim(own, anchor[..., None, None], dim=2)  # (B, R, 1, d)
        if self.look_at_anchor is None:
            raise AssertionError("unreachable: acp has the block")
        U = self.u_pool(self.look_at_anchor(own, e_a), left)
        return PassContext(e_a[:, :, 0], torch.cat([U, _few(left)], -1), G, own)

    def prior(self, context: PassContext) -> Normal:
        """Distribution of z before any point joined."""
        return _normal(self.prior_net, context[:3], self.latent)

    def guide(self, items: Items, context: PassContext, left: Tensor, member: Tensor) -> Normal:
        """Distribution of z once it is known which points joined."""
        inside, outside = left & member, left & ~member
        if self.out_net is not None:
            pools = [_mean(items.u, inside), _mean(self.out_net(items.e), outside)]
        else:
            pairs = ((self.in_pool, inside), (self.out_pool, outside))
            if context.own is not None:
                pools = [pool(context.own, kept) for pool, kept in pairs]
            else:
                pools = [pool.of_subsets(items.e, kept) for pool, kept in pairs]
        counts = [_few(inside), _few(outside)]
        return _normal(self.guide_net, (*context[:3], *pools, *counts), self.latent)

    def join(self, items: Items, context: PassContext, z: Tensor) -> Tensor:
        """Log-odds of joining for every point, also for those already taken."""
        row = self.join_known(torch.cat(context[:3], -1))[:, :, None]  # (B, R, 1, 2 w)
        if self.join_latent is not None:
            row = row + self.join_latent(z)  # (B, R, S, 2 w)
        if context.own is None:
            point = items.first[:, None, None]  # (B, 1, 1, N, w)
        else:
            point = self.join_point(context.own)[:, :, None]
        stretch, move = row[..., None, :].chunk(2, -1)
        odds: Tensor = self.join_net(point * (1 + stretch) + move)[..., 0]
        return odds if odds.dtype == torch.float64 else odds.float()


def log_members(odds: Tensor, left: Tensor, member: Tensor) -> Tensor:
    """(B, R, S) log-probability that of those left (B, R, N) just the members join."""
    signed = torch.where(member[:, :, None], odds, -odds)
    return torch.where(left[:, :, None], logsigmoid(signed), 0.0).sum(-1)


def _mean(values: Tensor, kept: Tensor) -> Tensor:
    """(B, R, w) mean over those that are kept (B, R, N); zero where none is."""
    inside = kept.to(values.dtype)
    return inside @ values / inside.sum(-1, keepdim=True).clamp_min(1)


def _few(kept: Tensor) -> Tensor:
    """(B, R, 1) how few there are: 1 for none, falling to 0.

    Unlike a logarithm of the count it hardly changes beyond the sizes seen in training.
    """
    return (1.0 + kept.sum(-1, keepdim=True)).rsqrt()


def _normal(net: nn.Module | None, parts: Any, latent: int) -> Normal:
    known = torch.cat(tuple(parts), -1)
    if net is None:
        nothing = known[..., :0]
        return Normal(nothing, nothing)
    mean, log_std = net(known).split(latent, dim=-1)
    # Bounded softly: a deviation of nothing or of infinity ends a training.
    return Normal(mean, 4 * torch.tanh(log_std / 4))
