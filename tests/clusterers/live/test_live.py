"""The live learner: few answers, wrong ones among them, many items."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.clusterers.linear_head import LinearHead
from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.heads import distilled_head
from samekind.clusterers.live.orientation import MAX_EXACT_WITNESSES, Reliability, _nearest_others
from samekind.clusterers.live.seeds import Seeds, unseen_share
from samekind.constraints import Constraints
from samekind.evaluation import acc, ari


def blobs(
    n: int, kinds: int, *, seed: int = 0, beside: float = 3.0
) -> tuple[np.ndarray, np.ndarray]:
    """Kinds far apart in a few of twenty directions; what lies beside spreads in the others."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % kinds
    X = beside * rng.normal(size=(n, 20))
    X[:, :kinds] = 0.5 * rng.normal(size=(n, kinds)) + 4 * np.eye(kinds)[truth]
    return X.astype(np.float32), truth


def placed(truth: np.ndarray, items: np.ndarray) -> list[tuple[int, int, bool]]:
    """Links of items to the first of their kind, and between the first ones."""
    first = {int(k): int(np.flatnonzero(truth == k)[0]) for k in np.unique(truth)}
    firsts = list(first.values())
    links = [(a, b, False) for i, a in enumerate(firsts) for b in firsts[i + 1 :]]
    return links + [(int(i), first[int(truth[i])], True) for i in items if int(i) not in firsts]


def test_items_beyond_the_sample_are_placed_by_the_head() -> None:
    X, truth = blobs(6000, 3)
    known = Constraints.from_links(6000, placed(truth, np.arange(60, 120)))
    model = Live(n_reference=1000, random_state=0).fit(X, constraints=known)
    assert model._head is not None
    assert acc(truth, model.labels_) > 0.97
    other, kinds = blobs(500, 3, seed=5)
    assert acc(kinds, model.predict(other)) > 0.97
    np.testing.assert_allclose(model.membership_.sum(axis=1), 1, atol=1e-3)


def test_one_wrong_answer_stays_alone_and_is_found() -> None:
    X, truth = blobs(600, 3)
    told = truth.copy()
    told[50] = (truth[50] + 1) % 3
    known = Constraints.from_links(600, placed(told, np.arange(3, 90)))
    model = Live(random_state=0).fit(X, constraints=known)
    assert acc(truth, model.labels_) > 0.98, "its neighbours are not drawn along"
    doubts = model.reliability_
    assert doubts.rows[doubts.doubtful()].tolist() == [50]
    place = int(np.flatnonzero(doubts.rows == 50)[0])
    assert doubts.told[place] != doubts.likely[place] and doubts.others[place] >= 10
    assert model.labels_[50] == model.labels_[told.tolist().index(told[50])], "it is honoured"


def test_right_answers_are_not_doubted() -> None:
    X, truth = blobs(600, 3)
    known = Constraints.from_links(600, placed(truth, np.arange(3, 90)))
    model = Live(random_state=0).fit(X, constraints=known)
    assert not len(model.reliability_.doubtful())
    assert model.reliability_.error < 0.03


@pytest.mark.parametrize("levels", [2, 3, 0])
def test_of_equally_near_answers_the_first_ones_vote(levels: int) -> None:
    rng = np.random.default_rng(levels)
    space = rng.integers(0, levels, (1500, 3)) * 1.0 if levels else rng.normal(size=(1500, 3))
    square = ((space[:, None] - space) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    expected = np.argsort(square, axis=1, kind="stable")[:, :15]
    assert (np.sort(_nearest_others(space, 15)) == np.sort(expected)).all()


def test_the_nearest_of_very_many_answers_are_found_by_products() -> None:
    space = np.random.default_rng(0).normal(size=(5000, 3))
    assert len(space) > MAX_EXACT_WITNESSES
    found = _nearest_others(space, 15)[:50]
    square = ((space[:50, None] - space) ** 2).sum(axis=2)
    square[np.arange(50), np.arange(50)] = np.inf
    assert (np.sort(found) == np.sort(np.argsort(square, axis=1)[:, :15])).all()


def test_with_few_answers_nobody_is_doubted() -> None:
    X, truth = blobs(200, 3)
    told = truth.copy()
    told[20] = (truth[20] + 1) % 3
    seeds = Seeds.from_answers(Constraints.from_links(200, placed(told, np.arange(3, 25))))
    found = Reliability.of(X, X, seeds, np.ones(len(seeds.rows), dtype=bool))
    assert found.right.min() == 1


def test_regions_that_no_answer_has_reached_keep_groups_of_their_own() -> None:
    X, truth = blobs(800, 8, beside=0.5)
    known = Constraints.from_links(800, [(0, 1, False), (1, 2, False), (0, 2, False)])
    model = Live(random_state=0).fit(X, constraints=known)
    assert model.n_clusters_ > 3
    assert ari(truth, model.labels_) > 0.3
    seeds = Seeds.from_answers(known)
    assert unseen_share(seeds) == 1.0
    many = Constraints.from_links(800, placed(truth, np.arange(8, 80)))
    assert unseen_share(Seeds.from_answers(many)) == 0.0
    assert Live(random_state=0).fit(X, constraints=many).n_clusters_ == 8


def test_a_head_for_one_group_says_that_group() -> None:
    X, _ = blobs(3000, 2)
    model = Live(1, n_reference=500, random_state=0).fit(X)
    assert model.n_clusters_ == 1 and set(model.predict(X[:10]).tolist()) == {0}
    assert isinstance(model._head, LinearHead)


def test_while_kinds_are_missing_the_result_keeps_the_plain_groups() -> None:
    X, truth = blobs(800, 8, beside=0.5)
    firsts = [int(np.flatnonzero(truth == k)[0]) for k in range(4)]
    links = [(a, b, False) for i, a in enumerate(firsts) for b in firsts[i + 1 :]]
    plain = Live(random_state=0).fit(X)
    told = Live(random_state=0).fit(X, constraints=Constraints.from_links(800, links))
    assert ari(truth, told.labels_) >= ari(truth, plain.labels_) - 0.02
    assert len({int(told.labels_[i]) for i in firsts}) == 4, "every answer is honoured"


def test_plain_groups_do_not_fade_before_answers_have_come_to_each_of_them() -> None:
    seeds = Seeds(np.arange(6), np.array([0, 0, 1, 1, 2, 3]), 4)
    assert unseen_share(seeds) == 3 / 7
    assert unseen_share(seeds, 12) == 1 - 6 / 18
    met_again = Seeds(np.arange(6), np.array([0, 0, 1, 1, 2, 2]), 3)
    assert unseen_share(met_again, 12) == 0.0, "no kind is alone: there are no more to expect"


def test_many_groups_do_not_drown_in_the_regularisation() -> None:
    rng = np.random.default_rng(0)
    k = 30
    truth = np.arange(3000) % k
    space = rng.normal(size=(3000, 20)) + 3 * rng.normal(size=(k, 20))[truth]
    flat = np.full((3000, k), 1 / k)  # as after spreading: the first group is ahead by a little
    flat[np.arange(3000), truth] += 0.02
    flat /= flat.sum(axis=1, keepdims=True)
    head = distilled_head(space, flat)
    assert (head(space).argmax(axis=1) == truth).mean() > 0.95


def test_the_penalty_of_the_head_does_not_depend_on_the_scale_of_the_items() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(2000) % 8
    space = rng.normal(size=(2000, 20)) + 2 * rng.normal(size=(8, 20))[truth]
    sure = np.eye(8)[truth]
    said = []
    for scale in (1.0, 0.01):
        said.append(distilled_head(scale * space, sure)(scale * space))
    np.testing.assert_allclose(said[0], said[1], atol=0.02)
    assert (said[1].argmax(axis=1) == truth).mean() > 0.95


def test_a_fixed_number_of_groups_is_kept_when_all_kinds_are_known() -> None:
    X, truth = blobs(600, 6, beside=0.5)
    halves = (truth >= 3).astype(np.intp)  # three plain groups for each kind
    known = Constraints.from_links(600, placed(halves, np.arange(20)))
    model = Live(2, random_state=0).fit(X, constraints=known)
    assert model.n_clusters_ == 2
    assert acc(halves, model.labels_) > 0.95
