"""Methods that group items. A new one is a file and a line here.

Every estimator can be imported from this package, which loads its file only then:
``from samekind.clusterers import Live, KMeans, COBRAS, PCL, NCP``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

CLUSTERERS: dict[str, str] = {
    "propagation": "samekind.clusterers.live.propagation:Propagation",
    "live": "samekind.clusterers.live.estimator:Live",
    "kmeans": "samekind.clusterers.kmeans.constrained:KMeans",
    "copkmeans": "samekind.clusterers.kmeans.copkmeans:COPKMeans",
    "pckmeans": "samekind.clusterers.kmeans.pckmeans:PCKMeans",
    "mpckmeans": "samekind.clusterers.kmeans.mpckmeans:MPCKMeans",
    "seeded": "samekind.clusterers.kmeans.seeded:SeededKMeans",
    "constrained-seeded": "samekind.clusterers.kmeans.seeded:ConstrainedSeededKMeans",
    "cobra": "samekind.clusterers.kmeans.cobras:COBRA",
    "cobras": "samekind.clusterers.kmeans.cobras:COBRAS",
    "logistic": "samekind.clusterers.logistic:Logistic",
    "pcl": "samekind.clusterers.deep.pcl:PCL",
    "occ": "samekind.clusterers.deep.occ:OCC",
    "cc": "samekind.clusterers.deep.cc:CC",
    "idc": "samekind.clusterers.deep.idc:IDC",
    "fixmatch": "samekind.clusterers.deep.fixmatch:FixMatch",
    "idfd": "samekind.clusterers.deep.idfd:IDFD",
    "gcc": "samekind.clusterers.deep.gcc:GCC",
    "mice": "samekind.clusterers.deep.mice:MiCE",
    "pica": "samekind.clusterers.deep.pica:PICA",
    "simclr": "samekind.clusterers.deep.selfsupervised:SimCLR",
    "byol": "samekind.clusterers.deep.selfsupervised:BYOL",
    "tcl": "samekind.clusterers.deep.selfsupervised:TCL",
    "propos": "samekind.clusterers.deep.selfsupervised:ProPos",
    "scan": "samekind.clusterers.deep.scan:SCAN",
    "spice": "samekind.clusterers.deep.spice:SPICE",
    "polish": "samekind.clusterers.deep.polish:Polish",
    "ncp": "samekind.clusterers.ncp.estimator:NCP",
    "ncp-graph": "samekind.clusterers.ncp.graph:NCPGraph",
    "corrected": "samekind.clusterers.corrected:Corrected",
    "dec": "samekind.clusterers.deep.dec:DEC",
    "idec": "samekind.clusterers.deep.dec:IDEC",
    "sdec": "samekind.clusterers.deep.sdec:SDEC",
    "dcc": "samekind.clusterers.deep.dcc:DCC",
    "dc-gmm": "samekind.clusterers.deep.dcgmm:DCGMM",
}
DEFAULT = "live"
"""Name of the method that is used unless another is asked for."""

_MODULES = {name: module for module, _, name in (m.partition(":") for m in CLUSTERERS.values())}

__all__ = ["CLUSTERERS", "DEFAULT", *_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
