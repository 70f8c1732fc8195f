"""Table of self-supervised features: what k-means and neighbours find without any question."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results.gpu import GPU
from benchmarks.results.own import NOT_YET
from benchmarks.results.rows import short
from samekind.reports.markdown import pipe_table
from samekind.simulation.rows import Row

PROLONGS = {
    "learn-cifar10-simclr-long.json": "learn-cifar10-simclr.json",
    "learn-cifar10-simclr-longer.json": "learn-cifar10-simclr-long.json",
    "learn-cifar20-simclr-long.json": "learn-cifar20-simclr.json",
}
"""Which file each training went on from, where that was before a file said so itself."""
NAMES = {"simclr": "SimCLR", "byol": "BYOL", "tcl": "TCL", "propos": "ProPos", "cc": "CC"}


def learnt_table(name: str, rows: Sequence[Row] = (), folder: Path = GPU) -> str:
    """A line for each score of ``learn-*.json`` on a set, by method and epochs.

    ``minutes`` are those of the training itself, on whatever share of the card it had.
    """
    files = {path.name: _read(path) for path in sorted(folder.glob("learn-*.json"))}
    lines = [line for file in files if files[file]["set"] == name for line in _lines(file, files)]
    if not lines:
        return NOT_YET
    lines.sort(key=lambda line: (line[0], float(line[1].partition(" of ")[0])))
    heads = ["features", "epochs", "minutes", "ACC / NMI / ARI of k-means", "ACC of its own groups"]
    return pipe_table([*heads, "20 nearest neighbours right", "seed", "file"], lines)


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _lines(file: str, files: Mapping[str, Any]) -> Iterator[list[str]]:
    result = files[file]
    epochs, seconds = _before(file, files)
    planned = epochs + result.get("epochs_planned", result["epochs"])
    for score in result.get("curve") or [result]:
        done = epochs + score["epochs"]
        minutes = (seconds + score["training_seconds"]) / 60
        yield [
            NAMES.get(result["method"], result["method"]),
            f"{done:g}" + (f" of {planned:g}" if done != planned else ""),
            f"{minutes:.1f}",
            " / ".join(short(score[metric]) for metric in ("acc", "nmi", "ari")),
            short(score.get("own_acc")),
            short(score["nearest_acc"]),
            str(result["seed"]),
            f"`{file}`",
        ]


def _before(file: str, files: Mapping[str, Any]) -> tuple[float, float]:
    """Epochs and seconds of the trainings that a training went on from."""
    epochs = seconds = 0.0
    while earlier := PROLONGS.get(file):
        epochs += files[earlier]["epochs"]
        seconds += files[earlier]["training_seconds"]
        file = earlier
    return epochs, seconds
