"""The recipes of the clustering process run from end to end, for a few seconds each."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from recipes_here import run_here


def run_recipe(recipe: str, *options: str) -> str:
    return run_here(recipe, "--device", "cpu", *options)


def names_in(file: Path) -> list[str]:
    with safe_open(str(file), "np") as weights:
        return list(weights.keys())


@pytest.mark.parametrize("profile", ["exact", "vectors"])
def test_points_are_learnt_and_the_weights_are_kept(profile: str, tmp_path: Path) -> None:
    file = tmp_path / "ncp.safetensors"
    small = ("--seconds", "1", "--batch", "4", "--points", "4", "12", "--width", "16")
    told = run_recipe("ncp", "--profile", profile, *small, "--out", str(file))
    assert names_in(file) and told.strip()


def test_graphs_are_learnt_and_a_graph_from_a_file_is_grouped(tmp_path: Path) -> None:
    file, edges = tmp_path / "graphs.safetensors", tmp_path / "edges.txt"
    rng = np.random.default_rng(0)
    half = np.arange(20) // 10
    pairs = [
        (a, b)
        for a in range(20)
        for b in range(a)
        if rng.random() < (0.8 if half[a] == half[b] else 0.05)
    ]
    edges.write_text("".join(f"n{a} n{b}\n" for a, b in pairs))
    small = ("--seconds", "1", "--batch", "2", "--points", "10", "20", "--width", "16")
    report = tmp_path / "training.json"
    told = run_recipe(
        "ncp_graphs", *small, "--out", str(file), "--json", str(report), "--graph", str(edges)
    )
    assert names_in(file) and json.loads(report.read_text())
    assert "n19" in told or "group" in told.lower()


def test_images_are_learnt_from_some_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data, file = tmp_path / "pictures.npz", tmp_path / "images.safetensors"
    labels = np.arange(90) % 3
    images = (rng.integers(0, 80, (90, 14, 14)) + 80 * labels[:, None, None]).astype(np.uint8)
    np.savez(data, images=images, labels=labels)
    small = ("--seconds", "1", "--batch", "2", "--points", "6", "10")
    run_recipe("ncp_images", "--data", str(data), "--train", "0", "1", *small, "--out", str(file))
    assert names_in(file)
