"""The contract of learning: right answers never make the groups worse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.constraints import Constraints
from samekind.evaluation import ari
from samekind.questions import Answer, OneKind, OwnKind, Question, SamePair, WhichGroup

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Asked = Iterator[Question]

COUNTS = (0, 10, 20)
"""Numbers of answers after which the groups are scored."""
STEP_NOISE, NOISE = 0.05, 0.03
"""A mean score may be lower than ten answers before, and than without answers, by this."""
ITEMS = 120


def check_right_answers_help(make: Callable[[], Any], seeds: Sequence[int] = (0,)) -> None:
    """Check that ten more right answers of any kind lower no mean score, nor do all of them.

    Scores are means over several drawn sets. Random pairs, placements of random items and changes
    by hand are answered truthfully.

    Parameters
    ----------
    make : makes a clusterer; it gets a `random_state` if it takes one.
    seeds : of the sets and the answers.
    """
    drawn = [draw(seed) for seed in seeds for draw in (overlapping, stretched, crossed)]
    start = np.array([_score(make(), X, truth, ()) for X, truth in drawn])
    for way in (pairs, placements, by_hand):
        before = start
        for count in COUNTS[1:]:
            now = np.array(
                [
                    _score(make(), X, truth, _answers(way, truth, count, place))
                    for place, (X, truth) in enumerate(drawn)
                ]
            )
            earlier = ((before, f"{count - 10}", STEP_NOISE), (start, "no", NOISE))
            for then, when, noise in earlier:
                assert now.mean() >= then.mean() - noise, (
                    f"right answers must not make the groups worse: after {count} answers of the "
                    f"kind {way.__name__!r} the mean ARI is {now.mean():.3f}, with {when} answers "
                    f"it was {then.mean():.3f}"
                )
            before = now


def overlapping(seed: int) -> tuple[Floats, Ints]:
    """Four kinds that overlap."""
    rng = np.random.default_rng((seed, 0))
    truth = np.arange(ITEMS) % 4
    return rng.normal(size=(4, 8))[truth] * 1.6 + rng.normal(size=(ITEMS, 8)), truth


def stretched(seed: int) -> tuple[Floats, Ints]:
    """Three long kinds side by side."""
    rng = np.random.default_rng((seed, 1))
    truth = np.arange(ITEMS) % 3
    X = rng.normal(size=(ITEMS, 5))
    X[:, 0] *= 4
    X[:, 1] += 4 * truth
    return X, truth


def crossed(seed: int) -> tuple[Floats, Ints]:
    """Two kinds that cut across three groups which lie far apart."""
    rng = np.random.default_rng((seed, 2))
    group, truth = np.arange(ITEMS) % 3, rng.permutation(np.arange(ITEMS) % 2)
    X = rng.normal(size=(ITEMS, 6))
    X[:, :3] += 7 * np.eye(3)[group]
    X[:, 4] += 4 * truth
    return X, truth


def pairs(truth: Ints, rng: np.random.Generator) -> Asked:
    """Ask about random pairs."""
    while True:
        a, b = rng.choice(len(truth), 2, replace=False).tolist()
        yield SamePair(a, b)


def placements(truth: Ints, rng: np.random.Generator) -> Asked:
    """Ask which of the kinds that came up so far random items belong to."""
    first: dict[int, int] = {}
    for item in rng.permutation(len(truth)).tolist():
        if first:
            yield WhichGroup(item, tuple((head,) for head in first.values()))
        first.setdefault(int(truth[item]), item)


def by_hand(truth: Ints, rng: np.random.Generator) -> Asked:
    """Put three items of one kind together, or keep two of them apart from one of another."""
    while True:
        kind = rng.integers(0, truth.max() + 1)
        inside = rng.permutation(np.flatnonzero(truth == kind))[:3].tolist()
        outside = int(rng.choice(np.flatnonzero(truth != kind)))
        yield OneKind((tuple(inside),))
        yield OwnKind((tuple(inside[:2]), (outside,)))


def _answers(
    way: Callable[[Ints, np.random.Generator], Asked], truth: Ints, count: int, seed: int
) -> tuple[Answer, ...]:
    """The first answers of a truthful person."""
    asked = way(truth, np.random.default_rng((seed, 3)))

    def same(a: int, b: int) -> bool:
        return bool(truth[a] == truth[b])

    return tuple(
        Answer(number, question, question.truthful(same))
        for number, question in zip(range(1, count + 1), asked, strict=False)
    )


def _score(model: Any, X: Floats, truth: Ints, answers: Sequence[Answer]) -> float:
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    known = Constraints.from_answers(len(X), answers)
    return ari(truth, model.fit(X.astype(np.float32), constraints=known).labels_)
