"""Self-supervised training on tiny drawn pictures: it learns, resumes, saves, and uses no truth."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from samekind.errors import InputError, SamekindError, UnknownName
from samekind.training import selflearn
from samekind.training.backbone_file import load_backbone
from samekind.training.losses import BoostLoss, CCLoss
from samekind.training.progress import Cancelled, Monitor, TrainingReport
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.resnet import ResNet
from samekind.training.selflearn import METHODS, LearntNetwork, SelfLearner, SelfSetting
from self_learners import TINY, assert_equal, striped, weights


def apart(features: Any, kinds: NDArray[np.intp]) -> float:
    """Mean cosine within kinds less that between them, of centred features."""
    x = features - features.mean(axis=0)
    x = x / np.linalg.norm(x, axis=1, keepdims=True).clip(1e-9)
    same, other = kinds[:, None] == kinds, ~np.eye(len(x), dtype=bool)
    cosine = x @ x.T
    return float(cosine[same & other].mean() - cosine[~same].mean())


LEARNING: dict[str, tuple[float, dict[str, Any]]] = {
    "simclr": (30, {}),
    "byol": (60, {"learning_rate": 0.2, "average": 0.97}),
    "cc": (30, {"learning_rate": 1e-2}),
}
"""That TCL and ProPos learn, with the same losses, is shown in clusterers/deep/test_contract.py."""


@pytest.mark.parametrize("method", LEARNING)
def test_the_loss_falls_and_kinds_move_apart(method: str) -> None:
    pictures, kinds = striped()
    epochs, own = LEARNING[method]
    setting = replace(TINY, method=method, channels=4, batch_size=48, hidden=64, seed=2, **own)
    told: list[TrainingReport] = []
    learner = SelfLearner(setting, pictures, monitor=Monitor(report=told.append, every=1))
    before = apart(learner.features(), kinds)
    learner.run(epochs)
    losses = [report.parts["loss"] for report in told]
    assert np.mean(losses[-10:]) < losses[0] - 0.1
    assert apart(learner.features(), kinds) > before + 0.15
    shares = learner.membership()
    if method in ("simclr", "byol"):
        assert shares is None
    else:
        assert shares is not None and shares.shape == (96, 3)
        np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("stop_at", [2, 7])
def test_a_training_that_was_stopped_goes_on_as_if_nothing_had_happened(
    method: str, stop_at: int, tmp_path: Path
) -> None:
    pictures, _ = striped(20)  # two steps per epoch, so 7 is the middle of the fourth
    setting = replace(TINY, method=method, sure=0.3, noise=0.1, warm=0.2, rising=True)
    whole = SelfLearner(setting, pictures)
    whole.run(5)
    path, stop = str(tmp_path / "part.safetensors"), threading.Event()

    def report(told: TrainingReport) -> None:
        if told.step == stop_at:
            stop.set()

    first = SelfLearner(
        setting, pictures, monitor=Monitor(report=report, stop=stop, every=1), checkpoint=path
    )
    with pytest.raises(Cancelled):
        first.run(5)
    second = SelfLearner(setting, pictures, checkpoint=path)
    assert second.epochs_done == stop_at / 2 and second.planned == 5
    second.features()  # looking at it in between changes nothing
    second.run(5)
    assert_equal(weights(whole), weights(second))
    if whole._method.memory is not None:
        assert bool((whole._method.memory.labels >= 0).any())
    third = SelfLearner(setting, pictures, checkpoint=path)
    third.run(5)  # all is done already
    assert third.epochs_done == 5
    assert_equal(weights(whole), weights(third))


@pytest.mark.parametrize("method", METHODS)
def test_the_step_that_is_recorded_on_a_gpu_is_the_plain_one(method: str) -> None:
    pictures, _ = striped(20)
    setting = replace(TINY, method=method, sure=0.3, noise=0.1, warm=0.2, rising=True)
    results = []
    for mode in ("", "record"):
        learner = SelfLearner(replace(setting, compile=mode), pictures)
        learner.run(2)
        results.append(weights(learner))
    for name, plain in results[0].items():
        torch.testing.assert_close(plain, results[1][name], rtol=1e-3, atol=1e-4)


def test_measuring_the_speed_changes_nothing() -> None:
    pictures, _ = striped(20)
    for method in ("tcl", "propos"):
        setting = replace(TINY, method=method)
        learner, other = SelfLearner(setting, pictures), SelfLearner(setting, pictures)
        learner.run(1)
        other.run(1)
        assert learner.seconds_per_epoch() > 0
        assert learner.epochs_done == 1
        learner.run(3)
        other.run(3)
        assert_equal(weights(learner), weights(other))


def test_labels_for_boosting_are_what_the_network_itself_is_sure_of() -> None:
    pictures, _ = striped(40)
    learner = SelfLearner(replace(TINY, method="tcl", sure=0.5), pictures)
    memory = learner._method.memory
    assert isinstance(memory, PseudoLabels) and bool((memory.labels == -1).all())
    network: Any = learner._method.network
    torch.manual_seed(0)
    for layer in (0, 2):  # sure of some, not of all
        torch.nn.init.normal_(network.cluster.layers[layer].weight, std=3.0)
    shares = learner.membership()
    assert shares is not None
    learner._relabel(99)
    labels = memory.labels.numpy()
    chosen = labels >= 0
    assert chosen.any() and (labels[chosen] == shares.argmax(axis=1)[chosen]).all()
    assert (shares.max(axis=1)[chosen] >= 0.5).all() and not chosen.all()
    assert np.bincount(labels[chosen]).max() <= 5 * memory.quota(8)


def test_tcl_boosts_only_in_the_last_part() -> None:
    pictures, _ = striped(20)
    learner = SelfLearner(replace(TINY, method="tcl", sure=0.3), pictures)
    losses = []
    run = learner._trainer.run_until

    def watched(last: int, point_at: Any) -> None:
        losses.append((learner._trainer.step, type(learner._trainer.objective)))
        run(last, point_at)

    learner._trainer.run_until = watched  # type: ignore[method-assign]
    learner.run(5)
    assert losses == [
        (0, CCLoss), (2, CCLoss), (4, CCLoss), (5, BoostLoss), (6, BoostLoss), (8, BoostLoss),
    ]  # fmt: skip


def test_propos_groups_anew_every_epoch_once_it_is_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures, _ = striped(20)
    learner = SelfLearner(replace(TINY, method="propos", warm=0.4), pictures)
    seen: list[int] = []
    relabel = learner._relabel

    def watched(here: int) -> None:
        seen.append(here)
        relabel(here)

    monkeypatch.setattr(learner, "_relabel", watched)
    learner.run(5)
    assert seen == [4, 6, 8]
    memory = learner._method.memory
    assert memory is not None and set(memory.labels.tolist()) == {0, 1, 2}


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_network_says_the_same_without_the_data(method: str, tmp_path: Path) -> None:
    pictures, _ = striped(20)
    setting = replace(TINY, method=method)
    learner = SelfLearner(setting, pictures)
    learner.run(1)
    path = tmp_path / "features.safetensors"
    learner.save(path)
    learnt = LearntNetwork.load(path, device="cpu")
    new, _ = striped(7, seed=5)
    np.testing.assert_allclose(learnt.features(new), learner.features(new), atol=1e-6)
    np.testing.assert_allclose(learnt.features(new[:1])[0], learner.features(new)[0], atol=1e-5)
    mine, theirs = learner.membership(new), learnt.membership(new)
    assert (mine is None) == (theirs is None) == (method in ("simclr", "byol"))
    if mine is not None and theirs is not None:
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    assert learnt.width == 16 and learnt.features(new[:0]).shape == (0, 16)


@pytest.mark.parametrize("method", METHODS)
def test_deep_clusterers_can_begin_from_the_backbone(method: str, tmp_path: Path) -> None:
    pictures, _ = striped(20)
    learner = SelfLearner(replace(TINY, method=method), pictures)
    learner.run(0.5)
    learner.save(tmp_path / "features.safetensors")
    backbone = ResNet(18, stem="3x3", base=2, linear=method == "tcl")
    facts = {"backbone": "resnet18", "stem": "3x3", "channels": 2}
    start = load_backbone(tmp_path / "features.safetensors", facts, backbone)
    assert start.method == method and (start.groups is None) == (method in ("simclr", "byol"))
    mine: Any = learner._method.backbone
    assert torch.equal(backbone.conv1.weight, mine.conv1.weight)


def test_a_longer_training_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    pictures, _ = striped(20)
    path = str(tmp_path / "run.safetensors")
    SelfLearner(TINY, pictures, checkpoint=path).run(1)
    learner = SelfLearner(TINY, pictures, checkpoint=path)
    learner.run(2.5)
    assert learner.epochs_done == 2.5 and learner.planned == 2.5


def test_training_is_written_down_while_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selflearn, "SAVE_SECONDS", 0.0)
    pictures, _ = striped(20)
    path = tmp_path / "run.safetensors"

    def fail(told: TrainingReport) -> None:
        if told.step == 5:
            raise KeyboardInterrupt

    learner = SelfLearner(
        TINY, pictures, monitor=Monitor(report=fail, every=1), checkpoint=str(path)
    )
    with pytest.raises(KeyboardInterrupt):
        learner.run(5)
    assert SelfLearner(TINY, pictures, checkpoint=str(path)).epochs_done == 2  # of step 4


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    pictures, _ = striped(20)
    path = str(tmp_path / "run.safetensors")
    SelfLearner(TINY, pictures, checkpoint=path).run(1)
    with pytest.raises(InputError, match="seed is 0 there and 1 here"):
        SelfLearner(replace(TINY, seed=1), pictures, checkpoint=path)
    with pytest.raises(InputError, match="items"):
        SelfLearner(TINY, pictures[::-1].copy(), checkpoint=path)
    SelfLearner(replace(TINY, compile="record"), pictures, checkpoint=path)
    with pytest.raises(InputError, match="another training"):
        LearntNetwork.load(path)


def test_what_cannot_be_trained_is_refused_in_a_sentence(tmp_path: Path) -> None:
    pictures, _ = striped(20)
    with pytest.raises(UnknownName, match="simclr"):
        replace(TINY, method="simclear")
    with pytest.raises(InputError, match="expects a number of groups"):
        SelfSetting("tcl")
    with pytest.raises(InputError, match="uint8"):
        SelfLearner(TINY, pictures.astype(np.float32))
    with pytest.raises(InputError, match="too few"):
        SelfLearner(TINY, pictures[:2])
    with pytest.raises(InputError, match="more than 0"):
        SelfLearner(TINY, pictures).run(0)
    with pytest.raises(InputError, match="no file"):
        LearntNetwork.load(tmp_path / "nothing")


def test_the_predictor_learns_ten_times_as_fast_and_the_slow_copy_not_at_all() -> None:
    pictures, _ = striped(20)
    learner = SelfLearner(replace(TINY, method="propos", learning_rate=0.1), pictures)
    learner.run(3)
    groups = learner._trainer.optimiser.param_groups
    rates = {id(p): group["lr"] for group in groups for p in group["params"]}
    network: Any = learner._method.network
    base = rates[id(network.projector[0].weight)]
    assert base > 0 and rates[id(network.predictor[0].weight)] == pytest.approx(10 * base)
    assert all(id(p) not in rates for p in network.target_backbone.parameters())


@pytest.mark.parametrize("method", ["simclr", "byol"])
def test_a_training_can_begin_from_the_features_of_another(method: str, tmp_path: Path) -> None:
    pictures, _ = striped(20)
    path = str(tmp_path / "features.safetensors")
    first = SelfLearner(TINY, pictures)
    first.run(1)
    first.save(path)
    setting = replace(TINY, method=method, seed=7)
    again, fresh = SelfLearner(setting, pictures, start=path), SelfLearner(setting, pictures)
    np.testing.assert_allclose(again.features(), first.features(), atol=1e-6)
    assert not np.allclose(fresh.features(), first.features(), atol=1e-3)
    again.run(1)
    assert not np.allclose(again.features(), first.features(), atol=1e-6)
    with pytest.raises(InputError, match="no file"):
        SelfLearner(TINY, pictures, start=str(tmp_path / "nothing.safetensors"))
    with pytest.raises(SamekindError, match="channels"):
        SelfLearner(replace(TINY, channels=4), pictures, start=path)


@pytest.mark.parametrize("method", ["simclr", "propos"])
def test_pictures_that_do_not_fit_on_the_device_are_moved_batch_by_batch(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures, _ = striped(32)
    setting = replace(TINY, method=method, resample=method == "propos")
    fits = SelfLearner(setting, pictures)
    monkeypatch.setattr(selflearn, "fits_on", lambda device, n_bytes: n_bytes < pictures.nbytes)
    stays = SelfLearner(setting, pictures)
    assert (fits._trainer.stays, stays._trainer.stays) == (False, True)
    moved: list[int] = []
    move = stays._trainer._moved

    def counted(items: Any) -> torch.Tensor:
        moved.append(len(items))
        return move(items)

    monkeypatch.setattr(stays._trainer, "_moved", counted)
    fits.run(2)
    stays.run(2)
    assert moved == [8] * 8
    assert_equal(weights(fits), weights(stays))
