"""Checkpoints: whole or not at all, no pickle, and resumed as if nothing had happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from samekind.clusterers.deep.pcl import PCLLoss
from samekind.compute import Compute
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.training.augment import FAMILIES, Views
from samekind.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from samekind.training.loop import Plan, Trainer
from samekind.training.network import Network
from samekind.training.resnet import ResNet

CPU = Compute("cpu", "float32", "for a test")


def picture_trainer(**changes: Any) -> Trainer:
    torch.manual_seed(0)
    data = torch.randint(256, (24, 3, 12, 12), dtype=torch.uint8)
    network = Network(ResNet(18, stem="3x3", base=changes.pop("base", 8)), k=2, out=8)
    plan = Plan(batch_size=8, learning_rate=1e-3, **changes)
    trainer = Trainer(network, PCLLoss(), data, Views(FAMILIES["pcl"].at(8)), plan, compute=CPU)
    trainer.learn_from(Constraints.from_links(24, [(0, 9, True), (9, 13, False)]))
    return trainer


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_a_training_resumed_in_the_middle_ends_bitwise_the_same(
    tmp_path: Path, optimiser: str
) -> None:
    whole = picture_trainer(optimiser=optimiser)
    whole.run(2)  # six steps
    first = picture_trainer(optimiser=optimiser)
    first.run(4 / 3, horizon=2)  # four of them, so the interruption is within an epoch
    save_checkpoint(tmp_path / "run.safetensors", first.state())
    second = picture_trainer(optimiser=optimiser)
    second.load(load_checkpoint(tmp_path / "run.safetensors"))
    assert second.step == 4
    second.run(2 / 3, before=4 / 3, horizon=2)
    expected, found = whole.state(), second.state()
    assert expected.tensors.keys() == found.tensors.keys()
    for name, tensor in expected.tensors.items():
        assert torch.equal(tensor, found.tensors[name]), name


def test_weights_of_another_network_are_refused_in_a_sentence(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", picture_trainer(base=4).state())
    trainer = picture_trainer()
    with pytest.raises(InputError, match="another network"):
        trainer.load(load_checkpoint(tmp_path / "c"))


def test_facts_that_differ_are_named(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", Checkpoint({"x": torch.ones(1)}, {"items": 5, "step": 3}))
    assert load_checkpoint(tmp_path / "c", expected={"items": 5}).facts["step"] == 3
    with pytest.raises(InputError, match="items is 5 there and 6 here"):
        load_checkpoint(tmp_path / "c", expected={"items": 6})


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    (tmp_path / "text").write_text("not a checkpoint")
    save_file({"x": torch.ones(1)}, tmp_path / "foreign")
    for name in ("text", "foreign", "nothing-there"):
        with pytest.raises(InputError, match="checkpoint"):
            load_checkpoint(tmp_path / name)


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "c", Checkpoint({"x": torch.ones(1)}, {"step": 1}))
    with pytest.raises(TypeError):
        save_checkpoint(tmp_path / "c", Checkpoint({"x": torch.ones(1)}, {"step": object()}))
    assert load_checkpoint(tmp_path / "c").facts["step"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["c"]
