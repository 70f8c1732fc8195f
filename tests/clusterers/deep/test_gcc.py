"""GCC on tiny pictures and vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from drawn_kinds import SMALL, Curve, clouds, drawn
from samekind.clusterers.deep.gcc import GCC
from samekind.errors import InputError

QUICK: dict[str, Any] = {"warm_up": 0.1, "learning_rate": 0.03, "random_state": 0, **SMALL}


def test_the_graph_is_used_after_the_warm_up_and_its_loss_falls() -> None:
    curve = Curve()
    GCC(2, steps=30, monitor=curve.monitor, **QUICK).fit(drawn(k=2)[0])
    assert curve.fell("graph") > 0
    assert len(curve.part("instance")) == 3 and len(curve.part("graph")) == 27


def test_every_item_has_neighbours_in_the_graph() -> None:
    graph = GCC(2, steps=6, **QUICK).fit(drawn(k=2)[0])._learner._trainer.graph
    assert not len(graph.unseen), "a batch smaller than the set leaves no item out"
    assert graph.table.shape == (80, 5)


def test_from_features_the_graph_is_used_from_the_first_step_on(tmp_path: Path) -> None:
    images, _ = drawn(60)
    file = str(tmp_path / "features.safetensors")
    GCC(2, steps=2, **QUICK).fit(images).save_features(file)
    curve = Curve()
    GCC(2, steps=4, start=file, monitor=curve.monitor, **QUICK).fit(images)
    assert not curve.part("instance") and len(curve.part("graph")) == 4


def test_very_few_items_have_fewer_neighbours() -> None:
    X, _ = clouds(3)
    for n in (2, 3):
        assert len(GCC(2, steps=3, random_state=0).fit(X[:n]).labels_) == n
    for wrong in ({"drawn": 0}, {"drawn": 6}, {"warm_up": 1.0}):
        with pytest.raises(InputError, match="GCC"):
            GCC(2, **wrong).fit(X)
