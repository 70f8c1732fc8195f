"""Graphs whose groups are known: the nodes are items, and rows of the adjacency their vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.sources.files.graphs import graph_collection
from samekind.sources.sets.labelled import LabelledSet

FRIENDS = """1: 2 3 4 5 6 7 8 9 11 12 13 14 18 20 22 32
2: 3 4 8 14 18 20 22 31
3: 4 8 9 10 14 28 29 33
4: 8 13 14
5: 7 11
6: 7 11 17
7: 17
9: 31 33 34
10: 34
14: 34
15: 33 34
16: 33 34
19: 33 34
20: 34
21: 33 34
23: 33 34
24: 26 28 30 33 34
25: 26 28 32
26: 32
27: 30 34
28: 34
29: 32 34
30: 33 34
31: 33 34
32: 33 34
33: 34"""
"""The 78 friendships in Zachary's karate club (1977): members, and those of higher number."""
OFFICERS = (10, 15, 16, 19, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34)
"""Members who stayed with the officers when the club split; the others followed Mr. Hi."""
ALPHA, WITHIN, BETWEEN = 0.7, (6.0, 3.0), (1.0, 5.0)
"""Law of drawn graphs: CRP(alpha) blocks, Beta probabilities of edges within and between them."""
BLOCKS, LEAST = (3, 6), 8
"""Smallest and largest number of blocks, and nodes of each; other draws are made anew."""


def karate(seed: int = 0) -> LabelledSet:
    """The 34 members of Zachary's karate club by their friendships: the side each took (2).

    Always the same, whatever the seed. Edges have no weights.
    """
    table = np.zeros((34, 34), dtype=np.float32)
    for line in FRIENDS.split("\n"):
        member, friends = line.split(":")
        for friend in friends.split():
            i, j = int(member) - 1, int(friend) - 1
            table[i, j] = table[j, i] = 1.0
    names = [f"member-{number:02d}" for number in range(1, 35)]
    club = np.where(np.isin(np.arange(1, 35), OFFICERS), "Officer", "Mr. Hi")
    collection = graph_collection("karate", names, table, "karate")
    return LabelledSet("karate", collection, {"club": club})


def sbm_edges(seed: int = 0, n: int = 100) -> LabelledSet:
    """100 nodes of a stochastic block model by their edges: block (3 to 6).

    >>> sbm_edges().collection.matrix.shape
    (100, 100)
    """
    rng = np.random.default_rng([seed, 13])
    block = _blocks(n, rng)
    while not BLOCKS[0] <= block.max() + 1 <= BLOCKS[1] or np.bincount(block).min() < LEAST:
        block = _blocks(n, rng)
    K = int(block.max()) + 1
    chance = np.triu(rng.beta(*BETWEEN, (K, K)), 1)
    chance = chance + chance.T + np.diag(rng.beta(*WITHIN, K))
    upper = np.triu(rng.random((n, n)) < chance[np.ix_(block, block)], 1)
    names = [f"node-{number:03d}" for number in range(n)]
    table = (upper | upper.T).astype(np.float32)
    collection = graph_collection("sbm-edges", names, table, "sbm-edges")
    return LabelledSet("sbm-edges", collection, {"block": block})


def _blocks(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Blocks of n nodes by the Chinese restaurant process, in order of first appearance."""
    size: list[float] = []
    block = np.empty(n, dtype=np.intp)
    for i in range(n):
        weight = np.array([*size, ALPHA])
        block[i] = rng.choice(len(weight), p=weight / weight.sum())
        if block[i] == len(size):
            size.append(0.0)
        size[block[i]] += 1
    return block
