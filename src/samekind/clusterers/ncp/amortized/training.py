"""Training of the pointwise process: score the true groupings of drawn data sets.

On a CPU a batch is scored piece by piece, so that a piece stays in the caches; the gradients add
up.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from samekind.clusterers.ncp.amortized.generators import Episode, Generator
from samekind.clusterers.ncp.amortized.likelihood import (
    chosen,
    open_choices,
    random_order,
    relabel,
    reordered,
    step_distributions,
)
from samekind.clusterers.ncp.amortized.network import Functions, NCPNetwork, Points
from samekind.clusterers.ncp.amortized.training_loop import (
    History,
    Progress,
    Sizes,
    TrainingLoop,
    check_end,
)

CPU_POINTS = 1200
"""Points (each order counted) that a CPU scores at once: their rows stay in its caches."""
SPARE_DEVIATIONS = 3.0
"""Standard deviations by which a recorded step has more room for choices than a batch needs. Room
that is not needed is computed all the same."""


def negative_log_likelihood(
    network: Functions,
    episode: Episode,
    *,
    permutations: int = 1,
    generator: torch.Generator | None = None,
    n_groups: int | None = None,
) -> Tensor:
    """(permutations * B,) minus log-probability of the true groupings.

    The first pass is in the order in which points come; each further permutation is random. The
    encoder runs once for all.
    """
    x, labels, mask = episode
    return _of_points(
        network, network.points(x, mask), labels, mask, permutations, generator, n_groups
    )


def _of_points(
    network: Functions,
    points: Points,
    labels: Tensor,
    mask: Tensor,
    permutations: int,
    generator: torch.Generator | None,
    n_groups: int | None = None,
    capacity: int | None = None,
) -> Tensor:
    """As :func:`negative_log_likelihood`, for points that are encoded already."""
    if permutations > 1:
        many = mask.repeat(permutations - 1, 1)
        order = random_order(many, generator)
        again = Points(*(part.repeat(permutations - 1, 1, 1) for part in points))
        again = reordered(again, order)
        points = Points(*(torch.cat(parts) for parts in zip(points, again, strict=True)))
        named = relabel(labels.repeat(permutations - 1, 1).gather(1, order), many)
        labels, mask = torch.cat([labels, named]), torch.cat([mask, many])
    log_probs = step_distributions(
        network, points, labels, mask, n_groups=n_groups, capacity=capacity
    )
    return -chosen(log_probs, labels).sum(1)


def train(
    network: NCPNetwork,
    generator: Generator,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    batch: int = 64,
    lr: float = 1e-3,
    weight_decay: float = 1e-4,
    schedule: Literal["cosine", "constant"] = "cosine",
    permutations: int = 1,
    clip: float = 1.0,
    ranges: int | Sequence[tuple[int, int]] = 4,
    device: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    average: float = 0.0,
    most_points: int | None = None,
    quick: bool = False,
) -> History:
    """Train a network in place on data sets from a generator.

    Parameters
    ----------
    steps, seconds : how long; exactly one of them.
    lr, weight_decay : of AdamW. `clip` is the largest length of the gradient.
    schedule : ``cosine`` rises over the first 2 % and falls to nothing.
    permutations : orders of each data set per step.
    ranges : sizes are drawn from so many ranges, one per step, each size as often; or ranges of
        your own, each as often (:func:`doubling_ranges` has more small data sets).
    checkpoint : file to which the state is written every thousand steps and from which an
        interrupted training continues.
    average : the weights in the end are a running mean with this memory per step; 0: the last ones.
    most_points : a batch has fewer data sets where they are large, so that it holds at most so many
        points.
    quick : products in reduced precision where the device can (TF32 on a GPU, bfloat16 on a CPU);
        sums stay as they are.
    """
    check_end(steps, seconds)
    training = PointwiseTraining(
        network, generator, permutations, batch=batch, lr=lr, weight_decay=weight_decay,
        clip=clip, ranges=ranges, device=device, average=average,
        most_points=most_points,
    )  # fmt: skip
    history = training.run(steps, seconds, schedule, seed, progress, checkpoint, quick=quick)
    training.use_average()
    return history


class PointwiseTraining(TrainingLoop):
    """Training of a network that places points one after the other."""

    network: NCPNetwork

    def __init__(
        self,
        network: NCPNetwork,
        generator: Generator,
        permutations: int,
        **settings: Any,
    ) -> None:
        super().__init__(network, generator, **settings)
        self.permutations = permutations
        self.capacity: dict[Sizes, int] = {}

    def _prepare(self, points: Sizes) -> None:
        if self.records:
            self.capacity[points] = self._room(points)

    def _make_room(self) -> None:
        """Batches need more room than expected: record again."""
        self.room *= 2
        self.recorded.clear()

    def _step(self, points: Sizes, rate: Tensor, memory: Tensor) -> Tensor:
        with torch.no_grad():
            episode = self.generator.draw(self._batch(points), self.rng, points)
            left_out = torch.zeros((), device=self.device)
            if self.records:
                episode, left_out = self._that_fits(episode, points)
        n_points = episode.mask.sum() * self.permutations
        self.optimiser.zero_grad(set_to_none=True)
        nll = self._backward(episode, points, n_points.clamp_min(1))
        self._follow_gradient(rate, memory, nll, (nll, n_points, left_out / self._batch(points)))
        return nll

    def _backward(self, episode: Episode, points: Sizes, n_points: Tensor) -> Tensor:
        """Gradients of the mean NLL per point; its sum over points is returned.

        All points are encoded together, whatever the encoder looks at; what comes after that is
        scored piece by piece, and the gradients of the pieces go back through the encoder at once.
        """
        encoded = self.network.points(episode.x, episode.mask)
        leaves = Points(*(part.detach().requires_grad_() for part in encoded))
        rows, n_groups, capacity = self.batch, None, None
        if self.records:
            n_groups, capacity = min(self.generator.max_groups, points[1]), self.capacity[points]
        elif self.device.type == "cpu":
            rows = max(1, CPU_POINTS // (points[1] * self.permutations))
        parts = (leaves.h, leaves.u, episode.labels, episode.mask)
        total = torch.zeros((), device=self.device)
        for h, u, labels, mask in zip(*(torch.split(part, rows) for part in parts), strict=True):
            if not self.records and not bool(mask.any()):
                continue  # every data set of the piece had too many groups
            nll = _of_points(
                self.network, Points(h, u), labels, mask, self.permutations, self.rng,
                n_groups, capacity,
            ).sum()  # fmt: skip
            (nll / n_points).backward()  # type: ignore[no-untyped-call]
            total = total + nll.detach()
        grads = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]
        torch.autograd.backward(list(encoded), grads)
        return total

    def _room(self, points: Sizes) -> int:
        """Open choices for which a recorded step has room: what nearly all batches need."""
        rng, each = torch.Generator(self.device).manual_seed(points[0]), []
        batch = self._batch(points)
        for _ in range(-(-1024 // batch)):
            _, labels, mask = self.generator.draw(batch, rng, points)
            each.append(open_choices(labels, mask).double())
        need = torch.cat(each)
        most = batch * need.mean() + SPARE_DEVIATIONS * batch**0.5 * need.std()
        all_choices = batch * points[1] * (min(self.generator.max_groups, points[1]) + 1)
        return min(all_choices, self.room * int(most)) * self.permutations

    def _that_fits(self, episode: Episode, points: Sizes) -> tuple[Episode, Tensor]:
        """The batch without the last of its data sets, should it have too many choices."""
        x, labels, mask = episode
        fits = open_choices(labels, mask).cumsum(0) * self.permutations <= self.capacity[points]
        mask = mask & fits[:, None]
        return Episode(x, torch.where(mask, labels, 0), mask), (~fits).sum()
