"""SimCLR, BYOL, TCL and ProPos as clusterers: self-supervised training, then groups.

They differ in loss and network, which ``samekind learn`` shares: see
:mod:`samekind.training.selflearn_methods`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner
from samekind.objectives.similarity import full_precision
from samekind.training.bank import predict_all
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.heads import CentreShares, ClusterHead
from samekind.training.loop import Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.momentum import Momentum
from samekind.training.network import Network
from samekind.training.selflearn_methods import RESTARTS, Method, method_of
from samekind.training.selflearn_rows import method_of_rows
from samekind.training.selflearn_setting import (
    AVERAGE_SHORT,
    GROUPING,
    SelfSetting,
    average_over,
)
from samekind.training.steps import mixed_seed
from samekind.training.strong import TCL as TCL_VIEWS
from samekind.training.strong import TCL_IMAGENET as TCL_IMAGENET_VIEWS
from samekind.training.strong import StrongFamily, WeakStrong

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


class SelfSupervisedLearner(StagedLearner):
    """One of the methods of :class:`~samekind.training.selflearn.SelfLearner`, also for rows.

    Its schedules run over all steps, as there. Groups are those of the method, or of k-means on the
    centred features where it has none.
    """

    head_starts_first: ClassVar[bool] = False
    _method: Method | None = None
    _k = 1

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int, *, name: str) -> None:
        super().__init__(setting, data, seed)
        self.name = name

    def __getstate__(self) -> dict[str, Any]:
        """As of any learner; what only training needs stays behind."""
        return {**super().__getstate__(), "_method": None}

    def _network(self, k: int) -> Network:
        assert self._data is not None
        self._k, n = k, len(self._data)
        if self._pictures:
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
            linear=setting.linear,
            hidden=64 * setting.channels,  # 4096 at the published 64 channels
        )

    def _epochs(self) -> float:
        assert self._data is not None
        return self.steps * min(1.0, self.setting.batch_size / len(self._data))

    def _average(self) -> float:
        """Weight of the past: short trainings want a short memory."""
        longest = average_over(self._epochs()) if self._pictures else AVERAGE_SHORT
        return min(longest, max(0.5, 1 - 1 / (MEMORY * self.steps)))

    def _plan(self) -> Plan:
        assert self._data is not None
        if self._pictures:
            return self._setting_of(self._k).plan(len(self._data), self._epochs())
        rate = self.setting.learning_rate if self.rate is None else self.rate
        return replace(super()._plan(), learning_rate=rate)

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        assert self._method is not None
        followed: Any = network
        if isinstance(followed, Momentum):  # also where a file gave the backbone
            followed.target_backbone.load_state_dict(followed.backbone.state_dict())
        if not self._pictures:
            views = self._method.views
        elif self.name == "tcl":
            views = self._weak_and_strong()
        return super()._trainer_of(network, data, views)

    def _weak_and_strong(self) -> WeakStrong:
        family, size = self.setting.view_family(), self.setting.size
        weak = (TCL_VIEWS if family.blur_p == 0 else TCL_IMAGENET_VIEWS).at(size)
        return WeakStrong(
            replace(weak, mean=family.mean, std=family.std),
            StrongFamily(size, mean=family.mean, std=family.std),
            dtype=self._dtype,
            compiled=self._compiles,
        )

    def _train(self, trainer: Trainer) -> None:
        if self.name == "tcl":
            self._start_head_at(trainer, trainer.views.plain(trainer.data))
        super()._train(trainer)

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
        if self._pictures:
            return 1.0
        return max(1.0, self.steps / ROUNDS / trainer.batches.steps)

    def _schedule_points(
        self, first: int, last: int, per_epoch: int
    ) -> Callable[[int], SchedulePoint]:
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
        return lambda run, width, parts: predict_all(trainer, run)

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
            h = predict_all(trainer, backbone)
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


def self_supervised(
    method: StagedClusterer, name: str, data: NDArray[Any], seed: int
) -> SelfSupervisedLearner:
    """Make the learner of a method of :mod:`samekind.training.selflearn_methods`."""
    learner = SelfSupervisedLearner(method._setting(data), data, seed, name=name)
    learner.rate = method.learning_rate
    return learner


@dataclass(eq=False, repr=False, kw_only=True)
class SimCLR(StagedClusterer):
    """SimCLR: two views of an item attract, others repel; then k-means on the features.

    All steps learn features; with a `start` there are none, and its features are grouped as they
    are. SGD at .25 for 512 items (more for larger batches), temperature .2; published are 1.0 and
    .5 with LARS for batches of 4096. On plain vectors: Adam, temperature .5.

    Parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`.

    References
    ----------
    Chen et al., A Simple Framework for Contrastive Learning of Visual Representations, ICML 2020,
    arXiv 2002.05709.
    """

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        return self_supervised(self, "simclr", data, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class BYOL(StagedClusterer):
    """BYOL: a view predicts what a slow copy says of the other; then k-means on the features.

    All steps learn features; with a `start` there are none, and its features are grouped as they
    are. Settings, scale of the loss (the mean of both directions) and deviations are those of
    :class:`ProPos` without its noise and its prototypes: they come from ProPos' program, which runs
    BYOL for comparison. BYOL's own paper adds both directions, under LARS and at other rates.

    Parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`.

    References
    ----------
    Grill et al., Bootstrap Your Own Latent, NeurIPS 2020, arXiv 2006.07733.
    """

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        return self_supervised(self, "byol", data, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class TCL(StagedClusterer):
    """TCL: contrast of items and of groups between weak and strong views, then boosting.

    5/6 of the steps are the twin contrast, 1/6 the boosting, as published (1000 and 200 epochs).
    In the boosting, items that the network is sure of (membership .99, per group at most the surer
    half of a batch's share) carry a label: equal labels do not repel, and the strong view learns
    the label. The groups are those of the head after the last step.

    As in the program, the backbone ends with a linear layer of its own width (512 at 64 channels),
    whose output are the features, and both heads begin with a ReLU. Deviations: Adam at 1e-3 that
    falls over all steps (published 1e-4, constant, for ten times as many epochs), heads without
    batch norms (as in IDC's program), labels refreshed at each epoch of the boosting instead of in
    each step, ResNet-18 at 32 pixels by default (published: ResNet-34 at 224). On plain vectors:
    no linear layer, views with little and with much noise, and a head that begins at the groups of
    k-means, because sixty steps are few. A `start` gives the backbone only, and the linear layer
    where it has one; no stage is left out, because each one trains the head as well.

    Parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`.

    References
    ----------
    Li et al., Twin Contrastive Learning for Online Clustering, IJCV 2022, arXiv 2210.11680.
    """

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        return self_supervised(self, "tcl", data, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class ProPos(StagedClusterer):
    """ProPos: BYOL with noise on what is predicted from, and group means that are pushed apart.

    One stage. In its first 5 % there is alignment alone, as published (50 of 1000 epochs); then
    k-means on the slow copy's projections makes groups anew at each epoch, and the means of these
    groups scatter (weight .1, temperature .5, noise .001). The groups in the end are those of
    k-means, the best of ten starts; labels are never looked at to choose an epoch.

    As published for CIFAR: ResNet-18 with a 3x3 stem at 32 pixels, SGD at .05 x batch / 256,
    predictor x 10 with first weights N(0, .01), decay 5e-4, each loss the mean of both directions,
    and in trainings of 500 epochs and more a slow copy whose past weighs .996. Deviations: below
    that twice the rate and .99, and less in trainings below 1000 steps; both views go through the
    network in one pass; projector and predictor are 64 times as wide as the first stage (4096 at
    the published 64 channels); those of
    :class:`~samekind.training.selflearn_setting.SelfSetting`. On plain vectors: Adam, a small
    network, new groups at most twenty times. A `start` gives the backbone and its slow copy; no
    stage is left out, because the projector is fresh.

    Parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`.

    References
    ----------
    Huang et al., Learning Representation for Clustering via Prototype Scattering and Positive
    Sampling, TPAMI 2022, arXiv 2111.11821.
    """

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        return self_supervised(self, "propos", data, seed)
