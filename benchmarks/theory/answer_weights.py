"""How much of the positive weight of a batch the answers have, in PCL's and in OCC's loss.

    python -m benchmarks.theory.answer_weights --json            # seconds

Two groups (4 : 6), truthful answers about random pairs, .83 per item as in OCC's table. Links that
follow from answers count too, as they do in training. The mean over pairs takes all weights of a
batch together, the mean over rows the share of each row.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.measuring import arguments, emit
from benchmarks.theory.late_answers import BATCH, answered
from samekind.objectives import ConstrainedContrast
from samekind.objectives.links import LinkMasks, both_views, partners
from samekind.training.answered import Answered, batch_links
from samekind.training.batches import LinkedBatches

RESULTS = Path(__file__).with_name("answer-weights.jsonl")
LAMBDA = 50.0
"""OCC's weight of answers in the first epoch."""


def shares(known: LinkMasks) -> dict[str, float]:
    """The share of the answers in each loss."""
    same = both_views(known.same).double()
    views = partners(len(known.same), same.device).double()

    def over_pairs(weights: Tensor) -> float:
        return float((weights * same).sum() / weights.sum())

    def over_rows(weights: Tensor) -> float:
        return float(((weights * same).sum(dim=1) / weights.sum(dim=1)).mean())

    program = ConstrainedContrast().pair_weights(known, torch.float64)
    printed = ConstrainedContrast(profile="paper").pair_weights(known, torch.float64)
    occ = views + LAMBDA * same
    return {
        "pcl": over_pairs(program),
        "pcl, as printed": over_rows(printed),
        "occ": over_rows(occ),
        "occ, over pairs": over_pairs(occ),
    }


def measured(items: int, partner_share: float, batches: int, seed: int) -> dict[str, Any]:
    """Means over some batches of a set of `items`."""
    labels = (np.random.default_rng(seed).random(items) < 0.4).astype(int)
    known = Answered.from_constraints(answered(labels, seed))
    order = LinkedBatches(items, BATCH, seed=seed, share=partner_share)
    found, rows = [], []
    for step in range(batches):
        drawn = order.items(step, known)
        masks = batch_links(drawn, known, None).masks(len(drawn))
        rows.append(float(masks.same.any(dim=1).double().mean()))
        found.append(shares(masks))
    means = {loss: round(float(np.mean([one[loss] for one in found])), 3) for loss in found[0]}
    return {
        "items": items,
        "partner_share": partner_share,
        "batches": batches,
        "seed": seed,
        "rows_with_answers": round(float(np.mean(rows)), 3),
        **means,
    }


def main() -> None:
    """Measure the set of the experiment, and one of the published size."""
    parser = arguments(__doc__ or "", RESULTS)
    parser.add_argument("--items", nargs="+", type=int, default=[3000, 60000])
    parser.add_argument("--partner-shares", nargs="+", type=float, default=[0.25, 0.0])
    parser.add_argument("--batches", type=int, default=20)
    chosen = parser.parse_args()
    for items in chosen.items:
        for share in chosen.partner_shares:
            emit(measured(items, share, chosen.batches, chosen.seed), chosen.json)


if __name__ == "__main__":
    main()
