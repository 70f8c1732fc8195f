"""What some of the compared methods share: views as published, and any number of them per item."""

from __future__ import annotations

from typing import ClassVar

import torch

from samekind.clusterers.deep.staged import StagedLearner
from samekind.compute import COMPILE_MODES
from samekind.errors import InputError
from samekind.training.augment import Family, Views
from samekind.training.loop import Trainer, TwoViews
from samekind.training.network import Network
from samekind.training.perturbed import Edges, Perturbed
from samekind.training.rows import NoisyRows


class ManyViewsLearner(StagedLearner):
    """A :class:`StagedLearner` with the published family of views, unless another was named."""

    published_family: ClassVar[Family]
    own_family: bool = True
    """Use the published family; False: that of the setting."""
    _used_views: TwoViews

    def _views(self) -> Views:
        if not self.own_family:
            return super()._views()
        dtype = torch.bfloat16 if self.compute.dtype == "bfloat16" else torch.float32
        family = self.published_family.at(self.setting.size)
        return Views(family, dtype=dtype, compiled=self.setting.compile in COMPILE_MODES)

    def _trainer_of(self, network: Network, data: torch.Tensor, views: TwoViews) -> Trainer:
        return self._alone(super()._trainer_of(network, data, views))

    def _alone(self, trainer: Trainer) -> Trainer:
        """The trainer, if no other process takes part; its views are those of the end."""
        if trainer.world.size > 1:
            raise InputError(
                f"This method trains in one process; {trainer.world.size} were started. "
                "Start it without torchrun."
            )
        self._used_views = trainer.views
        return trainer

    def _perturbed(self, *, copies: int = 1, first_plain: bool = False) -> Perturbed:
        """Views for a stage, of the same family as those that are used in the end."""
        views = self._used_views
        assert isinstance(views, Views | Edges | NoisyRows)
        return Perturbed(views, copies=copies, first_plain=first_plain)

    def _finished(self, trainer: Trainer) -> Network:
        trainer.views = self._used_views
        return trainer.network
