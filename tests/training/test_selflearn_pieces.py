"""A self-supervised training in several pieces: one schedule, compact parts, nothing lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from samekind.errors import InputError
from samekind.training import compact
from samekind.training.batches import BalancedBatches, LinkedBatches
from samekind.training.compact import find_parts
from samekind.training.progress import Monitor, TrainingReport
from samekind.training.selflearn import METHODS, LearntNetwork, SelfLearner, SelfSetting
from self_learners import TINY, assert_equal, striped, weights

EPOCHS = 12
SLOW = replace(TINY, channels=4, batch_size=16, hidden=64, noise=0.01, warm=0.2, sure=0.4)


class Rates:
    """A monitor that notes the learning rate of every step."""

    def __init__(self) -> None:
        self.found: dict[int, float] = {}
        self.learner: SelfLearner | None = None
        self.monitor = Monitor(report=self._note, every=1)

    def _note(self, told: TrainingReport) -> None:
        assert self.learner is not None
        self.found[told.step] = self.learner._trainer.optimiser.param_groups[0]["lr"]


def learner_of(setting: SelfSetting, pictures: Any, rates: Rates | None = None) -> SelfLearner:
    learner = SelfLearner(setting, pictures, monitor=rates.monitor if rates else None)
    if rates:
        rates.learner = learner
    return learner


def moved(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    """Distance between the weights of two networks, averages of batch norms left out."""
    pairs = [
        (one[name], other[name])
        for name in one
        if name.startswith("network.") and name.endswith("weight")
    ]
    return float(sum((a - b).square().sum() for a, b in pairs)) ** 0.5


@pytest.mark.parametrize("method", METHODS)
def test_a_look_in_the_middle_of_the_schedule_changes_nothing(method: str) -> None:
    pictures, _ = striped(20)
    setting = replace(TINY, method=method, sure=0.3, noise=0.1, warm=0.2)
    whole, pieces = SelfLearner(setting, pictures), SelfLearner(setting, pictures)
    whole.run(5)
    for until in (1, 2.5, 4):
        pieces.run(5, until=until)
        assert pieces.epochs_done == until and pieces.planned == 5
        pieces.features()
    pieces.run(5)
    assert_equal(weights(whole), weights(pieces))


def test_time_that_is_over_stops_a_training_cleanly(tmp_path: Path) -> None:
    pictures, _ = striped(20)
    learner = SelfLearner(TINY, pictures)
    learner.run(5, seconds=0)
    assert learner.epochs_done == 0 and learner.planned == 5
    learner.run(5, seconds=1e9)
    assert learner.epochs_done == 5


@pytest.mark.parametrize("method", ["simclr", "tcl", "propos"])
def test_a_training_taken_up_from_compact_parts_ends_about_where_the_whole_one_ends(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact, "SMALL", 64)
    monkeypatch.setattr("samekind.training.selflearn.RISE_SHARE", 0.1)
    pictures, _ = striped(48)
    setting = replace(SLOW, method=method)
    rates, later = Rates(), Rates()
    whole, path = learner_of(setting, pictures, rates), tmp_path / "run.safetensors"
    start = weights(whole)
    whole.run(EPOCHS)
    first = SelfLearner(setting, pictures)
    first.run(EPOCHS, until=7)
    first.notes = {"curve": [1, 2]}
    first.save_training(path)
    second = learner_of(setting, pictures, later)
    second.resume(path)
    assert second.epochs_done == 7 and second.planned == EPOCHS
    assert second.notes == {"curve": [1, 2]}
    if first._method.memory is not None and second._method.memory is not None:
        assert torch.equal(first._method.memory.labels, second._method.memory.labels)
    second.run(EPOCHS)
    # Of 36 steps 21 were done before; the rate rises over 4 and is then that of the whole.
    assert sorted(later.found) == list(range(22, 37))
    shares = [later.found[step] / rates.found[step] for step in sorted(later.found)]
    assert shares == pytest.approx([0.25, 0.5, 0.75] + [1.0] * 12)
    end, far = weights(whole), moved(weights(whole), start)
    assert moved(weights(second), end) < 0.25 * far


def test_a_training_that_went_on_from_parts_can_be_stopped_once_more(tmp_path: Path) -> None:
    """Also while the rate still rises: a full checkpoint knows where it began to."""
    pictures, _ = striped(20)
    parts, file = tmp_path / "parts.safetensors", str(tmp_path / "full.safetensors")
    first = SelfLearner(TINY, pictures)
    first.run(100, until=2)
    first.save_training(parts)
    whole, second = SelfLearner(TINY, pictures), SelfLearner(TINY, pictures, checkpoint=file)
    for learner in (whole, second):
        learner.resume(parts)
        assert learner._trainer.rise == (4, 4)  # 2 % of 200 steps
    whole.run(100, until=5)
    second.run(100, until=3)
    third = SelfLearner(TINY, pictures, checkpoint=file)
    third.run(100, until=5)
    assert_equal(weights(whole), weights(third))


def test_prolonging_from_parts_keeps_the_projector_and_the_slow_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact, "SMALL", 64)
    pictures, _ = striped(48)
    setting = replace(SLOW, method="propos", learning_rate=0.1, average=0.9)
    path = tmp_path / "run.safetensors"
    first = SelfLearner(setting, pictures)
    first.run(4)
    first.save_training(path)
    longer, fresh = SelfLearner(setting, pictures), SelfLearner(setting, pictures)
    longer.resume(path)
    mine, theirs, new = weights(first), weights(longer), weights(fresh)
    for part in ("projector", "predictor", "target_projector", "target_backbone"):
        names = [n for n in mine if n.startswith(f"network.{part}.") and n.endswith("weight")]
        assert names
        for name in names:
            torch.testing.assert_close(mine[name], theirs[name], rtol=2e-3, atol=2e-4)
        assert any(not torch.allclose(mine[n], new[n], rtol=2e-3, atol=2e-4) for n in names)
    longer.run(8)
    assert longer.epochs_done == 8 and longer.planned == 8


def test_propos_draws_its_groups_equally_often_if_asked_to(tmp_path: Path) -> None:
    pictures, _ = striped(40)
    setting = replace(TINY, method="propos", warm=0.4, resample=True)
    learner, file = SelfLearner(setting, pictures), str(tmp_path / "run.safetensors")
    assert type(learner._trainer.batches) is LinkedBatches
    learner.run(5, until=2)  # no groups yet
    assert sorted(np.concatenate([learner._trainer.batches.items(s) for s in range(5)])) == [
        *range(40)
    ]
    learner.run(5, until=3)
    batches, memory = learner._trainer.batches, learner._method.memory
    assert isinstance(batches, BalancedBatches) and memory is not None
    memory.labels.copy_(torch.tensor([0] * 36 + [1] * 3 + [2]))
    learner._balance()
    drawn = np.concatenate([learner._trainer.batches.items(step) for step in range(300)])
    counts = np.bincount(memory.labels.numpy()[drawn], minlength=3) / len(drawn)
    assert counts == pytest.approx([1 / 3] * 3, abs=0.04)
    learner.save_training(file)
    again = SelfLearner(setting, pictures)
    again.resume(file)
    for step in (30, 31):
        wanted = learner._trainer.batches.items(step)
        assert np.array_equal(again._trainer.batches.items(step), wanted)
    with pytest.raises(InputError, match="Only propos"):
        replace(TINY, method="byol", resample=True)


def test_a_network_of_the_published_size_travels_in_parts(tmp_path: Path) -> None:
    """Weights take 16 bits, the slow copy 8: 47 MB, in parts below 16 MiB."""
    pictures = np.zeros((16, 3, 32, 32), dtype=np.uint8)
    learner = SelfLearner(SelfSetting("propos", 10, device="cpu"), pictures)
    files = learner.save_training(tmp_path / "run.safetensors")
    sizes = [file.stat().st_size for file in files]
    assert len(files) == 4 and max(sizes) < 16 * 2**20 and sum(sizes) < 48e6
    learner.save(tmp_path / "features.safetensors", compact=True)
    parts = find_parts(tmp_path / "features.safetensors")
    assert len(parts) <= 3 and max(part.stat().st_size for part in parts) < 16 * 2**20


def test_compact_features_begin_what_the_full_ones_begin(tmp_path: Path) -> None:
    pictures, _ = striped(20)
    learner = SelfLearner(replace(TINY, method="tcl"), pictures)
    learner.run(1)
    path = tmp_path / "features.safetensors"
    learner.save(path, compact=True)
    assert not path.exists() and find_parts(path)
    learnt = LearntNetwork.load(path, device="cpu")
    np.testing.assert_allclose(learnt.features(pictures), learner.features(), atol=1e-3)
    again = SelfLearner(replace(TINY, method="tcl", seed=3), pictures, start=str(path))
    np.testing.assert_allclose(again.features(), learner.features(), atol=1e-3)


def test_parts_of_another_training_are_refused(tmp_path: Path) -> None:
    pictures, _ = striped(20)
    learner = SelfLearner(TINY, pictures)
    learner.run(1)
    learner.save_training(tmp_path / "run.safetensors")
    with pytest.raises(InputError, match="seed is 0 there and 1 here"):
        SelfLearner(replace(TINY, seed=1), pictures).resume(tmp_path / "run.safetensors")


def test_long_trainings_have_the_published_rate_and_a_longer_past() -> None:
    pictures, _ = striped(20)
    setting = replace(TINY, method="propos")
    learner = SelfLearner(setting, pictures)
    network: Any = learner._method.network
    for epochs, wanted, rate in ((499, 0.99, 2), (500, 0.996, 1), (100, 0.99, 2)):
        learner.run(epochs, until=0)
        assert network.average == wanted
        assert learner._trainer.plan.learning_rate == pytest.approx(rate * 0.05 * 8 / 256)
    learner = SelfLearner(replace(setting, average=0.9, learning_rate=0.3), pictures)
    learner.run(800, until=0)
    network = learner._method.network
    assert network.average == 0.9 and learner._trainer.plan.learning_rate == 0.3


@pytest.mark.parametrize("method", METHODS)
def test_only_the_backbone_of_tcl_ends_with_a_linear_layer(method: str) -> None:
    pictures, _ = striped(20)
    for linear in (None, True, False):
        learner = SelfLearner(replace(TINY, method=method, linear=linear), pictures)
        wanted = method == "tcl" if linear is None else linear
        backbone: Any = learner._method.backbone
        assert (backbone.fc is not None) == wanted
        assert bool((learner.features() < 0).any()) == wanted  # pooled ones are never negative
