"""The loop of training: ranges of sizes, learning rates, recorded steps, and the history.

On a GPU a whole step, drawing included, is recorded and repeated as one launch. Sizes come from a
few ranges, one per step, so shapes are few and little is padding.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork
from samekind.clusterers.ncp.amortized.generators import Generator
from samekind.clusterers.ncp.amortized.network import NCPNetwork
from samekind.clusterers.ncp.amortized.weights import read_tensors, write_tensors
from samekind.compute import Recorded, best_device, matmul_precision, quick_kernels
from samekind.errors import InputError, SamekindError

SAVE_EVERY = 1000
"""Steps between two checkpoints."""
MAX_LEFT_OUT = 0.01
"""Share of data sets that recorded steps may have no room for."""
REPORT_EVERY = 50
"""Steps between two reports of the loss, which wait for the device."""

Sizes = tuple[int, int]
"""Smallest and largest number of points of a data set."""
Progress = Callable[[int, float, float], None]
"""Called with the step, the part that is done (0 to 1) and the mean NLL per point; may raise to
stop."""


@dataclass
class History:
    """The course of a training: step, seconds and mean NLL per point at each report."""

    steps: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    nll_per_point: list[float] = field(default_factory=list)


class TrainingLoop(ABC):
    """Trains a network in place on what a generator draws; subclasses say what one step is.

    Parameters
    ----------
    ranges : sizes are drawn from so many ranges, one per step, each size as often; or ranges of
        your own, each as often (:func:`doubling_ranges` has more small data sets).
    clip : largest length of the gradient.
    average : the weights in the end are a running mean with this memory per step; 0: the last ones.
    most_points : a batch has fewer data sets where they are large, so that it holds at most so many
        points (padding included); None: always `batch` data sets.
    """

    def __init__(
        self,
        network: NCPNetwork | ClusterwiseNetwork,
        generator: Generator,
        *,
        batch: int,
        lr: float,
        weight_decay: float,
        clip: float,
        ranges: int | Sequence[Sizes],
        device: str | None,
        average: float = 0.0,
        most_points: int | None = None,
    ) -> None:
        self.device = torch.device(best_device(device).device)
        network.to(self.device).train()
        self.parameters = list(network.parameters())
        self.generator, self.batch, self.lr, self.clip = generator, batch, lr, clip
        self.network: NCPNetwork | ClusterwiseNetwork = network
        self.average, self.most_points = average, most_points
        self.mean = [value.detach().clone() for value in self.parameters]
        self.rng = torch.Generator(self.device)
        self.records = self.device.type not in ("cpu", "mps")
        rate: Any = torch.tensor(lr, device=self.device) if self.records else lr
        self.optimiser = torch.optim.AdamW(
            self.parameters, lr=rate, weight_decay=weight_decay,
            fused=self.records, capturable=self.records,
        )  # fmt: skip
        if isinstance(ranges, int):
            self.ranges: Sequence[Sizes] = size_ranges(generator.points, ranges)
            self.shares = [high - low + 1 for low, high in self.ranges]
        else:
            self.ranges, self.shares = list(ranges), [1] * len(ranges)
        self.broken = torch.zeros((), dtype=torch.bool, device=self.device)
        # Sum of NLL, points, and shares of data sets that recorded steps had no room for.
        self.total = torch.zeros(3, device=self.device)
        self.recorded: dict[Sizes, Recorded] = {}
        self.step, self.spent = 0, 0.0
        self.checkpoint: str | Path | None = None
        self.room = 1
        """By which subclasses enlarge what recorded steps have room for."""

    def run(
        self,
        steps: int | None,
        seconds: float | None,
        schedule: str,
        seed: int,
        progress: Progress | None = None,
        checkpoint: str | Path | None = None,
        *,
        quick: bool = False,
    ) -> History:
        """Train for so many steps or seconds, from a checkpoint if there is one.

        `quick` allows products in reduced precision: TF32, or on a CPU bfloat16 where it can.
        """
        self.checkpoint = checkpoint
        if checkpoint is not None and Path(checkpoint).exists():
            self.resume(checkpoint)
        reduced = "medium" if self.device.type == "cpu" else "high"
        with matmul_precision(reduced if quick else "highest"), quick_kernels():
            return self._run(steps, seconds, schedule, seed, progress)

    def _run(
        self,
        steps: int | None,
        seconds: float | None,
        schedule: str,
        seed: int,
        progress: Progress | None,
    ) -> History:
        history, began = History(), time.monotonic() - self.spent
        done = self.step / steps if steps else self.spent / (seconds or 1.0)
        shares = np.array(self.shares, dtype=float)
        while done < 1:
            rng = np.random.default_rng((seed, self.step))
            points = self.ranges[int(rng.choice(len(shares), p=shares / shares.sum()))]
            # Randomness depends on seed and step alone: resuming needs no saved state of it.
            self.rng.manual_seed(int(rng.integers(2**62)))
            self.one_step(points, self.lr * rate_at(done, schedule))
            self.step += 1
            self.spent = time.monotonic() - began
            done = self.step / steps if steps else self.spent / (seconds or 1.0)
            if self.step % REPORT_EVERY == 0 or done >= 1:
                loss = self._mean_loss()
                history.steps.append(self.step)
                history.seconds.append(self.spent)
                history.nll_per_point.append(loss)
                if progress is not None:
                    progress(self.step, min(done, 1.0), loss)
            if self.checkpoint is not None and (self.step % SAVE_EVERY == 0 or done >= 1):
                self.save(self.checkpoint)
        return history

    def one_step(self, points: Sizes, rate: float) -> None:
        """Take one batch and one step of the optimiser."""
        if points not in self.recorded:
            self._prepare(points)
            work = lambda *given: self._step(points, *given)  # noqa: E731
            self.recorded[points] = Recorded(work, chances=[self.rng])
        # Filled on the device: a copy from the host would wait for it.
        given = (torch.full((), value, device=self.device) for value in (rate, self._memory()))
        self.recorded[points](*given)

    def _prepare(self, points: Sizes) -> None:  # noqa: B027  (an optional hook)
        """Called before a step with these sizes is recorded."""

    def _batch(self, points: Sizes) -> int:
        """Data sets in a batch of these sizes."""
        if self.most_points is None:
            return self.batch
        return max(1, min(self.batch, self.most_points // points[1]))

    def _memory(self) -> float:
        """Memory of the running mean at this step: short at first."""
        return min(self.average, self.step / (self.step + 10.0))

    def use_average(self) -> None:
        """Make the running mean the weights of the network."""
        with torch.no_grad():
            for mean, value in zip(self.mean, self.parameters, strict=True):
                value.copy_(mean)
        self.network.eval()

    @abstractmethod
    def _step(self, points: Sizes, rate: Tensor, memory: Tensor) -> Tensor:
        """Do all work on the device, without waiting for it, so that it can be recorded."""

    def _follow_gradient(
        self, rate: Tensor, memory: Tensor, loss: Tensor, total: Sequence[Tensor]
    ) -> None:
        """Take a step along the gradients, and note mean, loss and totals on the device."""
        length = nn.utils.clip_grad_norm_(self.parameters, self.clip)
        for group in self.optimiser.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].copy_(rate)
            else:
                group["lr"] = float(rate)
        self.optimiser.step()
        with torch.no_grad():
            latest = torch._foreach_mul([p.detach() for p in self.parameters], 1 - memory)
            torch._foreach_mul_(self.mean, memory)
            torch._foreach_add_(self.mean, latest)
        self.broken |= ~(torch.isfinite(loss) & torch.isfinite(length))
        self.total[: len(total)] += torch.stack([part.to(self.total.dtype) for part in total])

    def _mean_loss(self) -> float:
        """Mean NLL per point since the last report; waits for the device."""
        if bool(self.broken):
            raise SamekindError(
                f"Training broke down before step {self.step}: the loss or its gradient is not a "
                f"finite number. Try a learning rate below {self.lr:g}."
            )
        total, count, left_out = self.total.tolist()
        self.total.zero_()
        if left_out > MAX_LEFT_OUT * REPORT_EVERY:
            self._make_room()
        return float(total / max(count, 1.0))

    def _make_room(self) -> None:  # noqa: B027  (an optional hook)
        """Called when recorded steps had no room for some data sets."""

    def save(self, path: str | Path) -> None:
        """Write all that is needed to continue."""
        tensors = {f"network.{name}": t for name, t in self.network.state_dict().items()}
        for index, values in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{key}": value for key, value in values.items()}
        tensors |= {f"mean.{index}": value for index, value in enumerate(self.mean)}
        sizes = self.network.sizes.as_json()
        facts = {"sizes": sizes, "step": self.step, "spent": self.spent, "room": self.room}
        write_tensors(path, tensors, facts)

    def resume(self, path: str | Path) -> None:
        """Continue from what :meth:`save` wrote."""
        tensors, facts = read_tensors(path)
        if facts.get("sizes") != self.network.sizes.as_json() or "step" not in facts:
            raise InputError(
                f"The checkpoint {str(path)!r} belongs to another network. Use the same sizes, or "
                "give another file."
            )
        self.network.load_state_dict(_part(tensors, "network"))
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in _part(tensors, "optimiser").items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = value
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": moments, "param_groups": groups})
        means = _part(tensors, "mean")
        with torch.no_grad():
            for place, mean in enumerate(self.mean):
                mean.copy_(means[str(place)])
        self.step, self.spent = int(facts["step"]), float(facts["spent"])
        self.room = int(facts.get("room", 1))


def check_end(steps: int | None, seconds: float | None) -> None:
    """Check that a training has exactly one end."""
    if (steps is None) == (seconds is None):
        raise InputError(
            f"Expected either steps or seconds, so that training ends, got steps={steps} and "
            f"seconds={seconds}. Give one of them."
        )


def size_ranges(points: Sizes, ranges: int) -> list[Sizes]:
    """Sizes split into neighbouring ranges of about equal length.

    >>> size_ranges((5, 99), 4)
    [(5, 28), (29, 52), (53, 76), (77, 99)]
    """
    low, high = points
    ends = np.linspace(low - 1, high, min(ranges, high - low + 1) + 1)
    whole = np.ceil(ends - 1e-9).astype(int)
    return [(int(a) + 1, int(b)) for a, b in pairwise(whole)]


def doubling_ranges(points: Sizes) -> list[Sizes]:
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
    """Share of the learning rate when this share of the training is done."""
    if schedule == "constant":
        return 1.0
    if schedule != "cosine":
        raise InputError(f"Expected the schedule cosine or constant, got {schedule!r}.")
    if done < 0.02:
        return max(done / 0.02, 1e-2)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - 0.02) / 0.98)))


def _part(tensors: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    begin = f"{name}."
    return {key[len(begin) :]: value for key, value in tensors.items() if key.startswith(begin)}
