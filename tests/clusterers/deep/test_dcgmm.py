"""DC-GMM: a mixture behind an autoencoder, tilted by answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coded_kinds import (
    SMALL,
    layouts,
    overlapping,
    own_groups,
    step_without_waiting,
    true_pairs,
)
from drawn_kinds import Curve, clouds, honoured
from samekind.clusterers.deep.dcgmm import DCGMM
from samekind.errors import InputError


def test_its_losses_fall() -> None:
    images, kinds = layouts()
    known = true_pairs(kinds, 40)
    curve = Curve()
    model = DCGMM(3, steps=30, monitor=curve.monitor, random_state=0, **SMALL)
    model.fit(images, constraints=known)
    first, second = np.split(np.array(curve.part("reconstruction")), 2)
    assert first[:5].mean() - first[-5:].mean() > 0.02
    learning = second + np.add(curve.part("prior"), curve.part("links"))
    assert learning[:5].mean() > learning[-5:].mean()
    assert honoured(model.labels_, known)
    assert model._learner._trainer.step == 30


@pytest.mark.parametrize("alpha", [1e4, 1e8])
def test_nearly_certain_answers_stay_finite_and_no_group_swallows_all(alpha: float) -> None:
    X, kinds = overlapping(0, n=100)
    known = true_pairs(kinds, 80)
    model = DCGMM(4, alpha=alpha, steps=60, random_state=0).fit(X, constraints=known)
    assert np.isfinite(model.space_).all()
    sizes = np.bincount(own_groups(model, X), minlength=4) / 100
    assert sizes.max() < 0.8


def test_a_refit_keeps_the_codes_and_is_as_good_as_a_first_fit() -> None:
    images, kinds = layouts()
    known = true_pairs(kinds, 20)
    wanted: dict[str, Any] = {"steps": 8, "random_state": 0, **SMALL}
    curve = Curve()
    model = DCGMM(3, monitor=curve.monitor, **wanted).fit(images).fit(images, constraints=known)
    assert len(curve.told) == 12
    fresh = DCGMM(3, **wanted).fit(images, constraints=known)
    np.testing.assert_array_equal(model.labels_, fresh.labels_)
    np.testing.assert_allclose(model.space_, fresh.space_, atol=1e-5)


def test_a_step_never_waits_for_the_device() -> None:
    images, kinds = layouts(40)
    known = true_pairs(kinds, 30)
    step_without_waiting(DCGMM(3, steps=2, **SMALL).fit(images, constraints=known))


@pytest.mark.parametrize("alpha", [-1.0, float("inf")])
def test_an_alpha_that_is_no_number_is_refused(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        DCGMM(2, alpha=alpha, steps=2).fit(clouds(20)[0])
