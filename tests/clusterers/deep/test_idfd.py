"""IDFD on tiny pictures and vectors."""

from __future__ import annotations

import torch

from drawn_kinds import SMALL, Curve, drawn
from samekind.clusterers.deep.idfd import IDFD
from samekind.training.heads import CentreHead, LinearUnits


def test_features_are_decorrelated_by_their_weight() -> None:
    images, _ = drawn()
    found = {}
    for weight in (0.0, 1.0):
        curve = Curve()
        IDFD(2, steps=25, weight=weight, monitor=curve.monitor, random_state=0, **SMALL).fit(images)
        found[weight] = curve
    assert not any(found[0.0].part("features"))
    assert found[1.0].fell("features") > 0


def test_other_pictures_are_placed_by_the_nearest_centre() -> None:
    images, _ = drawn(k=2)
    model = IDFD(2, steps=3, random_state=0, **SMALL).fit(images)
    others, _ = drawn(40, k=2, seed=7)
    placed = model.predict(others)
    assert placed.tolist() == [int(model.predict(others[i : i + 1])[0]) for i in range(40)]


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
