"""What the live learner hands out places other items exactly as it does itself."""

from __future__ import annotations

import numpy as np
import pytest

from piles import points
from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.portable import PortableHead, portable_head
from samekind.constraints import Constraints
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth


def pile(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    kinds = np.arange(n) % 3
    X = rng.normal(size=(n, 40)) + 3 * np.eye(3, 40)[kinds]
    return X.astype(np.float32), kinds


def told(kinds: np.ndarray, count: int) -> Constraints:
    links = [(k, 0, bool(kinds[k] == kinds[0])) for k in range(1, count)]
    links += [(k, 1, bool(kinds[k] == kinds[1])) for k in range(2, count)]
    return Constraints.from_links(len(kinds), links)


@pytest.mark.parametrize("n", [300, 4200])  # all items are reference items; a head decides
def test_its_own_items_come_back_and_others_go_where_it_puts_them(n: int) -> None:
    X, kinds = pile(n)
    model = Live(random_state=0).fit(X, constraints=told(kinds, 40))
    head = PortableHead.from_state(model.portable().state())
    assert np.array_equal(head.predict(X).labels, model.labels_)
    other = np.random.default_rng(1).normal(size=(250, 40)).astype(np.float32) + X[:250]
    assert (head.predict(other).labels == model.predict(other)).mean() >= 0.99
    assert bool(head.weight.size) == (n > 4000)


def test_what_lies_far_from_everything_fits_no_group_under_a_linear_head() -> None:
    X, kinds = pile(4200)
    head = Live(random_state=0).fit(X, constraints=told(kinds, 40)).portable()
    assert (head.strangeness(head.predict(X)) <= 1).mean() > 0.95
    far = np.random.default_rng(2).normal(size=(50, 40)) * 30
    assert (head.strangeness(head.predict(far)) > 1).all()


def test_a_linear_head_whose_parts_do_not_fit_is_refused() -> None:
    X, kinds = pile(4200)
    state = Live(random_state=0).fit(X, constraints=told(kinds, 40)).portable().state()
    for broken in (
        {**state, "weight": state["weight"][:-1]},
        {**state, "bias": state["bias"][:-1]},
        {**state, "bias": state["bias"] * np.nan},
    ):
        with pytest.raises(ValueError, match="do not fit"):
            PortableHead.from_state(broken)


@pytest.mark.parametrize("borders", ["straight", "spread"])
def test_a_session_exports_what_it_learnt_although_it_takes_the_memberships(borders: str) -> None:
    X, kinds = pile(4200)
    session = Session(points(4200), X, clusterer=Live(borders=borders, random_state=0), seed=0)
    run(session, Truth(kinds), 20)
    session.refit()
    assert not hasattr(session.model, "membership_")
    head, note = portable_head(session.model, session.X)
    assert note == ""
    assert np.array_equal(head.predict(X).labels, session.model.labels_)
