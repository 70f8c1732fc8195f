"""Members of the shelves with little to do: contracts are not about quality."""

from __future__ import annotations

from typing import Any

from samekind.registry import find

DEEP: dict[str, dict[str, Any]] = {
    **{name: {"epochs": 1} for name in ("pcl", "occ", "cc", "idc", "fixmatch", "polish")},
    **{name: {"steps": 2} for name in ("simclr", "byol", "tcl", "propos", "scan", "spice")},
    **{name: {"steps": 2} for name in ("pica", "idfd", "gcc", "mice")},
    **{name: {"steps": 4} for name in ("dec", "idec", "sdec", "dcc", "dc-gmm")},
}
"""Deep methods that train, for one epoch or a few steps."""
SHORT: dict[str, dict[str, Any]] = {
    **DEEP,
    **{name: {"n_samples": 16, "orders": 2} for name in ("ncp", "ncp-graph")},
}


def made(name: str) -> Any:
    return find("method", name)(**SHORT.get(name, {}))


TOLD = (
    *("copkmeans", "pckmeans", "mpckmeans", "seeded", "constrained-seeded"),
    *(name for name in SHORT if name not in ("cc", "ncp", "ncp-graph")),
)
"""Methods that guess the number of groups like k-means or CC: in contracts, those two do."""


def told_three(name: str) -> Any:
    """With a number of groups where another method guesses it: that takes longer than all else."""
    estimator = made(name)
    return estimator.set_params(n_clusters=3) if name in TOLD else estimator
