"""NCP as an estimator: groups, their posterior, answers, samples of large sets, own weights."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse

from samekind.clusterers.ncp.amortized.generators import GaussianMixtures
from samekind.clusterers.ncp.amortized.network import Sizes
from samekind.clusterers.ncp.draws import stratified
from samekind.clusterers.ncp.estimator import NCP
from samekind.clusterers.ncp.weights import network_of, shipped
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.evaluation import ari

SMALL = Sizes(
    inputs=2, features=16, width=16, h_outputs=16, g_outputs=16, encoder_layers=1, g_layers=1,
    f_layers=1,
)  # fmt: skip


def clouds(n: int, kinds: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Round clouds of unit width on a grid, twelve widths apart."""
    truth = np.arange(n) % kinds
    centres = 12.0 * np.stack([np.arange(kinds) % 2, np.arange(kinds) // 2], axis=1)
    return np.random.default_rng(seed).normal(size=(n, 2)) + centres[truth], truth


def pairs(known: Constraints) -> list[tuple[int, int, bool]]:
    links = known.links(implied=True)
    return list(zip(links.a.tolist(), links.b.tolist(), links.same.tolist(), strict=True))


def test_the_number_of_groups_need_not_be_given() -> None:
    for kinds in (2, 3, 4):
        X, truth = clouds(60, kinds, seed=kinds)
        model = NCP(random_state=0).fit(X)
        assert ari(truth, model.labels_) == 1
        law = model.n_clusters_posterior_
        assert law[kinds] > 0.2 and law[:kinds].sum() < 0.01


def test_what_is_told_of_the_posterior_fits_together() -> None:
    X, _ = clouds(40)
    model = NCP(random_state=0).fit(X)
    co, law = model.co_membership_, model.n_clusters_posterior_
    assert law.sum() == pytest.approx(1) and law[0] == 0
    np.testing.assert_allclose(co, co.T, atol=1e-6)
    assert (np.diag(co) == 1).all() and co.min() >= 0 and co.max() <= 1 + 1e-6
    items, labels, weight = model.draws_
    by_hand = ((labels[:, :, None] == labels[:, None]) * weight[:, None, None]).sum(0)
    np.testing.assert_allclose(co, by_hand, atol=1e-5)
    assert items.tolist() == list(range(40)) and weight.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1, atol=1e-5)
    assert model.log_prob_ <= 0 and model.log_prob_spread_ >= 0


def test_the_groups_are_the_most_probable_ones_over_many_orders() -> None:
    X, truth = clouds(45)
    model = NCP(estimate="probable", random_state=0).fit(X)
    own = model.score_partition(X, model.labels_)
    rng = np.random.default_rng(1)
    for _ in range(3):
        other = truth.copy()
        moved = rng.choice(45, 4, replace=False)
        other[moved] = (other[moved] + 1) % 3
        assert model.score_partition(X, other) < own
    assert model.score_partition(X, model.labels_ + 7) == pytest.approx(own, abs=1e-4)


def test_probabilities_of_all_groupings_of_four_items_add_up_to_one() -> None:
    from benchmarks.ncp.exact import all_partitions

    X = np.random.default_rng(0).normal(size=(4, 3))
    model = NCP(random_state=0)
    total = sum(np.exp(model.score_partition(X, row)) for row in all_partitions(4))
    assert total == pytest.approx(1, abs=1e-4)


def test_draws_come_as_often_as_their_probability_says() -> None:
    X = np.array([[0.0, 0], [1, 0], [2.5, 0], [6, 0]])
    model = NCP(random_state=0, orders=16)
    drawn = model.sample_posterior(X, 4000)
    assert drawn.shape == (4000, 4) and not hasattr(model, "labels_")
    rows, count = np.unique(drawn, axis=0, return_counts=True)
    for row, share in zip(rows, count / 4000, strict=True):
        if share > 0.05:
            assert share == pytest.approx(np.exp(model.score_partition(X, row)), abs=0.05)


def test_every_draw_honours_every_answer() -> None:
    X, truth = clouds(50, seed=3)
    rng = np.random.default_rng(0)
    told = truth.copy()
    told[truth == 2] = 3 * rng.integers(0, 2, (truth == 2).sum())  # a cloud that is torn apart
    chosen = rng.choice(50, (15, 2))
    links = [(int(a), int(b), bool(told[a] == told[b])) for a, b in chosen if a != b]
    known = Constraints.from_links(50, links)
    model = NCP(random_state=0).fit(X, constraints=known)
    for labels in (*model.draws_.labels, *model.sample_posterior(X, 20, constraints=known)):
        assert all((labels[a] == labels[b]) == same for a, b, same in pairs(known))
    for a, b, same in pairs(known):
        assert model.co_membership_[a, b] == pytest.approx(float(same), abs=1e-5)


def test_contradictory_answers_are_left_to_the_constraints() -> None:
    X, _ = clouds(30)
    known = Constraints.from_links(30, [(0, 1, False), (1, 2, True), (0, 2, True)])
    assert known.conflicts
    labels = NCP(random_state=0).fit(X, constraints=known).labels_
    assert labels[0] != labels[1] and labels[1] == labels[2]


def test_the_same_seed_gives_the_same_posterior() -> None:
    X, _ = clouds(40)
    one, other = (NCP(n_samples=16, random_state=4).fit(X) for _ in range(2))
    assert np.array_equal(one.labels_, other.labels_)
    assert np.array_equal(one.co_membership_, other.co_membership_)
    copied = pickle.loads(pickle.dumps(one))
    assert np.array_equal(copied.predict(X), one.predict(X))


def test_other_items_join_the_group_of_their_like() -> None:
    X, truth = clouds(120)
    model = NCP(random_state=0).fit(X[:60])
    found = model.predict(X[60:])
    assert ari(truth[60:], found) > 0.8
    assert np.array_equal(found[:5], np.concatenate([model.predict(x[None]) for x in X[60:65]]))


def test_of_a_large_set_a_sample_is_placed_and_a_warning_says_so() -> None:
    X, truth = clouds(900)
    links = [(k, k + 3, True) for k in range(0, 60, 9)]
    known = Constraints.from_links(900, links)
    model = NCP(max_placed=120, n_samples=32, random_state=0)
    with pytest.warns(UserWarning, match="900 items are too many.*sample of 120"):
        model.fit(X, constraints=known)
    assert ari(truth, model.labels_) > 0.8
    assert all(model.labels_[a] == model.labels_[b] for a, b, _ in links)
    assert set(known.touched) <= set(model.draws_.items)
    assert issparse(model.co_membership_) and model.co_membership_.shape == (900, 900)
    assert model.co_membership_.nnz <= 120**2 + 900
    assert (model.co_membership_.diagonal() == 1).all()
    with pytest.warns(UserWarning, match="sample of 120"):
        drawn = model.sample_posterior(X, 3)
    assert drawn.shape == (3, 900) and all(ari(truth, row) > 0.7 for row in drawn)


def test_a_stratified_sample_holds_what_it_must_and_something_of_every_region() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(5000, 2)), rng.normal(size=(5, 2)) + 60])
    must = np.array([7, 8, 4000])
    rows = stratified(x, must, 100, rng)
    assert len(rows) <= 100 and set(must) <= set(rows) and (np.diff(rows) > 0).all()
    assert (rows >= 5000).any(), "five items far away are not missed"
    assert stratified(x, np.arange(300), 100, rng).tolist() == list(range(300))


def test_the_shipped_weights_are_small_and_know_how_they_were_trained() -> None:
    assert sum(shipped(name).stat().st_size for name in ("pointwise", "clusterwise")) < 3_000_000
    network, is_calibrated, _ = network_of(None, "cpu")
    assert is_calibrated and network.sizes.inputs == 16
    assert network_of(None, "cpu").network is network, "read once"


def test_points_in_the_plane_are_grouped_by_weights_of_their_own() -> None:
    X, _ = clouds(30)
    assert X.shape[1] == 2
    by_default = NCP(n_samples=8, random_state=0).fit(X)
    plane, general = (
        NCP(n_samples=8, weights=name, random_state=0).fit(X) for name in ("plane", "general")
    )
    assert by_default.log_prob_ == plane.log_prob_ != general.log_prob_
    assert NCP(n_samples=8, random_state=0).fit(X.tolist()).log_prob_ == plane.log_prob_
    wide = np.c_[X, np.zeros(30)]
    assert NCP(n_samples=8, random_state=0).fit(wide).log_prob_ != plane.log_prob_


def test_own_weights_are_trained_written_and_used(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    data = GaussianMixtures(dim=2, points=(4, 12), max_groups=4)
    model = NCP.train(data, path, steps=3, sizes=SMALL, batch=4, device="cpu")
    assert path.is_file() and model.get_params()["weights"] == str(path)
    X, _ = clouds(20)
    assert model.set_params(random_state=0).fit(X).labels_.shape == (20,)
    other = NCP(weights=path, random_state=0, device="cpu").fit(X)
    assert np.array_equal(other.labels_, model.labels_)
    assert network_of(path, "cpu").calibrated


def test_weights_trained_on_vectors_as_they_are_are_used_so(tmp_path: Path) -> None:
    path = tmp_path / "plain.safetensors"
    data = GaussianMixtures(dim=2, points=(4, 12), max_groups=4)
    model = NCP.train(data, path, steps=2, sizes=SMALL, batch=4, calibrate=False, device="cpu")
    X, _ = clouds(20)
    np.testing.assert_allclose(model.fit(X).space_, X, rtol=1e-5)
    with pytest.raises(InputError, match=r"Expected vectors of 2 numbers.*got 3"):
        model.fit(np.zeros((5, 3)))


def test_the_central_grouping_is_wrong_about_the_fewest_pairs() -> None:
    X = np.random.default_rng(2).normal(size=(30, 2)) * [3, 1]
    models = {name: NCP(estimate=name, random_state=0).fit(X) for name in ("probable", "central")}
    co = models["central"].co_membership_

    def wrong(labels: np.ndarray) -> float:
        return float(np.abs((labels[:, None] == labels) - co).sum())

    central = wrong(models["central"].labels_)
    assert central <= wrong(models["probable"].labels_) + 1e-3
    assert central <= min(wrong(row) for row in models["central"].draws_.labels) + 1e-3


def test_doubt_is_no_reason_for_a_single_group() -> None:
    from sklearn.datasets import load_digits

    X = load_digits().data[:150]
    model = NCP(random_state=0).fit(X)
    assert model.co_membership_.mean() < 0.5, "most pairs are apart in most draws"
    assert model.n_clusters_ > 4
    # All of the probability of one group lies on one grouping, so that is the most probable one.
    one_group = model.score_partition(X, np.zeros(150))
    assert one_group > model.score_partition(X, model.labels_)
