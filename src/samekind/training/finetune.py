"""Training the whole network on answers, with the unanswered items as company.

Answered items are learnt by their group and by their links; items without answers must keep, under
strong changes of the picture, the group that the averaged network is sure of under weak ones
(FixMatch, arXiv 2001.07685).
"""

from __future__ import annotations

import math
import time
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from samekind.compute import Compute, synchronise
from samekind.training.answered import Answered, batch_links, sent
from samekind.training.augment import Family, Views
from samekind.training.frozen import pair_loss
from samekind.training.network import Network
from samekind.training.progress import Told, Watch
from samekind.training.steps import autocast, memory_is_enough

Ints = NDArray[np.intp]
EVERY = 20
"""Steps between two looks at the clock."""


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
        render = views.render
        self._render: Any = torch.compile(render, dynamic=False) if compiled else render

    @torch.no_grad()
    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        height, width = images.shape[2:]
        drawn = self.views.draw(len(images), height, width, images.device, generator)
        view: Tensor = self._render(images, drawn)
        return view


class Tuner:
    """Trains a copy of a network on answers; :meth:`run` returns the averaged one.

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
        compiled: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.network, self.averaged = deepcopy(network), deepcopy(network).eval()
        self.data, self.rows, self.known, self.tuning = data, rows, known, tuning
        self.compute, self.seed, self.watch = compute, seed, watch or Watch()
        self.label_of = torch.full((len(data),), -1, dtype=torch.long)
        self.label_of[torch.from_numpy(rows)] = torch.from_numpy(labels.astype(np.int64))
        self.label_of = self.label_of.to(data.device)
        dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
        self.weak, self.strong = (
            OneView(Views(make(family), dtype=dtype).to(data.device), compiled)
            for make in (weak, strong)
        )
        self._student: Any = torch.compile(self.network) if compiled else self.network
        self._teacher: Any = torch.compile(self.averaged) if compiled else self.averaged
        self.chance = torch.Generator(data.device).manual_seed(seed)
        self.rng = np.random.default_rng((seed, 5))

    def run(self) -> Network:
        """Train, and return the averaged network."""
        tuning = self.tuning
        parameters = list(self.network.parameters())
        optimiser = torch.optim.SGD(
            parameters,
            lr=tuning.learning_rate,
            momentum=0.9,
            nesterov=True,
            weight_decay=tuning.weight_decay,
        )
        company = min(tuning.company, len(self.data))
        steps = max(1, math.ceil(tuning.epochs * len(self.data) / company))
        begun, done = time.monotonic(), 0.0
        step = 0
        self.network.train()
        while done < 1:
            self.watch.check()
            for group in optimiser.param_groups:  # falls to a fifth, as in FixMatch
                group["lr"] = tuning.learning_rate * math.cos(7 * math.pi * done / 16)
            with memory_is_enough(tuning.answered + company):
                loss = self._loss(company)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(parameters, 5.0)
                optimiser.step()
                self._average(step)
            step += 1
            if tuning.seconds is None:
                done = step / steps
            elif step % EVERY == 0:
                synchronise(self.compute.device)
                done = (time.monotonic() - begun) / tuning.seconds
            if step % self.watch.every == 0:
                self.watch.tell(
                    Told(step * company // len(self.data), step, {"loss": float(loss.detach())})
                )
        return self.averaged

    def _loss(self, company: int) -> Tensor:
        """Groups and links of answered items, and steadiness of the others."""
        device = self.data.device
        items = self._answered()
        others = sent(self.rng.choice(len(self.data), company, replace=False), device)
        here = sent(items.astype(np.int64), device)
        links = batch_links(items, self.known, device=device)
        x = torch.cat(
            [
                self.weak(self.data[here], self.chance),
                self.strong(self.data[others], self.chance),
            ]
        )
        target, sure = self._guess(others)
        with autocast(self.compute):
            p = self._student(x, views=1).p
        told, guessed = p[: len(items)], p[len(items) :].clamp_min(1e-7).log()
        labels = self.label_of[here]
        group = nll_loss(told.clamp_min(1e-7).log(), labels, ignore_index=-1)
        linked = pair_loss(told, links.same, links.different)
        steady = (nll_loss(guessed, target, reduction="none") * sure).mean()
        return group + linked + steady

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
    def _average(self, step: int) -> None:
        past = min(self.tuning.average, (1 + step) / (10 + step))
        ours, theirs = self.averaged.state_dict(), self.network.state_dict()
        floating = [name for name, value in ours.items() if value.is_floating_point()]
        torch._foreach_lerp_(  # one launch for all weights
            [ours[name] for name in floating], [theirs[name] for name in floating], 1 - past
        )
