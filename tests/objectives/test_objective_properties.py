"""What must hold of the losses whatever the numbers: symmetries, gradients, extremes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from objective_loops import case, links_of
from samekind.errors import InputError
from samekind.objectives import (
    ActiveContrast,
    BatchLinks,
    ClusterContrast,
    ConstrainedContrast,
    NTXent,
    balance,
)

Loss = Callable[[Tensor, Tensor, BatchLinks], Tensor]


def pcl(profile: str, temperature: float = 1.0) -> Loss:
    return ConstrainedContrast(profile=profile, temperature=temperature)  # type: ignore[arg-type]


def occ(temperature: float = 0.5, **options: bool) -> Loss:
    active = ActiveContrast(temperature=temperature, **options)
    return lambda z, p, links: active(z, links, 20.0) + active(p, links, 20.0)


LOSSES: dict[str, Loss] = {
    "pcl-reference": pcl("reference"),
    "pcl-paper": pcl("paper"),
    "occ": occ(),
    "occ-without-self": occ(include_self=False),
    "occ-with-different": occ(use_different=True),
    "ntxent": lambda z, p, links: NTXent()(z),
    "groups-reference": lambda z, p, links: ClusterContrast(temperature=2.0)(p),
    "groups-paper": lambda z, p, links: ClusterContrast(profile="paper")(p),
    "groups-occ": lambda z, p, links: ClusterContrast(profile="occ")(p),
    "balance": lambda z, p, links: balance(p),
    "balance-of-all": lambda z, p, links: balance(p, views=1),
}
EVERY = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
ANSWERED = pytest.mark.parametrize(
    "name", ["pcl-reference", "pcl-paper", "occ", "occ-with-different"]
)


@EVERY
def test_the_order_of_the_items_does_not_matter(loss: Loss) -> None:
    z, p, answers = case(8, 3, seed=1)
    order = torch.randperm(8, generator=torch.Generator().manual_seed(0))
    rows = torch.cat([order, order + 8])
    where = order.argsort()  # old position to new
    links = links_of(answers)
    moved = BatchLinks(*(where[pairs] for pairs in links))
    torch.testing.assert_close(loss(z[rows], p[rows], moved), loss(z, p, links))


@EVERY
def test_the_two_views_can_be_swapped(loss: Loss) -> None:
    z, p, answers = case(8, 3, seed=2)
    links = links_of(answers)
    torch.testing.assert_close(loss(z.roll(8, 0), p.roll(8, 0), links), loss(z, p, links))


@EVERY
def test_the_order_and_number_of_mentions_of_a_pair_do_not_matter(loss: Loss) -> None:
    z, p, answers = case(6, 3, seed=3)
    links = links_of(answers)
    padding = torch.tensor([[0, 0], [5, 5]])
    again = BatchLinks(*(torch.cat([pairs.flip(0, 1), pairs, padding]) for pairs in links))
    torch.testing.assert_close(loss(z, p, again), loss(z, p, links))


@EVERY
@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize("answered", [True, False])
def test_gradients_are_those_of_the_value(loss: Loss, n: int, answered: bool) -> None:
    z, p, answers = case(n, 3, seed=4, m=3)
    links = links_of(answers) if answered else BatchLinks.none()
    z.requires_grad_()
    logits = p.log().requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: loss(a, b.softmax(dim=1), links), (z, logits))


@EVERY
@pytest.mark.parametrize("n", [1, 2, 16])
def test_batches_without_any_answer_have_a_finite_loss_and_gradient(loss: Loss, n: int) -> None:
    z, p, _ = case(n, 2, seed=5)
    z, p = z.float().requires_grad_(), p.float().requires_grad_()
    value = loss(z, p, BatchLinks.none(z.device))
    value.backward()
    assert value.isfinite() and value.dtype == torch.float32
    for x in (z, p):
        assert x.grad is None or x.grad.isfinite().all()


@EVERY
def test_half_precision_comes_in_and_single_precision_goes_out(loss: Loss) -> None:
    z, p, answers = case(32, 4, seed=6)
    links = links_of(answers)
    half_z, half_p = z.bfloat16().requires_grad_(), p.bfloat16().requires_grad_()
    value = loss(half_z, half_p, links)
    value.backward()
    assert value.dtype == torch.float32
    # Only the rounding of the inputs may show: the sums themselves are done in float32.
    rounded = loss(half_z.detach().double(), half_p.detach().double(), links)
    assert value.item() == pytest.approx(rounded.item(), rel=1e-5, abs=1e-5)
    assert value.item() == pytest.approx(loss(z, p, links).item(), rel=1e-2, abs=1e-2)
    for x in (half_z, half_p):
        assert x.grad is None or (x.grad.dtype == torch.bfloat16 and x.grad.isfinite().all())


@EVERY
def test_autocast_does_not_change_the_value(loss: Loss) -> None:
    z, p, answers = case(32, 4, seed=7)
    z, p, links = z.float(), p.float(), links_of(answers)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = loss(z, p, links)
    torch.testing.assert_close(inside, loss(z, p, links), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("temperature", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_extreme_temperatures_do_not_overflow(temperature: float, dtype: torch.dtype) -> None:
    losses: list[Loss] = [
        pcl("reference", temperature),
        pcl("paper", temperature),
        occ(temperature),
        occ(temperature, include_self=False),
        lambda z, p, links: NTXent(temperature=temperature)(z),
        lambda z, p, links: ClusterContrast(temperature=temperature)(p),
    ]
    for loss in losses:
        z, p, answers = case(9, 3, seed=8)
        z, p = z.to(dtype).requires_grad_(), p.to(dtype).requires_grad_()
        value = loss(z, p, links_of(answers))
        value.backward()
        assert value.isfinite()
        for x in (z, p):
            assert x.grad is None or x.grad.isfinite().all()


@EVERY
def test_one_group_is_allowed(loss: Loss) -> None:
    z, _, answers = case(5, 1, seed=9)
    p = torch.ones(10, 1, dtype=z.dtype)
    assert loss(z, p, links_of(answers)).isfinite()


def test_one_group_asks_for_nothing() -> None:
    p = torch.ones(10, 1)
    assert ClusterContrast()(p).item() == pytest.approx(0, abs=1e-6)
    assert balance(p).item() == balance(p, views=1).item() == 0


@EVERY
def test_empty_groups_and_rows_of_zeros_give_no_nan(loss: Loss) -> None:
    z = torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    z[2] = 0
    z.requires_grad_()
    p = torch.zeros(8, 3)
    p[:, 0] = 1
    p.requires_grad_()
    value = loss(z, p, BatchLinks.from_pairs(same=[(0, 1)], different=[(1, 2)]))
    value.backward()
    assert value.isfinite()
    for x in (z, p):
        assert x.grad is None or x.grad.isfinite().all()


@pytest.mark.parametrize("n", [1, 2, 5, 32])
@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_pcl_without_answers_is_cc_and_a_constant(n: int, temperature: float) -> None:
    z, _, _ = case(n, 2, seed=10)
    found = ConstrainedContrast(temperature=temperature).instance(z, BatchLinks.none())
    plain = NTXent(temperature=temperature)(z) + math.log(2 * n / (2 * n - 1))
    torch.testing.assert_close(found, plain)


def test_a_different_answer_raises_pcls_loss_of_a_row_exactly_when_the_pair_is_too_similar() -> (
    None
):
    n, raised, lowered = 6, 0, 0
    loss = ConstrainedContrast()
    before = BatchLinks.from_pairs(different=[(0, 1), (2, 3)])
    for seed in range(30):
        z, _, _ = case(n, 2, seed=seed)
        unit = torch.nn.functional.normalize(z)
        cosine = unit @ unit.T
        after = BatchLinks.from_pairs(different=[(0, 1), (2, 3), (0, 4)])
        old, new = (loss.pair_losses(cosine, links.masks(n)) for links in (before, after))
        for i in (0, 6, 4, 10):
            pair = cosine[i, [4, 10] if i % n == 0 else [0, 6]].exp().mean()
            counts = torch.ones(2 * n, dtype=z.dtype)
            counts[i] = 0
            if i % n == 0:
                counts[[1, 7]] += 1
            mean = (counts * cosine[i].exp()).sum() / counts.sum()
            assert ((new[i] > old[i]) == (pair > mean)).all()
            raised, lowered = raised + int(pair > mean), lowered + int(pair < mean)
        untouched = [1, 2, 3, 5, 7, 8, 9, 11]
        torch.testing.assert_close(new[untouched], old[untouched])
    assert raised and lowered


def test_a_same_answer_never_worsens_occs_row_when_the_pair_is_closer_than_the_row_mean() -> None:
    n, helped = 6, 0
    loss = ActiveContrast()
    for seed in range(30):
        z, _, _ = case(n, 2, seed=seed)
        unit = torch.nn.functional.normalize(z)
        s = (unit @ unit.T / 0.5).exp()
        old = loss.rows(z, BatchLinks.none(), 2.0)
        new = loss.rows(z, BatchLinks.from_pairs(same=[(0, 4)]), 2.0)
        for i, other in ((0, [4, 10]), (6, [4, 10]), (4, [0, 6]), (10, [0, 6])):
            if s[i, other].mean() > s[i].mean():
                assert new[i] <= old[i]
                helped += 1
    assert helped


def test_occ_as_printed_makes_no_use_of_different_answers() -> None:
    z, _, _ = case(5, 2, seed=11)
    told = BatchLinks.from_pairs(different=[(0, 1), (2, 4)])
    assert ActiveContrast()(z, told, 20.0) == ActiveContrast()(z, BatchLinks.none(), 20.0)
    used = ActiveContrast(use_different=True)
    assert used(z, told, 20.0) != used(z, BatchLinks.none(), 20.0)


def test_occ_without_weight_forgets_its_answers() -> None:
    z, _, _ = case(5, 2, seed=12)
    told = BatchLinks.from_pairs(same=[(0, 1)])
    torch.testing.assert_close(
        ActiveContrast()(z, told, 0.0), ActiveContrast()(z, BatchLinks.none(), 9.0)
    )


def test_guessed_links_weigh_one() -> None:
    links = BatchLinks.from_pairs(same=[(0, 1)], guessed=[(2, 3)])
    for profile in ("reference", "paper"):
        weights = ConstrainedContrast(profile=profile).pair_weights(links.masks(5))
        alone = ConstrainedContrast(profile=profile).pair_weights(
            links._replace(guessed=links.guessed[:0]).masks(5)
        )
        added = weights - alone  # nothing else moves: guesses are not counted as answers
        expected = torch.zeros(10, 10)
        for i in (2, 7):
            for j in (3, 8):
                expected[i, j] = expected[j, i] = 1
        assert torch.equal(added, expected)
    z, _, _ = case(5, 2, seed=13)
    guessed, answered = (
        BatchLinks.from_pairs(guessed=[(2, 3)]),
        BatchLinks.from_pairs(same=[(2, 3)]),
    )
    torch.testing.assert_close(
        ActiveContrast()(z, guessed, 50.0), ActiveContrast()(z, answered, 1.0)
    )


@ANSWERED
def test_a_guess_never_overrules_an_answer(name: str) -> None:
    z, p, _ = case(5, 2, seed=14)
    answers = BatchLinks.from_pairs(same=[(0, 1)], different=[(2, 3)])
    wrong = BatchLinks.from_pairs(same=[(0, 1)], different=[(2, 3)], guessed=[(1, 0), (2, 3)])
    torch.testing.assert_close(LOSSES[name](z, p, wrong), LOSSES[name](z, p, answers))


@ANSWERED
def test_following_the_gradient_brings_the_same_together_and_keeps_the_different_apart(
    name: str,
) -> None:
    z, p, _ = case(4, 2, seed=15)
    logits = (0.1 * torch.randn(4, 2, generator=torch.Generator().manual_seed(0))).repeat(2, 1)
    logits = logits.double().requires_grad_()
    z.requires_grad_()
    links = BatchLinks.from_pairs(same=[(0, 1), (2, 3)], different=[(0, 2), (0, 3), (1, 2), (1, 3)])
    descent = torch.optim.Adam([z, logits], lr=0.05)
    for _ in range(200):
        descent.zero_grad()
        p = logits.softmax(dim=1)
        (LOSSES[name](z, p, links) + ClusterContrast()(p) + balance(p)).backward()
        descent.step()
    groups = logits.argmax(dim=1).tolist()
    assert groups[0] == groups[1] != groups[2] == groups[3]
    unit = torch.nn.functional.normalize(z.detach())
    assert unit[0] @ unit[1] > 0.9 > 0.5 > unit[0] @ unit[2]


def test_balance_is_zero_for_equal_groups_and_log_k_for_a_single_one() -> None:
    assert balance(torch.eye(4).repeat(2, 1)).item() == pytest.approx(0, abs=1e-6)
    one = torch.zeros(6, 4)
    one[:, 2] = 1
    assert balance(one, views=1).item() == pytest.approx(math.log(4))
    assert balance(one).item() == pytest.approx(2 * math.log(4))


def test_what_cannot_be_used_is_told() -> None:
    with pytest.raises(InputError, match=r"2N rows; the shape is \(3, 2\)"):
        NTXent()(torch.ones(3, 2))
    with pytest.raises(InputError, match="2N rows"):
        balance(torch.ones(0, 2))
    with pytest.raises(InputError, match="Expected temperature to be a number above 0"):
        ConstrainedContrast(temperature=0.0)
    with pytest.raises(InputError, match="reference, paper"):
        ConstrainedContrast(profile="exact")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="reference, paper, occ"):
        ClusterContrast(profile="exact")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Expected lam to be"):
        ActiveContrast()(torch.ones(2, 2), BatchLinks.none(), -1.0)


def test_links_can_be_moved_with_the_batch() -> None:
    links = BatchLinks.from_pairs(same=[(0, 1)]).to("meta")
    assert {pairs.device.type for pairs in links} == {"meta"}
