"""Base of trainings on answers: a copy of the network, trained in a loop of its own.

A loss that is not a number ends it early with a warning, not with an error: the network that it
began with is there to fall back on, so nobody has to lose a session over it.
"""

from __future__ import annotations

import math
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from samekind.compute import RECORDING, Compute, Recorded, quick_kernels, synchronise
from samekind.compute import compiled as in_mode
from samekind.training.answered import to_device
from samekind.training.network import Network
from samekind.training.progress import Monitor, TrainingReport
from samekind.training.steps import Plan, memory_is_enough, optimiser_of, set_rate

EVERY = 20
"""Steps between two looks at the clock and at whether all numbers are finite."""


class FineTuning(ABC):
    """A copy of a network in training: timed, watched, safe from numbers that go wrong.

    If the loss or its gradient is no finite number, training stops with a warning and the averaged
    network is the last good one: at most 20 steps older, at worst that which it began with.

    Parameters
    ----------
    network : with a cluster head that has begun to know the groups; it stays as it is.
    data : (n, ...) all items, on the device.
    plan : rate, decay, optimiser and longest gradient.
    unlabelled : items without answers per step. steps : how many, unless `seconds` says it.
    average : weight of the past in the averaged network, which is what comes out; 0: no past.
    """

    def __init__(
        self,
        network: Network,
        data: Tensor,
        plan: Plan,
        *,
        unlabelled: int,
        steps: int,
        seconds: float | None,
        average: float,
        compute: Compute,
        seed: int,
        compiled: str = "",
        monitor: Monitor | None = None,
    ) -> None:
        self.data, self.plan, self.unlabelled = data, plan, unlabelled
        self.planned, self.seconds, self.average = steps, seconds, average
        with memory_is_enough(unlabelled):
            self.network, self.averaged = deepcopy(network), deepcopy(network).eval()
        self.compute, self.seed, self.monitor = compute, seed, monitor or Monitor()
        self._student: Any = self.network
        self._teacher: Any = self.averaged
        if compiled:
            self._student = in_mode(self.network, compiled)
            self._teacher = in_mode(self.averaged, compiled)
        self.chance = torch.Generator(data.device).manual_seed(seed)
        records = compiled in RECORDING
        self.optimiser = optimiser_of(self.network, plan, recorded=records)
        self._broken = torch.zeros((), dtype=torch.bool, device=data.device)
        step = self._step
        self._recorded: Any = Recorded(step, chances=[self.chance]) if records else step
        self.rng = np.random.default_rng((seed, 5))

    @abstractmethod
    def _batch(self) -> tuple[Tensor, ...]:
        """Return the inputs of the next step, on the device, in the same shapes each time."""

    @abstractmethod
    def _parts(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
        """The parts of the loss of a batch; never waits for the device."""

    def _numbers(self, done: float, step: int) -> list[float]:
        """Learning rate and weight of the past when a share of the steps is done; then others.

        The rate falls to a fifth, as in FixMatch; the average is short at first.
        """
        rate = self.plan.learning_rate * math.cos(7 * math.pi * done / 16)
        return [rate, self._past(step)]

    def _past(self, step: int) -> float:
        return min(self.average, (1 + step) / (10 + step))

    def run(self) -> Network:
        """Train, and return the averaged network."""
        unlabelled = self.unlabelled
        begun, done = time.monotonic(), 0.0
        step = 0
        self._keep(step)
        self.network.train()
        while done < 1:
            self.monitor.check()
            with memory_is_enough(unlabelled), quick_kernels():
                numbers = np.array(self._numbers(done, step), dtype=np.float32)
                parts = self._recorded(to_device(numbers, self.data.device), *self._batch())
            step += 1
            if self.seconds is None:
                done = step / self.planned
            elif step % EVERY == 0:
                synchronise(self.compute.device)
                done = (time.monotonic() - begun) / self.seconds
            told = step % self.monitor.every == 0
            if (told or step % EVERY == 0 or done >= 1) and not self._is_good(step):
                break
            if told:
                values = {name: float(part) for name, part in parts.items()}
                values["loss"] = values.get("loss", sum(values.values()))
                epoch = step * unlabelled // len(self.data)
                self.monitor.tell(TrainingReport(epoch, step, values, "tuning", min(done, 1.0)))
        return self.averaged

    def _step(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
        """All that happens on the device; it never waits for it, so it can be recorded."""
        parts = self._parts(numbers, *batch)
        loss = torch.stack(list(parts.values())).sum()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        most = math.inf if self.plan.clip is None else self.plan.clip
        length = nn.utils.clip_grad_norm_(list(self.network.parameters()), most)
        set_rate(self.optimiser, numbers[0])
        self.optimiser.step()
        self._average(numbers[1])
        # Noted on the device, so that nobody waits for it.
        self._broken |= ~(torch.isfinite(loss.detach()) & torch.isfinite(length))
        return {name: part.detach() for name, part in parts.items()}

    def _is_good(self, step: int) -> bool:
        """Whether all is finite; if so it is kept, if not the last good network comes back."""
        if not bool(self._broken):
            self._keep(step)
            return True
        self.averaged.load_state_dict(self._good)
        warnings.warn(
            f"Training on the answers broke down between steps {self._kept_at} and {step}: the "
            "loss or its gradient is not a finite number. The network of step "
            f"{self._kept_at} is kept. Try a larger batch_size, a smaller learning_rate, or leave "
            "the network as it is (a tune_from beyond the number of answers, or epochs=0).",
            RuntimeWarning,
            stacklevel=3,
        )
        return False

    def _keep(self, step: int) -> None:
        """Remember the averaged network as good (on the device: no wait)."""
        self._kept_at = step
        self._good = {name: value.clone() for name, value in self.averaged.state_dict().items()}
        self._broken.zero_()

    @torch.no_grad()
    def _average(self, past: Tensor) -> None:
        ours, theirs = self.averaged.state_dict(), self.network.state_dict()
        floating = [name for name, value in ours.items() if value.is_floating_point()]
        old, new = ([state[name] for name in floating] for state in (ours, theirs))
        torch._foreach_mul_(old, past)  # one launch for all weights
        torch._foreach_add_(old, torch._foreach_mul(new, 1 - past))
