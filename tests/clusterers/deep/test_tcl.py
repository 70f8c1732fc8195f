"""TCL as a clusterer, on tiny pictures and vectors."""

from __future__ import annotations

import numpy as np
import pytest

from drawn_kinds import SMALL, Curve, clouds, drawn, honoured, some_answers
from samekind.clusterers.deep.selfsupervised import TCL
from samekind.evaluation import acc


def test_tcl_learns_kinds_of_pictures_and_its_loss_falls() -> None:
    images, kinds = drawn()
    curve = Curve()
    model = TCL(3, steps=120, learning_rate=3e-3, monitor=curve.monitor, random_state=0, **SMALL)
    model.fit(images)
    before = [told.parts["loss"] for told in curve.told if "balance" in told.parts]
    assert np.mean(before[:5]) - np.mean(before[-5:]) > 0.3
    assert len(before) == 100  # of 120: the rest is boosting
    assert acc(kinds, model.labels_) > 0.55
    assert model._learner._trainer.step == 120


def test_tcl_groups_vectors_and_honours_every_answer() -> None:
    X, kinds = clouds()
    known = some_answers(np.arange(120) % 2, 40)
    assert acc(kinds, TCL(3, random_state=0).fit(X).labels_) > 0.8
    assert honoured(TCL(3, random_state=0).fit(X, constraints=known).labels_, known)


@pytest.mark.parametrize("family", ["cc-imagenet", "pcl"])
@pytest.mark.parametrize("k", [1, 2])
def test_tcl_takes_other_views_and_few_groups(family: str, k: int) -> None:
    images, _ = drawn(12)
    model = TCL(k, steps=3, family=family, random_state=0, **SMALL).fit(images)
    assert np.array_equal(model.predict(images), model.labels_)
    assert len(np.unique(model.labels_)) <= k
