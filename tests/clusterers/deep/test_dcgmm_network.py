"""The mixture behind an autoencoder: its start, its bounds, lost groups, drawn codes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.mixture import GaussianMixture
from torch import Tensor

from samekind.clusterers.deep.dcgmm import DCGMMLoss, GroupMixture, MixtureAutoencoder
from samekind.errors import InputError
from samekind.objectives.dcgmm import log_responsibilities
from samekind.objectives.links import BatchLinks
from samekind.training.autoencoder import RowDecoder, RowEncoder
from samekind.training.loop import SchedulePoint


def clumps(n: int = 300, seed: int = 0) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    kinds = torch.arange(n) % 3
    centres = torch.tensor([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return centres[kinds] + torch.randn(n, 2, generator=draw), kinds


def network() -> MixtureAutoencoder:
    torch.manual_seed(0)
    return MixtureAutoencoder(
        RowEncoder(5, (8,)), RowDecoder(2, (8,), 5), GroupMixture(2, 3), latent=2
    )


def test_the_start_is_the_mixture_that_codes_come_from() -> None:
    z, kinds = clumps()
    groups = GroupMixture(2, 3)
    groups.begin(z, kinds)
    assert (groups(z).argmax(dim=1) == kinds).float().mean() > 0.98
    found = groups.mixture()
    usual = GaussianMixture(3, covariance_type="diag", means_init=found.mean.detach().numpy())
    usual.fit(z.numpy())
    np.testing.assert_allclose(found.mean.detach().numpy(), usual.means_, atol=0.1)
    np.testing.assert_allclose(found.log_share.exp().detach().numpy(), usual.weights_, atol=0.02)


def test_shares_and_variances_have_a_lower_bound() -> None:
    groups = GroupMixture(2, 4)
    groups.begin(*clumps())
    with torch.no_grad():
        groups.weight.copy_(torch.tensor([0.0, -1e4, 0.0, 0.0]))
        groups.log_variance.fill_(-1e4)
    mixture = groups.mixture()
    assert mixture.log_share.exp().min().item() == pytest.approx(0.01 / 4, rel=1e-3)
    assert mixture.log_share.exp().sum().item() == pytest.approx(1.0, abs=1e-5)
    assert mixture.log_variance.exp().min() > 1e-4
    p = groups(torch.tensor([[1e5, 0.0]]))
    assert p.isfinite().all() and p.sum().item() == pytest.approx(1.0)


def test_a_lost_group_takes_half_of_the_largest() -> None:
    z, kinds = clumps()
    groups = GroupMixture(2, 3)
    groups.begin(z, kinds)
    groups.mean.data[2] = 1e3  # far from everything
    before = groups(z)
    assert before[:, 2].mean() < 0.05 / 3
    assert groups.revive(before) == 1
    after = groups(z)
    assert after.mean(dim=0).min() > 0.1
    assert groups.revive(after) == 0


def test_codes_are_drawn_only_when_wanted_and_anew_for_each_step() -> None:
    model = network()
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(0)).repeat(2, 1)
    chance = torch.Generator().manual_seed(1)
    model.draw(12, chance, SchedulePoint(0, 1))
    still = model(x)
    torch.testing.assert_close(
        still.log_gamma, log_responsibilities(still.z, model.cluster.mixture())
    )
    model.draws = True
    model.draw(12, chance, SchedulePoint(0, 1))
    place, one = model._noise.data_ptr(), model(x)  # type: ignore[union-attr]
    model.draw(12, chance, SchedulePoint(0, 1))
    assert model._noise.data_ptr() == place  # type: ignore[union-attr]
    other = model(x)
    torch.testing.assert_close(one.z, other.z)
    assert not torch.allclose(one.error, other.error)
    torch.testing.assert_close(model(x[:6], views=1).z, one.z)  # in use nothing is drawn


def test_the_loss_adds_up_and_answers_lower_it_where_they_are_honoured() -> None:
    model = network()
    model.cluster.begin(*clumps())
    out = model(torch.randn(8, 5, generator=torch.Generator().manual_seed(0)).repeat(2, 1))
    loss = DCGMMLoss(5, variance=0.5, alpha=10.0)
    nothing = loss(out, BatchLinks.none().masks(8), SchedulePoint(0, 1))
    assert nothing["links"].item() == 0
    assert nothing["reconstruction"].item() == pytest.approx(5 * out.error.mean().item(), rel=1e-5)
    same = loss(out, BatchLinks.from_pairs(same=[(0, 1)]).masks(8), SchedulePoint(0, 1))
    different = loss(out, BatchLinks.from_pairs(different=[(0, 1)]).masks(8), SchedulePoint(0, 1))
    assert same["links"].item() == -different["links"].item() < 0
    sum(same.values()).backward()  # type: ignore[union-attr]
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_rows_of_several_processes_are_gathered() -> None:
    model = network()
    x = torch.randn(6, 5, generator=torch.Generator().manual_seed(0)).repeat(2, 1)
    for a, b in zip(model(x)[:5], model(x, gather=lambda part: part)[:5], strict=True):
        torch.testing.assert_close(a, b)


def test_a_mixture_of_no_groups_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1"):
        GroupMixture(2, 0)
