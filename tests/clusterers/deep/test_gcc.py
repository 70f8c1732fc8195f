"""GCC on tiny pictures and vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from drawn_kinds import SMALL, Curve, clouds, drawn
from samekind.clusterers.deep.gcc import GCC, features_in_training, stable_rate
from samekind.errors import InputError
from samekind.objectives.pica import unbalance
from samekind.training.heads import LinearShares

QUICK: dict[str, Any] = {"warm_up": 0.1, "learning_rate": 0.03, "random_state": 0, **SMALL}
WIDE: dict[str, Any] = {**SMALL, "channels": 8, "steps": 60, "warm_up": 0.1}
"""At the published rate; features of 64 numbers are long enough to show the collapse."""


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


def test_all_groups_stay_in_use_at_the_published_rate() -> None:
    curve = Curve()
    model = GCC(3, random_state=0, monitor=curve.monitor, **WIDE).fit(drawn()[0])
    assert len(np.unique(model.predicted_labels_)) == 3
    assert max(curve.part("balance")) < 0.5 < 2 * np.log(3)


def test_a_head_at_the_published_rate_overshoots_and_loses_groups_for_good() -> None:
    curve = Curve()
    model = GCC(3, random_state=0, head_rate=0.4, monitor=curve.monitor, **WIDE).fit(drawn()[0])
    assert len(np.unique(model.predicted_labels_)) < 3
    assert min(curve.part("balance")[-20:]) > 0.5


@pytest.mark.parametrize(("times", "kept"), [(1.0, True), (2.0, True), (8.0, False)])
def test_the_rate_of_the_head_is_below_where_the_balance_diverges(times: float, kept: bool) -> None:
    torch.manual_seed(0)
    features = torch.rand(64, 50) + 1
    head = LinearShares(50, 4)
    rate = times * stable_rate(features, 4, balance=2.0)
    optimiser = torch.optim.SGD(head.parameters(), lr=rate, momentum=0.9, nesterov=True)
    for _ in range(200):
        loss = 2 * unbalance(head(features))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert (loss.item() < 0.01) == kept


def test_features_are_measured_as_training_sees_them_and_stay_as_they_are() -> None:
    trainer = GCC(2, steps=1, **QUICK).fit(drawn(k=2)[0])._learner._trainer
    before = {name: t.clone() for name, t in trainer.network.state_dict().items()}
    found = features_in_training(trainer)
    after = trainer.network.state_dict()
    assert all(torch.equal(after[name], t) for name, t in before.items()), "averages too"
    rows = trainer.views.plain(trainer.data[:40])
    torch.testing.assert_close(found, trainer.network.train().backbone(rows).detach())
    averaged = trainer.network.eval().backbone(rows).detach()
    assert not torch.allclose(averaged, found, rtol=0.1, atol=0.1), "averages are not there yet"


def test_very_few_items_have_fewer_neighbours() -> None:
    X, _ = clouds(3)
    for n in (2, 3):
        assert len(GCC(2, steps=3, random_state=0).fit(X[:n]).labels_) == n
    for wrong in ({"drawn": 0}, {"drawn": 6}, {"warm_up": 1.0}, {"head_rate": 0.0}):
        with pytest.raises(InputError, match="GCC"):
            GCC(2, **wrong).fit(X)
