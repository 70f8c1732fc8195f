"""SCAN's batches, which bring a neighbour of each item along."""

from __future__ import annotations

import torch

from samekind.clusterers.deep.scan import NeighbourTrainer
from samekind.neighbours import nearest_by_cosine
from samekind.training.bank import predict_all
from samekind.training.loop import Plan
from samekind.training.network import Network
from samekind.training.rows import NoisyRows, RowBackbone
from samekind.training.simclr import ItemContrast


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
    trainer.table = nearest_by_cosine(trainer.data, 3)
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
    found = predict_all(trainer, trainer.network.backbone)
    wanted = trainer.network.backbone(trainer.views.plain(trainer.data))
    torch.testing.assert_close(found, wanted.detach())
