"""GCC on tiny pictures and vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drawn_kinds import SMALL, Curve, clouds, drawn, honoured, some_answers
from samekind.clusterers.deep.gcc import GCC
from samekind.errors import InputError
from samekind.evaluation import acc

QUICK: dict[str, Any] = {"warm_up": 0.1, "learning_rate": 0.03, "random_state": 0, **SMALL}


@pytest.mark.parametrize("k", [2, 3])
def test_gcc_learns_kinds_of_pictures_and_its_losses_fall(k: int) -> None:
    images, kinds = drawn(k=k)
    curve = Curve()
    model = GCC(k, steps=50, monitor=curve.monitor, **QUICK).fit(images)
    assert curve.fell("graph") > 0.1 and curve.fell("agreement") > 0.02
    assert acc(kinds, model.labels_) > 1 / k + 0.2
    assert len(curve.part("instance")) == 5 and len(curve.part("graph")) == 45


def test_the_graph_is_looked_up_again_and_again_and_brings_kinds_together() -> None:
    images, kinds = drawn(k=2)
    model = GCC(2, steps=40, **QUICK).fit(images)
    graph = model._learner._trainer.graph
    assert not len(graph.unseen), "a batch less than all items leaves none out"
    right = (kinds[graph.table.numpy()] == kinds[:, None]).mean()
    assert right > 0.75


def test_from_features_the_graph_is_used_from_the_first_step_on(tmp_path: Path) -> None:
    images, _ = drawn(60)
    file = str(tmp_path / "features.safetensors")
    GCC(2, steps=2, **QUICK).fit(images).save_features(file)
    curve = Curve()
    GCC(2, steps=4, start=file, monitor=curve.monitor, **QUICK).fit(images)
    assert not curve.part("instance") and len(curve.part("graph")) == 4


def test_gcc_groups_vectors_and_honours_every_answer() -> None:
    X, kinds = clouds()
    assert acc(kinds, GCC(3, random_state=0).fit(X).labels_) > 0.8
    known = some_answers(np.arange(120) % 2, 40)
    assert honoured(GCC(3, random_state=0).fit(X, constraints=known).labels_, known)


def test_very_few_items_have_fewer_neighbours() -> None:
    X, _ = clouds(3)
    for n in (2, 3):
        assert len(GCC(2, steps=3, random_state=0).fit(X[:n]).labels_) == n
    for wrong in ({"drawn": 0}, {"drawn": 6}, {"warm_up": 1.0}):
        with pytest.raises(InputError, match="GCC"):
            GCC(2, **wrong).fit(X)
