"""FixMatch as published: labels, and the network's own sure guesses (arXiv 2001.07685)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.compute import COMPILE_MODES, Compute
from samekind.objectives.fixmatch import guess_loss, label_loss
from samekind.training.answered import to_device
from samekind.training.augment import Family
from samekind.training.finetune import Changes
from samekind.training.network import Network
from samekind.training.progress import Monitor
from samekind.training.steps import Plan, autocast
from samekind.training.strong import FIXMATCH_STRONG, FIXMATCH_WEAK, Strong
from samekind.training.tuning import FineTuning

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class FixMatchTuning:
    """Settings of FixMatch. The defaults are published, but for the length: 2^20 steps there.

    Parameters
    ----------
    labelled, unlabelled : items with and without a label per step, B and mu B.
    sure : least membership of a guess that is followed.
    average : weight of the past in the averaged network, which is what comes out.
    seconds : of training; None: `epochs` over all items, in steps of `unlabelled` items.
    """

    learning_rate: float = 0.03
    weight_decay: float = 5e-4
    labelled: int = 64
    unlabelled: int = 448
    sure: float = 0.95
    average: float = 0.999
    seconds: float | None = None
    epochs: float = 20


def fixmatch_changes(family: Family, data: Tensor, compute: Compute, compiled: str = "") -> Changes:
    """FixMatch's weak and strong views of pictures that lie where `data` lies.

    `family` tells their size, mean and std.
    """
    dtype = torch.bfloat16 if compute.dtype == "bfloat16" else torch.float32
    weak, strong = (
        Strong(
            replace(views, size=family.size, mean=family.mean, std=family.std),
            dtype=dtype,
            compiled=compiled in COMPILE_MODES,
        ).to(data.device)
        for views in (FIXMATCH_WEAK, FIXMATCH_STRONG)
    )
    return Changes(weak, strong)


class Rounds:
    """Some items in a random order, then all of them in another one, and so on.

    Parameters
    ----------
    items : (n,) at least one, unless nothing is ever taken.

    >>> rounds = Rounds(np.array([4, 7]), np.random.default_rng(0))
    >>> [sorted(rounds.take(2).tolist()) for _ in range(2)], len(rounds.take(5))
    ([[4, 7], [4, 7]], 5)
    """

    def __init__(self, items: Ints, rng: np.random.Generator) -> None:
        self.items, self.rng = items, rng
        self._left: Ints = np.empty(0, dtype=np.intp)

    def take(self, size: int) -> Ints:
        """The next items; the same one twice only where a round ends, or is shorter than this."""
        while len(self._left) < size:
            self._left = np.concatenate([self._left, self.rng.permutation(self.items)])
        taken, self._left = self._left[:size], self._left[size:]
        return taken


class FixMatchTuner(FineTuning):
    """Trains a copy of a network by FixMatch; :meth:`run` returns the averaged one.

    All views of a step go through the network together, so that its batch norms see them as one
    batch: weak views of labelled items, then weak and strong views of the others. Guesses come from
    this network itself. The average is only what comes out.

    Other than in the published program, the means of batch norms take a tenth of each batch
    (PyTorch's default; a thousandth there), and views and network compute in bfloat16 where
    `compute` says so, with weights and losses in float32.

    Parameters
    ----------
    rows, labels : the items whose group is known, at least one, and their groups. They are never
        among the items without a label.
    changes : weak and strong views of items as they lie in `data`.
    """

    def __init__(
        self,
        network: Network,
        data: Tensor,
        rows: Ints,
        labels: Ints,
        changes: Changes,
        tuning: FixMatchTuning,
        *,
        compute: Compute,
        seed: int,
        compiled: str = "",
        monitor: Monitor | None = None,
    ) -> None:
        n, rate, decay = len(data), tuning.learning_rate, tuning.weight_decay
        others = np.setdiff1d(np.arange(n), rows)
        super().__init__(
            network,
            data,
            Plan(tuning.labelled, rate, decay, "sgd", clip=None),
            unlabelled=min(tuning.unlabelled, len(others)),
            steps=max(1, math.ceil(tuning.epochs * n / min(tuning.unlabelled, n))),
            seconds=tuning.seconds,
            average=tuning.average,
            compute=compute,
            seed=seed,
            compiled=compiled,
            monitor=monitor,
        )
        self.tuning = tuning
        self.weak: Any = changes.weak
        self.strong: Any = changes.strong
        self._labelled, self._others = Rounds(rows, self.rng), Rounds(others, self.rng)
        label_of = np.full(n, -1, dtype=np.int64)
        label_of[rows] = labels
        self.label_of = to_device(label_of, data.device)

    def _batch(self) -> tuple[Tensor, ...]:
        """Items with a label, as often as needed to fill their part of the batch, and others."""
        taken = (self._labelled.take(self.tuning.labelled), self._others.take(self.unlabelled))
        return tuple(to_device(items.astype(np.int64), self.data.device) for items in taken)

    def _parts(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
        items, others = batch
        sizes = [len(items), len(others), len(others)]
        x = self.weak(self.data[torch.cat([items, others])], self.chance)
        if len(others):
            x = torch.cat([x, self.strong(self.data[others], self.chance)])
        with autocast(self.compute):
            told, weak, strong = self._student(x, views=1).p.split(sizes)
        return {
            "labelled": label_loss(told, self.label_of[items]),
            "unlabelled": guess_loss(weak, strong, sure=self.tuning.sure),
        }
