"""CC: contrastive clustering, which PCL and OCC become without answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from samekind.clusterers.deep.epochs import EpochClusterer
from samekind.clusterers.deep.stages import EPOCHS
from samekind.training.losses import CCLoss


@dataclass(eq=False, repr=False, kw_only=True)
class CC(EpochClusterer):
    """CC: contrast of items and of groups, no answers in training; the result still honours them.

    Published for pictures of 224 x 224, ResNet-34 from scratch, batches of 256, Adam at 3e-4, 1,000
    epochs. The default of twenty epochs is that of the other methods without answers, see
    :class:`~samekind.clusterers.deep.stages.StagedClusterer`. Without a GPU the published network
    takes minutes for a few dozen pictures; ``size=32, backbone="resnet18", stem="3x3"`` seconds.

    Parameters
    ----------
    profile : ``paper`` trains from scratch as published. ``fast`` (pictures only) is another
        learner, SimCLR + head + FixMatch, as in
        :class:`~samekind.clusterers.deep.epochs.EpochClusterer`.
    epochs : per fit; None: twenty over pictures in the first fit and one in each later fit, some
        sixty steps for plain vectors. In ``fast``, of the training on answers: None: 20.

    Other parameters: see :class:`~samekind.clusterers.deep.epochs.EpochClusterer`.

    References
    ----------
    Li et al., Contrastive Clustering, AAAI 2021, arXiv 2009.09687.
    """

    profile: Literal["paper", "fast"] = "paper"

    usual_first_epochs: ClassVar[int] = EPOCHS
    published: ClassVar[dict[str, Any]] = {
        "batch_size": 256,
        "learning_rate": 3e-4,
        "backbone": "resnet34",
        "stem": "7x7",
        "size": 224,
        "family": "cc",
    }

    def published_objective(self) -> CCLoss:
        """The sum of the two contrasts and the balance."""
        return CCLoss()
