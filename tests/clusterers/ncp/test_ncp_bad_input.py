"""NCP and what it may be given by mistake."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.network import Sizes
from samekind.clusterers.ncp.estimator import NCP
from samekind.constraints import Constraints
from samekind.errors import InputError, UnknownName


def test_one_item_is_one_group() -> None:
    model = NCP(random_state=0).fit([[1.0, 2.0]])
    assert model.labels_.tolist() == [0] and model.n_clusters_posterior_.tolist() == [0, 1]
    assert model.co_membership_.tolist() == [[1.0]]
    assert model.predict([[5.0, 5.0]]).tolist() == [0]
    assert model.score_partition([[1.0, 2.0]], [3]) == 0
    assert model.sample_posterior([[1.0, 2.0]], 4).tolist() == [[0]] * 4


def test_items_that_are_all_alike_are_one_group_unless_told_otherwise() -> None:
    X = np.full((12, 3), 4.0)
    assert NCP(random_state=0).fit(X).n_clusters_ == 1
    known = Constraints.from_links(12, [(0, 1, False)])
    told = NCP(random_state=0).fit(X, constraints=known)
    assert told.n_clusters_ >= 2 and told.labels_[0] != told.labels_[1]


def test_duplicates_stay_together() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=(20, 2)) + 15 * (np.arange(20) % 2)[:, None]
    labels = NCP(random_state=0).fit(np.repeat(base, 3, axis=0)).labels_.reshape(20, 3)
    assert (labels == labels[:, :1]).all()


def test_constant_features_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + 10 * (np.arange(40) % 2)[:, None]
    wide = np.column_stack([np.full(40, 9.0), X, np.zeros(40)])
    one, other = NCP(random_state=0).fit(X), NCP(random_state=0).fit(wide)
    np.testing.assert_allclose(np.abs(one.space_), np.abs(other.space_), atol=1e-4)
    assert np.array_equal(one.labels_ == one.labels_[0], other.labels_ == other.labels_[0])


def test_more_dimensions_than_the_weights_know_are_cut_to_the_principal_ones() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 3
    X = rng.normal(size=(60, 300)) + 8 * np.eye(3, 300)[truth]
    model = NCP(random_state=0).fit(X)
    assert model.space_.shape == (60, 16) and 0 < model.kept_variance_ < 1
    assert model.predict(X).shape == (60,)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(bad: float) -> None:
    X = np.ones((5, 2))
    X[3, 1] = bad
    model = NCP(random_state=0)
    for use in (model.fit, lambda X: model.sample_posterior(X, 2)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            use(X)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.score_partition(X, np.zeros(5))


def test_a_hundred_thousand_items_are_grouped_from_a_sample() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 100_000)
    X = (rng.normal(size=(100_000, 4)) + 14 * np.eye(3, 4)[truth]).astype(np.float32)
    with pytest.warns(UserWarning, match="100000 items"):
        model = NCP(n_samples=16, max_placed=150, random_state=0).fit(X)
    assert model.labels_.shape == (100_000,) and model.co_membership_.nnz < 130_000
    groups = [np.bincount(model.labels_[truth == k]).max() / (truth == k).sum() for k in range(3)]
    assert min(groups) > 0.9
    with pytest.raises(InputError, match="at most 5000 items, got 100000"):
        model.score_partition(X, truth)


def test_a_set_of_the_largest_allowed_size_gives_no_warning() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NCP(max_placed=30, n_samples=8, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_samples": 0}, "Expected n_samples to be at least 1, got 0"),
        ({"orders": 0}, "Expected orders to be at least 1"),
        ({"max_placed": 0}, "Expected max_placed to be at least 1"),
        ({"weights": "nowhere.safetensors"}, "found none at 'nowhere.safetensors'"),
    ],
)
def test_settings_that_cannot_be_are_named(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        NCP(**setting).fit(np.eye(4))


def test_an_unknown_variant_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"Known: .*pointwise"):
        NCP(variant="pointwize").fit(np.eye(4))


def test_an_unknown_estimate_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="Known: central, probable"):
        NCP(estimate="mean").fit(np.eye(4))


def test_a_file_that_holds_no_weights_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.safetensors"
    path.write_text("not weights")
    with pytest.raises(InputError, match="cannot be read as weights"):
        NCP(weights=path).fit(np.eye(4))


def test_answers_about_another_collection_are_refused() -> None:
    with pytest.raises(InputError, match=r"about 4 items.*about 9 items"):
        NCP().fit(np.eye(4), constraints=Constraints(9))


def test_labels_must_be_one_for_each_item() -> None:
    with pytest.raises(InputError, match="one label for each of 4 items, got labels of shape"):
        NCP().score_partition(np.eye(4), [0, 1])
    with pytest.raises(InputError, match="at least 1 grouping"):
        NCP().sample_posterior(np.eye(4), 0)


def test_training_needs_an_end_and_a_generator_of_vectors(tmp_path: Path) -> None:
    data = GaussianMixtures(dim=2, points=(4, 8), max_groups=3)
    with pytest.raises(InputError, match="either steps or seconds"):
        NCP.train(data, tmp_path / "a.safetensors")
    with pytest.raises(InputError, match="Expected a generator of vectors"):
        NCP.train(object(), tmp_path / "a.safetensors", steps=1)
    with pytest.raises(InputError, match=r"points of 2 numbers.*got 5"):
        NCP.train(data, tmp_path / "a.safetensors", steps=1, sizes=Sizes(inputs=5))
    assert not list(tmp_path.iterdir())
