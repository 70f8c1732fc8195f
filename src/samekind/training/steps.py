"""Parts of a training step: plan, learning rate, optimiser, precision, memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from samekind.compute import Compute
from samekind.errors import InputError, SamekindError


class SchedulePoint(NamedTuple):
    """Position in a schedule: epochs done, as a fraction, and epochs in all.

    Plain numbers, or numbers on the device in a compiled step.
    """

    epoch: Any
    epochs: Any


@dataclass(frozen=True)
class Plan:
    """How to train. The defaults are those of PCL.

    Parameters
    ----------
    batch_size, learning_rate, weight_decay : as usual; the batch is that of all processes.
    optimiser : ``adam`` (with decoupled decay if there is any), ``adam-l2`` (decay added to the
        gradient) or ``sgd`` (momentum .9, Nesterov).
    schedule : ``cosine`` falls to nothing over the epochs of a run, after a short rise.
    clip : largest length of the gradient; None leaves it.
    linked_share : part of a batch that may be partners of its answered items.
    seed : of batches and views.
    compile : for a GPU. "record" records the launches of a whole step once and repeats them: quick
        to begin with. "plain" and "tuned" compile it, which takes a minute, "graphs" does both.
    factors : parts of the network, by the beginning of their parameters' names, whose learning
        rate is that of the plan times a number.
    """

    batch_size: int = 128
    learning_rate: float = 1e-5
    weight_decay: float = 0.0
    optimiser: Literal["adam", "adam-l2", "sgd"] = "adam"
    schedule: Literal["constant", "cosine"] = "constant"
    clip: float | None = 20.0
    linked_share: float = 0.25
    seed: int = 0
    compile: Literal["", "record", "plain", "tuned", "graphs"] = ""
    factors: tuple[tuple[str, float], ...] = ()


def rate_at(point: SchedulePoint, schedule: str) -> float:
    """Fraction of the learning rate that is used at a point of the schedule.

    >>> [round(rate_at(SchedulePoint(epoch, 100), "cosine"), 2) for epoch in (0, 2.5, 5, 52.5, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    if schedule == "constant":
        return 1.0
    rise = 0.05 * point.epochs
    if point.epoch < rise:
        return max(point.epoch / rise, 1e-3) if point.epoch else 1e-3
    done = min(1.0, (point.epoch - rise) / max(point.epochs - rise, 1e-9))
    return 0.5 * (1 + math.cos(math.pi * done))


def autocast(compute: Compute) -> torch.autocast:
    """Reduced precision where the device is good at it; plain float32 elsewhere."""
    kind = torch.device(compute.device).type
    return torch.autocast(kind, torch.bfloat16, enabled=compute.dtype == "bfloat16")


class NoMemory(SamekindError):
    """The device or the machine has too little memory for a batch."""


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
        raise NoMemory(
            f"There is not enough memory for batches of {batch_size} items. Try "
            f"batch_size={half}, smaller images (size=...), or a smaller backbone."
        ) from error


def optimiser_of(
    network: nn.Module, plan: Plan, *, recorded: bool = False
) -> torch.optim.Optimizer:
    """The optimiser of a plan; batch norms and biases are not decayed, what is fixed is left out.

    For recorded steps the learning rate lies on the device; see :func:`set_rate`.
    """
    device = next(network.parameters()).device
    fused = device.type not in ("cpu", "mps")
    recorded = recorded and fused
    groups = _groups(network, plan)
    rate = plan.learning_rate
    if recorded:
        for group in groups:
            group["lr"] = torch.tensor(rate * group["factor"], device=device)
    if plan.optimiser == "sgd":
        sgd = torch.optim.SGD(groups, lr=rate, momentum=0.9, nesterov=True, fused=fused)
        for group in sgd.param_groups:  # a head that only a later stage trains has none otherwise
            for parameter in group["params"]:
                sgd.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
        return sgd
    if plan.optimiser not in ("adam", "adam-l2"):
        raise InputError(
            f"{plan.optimiser!r} is not an optimiser here. Choose adam, adam-l2 or sgd."
        )
    kind = torch.optim.AdamW if plan.optimiser == "adam" else torch.optim.Adam
    return kind(groups, lr=rate, fused=fused, capturable=recorded)


def _groups(network: nn.Module, plan: Plan) -> list[dict[str, Any]]:
    """Parameters that share a decay and a factor of the learning rate."""
    found: dict[tuple[float, bool], list[nn.Parameter]] = {(1.0, True): [], (1.0, False): []}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            fit = [factor for start, factor in plan.factors if name.startswith(start)]
            key = (fit[0] if fit else 1.0, parameter.ndim > 1)
            found.setdefault(key, []).append(parameter)
    return [
        {"params": some, "weight_decay": plan.weight_decay if decayed else 0.0, "factor": factor}
        for (factor, decayed), some in found.items()
    ]


def set_rate(optimiser: torch.optim.Optimizer, rate: Any) -> None:
    """Set the learning rate: a number, or one on the device."""
    for group in optimiser.param_groups:
        own = rate * group.get("factor", 1.0)
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(own)
        else:
            group["lr"] = float(own)


def check_fit(network: nn.Module, found: Mapping[str, Tensor]) -> None:
    """Raise if weights belong to another architecture."""
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


def mixed_seed(*numbers: int) -> int:
    """Combine several numbers into one seed."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
