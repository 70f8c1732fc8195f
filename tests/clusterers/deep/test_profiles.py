"""Profiles of PCL, OCC and CC: each trains with what it was given and says what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch import Tensor, nn

from samekind.clusterers.deep.cc import CC
from samekind.clusterers.deep.occ import OCC
from samekind.clusterers.deep.pcl import PCL, PCLLoss
from samekind.errors import InputError
from samekind.objectives.links import LinkMasks
from samekind.training.network import Output
from samekind.training.steps import SchedulePoint

SMALL: dict[str, Any] = {
    "backbone": "resnet18", "stem": "3x3", "channels": 4, "size": 8, "batch_size": 16,
    "device": "cpu", "random_state": 0,
}  # fmt: skip
IMAGES = np.random.default_rng(0).integers(0, 255, (20, 3, 8, 8), dtype=np.uint8)
ROWS = np.random.default_rng(1).normal(size=(20, 5))


class Counted(nn.Module):
    """A loss that counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.calls = PCLLoss(), 0

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        self.calls += 1
        return self.own.forward(out, links, point)


@pytest.mark.parametrize("method", [PCL, OCC, CC])
def test_every_method_says_what_really_learns(method: Any) -> None:
    name = method.__name__
    assert method().learner_name == name
    assert method(profile="fast").learner_name == "SimCLR + head + FixMatch"
    if method is not CC:
        assert method(profile="repaired").learner_name == f"{name}, repaired"
    assert method(objective=Counted()).learner_name == f"{name} with Counted"
    assert method(start="features").learner_name == f"{name}, from learnt features"


def test_a_fitted_method_names_the_learner_that_was_used() -> None:
    fast = PCL(2, profile="fast", first_epochs=1, **SMALL).fit(IMAGES)
    assert fast.learner_name == "SimCLR + head + FixMatch"
    rows = PCL(2, profile="fast", epochs=1, device="cpu", random_state=0).fit(ROWS)
    assert rows.learner_name == "PCL", "there is no fast profile for vectors"


def test_occ_with_another_mean_has_another_name_and_loss() -> None:
    assert OCC(mean="pairs").learner_name == "OCC, mean over pairs"
    assert OCC(mean="pairs", profile="repaired").learner_name == "OCC, mean over pairs, repaired"
    assert OCC(mean="pairs").published_objective().contrast.mean == "pairs"
    assert OCC().published_objective().contrast.mean == "rows"


@pytest.mark.parametrize("other", [{"profile": "fast"}, {"objective": Counted()}], ids=["fast", ""])
def test_a_mean_that_would_be_dropped_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"got mean='pairs' with .*, which does not use it\."):
        OCC(2, mean="pairs", **SMALL, **other).fit(IMAGES)


@pytest.mark.parametrize("data", [IMAGES, ROWS], ids=["pictures", "vectors"])
@pytest.mark.parametrize("method", [PCL, OCC, CC])
def test_a_given_objective_is_what_is_minimised(method: Any, data: Any) -> None:
    counted = Counted()
    small = SMALL if data.ndim == 4 else {"device": "cpu", "random_state": 0}
    method(2, epochs=1, objective=counted, **small).fit(data)
    assert counted.calls > 0


@pytest.mark.parametrize("data", [IMAGES, ROWS], ids=["pictures", "vectors"])
@pytest.mark.parametrize(
    "given",
    [{"objective": PCLLoss()}, {"attention": True}, {"extension": 0.5}, {"certain": 0.9999}],
    ids=lambda given: next(iter(given)),
)
def test_the_fast_profile_refuses_what_it_would_drop(data: Any, given: Any) -> None:
    (name,) = given
    words = rf"got {name}=.*: 'fast' is SimCLR \+ head \+ FixMatch and uses none"
    with pytest.raises(InputError, match=words):
        PCL(2, profile="fast", first_epochs=1, **SMALL, **given).fit(data)


def test_the_fast_profile_takes_attention_that_is_off() -> None:
    fast = PCL(2, profile="fast", first_epochs=1, attention=False, **SMALL).fit(IMAGES)
    assert fast.labels_.shape == (20,)
