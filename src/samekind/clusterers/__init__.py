"""What groups the vectors. One file each; a new one is a file and a line here."""

from __future__ import annotations

CLUSTERERS: dict[str, str] = {
    "propagation": "samekind.clusterers.propagation:Propagation",
    "live": "samekind.clusterers.live:Live",
    "kmeans": "samekind.clusterers.kmeans:KMeans",
    "copkmeans": "samekind.clusterers.copkmeans:COPKMeans",
    "pckmeans": "samekind.clusterers.pckmeans:PCKMeans",
    "mpckmeans": "samekind.clusterers.mpckmeans:MPCKMeans",
    "seeded": "samekind.clusterers.seeded:SeededKMeans",
    "constrained-seeded": "samekind.clusterers.seeded:ConstrainedSeededKMeans",
    "cobra": "samekind.clusterers.cobras:COBRA",
    "cobras": "samekind.clusterers.cobras:COBRAS",
    "logistic": "samekind.clusterers.logistic:Logistic",
    "pcl": "samekind.clusterers.pcl:PCL",
    "occ": "samekind.clusterers.occ:OCC",
    "cc": "samekind.clusterers.cc:CC",
    "idc": "samekind.clusterers.idc:IDC",
    "fixmatch": "samekind.clusterers.fixmatch:FixMatch",
    "polish": "samekind.clusterers.polish:Polish",
    "ncp": "samekind.clusterers.ncp:NCP",
    "corrected": "samekind.clusterers.corrected:Corrected",
}
DEFAULT = "live"
