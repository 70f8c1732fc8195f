"""FixMatch with answered items as labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_idc import SMALL, answers, honoured, pictures

from samekind.clusterers.deep.fixmatch import FixMatch
from samekind.clusterers.deep.pcl import PCL
from samekind.constraints import Constraints

QUICK: dict[str, Any] = {"unlabelled": 16, "labelled": 8, "epochs": 2}


def test_answered_items_teach_the_others_from_scratch() -> None:
    images, half = pictures(60)
    known = answers(half, 70)
    wanted = {**QUICK, "epochs": 25, "average": 0.9}
    model = FixMatch(2, **wanted, **SMALL).fit(images, constraints=known)
    assert honoured(model.labels_, known)
    other, kinds = pictures(200)
    right = (model.predict(other[60:]) == kinds[60:]).mean()
    assert max(right, 1 - right) > 0.8


def test_without_any_label_the_network_stays_as_it_is() -> None:
    images, _ = pictures()
    still = FixMatch(3, **QUICK, **SMALL).fit(images)
    only_apart = Constraints.from_links(40, [(0, 1, False)])
    apart = FixMatch(3, **QUICK, **SMALL).fit(images, constraints=only_apart)
    np.testing.assert_allclose(still.space_, apart.space_, atol=1e-5)
    assert honoured(apart.labels_, only_apart)


def test_it_begins_from_features_of_another_method(tmp_path: Any) -> None:
    images, half = pictures()
    file = str(tmp_path / "features.safetensors")
    PCL(2, profile="fast", first_epochs=1, batch_size=16, **SMALL).fit(images).save_features(file)
    known = answers(half, 20)
    model = FixMatch(2, start=file, size=8, device="cpu", random_state=0, **QUICK)
    assert honoured(model.fit(images, constraints=known).labels_, known)


@pytest.mark.parametrize("k", [1, 3, None])
def test_vectors_any_number_of_groups(k: int | None) -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + 5 * np.eye(3, 4)[kinds]
    known = answers(kinds, 40)
    model = FixMatch(k, random_state=0).fit(X, constraints=known)
    assert honoured(model.labels_, known)
