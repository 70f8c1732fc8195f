"""MiCE's network: its queue, its prototypes, and the copy that follows."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import normalize

from samekind.clusterers.deep.mice import ExpertNetwork
from samekind.errors import InputError
from samekind.training.loop import SchedulePoint
from samekind.training.network import Output
from samekind.training.rows import RowBackbone


def network(queue: int = 6, average: float = 0.9, k: int = 2) -> ExpertNetwork:
    torch.manual_seed(0)
    return ExpertNetwork(RowBackbone(3), k=k, out=4, queue=queue, average=average)


def vectors(n: int, seed: int = 1) -> torch.Tensor:
    return normalize(torch.randn(n, 2, 4, generator=torch.Generator().manual_seed(seed)), dim=2)


def test_the_queue_forgets_the_oldest_and_stays_in_its_place() -> None:
    net = network()
    queue, p = net.queue, torch.tensor([[0.9, 0.1]]).expand(4, 2)
    first, second = vectors(4, 1), vectors(4, 2)
    net.remember(first, p)
    net.remember(second, p)
    assert net.queue is queue and int(net.place) == 2
    torch.testing.assert_close(queue, torch.cat([second[2:], first[2:], second[:2]]))


def test_prototypes_move_to_the_items_of_their_group_and_stay_without_any() -> None:
    net = network()
    before, v = net.prototypes.detach().clone(), vectors(4)
    net.centre()
    assert torch.equal(net.prototypes, before), "nothing has been seen"
    net.remember(v, torch.tensor([[0.9, 0.1]] * 4))
    net.centre()
    torch.testing.assert_close(net.prototypes[0], normalize(v[:, 0].sum(dim=0), dim=0))
    assert torch.equal(net.prototypes[1], before[1]) and not net.sums.any()


def test_followers_follow_slowly_and_catch_up_when_told() -> None:
    net = network()
    with torch.no_grad():
        net.backbone.straight.weight += 1  # type: ignore[union-attr, operator]
        net.experts.bias += 1
    net.follow(SchedulePoint(0, 1))
    there = net.backbone.straight.weight - net.target_backbone.straight.weight  # type: ignore[union-attr, operator]
    torch.testing.assert_close(there, torch.full_like(there, 0.9))
    net.catch_up()
    assert torch.equal(net.experts.bias, net.target_experts.bias)
    assert not any(p.requires_grad for p in net.target_backbone.parameters())


def test_the_queue_may_change_between_the_loss_and_its_gradient() -> None:
    net = network()
    out = net(torch.randn(9, 3))
    assert [tuple(part.shape) for part in out] == [(3, 2, 4), (3, 2, 4), (3, 4)]
    loss, posterior = net.contrast(net.joint(out))
    net.remember(out.v, posterior)
    loss.backward()
    assert net.experts.weight.grad is not None and net.prototypes.grad is not None
    assert net.instance.layers[0].weight.grad is not None  # type: ignore[union-attr]


def test_in_use_the_groups_of_an_item_depend_on_no_other_item() -> None:
    net = network(k=3).double().eval()
    rows = torch.randn(5, 3, dtype=torch.float64)
    out = net(rows, None, 1, peers=None)
    assert isinstance(out, Output) and out.p.shape == (5, 3)
    torch.testing.assert_close(out.p.sum(dim=1), torch.ones(5, dtype=torch.float64))
    torch.testing.assert_close(net(rows[2:3]).p[0], out.p[2])


def test_impossible_queues_are_refused() -> None:
    for queue, average in ((0, 0.9), (4, 1.5)):
        with pytest.raises(InputError, match="queue"):
            network(queue, average)
