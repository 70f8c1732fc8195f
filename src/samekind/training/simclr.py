"""SimCLR pre-training: its loss and its plan, defined once for everything that learns features.

``samekind learn``, the encoder and the clusterer SimCLR, the first stage of SCAN and SPICE, and the
features of IDC and of the fast profile all use these.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn

from samekind.objectives import NTXent
from samekind.objectives.links import LinkMasks
from samekind.training.network import Output
from samekind.training.steps import Plan, SchedulePoint

RATE, RATE_BATCH = 0.25, 512
"""Learning rate of SGD, and the batch size that it is for; published are .4 (SCAN's program), or
1.0 with LARS for batches of 4096."""
DECAY = 5e-4
TEMPERATURE = 0.2
"""Published are .1 (SCAN's program) and .5."""
ROW_TEMPERATURE = 0.5
"""Temperature on plain vectors."""


class ItemContrast(nn.Module):
    """Contrast of items alone: two views of an item attract, others repel."""

    def __init__(self, *, temperature: float = ROW_TEMPERATURE) -> None:
        super().__init__()
        self.items = NTXent(temperature=temperature)

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the one part of the loss of a batch."""
        return {"instance": self.items(out.z)}


def simclr_loss(*, pictures: bool = True) -> ItemContrast:
    """Make the loss for pictures or for plain vectors."""
    return ItemContrast(temperature=TEMPERATURE if pictures else ROW_TEMPERATURE)


def simclr_plan(plan: Plan, *, batch: int | None = None) -> Plan:
    """Train SimCLR on pictures, with the batch size and seed of `plan`.

    Parameters
    ----------
    batch : scale the default learning rate to this batch size; None: keep the rate of `plan`.
    """
    rate = plan.learning_rate if batch is None else RATE * batch / RATE_BATCH
    return replace(
        plan,
        optimiser="sgd",
        schedule="cosine",
        learning_rate=rate,
        weight_decay=DECAY,
        clip=None,
    )
