"""Neighbours on the device, and batches that bring them along."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from samekind.errors import InputError
from samekind.training.loop import Plan
from samekind.training.losses import ItemContrast
from samekind.training.neighbours import NeighbourTrainer, nearest, said_of_all
from samekind.training.network import Network
from samekind.training.rows import NoisyRows, RowBackbone


@pytest.mark.parametrize("piece", [1, 130, 2**20])
def test_neighbours_are_those_of_a_full_sort_whatever_the_piece(piece: int) -> None:
    x = np.random.default_rng(0).normal(size=(57, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -np.inf)
    wanted = np.argsort(-cosine, axis=1)[:, :7]
    found = nearest(torch.from_numpy(x), 7, piece=piece)
    np.testing.assert_array_equal(found.numpy(), wanted)


def test_an_item_is_not_its_own_neighbour_even_among_copies() -> None:
    x = torch.ones(6, 3)
    found = nearest(x, 5)
    assert all(sorted([*row, i]) == list(range(6)) for i, row in enumerate(found.tolist()))


def test_vectors_without_length_break_nothing() -> None:
    assert nearest(torch.zeros(4, 2), 3).shape == (4, 3)


@pytest.mark.parametrize("k", [0, 4])
def test_too_many_neighbours_are_refused(k: int) -> None:
    with pytest.raises(InputError, match="neighbours"):
        nearest(torch.ones(4, 2), k)


def trainer_of_rows() -> NeighbourTrainer:
    torch.manual_seed(0)
    rows = torch.randn(12, 4)
    network = Network(RowBackbone(4), k=2, out=8, attention=False)
    plan = Plan(batch_size=4, linked_share=0.0)
    return NeighbourTrainer(network, ItemContrast(), rows, NoisyRows(rows), plan)


def test_a_batch_is_followed_by_one_neighbour_of_each_item() -> None:
    trainer = trainer_of_rows()
    items = torch.tensor([5, 0, 7])
    assert torch.equal(trainer._mine(items), items)
    trainer.table = nearest(trainer.data, 3)
    seen = set()
    for seed in range(30):
        trainer._chance.manual_seed(seed)
        both = trainer._mine(items)
        assert torch.equal(both[:3], items)
        assert all(b in trainer.table[a] for a, b in zip(items, both[3:], strict=True))
        seen |= {int(both[3])}
    assert len(seen) == 3  # all neighbours have their turn


def test_all_items_are_read_as_one_batch_would_be() -> None:
    trainer = trainer_of_rows()
    found = said_of_all(trainer, trainer.network.backbone, chunk=5)
    wanted = trainer.network.backbone(trainer.views.plain(trainer.data))
    torch.testing.assert_close(found, wanted.detach())
