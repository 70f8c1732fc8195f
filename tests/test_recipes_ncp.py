"""The recipes of the clustering process run from end to end, for a few seconds each."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from recipes_here import run_here
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.readers import load_with_reader


def run_recipe(recipe: str, *options: str) -> str:
    return run_here(recipe, "--device", "cpu", *options)


def names_in(file: Path) -> list[str]:
    with safe_open(str(file), "np") as weights:
        return list(weights.keys())


def test_points_are_learnt_and_the_weights_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "ncp.safetensors"
    small = ("--seconds", "1", "--batch", "4", "--points", "4", "12", "--width", "16")
    told = run_recipe("ncp", *small, "--out", str(file))
    assert names_in(file) and told.strip()


@pytest.mark.parametrize("variant", ["pointwise", "acp-s"])
def test_weights_of_every_variant_are_trained_continued_and_used(
    variant: str, tmp_path: Path
) -> None:
    file, state = tmp_path / "ncp.safetensors", tmp_path / "ncp.state"
    small = ("--batch", "2", "--points", "4", "16", "--width", "16", "--inducing", "4")
    more = ("--variant", variant, "--checkpoint", str(state), "--out", str(file))
    for seconds in ("1", "2"):
        told = run_recipe("ncp_weights", *small, *more, "--seconds", seconds)
        assert "100%" in told
    with safe_open(str(file), "np") as weights:
        assert {weights.get_slice(name).get_dtype() for name in weights.keys()} == {"F16"}  # noqa: SIM118
    model = NCP(weights=file, n_samples=4, random_state=0, device="cpu").fit(np.eye(6, 3))
    assert model.variant_ == variant


def test_graphs_are_learnt_and_a_graph_from_a_file_is_grouped(tmp_path: Path) -> None:
    file, edges = tmp_path / "graphs.safetensors", tmp_path / "friends.edges"
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


@pytest.mark.parametrize("what", ["images", "vectors"])
def test_images_and_frozen_vectors_are_learnt_from_some_classes(what: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data, file = tmp_path / "data.npz", tmp_path / "images.safetensors"
    labels = np.arange(90) % 6
    given: dict[str, np.ndarray] = {
        "images": rng.integers(0, 80, (90, 14, 14)).astype(np.uint8) + 20 * labels[:, None, None]
    }
    if what == "vectors":
        axes, mean = rng.normal(size=(10, 7)), rng.normal(size=10)
        rows = rng.normal(size=(90, 7)) + 3 * np.eye(6, 7)[labels]
        given = {"vectors": rows, "axes": axes, "mean": mean, "features": np.array("mine")}
    else:
        given["images"] = given["images"].astype(np.uint8)
    np.savez(data, labels=labels, **given)
    small = ("--seconds", "1", "--batch", "2", "--points", "6", "10", "--most", "4", "--axes", "3")
    how = ("--moved", "0.2")
    if what == "images":
        how = ("--distort", "strokes", "--views", "turn", "--encoder", "images")
    told = run_recipe(
        "ncp_images", "--data", str(data), "--held-out", "2", *small, *how, "--out", str(file)
    )
    assert "60 items of 4 classes, 2 held out" in told
    assert "nats per held-out item" in told
    _, reader, facts = load_with_reader(file)
    assert reader is not None
    points = reader(given["images"] if what == "images" else rng.normal(size=(5, 10)))
    assert points.shape == (90, 128) if what == "images" else points.shape == (5, 3)
    assert len(facts["held_out"]) == 2
    assert facts["command"]["data"] == "data.npz"  # no folders of this machine


def test_a_network_for_general_vectors_goes_on_learning_with_frozen_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data, start, file = (tmp_path / name for name in ("data.npz", "start.safetensors", "out"))
    small = ("--batch", "2", "--points", "4", "12", "--seconds", "1")
    run_recipe("ncp_weights", *small, "--width", "16", "--axes", "2", "--out", str(start))
    labels = np.arange(60) % 6
    rows, axes = rng.normal(size=(60, 7)) + 3 * np.eye(6, 7)[labels], np.eye(10, 7)
    told = {"mean": np.zeros(10), "features": np.array("mine")}
    np.savez(data, labels=labels, vectors=rows, axes=axes, **told)
    how = ("--axes", "3", "--most", "4", "--start", str(start), "--held-out", "1")
    assert "held-out" in run_recipe(
        "ncp_images", "--data", str(data), *small, *how, "--out", str(file)
    )
    facts = load_with_reader(file)[2]
    assert facts["calibrated"] and facts["command"]["start"] == "start.safetensors"
    # Three numbers per item come from the reader, two principal axes of them go in.
    model = NCP(weights=file, n_samples=4, random_state=0, device="cpu")
    model.fit(rng.normal(size=(9, 10)))
    assert model.space_.shape == (9, 2)
    assert np.square(model.space_).mean() == pytest.approx(1, rel=1e-3)


def test_a_network_for_general_vectors_goes_on_learning_with_images(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    data, start, file = (tmp_path / name for name in ("data.npz", "start.safetensors", "out"))
    small = ("--batch", "2", "--points", "4", "8", "--seconds", "1")
    run_recipe("ncp_weights", *small, "--width", "16", "--out", str(start))
    images = rng.integers(0, 256, (40, 14, 14)).astype(np.uint8)
    np.savez(data, labels=np.arange(40) % 4, images=images)
    how = ("--start", str(start), "--most", "3")
    run_recipe("ncp_images", "--data", str(data), *small, *how, "--out", str(file))
    network, reader, facts = load_with_reader(file)
    assert network.sizes.encoder == "image-points" and not facts["calibrated"]
    assert reader is not None and reader(images).shape == (40, 16)
    # What the network knew is still close to what it was; only the encoder is new.
    before, after = (load_file(path) for path in (start, file))
    name = "g_net.0.weight"
    assert np.corrcoef(before[name].ravel(), after[name].ravel())[0, 1] > 0.9
    assert NCP(weights=file, n_samples=4, random_state=0).fit(images[:9]).labels_.shape == (9,)
