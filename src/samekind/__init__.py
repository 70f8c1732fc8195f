"""samekind: bring a pile, answer a few questions, get the grouping that you had in mind.

The public names below are imported when first used, so that ``import samekind`` is instant::

    import samekind

    found = samekind.group(X, same=[(0, 7)], different=[(0, 3)])  # an array, a table, texts, ...
    found.labels

    session = samekind.Session(X)
    asked = session.ask()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from samekind.clusterers.corrected import Corrected
    from samekind.clusterers.deep.cc import CC
    from samekind.clusterers.deep.dcc import DCC
    from samekind.clusterers.deep.dcgmm import DCGMM
    from samekind.clusterers.deep.dec import DEC, IDEC
    from samekind.clusterers.deep.fixmatch import FixMatch
    from samekind.clusterers.deep.gcc import GCC
    from samekind.clusterers.deep.idc import IDC
    from samekind.clusterers.deep.idfd import IDFD
    from samekind.clusterers.deep.mice import MiCE
    from samekind.clusterers.deep.occ import OCC
    from samekind.clusterers.deep.pcl import PCL
    from samekind.clusterers.deep.pica import PICA
    from samekind.clusterers.deep.polish import Polish
    from samekind.clusterers.deep.scan import SCAN
    from samekind.clusterers.deep.sdec import SDEC
    from samekind.clusterers.deep.selfsupervised import BYOL, TCL, ProPos, SimCLR
    from samekind.clusterers.deep.spice import SPICE
    from samekind.clusterers.kmeans.cobras import COBRA, COBRAS
    from samekind.clusterers.kmeans.constrained import KMeans
    from samekind.clusterers.kmeans.copkmeans import COPKMeans
    from samekind.clusterers.kmeans.mpckmeans import MPCKMeans
    from samekind.clusterers.kmeans.pckmeans import PCKMeans
    from samekind.clusterers.kmeans.seeded import ConstrainedSeededKMeans, SeededKMeans
    from samekind.clusterers.live.estimator import Live
    from samekind.clusterers.live.propagation import Propagation
    from samekind.clusterers.logistic import Logistic
    from samekind.clusterers.ncp.estimator import NCP
    from samekind.clusterers.ncp.graph import NCPGraph
    from samekind.clustering import Clustering
    from samekind.constraints import Conflict, Constraints
    from samekind.errors import (
        AnswerError,
        ChangedCollection,
        CorruptedLedger,
        ExportError,
        ForeignFile,
        Infeasible,
        InputError,
        MissingExtra,
        NoSpace,
        NotFound,
        SamekindError,
        ServerError,
        SourceError,
        StateError,
        StoreError,
        UnknownName,
        VectorError,
    )  # fmt: skip
    from samekind.items import Collection, Item, Preview, Skipped
    from samekind.ledger.store import open_store
    from samekind.questions import (
        AllLike,
        Answer,
        Belongs,
        Elsewhere,
        Link,
        OddOnes,
        OneKind,
        OwnKind,
        Question,
        SameGroups,
        SamePair,
        SeparateKinds,
        WhichGroup,
    )  # fmt: skip
    from samekind.session import Session
    from samekind.simulation import simulate
    from samekind.sources import open_labelled, open_source
    from samekind.workspace.group import Grouping, group
    from samekind.workspace.pile import Pile, open_pile

_HOMES = {
    "clustering": "Clustering",
    "constraints": "Conflict Constraints",
    "errors": (
        "AnswerError ChangedCollection CorruptedLedger ExportError ForeignFile Infeasible "
        "InputError MissingExtra NoSpace NotFound SamekindError ServerError SourceError StateError "
        "StoreError UnknownName VectorError"
    ),
    "items": "Collection Item Preview Skipped",
    "ledger.store": "open_store",
    "questions": (
        "AllLike Answer Belongs Elsewhere Link OddOnes OneKind OwnKind Question SameGroups "
        "SamePair SeparateKinds WhichGroup"
    ),
    "session": "Session",
    "simulation": "simulate",
    "sources": "open_labelled open_source",
    "workspace.group": "Grouping group",
    "workspace.pile": "Pile open_pile",
}
"""Modules of all public names but the estimators, which are in ``samekind.clusterers``."""

__all__ = [
    "BYOL", "CC", "COBRA", "COBRAS", "DCC", "DCGMM", "DEC", "GCC", "IDC", "IDEC", "IDFD", "NCP",
    "OCC", "PCL", "PICA", "SCAN", "SDEC", "SPICE", "TCL", "AllLike", "Answer", "AnswerError",
    "Belongs", "COPKMeans", "ChangedCollection", "Clustering", "Collection", "Conflict",
    "ConstrainedSeededKMeans", "Constraints", "Corrected", "CorruptedLedger", "Elsewhere",
    "ExportError", "FixMatch", "ForeignFile", "Grouping", "Infeasible", "InputError", "Item",
    "KMeans", "Link", "Live", "Logistic", "MPCKMeans", "MiCE", "MissingExtra", "NCPGraph",
    "NoSpace", "NotFound", "OddOnes", "OneKind", "OwnKind", "PCKMeans", "Pile", "Polish", "Preview",
    "ProPos", "Propagation", "Question", "SameGroups", "SamePair", "SamekindError", "SeededKMeans",
    "SeparateKinds", "ServerError", "Session", "SimCLR", "Skipped", "SourceError", "StateError",
    "StoreError", "UnknownName", "VectorError", "WhichGroup", "__version__", "group",
    "open_labelled", "open_pile", "open_source", "open_store", "simulate",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    from importlib import import_module

    if name not in __all__:
        from difflib import get_close_matches

        close = get_close_matches(name, __all__, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise AttributeError(f"module 'samekind' has no attribute {name!r}.{hint}")
    homes = (module for module, names in _HOMES.items() if name in names.split())
    module = next(homes, "clusterers")
    try:
        value = globals()[name] = getattr(import_module(f"samekind.{module}"), name)
    except ModuleNotFoundError as problem:
        if problem.name != "torch":
            raise
        from samekind.errors import MissingExtra

        raise MissingExtra(f"samekind.{name}", "train") from problem
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
