"""Readers of weights: pictures and frozen vectors as points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.readers import (
    PictureReader,
    VectorReader,
    fitted_sign,
    kind_axes,
    load_with_reader,
    save_with_reader,
)
from samekind.constraints import Constraints
from samekind.errors import InputError, VectorError

PICTURES = {
    "kind": "pictures", "side": 28, "channels": 1, "mean": 0.1, "std": 0.3, "fitted": 20,
}  # fmt: skip


def written(path: Path, reader: dict[str, object], **sizes: object) -> Path:
    torch.manual_seed(0)
    network = NCPNetwork(Sizes(features=16, width=16, h_outputs=16, g_outputs=16, **sizes))  # type: ignore[arg-type]
    save_with_reader(path, network, reader, {"steps": 0})
    return path


def bar(side: int, top: int, left: int) -> np.ndarray:
    image = np.zeros((side, side), dtype=np.float32)
    image[top : top + side // 2, left : left + side // 8] = 0.7
    return image


def test_a_sign_is_the_same_wherever_it_lies_and_whatever_its_ground_is() -> None:
    found = fitted_sign(bar(40, 3, 5), 28, 20)
    assert found.shape == (28, 28)
    assert found.max() == pytest.approx(1, abs=1e-5)
    assert np.ptp(np.flatnonzero(found.any(1))) + 1 == 20
    assert np.allclose(found, fitted_sign(bar(40, 15, 30), 28, 20))
    assert np.allclose(found, fitted_sign(1 - bar(40, 3, 5), 28, 20), atol=1e-5)


def test_an_empty_picture_is_an_empty_sign() -> None:
    assert not fitted_sign(np.ones((8, 8), dtype=np.float32), 28, 20).any()


def test_pictures_in_every_layout_are_the_same_points(tmp_path: Path) -> None:
    path = written(tmp_path / "p.safetensors", PICTURES, encoder="residual", inputs=1)
    network, reader, _ = load_with_reader(path)
    assert isinstance(reader, PictureReader)
    assert network.encoder is None
    gray = np.random.default_rng(0).integers(0, 256, (5, 12, 12), dtype=np.uint8)
    points = reader(gray)
    assert points.shape == (5, 16)
    colour = np.repeat(gray[..., None], 3, axis=3)
    for same in (gray[:, None], colour, colour.transpose(0, 3, 1, 2).reshape(5, -1), list(gray)):
        assert np.allclose(reader(same), points, atol=1e-6)
    assert np.allclose(reader(gray[2:3]), points[2:3], atol=1e-5)  # each by itself


def test_weights_for_pictures_say_what_they_take(tmp_path: Path) -> None:
    reader = load_with_reader(
        written(tmp_path / "p.safetensors", PICTURES, encoder="residual", inputs=1)
    )[1]
    assert reader is not None
    with pytest.raises(VectorError, match=r"Expected pictures .* got an array of shape \(4, 7\)"):
        reader(np.zeros((4, 7)))


def test_the_axes_are_those_in_which_kinds_differ() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 6
    rows = rng.normal(size=(300, 8)) * [9, 9, 1, 1, 1, 1, 1, 1]
    rows[:, 2:4] += 4 * rng.normal(size=(6, 2))[labels]
    axes = kind_axes(rows, labels, 2, 0.0)
    strength = np.abs(axes * rows.std(0)[:, None]).sum(1)
    assert strength[2:4].min() > 3 * np.delete(strength, [2, 3]).max()
    with pytest.raises(InputError, match="got 6 axes for 6 kinds"):
        kind_axes(rows, labels, 6)


def test_vectors_keep_their_projection_in_16_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    mean, axes = (rng.normal(size=s).astype(np.float32) for s in ((6,), (6, 3)))
    kept = {"kind": "vectors", "features": "some-encoder", "mean": mean, "axes": axes}
    path = written(tmp_path / "v.safetensors", kept, encoder="points", inputs=3)
    reader = load_with_reader(path)[1]
    assert isinstance(reader, VectorReader)
    X = rng.normal(size=(9, 6))
    points = reader(X)
    assert np.allclose(np.linalg.norm(points, axis=1), 3**0.5, atol=1e-3)
    centred = X - mean
    wanted = (centred / np.linalg.norm(centred, axis=1, keepdims=True)) @ axes
    wanted *= 3**0.5 / np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.allclose(points, wanted, atol=0.02)
    with pytest.raises(VectorError, match=r"of the encoder 'some-encoder'.* shape \(9, 5\)"):
        reader(X[:, :5])


def test_ncp_takes_pictures_with_answers_and_places_further_ones(tmp_path: Path) -> None:
    path = written(
        tmp_path / "p.safetensors", PICTURES, encoder="residual", inputs=1, attention=1, heads=2
    )
    rng = np.random.default_rng(0)
    pile = rng.integers(0, 256, (14, 9, 9, 3), dtype=np.uint8)
    told = Constraints.from_links(14, [(0, 1, False), (0, 2, True), (3, 9, True)])
    model = NCP(weights=path, n_samples=16, max_placed=10, random_state=0, device="cpu")
    with pytest.warns(UserWarning, match="so a sample of 10 is"):
        model.fit(pile, constraints=told)
    assert model.labels_.shape == (14,)
    assert model.space_.shape == (14, 16)
    assert model.labels_[0] == model.labels_[2] != model.labels_[1]
    assert model.labels_[3] == model.labels_[9]
    assert model.predict(pile[:3]).shape == (3,)
    few = pile[:6].transpose(0, 3, 1, 2).reshape(6, -1)  # as the encoder `images` gives them
    assert model.sample_posterior(few, 5).shape == (5, 6)
    assert model.score_partition(few, [0, 0, 1, 1, 2, 2]) < 0
    with pytest.raises(VectorError, match="Give pictures"):
        model.predict(np.zeros((4, 243)))


def test_ncp_takes_vectors_of_the_named_encoder_only(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kept = {
        "kind": "vectors", "features": "some-encoder", "mean": np.zeros(6, np.float32),
        "axes": rng.normal(size=(6, 3)).astype(np.float32),
    }  # fmt: skip
    path = written(tmp_path / "v.safetensors", kept, encoder="points", inputs=3)
    model = NCP(weights=path, n_samples=8, random_state=0, device="cpu")
    model.fit(rng.normal(size=(9, 6)))
    assert model.space_.shape == (9, 3)
    with pytest.raises(VectorError, match="Encode with 'some-encoder', or give other weights"):
        model.fit(rng.normal(size=(9, 5)))
