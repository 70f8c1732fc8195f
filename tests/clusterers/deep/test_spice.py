"""SPICE on tiny pictures and vectors: heads, examples, reliable items."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from drawn_kinds import SMALL, Curve, drawn
from samekind.clusterers.deep.spice import SPICE, Heads, Still, reliable_items
from samekind.training.heads import ClusterHead
from samekind.training.progress import Cancelled, Monitor, TrainingReport


def test_the_last_stage_tunes_the_whole_network() -> None:
    curve = Curve()
    model = SPICE(2, steps=20, monitor=curve.monitor, random_state=0, **SMALL).fit(drawn(k=2)[0])
    tuned = [told for told in curve.told if told.phase == "tuning"]
    assert (model._learner._trainer.step, len(tuned)) == (14, 6)


def test_without_the_last_stage_the_heads_have_its_steps() -> None:
    images, _ = drawn(40, k=2)
    curve = Curve()
    SPICE(2, steps=10, semi=False, monitor=curve.monitor, random_state=0, **SMALL).fit(images)
    assert [len(curve.part(name)) for name in ("instance", "examples")] == [7, 3]
    assert not any(told.phase for told in curve.told)


def test_only_heads_move_while_the_features_stand_still() -> None:
    backbone = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    still = Still(backbone, 4).train()
    before = backbone[1].running_mean.clone()
    assert not still(torch.randn(6, 3)).requires_grad
    assert torch.equal(backbone[1].running_mean, before)
    again = still.released()
    assert again is backbone and again.training
    assert all(parameter.requires_grad for parameter in again.parameters())


def test_stopped_among_the_heads_it_is_what_the_best_head_says() -> None:
    images, _ = drawn(40, k=2)

    def stop(told: TrainingReport) -> None:
        if "examples" in told.parts:
            raise Cancelled("enough")

    model = SPICE(2, steps=20, monitor=Monitor(report=stop, every=1), random_state=0, **SMALL)
    with pytest.raises(Cancelled):
        model.fit(images)
    assert model.labels_.shape == (40,) and len(model.predict(images[:3])) == 3


def test_reliable_items_are_as_many_of_each_group() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(300) % 3
    h = torch.from_numpy(rng.normal(size=(300, 6)) + 6 * np.eye(3, 6)[kinds])
    p = torch.from_numpy(np.where(np.eye(3)[kinds] > 0, 0.999, 0.0005))
    wrong = torch.arange(0, 60, 3)  # called the second kind, among the first
    p[wrong] = torch.tensor([0.0005, 0.999, 0.0005], dtype=p.dtype)
    unsure = torch.arange(1, 31, 3)
    p[unsure] = torch.tensor([0.1, 0.9, 0.0], dtype=p.dtype)
    rows, labels = reliable_items(h, p, neighbours=10, agreement=0.5)
    assert len(torch.unique(torch.bincount(labels))) == 1
    assert not set(rows.tolist()) & {*wrong.tolist(), *unsure.tolist()}
    assert (labels.numpy() == kinds[rows.numpy()]).all() and len(rows) > 150


def test_groups_without_reliable_items_give_their_best_and_empty_ones_none() -> None:
    h = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
    p = torch.full((50, 3), 0.2)
    p[:30, 0], p[30:, 1] = 0.6, 0.5
    rows, labels = reliable_items(h, p)
    assert torch.bincount(labels, minlength=3).tolist() == [1, 1, 0] and len(rows) == 2


def test_heads_speak_side_by_side() -> None:
    heads = Heads([ClusterHead(4, 3) for _ in range(2)])
    x = torch.randn(5, 4)
    torch.testing.assert_close(heads(x)[1], heads[1](x))
    assert (len(heads), heads.k) == (2, 3)
