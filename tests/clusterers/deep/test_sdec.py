"""SDEC: answers pull codes together and push them apart."""

from __future__ import annotations

import numpy as np
import pytest

from coded_kinds import (
    SMALL,
    kept_share,
    layouts,
    overlapping,
    own_groups,
    step_without_waiting,
    true_pairs,
)
from drawn_kinds import Curve, honoured
from samekind.clusterers.deep.dec import DEC
from samekind.clusterers.deep.sdec import SDEC
from samekind.errors import InputError


def test_its_losses_fall() -> None:
    images, kinds = layouts()
    known = true_pairs(kinds, 40)
    curve = Curve()
    model = SDEC(3, steps=30, monitor=curve.monitor, random_state=0, **SMALL)
    model.fit(images, constraints=known)
    assert curve.fell("reconstruction") > 0.02
    learning = np.add(curve.part("groups"), curve.part("links"))
    assert learning[:5].mean() > learning[-5:].mean()
    assert honoured(model.labels_, known)
    assert model._learner._trainer.step == 30


def test_without_answers_it_is_dec() -> None:
    X, _ = overlapping(0, n=80)
    free, plain = (method(4, steps=20, random_state=0).fit(X) for method in (SDEC, DEC))
    np.testing.assert_allclose(free.space_, plain.space_, atol=1e-5)


def test_the_published_weight_leaves_the_groups_as_they_are() -> None:
    X, kinds = overlapping(0)
    known = true_pairs(kinds, 100)
    weak, strong = (
        SDEC(4, weight=weight, steps=60, random_state=0).fit(X, constraints=known)
        for weight in (1e-5, 0.1)
    )
    plain = DEC(4, steps=60, random_state=0).fit(X)
    assert np.mean(own_groups(weak, X) == own_groups(plain, X)) > 0.95
    assert kept_share(own_groups(strong, X), known) > kept_share(own_groups(weak, X), known)


def test_different_answers_alone_do_not_blow_up_the_codes() -> None:
    X, _ = overlapping(1, n=80)
    pairs = true_pairs(np.arange(80), 60)  # all different
    model = SDEC(4, weight=5.0, steps=80, random_state=0).fit(X, constraints=pairs)
    assert np.isfinite(model.space_).all() and np.abs(model.space_).max() < 100


def test_a_step_never_waits_for_the_device() -> None:
    images, kinds = layouts(40)
    known = true_pairs(kinds, 30)
    step_without_waiting(SDEC(3, steps=2, **SMALL).fit(images, constraints=known))


def test_a_margin_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="margin"):
        SDEC(2, margin=0.0, steps=2).fit(overlapping(0, n=20)[0])
