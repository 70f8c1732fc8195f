"""The second look at a grouping."""

from __future__ import annotations

import torch

from clusterwise_processes import Loners, Quarters, network, points
from samekind.clusterers.ncp.amortized.clusterwise_sampler import reassigned
from samekind.clusterers.ncp.amortized.conditioning import ClusterwiseAnswers
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.constraints import Constraints


def quarters(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = points(n)
    return x, relabel(((x[0] > 0).long() @ torch.tensor([1, 2]))[None])


def test_a_point_that_was_missed_comes_home() -> None:
    x, truth = quarters(40)
    missed = truth.clone()
    missed[0, 7], missed[0, 30] = 4, 5
    assert torch.equal(reassigned(Quarters(), x, missed), truth)


def test_points_that_belong_nowhere_stay_alone() -> None:
    x, truth = quarters(40)
    alone = torch.arange(40)[None]
    assert torch.equal(reassigned(Loners(), x, alone), alone)
    few = truth.clone()
    few[0, 39] = 9
    assert int((reassigned(Loners(), x, few) == reassigned(Loners(), x, few)[0, 39]).sum()) == 1


def test_answered_items_are_not_moved() -> None:
    x, truth = quarters(40)
    missed = truth.clone()
    missed[0, 7], missed[0, 30] = 4, 5
    mate = int((truth[0] == truth[0, 7]).nonzero()[0, 0])
    assert mate != 7
    together = ClusterwiseAnswers(Constraints.from_links(40, [(7, mate, False)]))
    found = reassigned(Quarters(), x, missed, answers=together)
    assert int(found[0, 7]) != int(found[0, mate])
    assert int(found[0, 30]) == int(found[0, int((truth[0] == truth[0, 30]).nonzero()[0, 0])])


def test_small_groups_are_taken_apart_when_that_is_wanted() -> None:
    x, truth = quarters(40)
    pair = (truth[0] == truth[0, 0]).nonzero()[:2, 0]
    missed = truth.clone()
    missed[0, pair] = 4
    assert int(reassigned(Quarters(), x, missed, smallest=0.05).max()) == 3


def test_a_network_of_every_kind_can_look_again() -> None:
    for kind in ("ccp", "acp-s", "acp"):
        for latent in (0, 2):
            found = reassigned(
                network(kind=kind, latent=latent), points(12), torch.arange(12)[None] // 4
            )
            assert found.shape == (1, 12)
