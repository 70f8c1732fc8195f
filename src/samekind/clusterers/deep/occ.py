"""OCC: oracle-guided contrastive clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.epochs import EpochClusterer
from samekind.clusterers.deep.settings import Setting
from samekind.errors import InputError
from samekind.objectives import ActiveContrast, ClusterContrast, balance
from samekind.objectives.links import LinkMasks
from samekind.training.network import Output
from samekind.training.steps import SchedulePoint


class OCCLoss(nn.Module):
    """OCC, Eq. 5 with the sign of the balance repaired; the weight of answers fades (Eq. 1).

    Parameters
    ----------
    contrast : Eq. 2-4. start : initial weight of answers "same".

    Attributes
    ----------
    sizes : (K,) shares of the groups that the balance aims at; None: equal, as published.
    """

    sizes: Tensor | None = None

    def __init__(self, contrast: ActiveContrast | None = None, *, start: float = 50.0) -> None:
        super().__init__()
        self.contrast = contrast or ActiveContrast()
        self.groups = ClusterContrast(temperature=1.0, profile="occ")
        self.start = start

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        lam = ActiveContrast.lam_at(point.epoch, point.epochs, start=self.start)
        return {
            "instance": self.contrast(out.z, links, lam),
            "assignment": self.contrast(out.p, links, lam),
            "groups": self.groups(out.p),
            "balance": balance(out.p, views=1, sizes=self.sizes),
        }


@dataclass(eq=False, repr=False, kw_only=True)
class OCC(EpochClusterer):
    """OCC: contrast in which items answered "same" join the positives, with a fading weight.

    Minimises Eq. 5 of the paper with the sign of its balance term repaired. Confident guesses
    count as links in the second half of the training ("label extension", for which the paper gives
    no numbers: :class:`~samekind.training.answered.Guesses`). Published for pictures of 224 x 224,
    ResNet-34 from scratch, batches of 256, Adam at 3e-4; questions by the strategy ``csd``.

    With ``profile="repaired"``, which is ours, it begins from features learnt without answers and
    from groups that fit the pairs. Then it minimises Eq. 5 plus the likelihood of the answers
    (OCC itself does not use "different"), without guesses, and the balance aims at the sizes of
    these groups: see :class:`~samekind.clusterers.deep.repaired.RepairedLearner`.

    Parameters
    ----------
    mean : ``rows`` as published: every row of a batch counts as much as another, so that answers
        hardly move groups that have settled without them. ``pairs``, which is ours, averages over
        all positive pairs at once, as PCL's program does ("OCC, mean over pairs").

    Other parameters: see :class:`~samekind.clusterers.deep.epochs.EpochClusterer`.

    References
    ----------
    Oracle-guided Contrastive Clustering, arXiv 2211.00409.
    """

    mean: Literal["rows", "pairs"] = "rows"

    strategy: ClassVar[str] = "csd"
    profiles: ClassVar[tuple[str, ...]] = ("paper", "repaired", "fast")
    published: ClassVar[dict[str, Any]] = {
        "batch_size": 256,
        "learning_rate": 3e-4,
        "backbone": "resnet34",
        "stem": "7x7",
        "size": 224,
        "family": "cc",
        "extension": 0.5,
    }
    space: ClassVar[Literal["z", "h"]] = "h"

    def published_objective(self) -> OCCLoss:
        """Eq. 5."""
        return OCCLoss(ActiveContrast(mean=self.mean))

    @property
    def _variant(self) -> str:
        return "" if self.mean == "rows" else f", mean over {self.mean}"

    def _setting(self, data: NDArray[Any], **more: Any) -> Setting:
        if self.mean != "rows" and (self.objective is not None or self.profile == "fast"):
            other = "objective=..." if self.objective is not None else "profile='fast'"
            raise InputError(
                f"Expected the mean of OCC's own loss, got mean={self.mean!r} with {other}, which "
                "does not use it. Omit one of the two."
            )
        return super()._setting(data, **more)
