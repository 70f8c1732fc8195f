"""What the networks are trained to make small. One file per loss; pairs come as index tensors.

Every loss takes both views stacked, rows 0..N-1 view a and rows N..2N-1 view b of the same items,
follows the device of its input, and computes in float32 (float64 stays float64), whatever the
network runs in.
"""

from __future__ import annotations

from samekind.objectives.balance import balance
from samekind.objectives.cluster import ClusterContrast
from samekind.objectives.links import BatchLinks
from samekind.objectives.ntxent import NTXent
from samekind.objectives.occ import ActiveContrast
from samekind.objectives.pcl import ConstrainedContrast

__all__ = [
    "ActiveContrast",
    "BatchLinks",
    "ClusterContrast",
    "ConstrainedContrast",
    "NTXent",
    "balance",
]
