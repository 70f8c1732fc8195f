"""Corrected: nothing moves but what was answered."""

from __future__ import annotations

from typing import Any

import numpy as np
from test_idc import SMALL, answers, honoured, pictures

from samekind.clusterers.corrected import Corrected
from samekind.clusterers.deep.pcl import PCL
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.constraints import Constraints


def test_only_answered_items_move() -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 90)
    X = rng.normal(size=(90, 4)) + 3 * np.eye(3, 4)[kinds]
    known = answers(kinds, 25)
    before = Corrected(3, random_state=0).fit(X)
    after = Corrected(3, random_state=0).fit(X, constraints=known)
    still = np.setdiff1d(np.arange(90), known.touched)
    pairs = set(zip(before.labels_[still], after.labels_[still], strict=True))
    assert len(pairs) == 3, "groups may be numbered anew, but no other item leaves its group"
    assert honoured(after.labels_, known)
    assert np.array_equal(after.predict(X[still]), after.labels_[still])


def test_without_answers_it_is_k_means() -> None:
    X = np.random.default_rng(1).normal(size=(50, 3))
    model = Corrected(4, random_state=0).fit(X)
    plain = KMeans(4, random_state=model._learner.seed).fit(X)
    assert len(set(zip(model.labels_, plain.labels_, strict=True))) == 4


def test_answers_that_tell_more_kinds_apart_than_there_are_groups_open_new_ones() -> None:
    X = np.random.default_rng(1).normal(size=(10, 2))
    known = Constraints.from_links(10, [(0, 1, False), (1, 2, False), (0, 2, False)])
    assert honoured(Corrected(2, random_state=0).fit(X, constraints=known).labels_, known)


def test_pictures_are_grouped_by_the_frozen_network_of_a_file(tmp_path: Any) -> None:
    images, half = pictures()
    file = str(tmp_path / "features.safetensors")
    PCL(2, profile="fast", first_epochs=1, batch_size=16, **SMALL).fit(images).save_features(file)
    known = answers(half, 20)
    model = Corrected(2, start=file, size=8, device="cpu", random_state=0)
    before = model.fit(images).space_.copy()
    model.fit(images, constraints=known)
    assert honoured(model.labels_, known)
    assert np.array_equal(before, model.space_), "nothing was trained"
