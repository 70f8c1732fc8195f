"""The training loop: draw a batch, make its views, run the network, follow the gradient.

Everything stays on the device. The host draws batches and looks up answers ahead of it and waits
for it only where numbers are reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from samekind.compute import COMPILE_MODES, Compute, best_device
from samekind.constraints import Constraints
from samekind.errors import InputError, SamekindError
from samekind.objectives.links import BatchLinks
from samekind.training.answered import Answered, Guesses, batch_links, sent
from samekind.training.batches import LinkedBatches
from samekind.training.checkpoints import Checkpoint
from samekind.training.distributed import World
from samekind.training.network import Network, Output
from samekind.training.progress import Told, Watch


class Moment(NamedTuple):
    """How far training is: epochs done, as a fraction, of those that a schedule runs over."""

    epoch: float
    epochs: float


Objective = Callable[[Output, BatchLinks, Moment], Mapping[str, Tensor]]
"""From what the network says of a batch to the parts of the loss, which are added up."""


class TwoViews(Protocol):
    """From B items to 2B rows: two random views of each, the first of all before the second."""

    def __call__(self, items: Tensor, generator: torch.Generator | None) -> Tensor: ...

    def plain(self, items: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Plan:
    """How to train. The defaults are those of PCL.

    Parameters
    ----------
    batch_size, learning_rate, weight_decay : as usual; the batch is that of all processes.
    optimiser : ``adam`` (with decoupled decay if there is any) or ``sgd`` (momentum .9, Nesterov).
    schedule : ``cosine`` falls to nothing over the epochs of a run, after a short rise.
    clip : largest length of the gradient; None leaves it.
    linked_share : part of a batch that may be partners of its answered items.
    seed : of batches and views.
    compile : "plain", "tuned" or "graphs" compiles the network; pays in long runs on a GPU.
    """

    batch_size: int = 128
    learning_rate: float = 1e-5
    weight_decay: float = 0.0
    optimiser: Literal["adam", "sgd"] = "adam"
    schedule: Literal["constant", "cosine"] = "constant"
    clip: float | None = 20.0
    linked_share: float = 0.25
    seed: int = 0
    compile: Literal["", "plain", "tuned", "graphs"] = ""


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
    watch : who is told, and who may stop it.
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
        watch: Watch | None = None,
    ) -> None:
        self.world, self.compute = World.joined(compute or best_device())
        self.device = torch.device(self.compute.device)
        self.objective, self.plan, self.watch = objective, plan, watch or Watch()
        self.known: Answered | None = None
        self.guesses: Guesses | None = None
        self.step = 0
        with memory_is_enough(plan.batch_size):
            self.data = data.to(self.device)
            self.views = views.to(self.device) if isinstance(views, nn.Module) else views
            self.network = network.to(self.device)
            if data.ndim == 4:
                self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.batches = LinkedBatches(
            len(data), plan.batch_size, plan.seed, plan.linked_share, self.world.size
        )
        self._chance = torch.Generator(self.device)
        self.renew()

    def renew(self) -> None:
        """Begin with a fresh optimiser: after parts of the network were exchanged."""
        self.optimiser = _optimiser(self.network, self.plan)
        self._forward: Callable[..., Output] = self.world.wrapped(self.network)
        if self.plan.compile:
            mode = COMPILE_MODES[self.plan.compile]
            self._forward = torch.compile(self._forward, dynamic=False, mode=mode)
        self._keep()

    def learn_from(self, constraints: Constraints, guesses: Guesses | None = None) -> None:
        """Use these answers, and these guesses, from now on."""
        self.known = Answered.from_constraints(constraints)
        self.guesses = guesses

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
        horizon = before + epochs if horizon is None else horizon
        parts: Mapping[str, Tensor] = {}
        self.network.train()
        while self.step < last:
            self.watch.check()
            moment = Moment(before + (self.step - first) / per_epoch, horizon)
            parts = self.one_step(moment)
            if self.step % self.watch.every == 0 or self.step == last:
                self._report(parts)

    def one_step(self, moment: Moment) -> Mapping[str, Tensor]:
        """One batch and one step of the optimiser; the parts of the loss stay on the device."""
        with memory_is_enough(self.batches.size):
            items = self.batches.items(self.step, self.known)
            parts = self.losses(items, moment)
            loss = torch.stack(list(parts.values())).sum()
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            most = math.inf if self.plan.clip is None else self.plan.clip
            length = nn.utils.clip_grad_norm_(self.network.parameters(), most)
            self._set_rate(moment)
            self.optimiser.step()
        # Noted on the device, so that nobody waits for it; looked at when numbers are reported.
        self._broken |= ~(torch.isfinite(loss.detach()) & torch.isfinite(length))
        self.step += 1
        return parts

    def losses(self, items: Any, moment: Moment) -> Mapping[str, Tensor]:
        """The parts of the loss of a batch, given by the positions of its items."""
        known = self.known or Answered.from_constraints(Constraints(len(self.data)))
        links = batch_links(items, known, self.guesses, device=self.device)
        mine = sent(self.batches.part(items, self.world.rank).astype(np.int64), self.device)
        # Chance depends on seed, step and process alone: resuming needs no saved state of it.
        self._chance.manual_seed(_mixed(self.plan.seed, self.step, self.world.rank))
        rows = self.views(self.data[mine], self._chance)
        with autocast(self.compute):
            gather = self.world.gather if self.world.size > 1 else None
            out = self._forward(rows, gather=gather)
        return self.objective(out, links, moment)

    def state(self) -> Checkpoint:
        """All that is needed to go on as if nothing had happened."""
        tensors = {f"network.{name}": t for name, t in self.network.state_dict().items()}
        for index, values in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{key}": value for key, value in values.items()}
        return Checkpoint(tensors, {"step": self.step, "plan": asdict(self.plan)})

    def load(self, checkpoint: Checkpoint) -> None:
        """Go on from a state of the same network and plan."""
        network: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in checkpoint.tensors.items():
            part, _, rest = name.partition(".")
            if part == "network":
                network[rest] = tensor
            elif part == "optimiser":
                index, _, key = rest.partition(".")
                moments.setdefault(int(index), {})[key] = tensor
        _check_fit(self.network, network)
        self.network.load_state_dict(network)
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": moments, "param_groups": groups})
        self.step = int(checkpoint.facts["step"])
        self._keep()

    def _report(self, parts: Mapping[str, Tensor]) -> None:
        if bool(self._broken):
            self._restore()
        values = {name: float(part.detach()) for name, part in parts.items()}
        self._keep()
        told = Told(self.epoch, self.step, {"loss": sum(values.values()), **values})
        if self.world.rank == 0:
            self.watch.tell(told)

    def _keep(self) -> None:
        """Remember this state as the last good one (on the device: no wait)."""
        state = self.state()
        self._good = Checkpoint({k: t.clone() for k, t in state.tensors.items()}, state.facts)
        self._broken = torch.zeros((), dtype=torch.bool, device=self.device)

    def _restore(self) -> None:
        bad = self.step
        self.load(self._good)
        raise SamekindError(
            f"Training broke down between steps {self.step} and {bad}: the loss or its gradient is "
            f"not a finite number. The model is back at step {self.step}. Try a learning rate "
            f"below {self.plan.learning_rate:g}, or a larger batch."
        )

    def _set_rate(self, moment: Moment) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.plan.learning_rate * rate_at(moment, self.plan.schedule)


def rate_at(moment: Moment, schedule: str) -> float:
    """Which part of the learning rate is used at a moment.

    >>> [round(rate_at(Moment(epoch, 100), "cosine"), 2) for epoch in (0, 2.5, 5, 52.5, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    if schedule == "constant":
        return 1.0
    rise = 0.05 * moment.epochs
    if moment.epoch < rise:
        return max(moment.epoch / rise, 1e-3) if moment.epoch else 1e-3
    done = min(1.0, (moment.epoch - rise) / max(moment.epochs - rise, 1e-9))
    return 0.5 * (1 + math.cos(math.pi * done))


def autocast(compute: Compute) -> torch.autocast:
    """Reduced precision where the device is good at it; plain float32 elsewhere."""
    kind = torch.device(compute.device).type
    return torch.autocast(kind, torch.bfloat16, enabled=compute.dtype == "bfloat16")


@contextmanager
def memory_is_enough(batch_size: int) -> Iterator[None]:
    """Turn "out of memory" into a sentence that names a batch size to try."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        text = str(error).lower()
        lacking = "out of memory" in text or "not enough memory" in text or "t allocate" in text
        if not lacking and not isinstance(error, (torch.OutOfMemoryError, MemoryError)):
            raise
        half = max(1, batch_size // 2)
        raise SamekindError(
            f"There is not enough memory for batches of {batch_size} items. Try "
            f"batch_size={half}, smaller images (size=...), or a smaller backbone."
        ) from error


def _optimiser(network: nn.Module, plan: Plan) -> torch.optim.Optimizer:
    """The optimiser of a plan; batch norms and biases are not decayed."""
    plain = [p for p in network.parameters() if p.ndim > 1]
    other = [p for p in network.parameters() if p.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": plain, "weight_decay": plan.weight_decay},
        {"params": other, "weight_decay": 0.0},
    ]
    fused = next(network.parameters()).device.type not in ("cpu", "mps")
    if plan.optimiser == "sgd":
        return torch.optim.SGD(
            groups, lr=plan.learning_rate, momentum=0.9, nesterov=True, fused=fused
        )
    if plan.optimiser != "adam":
        raise InputError(f"{plan.optimiser!r} is not an optimiser here. Choose adam or sgd.")
    return torch.optim.AdamW(groups, lr=plan.learning_rate, fused=fused)


def _check_fit(network: nn.Module, found: Mapping[str, Tensor]) -> None:
    """Say in a sentence if weights belong to another architecture."""
    wanted = network.state_dict()
    odd = [
        name
        for name in {**wanted, **found}
        if name not in wanted or name not in found or wanted[name].shape != found[name].shape
    ]
    if odd:
        here, there = (tuple(w[odd[0]].shape) if odd[0] in w else None for w in (wanted, found))
        raise InputError(
            f"The weights belong to another network: {odd[0]!r} is {there} there and {here} here "
            f"({len(odd)} of {len(wanted)} parts differ). Use the same backbone, stem, attention "
            "and number of groups, or begin without these weights."
        )


def _mixed(*numbers: int) -> int:
    """One seed of several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
