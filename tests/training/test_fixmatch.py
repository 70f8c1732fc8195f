"""FixMatch as published: its batches, its guesses, its rate, and what comes out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from test_recordable_steps import Listening
from torch import Tensor

from samekind.compute import Compute
from samekind.training.augment import FAMILIES
from samekind.training.finetune import Changes
from samekind.training.fixmatch import FixMatchTuner, FixMatchTuning, Rounds, fixmatch_changes
from samekind.training.network import Network
from samekind.training.resnet import ResNet
from samekind.training.strong import FIXMATCH_STRONG, FIXMATCH_WEAK, Strong

CPU = Compute("cpu", "float32", "for a test")
N, LABELLED = 40, 6


class Noted(FixMatchTuner):
    """Remembers the rates that were used, and the lengths of the gradients."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.rates: list[float] = []
        self.batches: list[tuple[Tensor, ...]] = []

    def _parts(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
        self.batches.append(batch)
        parts = super()._parts(numbers, *batch)
        self.rates.append(float(numbers[0]))
        return parts


def tuner(kind: type[FixMatchTuner] = Noted, *, answered: int = LABELLED, **wanted: Any) -> Any:
    rng = np.random.default_rng(0)
    data = torch.from_numpy(rng.integers(0, 256, (N, 3, 8, 8)).astype(np.uint8))
    torch.manual_seed(0)
    network = Network(ResNet(18, stem="3x3", base=4), k=2, attention=False)
    rows = rng.permutation(N)[:answered]
    changes = fixmatch_changes(FAMILIES["cc-small"].at(8), data, CPU)
    settings = {"labelled": 8, "unlabelled": 12, "epochs": 3, **wanted}
    return kind(
        network, data, rows, rows % 2, changes, FixMatchTuning(**settings), compute=CPU, seed=0
    )


def test_the_settings_are_those_that_were_published() -> None:
    published = FixMatchTuning()
    assert (published.labelled, published.unlabelled) == (64, 7 * 64)
    assert (published.learning_rate, published.weight_decay) == (0.03, 5e-4)
    assert (published.sure, published.average) == (0.95, 0.999)
    one = tuner()
    assert one.plan.clip is None and isinstance(one.optimiser, torch.optim.SGD)
    assert all(group["momentum"] == 0.9 for group in one.optimiser.param_groups)
    assert all(group["nesterov"] for group in one.optimiser.param_groups)
    assert all(group["factor"] == 1 for group in one.optimiser.param_groups)


def test_the_rate_falls_like_a_cosine_over_seven_sixteenths_of_a_turn() -> None:
    one = tuner()
    one.run()
    steps = 10  # 3 epochs of 40 items in steps of 12
    assert len(one.rates) == steps
    wanted = [0.03 * math.cos(7 * math.pi * t / (16 * steps)) for t in range(steps)]
    np.testing.assert_allclose(one.rates, wanted, rtol=1e-6)


def test_no_answered_item_is_ever_among_those_without_a_label() -> None:
    one = tuner(epochs=30)
    one.run()
    labelled = torch.cat([batch[0] for batch in one.batches])
    others = torch.cat([batch[1] for batch in one.batches])
    known = set(torch.nonzero(one.label_of >= 0).flatten().tolist())
    assert set(labelled.tolist()) == known and len(known) == LABELLED
    assert not known & set(others.tolist())
    counts = torch.bincount(others, minlength=N)[one.label_of < 0]
    assert int(counts.max() - counts.min()) <= 1, "each of the others comes equally often"


def test_labelled_items_fill_their_part_of_the_batch_and_come_equally_often() -> None:
    one = tuner()
    one.run()
    assert all(len(batch[0]) == 8 for batch in one.batches), "six labels, eight places"
    counts = torch.bincount(torch.cat([batch[0] for batch in one.batches]))
    counts = counts[counts > 0]
    assert int(counts.max() - counts.min()) <= 1


def test_guesses_come_from_the_network_and_not_from_its_average() -> None:
    class Asked(FixMatchTuner):
        def _average(self, past: Tensor) -> None:
            """Keep the average as different as it is."""

    one = tuner(Asked, sure=0.5)
    with torch.no_grad():
        for parameter in one.averaged.parameters():
            parameter.zero_()  # sure of nothing, so its guesses would be those of one group

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the average was asked for a guess")

    one._teacher = refuse
    one.run()


def test_a_step_costs_what_the_formula_says_of_one_pass_through_the_network() -> None:
    one = tuner(sure=0.6)
    items, others = one._batch()
    twin = torch.Generator().manual_seed(0)
    found = one._parts(torch.zeros(2), items, others)
    weak = one.weak(one.data[torch.cat([items, others])], twin)
    strong = one.strong(one.data[others], twin)
    torch.manual_seed(0)
    network = Network(ResNet(18, stem="3x3", base=4), k=2, attention=False)
    p = network(torch.cat([weak, strong]), views=1).p  # in training: one batch for batch norms
    labelled = -p[: len(items)].log()[torch.arange(len(items)), one.label_of[items]].mean()
    q, s = p[len(items) :].chunk(2)
    total, sure = 0.0, 0
    for guess, shown in zip(q, s, strict=True):
        if guess.max() >= 0.6:
            total -= math.log(shown[guess.argmax()].item())
            sure += 1
    assert 0 < sure < len(others)
    torch.testing.assert_close(found["labelled"], labelled)
    assert found["unlabelled"].item() == pytest.approx(total / len(others), rel=1e-4)


def test_a_step_never_waits_for_the_device_so_it_can_be_recorded() -> None:
    one = tuner()
    batch = one._batch()
    with Listening() as listening:
        parts = FixMatchTuner._parts(one, torch.zeros(2), *batch)
        sum(parts.values()).backward()  # type: ignore[union-attr]
    assert listening.heard == []


def test_a_long_gradient_is_not_shortened() -> None:
    class Steep(FixMatchTuner):
        def _parts(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
            bias = self.network.cluster.layers[2].bias
            assert isinstance(bias, Tensor)
            return {"labelled": 1000 * bias.sum()}

    one = tuner(Steep, epochs=0.1, average=0.0)  # one step
    bias = one.network.cluster.layers[2].bias.detach().clone()
    one.run()
    moved = bias - one.network.cluster.layers[2].bias.detach()
    torch.testing.assert_close(moved, torch.full((2,), 0.03 * 1000 * 1.9))  # Nesterov: 1 + .9


def test_the_averaged_network_comes_out() -> None:
    one = tuner(average=0.9)
    assert one.run() is one.averaged
    assert not torch.equal(
        one.averaged.cluster.layers[2].weight, one.network.cluster.layers[2].weight
    )


@pytest.mark.parametrize("answered", [N, N - 1])
def test_it_trains_where_all_items_or_nearly_all_are_answered(answered: int) -> None:
    one = tuner(answered=answered)
    network = one.run()
    assert len(one.rates) == 10, "as many steps as with few answers"
    assert all(bool(torch.isfinite(value).all()) for value in network.state_dict().values())
    assert all(len(batch[1]) == N - answered for batch in one.batches)


def test_views_have_the_size_mean_and_std_of_the_family() -> None:
    family = FAMILIES["pcl"].at(16)
    changes = fixmatch_changes(family, torch.zeros(1), CPU)
    assert isinstance(changes, Changes)
    for views, published in zip(changes, (FIXMATCH_WEAK, FIXMATCH_STRONG), strict=True):
        assert isinstance(views, Strong)
        assert (views.family.size, views.family.mean) == (16, family.mean)
        assert (views.family.n_ops, views.family.shift) == (published.n_ops, 0.125)


def test_rounds_give_every_item_once_before_any_comes_again() -> None:
    rounds = Rounds(np.arange(10), np.random.default_rng(0))
    taken = np.concatenate([rounds.take(3) for _ in range(10)])
    for start in range(0, 30, 10):
        assert sorted(taken[start : start + 10]) == list(range(10))
    assert not np.array_equal(taken[:10], taken[10:20])
    assert len(Rounds(np.empty(0, dtype=np.intp), np.random.default_rng(0)).take(0)) == 0
