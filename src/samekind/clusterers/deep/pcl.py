"""PCL: personalised clustering by targeted representation learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from samekind.clusterers.deep.epochs import EpochClusterer
from samekind.objectives import ClusterContrast, ConstrainedContrast, balance
from samekind.objectives.links import LinkMasks
from samekind.training.network import Output
from samekind.training.steps import SchedulePoint


class PCLLoss(nn.Module):
    """PCL, Eq. 5: constrained contrast in both spaces, contrast of groups, balance.

    Parameters
    ----------
    contrast : Eq. 1-3; None: as in the published program.

    Attributes
    ----------
    sizes : (K,) shares of the groups that the balance aims at; None: equal, as published.
    """

    sizes: Tensor | None = None

    def __init__(self, contrast: ConstrainedContrast | None = None) -> None:
        super().__init__()
        self.contrast = contrast or ConstrainedContrast()
        self.groups = ClusterContrast(temperature=2.0, profile=self.contrast.profile)

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        return {
            "instance": self.contrast.instance(out.z, links),
            "assignment": self.contrast.assignment(out.p, links),
            "groups": self.groups(out.p),
            "balance": balance(out.p, views=2, sizes=self.sizes),
        }


@dataclass(eq=False, repr=False, kw_only=True)
class PCL(EpochClusterer):
    """PCL: contrast in which answers attract and repel, with attention between items.

    Minimises Eq. 5 of the paper in the reading of the published program: constrained contrast of
    features and of memberships (:class:`~samekind.objectives.ConstrainedContrast`), contrast of
    the groups at temperature 2, and balance. Published for pictures of 128 x 128, ResNet-34 from
    scratch, batches of 128, Adam at 1e-5; questions by the strategy ``pcl``.

    The paper also says that "constraints were extended by labeling similar pairs with high
    confidence after several iterations". The program can do so, but not by default, and neither
    does this: ``extension=0.5`` extends them in the second half, and ``certain=0.9999`` with it
    takes the program's threshold (:class:`~samekind.training.answered.Guesses`).

    With ``profile="repaired"``, which is ours, it begins from features learnt without answers and
    from groups that fit the pairs. Then it minimises Eq. 5 plus the likelihood of the answers,
    without attention, and the balance aims at the sizes of these groups: see
    :class:`~samekind.clusterers.deep.repaired.RepairedLearner`.

    Parameters: see :class:`~samekind.clusterers.deep.epochs.EpochClusterer`.

    References
    ----------
    Personalized Clustering via Targeted Representation Learning, AAAI 2025, arXiv 2412.13690.
    """

    strategy: ClassVar[str] = "pcl"
    profiles: ClassVar[tuple[str, ...]] = ("paper", "repaired", "fast")
    published: ClassVar[dict[str, Any]] = {
        "batch_size": 128,
        "learning_rate": 1e-5,
        "backbone": "resnet34",
        "stem": "7x7",
        "size": 128,
        "family": "pcl",
        "attention": True,
    }

    def published_objective(self) -> PCLLoss:
        """Eq. 5."""
        return PCLLoss()
