"""SDEC: DEC with answers about pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.codes import AutoencoderClusterer, AutoencoderLearner, DECLoss, Parts
from samekind.objectives.links import LinkMasks
from samekind.objectives.sdec import LinkedDistances
from samekind.training.autoencoder import Coded
from samekind.training.loop import Plan, Trainer
from samekind.training.steps import SchedulePoint

LINKED = 0.25
"""Part of a batch that may be partners of its answered items."""


class SDECLoss(DECLoss):
    """SDEC: DEC, and linked items come near each other or go apart.

    Parameters
    ----------
    weight : of the links. margin : see :class:`~samekind.objectives.sdec.LinkedDistances`.
    """

    def __init__(self, n: int, k: int, *, weight: float, margin: float) -> None:
        super().__init__(n, k)
        self.weight = weight
        self.pull = LinkedDistances(margin=margin, bounded=True)

    def of_items(self, out: Coded, items: Tensor, links: LinkMasks, point: SchedulePoint) -> Parts:
        """The parts of the loss of a batch."""
        parts = super().of_items(out, items, links, point)
        return {**parts, "links": self.weight * self.pull(out.z, links)}


class SDECLearner(AutoencoderLearner):
    """Groups and distances between linked items are learnt in the same steps."""

    weight = 0.1
    margin = 4.0

    def _plan(self) -> Plan:
        return replace(super()._plan(), linked_share=LINKED)

    def _objective(self, trainer: Trainer) -> nn.Module:
        return SDECLoss(
            len(trainer.data), trainer.network.k, weight=self.weight, margin=self.margin
        )


@dataclass(eq=False, repr=False, kw_only=True)
class SDEC(AutoencoderClusterer):
    """SDEC: DEC in which answers pull the codes of pairs together or push them apart.

    As DEC, and the squared distance of two codes counts for pairs of one kind and against pairs of
    different kinds, with all that follows from the answers. A quarter of a batch may be partners of
    its answered items, so that pairs meet.

    Published: weight 1e-5, which on the codes here does nothing that could be measured, no margin
    (the loss then has no lower bound), a sum over the pairs by the number of items (here by the
    number of pairs where that is larger). PCL compares with it on ResNet-34.

    Parameters
    ----------
    weight : of the pairs against the groups.
    margin : squared distance from which different items are far enough apart. The mean squared
        distance of a code and its centre is 1 at the start.

    Other parameters: see :class:`~samekind.clusterers.deep.codes.AutoencoderClusterer`.

    References
    ----------
    Ren et al., Semi-supervised deep embedded clustering, Neurocomputing 325, 2019.
    """

    weight: float = 0.1
    margin: float = 4.0

    published: ClassVar[dict[str, Any]] = {"batch_size": 256, "learning_rate": 1e-3}

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = SDECLearner(self._setting(data), data, seed, self._coding())
        learner.weight, learner.margin = self.weight, self.margin
        return learner
