"""Training of the clusterwise process: the same generators, schedule and history as the pointwise.

On a GPU a whole step, drawing included, is recorded and repeated as one launch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork
from samekind.clusterers.ncp.amortized.clusterwise_bound import clusterwise_loss
from samekind.clusterers.ncp.amortized.generators import Generator
from samekind.clusterers.ncp.amortized.training import (
    EVERY,
    History,
    Progress,
    rate_at,
    size_ranges,
)
from samekind.compute import Recorded, best_device, quick_kernels
from samekind.errors import InputError, SamekindError


def train_clusterwise(
    network: ClusterwiseNetwork,
    generator: Generator,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    batch: int = 32,
    lr: float = 1e-3,
    weight_decay: float = 1e-4,
    schedule: Literal["cosine", "constant"] = "cosine",
    passes: int = 4,
    draws: int = 8,
    average: float = 0.998,
    clip: float = 1.0,
    ranges: int = 4,
    device: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    quick: bool = False,
) -> History:
    """Train a network in place on data sets from a generator.

    The history tells the bound on the NLL per point of the grouping, over all orders of its groups,
    so it can be compared with that of the pointwise process.

    Parameters
    ----------
    steps, seconds : how long; exactly one of them.
    lr, weight_decay : of AdamW. `clip` is the largest length of the gradient.
    schedule : ``cosine`` rises over the first 2 % and falls to nothing.
    passes : groups of each data set that are learnt from in a step.
    draws : of z for each pass; more make the bound tighter and cost as much more (40 in the
        published program).
    average : the weights in the end are a running mean with this memory per step; 0: the last ones.
    ranges : sizes are drawn from so many ranges, one per step.
    quick : products in reduced precision (TF32) on a GPU that has it; sums stay as they are.
    """
    if (steps is None) == (seconds is None):
        raise InputError(
            f"Training needs an end: give either steps or seconds (steps={steps}, "
            f"seconds={seconds} came)."
        )
    if passes < 1 or draws < 1:
        raise InputError(
            f"Each step needs passes and draws (passes={passes}, draws={draws} came). Give at "
            "least one of each."
        )
    work = _Work(network, generator, batch, lr, weight_decay, clip, device)
    work.passes, work.draws, work.average = passes, draws, average
    ends = size_ranges(generator.points, ranges)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if quick else "highest")
    try:
        with quick_kernels():
            history = _run(work, ends, steps, seconds, schedule, seed, progress)
    finally:
        torch.set_float32_matmul_precision(before)
    work.settle()
    return history


class _Work:
    """The moving parts of a training."""

    passes, draws, average = 4, 8, 0.998

    def __init__(
        self,
        network: ClusterwiseNetwork,
        generator: Generator,
        batch: int,
        lr: float,
        weight_decay: float,
        clip: float,
        device: str | None,
    ) -> None:
        self.device = torch.device(best_device(device).device)
        self.network = network.to(self.device).train()
        self.generator, self.batch, self.lr, self.clip = generator, batch, lr, clip
        self.chance = torch.Generator(self.device)
        self.records = self.device.type not in ("cpu", "mps")
        rate: Any = torch.tensor(lr, device=self.device) if self.records else lr
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=rate, weight_decay=weight_decay,
            fused=self.records, capturable=self.records,
        )  # fmt: skip
        self.mean = [value.detach().clone() for value in network.parameters()]
        self.broken = torch.zeros((), dtype=torch.bool, device=self.device)
        self.total = torch.zeros(2, device=self.device)
        self.recorded: dict[tuple[int, int], Recorded] = {}

    def one_step(self, points: tuple[int, int], rate: float, memory: float) -> None:
        """One batch and one step of the optimiser."""
        if points not in self.recorded:
            work = lambda rate, memory: self._step(points, rate, memory)  # noqa: E731
            self.recorded[points] = Recorded(work, chances=[self.chance])
        # Filled on the device: a copy from the host would wait for it.
        given = (torch.full((), value, device=self.device) for value in (rate, memory))
        self.recorded[points](*given)

    def _step(self, points: tuple[int, int], rate: Tensor, memory: Tensor) -> Tensor:
        """All that happens on the device; it never waits for it, so it can be recorded."""
        with torch.no_grad():
            episode = self.generator.draw(self.batch, self.chance, points)
        n_groups = min(self.generator.max_groups, points[1]) if self.records else None
        loss = clusterwise_loss(
            self.network, episode, passes=self.passes, draws=self.draws, generator=self.chance,
            n_groups=n_groups,
        )  # fmt: skip
        n_points = episode.mask.sum()
        objective = loss.surrogate.sum() / n_points.clamp_min(1)
        self.optimiser.zero_grad(set_to_none=True)
        objective.backward()  # type: ignore[no-untyped-call]
        length = nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
        for group in self.optimiser.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].copy_(rate)
            else:
                group["lr"] = float(rate)
        self.optimiser.step()
        with torch.no_grad():
            for mean, value in zip(self.mean, self.network.parameters(), strict=True):
                mean.lerp_(value, 1 - memory)
        # Noted on the device, so that nobody waits for it; looked at now and then.
        self.broken |= ~(torch.isfinite(objective.detach()) & torch.isfinite(length))
        self.total += torch.stack([loss.nll.sum(), n_points.to(loss.nll.dtype)])
        return objective.detach()

    def mean_loss(self, step: int) -> float:
        """Since the last look; waits for the device."""
        if bool(self.broken):
            raise SamekindError(
                f"Training broke down before step {step}: the loss or its gradient is not a finite "
                f"number. Try a learning rate below {self.lr:g}."
            )
        total, count = self.total.tolist()
        self.total.zero_()
        return float(total / max(count, 1.0))

    def settle(self) -> None:
        """The running mean becomes the network."""
        with torch.no_grad():
            for mean, value in zip(self.mean, self.network.parameters(), strict=True):
                value.copy_(mean)
        self.network.eval()


def _run(
    work: _Work,
    ends: Sequence[tuple[int, int]],
    steps: int | None,
    seconds: float | None,
    schedule: str,
    seed: int,
    progress: Progress | None,
) -> History:
    history, began, step, done = History(), time.monotonic(), 0, 0.0
    widths = np.array([high - low + 1 for low, high in ends], dtype=float)
    while done < 1:
        chance = np.random.default_rng((seed, step))
        points = ends[int(chance.choice(len(ends), p=widths / widths.sum()))]
        work.chance.manual_seed(int(chance.integers(2**62)))
        # A short memory at first: the mean must not remember how it began.
        memory = min(work.average, step / (step + 10.0))
        work.one_step(points, work.lr * rate_at(done, schedule), memory)
        step += 1
        spent = time.monotonic() - began
        done = step / steps if steps else spent / (seconds or 1.0)
        if step % EVERY == 0 or done >= 1:
            history.steps.append(step)
            history.seconds.append(spent)
            history.nll_per_point.append(work.mean_loss(step))
            if progress is not None:
                progress(step, min(done, 1.0), history.nll_per_point[-1])
    return history
