"""FixMatch with the answered items as its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.idc_learning import FeedbackLearner
from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.networked import NetworkClusterer
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.starting import PICTURE_SETTINGS, setting_from
from samekind.compute import COMPILE_MODES
from samekind.constraints import Constraints
from samekind.training.answered import Answered
from samekind.training.augment import family_named
from samekind.training.feedback_tuning import Feedback
from samekind.training.finetune import Changes, Tuner, Tuning, picture_changes, row_changes
from samekind.training.loop import Trainer
from samekind.training.network import Network
from samekind.training.strong import Strong, StrongFamily

ROWS_STEPS = 100
"""Training on plain vectors: a second or less."""


class LabelLearner(FeedbackLearner):
    """As IDC's learner, but from chosen groups only, and without features learnt beforehand."""

    @property
    def _learns_features(self) -> bool:
        return False

    def _taught(
        self, trainer: Trainer, network: Network, feedback: Feedback, fresh: bool
    ) -> Network:
        told = feedback.chosen >= 0
        tuning = self.setting.tuning
        if not told.any() or not tuning.epochs > 0:
            return network
        n = len(trainer.data)
        return Tuner(
            network,
            trainer.data,
            feedback.items[told],
            feedback.chosen[told],
            Answered.from_constraints(Constraints(n)),  # groups of items are all that it knows
            self._changes(trainer),
            tuning,
            compute=trainer.compute,
            seed=self.seed,
            compiled=self.setting.compile,
            watch=trainer.watch,
        ).run()

    def _changes(self, trainer: Trainer) -> Changes:
        if not self._pictures:
            return row_changes(trainer.data)
        family = family_named(self.setting.family).at(self.setting.size)
        changes = picture_changes(family, trainer.data, trainer.compute, self.setting.compile)
        if self.setting.views == "own":
            return changes
        strong = StrongFamily(family.size, 2, cutout=0.5, mean=family.mean, std=family.std)
        dtype = torch.bfloat16 if trainer.compute.dtype == "bfloat16" else torch.float32
        compiled = self.setting.compile in COMPILE_MODES
        return Changes(
            changes.weak, Strong(strong, dtype=dtype, compiled=compiled).to(trainer.device)
        )


class FixMatch(NetworkClusterer):
    """FixMatch: the answered items are labels, sure guesses about weak views teach strong ones.

    The strongest comparison of IDC: it learns from the groups that were chosen for items, and from
    nothing else; items that belong to none of the groups shown teach it nothing. Which column
    stands for which kind is found as in IDC.

    Parameters
    ----------
    n_clusters, start, backbone, stem, channels, size, family, image_shape, device, compile, watch,
    random_state, verbose : as in :class:`~samekind.clusterers.deep.idc.IDC`. Without a `start` it
        trains from scratch.
    epochs : over all items; None: 20, for plain vectors a hundred steps. Published are 2^20 steps.
    tune_seconds : time for training, in place of `epochs`.
    learning_rate : of SGD with momentum; it falls to a fifth, as published.
    labelled, company : items with and without a label per step.
    sure : membership of a weak view from which it is a guess to follow.
    average : weight of the past in the averaged network, which is used.
    views : strong ones: ``strong`` (two operations of RandAugment and a hole, as published) or
        ``own``, crops and colours as those that the features were learnt with.
    align : keep groups as large as they are before the training. Not in FixMatch, but without it
        a group can be swallowed by another.
    warm_start : fitted again on the same pictures with answers, do not read `start` again.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.

    References
    ----------
    FixMatch, NeurIPS 2020, arXiv 2001.07685.
    """

    _learner_kind: type[LabelLearner] = LabelLearner

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        start: str | None = None,
        epochs: float | None = None,
        tune_seconds: float | None = None,
        learning_rate: float = 0.03,
        labelled: int = 64,
        company: int = 448,
        sure: float = 0.95,
        average: float = 0.999,
        views: str | None = "strong",
        align: bool = False,
        backbone: str | None = None,
        stem: str | None = None,
        channels: int | None = None,
        size: int | None = None,
        family: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        warm_start: bool = True,
        device: str | None = None,
        compile: str = "",
        watch: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.start = start
        self.epochs = epochs
        self.tune_seconds = tune_seconds
        self.learning_rate = learning_rate
        self.labelled = labelled
        self.company = company
        self.sure = sure
        self.average = average
        self.views = views
        self.align = align
        self.backbone = backbone
        self.stem = stem
        self.channels = channels
        self.size = size
        self.family = family
        self.image_shape = image_shape
        self.warm_start = warm_start
        self.device = device
        self.compile = compile
        self.watch = watch
        self.random_state = random_state
        self.verbose = verbose

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        self._n_items = len(data)
        wanted = {name: getattr(self, name, None) for name in PICTURE_SETTINGS}
        setting = (
            setting_from(self.start, wanted) if data.ndim == 4 else Setting(device=self.device)
        )
        return self._learner_kind(setting, data, seed, given=self.n_clusters is not None)

    def _schedule(self) -> dict[str, Any]:
        epochs = self.epochs
        if epochs is None:
            some = min(self.company, self._n_items) / self._n_items  # of an epoch, in one step
            epochs = 20 if self._pictures else ROWS_STEPS * some
        tuning = Tuning(
            learning_rate=self.learning_rate,
            answered=self.labelled,
            company=self.company,
            sure=self.sure,
            average=self.average,
            seconds=self.tune_seconds,
            epochs=float(np.round(epochs, 6)),
            align=self.align,
        )
        return {
            "tuning": tuning,
            "views": self.views,
            "watch": self.watch,
            "verbose": self.verbose,
        }
