"""The table of self-supervised features from the files that their recipe leaves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.results import learnt
from benchmarks.results.gpu import GPU
from benchmarks.results.learnt import learnt_table
from benchmarks.results.own import NOT_YET


def point(epochs: float, nearest: float, **more: float) -> dict[str, float]:
    scores = {"acc": 0.7, "nmi": 0.6, "ari": 0.5, "nearest_acc": nearest}
    return {"epochs": epochs, "training_seconds": 3 * epochs, **scores, **more}


def written(folder: Path, name: str, **result: Any) -> None:
    result = {"set": "cifar10", "method": "propos", "seed": 0, **result}
    (folder / f"learn-{name}.json").write_text(json.dumps(result))


def cells(table: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]
    ]


def test_a_training_has_a_line_for_each_score(tmp_path: Path) -> None:
    assert learnt_table("cifar10", folder=tmp_path) == NOT_YET
    curve = [point(100, 0.85), point(260, 0.91, own_acc=0.88)]
    written(tmp_path, "propos", curve=curve, epochs_planned=800, **curve[-1])
    first, last = cells(learnt_table("cifar10", folder=tmp_path))
    assert first[:6] == ["ProPos", "100 of 800", "5.0", ".700 / .600 / .500", "-", ".850"]
    assert last[1:6] == ["260 of 800", "13.0", ".700 / .600 / .500", ".880", ".910"]
    assert learnt_table("cifar20", folder=tmp_path) == NOT_YET


def test_a_prolonged_training_counts_what_came_before(tmp_path: Path) -> None:
    written(tmp_path, "cifar10-simclr", method="simclr", **point(115, 0.85))
    written(tmp_path, "cifar10-simclr-long", method="simclr", **point(155, 0.88))
    found = [line[1:3] for line in cells(learnt_table("cifar10", folder=tmp_path))]
    assert found == [["115", "5.8"], ["270", "13.5"]]


def test_the_kept_files_are_those_that_the_table_names() -> None:
    files = {path.name for path in GPU.glob("learn-*.json")}
    assert learnt.PROLONGS.keys() | set(learnt.PROLONGS.values()) <= files
