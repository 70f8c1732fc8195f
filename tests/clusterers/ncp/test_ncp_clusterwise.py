"""NCP that takes out one whole group per pass: the same attributes, promises and errors."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import issparse

from samekind.clusterers.ncp import clusterwise as room
from samekind.clusterers.ncp.amortized.clusterwise import ClusterwiseNetwork, ClusterwiseSizes
from samekind.clusterers.ncp.amortized.clusterwise_sampler import ClusterwiseSampler, _belonging
from samekind.clusterers.ncp.amortized.weights import save
from samekind.clusterers.ncp.clusterwise import n_drawn
from samekind.clusterers.ncp.draws import Draws
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.weights import network_of, shipped, variant_of
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.evaluation import ari


def clouds(n: int, kinds: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Round clouds of unit width, fourteen widths apart."""
    truth = np.arange(n) % kinds
    return np.random.default_rng(seed).normal(size=(n, 4)) + 14 * np.eye(kinds, 4)[truth], truth


def clusterwise(**settings: object) -> NCP:
    return NCP(variant="clusterwise", random_state=0, device="cpu", **settings)  # type: ignore[arg-type]


def test_groups_and_their_posterior_fit_together() -> None:
    X, truth = clouds(120)
    model = clusterwise(n_samples=16).fit(X)
    assert model.variant_ == "clusterwise" and ari(truth, model.labels_) > 0.8
    assert model.n_clusters_posterior_.sum() == pytest.approx(1)
    items, labels, weight = model.draws_
    by_hand = ((labels[:, :, None] == labels[:, None]) * weight[:, None, None]).sum(0)
    np.testing.assert_allclose(model.co_membership_, by_hand, atol=1e-5)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1, atol=1e-5)
    assert model.membership_.shape == (120, model.n_clusters_) and len(items) == 120
    assert np.isfinite(model.log_prob_)


def test_every_item_of_a_large_set_is_grouped_with_fewer_draws_and_a_warning_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (n_drawn(128, 50), n_drawn(128, 10_000), n_drawn(128, 10**6)) == (128, 20, 8)
    monkeypatch.setattr(room, "MAX_DRAWN_ITEMS", 3_000)
    X, truth = clouds(300)
    with pytest.warns(UserWarning, match=r"300 items are many.*10 draws are made instead of 32"):
        model = clusterwise(n_samples=32, max_placed=100).fit(X)
    assert ari(truth, model.labels_) > 0.8
    assert model.draws_.labels.shape[1] == 300
    assert issparse(model.co_membership_) and model.co_membership_.nnz <= 100**2 + 300


def test_every_draw_and_the_groups_honour_every_answer() -> None:
    X, _ = clouds(60)
    rng = np.random.default_rng(0)
    told = rng.integers(0, 3, 60)  # has nothing to do with the clouds
    pairs = [(int(a), int(b)) for a, b in rng.choice(60, (20, 2)) if a != b]
    known = Constraints.from_links(60, [(a, b, bool(told[a] == told[b])) for a, b in pairs])
    for estimate in ("central", "probable"):
        model = clusterwise(n_samples=8, estimate=estimate).fit(X, constraints=known)
        drawn = model.sample_posterior(X, 5, constraints=known)
        for labels in (model.labels_, *model.draws_.labels, *drawn):
            assert all((labels[a] == labels[b]) == (told[a] == told[b]) for a, b in pairs)


def test_other_items_join_the_group_of_their_like_each_by_itself() -> None:
    X, truth = clouds(240)
    model = clusterwise(n_samples=8).fit(X[:120])
    found = model.predict(X[120:])
    assert ari(truth[120:], found) > 0.8
    assert np.array_equal(found[:5], np.concatenate([model.predict(x[None]) for x in X[120:125]]))
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copied.predict(X), model.predict(X))


def test_the_same_seed_gives_the_same_groups_and_so_many_draws_as_asked_for() -> None:
    X, _ = clouds(50)
    one, other = (clusterwise(n_samples=8).fit(X) for _ in range(2))
    assert np.array_equal(one.labels_, other.labels_)
    assert np.array_equal(one.draws_.labels, other.draws_.labels)
    assert one.sample_posterior(X, 7).shape == (7, 50)


def test_the_true_grouping_is_more_probable_than_a_shuffled_one() -> None:
    X, truth = clouds(60)
    model, other = clusterwise(), np.random.default_rng(0).permutation(truth)
    assert model.score_partition(X, truth) > model.score_partition(X, other) + 10


@pytest.mark.parametrize("X", [np.array([[1.0, 2.0]]), np.full((9, 3), 4.0)], ids=["one", "alike"])
def test_one_item_and_items_that_are_all_alike_are_one_group(X: np.ndarray) -> None:
    model = clusterwise(n_samples=8).fit(X)
    assert not model.labels_.any() and model.predict(X).tolist() == [0] * len(X)


def test_weights_say_which_variant_they_are_of() -> None:
    path = shipped("clusterwise")
    assert variant_of(path) == "clusterwise" and variant_of(shipped()) == "pointwise"
    X, _ = clouds(30)
    assert NCP(weights=path, n_samples=4, random_state=0).fit(X).variant_ == "clusterwise"
    assert NCP(n_samples=4, random_state=0).fit(X).variant_ == "pointwise"
    with pytest.raises(InputError, match="the variant 'pointwise', got 'clusterwise'"):
        NCP(weights=path, variant="pointwise").fit(X)
    with pytest.raises(InputError, match="the variant 'clusterwise', got 'pointwise'"):
        NCP(weights=shipped(), variant="clusterwise").fit(X)


@pytest.mark.parametrize("kind", ["acp-s", "acp"])
def test_weights_with_attention_group_items_and_place_further_ones(
    kind: str, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    network = ClusterwiseNetwork(
        ClusterwiseSizes(kind=kind, inputs=4, width=16, features=16, inducing=4)  # type: ignore[arg-type]
    )
    path = tmp_path / "attention.safetensors"
    save(path, network, {"calibrated": True})
    assert variant_of(path) == kind
    X, _ = clouds(60)
    model = NCP(weights=path, n_samples=8, random_state=0, device="cpu").fit(X[:40])
    assert model.variant_ == kind and len(model.draws_.labels) > 1
    # Items that were fitted see just what they saw then, and others change nothing for them.
    share = model._predictor(network, model._calibration(X))
    assert np.allclose(share[:40], model._predictor(network, model._calibration(X[:40])), atol=1e-5)
    assert np.allclose(
        share[50:51], model._predictor(network, model._calibration(X[50:51])), atol=1e-5
    )
    with pytest.raises(InputError, match=f"the variant 'clusterwise', got '{kind}'"):
        NCP(weights=path, variant="clusterwise").fit(X)


@pytest.mark.parametrize("kind", ["ccp", "acp-s", "acp"])
def test_a_fitted_item_is_scored_as_in_a_first_pass_over_all_items(kind: str) -> None:
    torch.manual_seed(0)
    network = ClusterwiseNetwork(
        ClusterwiseSizes(kind=kind, inputs=4, width=16, features=16, inducing=4)  # type: ignore[arg-type]
    )
    x = torch.randn(1, 12, 4)
    labels = np.arange(12) % 2
    found = room.ClusterwisePredictor.of(network, x, labels, torch.Generator().manual_seed(1))
    share = found(network, x[0].numpy())
    member = torch.from_numpy(labels == np.arange(2)[:, None])
    # The same anchors, drawn one group after the other.
    chance = torch.Generator().manual_seed(1)
    odds = torch.cat([_belonging(network, network.items(x), row[None], chance) for row in member])
    assert np.allclose(share, odds.T.softmax(1).detach().numpy(), atol=1e-5)


def test_group_numbers_beyond_sixteen_bits_are_kept() -> None:
    class Many:
        labels = torch.tensor([[0, 40_000], [0, 0]])
        weights = torch.tensor([0.25, 0.75])

    draws = Draws.of(np.arange(2), Many())  # type: ignore[arg-type]
    assert draws.labels.max() == 40_000


def test_samples_that_run_out_of_passes_warn_and_others_do_not() -> None:
    network = network_of(None, "cpu", "clusterwise").network
    X = torch.randn(1, 200, network.sizes.inputs, generator=torch.Generator().manual_seed(0))
    chance = torch.Generator().manual_seed(0)
    with pytest.warns(UserWarning, match="After 1 passes . of 4 samples still had up to"):
        ClusterwiseSampler(network, most_passes=1).sample(X, 4, generator=chance, most_scored=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ClusterwiseSampler(network).sample(X, 4, generator=chance, most_scored=0)
