"""SCAN on tiny pictures and vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from drawn_kinds import SMALL, Curve, clouds, drawn
from samekind.clusterers.deep.scan import SCAN
from samekind.clusterers.deep.selfsupervised import SimCLR
from samekind.errors import InputError
from samekind.training.augment import FAMILIES
from samekind.training.rows import MildStrongRows, SingleRows
from samekind.training.strong import StrongFamily, StrongOnly


def test_every_stage_has_its_share_of_the_steps() -> None:
    curve = Curve()
    model = SCAN(3, steps=20, monitor=curve.monitor, random_state=1, **SMALL).fit(drawn()[0])
    assert model._learner._trainer.step == 20
    counts = [len(curve.part(name)) for name in ("instance", "neighbours", "labels")]
    assert counts == [12, 5, 3]


@pytest.mark.parametrize("k", [1, 2])
def test_scan_takes_few_groups_of_few_items(k: int) -> None:
    images, _ = drawn(10)
    model = SCAN(k, steps=6, random_state=0, **SMALL).fit(images)
    assert np.array_equal(model.predict(images), model.labels_)
    assert len(np.unique(SCAN(k, random_state=0, steps=6).fit(np.eye(4)).labels_)) <= k


def test_features_of_a_file_leave_all_steps_to_the_groups(tmp_path: Any) -> None:
    images, _ = drawn(40)
    file = str(tmp_path / "features.safetensors")
    SimCLR(2, steps=2, random_state=0, **SMALL).fit(images).save_features(file)
    curve = Curve()
    SCAN(2, steps=16, start=file, monitor=curve.monitor, random_state=0, **SMALL).fit(images)
    counts = [len(curve.part(name)) for name in ("instance", "neighbours", "labels")]
    assert counts == [0, 10, 6]


def test_no_neighbours_are_refused() -> None:
    with pytest.raises(InputError, match="neighbours"):
        SCAN(2, neighbours=0).fit(clouds()[0])


def test_one_view_of_each_item_or_a_mild_and_a_strong_one() -> None:
    chance = torch.Generator().manual_seed(0)
    images = torch.randint(256, (5, 3, 12, 12), dtype=torch.uint8)
    family, strong = FAMILIES["cc-small"].at(12), StrongFamily(12)
    assert StrongOnly(family, strong)(images, chance).shape == (5, 3, 12, 12)
    pairs = StrongOnly(family, strong, mild=True)
    made = pairs(images, chance)
    torch.testing.assert_close(made[:5], pairs.plain(images))
    assert not torch.allclose(made[5:], made[:5])
    rows = torch.randn(5, 4)
    assert SingleRows(rows)(rows, chance).shape == (5, 4)
    mild = MildStrongRows(rows)
    torch.testing.assert_close(mild(rows, chance)[:5], mild.plain(rows))
    assert not torch.allclose(MildStrongRows(rows, little=0.1)(rows, chance)[:5], mild.plain(rows))
