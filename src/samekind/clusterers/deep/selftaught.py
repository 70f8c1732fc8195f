"""Self-supervised methods as clusterers: their training counted in steps, then groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.staged import Stage, StagedClusterer, StagedLearner
from samekind.compute import COMPILE_MODES
from samekind.constraints import Constraints
from samekind.objectives.similarity import full_precision
from samekind.training.augment import family_named
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.heads import ClusterHead
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.momentum import Momentum
from samekind.training.neighbours import said_of_all
from samekind.training.network import Network
from samekind.training.selflearn_file import CentreShares
from samekind.training.selflearn_methods import RESTARTS, Method, method_of
from samekind.training.selflearn_rows import method_of_rows
from samekind.training.selflearn_setting import GROUPING, SelfSetting
from samekind.training.steps import mixed_seed
from samekind.training.strong import TCL, TCL_IMAGENET, StrongFamily, WeakStrong

MEMORY = 0.1
"""The slow copy of BYOL and ProPos averages over at most this share of the training."""
ROUNDS = 20
"""New groups are made at most so often on plain vectors, where an epoch is a step or two."""


class Centred(nn.Module):
    """Features less their mean: those after a ReLU all point the same way otherwise."""

    mean: Tensor

    def __init__(self, mean: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)

    def forward(self, h: Tensor) -> Tensor:
        """Centred features (B, width)."""
        return full_precision(h) - self.mean


class UnitVectors(nn.Module):
    """Projections at length 1, in place of an instance head."""

    def __init__(self, projector: nn.Module) -> None:
        super().__init__()
        self.projector = projector

    def forward(self, h: Tensor) -> Tensor:
        """Unit vectors (B, out) of features (B, width)."""
        return normalize(full_precision(self.projector(h)), dim=1)


class SelfTaughtLearner(StagedLearner):
    """One of the methods of :class:`~samekind.training.selflearn.SelfLearner`, also for rows.

    Its schedules run over all steps, as there. Groups are those of the method, or of k-means on the
    centred features where it has none.
    """

    name: ClassVar[str]
    """Of the method."""
    rate: float | None = None
    """Learning rate; None: the method's own."""
    _method: Method | None = None
    _k = 1

    def __getstate__(self) -> dict[str, Any]:
        """As of any learner; what only training needs stays behind."""
        return {**super().__getstate__(), "_method": None}

    def _network(self, k: int) -> Network:
        assert self._data is not None
        self._k, n = k, len(self._data)
        if self._data.ndim == 4:
            self._method = method_of(self._setting_of(k), n, self.compute)
        else:
            rows = torch.from_numpy(np.array(self._data))
            self._method = method_of_rows(self.name, rows, k, average=self._average())
        network: Any = self._method.network
        return network  # type: ignore[no-any-return]

    def _setting_of(self, k: int) -> SelfSetting:
        setting = self.setting
        return SelfSetting(
            self.name,
            groups=max(2, k) if self.name in GROUPING else None,
            backbone=setting.backbone,
            stem=setting.stem,
            channels=setting.channels,
            size=setting.size,
            batch_size=setting.batch_size,
            learning_rate=self.rate,
            compile=setting.compile,
            device=setting.device,
            seed=self.seed,
            average=self._average(),
            hidden=64 * setting.channels,  # 4096 at the published 64 channels
        )

    def _average(self) -> float:
        """Weight of the past: short trainings want a short memory."""
        return min(SelfSetting.average, max(0.5, 1 - 1 / (MEMORY * self.steps)))

    def _plan(self) -> Plan:
        assert self._data is not None
        if self._data.ndim == 4:
            return self._setting_of(self._k).plan(len(self._data))
        rate = self.setting.learning_rate if self.rate is None else self.rate
        return replace(super()._plan(), learning_rate=rate)

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        assert self._method is not None
        followed: Any = network
        if isinstance(followed, Momentum):  # also where a file gave the backbone
            followed.target_backbone.load_state_dict(followed.backbone.state_dict())
        if data.ndim == 2:
            views = self._method.views
        elif self.name == "tcl":
            views = self._weak_and_strong()
        return super()._trainer_of(network, data, views)

    def _weak_and_strong(self) -> WeakStrong:
        setting = self.setting
        family = family_named(setting.family).at(setting.size)
        weak = (TCL if family.blur_p == 0 else TCL_IMAGENET).at(setting.size)
        return WeakStrong(
            replace(weak, mean=family.mean, std=family.std),
            StrongFamily(setting.size, mean=family.mean, std=family.std),
            dtype=torch.bfloat16 if self.compute.dtype == "bfloat16" else torch.float32,
            compiled=setting.compile in COMPILE_MODES,
        )

    def _start_head(self, trainer: Trainer, features: Any, known: Constraints) -> None:
        if self.name == "tcl":
            super()._start_head(trainer, features, known)

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        method = self._method
        assert method is not None
        if method.memory is None:  # only features: nothing to do where a file gave them
            return [Stage(method.loss)] if self.setting.start is None else []
        if method.last is None:
            every = self._every(trainer)
            return [Stage(method.loss, prepare=self._relabel, every=every)]
        return [
            Stage(method.loss, method.starts),
            Stage(method.last, 1 - method.starts, prepare=self._relabel, every=1.0),
        ]

    def _every(self, trainer: Trainer) -> float:
        if trainer.data.ndim == 4:
            return 1.0
        return max(1.0, self.steps / ROUNDS / trainer.batches.steps)

    def _moments(self, first: int, last: int, per_epoch: int) -> Callable[[int], SchedulePoint]:
        span = self.steps / per_epoch
        return lambda step: SchedulePoint(step / per_epoch, span)

    def _relabel(self, trainer: Trainer) -> None:
        """Fill the method's memory from what the network says now, once it is time for it."""
        method = self._method
        assert method is not None and method.memory is not None
        if trainer.step < round(method.starts * self.steps):
            return
        seed = mixed_seed(self.seed, trainer.step, 2)
        order = torch.from_numpy(np.random.default_rng(seed).permutation(len(trainer.data)))
        read = self._read_by(trainer)
        method.relabel(read, order.to(trainer.device), trainer.batches.size, seed)
        trainer.world.agree(method.memory.labels)

    def _read_by(
        self, trainer: Trainer
    ) -> Callable[[Callable[[Tensor], Tensor], int, list[nn.Module]], Tensor]:
        return lambda run, width, parts: said_of_all(trainer, run)

    def _finished(self, trainer: Trainer) -> Network:
        """The backbone that is used, with the method's groups or those of k-means."""
        method, trained = self._method, trainer.network
        assert method is not None
        backbone: Any = method.backbone
        seed = mixed_seed(self.seed, trainer.step, 1)
        groups = method.groups(self._read_by(trainer), seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            used = Network(backbone, k=1, out=1, attention=False).to(trainer.device)
        if self._k == 1:
            groups = used.cluster
        elif groups is None:
            h = said_of_all(trainer, backbone)
            centred = Centred(h.mean(dim=0))
            found = cosine_kmeans(centred(h), self._k, seed=seed, n_init=RESTARTS)
            groups = CentreShares(centred, found.centres)
        head: Any = groups
        used.cluster = head
        vectors: Any = method.network
        instance: Any = (
            UnitVectors(vectors.target_projector)
            if isinstance(vectors, Momentum)
            else trained.instance
        )
        used.instance = instance
        assert isinstance(used.cluster, (ClusterHead, CentreShares))
        return used


class SelfTaughtClusterer(StagedClusterer):
    """A self-supervised method and its groups; see the classes below it."""

    published: ClassVar[dict[str, Any]] = {}

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, SelfTaughtLearner)
        learner.rate = self.learning_rate
        return learner
