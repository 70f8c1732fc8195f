"""Several vectors per item: the answers decide which of them count."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from samekind.clusterers.live.blocks import BlockWeights
from samekind.clusterers.live.estimator import Live
from samekind.constraints import Constraints
from samekind.errors import InputError

N = 240
BLOCKS = [(0, 12), (12, 30), (30, 36)]


def three_blocks(seed=0):
    """Three independent groupings into three kinds, one in each block, of different sizes."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(3, size=(3, N))
    parts = []
    for kind, (start, stop), size in zip(kinds, BLOCKS, (1.0, 30.0, 0.01), strict=True):
        middles = rng.normal(size=(3, stop - start)) * 2
        parts.append(size * (middles[kind] + rng.normal(size=(N, stop - start))))
    return np.hstack(parts).astype(np.float32), kinds


def told(kind, n, seed=1):
    """Place the first items (in a random order) beside one of their kind."""
    order = np.random.default_rng(seed).permutation(N)[:n]
    first = {}
    links = []
    for item in order:
        for other, exemplar in first.items():
            links.append((int(item), exemplar, bool(kind[item] == other)))
        first.setdefault(kind[item], int(item))
    return Constraints.from_links(N, links)


def fitted(X, known=None, blocks=BLOCKS):
    return Live(blocks=blocks, random_state=0).fit(X, constraints=known)


def test_the_first_block_alone_decides_before_any_answer():
    X, _ = three_blocks()
    alone = fitted(X[:, :12], blocks=None)
    assert (fitted(X).labels_ == alone.labels_).all()


@pytest.mark.parametrize("block", [0, 1, 2])
def test_twelve_answers_find_the_block_that_holds_the_kinds(block):
    X, kinds = three_blocks()
    model = fitted(X, told(kinds[block], 12))
    assert model.block_weights_.share.argmax() == block
    alone = fitted(X[:, slice(*BLOCKS[block])], told(kinds[block], 12), blocks=None)
    score, best = (adjusted_rand_score(kinds[block], m.labels_) for m in (model, alone))
    assert score >= best - 0.05


def test_other_items_are_placed_by_the_same_weights():
    X, kinds = three_blocks()
    model = fitted(X, told(kinds[1], 20))
    assert (model.predict(X) == model.labels_).mean() > 0.97
    placing = model.portable().predict(X)
    assert (placing.strengths.argmax(axis=1) == model.labels_).mean() > 0.97


def test_the_size_of_a_block_changes_nothing():
    X, kinds = three_blocks()
    larger = X * np.repeat(np.float32([1, 50, 50]), [12, 18, 6])
    known = told(kinds[2], 15)
    one, other = (BlockWeights.of(Z, np.arange(N), BLOCKS, known).share for Z in (X, larger))
    assert one == pytest.approx(other, abs=1e-4)


@pytest.mark.parametrize("blocks", [[(0, 12), (13, 36)], [(0, 12), (12, 30)], [(0, 0), (0, 36)]])
def test_blocks_that_leave_columns_out_are_refused(blocks):
    X, _ = three_blocks()
    with pytest.raises(InputError, match="36 columns"):
        fitted(X, blocks=blocks)


def pairs(kind, n, seed=3):
    """Truthful random pairs."""
    rng = np.random.default_rng(seed)
    found = rng.permutation(N)[: 2 * n].reshape(-1, 2)
    return Constraints.from_links(N, [(int(a), int(b), bool(kind[a] == kind[b])) for a, b in found])


@pytest.mark.parametrize("block", [1, 2])
def test_pairs_find_the_block_as_well(block):
    X, kinds = three_blocks()
    known = pairs(kinds[block], 40)
    assert BlockWeights.of(X, np.arange(N), BLOCKS, known).share.argmax() == block


def test_answers_that_no_block_predicts_leave_the_first_in_charge():
    X, _ = three_blocks()
    nothing = np.random.default_rng(9).integers(3, size=N)
    shares = [
        BlockWeights.of(X, np.arange(N), BLOCKS, told(nothing, 12, seed)).share
        for seed in range(20)
    ]
    assert np.median(shares, axis=0)[0] > 0.5
