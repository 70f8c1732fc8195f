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
from samekind.training.checkpoints import (
    Checkpoint,
    checkpoint_exists,
    load_checkpoint,
    save_checkpoint,
)
from samekind.training.compact import find_parts, save_compact
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


def test_a_compact_checkpoint_travels_in_parts_and_training_goes_on_from_it(tmp_path: Path) -> None:
    first = picture_trainer(base=16)
    first.run(1, horizon=2)
    state = first.state()
    files = save_compact(tmp_path / "run.safetensors", state, part_bytes=300_000)
    weights = sum(t.numel() for n, t in state.tensors.items() if n.startswith("network."))
    assert len(files) > 2 and files == find_parts(tmp_path / "run.safetensors")
    assert sum(file.stat().st_size for file in files) < 2.5 * weights + 60_000, "16 bits each"
    assert checkpoint_exists(tmp_path / "run.safetensors")
    found = load_checkpoint(tmp_path / "run.safetensors", expected={"step": first.step})
    for name, tensor in found.tensors.items():
        assert tensor.dtype == state.tensors[name].dtype
        assert torch.allclose(tensor, state.tensors[name], rtol=1e-3, atol=1e-6), name
    second = picture_trainer(base=16)
    second.load(found)
    assert second.step == first.step
    second.run(1, before=1, horizon=2)
    first.run(1, before=1, horizon=2)
    pairs = zip(first.network.parameters(), second.network.parameters(), strict=True)
    assert all(torch.allclose(a, b, atol=0.02) for a, b in pairs), "a step moves by .001"


def test_parts_of_two_checkpoints_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "run.safetensors"
    trainer = picture_trainer(base=16)
    old = save_compact(path, trainer.state(), part_bytes=300_000)
    kept = old[0].read_bytes()
    trainer.run(1)
    save_compact(path, trainer.state(), part_bytes=300_000)
    old[0].write_bytes(kept)
    with pytest.raises(InputError, match="parts of one compact checkpoint"):
        load_checkpoint(path)
    old[0].unlink()
    with pytest.raises(InputError, match="parts of one compact checkpoint"):
        load_checkpoint(path)


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
