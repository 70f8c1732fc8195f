"""Polish: a network that begins with the groups of the live learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from test_idc import SMALL, answers, honoured, pictures

from samekind.clusterers.deep.pcl import PCL
from samekind.clusterers.deep.polish import Polish
from samekind.clusterers.live.estimator import Live
from samekind.training.finetune import Tuning

QUICK: dict[str, Any] = {"unlabelled": 16, "labelled": 8, "epochs": 25, "average": 0.9}


def test_it_learns_what_was_asked_about_and_carries_it_to_other_pictures() -> None:
    images, half = pictures(60)
    known = answers(half, 70)
    model = Polish(**QUICK, **SMALL).fit(images, constraints=known)
    assert honoured(model.labels_, known)
    other, kinds = pictures(200)
    right = (model.predict(other[60:]) == kinds[60:]).mean()
    assert max(right, 1 - right) > 0.8


def test_without_training_it_has_the_groups_of_live_on_the_same_features(tmp_path: Any) -> None:
    images, half = pictures(60)
    known = answers(half, 200)
    file = str(tmp_path / "features.safetensors")
    PCL(2, profile="fast", first_epochs=3, batch_size=16, **SMALL).fit(images).save_features(file)
    model = Polish(start=file, **{**QUICK, "epochs": 0}, size=8, device="cpu", random_state=0)
    model.fit(images, constraints=known)
    unit = model.space_ / np.linalg.norm(model.space_, axis=1, keepdims=True)
    live = Live(random_state=0).fit(unit, constraints=known)
    assert model.n_clusters_ == live.n_clusters_
    table = np.zeros((model.n_clusters_, live.n_clusters_))
    np.add.at(table, (model.labels_, live.labels_), 1)
    assert table.max(axis=1).sum() >= 0.9 * len(images)


def test_the_number_of_groups_can_be_given_and_training_is_the_gentle_one() -> None:
    images, half = pictures(60)
    known = answers(half, 70)
    model = clone(Polish(3, **{**QUICK, "epochs": 1}, **SMALL)).fit(images, constraints=known)
    tuning = model._learner.setting.tuning
    assert isinstance(tuning, Tuning) and tuning.align
    assert (tuning.learning_rate, tuning.backbone_rate) == (0.01, 1.0)
    assert model.n_clusters_ <= 3 and honoured(model.labels_, known)
