"""IDFD: instance discrimination and feature decorrelation, then k-means."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner
from samekind.objectives.idfd import FeatureDecorrelation, InstanceDiscrimination
from samekind.objectives.links import LinkMasks
from samekind.training.augment import Family
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.heads import CentreHead, LinearUnits
from samekind.training.loop import Plan, SchedulePoint, Trainer
from samekind.training.network import Network, Output

RESTARTS = 20
"""Starts of the k-means that makes the groups."""


class IDFDLoss(nn.Module):
    """Discrimination of items by a bank of them all, and decorrelation of features.

    Parameters
    ----------
    n, out : items of the set, and width of the vectors.
    weight : of the decorrelation.
    generator : of the bank's first vectors.
    """

    def __init__(
        self, n: int, out: int, *, weight: float, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.weight = weight
        self.items = InstanceDiscrimination(n, out, generator=generator)
        self.features = FeatureDecorrelation()

    def of_items(
        self, out: Output, items: Tensor, links: LinkMasks, point: SchedulePoint
    ) -> dict[str, Tensor]:
        """The parts of the loss of a batch of one view; then the bank learns from it."""
        parts = {
            "instance": self.items(out.z, items),
            "features": self.weight * self.features(out.z),
        }
        self.items.remember(out.z, items)
        return parts


class IDFDLearner(StagedLearner):
    """Learns vectors, then groups them by k-means; others are placed by the nearest centre."""

    single_process: ClassVar[bool] = True
    head_starts_first: ClassVar[bool] = False
    weight: float = 1.0

    def _network(self, k: int) -> Network:
        network = super()._network(k)
        network.instance = LinearUnits(network.width, 128)
        return network

    def _plan(self) -> Plan:
        plan = super()._plan()
        return replace(plan, optimiser="sgd", weight_decay=5e-4) if self._pictures else plan

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        chance = torch.Generator().manual_seed(self.seed)
        loss = IDFDLoss(len(trainer.data), 128, weight=self.weight, generator=chance)
        return [Stage(loss, views=self._perturbed())]

    def _finished(self, trainer: Trainer) -> Network:
        network = super()._finished(trainer)
        k = network.k
        z = torch.from_numpy(self._reading(trainer).z).to(trainer.device)
        found = cosine_kmeans(z, k, seed=self.seed, n_init=RESTARTS)
        used = deepcopy(network)
        used.cluster = CentreHead(used.instance, found.centres)
        return used


@dataclass(eq=False, repr=False, kw_only=True)
class IDFD(StagedClusterer):
    """IDFD: tells each item from all others with features that do not repeat each other.

    One stage of all steps: each step looks at one random view of each item of a batch and compares
    it with a bank of the vectors of all items. Then k-means with 20 starts makes the groups.

    Published: ResNet-18 with a linear layer of 128, SGD at 0.03 with momentum .9 and decay 5e-4,
    batches of 128, 2,000 epochs, crops of 20 % and more, jitter .4, no flips.

    Differences: the learning rate rises and falls like a cosine in place of steps at 600, 950, 1300
    and 1650 of 2,000 epochs; momentum is Nesterov's; k-means goes by the angle, and over the
    vectors of the plain items in place of the bank, so that other items are placed in the same way.
    The bank is compared with as a whole, so a step needs room for batch size x items numbers.

    Parameters
    ----------
    weight : of the decorrelation of features; 0 is instance discrimination alone.

    Other parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`. If `family` is
    None, the published views are used.

    References
    ----------
    Tao et al., Clustering-friendly Representation Learning via Instance Discrimination and Feature
    Decorrelation, ICLR 2021, arXiv 2106.00131.
    """

    weight: float = 1.0

    published: ClassVar[dict[str, Any]] = {
        "batch_size": 128,
        "learning_rate": 0.03,
        "family": Family(
            32, scale=(0.2, 1.0), jitter=(0.4, 0.4, 0.4, 0.4), jitter_p=1.0, flip_p=0.0
        ),
    }

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = IDFDLearner(self._setting(data), data, seed)
        learner.weight = self.weight
        return learner
