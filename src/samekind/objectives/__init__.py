"""Losses. One file each; pairs come as index tensors.

Every loss over two views takes them stacked, rows 0..N-1 view a and rows N..2N-1 view b of the
same items. Every loss follows the device of its input, never waits for it, and computes in float32
(float64 stays float64), whatever the network runs in. Labels are whole numbers, -1 for none.
"""

from __future__ import annotations

from samekind.objectives.balance import balance
from samekind.objectives.boost import BoostedContrast, balanced_nll
from samekind.objectives.byol import regression
from samekind.objectives.cluster import ClusterContrast
from samekind.objectives.feedback import negative_loss, positive_loss, regularisation
from samekind.objectives.links import BatchLinks
from samekind.objectives.ntxent import NTXent
from samekind.objectives.occ import ActiveContrast
from samekind.objectives.pcl import ConstrainedContrast
from samekind.objectives.prototypes import PrototypeScattering, alignment

__all__ = [
    "ActiveContrast",
    "BatchLinks",
    "BoostedContrast",
    "ClusterContrast",
    "ConstrainedContrast",
    "NTXent",
    "PrototypeScattering",
    "alignment",
    "balance",
    "balanced_nll",
    "negative_loss",
    "positive_loss",
    "regression",
    "regularisation",
]
