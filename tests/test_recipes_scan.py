"""SCAN's recipe from features to the last stage, in pieces, on a handful of drawn pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recipes_here import run_here
from test_recipes import folder  # noqa: F401

QUICK = [
    "--epochs",
    "2",
    "2",
    "--batch-sizes",
    "10",
    "20",
    "--neighbours",
    "3",
    "--score-every",
    "1",
]


def run_scan(folder: Path, place: Path, *options: str) -> dict[str, Any]:  # noqa: F811
    out = place / "scan.json"
    words = ("--data", str(folder), "--features", str(place / "features.safetensors"), *QUICK)
    run_here("scan", *words, "--json", str(out), *options)
    result: dict[str, Any] = json.loads(out.read_text())
    return result


def learn(folder: Path, place: Path) -> None:  # noqa: F811
    words = ("--data", str(folder), "--items", "50", "--epochs", "5", "--batch-size", "20")
    small = ("--size", "8", "--channels", "2", "--checkpoint", str(place / "features.safetensors"))
    run_here(
        "learn", *words, *small, "--temperature", ".1", "--learning-rate", ".4", "--crop", ".2"
    )


def test_both_stages_run_and_the_test_pictures_are_scored(folder: Path, tmp_path: Path) -> None:  # noqa: F811
    learn(folder, tmp_path)
    result = run_scan(folder, tmp_path)
    stages = [(row["stage"], row["epochs"]) for row in result["curve"]]
    assert stages == [
        ("neighbours", 1), ("neighbours", 2), ("labels", 0), ("labels", 1), ("labels", 2),
    ]  # fmt: skip
    assert [row.get("chosen", False) for row in result["curve"]] == [False] * 2 + [True] + [
        False
    ] * 2
    assert result["done"] and 0.1 <= result["test_acc"] <= 1
    assert result["machine"]["cores"] and str(tmp_path) not in json.dumps(result)
    losses = [row["loss"] for row in result["curve"][:2]]
    best = result["curve"][losses.index(min(losses))]
    assert result["curve"][2]["test_acc"] == best["test_acc"], "the epoch of the lowest loss"


def test_pieces_end_where_one_run_does(folder: Path, tmp_path: Path) -> None:  # noqa: F811
    learn(folder, tmp_path)
    whole = run_scan(folder, tmp_path)
    kept = ("--checkpoint", str(tmp_path / "scan.safetensors"))
    pieces = 0
    while True:
        pieces += 1
        result = run_scan(folder, tmp_path, *kept, "--seconds", "0.001")
        if result["done"] or pieces > 9:
            break
    passing = ("seconds",)
    rows = [[{k: v for k, v in row.items() if k not in passing} for row in found["curve"]]
            for found in (whole, result)]  # fmt: skip
    assert rows[0] == rows[1] and pieces > 1
