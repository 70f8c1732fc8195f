"""Whether the vectors hold the difference that the answers make."""

from __future__ import annotations

import numpy as np
import pytest

from samekind.clusterers.live.estimator import Live
from samekind.clusterers.live.visible import MIN_JUDGED, Visibility
from samekind.constraints import Constraints
from samekind.session.visibility import describe_unseen, unseen_summary

N = 300


def told(kinds, n, seed, wrong=0.0):
    """Place random items beside the first of each kind, some of them wrongly."""
    rng = np.random.default_rng(seed)
    said = np.where(rng.random(N) < wrong, rng.integers(kinds.max() + 1, size=N), kinds)
    first, links = {}, []
    for item in rng.permutation(N)[:n].tolist():
        links += [(item, exemplar, bool(said[item] == kind)) for kind, exemplar in first.items()]
        first.setdefault(said[item], item)
    return Constraints.from_links(N, links)


def drawn(seed, n_kinds, apart):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(n_kinds, size=N)
    X = rng.normal(size=(N, 20)) + apart * rng.normal(size=(n_kinds, 20))[kinds]
    return X.astype(np.float32), kinds


@pytest.mark.parametrize("n_kinds", [2, 5])
def test_a_difference_that_is_not_there_is_mostly_said(n_kinds):
    said = 0
    for seed in range(20):
        X, _ = drawn(seed, n_kinds, apart=1.0)
        nothing = np.random.default_rng(100 + seed).integers(n_kinds, size=N)
        found = Visibility.of(X, told(nothing, 60, seed), None)
        said += not found.is_seen
    assert said >= 14


@pytest.mark.parametrize(("n_kinds", "wrong"), [(2, 0.0), (5, 0.0), (5, 0.2)])
def test_a_difference_that_is_there_is_never_denied(n_kinds, wrong):
    for seed in range(20):
        X, kinds = drawn(seed, n_kinds, apart=1.0)
        assert Visibility.of(X, told(kinds, 60, seed, wrong), None).is_seen


def test_kinds_that_no_line_parts_are_seen_by_their_neighbours():
    rng = np.random.default_rng(0)
    corner = rng.integers(2, size=(N, 2))
    X = (6 * corner + rng.normal(size=(N, 2))).astype(np.float32)
    crossed = corner.sum(axis=1) % 2  # the kinds lie at opposite corners
    assert Visibility.of(X, told(crossed, 60, 0), None).is_seen


def test_few_answers_say_nothing():
    X, kinds = drawn(0, 3, apart=0.0)
    assert Visibility.of(X, told(kinds, MIN_JUDGED - 1, 0), None) is None
    assert Visibility.of(X, Constraints(N), None) is None


def test_the_sentence_follows_the_model():
    X, kinds = drawn(0, 3, apart=1.5)
    nothing = np.random.default_rng(4).permutation(kinds)
    for answered, words in ((kinds, ""), (nothing, "I cannot see this difference yet")):
        model = Live(random_state=0).fit(X, constraints=told(answered, 70, 1))
        sentence = describe_unseen({"unseen": unseen_summary(model)})
        assert sentence.startswith(words) and bool(sentence) == bool(words)
