"""The network that learns from a slow copy of itself."""

from __future__ import annotations

import copy
import math

import pytest
import torch

from samekind.compute import Compute
from samekind.errors import InputError
from samekind.training.loop import Plan, SchedulePoint, Trainer
from samekind.training.losses import BYOLLoss, ProPosLoss
from samekind.training.momentum import Momentum
from samekind.training.rows import NoisyRows, RowBackbone

CPU = Compute("cpu", "float32", "for a test")


def small(**settings: float) -> Momentum:
    torch.manual_seed(0)
    return Momentum(RowBackbone(6, width=16), hidden=12, out=8, **settings)


def trained_by(network: Momentum, objective: object = None, **plan: object) -> Trainer:
    torch.manual_seed(1)
    data = torch.randn(40, 6)
    settings = {"batch_size": 20, "learning_rate": 0.05, "optimiser": "sgd", **plan}
    return Trainer(
        network,  # type: ignore[arg-type]
        objective or BYOLLoss(),  # type: ignore[arg-type]
        data,
        NoisyRows(data),
        Plan(**settings),  # type: ignore[arg-type]
        compute=CPU,
    )


def test_the_slow_copy_moves_by_exactly_the_average_of_itself_and_the_trained_one() -> None:
    network = small(average=0.9)
    trainer = trained_by(network)
    before = copy.deepcopy(network)
    trainer.one_step(SchedulePoint(0.0, 4.0))
    for part in ("backbone", "projector"):
        old = dict(getattr(before, f"target_{part}").named_parameters())
        new = dict(getattr(network, part).named_parameters())
        for name, now in getattr(network, f"target_{part}").named_parameters():
            torch.testing.assert_close(now, 0.9 * old[name] + (1 - 0.9) * new[name], rtol=0, atol=0)
            assert not now.requires_grad and now.grad is None
    assert not torch.equal(network.projector[0].weight, network.target_projector[0].weight)


def test_the_weight_of_the_past_rises_to_one_also_as_a_number_on_the_device() -> None:
    network = small(average=0.8, rising=True)
    for epoch in (0.0, 1.0, 3.0, 4.0):
        wanted = 1 - 0.2 * (math.cos(math.pi * epoch / 4) + 1) / 2
        assert network.past_at(SchedulePoint(epoch, 4.0)) == pytest.approx(wanted)
        there = network.past_at(SchedulePoint(torch.tensor(epoch), torch.tensor(4.0)))
        assert float(there) == pytest.approx(wanted, abs=1e-6)


def test_the_slow_copy_begins_as_the_trained_one_and_predictions_do_not() -> None:
    out = small().train()(torch.randn(10, 6))
    torch.testing.assert_close(out.v, out.t)
    assert not torch.allclose(out.q, out.t, atol=0.1)
    assert out.v.requires_grad and not out.t.requires_grad


def test_noise_comes_from_the_given_chance_and_only_after_its_time() -> None:
    network = small(noise=0.5, noise_from=0.25)
    rows = torch.randn(10, 6)
    chance = torch.Generator().manual_seed(3)
    network.draw(10, chance, SchedulePoint(0.9, 4.0))
    torch.testing.assert_close(network(rows).q, network.predictor(network(rows).v))
    network.draw(10, chance, SchedulePoint(torch.tensor(1.0), torch.tensor(4.0)))
    place, first = network._drawn, network(rows).q
    assert not torch.allclose(first, network.predictor(network(rows).v), atol=1e-3)
    again = torch.Generator().manual_seed(3)
    network.draw(10, again, SchedulePoint(0.0, 4.0))
    network.draw(10, again, SchedulePoint(1.0, 4.0))
    assert network._drawn is place  # a recorded step finds it where it was
    torch.testing.assert_close(network(rows).q, first)


def test_training_draws_the_noise_from_seed_and_step() -> None:
    results = []
    for seed in (0, 0, 1):
        network = small(noise=0.3)
        trained_by(network, ProPosLoss(40, 3), seed=seed).run(1)
        results.append(network.projector[0].weight.detach().clone())
    assert torch.equal(results[0], results[1]) and not torch.equal(results[0], results[2])


def test_without_labels_propos_is_byol_and_labels_add_the_scattering() -> None:
    network = small()
    out, items = network(torch.randn(12, 6)), torch.arange(6)
    objective, links, point = ProPosLoss(6, 2), None, SchedulePoint(0.0, 1.0)
    parts = objective.of_items(out, items, links, point)  # type: ignore[arg-type]
    byol = BYOLLoss()(out, links, point)
    assert parts["scattering"] == 0 and torch.equal(parts["alignment"], byol["alignment"])
    objective.labels.copy_(torch.tensor([0, 1, 0, 1, 0, 1]))
    parts = objective.of_items(out, items, links, point)  # type: ignore[arg-type]
    there = objective.scattering(out.v[:6], out.t[6:], objective.labels, 2)
    back = objective.scattering(out.v[6:], out.t[:6], objective.labels, 2)
    torch.testing.assert_close(parts["scattering"], 0.1 * (there + back) / 2)
    q, t = (torch.nn.functional.normalize(x, dim=1) for x in (out.q, out.t))
    slow = sum(2 - 2 * q[i] @ t[(i + 6) % 12] for i in range(12)) / 12
    torch.testing.assert_close(byol["alignment"], slow)


@pytest.mark.parametrize(("hidden", "out"), [(4096, 256), (1024, 64)])
def test_the_predictor_begins_as_published_and_narrower_ones_at_the_same_size(
    hidden: int, out: int
) -> None:
    torch.manual_seed(0)
    first, _, _, last = Momentum(RowBackbone(6, width=16), hidden=hidden, out=out).predictor
    for layer, inputs in ((first, 256), (last, 4096)):
        wanted = 0.01 * math.sqrt(inputs / layer.in_features)
        assert float(layer.weight.detach().std()) == pytest.approx(wanted, rel=0.02)
        assert not layer.bias.detach().any()
    rows = torch.randn(2000, hidden, generator=torch.Generator().manual_seed(1)).relu()
    assert float(last(rows).detach().std()) == pytest.approx(0.45, abs=0.03)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        small(average=1.5)
    with pytest.raises(InputError, match="torch module"):
        Momentum(lambda images: images)  # type: ignore[arg-type]
