"""Table of SCAN trained as published: its two stages beside the figures of the program."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results.gpu import GPU
from benchmarks.results.own import NOT_YET
from benchmarks.results.rows import short
from samekind.reports.markdown import pipe_table
from samekind.reports.published import figures
from samekind.simulation.rows import Row

STAGES = {"neighbours": "SCAN-loss", "labels": "SCAN self-labelling"}
"""Stages of the recipe, and what the published table calls them."""
WORDS = {"neighbours": "groups from neighbours", "labels": "labels of its own"}


def scan_table(name: str, rows: Sequence[Row] = (), folder: Path = GPU) -> str:
    """Scores of the test pictures after each stage, a line for each stage of ``scan-*.json``."""
    lines = [line for path in sorted(folder.glob("scan-*.json")) for line in _lines(path, name)]
    if not lines:
        return NOT_YET
    heads = ["stage", "epochs", "ACC", "NMI", "ARI", "groups", "published ACC", "NMI", "ARI"]
    return pipe_table([*heads, "seed", "minutes so far", "file"], lines)


def _lines(path: Path, name: str) -> Iterator[list[str]]:
    result = json.loads(path.read_text(encoding="utf-8"))
    if result["set"] != name:
        return
    for stage, planned in zip(STAGES, result["epochs_planned"], strict=True):
        row = end_of_stage(result["curve"], stage)
        if row is None:
            continue
        (printed,) = (f for f in figures(name, table="scan-zoo") if f.method == STAGES[stage])
        done = planned if "chosen" in row else row["epochs"]
        epochs = f"{done:g}" + (f" of {planned:g}" if done != planned else "")
        scores = [short(row[f"test_{metric}"]) for metric in ("acc", "nmi", "ari")]
        wanted = [short(value) for value in (printed.acc, printed.nmi, printed.ari)]
        about = [str(result["seed"]), f"{row['seconds'] / 60:.0f}", f"`benchmarks/gpu/{path.name}`"]
        yield [WORDS[stage], epochs, *scores, str(row["groups"]), *wanted, *about]


def end_of_stage(curve: Sequence[Mapping[str, Any]], stage: str) -> Mapping[str, Any] | None:
    """The score that counts: the chosen epoch of the first stage, else the last of the stage."""
    chosen = [row for row in curve if row.get("chosen")]
    if stage == "neighbours" and chosen:
        return chosen[-1]
    own = [row for row in curve if row["stage"] == stage and not row.get("chosen")]
    return own[-1] if own else None
