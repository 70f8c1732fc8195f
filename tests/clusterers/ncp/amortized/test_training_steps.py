"""A step of training: pieces, fixed shapes and recordable steps give what the plain step gives."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from samekind.clusterers.ncp.amortized import training, training_loop
from samekind.clusterers.ncp.amortized.calibration import Calibrated
from samekind.clusterers.ncp.amortized.generators import Episode, GaussianMixtures, Generator
from samekind.clusterers.ncp.amortized.mixed_vectors import MixedVectors
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.priors import MFM
from samekind.clusterers.ncp.amortized.training import (
    PointwiseTraining,
    negative_log_likelihood,
    train,
)
from samekind.clusterers.ncp.amortized.training_loop import doubling_ranges

SMALL = Sizes(
    features=16, width=16, h_outputs=16, g_outputs=16, attention=1, heads=2, inducing=3
)  # fmt: skip
DATA = GaussianMixtures(points=(3, 9), max_groups=5)


def work(data: Generator = DATA, permutations: int = 2, batch: int = 12) -> PointwiseTraining:
    torch.manual_seed(0)
    return PointwiseTraining(
        NCPNetwork(SMALL).double(), data, permutations, batch=batch, lr=1e-3, weight_decay=0.0,
        clip=1.0, ranges=1, device="cpu",
    )  # fmt: skip


def gradient(made: PointwiseTraining) -> Tensor:
    found = [p.grad.flatten() for p in made.network.parameters() if p.grad is not None]
    return torch.cat(found)


def episode(seed: int = 0) -> Episode:
    drawn = DATA.draw(12, torch.Generator().manual_seed(seed))
    return drawn._replace(x=drawn.x.double())


@pytest.mark.parametrize("piece", [1, 40, 10_000])
def test_pieces_add_up_to_the_gradient_of_the_whole_batch(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "CPU_POINTS", piece)
    whole, parts = work(permutations=1), work(permutations=1)
    given = episode()
    count = given.mask.sum()
    nll = negative_log_likelihood(whole.network, given).sum()
    (nll / count).backward()
    found = parts._backward(given, DATA.points, count)
    assert torch.allclose(found, nll.detach())
    assert torch.allclose(gradient(parts), gradient(whole), atol=1e-12)


def test_a_step_with_fixed_shapes_follows_the_same_gradient() -> None:
    plain, fixed = work(permutations=1), work(permutations=1)
    fixed.records, fixed.capacity = True, {DATA.points: fixed._room(DATA.points)}
    given = episode()
    count = given.mask.sum()
    expected = plain._backward(given, DATA.points, count)
    assert torch.allclose(fixed._backward(given, DATA.points, count), expected)
    assert torch.allclose(gradient(plain), gradient(fixed), atol=1e-12)


@pytest.mark.parametrize("prior", [DATA.prior, MFM()])
def test_a_recorded_step_has_room_for_nearly_all_batches_and_not_for_all_there_could_be(
    prior: Any,
) -> None:
    data = GaussianMixtures(points=(40, 60), max_groups=16, prior=prior)
    made = work(data, permutations=3, batch=32)
    made.capacity = {data.points: made._room(data.points)}
    assert made.capacity[data.points] < 0.75 * 32 * 60 * 17 * 3
    chance = torch.Generator().manual_seed(1)
    lost = sum(int(made._that_fits(data.draw(32, chance), data.points)[1]) for _ in range(100))
    assert lost <= training_loop.MAX_LEFT_OUT * 3200


def test_data_sets_without_room_are_left_out_whole() -> None:
    made, drawn = work(), episode()
    every = training.open_choices(drawn.labels, drawn.mask)
    made.capacity = {DATA.points: 2 * int(every[:7].sum())}  # two orders of seven data sets
    kept, left_out = made._that_fits(drawn, DATA.points)
    assert torch.equal(kept.mask[:7], drawn.mask[:7]) and not kept.mask[7:].any()
    assert not kept.labels[7:].any() and int(left_out) == 5
    made.total[2] = left_out
    assert made.total[2] > training_loop.MAX_LEFT_OUT * training_loop.REPORT_EVERY
    before, made.recorded = made._room(DATA.points), {DATA.points: None}  # type: ignore[dict-item]
    made._mean_loss()  # the next steps are recorded anew, with more room
    assert not made.recorded and made._room(DATA.points) > before


class NoWaiting(TorchDispatchMode):
    """Refuses what would wait for a GPU, or copy from the host, inside a step."""

    WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "lift_fresh", "unique", "equal")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert not any(name.startswith(word) for word in self.WAITS), f"{name} waits"
        return func(*args, **(kwargs or {}))


def test_a_recorded_step_never_waits_for_the_device() -> None:
    data = Calibrated(MixedVectors(dim=5, kinds=5, points=(3, 9)), 2)
    made = work(data)
    made.network.float()
    made.records, made.capacity = True, {data.points: made._room(data.points)}
    with NoWaiting():
        drawn, _ = made._that_fits(data.draw(made.batch, made.rng, data.points), data.points)
        made._backward(drawn, data.points, drawn.mask.sum())
    assert bool(torch.isfinite(gradient(made)).all())
    with pytest.raises(AssertionError, match="waits"), NoWaiting():
        negative_log_likelihood(made.network, drawn)  # looks up the number of groups


def test_a_batch_has_fewer_data_sets_where_they_are_large() -> None:
    made = work()
    made.most_points = 60
    assert [made._batch(points) for points in ((3, 4), (5, 9), (90, 99))] == [12, 6, 1]
    seen: list[int] = []

    class Watched(GaussianMixtures):
        def draw(
            self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
        ) -> Episode:
            seen.append(batch)
            return super().draw(batch, generator, points)

    data = Watched(points=(3, 9), max_groups=5)
    ranges = [(3, 4), (5, 9)]
    train(NCPNetwork(SMALL), data, steps=20, batch=6, device="cpu", ranges=ranges, most_points=18)
    assert set(seen) == {4, 2}


def test_ranges_of_ones_own_are_what_is_drawn() -> None:
    seen: list[tuple[int, int]] = []

    class Watched(GaussianMixtures):
        def draw(
            self, batch: int, generator: torch.Generator, points: tuple[int, int] | None = None
        ) -> Episode:
            assert points is not None
            seen.append(points)
            return super().draw(batch, generator, points)

    data = Watched(points=(3, 20), max_groups=5)
    ranges = doubling_ranges(data.points)
    assert ranges == [(3, 6), (7, 14), (15, 20)]
    train(NCPNetwork(SMALL), data, steps=40, batch=2, device="cpu", ranges=ranges)
    assert set(seen) == set(ranges) and all(seen.count(r) > 4 for r in ranges)


def test_doubling_ranges_cover_every_size_once() -> None:
    for points in ((4, 100), (1, 3), (7, 7), (50, 299), (8, 9)):
        sizes = [n for low, high in doubling_ranges(points) for n in range(low, high + 1)]
        assert sizes == list(range(points[0], points[1] + 1))
