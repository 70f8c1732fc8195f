"""K-means on the device: the same groups as scikit-learn's on easy data, and safe on hard data."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from samekind.errors import InputError
from samekind.training import device_kmeans
from samekind.training.device_kmeans import cosine_kmeans, nearest


def bundles(k: int = 6, each: int = 40, d: int = 12, seed: int = 0) -> torch.Tensor:
    """Vectors of any length around k directions at right angles."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.eye(k, d), each, axis=0) + rng.normal(0, 0.08, (k * each, d))
    return torch.from_numpy(rows * rng.uniform(0.5, 5, (k * each, 1))).float()


def test_it_finds_the_groups_that_scikit_learn_finds_on_unit_vectors() -> None:
    x = bundles()
    found = cosine_kmeans(x, 6, seed=3)
    unit = torch.nn.functional.normalize(x, dim=1).numpy()
    wanted = KMeans(6, n_init=5, random_state=0).fit(unit)
    assert adjusted_rand_score(wanted.labels_, found.labels.numpy()) == 1.0
    theirs = wanted.cluster_centers_ / np.linalg.norm(wanted.cluster_centers_, axis=1)[:, None]
    best = (theirs @ found.centres.numpy().T).max(axis=1)
    np.testing.assert_allclose(best, 1.0, atol=1e-5)


def test_labels_cosines_and_centres_belong_together() -> None:
    x = torch.randn(300, 5, generator=torch.Generator().manual_seed(0))
    found = cosine_kmeans(x, 7, seed=1)
    unit = torch.nn.functional.normalize(x, dim=1)
    table = unit @ found.centres.T
    assert torch.equal(found.labels, table.argmax(dim=1))
    assert found.cosine == pytest.approx(table.amax(dim=1).mean().item(), abs=1e-6)
    np.testing.assert_allclose(found.centres.norm(dim=1), 1.0, atol=1e-6)
    assert len(found.labels.unique()) == 7


def test_pieces_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    x = bundles(seed=1)
    whole = cosine_kmeans(x, 6, seed=2)
    monkeypatch.setattr(device_kmeans, "PIECE", 6 * 17)
    pieces = cosine_kmeans(x, 6, seed=2)
    assert torch.equal(whole.labels, pieces.labels)
    np.testing.assert_allclose(whole.centres, pieces.centres, atol=1e-5)


def test_a_seed_repeats_and_more_starts_are_never_looser() -> None:
    x = torch.randn(200, 4, generator=torch.Generator().manual_seed(5))
    one, again = cosine_kmeans(x, 9, seed=4), cosine_kmeans(x, 9, seed=4)
    assert torch.equal(one.labels, again.labels) and one.cosine == again.cosine
    assert cosine_kmeans(x, 9, seed=4, n_init=6).cosine >= one.cosine


def test_fewer_different_vectors_than_groups_and_zeros_do_no_harm() -> None:
    x = torch.cat([torch.zeros(3, 2), torch.ones(4, 2), -torch.ones(4, 2)])
    found = cosine_kmeans(x, 5, seed=0)
    assert torch.isfinite(found.centres).all() and found.labels.max() < 5
    assert found.labels[3] != found.labels[-1]
    assert cosine_kmeans(torch.ones(1, 3), 1).labels.tolist() == [0]


def test_an_empty_group_takes_the_farthest_vector() -> None:
    x = torch.nn.functional.normalize(torch.tensor([[1.0, 0], [1, 0.1], [1, 0.2], [0, 1]]), dim=1)
    centres = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    labels, cosine = nearest(x, centres)
    assert labels.tolist() == [0, 0, 0, 0]
    moved = device_kmeans._centres(x, labels, cosine, centres)
    np.testing.assert_allclose(moved[1], x[3], atol=1e-6)


@pytest.mark.parametrize("k", [0, 5])
def test_impossible_numbers_of_groups_are_refused(k: int) -> None:
    with pytest.raises(InputError, match="from 1 to n"):
        cosine_kmeans(torch.ones(4, 2), k)


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="not finite"):
        cosine_kmeans(torch.tensor([[1.0, float("nan")], [1.0, 2.0]]), 1)
