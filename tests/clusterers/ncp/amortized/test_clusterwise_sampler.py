"""Samples of the clusterwise process against the list of all groupings, with and without answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import samekind.clusterers.ncp.amortized.clusterwise_sampler as room
from benchmarks.ncp.exact import all_partitions
from closed_form import honours
from clusterwise_processes import ClosedCCP, Loners, Quarters, X, log_partition, network, points
from samekind.clusterers.ncp.amortized.clusterwise_sampler import ClusterwiseSampler
from samekind.clusterers.ncp.amortized.conditioning import ClusterwiseAnswers
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.samples import Samples
from samekind.constraints import Constraints
from samekind.errors import InputError

Links = list[tuple[int, int, bool]]


def shares(found: Samples, rows: Any) -> Tensor:
    """The weight of each listed grouping among the samples."""
    where = {
        tuple(row): float(w) for row, w in zip(found.labels.tolist(), found.weights, strict=True)
    }
    return torch.tensor([where.get(tuple(row), 0.0) for row in np.asarray(rows).tolist()])


def draw(made: Any, x: Tensor, n: int, seed: int = 0, **wanted: Any) -> Samples:
    chance = torch.Generator().manual_seed(seed)
    (found,) = ClusterwiseSampler(made).sample(x, n, generator=chance, most_scored=0, **wanted)
    return found


@pytest.mark.parametrize("made", [ClosedCCP(), network(latent=0), network(latent=0, kind="acp")])
def test_groupings_are_drawn_as_often_as_their_probability_over_all_orders_says(made: Any) -> None:
    rows = all_partitions(4)
    law = log_partition(made, X, torch.from_numpy(rows.copy())).log_prob.exp()
    S = 20_000
    found = shares(draw(made, X, S), rows)
    assert bool(((found - law).abs() < 5 * (law * (1 - law) / S).sqrt() + 1e-4).all())


CASES: list[tuple[int, Links]] = [
    (4, [(0, 1, True)]),
    (5, [(0, 1, False), (1, 2, False), (0, 2, False)]),
    (6, [(0, 3, True), (3, 5, True), (1, 2, False), (2, 5, False)]),
    (7, [(6, 0, True), (1, 2, True), (0, 1, False), (4, 5, False), (3, 4, True)]),
]


@pytest.mark.parametrize(("n", "links"), CASES)
@pytest.mark.parametrize("resample", [0.0, 0.7])
def test_weighted_samples_follow_the_posterior_given_the_answers(
    n: int, links: Links, resample: float
) -> None:
    made, x = network(latent=0), points(n)
    rows = np.array([row for row in all_partitions(n) if honours(row, links)])
    law = log_partition(made, x, torch.from_numpy(rows)).log_prob.softmax(0)
    together = ClusterwiseAnswers(Constraints.from_links(n, links))
    found = draw(made, x, 30_000, answers=together, resample=resample)
    assert all(honours(row, links) for row in found.labels.numpy())
    error = (shares(found, rows) - law).abs()
    noise = (law * (1 - law) / min(found.n_effective, 3000)).sqrt()
    assert bool((error < 5 * noise + 2e-3).all())


def test_the_mean_weight_is_the_probability_that_the_answers_hold() -> None:
    n, links = CASES[2]
    made, x = network(latent=0), points(n)
    rows = np.array([row for row in all_partitions(n) if honours(row, links)])
    mass = float(log_partition(made, x, torch.from_numpy(rows)).log_prob.exp().sum())
    together = ClusterwiseAnswers(Constraints.from_links(n, links))
    found = draw(made, x, 40_000, answers=together, resample=0.0)
    mean = float((found.log_weight.exp() * found.count).sum() / found.count.sum())
    assert mean == pytest.approx(mass, rel=0.05)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=14),
    st.sampled_from(["sample", "threshold"]),
    st.integers(0, 100),
)
def test_every_sample_honours_every_answer_in_force(
    given_links: Links, join: Any, seed: int
) -> None:
    known = Constraints.from_links(10, [link for link in given_links if link[0] != link[1]])
    chance = torch.Generator().manual_seed(seed)
    (found,) = ClusterwiseSampler(network(), join=join).sample(
        points(10), 5, answers=ClusterwiseAnswers(known), generator=chance, orders=1, draws=1
    )
    for row in found.labels.tolist():
        for a in range(10):
            for b in range(a):
                assert known.same(a, b) in (None, row[a] == row[b])


def test_samples_are_ranked_by_their_probability_over_all_orders() -> None:
    made, chance = network(latent=0), torch.Generator().manual_seed(0)
    (found,) = ClusterwiseSampler(made).sample(points(6), 200, generator=chance)
    exact = log_partition(made, points(6), found.labels).log_prob
    assert torch.allclose(found.log_prob, exact)
    assert bool((found.log_prob.diff() <= 0).all())
    assert len({tuple(row) for row in found.labels.tolist()}) == len(found.labels) > 5


def test_data_sets_of_different_sizes_are_sampled_side_by_side() -> None:
    x = torch.randn(2, 7, 2, dtype=torch.float64)
    mask = torch.arange(7) < torch.tensor([[7], [4]])
    x[~mask] = torch.nan
    chance = torch.Generator().manual_seed(0)
    first, second = ClusterwiseSampler(network()).sample(x, 30, mask=mask, generator=chance)
    assert int(first.count.sum()) == int(second.count.sum()) == 30
    assert bool((second.labels[:, 4:] == 0).all())
    assert bool(torch.isfinite(second.log_prob).all())
    assert int(second.labels.max()) <= 3


def test_points_left_after_the_last_pass_become_groups_of_their_own() -> None:
    sampler = ClusterwiseSampler(Loners(), most_passes=3)
    with pytest.warns(UserWarning, match="After 3 passes"):
        (found,) = sampler.sample(points(9), 4, most_scored=0)
    assert found.labels.tolist() == [list(range(9))]


def test_points_that_are_placed_are_dropped_and_keep_their_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped, drop = [], room._SamplePasses._drop

    def watched(self: Any, kept: Tensor) -> None:
        dropped.append(len(kept))
        drop(self, kept)

    monkeypatch.setattr(room._SamplePasses, "_drop", watched)
    monkeypatch.setattr(room, "CHUNK_POINTS", 7)
    x = points(60)
    found = draw(Quarters(), x, 3)
    quarter = (x[0] > 0).long() @ torch.tensor([1, 2])
    assert torch.equal(found.labels, relabel(quarter[None]))
    assert dropped and min(dropped) < 30


def test_one_point_is_one_group_and_none_is_an_error() -> None:
    (found,) = ClusterwiseSampler(network()).sample(points(1), 3)
    assert found.labels.tolist() == [[0]] and float(found.log_prob[0]) == pytest.approx(0.0)
    with pytest.raises(InputError, match="got 0 samples of 1 points"):
        ClusterwiseSampler(network()).sample(points(1), 0)
    with pytest.raises(InputError, match="one data set at a time"):
        ClusterwiseSampler(network()).sample(
            points(3), 1, answers=ClusterwiseAnswers(Constraints(4))
        )
