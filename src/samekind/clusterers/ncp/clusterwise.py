"""The posterior under a network that takes out one whole group per pass, for large sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork, Items, PassContext
from samekind.clusterers.ncp.amortized.clusterwise_probability import Latents, score
from samekind.clusterers.ncp.amortized.clusterwise_sampler import (
    ClusterwiseSampler,
    join_odds,
    reassigned,
)
from samekind.clusterers.ncp.amortized.conditioning import ClusterwiseAnswers
from samekind.clusterers.ncp.amortized.samples import Samples, merged
from samekind.clusterers.ncp.central import central_costs
from samekind.clusterers.ncp.pointwise import Scored
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_DRAWN_ITEMS = 200_000
"""Items in all draws together; fewer draws are made of large sets."""
MIN_DRAWS = 8
"""Draws that are made of any set, if so many are wanted."""
CHUNK_ITEMS = 1_000_000
"""Items in the draws that are made side by side: bounds the memory."""
FIRM_BOUNDS = (4, 16)
"""Smallest and largest number of groupings that are random in their anchors only: each of them is
better than a draw."""
MAX_COMPARED_ITEMS = 1_000
"""Items whose pairs decide which grouping is central."""
MAX_SCORED_ITEMS = 1_000_000
"""Items scored for probabilities, in all passes and draws together."""


def n_drawn(wanted: int, n_items: int) -> int:
    """The number of draws of so many items."""
    return min(wanted, max(MIN_DRAWS, MAX_DRAWN_ITEMS // max(1, n_items)))


@dataclass(frozen=True)
class Clusterwise:
    """The posterior of one data set under a network that takes out one group per pass.

    Parameters
    ----------
    network : trained.
    x : (n, d) calibrated vectors.
    known : what the answers say about them; None: nothing.
    seed : of all randomness.
    """

    network: ClusterwiseNetwork
    x: NDArray[np.float32]
    known: Constraints | None
    seed: int

    def samples(self, n_samples: int, orders: int) -> Samples:
        """Draws that honour every answer, with importance weights but without probabilities.

        `orders` is for the pointwise posterior; here each draw has its own anchors.
        """
        x, generator, answers = self._ready(0)
        sampler = ClusterwiseSampler(self.network)
        size = max(1, CHUNK_ITEMS // len(self.x))
        parts = []
        for begin in range(0, n_samples, size):
            count = min(size, n_samples - begin)
            parts += sampler.sample(x, count, answers=answers, generator=generator, most_scored=0)
        return merged(parts)

    def chosen(self, drawn: Samples, estimate: str) -> Scored:
        """Choose one grouping, among firm ones after a reassignment; draws scatter too much.

        ``probable``: the most probable of them and of a few draws, over orders of its groups.
        ``central``: the one that differs from the other firm ones in the fewest pairs.
        """
        x, generator, answers = self._ready(1)
        sampler = ClusterwiseSampler(self.network, latent="mean", join="threshold")
        count = int(np.clip(MAX_DRAWN_ITEMS // len(self.x), *FIRM_BOUNDS))
        (firm,) = sampler.sample(x, count, answers=answers, generator=generator, most_scored=0)
        found = reassigned(self.network, x, firm.labels, answers=answers, generator=generator)
        if estimate == "central":
            found = found[int(_costs(found, firm, generator).argmin())][None]
        else:
            # At random: draws are kept in the order of their labels, those with few groups first.
            some = min(MIN_DRAWS, int((drawn.weights > 0).sum()))
            which = torch.multinomial(drawn.weights, some, generator=generator)
            found = torch.unique(torch.cat([found, drawn.labels[which]]), dim=0)
        scored = [
            self._score(x, row, 16, MAX_SCORED_ITEMS // len(found), generator) for row in found
        ]
        return max(scored, key=lambda one: one.log_prob)

    def score(self, labels: Ints, orders: int) -> Scored:
        """The probability of a grouping, without answers."""
        x, generator, _ = self._ready(2)
        _, named = np.unique(labels, return_inverse=True)
        row = torch.from_numpy(named.astype(np.int64)).to(x.device)
        return self._score(x, row, orders, MAX_SCORED_ITEMS, generator)

    def predictor(self, labels: Ints) -> ClusterwisePredictor:
        """Places further items, given these groups."""
        x, generator, _ = self._ready(3)
        return ClusterwisePredictor.of(self.network, x, labels, generator)

    def _score(
        self, x: Tensor, row: Tensor, orders: int, work: int, generator: torch.Generator
    ) -> Scored:
        items = self.network.items(x, None)
        room = work // (x.shape[1] * (int(row.max()) + 1))
        orders = min(orders, max(2, room // 4))
        latents = Latents(min(16, max(2, room // orders)))
        found = score(
            self.network, items, row[None], orders=orders, latents=latents, generator=generator
        )
        labels = np.asarray(row.cpu().numpy(), dtype=np.intp)
        return Scored(labels, float(found.log_prob[0]), float(found.error[0]))

    def _ready(self, use: int) -> tuple[Tensor, torch.Generator, ClusterwiseAnswers | None]:
        device = next(self.network.parameters()).device
        x = torch.from_numpy(self.x)[None].to(device)
        generator = torch.Generator(device).manual_seed(self.seed + use)
        told = self.known is not None and len(self.known.touched) > 0
        return (
            x,
            generator,
            ClusterwiseAnswers(self.known) if told and self.known is not None else None,
        )


class ClusterwisePredictor(NamedTuple):
    """Probabilities of K groups for further items, each group taken as if it came first."""

    anchor: Floats
    U: Floats
    z: Floats
    """(K, ...) each."""
    seen: Floats | None
    """(m, d) what attention saw of the fitted items; None without attention."""

    @classmethod
    @torch.no_grad()
    def of(
        cls, network: ClusterwiseNetwork, x: Tensor, labels: Ints, generator: torch.Generator
    ) -> ClusterwisePredictor:
        """From the groups 0..K-1 of the items x (1, n, d)."""
        items = network.items(x, None)
        own = torch.from_numpy(labels.astype(np.int64)).to(x.device)
        rows: list[tuple[Tensor, Tensor, Tensor]] = []
        for k in range(int(labels.max()) + 1):
            member = (own == k)[None]  # (1, n)
            rand = torch.rand(member.shape, generator=generator, device=x.device)
            anchor = rand.masked_fill(~member, -1.0).argmax(-1)[None]  # (1, 1)
            left = torch.ones_like(member)[None].scatter(-1, anchor[..., None], False)
            G = torch.zeros_like(network.describe(items, member[None]))
            context = network.look(items, left, anchor, G)
            z = G.new_zeros(1, 1, 0)
            if network.latent:
                z = network.guide(items, context, left, member[None]).mean
            rows.append((context.anchor[0, 0], context.U[0, 0], z[0, 0]))
        summary = network.summary(x)
        seen = None if summary is None else summary[0].cpu().numpy()
        anchors, pools, latents = (torch.stack(part) for part in zip(*rows, strict=True))
        return cls(anchors.cpu().numpy(), pools.cpu().numpy(), latents.cpu().numpy(), seen)

    @torch.no_grad()
    def __call__(self, network: ClusterwiseNetwork, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, K) probability of each group, given that it is exactly one of them."""
        device = next(network.parameters()).device
        anchor, U, z = (
            torch.from_numpy(part)[None].to(device) for part in (self.anchor, self.U, self.z)
        )
        G = U.new_zeros(1, len(self.U), network.sizes.width)
        seen = None if self.seen is None else torch.from_numpy(self.seen)[None].to(device)
        items: Items = network.items(
            torch.from_numpy(np.ascontiguousarray(x))[None].to(device), seen=seen
        )
        own = None if seen is None else network.beside(items, seen)
        context = PassContext(anchor, U, G, own)
        odds = join_odds(network, items, context, z[:, :, None])[0, :, 0]  # (K, n)
        # Joining on its own, but one group only: in proportion to the odds.
        return np.asarray(odds.T.softmax(1).cpu().numpy())


def _costs(found: Tensor, firm: Samples, generator: torch.Generator) -> Tensor:
    """(C,) pairs of some items in which each grouping differs from the firm ones."""
    order = torch.randperm(found.shape[1], generator=generator, device=generator.device)
    some = found[:, order[:MAX_COMPARED_ITEMS]]
    alike = Samples(some, firm.log_prob, firm.count, firm.log_weight * 0)
    return central_costs(some, alike.co_membership())
