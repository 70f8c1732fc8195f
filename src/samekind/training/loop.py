"""The training loop: draw a batch, make its views, run the network, follow the gradient.

Everything stays on the device. The host draws batches and looks up answers ahead of it and waits
for it only where numbers are reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from samekind.compute import (
    RECORDING,
    Compute,
    Recorded,
    best_device,
    compiled,
    quick_kernels,
)
from samekind.constraints import Constraints
from samekind.errors import SamekindError
from samekind.objectives.links import LinkMasks
from samekind.training.answered import Answered, Guesses, batch_links, to_device
from samekind.training.batches import LinkedBatches
from samekind.training.checkpoints import Checkpoint
from samekind.training.distributed import World
from samekind.training.network import Network, Output
from samekind.training.progress import STOPPED, Cancelled, Monitor, TrainingReport
from samekind.training.recorded_network import RecordedNetwork
from samekind.training.steps import (
    Plan,
    SchedulePoint,
    autocast,
    check_fit,
    memory_is_enough,
    mixed_seed,
    optimiser_of,
    rate_at,
    set_rate,
)

__all__ = ["Objective", "Plan", "SchedulePoint", "Trainer", "TwoViews"]

STOP_EVERY = 8
"""Steps after which several processes ask each other whether to stop."""
Objective = Callable[[Output, LinkMasks, SchedulePoint], Mapping[str, Tensor]]
"""From what the network says of a batch to the parts of the loss, which are added up."""


class TwoViews(Protocol):
    """From B items to 2B rows: two random views of each, the first of all before the second."""

    def __call__(self, items: Tensor, generator: torch.Generator | None) -> Tensor: ...

    def plain(self, items: Tensor) -> Tensor: ...


@runtime_checkable
class OfItems(Protocol):
    """An objective that looks up what it remembers of each item, (N,) positions in the set."""

    def of_items(
        self, out: Any, items: Tensor, links: LinkMasks, point: SchedulePoint
    ) -> Mapping[str, Tensor]: ...


@runtime_checkable
class Follows(Protocol):
    """A network with a part that follows the trained one (BYOL): called after every step."""

    def follow(self, point: SchedulePoint) -> None: ...


@runtime_checkable
class Draws(Protocol):
    """A network with chance of its own (ProPos' noise): called before every step.

    It draws for so many rows into memory that stays where it is; its forward pass draws nothing,
    so that this one can be compiled.
    """

    def draw(self, rows: int, chance: torch.Generator, point: SchedulePoint) -> None: ...


class Trainer:
    """Trains a network on items that lie on the device. Call :meth:`run` as often as wanted.

    Parameters
    ----------
    network : it is moved to the device and trained in place.
    objective : the loss; see :data:`Objective`.
    data : (n, ...) all items, uint8 images or float rows.
    views : makes two views of a batch.
    plan : how to train.
    compute : where; None takes the best device there is.
    monitor : who is told, and who may stop it.
    stays : whether the items stay where they are (in memory or in a mapped file), and only those of
        a batch are moved to the device.
    """

    def __init__(
        self,
        network: Network,
        objective: Objective,
        data: Tensor,
        views: TwoViews,
        plan: Plan,
        *,
        compute: Compute | None = None,
        monitor: Monitor | None = None,
        stays: bool = False,
    ) -> None:
        self.world, self.compute = World.joined(compute or best_device())
        self.device = torch.device(self.compute.device)
        self.objective, self.plan, self.monitor = objective, plan, monitor or Monitor()
        self.known = Answered.from_constraints(Constraints(len(data)))
        self.guesses: Guesses | None = None
        self.step = 0
        self.rise: tuple[int, int] | None = None
        """First step and number of steps over which the rate rises from nothing once more."""
        with memory_is_enough(plan.batch_size):
            self.stays, self.data = stays, data if stays else data.to(self.device)
            self.views = views.to(self.device) if isinstance(views, nn.Module) else views
            self.network = network.to(self.device)
            if data.ndim == 4:
                self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.batches = LinkedBatches(
            len(data), plan.batch_size, plan.seed, plan.linked_share, self.world.size
        )
        self._chance = torch.Generator(self.device)
        size = self.batches.size
        self._no_links = torch.zeros(3, size, size, dtype=torch.bool, device=self.device)
        self.renew()

    def renew(self) -> None:
        """Begin with a fresh optimiser: after parts of the network were exchanged."""
        mode, alone = self.plan.compile, self.world.size == 1
        self._records = mode in RECORDING and alone
        self.optimiser = optimiser_of(self.network, self.plan, recorded=self._records)
        self._forward: Callable[..., Output] = self.world.wrapped(self.network)
        self._run: Callable[..., Mapping[str, Tensor]] = self._parts
        if alone:
            self._run = compiled(self._parts, mode)
        else:  # processes talk to each other in between
            self._forward = compiled(self._forward, mode)
        self.recorded_network = RecordedNetwork(self.network) if self._records else None
        self._recorded = Recorded(self._step, chances=[self._chance])
        self._broken = torch.zeros((), dtype=torch.bool, device=self.device)
        self._keep()

    def learn_from(self, constraints: Constraints, guesses: Guesses | None = None) -> None:
        """Use these answers, and these guesses, from now on."""
        self.known = Answered.from_constraints(constraints)
        self.guesses = guesses

    def change(self, objective: Objective, views: TwoViews | None = None) -> None:
        """Go on with another loss, and other views if given; the optimiser stays as it is."""
        self.objective = objective
        if views is not None:
            self.views = views.to(self.device) if isinstance(views, nn.Module) else views
        self._recorded = Recorded(self._step, chances=[self._chance])

    @property
    def epoch(self) -> int:
        """Epochs done."""
        return self.step // self.batches.steps

    def run(self, epochs: float, *, before: float = 0.0, horizon: float | None = None) -> None:
        """Train for so many epochs.

        Parameters
        ----------
        epochs : how many; the step at which they end is rounded to a whole one.
        before : epochs of the schedule that are over already (after a resumption).
        horizon : epochs that schedules run over; None: just these.
        """
        first, per_epoch = self.step, self.batches.steps
        last = first + max(1, round(epochs * per_epoch)) if epochs > 0 else first
        span = before + epochs if horizon is None else horizon
        self.run_until(last, lambda step: SchedulePoint(before + (step - first) / per_epoch, span))

    def run_until(self, last: int, point_at: Callable[[int], SchedulePoint]) -> None:
        """Train up to the step `last`; `point_at` says where in its schedule a step is."""
        parts: Mapping[str, Tensor] = {}
        self.network.train()
        try:
            while self.step < last:
                self._check_stop()
                parts = self.one_step(point_at(self.step))
                if self.step % self.monitor.every == 0 or self.step == last:
                    self._report(parts)
            # Averages of batch norms differ after the last step where they are not synchronous.
            self.world.agree(*self.network.state_dict().values())
        except BaseException:
            if bool(self._broken):  # stopped before anybody looked
                self.load(self._good)
            raise

    def _check_stop(self) -> None:
        """Stop if somebody wants that; of several processes all stop after the same step."""
        if self.world.size == 1:
            self.monitor.check()
        elif self.step % STOP_EVERY == 0:
            wanted = self.monitor.stop is not None and self.monitor.stop.is_set()
            if self.world.any(wanted, self.device):
                raise Cancelled(STOPPED)

    def one_step(self, point: SchedulePoint) -> Mapping[str, Tensor]:
        """One batch and one step of the optimiser; the parts of the loss stay on the device."""
        with memory_is_enough(self.batches.size), quick_kernels():
            drawn = self.batches.items(self.step, self.known)
            items, masks = self._batch(drawn)
            moved = (self._moved(drawn),) if self.stays else ()
            rate = self.plan.learning_rate * rate_at(point, self.plan.schedule) * self._risen()
            if self._records:
                numbers = to_device(np.array([*point, rate], dtype=np.float32), self.device)
                parts: Mapping[str, Tensor] = self._recorded(items, masks, numbers, *moved)
            else:
                parts = self._step(items, masks, (*point, rate), *moved)
        self.step += 1
        return parts

    def _risen(self) -> float:
        """Share of the rate that is used where it rises once more."""
        if self.rise is None:
            return 1.0
        first, steps = self.rise
        return min(1.0, max(0.0, (self.step - first + 1) / max(1, steps)))

    def losses(self, items: Any, point: SchedulePoint) -> Mapping[str, Tensor]:
        """The parts of the loss of a batch, given by the positions of its items."""
        all_items, masks = self._batch(items)
        mine = self._moved(items) if self.stays else self.data[self._mine(all_items)]
        rows = self.views(mine, self._chance)
        if isinstance(self.network, Draws):
            self.network.draw(len(rows), self._chance, point)
        return self._run(rows, all_items, LinkMasks(*masks), point)

    def _mine(self, items: Tensor) -> Tensor:
        """This process's part of a batch."""
        width = len(items) // self.world.size
        return items[self.world.rank * width : (self.world.rank + 1) * width]

    def _moved(self, items: Any) -> Tensor:
        """This process's part of a batch, from where the items lie to the device."""
        mine = np.sort(part := self.batches.part(items, self.world.rank))  # as they lie in a file
        back = np.searchsorted(mine, part)
        rows = self.data[torch.from_numpy(mine)][torch.from_numpy(back)]
        return to_device(rows.numpy(), self.device)

    def _batch(self, items: Any) -> tuple[Tensor, Tensor]:
        """The items of a batch, and what is known of them, on the device; chance is ready."""
        # Chance depends on seed, step and process alone: resuming needs no saved state of it.
        self._chance.manual_seed(mixed_seed(self.plan.seed, self.step, self.world.rank))
        there = to_device(items.astype(np.int64), self.device)
        nothing = not self.known.any and self.guesses is None
        if nothing and len(items) == len(self._no_links[0]):
            return there, self._no_links
        links = torch.stack(batch_links(items, self.known, self.guesses).masks(len(items)))
        return there, to_device(links.numpy(), self.device)

    def _step(
        self, items: Tensor, masks: Tensor, numbers: Any, moved: Tensor | None = None
    ) -> Mapping[str, Tensor]:
        """All that happens on the device; it never waits for it, so it can be recorded."""
        epoch, epochs, rate = numbers
        if self.plan.compile and not self._records:  # a plain number would be compiled in
            given = to_device(np.array([epoch, epochs], dtype=np.float32), self.device)
            epoch, epochs = given[0], given[1]
        mine = self.data[self._mine(items)] if moved is None else moved
        rows = self.views(mine, self._chance)
        if isinstance(self.network, Draws):
            self.network.draw(len(rows), self._chance, SchedulePoint(epoch, epochs))
        parts = self._run(rows, items, LinkMasks(*masks), SchedulePoint(epoch, epochs))
        loss = torch.stack(list(parts.values())).sum()
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        most = math.inf if self.plan.clip is None else self.plan.clip
        length = nn.utils.clip_grad_norm_(self.network.parameters(), most)
        set_rate(self.optimiser, rate)
        self.optimiser.step()
        if isinstance(self.network, Follows):
            self.network.follow(SchedulePoint(epoch, epochs))
        # Noted on the device, so that nobody waits for it; looked at when numbers are reported.
        self._broken |= ~(torch.isfinite(loss.detach()) & torch.isfinite(length))
        return {name: part.detach() for name, part in parts.items()}

    def _parts(
        self, rows: Tensor, items: Tensor, links: LinkMasks, point: SchedulePoint
    ) -> Mapping[str, Tensor]:
        gather = self.world.gather if self.world.size > 1 else None
        with autocast(self.compute):
            out = self._forward(rows, gather=gather)
        if isinstance(self.objective, OfItems):
            return self.objective.of_items(out, items, links, point)
        return self.objective(out, links, point)

    def state(self) -> Checkpoint:
        """All that is needed to go on as if nothing had happened."""
        tensors = {f"network.{name}": t for name, t in self.network.state_dict().items()}
        for index, values in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{key}": value for key, value in values.items()}
        return Checkpoint(tensors, {"step": self.step, "plan": asdict(self.plan)})

    def load(self, checkpoint: Checkpoint) -> None:
        """Go on from a state of the same network and plan.

        A compact one has no moments of the optimiser, which then begins anew.
        """
        network: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in checkpoint.tensors.items():
            part, _, rest = name.partition(".")
            if part == "network":
                network[rest] = tensor
            elif part == "optimiser":
                index, _, key = rest.partition(".")
                moments.setdefault(int(index), {})[key] = tensor
        check_fit(self.network, network)
        self.network.load_state_dict(network)
        if moments:
            groups = self.optimiser.state_dict()["param_groups"]
            self.optimiser.load_state_dict({"state": moments, "param_groups": groups})
        elif self.step:  # a compact checkpoint: the optimiser begins anew
            self.renew()
        self._recorded = Recorded(self._step, chances=[self._chance])  # its moments moved
        self.step = int(checkpoint.facts["step"])
        self._keep()

    def _report(self, parts: Mapping[str, Tensor]) -> None:
        if bool(self._broken):
            self._restore()
        values = {name: float(part.detach()) for name, part in parts.items()}
        self._keep()
        told = TrainingReport(self.epoch, self.step, {"loss": sum(values.values()), **values})
        if self.world.rank == 0:
            self.monitor.tell(told)

    def _keep(self) -> None:
        """Remember this state as the last good one (on the device: no wait)."""
        state = self.state()
        self._good = Checkpoint({k: t.clone() for k, t in state.tensors.items()}, state.facts)
        self._broken.zero_()

    def _restore(self) -> None:
        bad = self.step
        self.load(self._good)
        raise SamekindError(
            f"Training broke down between steps {self.step} and {bad}: the loss or its gradient is "
            f"not a finite number. The model is back at step {self.step}. Try a learning rate "
            f"below {self.plan.learning_rate:g}, or a larger batch."
        )
