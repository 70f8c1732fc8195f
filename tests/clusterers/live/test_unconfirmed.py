"""Items that nobody named in a grid count less, and many mistakes make every answer count less."""

from __future__ import annotations

import numpy as np

from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.orientation import MANY_ERRORS, Reliability
from samekind.constraints import Constraints
from samekind.questions import Answer, OddOnes, SamePair


def test_an_overlooked_item_of_a_grid_spreads_less_than_a_named_one() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(80) % 2
    X = rng.normal(size=(80, 6)) + 3 * np.eye(2, 6)[kinds]
    placed = [SamePair(0, item) for item in range(1, 30)]
    right = [Answer(k, q, "same" if kinds[q.b] == 0 else "different") for k, q in enumerate(placed)]
    overlooked = (41, 43, 45, 47)  # all of the other kind than item 0
    grid = [*right, Answer(99, OddOnes((0,), overlooked), "none")]
    named = [*right, *(Answer(k, SamePair(0, k), "same") for k in overlooked)]
    shares = []
    for answers in (grid, named):
        known = Constraints.from_answers(len(X), answers)
        assert set(known.unconfirmed) == (set(overlooked) if answers is grid else set())
        model = Live(random_state=0).fit(X, constraints=known)
        rest = np.setdiff1d(np.flatnonzero(kinds == 1), [*range(30), *overlooked])
        shares.append(model.membership_[rest, model.labels_[0]].mean())
    assert shares[0] < shares[1]


def test_answers_are_doubted_one_by_one_only_where_many_are_wrong() -> None:
    right = np.array([1.0, 0.6, 0.2, 0.01])
    none = np.zeros(4, dtype=np.intp)

    def weight(error: float) -> list[float]:
        found = Reliability(none, none, right, right, none, none, error)
        return np.asarray(found.weight).round(6).tolist()

    assert weight(MANY_ERRORS[0]) == [1.0, 1.0, 1.0, 0.01]
    assert weight(MANY_ERRORS[1]) == right.tolist()
    assert weight(sum(MANY_ERRORS) / 2)[1] == 0.8
