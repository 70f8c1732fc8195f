"""CC, SimCLR and FixMatch on tiny pictures: their loss falls, and they beat chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drawn_kinds import SMALL, Curve, drawn, some_answers
from samekind.clusterers.deep.cc import CC
from samekind.clusterers.deep.fixmatch import FixMatch
from samekind.clusterers.deep.selfsupervised import SimCLR
from samekind.evaluation import acc


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("method", "settings", "part"),
    [
        (CC, {"epochs": 40, "family": "cc-small", "learning_rate": 3e-3}, "loss"),
        (SimCLR, {"steps": 60}, "instance"),
    ],
    ids=["cc", "simclr"],
)
def test_kinds_are_learnt_from_pictures_alone(
    method: Any, settings: dict[str, Any], part: str, seed: int
) -> None:
    images, kinds = drawn(k=2)
    curve = Curve()
    model = method(2, monitor=curve.monitor, random_state=seed, **SMALL, **settings).fit(images)
    values = curve.part(part)
    assert np.mean(values[:5]) > np.mean(values[-5:])
    assert acc(kinds, model.labels_) > 0.7


@pytest.mark.parametrize("seed", [0, 1])
def test_answered_pictures_teach_fixmatch_those_that_nobody_was_asked_about(seed: int) -> None:
    images, kinds = drawn(k=2)
    known = some_answers(kinds, 60)
    curve = Curve()
    small = {name: value for name, value in SMALL.items() if name != "batch_size"}
    model = FixMatch(
        2, epochs=40, labelled=16, unlabelled=32, average=0.9, monitor=curve.monitor, random_state=seed,
        **small,
    ).fit(images, constraints=known)  # fmt: skip
    values = curve.part("loss")
    assert np.mean(values[:5]) > np.mean(values[-5:])
    other, theirs = drawn(80, k=2, seed=7)
    assert acc(theirs, model.predict(other)) > 0.7
