"""What SCAN and SPICE share: features by SimCLR first, then stages of another kind on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.staged import Stage, StagedClusterer, StagedLearner
from samekind.compute import COMPILE_MODES
from samekind.constraints import Constraints
from samekind.training.augment import family_named
from samekind.training.loop import Plan, Trainer, TwoViews
from samekind.training.losses import ItemContrast
from samekind.training.scan_views import MildStrongRows, SingleRows, StrongOnly
from samekind.training.selflearn_setting import OWN
from samekind.training.strong import StrongFamily

CUTOUT = 0.5
"""Largest side of the hole in strong views: 16 of 32 pixels, as SCAN has it."""


class ContrastedLearner(StagedLearner):
    """A learner whose first stage is SimCLR, left out where a file gives features.

    SimCLR runs as in :class:`~samekind.training.selflearn_setting.SelfSetting` (SGD), on plain
    vectors with Adam.
    """

    rate: float | None = None
    """Learning rate after the first stage; None: the method's own."""
    _answers: Constraints | None = None

    def _plan(self) -> Plan:
        assert self._data is not None
        plan, own = super()._plan(), OWN["simclr"]
        if self._data.ndim == 2:
            return plan
        rate = own.learning_rate * self._batch(len(self._data)) / 512
        return replace(plan, optimiser="sgd", learning_rate=rate, weight_decay=own.weight_decay)

    def _after_features(self, stages: Sequence[Stage]) -> list[Stage]:
        """These stages, whose shares leave room for learning features, with that one before."""
        left = 1 - sum(stage.share for stage in stages)
        if self.setting.start is not None:
            return [replace(stage, share=stage.share / (1 - left)) for stage in stages]
        pictures = self._data is not None and self._data.ndim == 4
        temperature = OWN["simclr"].temperature if pictures else 0.5
        return [Stage(ItemContrast(temperature=temperature), left), *stages]

    def _start_head(self, trainer: Trainer, features: Any, known: Constraints) -> None:
        self._answers = known  # the head begins later, from what the first stage has learnt

    def _start_head_at(self, trainer: Trainer, features: torch.Tensor) -> None:
        """On plain vectors, begin the head at k-means: some ten steps do not teach a fresh one."""
        if trainer.data.ndim == 2 and self._answers is not None:
            super()._start_head(trainer, features.cpu().numpy(), self._answers)

    def _turn(self, trainer: Trainer, **changes: Any) -> None:
        """Go on with another plan and a fresh optimiser."""
        trainer.plan = replace(trainer.plan, **changes)
        trainer.renew()

    def _strong_views(self, trainer: Trainer, *, mild: bool = False) -> TwoViews:
        """One strong view of each item; with `mild`, a plain one before."""
        if trainer.data.ndim == 2:
            return MildStrongRows(trainer.data) if mild else SingleRows(trainer.data)
        family = family_named(self.setting.family).at(self.setting.size)
        strong = StrongFamily(family.size, cutout=CUTOUT, mean=family.mean, std=family.std)
        return StrongOnly(
            family,
            strong,
            mild=mild,
            dtype=torch.bfloat16 if self.compute.dtype == "bfloat16" else torch.float32,
            compiled=self.setting.compile in COMPILE_MODES,
        )


class ContrastedClusterer(StagedClusterer):
    """A method on top of SimCLR; see the classes below it."""

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, ContrastedLearner)
        learner.rate = self.learning_rate
        return learner
