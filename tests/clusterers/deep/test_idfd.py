"""IDFD on tiny pictures and vectors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from drawn_kinds import SMALL, Curve, clouds, drawn, honoured, some_answers
from samekind.clusterers.deep.idfd import IDFD
from samekind.evaluation import acc
from samekind.training.heads import CentreHead, LinearUnits


@pytest.mark.parametrize("k", [2, 3])
def test_idfd_learns_kinds_of_pictures_and_its_loss_falls(k: int) -> None:
    images, kinds = drawn(k=k)
    curve = Curve()
    model = IDFD(
        k, steps=50, learning_rate=0.2, monitor=curve.monitor, random_state=0, **SMALL
    ).fit(images)  # fmt: skip
    assert curve.fell("instance") > 0.2
    assert acc(kinds, model.labels_) > 1 / k + 0.25
    assert model._learner._trainer.step == 50


def test_features_are_decorrelated_by_their_weight() -> None:
    images, _ = drawn()
    found = {}
    for weight in (0.0, 1.0):
        curve = Curve()
        IDFD(2, steps=25, weight=weight, monitor=curve.monitor, random_state=0, **SMALL).fit(images)
        found[weight] = curve
    assert not any(found[0.0].part("features"))
    assert found[1.0].fell("features") > 0


def test_idfd_groups_vectors_and_honours_every_answer() -> None:
    X, kinds = clouds()
    model = IDFD(3, random_state=0).fit(X)
    assert acc(kinds, model.labels_) > 0.8
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)
    known = some_answers(np.arange(120) % 2, 40)
    assert honoured(IDFD(3, random_state=0).fit(X, constraints=known).labels_, known)


def test_other_pictures_are_placed_by_the_nearest_centre() -> None:
    images, _ = drawn(k=2)
    model = IDFD(2, steps=50, learning_rate=0.2, random_state=0, **SMALL).fit(images)
    others, theirs = drawn(40, k=2, seed=7)
    placed = model.predict(others)
    assert placed.tolist() == [int(model.predict(others[i : i + 1])[0]) for i in range(40)]
    assert acc(theirs, placed) > 0.75


def test_centres_win_the_vectors_around_them_in_any_precision() -> None:
    units = LinearUnits(3, 2)
    centres = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    head = CentreHead(units, centres)
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    p = head(x)
    assert head.k == 2 and torch.equal(p.argmax(dim=1), (units(x) @ centres.T).argmax(dim=1))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(head(x.bfloat16()), head(x.bfloat16().float()))
    torch.testing.assert_close(head.double()(x.double()).float(), p)
