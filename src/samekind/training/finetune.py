"""Train the whole network on answers, together with the items that have none: our way of doing it.

Answered items are learnt by their group and by their links; items without answers must keep, under
strong changes of the picture, the group that the averaged network is sure of under weak ones. The
idea is that of FixMatch, which is in :mod:`samekind.training.fixmatch`. Different from it: guesses
come from the averaged network, answered items are among the others and keep their group there,
links teach too, gradients are clipped, the weak view is a crop, and optionally the backbone learns
slowly, the rate rises at first and groups keep their sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import nll_loss

from samekind.compute import COMPILE_MODES, Compute
from samekind.training.answered import Answered, batch_links, to_device
from samekind.training.augment import Draw, Family, Views
from samekind.training.batches import with_partners
from samekind.training.network import Network
from samekind.training.progress import Monitor
from samekind.training.rows import NoisyRows
from samekind.training.steps import Plan, autocast
from samekind.training.tuning import FineTuning

Ints = NDArray[np.intp]
Change = Callable[[Tensor, torch.Generator], Tensor]
"""From items to one random view of each."""


@dataclass(frozen=True)
class Tuning:
    """How the whole network is trained on answers.

    Parameters
    ----------
    answered, unlabelled : items per step with and without answers.
    sure : least membership of a guess that is followed.
    linked_share : part of the answered items of a step that are partners of the others.
    average : weight of the past in the averaged network, which is what comes out.
    seconds : of training; None: `epochs` over all items.
    backbone_rate : learning rate of the backbone as a share of that of the head.
    warm_up : part of the training in which the rate rises from nothing.
    align : keep the groups as large as they were at the beginning: shares of a guess are divided
        by how much their group has grown (ReMixMatch). Without, small groups can be swallowed.
    """

    learning_rate: float = 0.03
    weight_decay: float = 5e-4
    answered: int = 256
    unlabelled: int = 512
    sure: float = 0.95
    linked_share: float = 0.5
    average: float = 0.999
    seconds: float | None = None
    epochs: float = 20
    backbone_rate: float = 1.0
    warm_up: float = 0.0
    align: bool = False


LEAST_RISE = 1e-4
"""Part of the training that counts as done at the first step of a warm-up: no step is in vain."""
PAST_SHARES = 0.99
"""Weight of the past in the sizes that groups have in the guesses."""


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


class OneNoisyRow:
    """One noisy copy of each row, where :class:`NoisyRows` makes two."""

    def __init__(self, rows: NoisyRows) -> None:
        self.rows = rows

    @torch.no_grad()
    def __call__(self, items: Tensor, generator: torch.Generator) -> Tensor:
        both: Tensor = self.rows(items, generator)
        return both[: len(items)]


class Changes(NamedTuple):
    """Two ways to change items: little, so that their kind is clear, and much."""

    weak: Change
    strong: Change


def picture_changes(family: Family, data: Tensor, compute: Compute, compiled: str = "") -> Changes:
    """Weak and strong views of pictures that lie where `data` lies."""
    dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
    return Changes(
        *(
            OneView(Views(make(family), dtype=dtype).to(data.device), compiled in COMPILE_MODES)
            for make in (weak, strong)
        )
    )


def row_changes(data: Tensor) -> Changes:
    """Weak and strong views of plain vectors: little and much noise."""
    little, much = NoisyRows(data, noise=0.1, left_out=0.0), NoisyRows(data)
    return Changes(OneNoisyRow(little), OneNoisyRow(much))


class Tuner(FineTuning):
    """Trains a copy of a network on answers; :meth:`run` returns the averaged one.

    Parameters
    ----------
    rows, labels : the items whose group is known, and their groups.
    known : the answers to learn from, as links.
    views : a family of views for pictures (n, 3, height, width), uint8; or both changes as such.
    """

    def __init__(
        self,
        network: Network,
        data: Tensor,
        rows: Ints,
        labels: Ints,
        known: Answered,
        views: Family | Changes,
        tuning: Tuning,
        *,
        compute: Compute,
        seed: int,
        compiled: str = "",
        monitor: Monitor | None = None,
    ) -> None:
        unlabelled = min(tuning.unlabelled, len(data))
        rate, decay = tuning.learning_rate, tuning.weight_decay
        slow = tuning.backbone_rate
        factors = () if slow == 1 else (("backbone", slow),)
        super().__init__(
            network,
            data,
            Plan(tuning.answered, rate, decay, "sgd", clip=5.0, factors=factors),
            unlabelled=unlabelled,
            steps=max(1, math.ceil(tuning.epochs * len(data) / unlabelled)),
            seconds=tuning.seconds,
            average=tuning.average,
            compute=compute,
            seed=seed,
            compiled=compiled,
            monitor=monitor,
        )
        self.rows, self.known, self.tuning = rows, known, tuning
        self.label_of = torch.full((len(data),), -1, dtype=torch.long)
        self.label_of[torch.from_numpy(rows)] = torch.from_numpy(labels.astype(np.int64))
        self.label_of = self.label_of.to(data.device)
        if isinstance(views, Family):
            views = picture_changes(views, data, compute, compiled)
        self.weak: Any = views.weak
        self.strong: Any = views.strong
        self._wanted_shares = self._shares_now() if tuning.align else None
        self._guessed_shares = None if self._wanted_shares is None else self._wanted_shares.clone()

    def _numbers(self, done: float, step: int) -> list[float]:
        """As in the base class; the rate rises first, where that is wanted."""
        rate, *others = super()._numbers(done, step)
        risen = max(done, LEAST_RISE) / self.tuning.warm_up if self.tuning.warm_up > 0 else 1.0
        return [rate * min(1.0, risen), *others]

    def _batch(self) -> tuple[Tensor, ...]:
        """Answered items, others, and what is known of the answered ones, on the device."""
        device = self.data.device
        items = self._answered()
        others = self.rng.choice(len(self.data), self.unlabelled, replace=False)
        same, different, _ = batch_links(items, self.known).masks(len(items))
        links = torch.stack([same, different]).numpy()
        return (
            to_device(items.astype(np.int64), device),
            to_device(others, device),
            to_device(links, device),
        )

    def _parts(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
        return {"loss": self._loss(*batch)}

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
            p = self._aligned(self._teacher(views, views=1).p.float())
        top, group = p.max(dim=1)
        answer = self.label_of[items]
        known = answer >= 0
        return torch.where(known, answer, group), (known | (top >= self.tuning.sure)).float()

    def _aligned(self, p: Tensor) -> Tensor:
        """Shares p (B, k) as if the groups were as large as at the beginning."""
        if self._wanted_shares is None or self._guessed_shares is None:
            return p
        self._guessed_shares.lerp_(p.mean(dim=0), 1 - PAST_SHARES)
        turned = p * (self._wanted_shares / self._guessed_shares.clamp_min(1e-6))
        return turned / turned.sum(dim=1, keepdim=True)

    @torch.no_grad()
    def _shares_now(self) -> Tensor:
        """Share of all items in each group (k,), by the network before training."""
        total = torch.zeros(self.averaged.k, device=self.data.device)
        for part in torch.split(self.data, self.unlabelled):
            with autocast(self.compute):
                views = self.weak(part, self.chance)
                total += self.averaged(views, views=1).p.float().sum(dim=0)
        return total / total.sum()

    def _answered(self) -> Ints:
        size = min(self.tuning.answered, len(self.rows))
        drawn = self.rng.choice(self.rows, size, replace=False)
        count = min(int(self.tuning.linked_share * size), max(0, size - 1))
        return with_partners(drawn, self.known, count, self.rng)


def linked_loss(p: Tensor, links: Tensor) -> Tensor:
    """Minus log-likelihood per link of the answers under memberships p (m, k).

    Parameters
    ----------
    links : (2, m, m) bool, symmetric: known to be the same, known to be different.
    """
    together = (p @ p.T).clamp(1e-6, 1 - 1e-6)
    value = -(together.log() * links[0] + (1 - together).log() * links[1])
    return value.sum() / links.sum().clamp_min(1)
