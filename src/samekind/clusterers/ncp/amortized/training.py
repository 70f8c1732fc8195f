"""Training: draw data sets, score their true groupings, follow the gradient.

On a GPU a whole step, drawing included, is recorded and repeated as one launch. On a CPU a batch is
scored piece by piece, so that a piece stays in the caches; the gradients add up. Sizes come from a
few ranges, one per step, so shapes are few and little is padding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from samekind.clusterers.ncp.amortized.generators import Episode, Generator
from samekind.clusterers.ncp.amortized.likelihood import (
    chosen,
    law_of_steps,
    open_choices,
    random_order,
    relabel,
    reordered,
)
from samekind.clusterers.ncp.amortized.network import Functions, NCPNetwork, Points
from samekind.clusterers.ncp.amortized.weights import read_tensors, write_tensors
from samekind.compute import Recorded, best_device, quick_kernels
from samekind.errors import InputError, SamekindError

EVERY = 50
"""Steps between two looks at the loss, which waits for the device."""
SAVE_EVERY = 1000
"""Steps between two checkpoints."""
PIECE = 1200
"""Points (each order counted) that a CPU scores at once: their rows stay in its caches."""
SPARE = 6.0
"""Standard deviations by which a recorded step has more room for choices than a batch needs."""


@dataclass
class History:
    """How a training went: at each look, the step, the seconds, and the mean NLL per point."""

    steps: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    nll_per_point: list[float] = field(default_factory=list)


Progress = Callable[[int, float, float], None]
"""Told the step, the part that is done (0 to 1) and the mean NLL per point; may raise to stop."""


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
    log_probs = law_of_steps(network, points, labels, mask, n_groups=n_groups, capacity=capacity)
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
        one's own, each as often (:func:`doubling_ranges` has more small data sets).
    checkpoint : file to which the state is written every thousand steps and from which an
        interrupted training goes on.
    quick : products in reduced precision (TF32) on a GPU that has it; sums stay as they are.
    """
    if (steps is None) == (seconds is None):
        raise InputError(
            f"Training needs an end: give either steps or seconds (steps={steps}, "
            f"seconds={seconds} came)."
        )
    where = best_device(device).device
    network.to(where).train()
    work = _Training(network, generator, batch, lr, weight_decay, permutations, clip, where)
    if isinstance(ranges, int):
        work.ranges = size_ranges(generator.points, ranges)
        work.shares = [high - low + 1 for low, high in work.ranges]
    else:
        work.ranges, work.shares = list(ranges), [1] * len(ranges)
    if checkpoint is not None and Path(checkpoint).exists():
        work.resume(checkpoint)
    with _precision("high" if quick else "highest"), quick_kernels():
        history = work.run(steps, seconds, schedule, seed, progress, checkpoint)
    network.eval()
    return history


def size_ranges(points: tuple[int, int], ranges: int) -> list[tuple[int, int]]:
    """Sizes split into neighbouring ranges of about equal length.

    >>> size_ranges((5, 99), 4)
    [(5, 28), (29, 52), (53, 76), (77, 99)]
    """
    low, high = points
    ends = np.linspace(low - 1, high, min(ranges, high - low + 1) + 1)
    whole = np.ceil(ends - 1e-9).astype(int)
    return [(int(a) + 1, int(b)) for a, b in pairwise(whole)]


def doubling_ranges(points: tuple[int, int]) -> list[tuple[int, int]]:
    """Sizes split into ranges that end at twice the size each: small data sets as often as large.

    >>> doubling_ranges((4, 100))
    [(4, 8), (9, 18), (19, 38), (39, 78), (79, 100)]
    """
    low, high = points
    found = []
    while low <= high:
        found.append((low, min(2 * low, high)))
        low = found[-1][1] + 1
    return found


def rate_at(done: float, schedule: str) -> float:
    """Which part of the learning rate is used when this part of the training is done."""
    if schedule == "constant":
        return 1.0
    if schedule != "cosine":
        raise InputError(f"{schedule!r} is not a schedule. Choose cosine or constant.")
    if done < 0.02:
        return max(done / 0.02, 1e-2)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - 0.02) / 0.98)))


class _Training:
    """The moving parts of a training."""

    def __init__(
        self,
        network: NCPNetwork,
        generator: Generator,
        batch: int,
        lr: float,
        weight_decay: float,
        permutations: int,
        clip: float,
        device: str,
    ) -> None:
        self.network, self.generator, self.batch = network, generator, batch
        self.lr, self.permutations, self.clip = lr, permutations, clip
        self.device = torch.device(device)
        self.chance = torch.Generator(self.device)
        self.records = self.device.type not in ("cpu", "mps")
        rate: Any = torch.tensor(lr, device=self.device) if self.records else lr
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=rate, weight_decay=weight_decay,
            fused=self.records, capturable=self.records,
        )  # fmt: skip
        self.ranges: Sequence[tuple[int, int]] = [generator.points]
        self.shares: Sequence[int] = [1]
        self.broken = torch.zeros((), dtype=torch.bool, device=self.device)
        # Sum of NLL, points, and data sets that a recorded step had no room for.
        self.total = torch.zeros(3, device=self.device)
        self.room = 1
        self.recorded: dict[tuple[int, int], Recorded] = {}
        self.capacity: dict[tuple[int, int], int] = {}
        self.step, self.spent = 0, 0.0

    def run(
        self,
        steps: int | None,
        seconds: float | None,
        schedule: str,
        seed: int,
        progress: Progress | None,
        checkpoint: str | Path | None,
    ) -> History:
        history, began = History(), time.monotonic() - self.spent
        done = self.step / steps if steps else self.spent / (seconds or 1.0)
        shares = np.array(self.shares, dtype=float)
        while done < 1:
            chance = np.random.default_rng((seed, self.step))
            points = self.ranges[int(chance.choice(len(shares), p=shares / shares.sum()))]
            # Chance depends on seed and step alone: resuming needs no saved state of it.
            self.chance.manual_seed(int(chance.integers(2**62)))
            self.one_step(points, self.lr * rate_at(done, schedule))
            self.step += 1
            self.spent = time.monotonic() - began
            done = self.step / steps if steps else self.spent / (seconds or 1.0)
            if self.step % EVERY == 0 or done >= 1:
                loss = self._mean_loss()
                history.steps.append(self.step)
                history.seconds.append(self.spent)
                history.nll_per_point.append(loss)
                if progress is not None:
                    progress(self.step, min(done, 1.0), loss)
            if checkpoint is not None and (self.step % SAVE_EVERY == 0 or done >= 1):
                self.save(checkpoint)
        return history

    def one_step(self, points: tuple[int, int], rate: float) -> None:
        """One batch and one step of the optimiser."""
        if points not in self.recorded:
            if self.records:
                self.capacity[points] = self._room(points)
            work = lambda given: self._step(points, given)  # noqa: E731
            self.recorded[points] = Recorded(work, chances=[self.chance])
        given = torch.full((), rate, device=self.device)
        self.recorded[points](given)

    def _step(self, points: tuple[int, int], rate: Tensor) -> Tensor:
        """All that happens on the device; it never waits for it, so it can be recorded."""
        with torch.no_grad():
            episode = self.generator.draw(self.batch, self.chance, points)
            left_out = torch.zeros((), device=self.device)
            if self.records:
                episode, left_out = self._that_fits(episode, points)
        n_points = episode.mask.sum() * self.permutations
        self.optimiser.zero_grad(set_to_none=True)
        nll = self._follow(episode, points, n_points.clamp_min(1))
        length = nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
        for group in self.optimiser.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].copy_(rate)
            else:
                group["lr"] = float(rate)
        self.optimiser.step()
        # Noted on the device, so that nobody waits for it; looked at now and then.
        self.broken |= ~(torch.isfinite(nll) & torch.isfinite(length))
        self.total += torch.stack([nll, n_points.to(nll.dtype), left_out.to(nll.dtype)])
        return nll

    def _follow(self, episode: Episode, points: tuple[int, int], n_points: Tensor) -> Tensor:
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
            rows = max(1, PIECE // (points[1] * self.permutations))
        parts = (leaves.h, leaves.u, episode.labels, episode.mask)
        total = torch.zeros((), device=self.device)
        for h, u, labels, mask in zip(*(torch.split(part, rows) for part in parts), strict=True):
            nll = _of_points(
                self.network, Points(h, u), labels, mask, self.permutations, self.chance,
                n_groups, capacity,
            ).sum()  # fmt: skip
            (nll / n_points).backward()  # type: ignore[no-untyped-call]
            total = total + nll.detach()
        torch.autograd.backward(list(encoded), [leaf.grad for leaf in leaves])
        return total

    def _room(self, points: tuple[int, int]) -> int:
        """Open choices for which a recorded step has room: what nearly all batches need."""
        chance, each = torch.Generator(self.device).manual_seed(points[0]), []
        for _ in range(-(-1024 // self.batch)):
            _, labels, mask = self.generator.draw(self.batch, chance, points)
            each.append(open_choices(labels, mask).double())
        need = torch.cat(each)
        most = self.batch * need.mean() + SPARE * self.batch**0.5 * need.std() + need.max()
        all_choices = self.batch * points[1] * (min(self.generator.max_groups, points[1]) + 1)
        return min(all_choices, self.room * int(most)) * self.permutations

    def _that_fits(self, episode: Episode, points: tuple[int, int]) -> tuple[Episode, Tensor]:
        """The batch without the last of its data sets, should it have too many choices."""
        x, labels, mask = episode
        fits = open_choices(labels, mask).cumsum(0) * self.permutations <= self.capacity[points]
        mask = mask & fits[:, None]
        return Episode(x, torch.where(mask, labels, 0), mask), (~fits).sum()

    def _mean_loss(self) -> float:
        if bool(self.broken):
            raise SamekindError(
                f"Training broke down before step {self.step}: the loss or its gradient is not a "
                f"finite number. Try a learning rate below {self.lr:g}."
            )
        total, count, left_out = self.total.tolist()
        self.total.zero_()
        if left_out:  # batches need more room than they seemed to: record anew
            self.room *= 2
            self.recorded.clear()
        return float(total / max(count, 1.0))

    def save(self, path: str | Path) -> None:
        """All that is needed to go on."""
        tensors = {f"network.{name}": t for name, t in self.network.state_dict().items()}
        for index, values in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{key}": value for key, value in values.items()}
        sizes = self.network.sizes.as_json()
        facts = {"sizes": sizes, "step": self.step, "spent": self.spent, "room": self.room}
        write_tensors(path, tensors, facts)

    def resume(self, path: str | Path) -> None:
        """Go on from what :meth:`save` wrote."""
        tensors, facts = read_tensors(path)
        if facts.get("sizes") != self.network.sizes.as_json() or "step" not in facts:
            raise InputError(
                f"The checkpoint {str(path)!r} belongs to another network. Use the same sizes, or "
                "another file."
            )
        self.network.load_state_dict(_part(tensors, "network"))
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in _part(tensors, "optimiser").items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": moments, "param_groups": groups})
        self.step, self.spent = int(facts["step"]), float(facts["spent"])
        self.room = int(facts.get("room", 1))


def _part(tensors: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    begin = f"{name}."
    return {key[len(begin) :]: value for key, value in tensors.items() if key.startswith(begin)}


@contextmanager
def _precision(wanted: str) -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(wanted)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
