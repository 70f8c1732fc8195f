"""DEC and IDEC on tiny pictures and vectors."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coded_kinds import SMALL, layouts, own_groups, step_without_waiting, true_pairs
from drawn_kinds import Curve, clouds, honoured
from samekind.clusterers.deep.dec import DEC, IDEC
from samekind.clusterers.deep.pcl import PCL
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.training.progress import Cancelled, Monitor, TrainingReport


@pytest.mark.parametrize("method", [DEC, IDEC])
def test_half_of_the_steps_learn_codes_and_the_losses_fall(method: Any) -> None:
    images, _ = layouts()
    curve = Curve()
    model = method(3, steps=24, monitor=curve.monitor, random_state=0, **SMALL).fit(images)
    assert curve.fell("reconstruction") > 0 and curve.fell("groups") > 0
    assert model._learner._trainer.step == len(curve.told) == 24
    assert model.space_.shape == (72, 10)


def test_answers_are_honoured_but_do_not_train() -> None:
    X, _ = clouds()
    known = true_pairs(np.arange(120) % 2, 40)
    model = DEC(3, random_state=0).fit(X, constraints=known)
    assert honoured(model.labels_, known)
    free = DEC(3, random_state=0).fit(X)
    assert np.array_equal(own_groups(model, X), own_groups(free, X))  # no answers in training


def test_groups_become_surer_than_k_means_left_them() -> None:
    X, _ = clouds()
    short, long = (DEC(3, steps=n, pretraining=0.5, random_state=0).fit(X) for n in (4, 120))
    assert long.membership_.max(axis=1).mean() > short.membership_.max(axis=1).mean() + 0.1


def test_a_refit_keeps_the_codes_and_is_as_good_as_a_first_fit() -> None:
    images, kinds = layouts()
    known = true_pairs(kinds, 20)
    curve = Curve()
    wanted: dict[str, Any] = {"steps": 12, "random_state": 0, **SMALL}
    model = IDEC(2, monitor=curve.monitor, **wanted).fit(images)
    assert len(curve.told) == 12
    model.set_params(n_clusters=3).fit(images, constraints=known)
    assert len(curve.told) == 18  # half of the steps are not done again
    fresh = IDEC(3, **wanted).fit(images, constraints=known)
    np.testing.assert_array_equal(model.labels_, fresh.labels_)
    np.testing.assert_allclose(model.space_, fresh.space_, atol=1e-5)
    again = model.set_params(steps=16).fit(images, constraints=known)
    assert len(curve.told) == 34 and again._learner._trainer.step == 16


def test_with_features_that_are_given_all_steps_go_to_the_groups(tmp_path: Path) -> None:
    images, _ = layouts()
    file = str(tmp_path / "features.safetensors")
    DEC(3, steps=4, random_state=0, **SMALL).fit(images).save_features(file)
    curve = Curve()
    model = DEC(3, start=file, steps=5, monitor=curve.monitor, random_state=0, **SMALL).fit(images)
    assert len(curve.part("groups")) == 5 and not curve.part("reconstruction")
    assert model.space_.shape == (72, 10)


def test_features_of_another_method_are_a_beginning(tmp_path: Path) -> None:
    images, _ = layouts(40)
    file = str(tmp_path / "features.safetensors")
    small = {name: value for name, value in SMALL.items() if name != "learning_rate"}
    PCL(2, profile="fast", first_epochs=1, random_state=0, **small).fit(images).save_features(file)
    assert DEC(2, start=file, steps=2, size=16, device="cpu").fit(images).n_clusters_ <= 2


def test_training_ends_early_when_hardly_any_item_changes() -> None:
    X, _ = clouds()
    curve = Curve()
    DEC(3, tolerance=0.05, monitor=curve.monitor, random_state=0).fit(X)
    assert 60 < len(curve.told) < 120


def test_it_can_be_stopped_in_either_part_and_pickled() -> None:
    images, _ = layouts(40)

    def stop_at(step: int) -> Monitor:
        def report(told: TrainingReport) -> None:
            if told.step == step:
                raise Cancelled("enough")

        return Monitor(report=report, every=1)

    for step in (2, 7):
        model = DEC(3, steps=8, monitor=stop_at(step), random_state=0, **SMALL)
        with pytest.raises(Cancelled):
            model.fit(images)
        copy = pickle.loads(pickle.dumps(model))
        assert np.array_equal(copy.predict(images), model.labels_)
        model.set_params(monitor=None).fit(images, constraints=Constraints(40))
        fresh = DEC(3, steps=8, random_state=0, **SMALL).fit(images)
        np.testing.assert_array_equal(model.labels_, fresh.labels_)


@pytest.mark.parametrize("method", [DEC, IDEC])
def test_a_step_never_waits_for_the_device(method: Any) -> None:
    images, kinds = layouts(40)
    known = true_pairs(kinds, 30)
    step_without_waiting(method(3, steps=2, **SMALL).fit(images, constraints=known))


def test_wrong_parameters_are_refused_in_words() -> None:
    X, _ = clouds(30)
    for wrong, words in (
        ({"hidden": ()}, "at least one unit each"),
        ({"latent": 0}, "latent=0"),
        ({"refresh": 0}, "refresh=0"),
        ({"pretraining": 1.0}, "pretraining=1.0"),
        ({"steps": 0}, "steps=0"),
    ):
        with pytest.raises(InputError, match=words):
            DEC(2, **wrong).fit(X)
