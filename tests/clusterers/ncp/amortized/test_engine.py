"""The engine against the published numbers, and the loop-free likelihood against the engine."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmarks.ncp.exact import all_partitions
from closed_form import (
    VECTORS,
    ClosedForm,
    first_appearance,
    slow_joint,
    slow_step,
    small_network,
    table,
)
from samekind.clusterers.ncp.amortized.engine import Engine, State
from samekind.clusterers.ncp.amortized.likelihood import (
    chosen,
    log_joint,
    random_order,
    relabel,
    step_log_probs,
)
from samekind.clusterers.ncp.amortized.network import Functions

QUICK = settings(max_examples=15, deadline=None)
VARIANTS = [
    {},
    {"pool": "sum", "activation": "prelu"},
    {"share": True},
    {"feed_point": True},
    {"encoder": "none", "share": True, "feed_point": True},
    {"attention": 2, "heads": 2, "inducing": 3},
]


def forced(network: Functions, x: Tensor, labels: Tensor, mask: Tensor | None = None) -> State:
    """The sequential engine, told where to put each point."""
    B, N = labels.shape
    order = torch.arange(N).expand(B, N)
    engine = Engine(network, network.points(x, mask), order, mask)
    state = engine.start()
    for n in range(N):
        state = engine.move(state, engine.look(state, n), n, torch.arange(B), labels[:, n])
    return state


def rows(seed: int, B: int, N: int) -> tuple[Tensor, Tensor, Tensor]:
    chance = torch.Generator().manual_seed(seed)
    x = torch.randn(B, N, 2, generator=chance, dtype=torch.float64)
    size = torch.randint(1, N + 1, (B, 1), generator=chance)
    mask = torch.arange(N) < size
    labels = relabel(torch.randint(0, min(N, 4), (B, N), generator=chance), mask)
    return x, labels, mask


# The published numbers


def test_the_engine_gives_the_published_trace() -> None:
    network, x = ClosedForm(), table(VECTORS["engine"]["x"])
    labels = torch.tensor([VECTORS["engine"]["labels"]])
    engine = Engine(network, network.points(x[None], None), torch.arange(5)[None])
    state = engine.start()
    for n in range(5):
        choices = engine.look(state, n)
        if n > 0:
            expected = VECTORS["engine"]["trace"][n - 1]
            K = len(expected["H"])
            assert torch.allclose(state.H[state.slots[0, :K]], table(expected["H"]), atol=1e-9)
            assert torch.allclose(engine.context[0, n], table(expected["U"]), atol=1e-9)
            mine = state.groups[state.slots[0]]
            G = torch.stack([
                mine.sum(0) - mine[k] + choices.groups[choices.rows[0, k]] for k in range(K + 1)
            ])  # fmt: skip
            assert torch.allclose(state.G[0], mine.sum(0), atol=1e-9)
            assert torch.allclose(G, table(expected["G_per_choice"]), atol=1e-9)
            assert torch.allclose(choices.log_probs[0], table(expected["logp"]), atol=1e-9)
        state = engine.move(state, choices, n, torch.tensor([0]), labels[:, n])
    assert float(state.log_prob) == pytest.approx(VECTORS["engine"]["joint_logp"], abs=1e-9)


@pytest.mark.parametrize("n_groups", [None, 5, 7])
def test_all_52_partitions_have_the_published_probabilities(n_groups: int | None) -> None:
    expected = VECTORS["engine"]["all_partitions_logp"]
    labels = torch.tensor([[int(k) for k in name] for name in expected])
    x = table(VECTORS["engine"]["x"]).expand(52, 5, 2)
    found = log_joint(ClosedForm(), x, labels, n_groups=n_groups)
    assert torch.allclose(found, table(list(expected.values())), atol=1e-9)
    assert float(found.exp().sum()) == pytest.approx(1, abs=1e-12)


def last_law(order: list[int], n: int) -> Tensor:
    x, labels = table(VECTORS["engine"]["x"])[order], VECTORS["engine"]["labels"]
    named = torch.tensor([first_appearance(labels[i] for i in order)])
    law = step_log_probs(ClosedForm(), x[None], named)[0, n]
    return law[law > -torch.inf]


def test_the_published_symmetries_hold_and_the_joint_depends_on_the_order() -> None:
    cases, network = VECTORS["symmetry"], ClosedForm()
    same = table(cases["a_swap_members_of_one_cluster"])
    assert torch.allclose(last_law([3, 1, 2, 0, 4], 4), same, atol=1e-9)
    swapped = table(cases["b_cluster_names_swapped"])
    assert torch.allclose(last_law([2, 0, 1, 3, 4], 4), swapped, atol=1e-9)
    law = table(cases["last_point_law"])
    assert torch.allclose(law[cases["b_expected_reordering"]], swapped, atol=1e-9)
    for order, law_of_1 in zip(
        ([0, 1, 2, 3, 4], [0, 1, 4, 2, 3]), cases["c_unplaced_permuted"], strict=True
    ):
        assert torch.allclose(last_law(order, 1), table(law_of_1), atol=1e-9)
    x, labels = table(VECTORS["engine"]["x"]), VECTORS["engine"]["labels"]
    for case in cases["d_joint_by_order"]:
        named = torch.tensor([first_appearance(labels[i] for i in case["order"])])
        found = log_joint(network, x[case["order"]][None], named)
        assert float(found) == pytest.approx(case["logp"], abs=1e-9)


# Properties of any network


@pytest.mark.parametrize("sizes", VARIANTS)
@pytest.mark.parametrize("n", [1, 2, 5, 6])
def test_the_probabilities_of_all_partitions_sum_to_one(sizes: dict, n: int) -> None:
    network, labels = small_network(3, **sizes), torch.from_numpy(all_partitions(n).copy())
    x = torch.randn(n, 2, dtype=torch.float64).expand(len(labels), n, 2)
    assert float(log_joint(network, x, labels).exp().sum().detach()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("sizes", VARIANTS)
@QUICK
@given(seed=st.integers(0, 10_000), N=st.integers(1, 9))
def test_loop_free_padded_packed_and_sequential_are_the_same(
    sizes: dict, seed: int, N: int
) -> None:
    network = small_network(seed, **sizes)
    x, labels, mask = rows(seed, 3, N)
    packed = step_log_probs(network, x, labels, mask)
    padded = step_log_probs(network, x, labels, mask, n_groups=min(N, 4) + 2)
    assert torch.allclose(packed.exp(), padded.exp()[..., : packed.shape[2]], atol=1e-10)
    assert not padded.exp()[..., packed.shape[2] :].any()
    joint = chosen(packed, labels).sum(1).detach()
    assert torch.allclose(forced(network, x, labels, mask).log_prob, joint, atol=1e-9)
    for b in range(3):
        n = int(mask[b].sum())
        slow = slow_joint(network, x[b, :n], labels[b, :n].tolist())
        assert float(joint[b]) == pytest.approx(float(slow.detach()), abs=1e-9)


@pytest.mark.parametrize("sizes", VARIANTS)
def test_summing_behind_the_first_layer_is_the_same_as_before_it(sizes: dict) -> None:
    network = small_network(4, **sizes)
    x = torch.randn(4, 2, dtype=torch.float64)
    e = network._mixed(x[None], None, None)[0][0]
    h = network.h_net(e)
    u = h if network.u_net is None else network.u_net(e)

    def pooled(rows: Tensor) -> Tensor:
        if network.sizes.pool == "sum":
            return rows.sum(0)
        count = torch.tensor([len(rows)], dtype=torch.float64)
        return torch.cat([rows.sum(0) / max(1, len(rows)), count.log1p()])

    groups = [[[0, 1, 2]], [[0, 1], [2]]]  # the third point joins the first two, or does not
    scores = []
    for members in groups:
        G = torch.stack([network.g_net(pooled(h[m])) for m in members]).sum(0)
        inside = network.f_choice(G) + network.f_context(pooled(u[3:]))
        if network.f_point is not None:
            inside = inside + network.f_point(h[2])
        scores.append(network.f_net(inside)[0])
    expected = torch.stack(scores).log_softmax(0)
    found = step_log_probs(network, x[None], torch.tensor([[0, 0, 1, 1]]))[0, 2, :2]
    assert torch.allclose(found, expected, atol=1e-10)


def test_what_lies_in_the_padding_does_not_matter() -> None:
    network = small_network()
    x, labels, mask = rows(5, 4, 8)
    before = log_joint(network, x, labels, mask)
    odd = torch.where(mask[..., None], x, torch.nan)
    assert torch.equal(log_joint(network, odd, labels, mask), before)
    alone = [
        log_joint(network, x[b : b + 1, : int(m.sum())], labels[b : b + 1, : int(m.sum())])
        for b, m in enumerate(mask)
    ]
    assert torch.allclose(torch.cat(alone), before, atol=1e-10)


@pytest.mark.parametrize("n_groups", [None, 6])
def test_gradients_are_those_of_the_slow_loop(n_groups: int | None) -> None:
    network = small_network(7)
    x, labels, mask = rows(11, 3, 6)
    log_joint(network, x, labels, mask, n_groups=n_groups).sum().backward()
    quick = [p.grad.clone() for p in network.parameters() if p.grad is not None]
    network.zero_grad()
    slow = [
        slow_joint(network, x[b, : int(m.sum())], labels[b].tolist()) for b, m in enumerate(mask)
    ]
    torch.stack(slow).sum().backward()
    exact = [p.grad for p in network.parameters() if p.grad is not None]
    assert len(quick) == len(exact) > 0
    for a, b in zip(quick, exact, strict=True):
        assert torch.allclose(a, b, atol=1e-8), (a - b).abs().max()


def test_the_padding_leaves_gradients_finite() -> None:
    network = small_network()
    x, labels, mask = rows(5, 4, 8)
    mask[1] = False  # a data set that was blanked
    labels = relabel(labels, mask)
    log_joint(network, x, labels, mask, n_groups=9).sum().backward()
    assert all(
        bool(torch.isfinite(p.grad).all()) for p in network.parameters() if p.grad is not None
    )


def test_more_groups_than_there_was_room_for_are_no_problem() -> None:
    network, N = small_network(1), 40
    x = torch.randn(2, N, 2, dtype=torch.float64)
    labels = torch.stack([torch.arange(N), torch.arange(N) // 2])
    state = forced(network, x, labels)
    assert state.slots.shape[1] >= 40 and state.n_groups.tolist() == [40, 20]
    assert torch.allclose(state.log_prob, log_joint(network, x, labels), atol=1e-8)


def test_states_share_the_groups_that_they_have_in_common() -> None:
    network, x = small_network(1), torch.randn(1, 4, 2, dtype=torch.float64)
    engine = Engine(network, network.points(x, None), torch.arange(4)[None])
    state = engine.start()
    for step, (parent, choice) in enumerate((([0], [0]), ([0], [1]), ([0, 0], [0, 1]))):
        choices = engine.look(state, step)
        state = engine.move(state, choices, step, torch.tensor(parent), torch.tensor(choice))
    # {0, 2} {1} and {0} {1, 2}: four different groups and the empty one, and no more.
    assert len(state.H) == 5
    assert len(engine.look(state, 3).H) == 5, "each may be joined, or a new one begun"


@QUICK
@given(st.lists(st.integers(0, 5), min_size=6, max_size=9))
def test_relabelling_is_by_first_appearance(labels: list[int]) -> None:
    assert relabel(torch.tensor([labels]))[0].tolist() == first_appearance(labels)
    padded = torch.tensor([[*labels, 3, 1]])
    mask = torch.arange(padded.shape[1])[None] < len(labels)
    assert relabel(padded, mask)[0].tolist() == [*first_appearance(labels), 0, 0]


def test_a_random_order_keeps_the_padding_last() -> None:
    mask = torch.tensor([[True] * 5 + [False] * 2, [True] * 7])
    order = random_order(mask, torch.Generator().manual_seed(0))
    assert order[0, 5:].sort().values.tolist() == [5, 6]
    assert sorted(order[1].tolist()) == list(range(7))


def test_a_slow_step_agrees_with_the_trace() -> None:
    x, labels = table(VECTORS["engine"]["x"]), VECTORS["engine"]["labels"]
    for expected in VECTORS["engine"]["trace"]:
        found = slow_step(ClosedForm(), x, labels, expected["n"])
        for name, value in found.items():
            assert np.allclose(value.numpy(), expected[name], atol=1e-9)


def test_one_point_is_certain() -> None:
    found = log_joint(
        small_network(),
        torch.zeros(1, 1, 2, dtype=torch.float64),
        torch.zeros(1, 1, dtype=torch.long),
    )
    assert math.isclose(float(found.detach()), 0, abs_tol=1e-12)
