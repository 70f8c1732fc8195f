"""PICA on tiny pictures and vectors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from drawn_kinds import SMALL, Curve, clouds, drawn
from samekind.clusterers.deep.pica import PICA, PICALoss, turn_of_groups
from samekind.errors import InputError
from samekind.training.augment import FAMILIES, Views
from samekind.training.heads import ClusterHead
from samekind.training.loop import SchedulePoint
from samekind.training.network import Output
from samekind.training.perturbed import Edges, Perturbed
from samekind.training.rows import NoisyRows


def test_edges_are_seen_in_training_and_in_use() -> None:
    images, _ = drawn(40)
    model = PICA(2, steps=3, sobel=True, random_state=0, **SMALL).fit(images)
    assert np.array_equal(model.predict(images), model.labels_)
    brighter = (images.astype(int) // 2 + 60).astype(np.uint8)
    lighter = (images.astype(int) // 2 + 90).astype(np.uint8)
    np.testing.assert_allclose(model.transform(brighter), model.transform(lighter), atol=1e-4)
    assert not np.allclose(
        model.transform(images),
        PICA(2, steps=3, random_state=0, **SMALL).fit(images).transform(images),
        atol=1e-3,
    )


def test_edges_point_where_gray_changes() -> None:
    edges = Edges(Views(FAMILIES["cc-small"].at(8)))
    image = torch.zeros(1, 3, 8, 8, dtype=torch.uint8)
    image[:, :, :, 4:] = 255
    across, down, nothing = edges.plain(image)[0]
    assert across[:, 3:5].min() == pytest.approx(4.0, abs=1e-5) and not across[:, :3].any()
    assert down.abs().max() < 1e-5 and not nothing.any()
    assert edges(image, torch.Generator().manual_seed(0)).shape == (2, 3, 8, 8)


def test_any_number_of_views_is_made_the_plain_items_first() -> None:
    rows = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    for copies in (1, 2, 3):
        views = Perturbed(NoisyRows(rows), copies=copies, first_plain=True)
        made = views(rows, torch.Generator().manual_seed(1))
        assert made.shape == (5 * (1 + copies), 4)
        torch.testing.assert_close(made[:5], views.plain(rows))
        assert not torch.allclose(made[5:10], made[-5:]) or copies == 1
    images = torch.randint(256, (3, 3, 10, 10), dtype=torch.uint8)
    pictures = Perturbed(Views(FAMILIES["cc-small"]), copies=3)
    assert pictures(images, torch.Generator().manual_seed(0)).shape == (9, 3, 32, 32)
    with pytest.raises(InputError, match="copies=0"):
        Perturbed(NoisyRows(rows), copies=0)


def test_heads_learn_in_turn_and_the_last_epoch_is_for_the_groups() -> None:
    head = ClusterHead(6, 5)
    h, p = torch.randn(8, 6), torch.randn(8, 2).requires_grad_()
    loss, nothing = PICALoss(1, head), None
    for epoch, groups in ((0.0, False), (1.0, True), (2.5, False), (3.5, True)):
        head.zero_grad()
        p.grad = None
        parts = loss(Output(h, h, p.softmax(dim=1)), nothing, SchedulePoint(epoch, 4))  # type: ignore[arg-type]
        sum(parts.values()).backward()  # type: ignore[union-attr]
        assert p.grad is not None and bool(p.grad.any()) == groups
        weight = head.layers[0].weight.grad  # type: ignore[union-attr]
        assert weight is not None and bool(weight.any()) != groups  # type: ignore[operator]
        there = SchedulePoint(torch.tensor(epoch), torch.tensor(4.0))
        assert float(turn_of_groups(there)) == turn_of_groups(SchedulePoint(epoch, 4)) == groups


def test_a_second_head_may_be_left_out_and_nonsense_is_refused() -> None:
    X, _ = clouds(30)
    curve = Curve()
    PICA(3, finer=0, steps=3, monitor=curve.monitor, random_state=0).fit(X)
    assert not curve.part("finer") and len(curve.part("confidence")) == 3
    for wrong in ({"copies": 0}, {"finer": -1}, {"steps": 0}):
        with pytest.raises(InputError):
            PICA(3, **wrong).fit(X)
