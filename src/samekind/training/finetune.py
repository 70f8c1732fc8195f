"""Training the whole network on answers, with the unanswered items as company.

Answered items are learnt by their group and by their links; items without answers must keep, under
strong changes of the picture, the group that the averaged network is sure of under weak ones
(FixMatch, arXiv 2001.07685).

A loss that is not a number ends it early with a warning, not with an error: the network that it
began with is there to fall back on, so nobody has to lose a session over it.
"""

from __future__ import annotations

import math
import time
import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from samekind.compute import COMPILE_MODES, RECORDING, Compute, Recorded, quick_kernels, synchronise
from samekind.compute import compiled as in_mode
from samekind.training.answered import Answered, batch_links, sent
from samekind.training.augment import Draw, Family, Views
from samekind.training.network import Network
from samekind.training.progress import Told, Watch
from samekind.training.steps import Plan, autocast, memory_is_enough, optimiser_of, set_rate

Ints = NDArray[np.intp]
EVERY = 20
"""Steps between two looks at the clock and at whether all numbers are finite."""


@dataclass(frozen=True)
class Tuning:
    """How the whole network is trained on answers.

    Parameters
    ----------
    answered, company : items per step with and without answers.
    sure : least membership of a guess that is followed.
    linked_share : part of the answered items of a step that are partners of the others.
    average : weight of the past in the averaged network, which is what comes out.
    seconds : of training; None: `epochs` over all items.
    """

    learning_rate: float = 0.03
    weight_decay: float = 5e-4
    answered: int = 256
    company: int = 512
    sure: float = 0.95
    linked_share: float = 0.5
    average: float = 0.999
    seconds: float | None = None
    epochs: float = 20


def weak(family: Family) -> Family:
    """The family with little change: shifted crops and flips."""
    return replace(family, scale=(0.7, 1.0), ratio=(0.9, 1.1), jitter_p=0.0, gray_p=0.0, blur_p=0.0)


def strong(family: Family) -> Family:
    """The family with much change, but not so small crops that the kind cannot be seen."""
    return replace(family, scale=(0.25, 1.0))


class OneView:
    """One random view of each image, where :class:`Views` makes two."""

    def __init__(self, views: Views, compiled: bool) -> None:
        self.views = views
        made = self._made
        self._run: Any = torch.compile(made, dynamic=False) if compiled else made

    @torch.no_grad()
    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        view: Tensor = self._run(images, Views.chances(len(images), images.device, generator))
        return view

    def _made(self, images: Tensor, chances: Tensor) -> Tensor:
        drawn = Draw.of(chances, self.views.family, *images.shape[2:])
        return self.views.render(images, drawn)


class Tuner:
    """Trains a copy of a network on answers; :meth:`run` returns the averaged one.

    If the loss or its gradient is no finite number, training stops with a warning and the averaged
    network is the last good one: at most 20 steps older, at worst that which it began with.

    Parameters
    ----------
    network : with a cluster head that has begun to know the groups; it stays as it is.
    data : (n, 3, height, width) uint8, on the device.
    rows, labels : the items whose group is known, and their groups.
    known : the answers to learn from.
    """

    def __init__(
        self,
        network: Network,
        data: Tensor,
        rows: Ints,
        labels: Ints,
        known: Answered,
        family: Family,
        tuning: Tuning,
        *,
        compute: Compute,
        seed: int,
        compiled: str = "",
        watch: Watch | None = None,
    ) -> None:
        self.data, self.rows, self.known, self.tuning = data, rows, known, tuning
        self.company = min(tuning.company, len(data))
        with memory_is_enough(self.company):
            self.network, self.averaged = deepcopy(network), deepcopy(network).eval()
        self.compute, self.seed, self.watch = compute, seed, watch or Watch()
        self.label_of = torch.full((len(data),), -1, dtype=torch.long)
        self.label_of[torch.from_numpy(rows)] = torch.from_numpy(labels.astype(np.int64))
        self.label_of = self.label_of.to(data.device)
        dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
        self.weak, self.strong = (
            OneView(Views(make(family), dtype=dtype).to(data.device), compiled in COMPILE_MODES)
            for make in (weak, strong)
        )
        self._student: Any = self.network
        self._teacher: Any = self.averaged
        if compiled:
            self._student = in_mode(self.network, compiled)
            self._teacher = in_mode(self.averaged, compiled)
        self.chance = torch.Generator(data.device).manual_seed(seed)
        plan = Plan(tuning.answered, tuning.learning_rate, tuning.weight_decay, "sgd")
        records = compiled in RECORDING
        self.optimiser = optimiser_of(self.network, plan, recorded=records)
        self._broken = torch.zeros((), dtype=torch.bool, device=data.device)
        step = self._step
        self._recorded: Any = Recorded(step, chances=[self.chance]) if records else step
        self.rng = np.random.default_rng((seed, 5))

    def run(self) -> Network:
        """Train, and return the averaged network."""
        tuning, company = self.tuning, self.company
        steps = max(1, math.ceil(tuning.epochs * len(self.data) / company))
        begun, done = time.monotonic(), 0.0
        step = 0
        self._keep(step)
        self.network.train()
        while done < 1:
            self.watch.check()
            # The rate falls to a fifth, as in FixMatch; the average is short at first.
            rate = tuning.learning_rate * math.cos(7 * math.pi * done / 16)
            past = min(tuning.average, (1 + step) / (10 + step))
            with memory_is_enough(company), quick_kernels():
                numbers = sent(np.array([rate, past], dtype=np.float32), self.data.device)
                loss = self._recorded(*self._batch(), numbers)
            step += 1
            if tuning.seconds is None:
                done = step / steps
            elif step % EVERY == 0:
                synchronise(self.compute.device)
                done = (time.monotonic() - begun) / tuning.seconds
            told = step % self.watch.every == 0
            if (told or step % EVERY == 0 or done >= 1) and not self._is_good(step):
                break
            if told:
                parts = {"loss": float(loss)}
                epoch = step * company // len(self.data)
                self.watch.tell(Told(epoch, step, parts, "tuning", min(done, 1.0)))
        return self.averaged

    def _batch(self) -> tuple[Tensor, Tensor, Tensor]:
        """Answered items, others, and what is known of the answered ones, on the device."""
        device = self.data.device
        items = self._answered()
        others = self.rng.choice(len(self.data), self.company, replace=False)
        same, different, _ = batch_links(items, self.known).masks(len(items))
        links = torch.stack([same, different]).numpy()
        return sent(items.astype(np.int64), device), sent(others, device), sent(links, device)

    def _step(self, items: Tensor, others: Tensor, links: Tensor, numbers: Tensor) -> Tensor:
        """All that happens on the device; it never waits for it, so it can be recorded."""
        parameters = list(self.network.parameters())
        loss = self._loss(items, others, links)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        length = nn.utils.clip_grad_norm_(parameters, 5.0)
        set_rate(self.optimiser, numbers[0])
        self.optimiser.step()
        self._average(numbers[1])
        # Noted on the device, so that nobody waits for it.
        self._broken |= ~(torch.isfinite(loss.detach()) & torch.isfinite(length))
        return loss.detach()

    def _is_good(self, step: int) -> bool:
        """Whether all is finite; if so it is kept, if not the last good network comes back."""
        if not bool(self._broken):
            self._keep(step)
            return True
        self.averaged.load_state_dict(self._good)
        warnings.warn(
            f"Training on the answers broke down between steps {self._kept_at} and {step}: the "
            "loss or its gradient is not a finite number. The network of step "
            f"{self._kept_at} is kept. Try a larger batch_size, or leave the network as it is "
            "with a tune_from beyond the number of answers.",
            RuntimeWarning,
            stacklevel=3,
        )
        return False

    def _keep(self, step: int) -> None:
        """Remember the averaged network as good (on the device: no wait)."""
        self._kept_at = step
        self._good = {name: value.clone() for name, value in self.averaged.state_dict().items()}
        self._broken.zero_()

    def _loss(self, items: Tensor, others: Tensor, links: Tensor) -> Tensor:
        """Groups and links of answered items, and steadiness of the others."""
        x = torch.cat(
            [
                self.weak(self.data[items], self.chance),
                self.strong(self.data[others], self.chance),
            ]
        )
        target, sure = self._guess(others)
        with autocast(self.compute):
            p = self._student(x, views=1).p
        told, guessed = p[: len(items)].float(), p[len(items) :].clamp_min(1e-7).log()
        labels = self.label_of[items]
        group = nll_loss(told.clamp_min(1e-7).log(), labels, ignore_index=-1)
        steady = (nll_loss(guessed, target, reduction="none") * sure).mean()
        return group + linked_loss(told, links) + steady

    @torch.no_grad()
    def _guess(self, items: Tensor) -> tuple[Tensor, Tensor]:
        """Groups of weakly changed items; the answer where there is one; whether it is sure."""
        with autocast(self.compute):
            views = self.weak(self.data[items], self.chance)
            p = self._teacher(views, views=1).p
        top, group = p.max(dim=1)
        answer = self.label_of[items]
        known = answer >= 0
        return torch.where(known, answer, group), (known | (top >= self.tuning.sure)).float()

    def _answered(self) -> Ints:
        size = min(self.tuning.answered, len(self.rows))
        drawn = self.rng.choice(self.rows, size, replace=False)
        partners = self.known.partners(drawn, int(self.tuning.linked_share * size), self.rng)
        partners = partners[: max(0, size - 1)]
        return np.concatenate([drawn[: size - len(partners)], partners])

    @torch.no_grad()
    def _average(self, past: Tensor) -> None:
        ours, theirs = self.averaged.state_dict(), self.network.state_dict()
        floating = [name for name, value in ours.items() if value.is_floating_point()]
        old, new = ([state[name] for name in floating] for state in (ours, theirs))
        torch._foreach_mul_(old, past)  # one launch for all weights
        torch._foreach_add_(old, torch._foreach_mul(new, 1 - past))


def linked_loss(p: Tensor, links: Tensor) -> Tensor:
    """Minus log-likelihood per link of the answers under memberships p (m, k).

    Parameters
    ----------
    links : (2, m, m) bool, symmetric: known to be the same, known to be different.
    """
    together = (p @ p.T).clamp(1e-6, 1 - 1e-6)
    value = -(together.log() * links[0] + (1 - together).log() * links[1])
    return value.sum() / links.sum().clamp_min(1)
