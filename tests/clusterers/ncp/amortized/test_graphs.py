"""Graphs with known blocks: edges follow the law."""

from __future__ import annotations

import pytest
import torch

from samekind.clusterers.ncp.amortized.graphs import Graphs, StochasticBlocks, beta, symmetric
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.errors import InputError


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_graphs_are_padded_masked_symmetric_and_without_loops() -> None:
    x, labels, mask = StochasticBlocks(points=(10, 40), max_groups=4).draw(60, chance())
    assert isinstance(x, Graphs)
    assert x.adjacency.shape == (60, 40, 40) and x.vectors.shape == (60, 40, 12)
    assert torch.equal(x.adjacency, x.adjacency.mT)
    assert not x.adjacency.diagonal(dim1=1, dim2=2).any()
    assert set(x.adjacency.flatten().tolist()) == {0.0, 1.0}
    assert not x.adjacency[~mask].any() and not x.vectors[~mask].any()
    assert torch.equal(relabel(labels, mask), labels) and int(labels.max()) < 4
    sizes = mask.sum(1)
    assert int(sizes[sizes > 0].min()) >= 10 and bool((sizes == 0).any())
    assert all(bool(torch.isfinite(part).all()) for part in x)


def test_a_draw_follows_its_seed() -> None:
    data = StochasticBlocks(points=(10, 20))
    first, again, other = (data.draw(4, chance(seed)) for seed in (0, 0, 1))
    assert torch.equal(first.x.vectors, again.x.vectors)
    assert not torch.equal(first.x.adjacency, other.x.adjacency)


def test_edges_are_as_frequent_as_the_beta_laws_say() -> None:
    x, labels, mask = StochasticBlocks(points=(60, 60), n_vectors=2).draw(400, chance())
    same = labels[:, :, None] == labels[:, None]
    both = mask[:, :, None] & mask[:, None] & ~torch.eye(60, dtype=torch.bool)
    # Means over graphs, not over pairs: a graph has few blocks, and each has one probability.
    for inside, expected in ((same, 6 / 9), (~same, 1 / 6)):
        pairs = inside & both
        count = pairs.sum((1, 2))
        share = (x.adjacency * pairs).sum((1, 2))[count > 0] / count[count > 0]
        assert float(share.mean()) == pytest.approx(expected, abs=0.03)


def test_keeping_part_of_the_edges_makes_graphs_sparser() -> None:
    whole, tenth = (
        StochasticBlocks(points=(50, 50), keep=keep).draw(100, chance()) for keep in (1.0, 0.1)
    )
    ratio = tenth.x.adjacency.sum() / whole.x.adjacency.sum()
    assert float(ratio) == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("law", [(6, 3), (1, 5), (2, 2)])
def test_order_statistics_are_beta(law: tuple[int, int]) -> None:
    a, b = law
    drawn = beta(law, (20_000,), chance())
    assert float(drawn.mean()) == pytest.approx(a / (a + b), abs=0.01)
    variance = a * b / ((a + b) ** 2 * (a + b + 1))
    assert float(drawn.var()) == pytest.approx(variance, rel=0.05)


def test_a_law_with_fractions_is_refused() -> None:
    with pytest.raises(InputError, match="whole numbers"):
        beta((0.5, 1), (3,), chance())  # type: ignore[arg-type]


def test_signs_of_eigenvectors_are_drawn_by_chance() -> None:
    data = StochasticBlocks(points=(30, 30))
    signs = [data.draw(40, chance(seed)).x.vectors[:, 0].sign() for seed in range(5)]
    assert abs(float(torch.stack(signs).mean())) < 0.05


def test_the_lower_half_of_a_table_follows_the_upper() -> None:
    table = symmetric(torch.arange(9.0).view(1, 3, 3))
    assert table.tolist() == [[[0, 1, 2], [1, 4, 5], [2, 5, 8]]]
