"""Live: groups from few answers within a second, also for a million items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.group_count import (
    Known,
    Pairs,
    check_count,
    check_size,
    checked_constraints,
)
from samekind.clusterers.linear_head import LinearHead
from samekind.clusterers.live.blocks import BlockWeights
from samekind.clusterers.live.heads import (
    Readout,
    chunks,
    distilled_head,
    head_for_others,
    normalise,
    straight_head,
    strongest,
)
from samekind.clusterers.live.opinions import Manner, Pile
from samekind.clusterers.live.orientation import (
    Axes,
    Orientation,
    Reference,
    Reliability,
    single_threaded,
    spread,
)
from samekind.clusterers.live.pairs import ERROR, MIN_PAIRS, groups_from_pairs, one_hot
from samekind.clusterers.live.pooling import pooled_strength
from samekind.clusterers.live.portable import PortableHead
from samekind.clusterers.live.seeds import (
    COUNTED_ITEMS,
    FADED,
    Plain,
    Seeds,
    moved_together,
    plain_count,
    plain_groups,
    reference_rows,
    restricted,
    unseen_share,
)
from samekind.clusterers.live.steadying import latest_rows
from samekind.clusterers.live.visible import Visibility
from samekind.constraints import Constraints
from samekind.errors import UnknownName

Floats = NDArray[Any]
Ints = NDArray[np.intp]

MAX_PLAIN_GROUPS = 20
"""Plain groups are never guessed to be more."""
WIDTH = 32
"""Coordinates that are kept of each item: those that say most about the groups come first."""
MIN_REFERENCE_ITEMS, MAX_REFERENCE_ITEMS, REFERENCE_PER_ANSWER = 4000, 10_000, 20
"""Items on which answers spread: more with more answers, as finer borders can be drawn."""
BALANCE = 0.7
"""0 lets large groups win, 1 gives all groups the same mass."""
BORDERS = ("auto", "spread", "straight")
MIN_TOLD = 0.5
"""Share of answered items with a known kind below which the answers are taken for pairs."""
UNCONFIRMED = 0.5
"""How much an item counts that is known only because nobody named it in a grid."""
MIN_PLACED_SHARE = 0.75
"""Share of answered items with a known kind above which unseen kinds are estimated."""
MAX_SINGLE_PRECISION = 10_000_000
"""Memberships beyond this number are kept in half precision."""


class Live(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups from few, partly wrong answers: learn what matters, spread the answers, distil.

    1. The kinds that answers tell apart are groups. Each group of a plain clustering is worth a
       few answers as well, fewer as answers come: a few of them, perhaps wrong, do not undo it.
    2. A linear classifier on the answers shows in which directions the person's groups differ;
       the spread within groups is whitened away. This is the orientation.
    3. In that space the answers spread over a neighbour graph of some thousand items. Answers that
       the others contradict (see :class:`~samekind.clusterers.live.orientation.Reliability`) spread
       less; their own items stay where the person put them.
    4. A linear head learns what has spread and places all other items by one matrix product.
    5. Other ways to carry the answers are pooled with what spreads: clouds around the kinds, a line
       between them, the plain groups. What was best over many other groupings is the prior, and
       each counts more the better it predicts answers that it has not seen.

    Parameters
    ----------
    n_clusters : groups to end with; None: as many as the answers show, and what they leave open.
    n_components : principal components that are used.
    shrinkage : 0 trusts the learnt orientation, 1 ignores it.
    n_neighbors : of the graph.
    n_reference : items on which the graph is built; None: 4,000, and more from 200 answers on.
    trusting : True takes every answer to be right.
    borders : ``spread`` over neighbours, ``straight`` by a linear classifier on the answers alone,
        or ``auto``: these and others, weighed by how well they predict the answers.
    blocks : columns of X as (start, stop), if several vectors of an item stand side by side. The
        first one decides before any answer, then those by which the answers can be predicted.
    random_state : a seed makes the result the same every time.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) along the orientation.
    reliability_ : how likely each answered item's group is what was meant, or None.
    powers_ : how much each of :data:`~samekind.clusterers.live.opinions.OPINIONS` counts, or None.
    block_weights_ : how much each block counts, or None.
    visibility_ : how many answered items the others predict, or None while there are too few.

    >>> rng = np.random.default_rng(0)
    >>> up = np.arange(40) % 2  # what matters; the other column spreads three times as far
    >>> X = np.stack([3 * rng.normal(size=40), 4 * up + rng.normal(size=40)], axis=1)
    >>> told = Constraints.from_links(40, [(0, k, k % 2 == 0) for k in range(1, 12)])
    >>> Live(random_state=0).fit(X, constraints=told).n_clusters_
    2
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int = 100,
        shrinkage: float = 0.3,
        n_neighbors: int = 10,
        n_reference: int | None = None,
        trusting: bool = False,
        borders: Literal["auto", "spread", "straight"] = "auto",
        blocks: Sequence[tuple[int, int]] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
        self.trusting = trusting
        self.borders = borders
        self.blocks = blocks
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Known = None,
        must_link: Pairs = None,
        cannot_link: Pairs = None,
    ) -> Self:
        """Group the rows of X. `y` is ignored."""
        X = validate_data(self, X, dtype=[np.float32, np.float64], ensure_min_samples=2)
        known = checked_constraints(constraints, len(X), must_link, cannot_link)
        known = known or Constraints(len(X))
        check_count(self.n_clusters, len(X))
        check_size(X)
        if self.borders not in BORDERS:
            raise UnknownName("kind of borders", self.borders, BORDERS)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        n_asked = len(known.touched) - len(known.picked)
        wanted = np.clip(REFERENCE_PER_ANSWER * n_asked, MIN_REFERENCE_ITEMS, MAX_REFERENCE_ITEMS)
        size = self.n_reference or int(wanted)
        rows = reference_rows(len(X), known.touched, size, rng, len(known.picked))
        with single_threaded(len(rows)):
            self._weigh_blocks(X, rows, known)
            self._axes = Axes.of(X, rows, self.n_components, self._scale)
            Z = self._axes(X[rows])  # (m, p)
            answers = restricted(known, rows)
            by_hand = np.isin(rows, known.picked)
            seed = int(rng.integers(2**31))
            whole = len(rows) == len(X)
            some = Z if whole and self._scale is None else self._sample(X, seed, whole)
            seeds, plain, pile = self._start(Z, some, answers, by_hand, seed)
            pile = None if pile is None else replace(pile, latest=latest_rows(known, rows))
            unconfirmed = np.isin(rows, known.unconfirmed)
            self._reference = self._learnt(Z, seeds, plain, pile, answers, rows, unconfirmed)
            self._head = self._straight_head
            if self._head is None and len(rows) < len(X):
                self._head = distilled_head(self._reference.space, self._reference.strength)
        self._label_all(X, rows, np.searchsorted(rows, known.touched))
        self._undecided = self._head is None and self.powers_ is not None
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other items."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float32, np.float64], reset=False)
        if self._for_others() is not None:
            return self._readout().groups(X)
        found = [self._vote(X[part]).argmax(axis=1) for part in chunks(len(X))]
        return np.concatenate(found).astype(np.intp)

    def portable(self) -> PortableHead:
        """The part that places other items, as a few plain arrays that fit into a small file.

        Where a head decides about all items, some items go with it, the answered ones among them,
        in the coordinates that say most about the groups.
        """
        check_is_fitted(self)
        reference, mean = self._reference, self._axes.mean
        chosen = self._for_others()
        if chosen is None:
            return PortableHead.from_reference(
                mean, self._projection, reference.space, reference.strength, self.n_neighbors
            )
        rows, shares, settled = self._witnesses
        points, shares = self.space_[rows].astype(np.float64), shares.astype(np.float64)
        head = chosen.weight, chosen.bias
        return PortableHead.from_linear(mean, self._projection, head, points, shares, settled)

    def _sample(self, X: Floats, seed: int, whole: bool) -> Floats:
        """Principal components of a few items that are the same whatever the answers are.

        Of several blocks the one that counts most: few guesses are needed while answers come.
        """
        size = len(X) if whole else min(COUNTED_ITEMS, len(X))
        rows = np.sort(np.random.default_rng(seed).choice(len(X), size, replace=False))
        main = None if self.block_weights_ is None else self.block_weights_.main()
        return Axes.of(X, rows, self.n_components, main)(X[rows])

    def _weigh_blocks(self, X: Floats, rows: Ints, known: Constraints) -> None:
        """How much each column counts, by the answers; one block counts as it stands."""
        self.block_weights_ = self._scale = None
        if self.blocks is not None and len(self.blocks) > 1:
            self.block_weights_ = BlockWeights.of(X, rows, self.blocks, known)
            self._scale = self.block_weights_.scale()
        self.visibility_ = Visibility.of(X, known, self._scale)

    def _start(
        self,
        Z: Floats,
        some: Floats,
        answers: Constraints,
        by_hand: NDArray[np.bool_],
        seed: int,
    ) -> tuple[Seeds, Plain | None, Pile | None]:
        """The kinds told apart, and plain groups as far as the answers leave room for them.

        How many plain groups there are is guessed from `some` items. Items picked `by_hand` do not
        say how many kinds there are: the person chose them.
        """
        seeds = Seeds.from_answers(answers)
        short = self.n_clusters is not None and seeds.n_kinds < self.n_clusters
        own = ~by_hand[seeds.rows]
        asked = replace(seeds, rows=seeds.rows[own], labels=seeds.labels[own])
        n_asked = int((~by_hand[answers.touched]).sum())
        told = len(asked.rows) / n_asked if n_asked else 1.0  # pairs leave most items in no kind
        if seeds.n_kinds < 2 and self.n_clusters == 1:
            return seeds, None, None
        if seeds.n_kinds >= 2 and told < MIN_TOLD:
            return self._from_pairs(Z, some, answers, seed), None, None
        if seeds.n_kinds < 2 or short:
            count = max(self.n_clusters or plain_count(some, seed), seeds.n_kinds)
            groups = plain_groups(moved_together(Z, self.n_neighbors), count, seed, answers)
            if seeds.n_kinds < 2:
                return Seeds.from_groups(groups), None, None
            # Most groups have no kind yet: each begins from its middle.
            return seeds.completed(Z, groups, answers.touched), None, None
        count = self.n_clusters or plain_count(some, seed)
        faded = len(asked.rows) >= FADED * count
        # Single items say something only where nearly every answered item has a kind.
        closed = self.n_clusters is not None
        unseen = 0.0 if closed or faded or told < MIN_PLACED_SHARE else unseen_share(asked)
        unseen = unseen_share(asked, count) if unseen else 0.0
        gathered = moved_together(Z, self.n_neighbors)
        groups = plain_groups(gathered, count, seed)
        plain = Plain.of(groups, seeds, unseen, closed=closed)
        return seeds, plain, Pile(Z, gathered, groups)

    def _from_pairs(self, Z: Floats, some: Floats, answers: Constraints, seed: int) -> Seeds:
        """What the pairs are predicted best by: plain groups, what spreads from them, or a head."""
        moved = moved_together(Z, self.n_neighbors)
        groups = plain_groups(moved, self.n_clusters or plain_count(some, seed), seed)
        middles = Seeds.from_middles(moved, groups, answers.touched)
        beginnings = [one_hot(groups)]
        whole = 1 < middles.n_kinds == groups.max() + 1  # else answers reach nearly all items
        if whole and len(answers.links().a) >= MIN_PAIRS:
            space = Orientation.learnt(Z, middles, self.shrinkage)(Z)
            beginnings.append(
                spread(space, middles, self.n_neighbors, width=WIDTH, balance=BALANCE)
            )
        error = 0.0 if self.trusting else ERROR
        found = groups_from_pairs(
            moved, beginnings, answers, k=self.n_clusters, seed=seed, error=error
        )
        return middles if found is None else Seeds.from_groups(found)

    def _learnt(
        self, Z: Floats, seeds: Seeds, plain: Plain | None, pile: Pile | None,
        answers: Constraints, rows: Ints, unconfirmed: NDArray[np.bool_],
    ) -> Reference:  # fmt: skip
        """Reference items along the orientation, with the strength of each group."""
        self.reliability_ = self.powers_ = self._straight_head = None
        if seeds.everywhere or seeds.n_kinds < 2:
            whole = Orientation.unchanged(Z)
            strength = np.eye(max(seeds.n_kinds, 1))[
                seeds.labels if seeds.everywhere else np.zeros(len(Z), dtype=np.intp)
            ]
            return Reference(whole, whole(Z), strength)
        weight, told = None, seeds
        unnamed = np.where(unconfirmed[seeds.rows], UNCONFIRMED, 1.0)
        # What tells unseen kinds apart looks like spread within the seen ones: keep it for now.
        shrinkage = self.shrinkage + (1 - self.shrinkage) * (plain.unseen if plain else 0.0)
        for again in (False, True):  # the second time with the components placed by the first
            orientation = Orientation.learnt(Z, seeds, shrinkage, weight)
            space = orientation(Z)
            if not self.trusting:
                found = Reliability.of(Z, space, seeds, np.isin(seeds.rows, answers.touched))
                weight = found.weight * unnamed
                self.reliability_ = found.at(rows[seeds.rows])
            strength = spread(
                space, seeds, self.n_neighbors, weight, width=WIDTH,
                prior=None if plain is None else plain.source, balance=BALANCE,
            )  # fmt: skip
            before, seeds = len(seeds.rows), seeds.placed(strength, answers)
            if len(seeds.rows) == before and (weight is None or weight.min() == 1):
                break  # none was placed and none is doubted: the same would come out again
            if weight is not None and not again:
                unnamed = np.where(unconfirmed[seeds.rows], UNCONFIRMED, 1.0)
                weight = np.pad(weight, (0, len(seeds.rows) - len(weight)), constant_values=1.0)
        strength = np.pad(strength, ((0, 0), (0, max(0, seeds.n_kinds - strength.shape[1]))))
        own = np.isin(seeds.rows, answers.touched)
        if weight is not None:
            weight = np.pad(weight, (0, len(seeds.rows) - len(weight)), constant_values=1.0)
        all_kinds = replace(seeds, n_kinds=strength.shape[1])
        if self.borders == "straight" and own.all() and not (plain and plain.unseen):
            self._straight_head = straight_head(space, all_kinds, weight)
            strength = self._straight_head(space)
        elif self.borders == "auto" and plain is not None and pile is not None:
            manner = Manner(shrinkage, self.n_neighbors, WIDTH, BALANCE)
            strength, self.powers_ = pooled_strength(
                pile, all_kinds, told, plain, weight, manner, (space, strength)
            )
        strength[seeds.rows[own]] = np.eye(strength.shape[1])[seeds.labels[own]]
        return Reference(orientation, space, strength)

    def _label_all(self, X: Floats, rows: Ints, answered: Ints) -> None:
        """Groups of all items: where all are reference items theirs, else those of the head."""
        n, k = len(X), self._reference.strength.shape[1]
        precision = np.float32 if n * k <= MAX_SINGLE_PRECISION else np.float16
        strength = np.empty((n, k), dtype=precision)
        self.space_ = self._readout().apply(X, strength)
        if self._head is None:
            strength[rows] = self._reference.strength
        else:
            strength[rows[answered]] = self._reference.strength[answered]
        labels = strongest(strength)
        present = np.flatnonzero(np.bincount(labels, minlength=k))
        if len(present) < k:
            strength = strength[:, present]
            labels = np.searchsorted(present, labels)
            self._reference = self._reference.only(present)
            self._head = None if self._head is None else self._head.only(present)
        if self._head is not None:  # it decides alone: the reference items are no longer needed
            done = self._reference
            self._reference = Reference(
                done.orientation, done.space[:0].copy(), done.strength[:0].copy()
            )
        self.membership_, self.labels_ = normalise(strength), labels
        # A few items that go with the head; a session removes the membership of all.
        settled = rows[answered]
        some = np.union1d(settled, np.linspace(0, n - 1, MIN_REFERENCE_ITEMS).astype(np.intp))
        self._witnesses = some, self.membership_[some], np.searchsorted(some, settled)
        self.n_clusters_ = len(present)

    @property
    def _projection(self) -> Floats:
        """(d, p) from centred vectors to coordinates along the orientation."""
        return np.asarray(self._axes.axes @ self._reference.orientation.projection)

    def _for_others(self) -> LinearHead | None:
        """The head that places other items; None: the items nearest to them do."""
        if self._undecided:
            reference, self._undecided = self._reference, False
            self._head = head_for_others(reference.space, reference.strength, self.n_neighbors)
        return self._head

    def _readout(self) -> Readout:
        return Readout.of(self._axes.mean, self._projection, self._head, WIDTH)

    def _vote(self, X: Floats) -> Floats:
        """(n, groups) strengths by the nearest reference items along the orientation."""
        projection = self._projection.astype(np.float32)
        shift = np.asarray(self._axes.mean @ projection, dtype=np.float32)
        projected = np.asarray(X, dtype=np.float32) @ projection - shift
        return self._reference.vote(projected, self.n_neighbors)
