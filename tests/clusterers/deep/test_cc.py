"""CC: its default length of training, and the profiles that it is listed with."""

from __future__ import annotations

from typing import Any

import pytest

from drawn_kinds import SMALL, clouds, drawn, some_answers
from samekind.clusterers.deep.cc import CC
from samekind.clusterers.deep.occ import OCC
from samekind.clusterers.deep.stages import EPOCHS
from samekind.parameters import parameters_of
from samekind.registry import find


def test_without_epochs_pictures_are_seen_as_often_as_by_the_other_methods() -> None:
    images, kinds = drawn(30)
    model = CC(3, random_state=0, **SMALL).fit(images)
    assert model.n_epochs_ == EPOCHS == 20
    again = model.fit(images, constraints=some_answers(kinds, 4))
    assert again.n_epochs_ == EPOCHS + 1, "later fits on the same pictures add one epoch each"


@pytest.mark.parametrize(
    ("given", "wanted"), [({"epochs": 2}, 2), ({"first_epochs": 3}, 3), ({"epochs": 0}, 0)]
)
def test_given_epochs_go_before_the_default(given: dict[str, Any], wanted: int) -> None:
    assert CC(3, random_state=0, **SMALL, **given).fit(drawn(30)[0]).n_epochs_ == wanted


def test_methods_with_answers_still_take_one_epoch_and_vectors_sixty_steps() -> None:
    assert OCC(3, random_state=0, **SMALL).fit(drawn(30)[0]).n_epochs_ == 1
    assert CC(3, random_state=0).fit(clouds(60)[0])._learner._trainer.step == 60


@pytest.mark.parametrize("name", ["pcl", "occ", "cc"])
def test_the_listed_profiles_are_those_that_the_method_takes(name: str) -> None:
    assert parameters_of("method", name)["profile"].choices == find("method", name).profiles
