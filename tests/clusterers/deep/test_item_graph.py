"""The graph of items that GCC trains along."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import normalize

from samekind.clusterers.deep.gcc import ItemGraph, degrees
from samekind.errors import InputError


def test_the_mean_is_that_of_the_last_vectors_of_each_item() -> None:
    graph = ItemGraph(3, 2, k=1, kept=2, batch=2, drawn=1)
    assert graph.unseen.tolist() == [0, 1, 2]
    for number in (1.0, 2.0, 4.0):
        graph.remember(torch.full((2, 2), number), torch.tensor([2, 0]))
    graph.remember(torch.full((1, 2), 7.0), torch.tensor([0]))
    assert graph.unseen.tolist() == [1]
    assert graph.means[:, 0].tolist() == [5.5, 0.0, 3.0], "4 and 7; nothing; 2 and 4"


def test_degrees_count_neighbours_in_either_direction_once() -> None:
    chance = torch.Generator().manual_seed(0)
    table = torch.stack(
        [torch.randperm(11, generator=chance)[:3] + 1 + row for row in range(12)]
    ) % 12  # fmt: skip
    slow: list[set[int]] = [set() for _ in range(12)]
    for i, row in enumerate(table.tolist()):
        for j in row:
            slow[i].add(j)
            slow[j].add(i)
    assert degrees(table).tolist() == [len(found) for found in slow]


def test_rebuilding_finds_the_nearest_and_weighs_busy_ones_less_in_place() -> None:
    graph = ItemGraph(4, 2, k=1, batch=2, drawn=1)
    table, weight = graph.table, graph.weight
    x = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.8, 0.3], [0.0, 1.0]])
    graph.remember(normalize(x, dim=1), torch.arange(4))
    graph.rebuild()
    assert graph.table is table and graph.weight is weight
    assert table[:, 0].tolist() == [1, 0, 1, 2]
    wanted = [(3 / (1 + degree)) ** 0.5 for degree in (1, 2, 2, 1)]
    torch.testing.assert_close(weight, torch.tensor(wanted))


def test_different_neighbours_of_each_item_are_drawn_and_all_in_time() -> None:
    graph = ItemGraph(9, 4, k=5, batch=3, drawn=3)
    chance = torch.Generator().manual_seed(0)
    items = torch.tensor([8, 0, 4])
    graph.remember(torch.randn(9, 4, generator=chance), torch.arange(9))
    graph.rebuild()
    seen: set[int] = set()
    for _ in range(20):
        chosen = graph.choose(items, chance)
        assert chosen.shape == (3, 3) and torch.equal(graph.chosen, chosen.T)
        for place, item in enumerate(items.tolist()):
            mine = set(chosen[:, place].tolist())
            assert len(mine) == 3 and mine <= set(graph.table[item].tolist())
        seen |= set(chosen[:, 1].tolist())
    assert seen == set(graph.table[0].tolist())


@pytest.mark.parametrize(("n", "k", "drawn"), [(3, 3, 1), (9, 2, 3), (9, 2, 0)])
def test_more_neighbours_than_there_are_cannot_be_had(n: int, k: int, drawn: int) -> None:
    with pytest.raises(InputError, match="cannot be had"):
        ItemGraph(n, 2, k=k, batch=2, drawn=drawn)
