"""FixMatch with the answered items as its labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.base import Learner, NetworkClusterer
from samekind.clusterers.deep.idc import FeedbackLearner
from samekind.clusterers.deep.idc_feedback import Feedback
from samekind.clusterers.deep.settings import Setting
from samekind.compute import COMPILE_MODES
from samekind.constraints import Constraints
from samekind.training.answered import Answered
from samekind.training.finetune import Changes, Tuner, Tuning, picture_changes, row_changes
from samekind.training.loop import Trainer
from samekind.training.network import Network
from samekind.training.strong import Strong, StrongFamily

ROWS_STEPS = 100
"""Training on plain vectors: a second or less."""


def train_on_labels(
    learner: FeedbackLearner, trainer: Trainer, network: Network, feedback: Feedback
) -> Network:
    """Train a network on the chosen groups of items, and on its own guesses about the others."""
    setting = learner.setting
    tuning: Tuning = setting.tuning
    labelled = feedback.chosen >= 0
    if not labelled.any() or not tuning.epochs > 0:
        return network
    return Tuner(
        network,
        trainer.data,
        feedback.items[labelled],
        feedback.chosen[labelled],
        Answered.from_constraints(Constraints(len(trainer.data))),  # no links
        _changes(setting, trainer),
        tuning,
        compute=trainer.compute,
        seed=learner.seed,
        compiled=setting.compile,
        monitor=trainer.monitor,
    ).run()


def _changes(setting: Setting, trainer: Trainer) -> Changes:
    """Weak and strong views of the items."""
    if trainer.data.ndim == 2:
        return row_changes(trainer.data)
    family = setting.view_family()
    changes = picture_changes(family, trainer.data, trainer.compute, setting.compile)
    if setting.views == "own":
        return changes
    strong = StrongFamily(family.size, 2, cutout=0.5, mean=family.mean, std=family.std)
    dtype = torch.bfloat16 if trainer.compute.dtype == "bfloat16" else torch.float32
    views = Strong(strong, dtype=dtype, compiled=setting.compile in COMPILE_MODES)
    return Changes(changes.weak, views.to(trainer.device))


class LabelLearner(FeedbackLearner):
    """As IDC's learner, but from chosen groups only, and without pre-training."""

    pretrains: ClassVar[bool] = False

    def _taught(
        self, trainer: Trainer, network: Network, feedback: Feedback, fresh: bool
    ) -> Network:
        return train_on_labels(self, trainer, network, feedback)


@dataclass(eq=False, repr=False, kw_only=True)
class FixMatch(NetworkClusterer):
    """FixMatch: the answered items are labels, sure guesses about weak views teach strong ones.

    The strongest comparison of IDC: it learns from the groups that were chosen for items, and from
    nothing else; items that belong to none of the groups shown teach it nothing. Which column
    stands for which kind is found as in IDC.

    Parameters
    ----------
    epochs : over all items; None: 20, for plain vectors a hundred steps. Published are 2^20 steps.
    tune_seconds : time for training, in place of `epochs`.
    learning_rate : of SGD with momentum; it falls to a fifth, as published.
    labelled, unlabelled : items with and without a label per step.
    sure : membership of a weak view from which it is a guess to follow.
    average : weight of the past in the averaged network, which is used.
    views : strong ones: ``strong`` (two operations of RandAugment and a hole, as published) or
        ``own``, crops and colours as those that the features were learnt with.
    align : keep groups as large as they are before the training. Not in FixMatch, but without it
        a group can be swallowed by another.

    Other parameters and the attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`. Without a `start` it trains from
    scratch.

    References
    ----------
    FixMatch, NeurIPS 2020, arXiv 2001.07685.
    """

    epochs: float | None = None
    tune_seconds: float | None = None
    learning_rate: float = 0.03
    labelled: int = 64
    unlabelled: int = 448
    sure: float = 0.95
    average: float = 0.999
    views: str | None = "strong"
    align: bool = False

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        self._n_items = len(data)
        given = self.n_clusters is not None
        return LabelLearner(self._setting(data), data, seed, given=given)

    def _schedule(self) -> dict[str, Any]:
        epochs = self.epochs
        if epochs is None:
            step = min(self.unlabelled, self._n_items) / self._n_items  # as a part of an epoch
            epochs = 20 if self._pictures else ROWS_STEPS * step
        tuning = Tuning(
            learning_rate=self.learning_rate,
            answered=self.labelled,
            unlabelled=self.unlabelled,
            sure=self.sure,
            average=self.average,
            seconds=self.tune_seconds,
            epochs=float(np.round(epochs, 6)),
            align=self.align,
        )
        return {"tuning": tuning, "views": self.views}
