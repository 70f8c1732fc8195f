"""Groups from answered pairs: plain groups, unless a head fitted to the pairs predicts them better.

A placement says which group an item belongs to. A pair says only that two items are of one kind, or
that they are not, and most answered items stay without a group. A linear head is fitted to the
likelihood of the pairs. It is used where it predicts answers that it has not seen better than the
plain groups do; otherwise these stay as they are, so that a few pairs cannot harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from samekind.clusterers.linear_head import logistic_regression
from samekind.clusterers.live.settling import settled
from samekind.constraints import Constraints

Floats = NDArray[Any]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

SCALED_LENGTH = 3.0
"""Mean length of the items that heads see."""
ERROR = 0.03
"""Share of answers that may be wrong: none of them outweighs all others."""
MORE_GROUPS = 2
"""Columns of a head beyond the guessed number of groups; those that are not needed stay empty."""
PENALTIES = (0.1, 1.0)
"""Penalties on the weights of heads that begin from the pairs alone."""
AROUND = 1.0
"""Penalty on leaving the plain groups, of the head that begins there."""
STARTS, FEW_STARTS, FEW_STEPS = 3, 1, 50
"""Random beginnings of a head; beginnings and steps when it is only tried on answers held out."""
FOLDS = 4
"""Parts of the answers, each of which is predicted from the others."""
MIN_PAIRS = 8
"""Answers below which the plain groups are kept."""
MAX_COMPARED = 1000
"""Answers by which heads and plain groups are compared; with more, some of them."""
LEAD, PRIOR_SQUARES = 2.0, 4.0
"""Standard errors by which a head must be ahead, and the squared differences that are taken to have
been seen before: with few answers chance looks like a lead."""


def groups_from_pairs(
    points: Floats,
    beginnings: Sequence[Floats],
    answers: Constraints,
    *,
    k: int | None,
    seed: int,
    error: float,
) -> Ints | None:
    """Find groups (m,) that honour the answers; None: the last beginning is to spread further.

    Parameters
    ----------
    points : (m, p) the items, each moved towards its neighbours.
    beginnings : memberships (m, g) that were found without the answers: plain groups first.
    k : groups to end with; None: as many as are needed.
    error : share of answers that may be wrong.
    """
    links, best = answers.links(), 0
    if len(links.a) >= MIN_PAIRS:
        likely = [
            _calibrated((p[links.a] * p[links.b]).sum(axis=1), links.same) for p in beginnings
        ]
        best = int(np.argmax([each.sum() for each in likely]))
        width = max(k or beginnings[best].shape[1] + MORE_GROUPS, len(answers.kinds))
        pairs = _Pairs.of(points, answers, width, error)
        weights = pairs.best_head(beginnings[best].argmax(axis=1), likely[best], seed)
        if weights is not None:
            p = _softmax(pairs.everything @ weights.T)
            # An empty group must not be where answers that the head breaks are honoured.
            return settled(p[:, np.unique(p.argmax(axis=1))], answers).labels
    return settled(0.9 * beginnings[0] + 0.01, answers).labels if best == 0 else None


def one_hot(groups: Ints) -> Floats:
    """Memberships (m, g) of items that belong to one group each."""
    return np.eye(int(groups.max()) + 1)[groups]


class _Way(NamedTuple):
    """How a head is fitted: towards which weights (k, p), how strongly, from which (s, k, p)."""

    around: Floats
    penalty: float
    starts: Floats


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Answered pairs a, b (l,) of the rows of x (t, p), whether each is the `same` kind.

    `everything` (m, p) are all items. The last column of both is constant. `kept` (l,) are the
    numbers of these pairs among all that were answered.
    """

    everything: Floats
    x: Floats
    a: Ints
    b: Ints
    same: Bools
    kept: Ints
    k: int
    error: float

    @classmethod
    def of(cls, points: Floats, answers: Constraints, k: int, error: float) -> Self:
        links, x = answers.links(), _scaled(points)
        a, b = (np.searchsorted(answers.touched, end) for end in (links.a, links.b))
        return cls(x, x[answers.touched], a, b, links.same, np.arange(len(a)), k, error)

    def best_head(self, groups: Ints, likely: Floats, seed: int) -> Floats | None:
        """Weights (k, p) of the head that predicts answers held out best; None: no head does.

        It must be ahead by more than chance of the log-likelihood (l,) of the answers by `groups`
        (m,). With many answers, the head of some of them is where that of all begins.
        """
        rng = np.random.default_rng((seed, 31))
        ways, some = self._ways(groups, rng), self._some(rng)
        base = likely[some.kept]
        best, ahead = None, 0.0
        for way in ways:
            lead = _calibrated(some.held_out(way, rng), some.same) - base
            clear = lead.sum() > LEAD * np.sqrt((lead**2).sum() + PRIOR_SQUARES)
            if clear and lead.mean() > ahead:
                best, ahead = way, lead.mean()
        if best is None:
            return None
        found = some.fitted(best, np.ones(len(some.a), dtype=bool))
        if some is self:
            return found
        return self.fitted(best._replace(starts=found[None]), np.ones(len(self.a), dtype=bool))

    def held_out(self, way: _Way, rng: np.random.Generator) -> Floats:
        """(l,) how likely each pair is of one kind, by a head that was fitted to the others.

        All pairs that came with one item are held out together: a placement is several pairs.
        """
        often = np.bincount(np.concatenate([self.a, self.b]), minlength=len(self.x))
        rarer = np.where(often[self.a] <= often[self.b], self.a, self.b)
        fold = (rng.permutation(len(self.x)) % FOLDS)[rarer]
        found = np.empty(len(self.a))
        quick = way._replace(starts=way.starts[:FEW_STARTS])
        for part in range(FOLDS):
            out = fold == part
            p = _softmax(self.x @ self.fitted(quick, ~out, most_steps=FEW_STEPS).T)
            found[out] = (p[self.a[out]] * p[self.b[out]]).sum(axis=1)
        return found

    def fitted(self, way: _Way, used: Bools, *, most_steps: int = 100) -> Floats:
        """Weights (k, p) of the most likely head, given the pairs that are `used`."""
        some = replace(self, a=self.a[used], b=self.b[used], same=self.same[used])
        sums = _incidence(some.a, len(self.x)), _incidence(some.b, len(self.x))
        found = [
            minimize(some._loss, start.ravel(), (way, sums), "L-BFGS-B", jac=True,
                     options={"maxiter": most_steps})
            for start in way.starts
        ]  # fmt: skip
        best = min(found, key=lambda each: float(each.fun))
        return np.asarray(best.x).reshape(self.k, -1)

    def _loss(self, flat: Floats, way: _Way, sums: tuple[Any, Any]) -> tuple[float, Floats]:
        """Minus log-likelihood of the pairs plus the penalty, and its gradient.

        `sums` (t, l) add what is said about both ends of the pairs up by item.
        """
        weights = flat.reshape(self.k, -1)
        p = _softmax(self.x @ weights.T)
        first, second = p[self.a], p[self.b]
        together = (first * second).sum(axis=1)
        right = np.where(self.same, together, 1 - together)
        likely = self.error + (1 - 2 * self.error) * right
        slope = np.where(self.same, -1.0, 1.0) * (1 - 2 * self.error) / np.maximum(likely, 1e-12)
        by_p = sums[0] @ (slope[:, None] * second) + sums[1] @ (slope[:, None] * first)
        by_score = p * (by_p - (by_p * p).sum(axis=1, keepdims=True))
        away = weights - way.around
        away[:, -1] *= 1e-3  # the constant is nearly free
        loss = way.penalty / 2 * (away * (weights - way.around)).sum()
        loss -= np.log(np.maximum(likely, 1e-12)).sum()
        return float(loss), (by_score.T @ self.x + way.penalty * away).ravel()

    def _ways(self, plain: Ints, rng: np.random.Generator) -> list[_Way]:
        """The head of the plain groups, and heads that begin anywhere."""
        shape = self.k, self.x.shape[1]
        ways = [
            _Way(np.zeros(shape), penalty, rng.normal(0, 0.3, (STARTS, *shape)))
            for penalty in PENALTIES
        ]
        present, plain = np.unique(plain, return_inverse=True)
        groups = len(present)
        if groups < 2:
            return ways
        model = logistic_regression(self.everything[:, :-1], plain, C=1.0, max_iter=100)
        coef, constant = model.coef_, model.intercept_
        if len(coef) == 1:  # two groups: one column is the other's opposite
            coef, constant = np.concatenate([-coef, coef]) / 2, np.array([-1, 1]) * constant / 2
        around = np.zeros(shape)
        around[:groups] = np.column_stack([coef, constant])
        around[groups:, -1] = around[:, -1].min() - 1  # not used at the beginning
        return [_Way(around, AROUND, around[None]), *ways]

    def _some(self, rng: np.random.Generator) -> Self:
        """At most so many of the pairs, by which heads are compared."""
        if len(self.a) <= MAX_COMPARED:
            return self
        kept = np.sort(rng.permutation(len(self.a))[:MAX_COMPARED])
        rows, places = np.unique([self.a[kept], self.b[kept]], return_inverse=True)
        a, b = places.reshape(2, -1)
        return replace(self, x=self.x[rows], a=a, b=b, same=self.same[kept], kept=kept)


def _scaled(points: Floats) -> Floats:
    """(m, p + 1) centred points of a known mean length, and a column of ones."""
    centred = points - points.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=1).mean())
    return np.column_stack([centred * SCALED_LENGTH / max(length, 1e-12), np.ones(len(points))])


def _softmax(scores: Floats) -> Floats:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _incidence(rows: Ints, n: int) -> Any:
    """A sparse (n, l) matrix that adds rows of numbers (l, k) up by the row they belong to."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n, len(rows)))


def _calibrated(together: Floats, same: Bools) -> Floats:
    """(l,) log-likelihood of the answers by predictions whose sureness is put right first.

    How sure a prediction is says little about how right it is, and a group of a plain clustering
    says nothing about it. Two numbers, a factor and a constant, correct the log-odds.
    """
    clipped = np.clip(together, 1e-3, 1 - 1e-3)
    odds, sign = np.log(clipped / (1 - clipped)), np.where(same, 1.0, -1.0)

    def loss(w: Floats) -> float:
        terms = np.logaddexp(0, -sign * (w[0] * odds + w[1]))
        return float(terms.sum() + 0.05 * ((w[0] - 0.5) ** 2 + w[1] ** 2))

    factor, constant = minimize(loss, [0.5, 0.0]).x
    return np.asarray(-np.logaddexp(0, -sign * (max(factor, 0.0) * odds + constant)))
