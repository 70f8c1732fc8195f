"""The table of SCAN's stages from the file that its recipe leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.results.gpu import recipe_rows
from benchmarks.results.own import NOT_YET
from benchmarks.results.scan import scan_table


def row(stage: str, epochs: float, acc: float, minutes: float, **more: Any) -> dict[str, Any]:
    scores = {"test_acc": acc, "test_nmi": 0.5, "test_ari": 0.4, "groups": 10}
    return {"stage": stage, "epochs": epochs, "seconds": 60 * minutes, **scores, **more}


CURVE = [
    row("neighbours", 45.0, 0.81, 2),
    row("neighbours", 50.0, 0.79, 3),
    row("labels", 0.0, 0.80, 3, chosen=True),
    row("labels", 195.0, 0.87, 8),
    row("labels", 200.0, 0.88, 9),
]


def written(folder: Path, curve: list[dict[str, Any]], name: str = "cifar10") -> None:
    result = {"set": name, "seed": 0, "method": "scan", "curve": curve}
    result |= {"epochs_planned": [50.0, 200.0], "questions": 0, **curve[-1]}
    (folder / "scan-cifar10.json").write_text(json.dumps(result))


def cells(table: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def test_each_stage_stands_beside_what_the_program_reached(tmp_path: Path) -> None:
    written(tmp_path, CURVE)
    first, last = cells(scan_table("cifar10", folder=tmp_path))
    assert first[1:7] == ["50", ".800", ".500", ".400", "10", ".816"], "the chosen epoch"
    assert last[1:7] == ["200", ".880", ".500", ".400", "10", ".883"]
    assert (first[-2], last[-2]) == ("3", "9")
    assert recipe_rows(tmp_path) == [], "it is no row of PCL or OCC, and no obstacle either"


def test_a_run_that_is_not_done_says_so_and_none_is_said_to_be_missing(tmp_path: Path) -> None:
    assert scan_table("cifar10", folder=tmp_path) == NOT_YET
    written(tmp_path, CURVE[:1])
    assert [line[1] for line in cells(scan_table("cifar10", folder=tmp_path))] == ["45 of 50"]
    written(tmp_path, CURVE[:4])
    first, last = cells(scan_table("cifar10", folder=tmp_path))
    assert (first[1], last[1]) == ("50", "195 of 200")
    assert scan_table("cifar20", folder=tmp_path) == NOT_YET
