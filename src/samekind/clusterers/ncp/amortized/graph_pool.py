"""Graphs that other processes draw ahead, so that a GPU does not wait for eigenvectors.

Processes on the CPU draw batches and send them. The newest of each range of sizes are kept on the
device, and a step takes one of them at random, with a new order of the nodes and new signs.
"""

from __future__ import annotations

import multiprocessing
import queue
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import Episode, Generator, draw_grouping
from samekind.clusterers.ncp.amortized.graphs import Graphs
from samekind.clusterers.ncp.amortized.likelihood import random_order, relabel
from samekind.clusterers.ncp.amortized.training import PointwiseTraining
from samekind.clusterers.ncp.amortized.training_loop import Sizes
from samekind.errors import SamekindError

UNIT = 16.0
"""Weights of edges are sent as whole multiples of one sixteenth, up to 15.9."""
KEPT = 48
"""Batches of each range that are kept; older ones are replaced."""
MAX_TAKEN = 3
"""Batches that are taken in between two steps."""
PATIENCE = 120.0
"""Seconds to wait for the first batch of a range."""


class Packed(NamedTuple):
    """A batch of graphs in few bits, as arrays or as tensors on the device."""

    adjacency: Any
    vectors: Any
    values: Any
    labels: Any
    mask: Any

    @classmethod
    def of(cls, episode: Episode) -> Packed:
        """As arrays that another process can read."""
        x: Graphs = episode.x
        edges = (UNIT * x.adjacency).round().clamp(0, 255).to(torch.uint8)
        parts = (edges, x.vectors.half(), x.values, episode.labels.to(torch.int16), episode.mask)
        return cls(*(part.numpy() for part in parts))

    def on(self, device: torch.device) -> Packed:
        """As tensors."""
        return Packed(*(torch.from_numpy(part).to(device) for part in self))

    def episode(self, generator: torch.Generator) -> Episode:
        """The batch with its nodes in another order, and other signs of the eigenvectors."""
        mask: Tensor = self.mask
        order = random_order(mask, generator)
        adjacency = self.adjacency.float() / UNIT
        adjacency = torch.take_along_dim(adjacency, order[..., None], dim=1)
        adjacency = torch.take_along_dim(adjacency, order[:, None], dim=2)
        coin = torch.rand(self.values.shape, generator=generator, device=mask.device)
        vectors = self.vectors.float() * torch.where(coin < 0.5, -1.0, 1.0)[:, None]
        vectors = torch.take_along_dim(vectors, order[..., None], dim=1)
        labels = torch.where(mask, relabel(self.labels.long().gather(1, order), mask), 0)
        return Episode(Graphs(adjacency, vectors, self.values), labels, mask)


class GraphPool:
    """A generator whose batches other processes have drawn; use it in a ``with`` statement.

    Parameters
    ----------
    law : generator of graphs.
    ranges : of sizes, each as often.
    batch : graphs of a batch.
    workers : processes.
    device : where batches are kept.
    """

    def __init__(
        self,
        law: Generator,
        ranges: Sequence[Sizes],
        *,
        batch: int,
        workers: int,
        device: str,
        seed: int = 0,
    ) -> None:
        self.law, self.ranges, self.batch = law, list(ranges), batch
        self.device = torch.device(device)
        self.rng = np.random.default_rng((seed, 1))
        self.kept: dict[Sizes, list[Packed]] = {points: [] for points in self.ranges}
        self.taken = dict.fromkeys(self.ranges, 0)
        self.current: dict[Sizes, Packed] = {}
        context = multiprocessing.get_context("spawn")
        self.queue: Any = context.Queue(maxsize=2 * workers)
        self.processes = [
            context.Process(
                target=work,
                args=(law, self.ranges, batch, (seed, number), self.queue),
                daemon=True,
            )
            for number in range(workers)
        ]

    @property
    def points(self) -> Sizes:
        """Smallest and largest number of nodes."""
        return self.law.points

    @property
    def max_groups(self) -> int:
        """Largest number of groups."""
        return self.law.max_groups

    def __enter__(self) -> Self:
        for process in self.processes:
            process.start()
        return self

    def __exit__(self, *problem: object) -> None:
        for process in self.processes:
            process.terminate()
            process.join()

    def choose(self, points: Sizes) -> None:
        """Take new batches in, and choose one for the next step with these sizes."""
        for _ in range(MAX_TAKEN):
            try:
                self._take(*self.queue.get_nowait())
            except queue.Empty:
                break
        began = time.monotonic()
        while not self.kept[points]:
            try:
                self._take(*self.queue.get(timeout=5.0))
            except queue.Empty:
                if time.monotonic() - began > PATIENCE:
                    raise SamekindError(
                        f"Expected graphs of {points[0]} to {points[1]} nodes from "
                        f"{len(self.processes)} processes, got none in {PATIENCE:.0f} seconds. "
                        "Draw them on the device instead (no workers)."
                    ) from None
        chosen = self.kept[points][int(self.rng.integers(len(self.kept[points])))]
        if points not in self.current:  # a recorded step reads the same memory each time
            self.current[points] = Packed(*(part.clone() for part in chosen))
        for mine, new in zip(self.current[points], chosen, strict=True):
            mine.copy_(new)

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """The chosen batch, in a random order."""
        return self.current[points or self.ranges[0]].episode(generator)

    def _take(self, points: Sizes, packed: Packed) -> None:
        kept = self.kept[points]
        if len(kept) < KEPT:
            kept.append(packed.on(self.device))
        else:
            kept[self.taken[points] % KEPT] = packed.on(self.device)
        self.taken[points] += 1


def work(*arguments: Any) -> None:
    """Draw ahead in a process of its own."""
    torch.set_num_threads(1)
    draw_ahead(*arguments)


def draw_ahead(
    law: Generator, ranges: Sequence[Sizes], batch: int, seed: tuple[int, int], out: Any
) -> None:
    """Draw batches of all ranges in turn, for as long as the process lives."""
    first = int(np.random.default_rng((*seed, 2)).integers(2**62))
    generator = torch.Generator().manual_seed(first)
    turn = seed[1]
    while True:
        points = ranges[turn % len(ranges)]
        out.put((points, Packed.of(law.draw(batch, generator, points))))
        turn += 1


class PooledTraining(PointwiseTraining):
    """Training on batches of a :class:`GraphPool`."""

    def one_step(self, points: Sizes, rate: float) -> None:
        """Choose a batch, and take one step of the optimiser."""
        pool: Any = self.generator
        pool.choose(points)
        super().one_step(points, rate)

    def _prepare(self, points: Sizes) -> None:
        """Measure the room for choices on many groupings: few batches have arrived by now."""
        pool: Any = self.generator
        self.generator = Groupings(pool.law)
        try:
            super()._prepare(points)
        finally:
            self.generator = pool


class Groupings:
    """Groupings of a law of graphs, without the graphs."""

    def __init__(self, law: Any) -> None:
        self.law, self.points, self.max_groups = law, law.points, law.max_groups

    def draw(
        self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
    ) -> Episode:
        """Labels and mask of a batch."""
        sizes = points or self.points
        found = draw_grouping(self.law.prior, batch, sizes, self.max_groups, generator)
        return Episode(None, *found)
