"""The posterior that takes out one whole group per pass: for sets too large for one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork, Items, Outlook
from samekind.clusterers.ncp.amortized.clusterwise_answers import Together
from samekind.clusterers.ncp.amortized.clusterwise_sampler import ClusterwiseSampler, join_odds
from samekind.clusterers.ncp.amortized.clusterwise_sweep import swept
from samekind.clusterers.ncp.amortized.ordered import Latents, score
from samekind.clusterers.ncp.amortized.samples import Samples, merged
from samekind.clusterers.ncp.pointwise import Scored, central_costs
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]

DRAWN = 200_000
"""Items in all draws together; fewer draws are made of large sets."""
FEWEST = 8
"""Draws that are made of any set, if so many are wanted."""
AT_ONCE = 1_000_000
"""Items in the draws that are made side by side: bounds the memory."""
FIRM = (4, 16)
"""Fewest and most groupings without chance but for the anchors: better single ones than draws."""
COMPARED = 1_000
"""Items whose pairs say which grouping is central."""
WORK = 1_000_000
"""Items that are looked at for probabilities, in all passes and draws together."""


def n_drawn(wanted: int, n_items: int) -> int:
    """How many draws are made of so many items."""
    return min(wanted, max(FEWEST, DRAWN // max(1, n_items)))


@dataclass(frozen=True)
class Clusterwise:
    """The posterior of one data set under a network that takes out one group per pass.

    Parameters
    ----------
    network : trained.
    x : (n, d) calibrated vectors.
    known : what the answers say about them; None: nothing.
    seed : of all chance.
    """

    network: ClusterwiseNetwork
    x: NDArray[np.float32]
    known: Constraints | None
    seed: int

    def samples(self, n_samples: int, orders: int) -> Samples:
        """Draws that honour every answer, with importance weights; their probability is not told.

        `orders` is for the pointwise posterior; here anchors are drawn anew for each draw.
        """
        x, chance, together = self._ready(0)
        sampler = ClusterwiseSampler(self.network)
        size = max(1, AT_ONCE // len(self.x))
        parts = []
        for begin in range(0, n_samples, size):
            count = min(size, n_samples - begin)
            parts += sampler.sample(x, count, together=together, generator=chance, most_scored=0)
        return merged(parts)

    def chosen(self, drawn: Samples, estimate: str) -> Scored:
        """One grouping for all, of firm ones after a sweep; draws scatter too much to be one.

        ``probable``: the most probable of them and of a few draws, over orders of its groups.
        ``central``: the one that differs from the other firm ones about the fewest pairs.
        """
        x, chance, together = self._ready(1)
        sampler = ClusterwiseSampler(self.network, latent="mean", join="threshold")
        count = int(np.clip(DRAWN // len(self.x), *FIRM))
        (firm,) = sampler.sample(x, count, together=together, generator=chance, most_scored=0)
        found = swept(self.network, x, firm.labels, together=together, generator=chance)
        if estimate == "central":
            found = found[int(_costs(found, firm, chance).argmin())][None]
        else:
            # By chance: draws are kept in the order of their labels, those with few groups first.
            some = min(FEWEST, int((drawn.weights > 0).sum()))
            which = torch.multinomial(drawn.weights, some, generator=chance)
            found = torch.unique(torch.cat([found, drawn.labels[which]]), dim=0)
        scored = [self._score(x, row, 16, WORK // len(found), chance) for row in found]
        return max(scored, key=lambda one: one.log_prob)

    def score(self, labels: Ints, orders: int) -> Scored:
        """The probability of a grouping, without answers."""
        x, chance, _ = self._ready(2)
        _, named = np.unique(labels, return_inverse=True)
        row = torch.from_numpy(named.astype(np.int64)).to(x.device)
        return self._score(x, row, orders, WORK, chance)

    def placer(self, labels: Ints) -> GroupPlacer:
        """What places further items when these are grouped so."""
        x, chance, _ = self._ready(3)
        return GroupPlacer.of(self.network, x, labels, chance)

    def _score(
        self, x: Tensor, row: Tensor, orders: int, work: int, chance: torch.Generator
    ) -> Scored:
        items = self.network.items(x, None)
        room = work // (x.shape[1] * (int(row.max()) + 1))
        orders = min(orders, max(2, room // 4))
        latents = Latents(min(16, max(2, room // orders)))
        found = score(
            self.network, items, row[None], orders=orders, latents=latents, generator=chance
        )
        labels = np.asarray(row.cpu().numpy(), dtype=np.intp)
        return Scored(labels, float(found.log_prob[0]), float(found.error[0]))

    def _ready(self, use: int) -> tuple[Tensor, torch.Generator, Together | None]:
        device = next(self.network.parameters()).device
        x = torch.from_numpy(self.x)[None].to(device)
        chance = torch.Generator(device).manual_seed(self.seed + use)
        told = self.known is not None and len(self.known.touched) > 0
        return x, chance, Together(self.known) if told and self.known is not None else None


class GroupPlacer(NamedTuple):
    """How probably further items belong to each of K groups, each taken as if it came first."""

    anchor: Floats
    U: Floats
    z: Floats
    """(K, ...) each."""

    @classmethod
    @torch.no_grad()
    def of(
        cls, network: ClusterwiseNetwork, x: Tensor, labels: Ints, chance: torch.Generator
    ) -> GroupPlacer:
        """From the groups 0..K-1 of the items x (1, n, d)."""
        items = network.items(x, None)
        own = torch.from_numpy(labels.astype(np.int64)).to(x.device)
        rows: list[tuple[Tensor, Tensor, Tensor]] = []
        for k in range(int(labels.max()) + 1):
            member = (own == k)[None]  # (1, n)
            rand = torch.rand(member.shape, generator=chance, device=x.device)
            anchor = rand.masked_fill(~member, -1.0).argmax(-1)[None]  # (1, 1)
            left = torch.ones_like(member)[None].scatter(-1, anchor[..., None], False)
            G = torch.zeros_like(network.describe(items, member[None]))
            outlook = network.look(items, left, anchor, G)
            z = G.new_zeros(1, 1, 0)
            if network.latent:
                z = network.guide(items, outlook, left, member[None]).mean
            rows.append((outlook.anchor[0, 0], outlook.U[0, 0], z[0, 0]))
        return cls(*(torch.stack(part).cpu().numpy() for part in zip(*rows, strict=True)))

    @torch.no_grad()
    def __call__(self, network: ClusterwiseNetwork, x: NDArray[np.float32]) -> NDArray[np.float32]:
        """(n, K) probability of each group, given that it is exactly one of them."""
        device = next(network.parameters()).device
        items: Items = network.items(torch.from_numpy(np.ascontiguousarray(x))[None].to(device))
        anchor, U, z = (torch.from_numpy(part)[None].to(device) for part in self)
        G = U.new_zeros(1, len(self.U), network.sizes.width)
        odds = join_odds(network, items, Outlook(anchor, U, G), z[:, :, None])[0, :, 0]  # (K, n)
        # Joining on its own, but one group only: in proportion to the odds.
        return np.asarray(odds.T.softmax(1).cpu().numpy())


def _costs(found: Tensor, firm: Samples, chance: torch.Generator) -> Tensor:
    """(C,) pairs of some items about which each grouping differs from all, `firm` by its counts."""
    order = torch.randperm(found.shape[1], generator=chance, device=chance.device)
    some = found[:, order[:COMPARED]]
    return central_costs(some, Samples(some, firm.log_prob, firm.count, firm.log_weight * 0))
