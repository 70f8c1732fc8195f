"""The clusterwise network, its bound and its training."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from closed_form import VECTORS, table
from clusterwise_processes import log_partition, network
from samekind.clusterers.ncp.amortized.clusterwise import (
    ClusterwiseNetwork,
    ClusterwiseSizes,
    Normal,
    log_members,
)
from samekind.clusterers.ncp.amortized.clusterwise_probability import Latents
from samekind.clusterers.ncp.amortized.clusterwise_training import (
    clusterwise_loss,
    importance_weighted,
    pass_bound,
    train_clusterwise,
)
from samekind.clusterers.ncp.amortized.generators import Episode, GaussianMixtures
from samekind.clusterers.ncp.amortized.layers import ISAB, MAB, PMA
from samekind.clusterers.ncp.amortized.network import NCPNetwork
from samekind.clusterers.ncp.amortized.weights import load_clusterwise, save
from samekind.errors import InputError

KINDS = ["ccp", "acp-s", "acp"]


def small(**sizes: Any) -> ClusterwiseNetwork:
    settings = {"width": 16, "features": 16, "latent": 2, "heads": 2, "inducing": 4, **sizes}
    return ClusterwiseNetwork(ClusterwiseSizes(**settings))


def slow_mab(block: MAB, X: Tensor, Y: Tensor) -> Tensor:
    """One head after the other, as written in the paper."""
    Q, K, V = block.query(X), block.key(Y), block.value(Y)
    d, w = Q.shape[-1], Q.shape[-1] // block.heads
    parts = []
    for head in range(block.heads):
        mine = slice(head * w, (head + 1) * w)
        share = (Q[:, mine] @ K[:, mine].T / math.sqrt(d)).softmax(-1)
        parts.append(share @ V[:, mine])
    O = Q + torch.cat(parts, -1)  # noqa: E741
    return O + torch.relu(block.last(O))


def test_attention_is_what_the_paper_writes_and_a_mask_is_leaving_points_out() -> None:
    torch.manual_seed(0)
    block, X, Y = MAB(8, heads=2).double(), torch.randn(5, 8).double(), torch.randn(7, 8).double()
    assert torch.allclose(block(X, Y), slow_mab(block, X, Y))
    kept = torch.tensor([True, False, True, True, False, True, False])
    assert torch.allclose(block(X, Y, kept), slow_mab(block, X, Y[kept]))
    pool = PMA(8, heads=2).double()
    assert torch.allclose(pool(Y, kept), slow_mab(pool.block, pool.seed, Y[kept])[0])
    nobody = torch.zeros(7, dtype=torch.bool)
    rows = pool.of_subsets(Y[None], torch.stack([kept, ~kept, nobody])[None])[0]
    for row, who in zip(rows, (kept, ~kept, nobody), strict=True):
        assert torch.allclose(row, pool(Y, who)) and bool(torch.isfinite(row).all())


def test_inducing_points_see_the_set_in_any_order() -> None:
    torch.manual_seed(0)
    block, X = ISAB(8, heads=2, inducing=3), torch.randn(6, 8)
    order = torch.randperm(6)
    assert torch.allclose(block(X)[order], block(X[order]), atol=1e-6)


def test_the_importance_weighted_bound_is_the_published_one() -> None:
    told = VECTORS["iwae"]
    log_w = table(told["log_pz"]) + table(told["log_pb_given_z"]) - table(told["log_qz"])
    found = importance_weighted(log_w)
    assert float(found.bound) == pytest.approx(told["elbo"], abs=1e-12)
    assert float(found.surrogate) == pytest.approx(told["surrogate_loss"], abs=1e-12)
    assert found.weights.tolist() == pytest.approx(told["weights"], abs=1e-9)
    assert float(importance_weighted(log_w - 5000).bound) == pytest.approx(told["elbo"] - 5000)


def one_pass(made: ClusterwiseNetwork) -> tuple[Any, ...]:
    x = torch.randn(1, 6, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    member = torch.tensor([[[True, False, True, True, False, False]]])
    left = torch.tensor([[[False, True, True, True, True, True]]])
    items = made.items(x)
    G = torch.zeros(1, 1, made.sizes.width, dtype=torch.float64)
    return items, made.look(items, left, torch.tensor([[0]]), G), left, member


def gradients(made: ClusterwiseNetwork, loss: Tensor) -> dict[str, Tensor]:
    made.zero_grad()
    loss.backward()
    return {n: p.grad.clone() for n, p in made.named_parameters() if p.grad is not None}


def both_gradients(made: ClusterwiseNetwork, seed: int) -> list[dict[str, Tensor]]:
    """Of minus the bound over 2,000 rows of 3 draws: ours, and everything differentiated plainly."""
    R, chance = 2000, torch.Generator().manual_seed(seed)
    noise = torch.randn(1, R, 3, 1, generator=chance, dtype=torch.float64)
    found = []
    for plainly in (False, True):
        items, context, left, member = one_pass(made)
        anchor, U, G = (part.expand(1, R, -1) for part in context[:3])
        wide = context._replace(anchor=anchor, U=U, G=G)
        if not plainly:
            many = (left.expand(1, R, 6), member.expand(1, R, 6), noise)
            found.append(gradients(made, pass_bound(made, items, wide, *many).surrogate.mean()))
            continue
        guide, prior = (
            Normal(law.mean[:, :, None], law.log_std[:, :, None])
            for law in (made.guide(items, context, left, member), made.prior(context))
        )
        z = guide.mean + guide.log_std.exp() * noise
        log_b = log_members(made.join(items, wide, z), left, member)
        log_w = prior.log_density(z) + log_b - guide.log_density(z)
        found.append(gradients(made, -(log_w.logsumexp(-1) - math.log(3)).mean()))
    return found


def test_the_doubly_reparametrised_gradient_is_that_of_the_bound_on_average() -> None:
    made = network(width=4, features=4, latent=1, encoder_layers=1, law_layers=1)
    rounds = [both_gradients(made, seed) for seed in range(10)]
    for name in rounds[0][1]:
        away = torch.stack([ours[name] - plain[name] for ours, plain in rounds])
        if name.startswith(("prior_net", "join_")):  # the model's own: not only on average
            assert float(away.abs().max()) < 1e-9, name
        error = away.std(0) / math.sqrt(len(rounds))
        assert bool((away.mean(0).abs() <= 5 * error + 1e-9).all()), name


@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_what_lies_in_it_changes_nothing(kind: str) -> None:
    made = network(kind=kind)
    x = torch.randn(1, 6, 2, dtype=torch.float64)
    labels = torch.tensor([[0, 1, 0, 2, 1, 0]])
    padded = torch.cat([x, torch.full((1, 3, 2), torch.nan, dtype=torch.float64)], 1)
    mask = torch.arange(9)[None] < 6

    def loss(*episode: Tensor) -> Tensor:
        chance = torch.Generator().manual_seed(0)
        return clusterwise_loss(made, Episode(*episode), passes=3, draws=2, generator=chance).nll

    alone = loss(x, labels, torch.ones_like(labels, dtype=torch.bool))
    within = loss(padded, torch.nn.functional.pad(labels, (0, 3)), mask)
    assert torch.allclose(alone, within)
    fixed = clusterwise_loss(
        made, Episode(padded, torch.nn.functional.pad(labels, (0, 3)), mask), passes=3, draws=2,
        generator=torch.Generator().manual_seed(0), n_groups=8,
    )  # fmt: skip
    assert torch.allclose(fixed.nll, alone)


def test_a_data_set_that_is_blank_costs_nothing() -> None:
    made = network()
    episode = Episode(
        torch.zeros(1, 4, 2).double(), torch.zeros(1, 4).long(), torch.zeros(1, 4).bool()
    )
    loss = clusterwise_loss(
        made, episode, passes=2, draws=2, generator=torch.Generator(), n_groups=3
    )
    assert loss.nll.tolist() == [0.0] and loss.surrogate.tolist() == [0.0]


def test_the_loss_is_the_probability_over_all_orders_for_a_process_that_knows_no_order() -> None:
    """For one group the bound without latent vector is the exact probability, anchors averaged."""
    made = network(latent=0)
    x = torch.randn(1, 5, 2, dtype=torch.float64)
    labels = torch.zeros(1, 5, dtype=torch.long)
    mask = torch.ones(1, 5, dtype=torch.bool)
    exact = log_partition(made, x, labels, latents=Latents(1)).log_prob.exp()
    found = []
    for first in range(5):
        order = [first, *(k for k in range(5) if k != first)]
        loss = clusterwise_loss(
            made, Episode(x[:, order], labels, mask), passes=1, draws=1, generator=torch.Generator()
        )
        found.append((-loss.nll).exp())
    assert torch.allclose(torch.stack(found).mean(0), exact)


@pytest.mark.parametrize("kind", KINDS)
def test_training_lowers_the_bound(kind: str) -> None:
    torch.manual_seed(0)
    history = train_clusterwise(
        small(kind=kind), GaussianMixtures(points=(5, 12), max_groups=5), steps=150, batch=16,
        lr=4e-3, draws=2, device="cpu",
    )  # fmt: skip
    assert history.nll_per_point[-1] < 0.7 * history.nll_per_point[0]


def test_the_same_seed_trains_the_same_network() -> None:
    made = []
    for _ in range(2):
        torch.manual_seed(0)
        made.append(small())
        data = GaussianMixtures(points=(5, 14), max_groups=6)
        train_clusterwise(made[-1], data, steps=4, batch=4, draws=2, device="cpu")
    first, second = (one.state_dict() for one in made)
    assert all(torch.equal(first[name], second[name]) for name in first)
    torch.manual_seed(0)
    assert any(not torch.equal(first[name], value) for name, value in small().state_dict().items())


def test_weights_come_back_as_they_were_and_half_of_them_nearly_so(tmp_path: Path) -> None:
    made, x = small(kind="acp-s"), torch.randn(1, 5, 2)
    for half, close in ((False, 0.0), (True, 5e-3)):
        file = tmp_path / f"{half}.safetensors"
        save(file, made, {"steps": 3}, half=half)
        back = load_clusterwise(file)
        assert back.facts["steps"] == 3 and back.network.sizes == made.sizes
        assert back.network.items(x).e.dtype == torch.float32
        with torch.no_grad():
            away = back.network.items(x).first - made.items(x).first
        assert float(away.abs().max()) <= close
    assert (tmp_path / "True.safetensors").stat().st_size < 0.65 * (
        tmp_path / "False.safetensors"
    ).stat().st_size


def test_other_weights_are_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "pointwise.safetensors"
    save(file, NCPNetwork())
    with pytest.raises(InputError, match="pointwise"):
        load_clusterwise(file)
    given = ClusterwiseSizes(encoder="given", inputs=2)
    save(file, ClusterwiseNetwork(given, torch.nn.Linear(2, 2)))
    with pytest.raises(InputError, match="belong to another network"):
        load_clusterwise(file, encoder=torch.nn.Linear(2, 3))


def test_bad_settings_are_told_in_words() -> None:
    data = GaussianMixtures(points=(5, 6))
    with pytest.raises(InputError, match="either steps or seconds"):
        train_clusterwise(small(), data)
    with pytest.raises(InputError, match="at least one pass and one draw"):
        train_clusterwise(small(), data, steps=1, passes=0)
    with pytest.raises(InputError, match="ccp, acp-s or acp"):
        small(kind="dac")
    with pytest.raises(InputError, match="multiple of"):
        small(kind="acp", width=10, heads=4)
    with pytest.raises(InputError, match="newer version"):
        ClusterwiseSizes.from_json({"depth": 3})
