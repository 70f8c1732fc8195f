"""The choice of settings for a pile, and what is said before learning begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from samekind.encoders.learned import plan as learnt_plan
from samekind.encoders.learned.plan import choose, forecast
from samekind.errors import InputError, SourceError, UnknownName
from samekind.items import Collection, Item, Preview


@dataclass(frozen=True)
class Sized(Item):
    """A picture of which only the size matters."""

    id: str
    side: int
    kind = "image"

    def load(self) -> Any:
        from PIL import Image

        if not self.side:
            raise SourceError("broken")
        return Image.new("RGB", (2 * self.side, self.side))

    def preview(self) -> Preview:
        return Preview("image/png", b"")


def pile(n: int = 100, side: int = 32) -> Collection:
    return Collection("sized", [Sized(str(k), side) for k in range(n)])


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learnt_plan, "_device", lambda wanted: ("gpu", "a GPU"))


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEKIND_DEVICE", "cpu")


@pytest.mark.parametrize(
    ("side", "size", "stem"),
    [(24, 32, "3x3"), (32, 32, "3x3"), (64, 64, "7x7"), (96, 96, "7x7"), (700, 128, "7x7")],
)
def test_the_size_follows_the_shorter_side_of_the_pictures(side: int, size: int, stem: str) -> None:
    choice = choose("simclr", pile(side=side))
    assert (choice.size, choice.stem) == (size, stem)
    assert f"{size} x {size} pixels (their shorter side has {side} pixels)" in choice.reasons[0]


def test_the_size_can_be_given() -> None:
    choice = choose("simclr", pile(side=300), size=32)
    assert (choice.size, choice.stem) == (32, "3x3")
    assert "as asked" in choice.reasons[0]


def test_broken_pictures_do_not_decide_the_size() -> None:
    items = [Sized(str(k), 0 if k % 2 else 64) for k in range(9)]
    assert choose("simclr", Collection("some", items)).size == 64


def test_without_a_gpu_the_network_is_small_and_that_is_said() -> None:
    choice = choose("simclr", pile(20_000))
    assert choice.channels == 16
    assert "without a GPU" in choice.reasons[1]
    assert "CPU" in choice.device_reason


@pytest.mark.usefixtures("fast")
def test_on_a_gpu_the_network_grows_with_the_pile() -> None:
    assert choose("simclr", pile(60_000)).channels == 64
    few = choose("simclr", pile(400))
    assert few.channels == 32
    assert "400 pictures are few" in few.reasons[1]


@pytest.mark.parametrize(("n", "batch"), [(8, 8), (40, 32), (384, 32), (800, 64), (60_000, 128)])
def test_an_epoch_has_several_steps_however_small_the_pile(n: int, batch: int) -> None:
    assert choose("simclr", pile(n)).batch_size == batch


@pytest.mark.usefixtures("fast")
def test_on_a_gpu_batches_are_those_of_the_papers() -> None:
    assert choose("simclr", pile(60_000)).batch_size == 512


def test_what_tells_trainings_apart_does_not_hold_the_device() -> None:
    settings = choose("simclr", pile()).settings()
    assert "device" not in settings
    assert settings["seed"] == 0


def test_a_name_that_does_not_learn_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"'pixels'.* Known: byol, cc, propos, simclr, tcl"):
        choose("pixels", pile())


def test_too_few_pictures_are_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match=r"holds 7 pictures.*at least 8.*frozen network"):
        choose("simclr", pile(7))


@pytest.mark.parametrize("name", ["cc", "tcl", "propos"])
def test_ways_that_learn_groups_want_their_number(name: str) -> None:
    with pytest.raises(InputError, match="--groups K"):
        choose(name, pile())
    assert choose(name, pile(), groups=4).settings()["groups"] == 4


@pytest.mark.parametrize("groups", [1, 101])
def test_an_impossible_number_of_groups_is_refused(groups: int) -> None:
    with pytest.raises(InputError, match="from 2 to 100"):
        choose("cc", pile(100), groups=groups)


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="There is no device 'gpu7' here"):
        choose("simclr", pile(), device="gpu7")


# -- the forecast ---------------------------------------------------------------------------------


def test_the_forecast_tells_cost_and_what_a_full_training_would_cost() -> None:
    text = forecast(60_000, 14, 10, 43, "CPU (2 threads)")
    assert "About 14 epochs in 10 min on CPU (2 threads): 43 s for one look" in text
    assert "200 would take 2.4 h" in text
    assert "not objects" in text


def test_a_small_pile_is_told_that_the_frozen_network_may_do_better() -> None:
    assert "frozen network" in forecast(384, 1000, 10, 0.6, "a GPU")


def test_a_long_training_of_many_pictures_is_not_talked_down() -> None:
    text = forecast(60_000, 400, 40, 6, "a GPU")
    assert "as long as published" in text
    assert "would take" not in text
    assert "frozen" not in text


def test_a_middling_one_is_called_so() -> None:
    assert "Enough to see whether it helps" in forecast(60_000, 60, 6, 6, "a GPU")
