"""ProPos, BYOL and SimCLR as clusterers, on tiny pictures and vectors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from test_recordable_steps import Listening

from drawn_kinds import SMALL, Curve, clouds, drawn
from samekind.clusterers.deep.idc import IDC
from samekind.clusterers.deep.scan import SCAN
from samekind.clusterers.deep.selfsupervised import BYOL, TCL, ProPos, SimCLR
from samekind.clusterers.deep.spice import SPICE
from samekind.errors import UnknownName
from samekind.objectives.links import LinkMasks
from samekind.training.selflearn_rows import method_of_rows
from samekind.training.steps import SchedulePoint

ALL = [SimCLR, BYOL, TCL, ProPos, SCAN, SPICE]


def test_groups_are_made_only_after_the_first_part_of_the_training() -> None:
    images, _ = drawn(40)
    curve = Curve()
    ProPos(2, steps=40, monitor=curve.monitor, random_state=0, **{**SMALL, "channels": 2}).fit(
        images
    )
    scattering = curve.part("scattering")
    assert scattering[:2] == [0.0] * 2 and min(scattering[2:]) > 0


@pytest.mark.parametrize("method", ALL)
def test_a_copy_that_was_written_down_says_the_same(method: Any) -> None:
    images, _ = drawn(20)
    model = method(2, steps=4, random_state=0, **{**SMALL, "channels": 2}).fit(images)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(images), model.predict(images))


@pytest.mark.parametrize("method", [SimCLR, BYOL, ProPos])
def test_features_of_a_file_are_where_it_begins(method: Any, tmp_path: Any) -> None:
    images, _ = drawn(20)
    small = {**SMALL, "channels": 2, "random_state": 0}
    file = str(tmp_path / "features.safetensors")
    first = SimCLR(2, steps=2, **small).fit(images)
    first.save_features(file)
    model = method(2, steps=1, start=file, **small).fit(images)
    if method is ProPos:
        assert model._learner._trainer.step == 1
    else:  # nothing is left to learn
        assert model._learner._trainer.step == 0
        np.testing.assert_allclose(model.space_, first.space_, atol=1e-5)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("kind", ["pictures", "vectors"])
def test_no_stage_waits_for_the_device_within_a_step(method: Any, kind: str) -> None:
    small = {**SMALL, "channels": 2} if kind == "pictures" else {}
    data = drawn(40)[0] if kind == "pictures" else clouds(40)[0]
    learner = method(2, steps=2, random_state=0, **small).fit(data)._learner
    trainer = learner._trainer
    point = SchedulePoint(torch.tensor(0.5), torch.tensor(2.0))
    for stage in learner._stages(trainer):
        trainer.change(stage.objective, stage.views)
        if stage.prepare is not None:
            stage.prepare(trainer)
        trainer.network.train()
        items, masks = trainer._batch(np.arange(40))
        with Listening() as listening:
            rows = trainer.views(trainer.data[trainer._mine(items)], trainer._chance)
            parts = trainer._run(rows, items, LinkMasks(*masks), point)
            if hasattr(trainer.network, "follow"):
                trainer.network.draw(len(rows), trainer._chance, point)
                trainer.network.follow(point)
        assert listening.heard == [] and all(part.isfinite() for part in parts.values())


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(UnknownName, match="simclr"):
        method_of_rows("scan", torch.zeros(3, 2), 2, average=0.9)


@pytest.mark.parametrize("method", [SimCLR, TCL, IDC])
def test_the_linear_layer_of_tcl_goes_with_its_features(method: Any, tmp_path: Any) -> None:
    images, _ = drawn(20)
    small = {**SMALL, "channels": 2, "random_state": 0}
    file = str(tmp_path / "features.safetensors")
    first = TCL(2, steps=2, **small).fit(images)
    first.save_features(file)
    trained: Any = first._learner.backbone
    given = {"epochs": 1} if method is IDC else {"steps": 1}
    model = method(2, start=file, **given, **small).fit(images)
    network: Any = model._learner._trainer.network
    assert network.backbone.fc is not None
    if method is SimCLR:  # nothing is left to learn
        assert torch.equal(network.backbone.fc.weight, trained.fc.weight)
        np.testing.assert_allclose(model.space_, first.space_, atol=1e-5)
    plain = str(tmp_path / "plain.safetensors")
    SimCLR(2, steps=1, **small).fit(images).save_features(plain)
    fresh: Any = TCL(2, steps=1, start=plain, **small).fit(images)._learner._trainer.network
    assert fresh.backbone.fc is not None  # its own where the file has none
