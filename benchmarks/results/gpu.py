"""Runs of the recipes on a GPU (``benchmarks/gpu/*.json``) as rows of the results page.

A whole run of the profile ``paper`` asks its questions in the first epochs and trains on with all
answers. Its scores swing from epoch to epoch, so it is reported by the mean of its last ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from samekind.simulation.rows import Row, read_rows

GPU = Path(__file__).parents[1] / "gpu"
SUITE = "recipes"
"""The suite of rows that are read from the files of recipes."""
GRID = "idc-grid"
"""The suite of ``recipes/idc.py --grid``."""
LAST_SCORES = 10
"""Scores that the result of a training by epochs is the mean of."""
GROUPS = {"cifar10-2": 2, "cifar100-4": 4}
"""Sets of the recipes of PCL and OCC, which give K to the method."""
MACHINE = {"gpu": "NVIDIA H200", "cores": 16}
"""The machine of this folder, where a file names none."""
SETTINGS = (
    "profile", "start", "batch_size", "learning_rate", "size", "stem", "backbone", "channels",
    "first_epochs", "per_epoch", "extension", "attention", "items",
)  # fmt: skip
"""Arguments of a recipe that are parameters of the method."""


def recipe_rows(folder: Path = GPU, kept: Sequence[Row] = ()) -> list[Row]:
    """Runs of PCL, OCC and IDC's grid whose file is not among the origins of the kept rows."""
    converted = {Path(row["protocol"].get("from") or "").name for row in kept}
    rows = []
    for path in sorted(folder.glob("*.json")):
        file = read_rows(path)
        if file.problem:
            raise SystemExit(f"{file.problem} Correct or remove it in {folder}.")
        for row in file.runs:
            if row.get("suite") == GRID:  # complete rows already
                origin = {"from": f"benchmarks/gpu/{path.name}"}
                rows.append({**row, "protocol": {**row["protocol"], **origin}})
            elif path.name not in converted and row.get("method") in ("pcl", "occ"):
                rows.append(_as_row(row, path))
    return rows


def _as_row(row: Row, path: Path) -> Row:
    """The row of a recipe with the fields that those of a suite have."""
    given = {name: row[name] for name in SETTINGS if row.get(name) not in (None, "auto")}
    done = row["curve"][-1].get("epochs", row.get("epochs"))
    about = {
        "epochs_done": done,
        "epochs_planned": row.get("epochs_planned", row.get("epochs")),
        "by_epochs": row.get("profile") == "paper",
    }
    return {
        **row,
        "suite": SUITE,
        "parameters": given,
        "budget": row.get("questions"),
        "questions": row["curve"][-1]["questions"],
        "groups_given": GROUPS.get(row["set"]),
        "noise": row.get("noise", 0.0),
        "unsure": row.get("unsure", 0.0),
        "seconds": row["curve"][-1].get("seconds"),
        "machine": row.get("machine") or MACHINE,
        "protocol": {"from": f"benchmarks/gpu/{path.name}", **about},
    }


def settled(row: Row) -> Mapping[str, float]:
    """The last point of a run; of a training by epochs the mean of the last ten scores.

    Only scores after the last question count: before it, fewer answers were in force.
    """
    points: list[dict[str, Any]] = list(row["curve"])
    if not (row.get("protocol") or {}).get("by_epochs"):
        return points[-1]
    last = [p for p in points if p["questions"] == points[-1]["questions"]][-LAST_SCORES:]
    names = [name for name in points[-1] if all(name in point for point in last)]
    found = {name: mean(float(point[name]) for point in last) for name in names}
    return {**found, "questions": points[-1]["questions"], "scores": len(last)}
