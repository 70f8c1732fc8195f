"""SCAN as its program trains it: passes, neighbours, the chosen epoch, checkpoints."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from drawn_kinds import SMALL, clouds, drawn
from samekind.clusterers.deep.scan import SCAN
from samekind.clusterers.deep.scan_network import ScanNetwork, load_scan_network
from samekind.clusterers.deep.scan_training import ScanSetting, ScanTraining
from samekind.errors import InputError
from samekind.training.resnet import ResNet
from samekind.training.selflearn import SelfLearner, SelfSetting
from samekind.training.steps import Plan, optimiser_of

IMAGES, _ = drawn(40)
WATCHED, _ = drawn(16, seed=1)
SETTING = ScanSetting(neighbours=3, batch_sizes=(10, 20), size=12, device="cpu")


def fresh_network(seed: int = 0) -> ScanNetwork:
    torch.manual_seed(seed)
    return ScanNetwork(ResNet(18, stem="3x3", base=4), k=3, out=16)


def training(checkpoint: Path | None = None, **more: Any) -> ScanTraining:
    given = {"watched": WATCHED, "checkpoint": str(checkpoint) if checkpoint else None, **more}
    return ScanTraining(SETTING, fresh_network(), IMAGES, **given)


def weights_of(model: ScanTraining) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in model.network.parameters()])


def test_halves_of_a_batch_pass_the_batch_norms_one_after_the_other() -> None:
    network, rows = fresh_network().train(), torch.randn(8, 3, 12, 12)
    rows[4:] = 3 * rows[4:] + 1
    network.passes = "separate"
    apart = network(rows)
    alone = [fresh_network().train()(half) for half in rows.chunk(2)]
    torch.testing.assert_close(apart.p, torch.cat([half.p for half in alone]))
    together = fresh_network().train()(rows)
    assert not torch.allclose(apart.p, together.p, atol=1e-3)
    torch.testing.assert_close(fresh_network().eval()(rows).p, _in_use(rows))


def _in_use(rows: torch.Tensor) -> torch.Tensor:
    network = fresh_network().eval()
    network.passes = "separate"
    p: torch.Tensor = network(rows).p
    return p


def test_plain_views_teach_without_a_gradient_of_their_own() -> None:
    network, rows = fresh_network().train(), torch.randn(8, 3, 12, 12)
    network.passes = "teaching"
    network(rows).p[:4].square().sum().backward()
    assert all(p.grad is None or not p.grad.any() for p in network.parameters())
    network(rows).p[4:].square().sum().backward()
    assert any(p.grad is not None and p.grad.any() for p in network.parameters())


def test_an_item_and_its_nearest_training_pictures_are_its_neighbours() -> None:
    model = training()
    table = model.trainer.table
    assert table is not None and table.shape == (40, 4)
    assert torch.equal(table[:, 0], torch.arange(40)), "the program counts the item itself"
    network = fresh_network().eval()
    plain = model.trainer.views.plain(torch.from_numpy(IMAGES))
    with torch.no_grad():
        z = network.instance(network.backbone(plain))
    likeness = (z @ z.T).fill_diagonal_(-2)
    assert torch.equal(table[:, 1:].sort(dim=1).values, likeness.topk(3).indices.sort(dim=1).values)


def test_the_epoch_of_the_lowest_loss_on_watched_pictures_begins_the_labels() -> None:
    model = training()
    first = model.keep_if_lowest()
    p, table = model.membership(WATCHED), model._tables["watched"].tolist()
    wanted = -np.mean([math.log(p[i] @ p[j]) for i, row in enumerate(table) for j in row])
    share = p.mean(axis=0)
    wanted += float((share * np.log(share)).sum())  # the entropy counts once, not five times
    assert first == pytest.approx(wanted, abs=1e-5) and len(table[0]) == 6
    kept = weights_of(model)
    model.lowest = -math.inf  # nothing is lower from now on
    model.run(1)
    model.keep_if_lowest()
    assert not torch.equal(weights_of(model), kept)
    model.begin_labels()
    assert torch.equal(weights_of(model), kept)
    assert model.stage == "labels" and model.epochs_done == 0
    model.run(1)
    assert model.trainer.batches.size == 20 and model.trainer.step == 2
    with pytest.raises(InputError, match="begun already"):
        model.begin_labels()
    with pytest.raises(InputError, match="watched"):
        training(watched=None).keep_if_lowest()


@pytest.mark.parametrize("stage", ["neighbours", "labels"])
def test_a_resumed_training_ends_as_one_that_was_not_interrupted(
    stage: str, tmp_path: Path
) -> None:
    file = tmp_path / "scan.safetensors"

    def begun(checkpoint: Path | None) -> ScanTraining:
        model = training(checkpoint)
        if stage == "labels" and model.stage == "neighbours":
            model.begin_labels()
        return model

    straight, piece = begun(None), begun(file)
    straight.run(2)
    piece.run(1)
    piece.notes = {"curve": [1]}
    piece.save()
    again = training(file)
    assert (again.stage, again.epochs_done, again.notes) == (stage, 1, {"curve": [1]})
    again.run(2)
    assert torch.equal(weights_of(again), weights_of(straight))


def test_compact_parts_carry_the_neighbours_the_chosen_epoch_and_the_stage(tmp_path: Path) -> None:
    model = training()
    model.run(1)
    loss = model.keep_if_lowest()
    parts = str(tmp_path / "scan.safetensors")
    model.save(compact=parts)
    assert not Path(parts).exists() and list(tmp_path.glob("scan-1-of-*"))
    again = training(Path(parts))
    assert again.epochs_done == 1 and again.lowest == loss
    assert all(torch.equal(again._tables[name], t) for name, t in model._tables.items())
    np.testing.assert_allclose(again.membership(WATCHED), model.membership(WATCHED), atol=1e-2)
    with pytest.raises(InputError, match="another training"):
        ScanTraining(SETTING, fresh_network(), IMAGES[:30], watched=WATCHED, checkpoint=parts)


def test_features_come_with_the_projector_of_their_training_if_it_is_there(tmp_path: Path) -> None:
    whole, bare = tmp_path / "whole.safetensors", tmp_path / "bare.safetensors"
    setting = SelfSetting("simclr", channels=2, size=8, batch_size=20, device="cpu")
    learner = SelfLearner(setting, IMAGES, checkpoint=str(whole))
    learner.run(1)
    learner.save(bare)
    parts = tmp_path / "parts.safetensors"
    learner.save_training(parts)
    trained: Any = learner._trainer.network
    for file, projected in ((whole, True), (bare, False), (parts, True)):
        network, found, size = load_scan_network(file, 3)
        assert (found, size, network.k) == (projected, 8, 3)
        assert torch.equal(network.backbone.conv1.weight, trained.backbone.conv1.weight)
        same = torch.equal(network.instance.layers[0].weight, trained.instance.layers[0].weight)
        assert same == projected
    with pytest.raises(InputError, match="There is no file"):
        load_scan_network(tmp_path / "nothing", 3)
    training(tmp_path / "scan.safetensors").save()
    with pytest.raises(InputError, match="Expected features"):
        load_scan_network(tmp_path / "scan.safetensors", 3)


def test_decay_is_part_of_the_gradient_as_in_the_program() -> None:
    moved = {}
    for name in ("adam", "adam-l2"):
        layer = nn.Linear(1, 1, bias=False)
        nn.init.ones_(layer.weight)
        plan = Plan(optimiser=name, learning_rate=0.1, weight_decay=0.01)  # type: ignore[arg-type]
        optimiser = optimiser_of(layer, plan)
        layer.weight.grad = torch.zeros_like(layer.weight)
        optimiser.step()
        moved[name] = 1 - layer.weight.item()
    assert moved["adam"] == pytest.approx(0.001, rel=1e-3) and moved["adam-l2"] == pytest.approx(
        0.1, rel=1e-3
    )


def test_the_estimator_trains_as_the_program_if_asked_to() -> None:
    settings = {key: value for key, value in SMALL.items() if key != "batch_size"}
    model = SCAN(3, profile="program", epochs=(2, 2, 1), random_state=0, **settings).fit(IMAGES)
    assert np.array_equal(model.predict(IMAGES), model.labels_)
    trainer = model._learner._trainer
    assert trainer.plan.batch_size == 1000 and trainer.plan.schedule == "constant"
    assert trainer.network.passes == "teaching" and len(trainer.network.cluster.layers) == 1
    for wrong in ({"epochs": (1.0, 1.0)}, {"epochs": (1.0, 0.0, 1.0)}):
        with pytest.raises(InputError, match="three stages"):
            SCAN(3, profile="program", **wrong).fit(IMAGES)
    with pytest.raises(InputError, match="pictures"):
        SCAN(3, profile="program").fit(clouds()[0])
    with pytest.raises(InputError, match="neighbours among"):
        ScanTraining(SETTING, fresh_network(), IMAGES[:3])


def test_features_are_learnt_on_the_crops_that_were_asked_for(tmp_path: Path) -> None:
    small = {"channels": 2, "size": 8, "batch_size": 20, "device": "cpu"}
    file = str(tmp_path / "features.safetensors")
    learner = SelfLearner(SelfSetting("simclr", crop=0.2, **small), IMAGES, checkpoint=file)
    views: Any = learner._method.views
    assert views.family.scale == (0.2, 1.0)
    learner.run(1)
    with pytest.raises(InputError, match=r"crop is 0\.2 there"):
        SelfLearner(SelfSetting("simclr", **small), IMAGES, checkpoint=file)
    assert "crop" not in SelfSetting("simclr").identity, "older checkpoints go on"
    with pytest.raises(InputError, match="share of the area"):
        SelfSetting("simclr", crop=0.0)
