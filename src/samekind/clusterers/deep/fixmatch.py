"""FixMatch with the answered items as its labels, as published and in a gentle variant."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.base import Learner, NetworkClusterer
from samekind.clusterers.deep.idc import FeedbackLearner
from samekind.clusterers.deep.idc_feedback import Feedback
from samekind.clusterers.deep.settings import Setting
from samekind.compute import COMPILE_MODES
from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName
from samekind.training.answered import Answered
from samekind.training.finetune import Changes, Tuner, Tuning, picture_changes, row_changes
from samekind.training.fixmatch import FixMatchTuner, FixMatchTuning, fixmatch_changes
from samekind.training.loop import Trainer
from samekind.training.network import Network
from samekind.training.strong import Strong, StrongFamily

ROWS_STEPS = 100
"""Training on plain vectors: a second or less."""
PICTURE_EPOCHS = 20
"""Epochs over pictures when none are given; 2^20 steps of 448 are 7,829 epochs over 60,000."""
PROFILES = ("paper", "gentle")
OURS = ("views", "align", "backbone_rate", "warm_up")
"""Parameters of the gentle variant, which FixMatch does not have."""


def train_on_labels(
    learner: FeedbackLearner,
    trainer: Trainer,
    network: Network,
    feedback: Feedback,
    known: Constraints | None = None,
) -> Network:
    """Train on the chosen groups of items, and on guesses about the others, as the settings say.

    Parameters
    ----------
    known : answers that teach as links in the gentle variant; None: none do.
    """
    setting, data, labelled = learner.setting, trainer.data, feedback.chosen >= 0
    tuning: Tuning | FixMatchTuning = setting.tuning
    if not labelled.any() or not tuning.epochs > 0:
        return network
    rows, labels = feedback.items[labelled], feedback.chosen[labelled]
    common: dict[str, Any] = {
        "compute": trainer.compute,
        "seed": learner.seed,
        "compiled": setting.compile,
        "monitor": trainer.monitor,
    }
    if isinstance(tuning, FixMatchTuning):
        changes = _published_changes(setting, trainer)
        return FixMatchTuner(network, data, rows, labels, changes, tuning, **common).run()
    linked = Answered.from_constraints(known or Constraints(len(data)))
    changes = _gentle_changes(setting, trainer)
    return Tuner(network, data, rows, labels, linked, changes, tuning, **common).run()


class LabelLearner(FeedbackLearner):
    """As IDC's learner, but from chosen groups, by FixMatch or its variant, not pre-trained."""

    pretrains: ClassVar[bool] = False
    _known: Constraints | None = None

    def __getstate__(self) -> dict[str, Any]:
        """As of any learner, without the answers."""
        return {**super().__getstate__(), "_known": None}

    def _ready(self, stack: ExitStack, known: Constraints, k: int | None) -> Trainer:
        self._known = known
        return super()._ready(stack, known, k)

    def _taught(
        self, trainer: Trainer, network: Network, feedback: Feedback, fresh: bool
    ) -> Network:
        return train_on_labels(self, trainer, network, feedback, self._known)


def _published_changes(setting: Setting, trainer: Trainer) -> Changes:
    """Weak and strong views of items in FixMatch."""
    if trainer.data.ndim == 2:
        return row_changes(trainer.data)
    family = setting.view_family()
    return fixmatch_changes(family, trainer.data, trainer.compute, setting.compile)


def _gentle_changes(setting: Setting, trainer: Trainer) -> Changes:
    """Weak and strong views of items in the gentle variant."""
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


@dataclass(eq=False, repr=False, kw_only=True)
class LabelClusterer(NetworkClusterer):
    """An estimator that learns from the groups of answered items and from guesses about the others.

    Parameters
    ----------
    epochs : over all items, in steps of `unlabelled` items; None: 20, for plain vectors a hundred
        steps.
    tune_seconds : time for training, in place of `epochs`.
    learning_rate : of SGD with momentum at the beginning; None: .03 (`polish`: .01). It
        falls to a fifth.
    labelled, unlabelled : items with and without a label per step.
    sure : membership of a weak view from which it is a guess to follow.
    average : weight of the past in the averaged network, which is used.
    views : strong ones: ``strong`` (None: two operations of RandAugment and a hole) or
        ``own``, crops and colours as those that the features were learnt with.
    align : keep groups as large as they are before the training; None: yes.
    backbone_rate : rate of the backbone as a share of that of the head; None: a tenth
        (`polish`: all of it).
    warm_up : part of the training in which the rate rises; None: a tenth (`polish`: nothing).

    Other parameters and the attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`.
    """

    epochs: float | None = None
    tune_seconds: float | None = None
    learning_rate: float | None = None
    labelled: int = 64
    unlabelled: int = 448
    sure: float = 0.95
    average: float = 0.999
    views: str | None = None
    align: bool | None = None
    backbone_rate: float | None = None
    warm_up: float | None = None

    gentle: ClassVar[dict[str, Any]] = {
        "learning_rate": 0.03, "align": True, "backbone_rate": 0.1, "warm_up": 0.1,
    }  # fmt: skip
    """Settings of the gentle variant; a parameter of the same name goes before."""

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        self._n_items = len(data)
        given = self.n_clusters is not None
        return LabelLearner(self._setting(data), data, seed, given=given)

    def _schedule(self) -> dict[str, Any]:
        return {"tuning": self._gentle_tuning(), "views": self.views}

    def _epochs(self) -> float:
        if self.epochs is not None:
            return float(np.round(self.epochs, 6))
        step = min(self.unlabelled, self._n_items) / self._n_items  # as a part of an epoch
        return float(np.round(PICTURE_EPOCHS if self._pictures else ROWS_STEPS * step, 6))

    def _gentle_tuning(self) -> Tuning:
        given = {name: getattr(self, name) for name in self.gentle}
        chosen = {name: value for name, value in given.items() if value is not None}
        return Tuning(
            answered=self.labelled,
            unlabelled=self.unlabelled,
            sure=self.sure,
            average=self.average,
            seconds=self.tune_seconds,
            epochs=self._epochs(),
            **{**self.gentle, **chosen},
        )


@dataclass(eq=False, repr=False, kw_only=True)
class FixMatch(LabelClusterer):
    """FixMatch: the answered items are labels, sure guesses about weak views teach strong ones.

    The strongest comparison of IDC. An item has a label if an answer ties it to another item: the
    group of its kind, found as in IDC. Items that are only known to differ from others have no
    label, and such answers teach nothing here (the result still obeys them).

    The profile ``paper`` does what is published. Weak views are flipped and shifted by up to an
    eighth, with reflection; strong views have two operations of RandAugment and a hole on top. 64
    labelled items in a step, 448 others, all views in one pass. Guesses come from the network
    itself, and count from a membership of .95 on. SGD with Nesterov momentum .9 and weight decay
    5e-4; the rate is .03 cos(7 pi t / 16 T), gradients are not clipped. The average of the network
    (.999) is only what is used in the end. Deviations:

    * the number of steps: 2^20 are published. Twenty epochs over 60,000 pictures are 2,679;
    * labelled items are not among the others (the paper adds them there without their labels);
    * the network: ResNet-18 with a head of two layers, or that of `start`, in place of a Wide
      ResNet-28-2. The head begins fitted to groups, because answers have to be told apart by them;
    * the average is short at first, (1 + t) / (10 + t), else short trainings would be forgotten in
      it, and the means of batch norms are averaged too;
    * batch norms have PyTorch's momentum: their means take a tenth of each batch. In the program
      that is a thousandth;
    * on a GPU that has it, views and network compute in bfloat16, with weights and losses in
      float32. The program has float32 everywhere;
    * strength is drawn evenly within the bounds that the paper prints. Its program has ten levels
      and a few other bounds;
    * on plain vectors views are noisy copies.

    The profile ``gentle`` is our variant for networks that have learnt something already, which the
    published rate destroys: the backbone learns at a tenth of the rate, after a warm-up; groups
    keep the sizes that they begin with; guesses come from the averaged network; answered items are
    also among the others, with their group as the guess; answers without a label teach as links;
    gradients are clipped at 5; the weak view is a crop of at least 70 %.

    Parameters
    ----------
    profile : ``paper`` or ``gentle``.

    Other parameters: see :class:`LabelClusterer`; the last four belong to ``gentle``. Without a
    `start` it trains from scratch.

    References
    ----------
    FixMatch, NeurIPS 2020, arXiv 2001.07685.
    """

    profile: Literal["paper", "gentle"] = "paper"

    @property
    def learner_name(self) -> str:
        """Name of what learns.

        >>> FixMatch().learner_name, FixMatch(profile="gentle").learner_name
        ('FixMatch', 'FixMatch, gentle')
        """
        if self.profile == "gentle":
            return "FixMatch, gentle"
        return "FixMatch" + (", from learnt features" if self.start is not None else "")

    def _schedule(self) -> dict[str, Any]:
        if self.profile not in PROFILES:
            raise UnknownName("profile", self.profile, PROFILES)
        if self.profile == "gentle":
            return super()._schedule()
        ours = [name for name in OURS if getattr(self, name) is not None]
        if ours:
            raise InputError(
                f"Expected only parameters of FixMatch as published, got {', '.join(ours)}. "
                "Choose profile='gentle' for these."
            )
        tuning = FixMatchTuning(
            learning_rate=0.03 if self.learning_rate is None else self.learning_rate,
            labelled=self.labelled,
            unlabelled=self.unlabelled,
            sure=self.sure,
            average=self.average,
            seconds=self.tune_seconds,
            epochs=self._epochs(),
        )
        return {"tuning": tuning, "views": None}
