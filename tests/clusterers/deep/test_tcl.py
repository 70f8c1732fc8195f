"""TCL as a clusterer, on tiny pictures and vectors."""

from __future__ import annotations

import numpy as np
import pytest

from drawn_kinds import SMALL, Curve, drawn
from samekind.clusterers.deep.selfsupervised import TCL


def test_a_sixth_of_the_steps_is_boosting() -> None:
    curve = Curve()
    TCL(3, steps=12, monitor=curve.monitor, random_state=0, **SMALL).fit(drawn()[0])
    assert ["balance" in told.parts for told in curve.told] == [True] * 10 + [False] * 2


@pytest.mark.parametrize("family", ["cc-imagenet", "pcl"])
@pytest.mark.parametrize("k", [1, 2])
def test_tcl_takes_other_views_and_few_groups(family: str, k: int) -> None:
    images, _ = drawn(12)
    model = TCL(k, steps=3, family=family, random_state=0, **SMALL).fit(images)
    assert np.array_equal(model.predict(images), model.labels_)
    assert len(np.unique(model.labels_)) <= k
