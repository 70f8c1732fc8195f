"""The training loop on tiny data: it learns, reports, stops cleanly, and survives NaN."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from samekind.clusterers.deep.occ import OCCLoss
from samekind.clusterers.deep.pcl import PCLLoss
from samekind.compute import Compute
from samekind.constraints import Constraints
from samekind.errors import InputError, SamekindError
from samekind.training.answered import Guesses
from samekind.training.bank import Reader
from samekind.training.loop import Plan, SchedulePoint, Trainer
from samekind.training.losses import CCLoss
from samekind.training.network import Network
from samekind.training.progress import Cancelled, Monitor, TrainingReport
from samekind.training.rows import NoisyRows, RowBackbone
from samekind.training.simclr import ItemContrast
from samekind.training.steps import memory_is_enough

CPU = Compute("cpu", "float32", "for a test")


def small_trainer(
    objective: Any = None, *, monitor: Monitor | None = None, attention: bool = True, **plan: Any
) -> Trainer:
    torch.manual_seed(0)
    data = torch.randn(60, 6) + 4 * torch.eye(3, 6).repeat(20, 1)
    network = Network(RowBackbone(6, width=16), k=3, out=8, attention=attention)
    settings: dict[str, Any] = {"batch_size": 20, "learning_rate": 3e-3, **plan}
    return Trainer(
        network,
        objective or PCLLoss(),
        data,
        NoisyRows(data),
        Plan(**settings),
        compute=CPU,
        monitor=monitor,
    )


@pytest.mark.parametrize("objective", [PCLLoss(), OCCLoss(), CCLoss(), ItemContrast()])
def test_every_loss_goes_down(objective: nn.Module) -> None:
    told: list[TrainingReport] = []
    trainer = small_trainer(objective, monitor=Monitor(report=told.append, every=1))
    trainer.learn_from(Constraints.from_links(60, [(0, 3, True), (0, 1, False), (1, 4, True)]))
    trainer.run(30, horizon=1e6)  # a horizon far away keeps OCC's weight of answers as it is
    losses = [report.parts["loss"] for report in told]
    assert len(losses) == 90 and told[-1].epoch == 30
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    assert np.isclose(losses[3], sum(v for k, v in told[3].parts.items() if k != "loss"))


def test_answers_move_items_together_and_apart() -> None:
    trainer = small_trainer(attention=False)
    same = [(i, i + 1, True) for i in range(0, 30, 3)]
    different = [(i, i + 2, False) for i in range(0, 30, 3)]
    trainer.learn_from(Constraints.from_links(60, same + different))
    trainer.run(60)
    bank = Reader.of(
        trainer.network, trainer.data, trainer.views.plain, CPU, peers=19, seed=0
    ).bank(trainer.data)
    cosine = bank.z @ bank.z.T
    rows = np.arange(30, 57, 3)  # items that no answer speaks of
    assert cosine[rows, rows + 1].mean() > cosine[rows, rows + 2].mean() + 0.2


def test_guessed_links_reach_the_loss_apart_from_answers() -> None:
    seen: list[int] = []

    class Spy(PCLLoss):
        def forward(self, out: Any, links: Any, point: SchedulePoint) -> Any:
            seen.append(int(links.guessed.triu().sum()))
            return super().forward(out, links, point)

    trainer = small_trainer(Spy())
    z = np.ones((60, 2), dtype=np.float32)
    p = np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (60, 1))
    trainer.learn_from(Constraints(60), Guesses.above(z, p, most=7))
    trainer.run(1)
    assert seen == [7, 7, 7]


def test_the_same_seed_gives_the_same_weights_and_another_one_others() -> None:
    weights = []
    for seed in (1, 1, 2):
        trainer = small_trainer(seed=seed)
        trainer.run(3)
        weights.append(trainer.network.cluster.layers[0].weight.detach().clone())
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_an_event_or_a_report_that_raises_stops_training_and_keeps_what_was_learnt() -> None:
    stop = threading.Event()
    trainer = small_trainer(monitor=Monitor(report=lambda told: stop.set(), stop=stop, every=2))
    with pytest.raises(Cancelled):
        trainer.run(10)
    assert trainer.step == 2
    stop.clear()
    trainer.monitor = Monitor()
    trainer.run(1)
    assert trainer.step == 5

    def refuse(told: TrainingReport) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small_trainer(monitor=Monitor(report=refuse, every=1)).run(1)


def test_a_loss_that_is_not_a_number_stops_training_at_the_last_good_state() -> None:
    class Breaking(CCLoss):
        def forward(self, out: Any, links: Any, point: SchedulePoint) -> Any:
            parts = super().forward(out, links, point)
            return {**parts, "bad": out.z.sum() * (float("nan") if point.epoch > 2 else 0.0)}

    trainer = small_trainer(Breaking(), monitor=Monitor(every=3))
    with pytest.raises(SamekindError, match="back at step 6"):
        trainer.run(5)
    assert trainer.step == 6
    assert all(torch.isfinite(value).all() for value in trainer.network.parameters())


def test_lack_of_memory_names_a_batch_size_to_try() -> None:
    with pytest.raises(SamekindError, match="batch_size=64"), memory_is_enough(128):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")
    with pytest.raises(SamekindError, match="batch_size=1,"), memory_is_enough(1):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate")
    with pytest.raises(RuntimeError, match="shapes"), memory_is_enough(8):
        raise RuntimeError("shapes do not match")


def test_one_item_alone_gets_the_same_result_as_in_a_crowd() -> None:
    trainer = small_trainer()
    trainer.run(2)
    reader = Reader.of(trainer.network, trainer.data, trainer.views.plain, CPU, peers=19, seed=0)
    crowd = reader.bank(trainer.data)
    for one in (0, 17, 59):
        alone = reader.bank(trainer.data[one : one + 1])
        np.testing.assert_allclose(alone.p[0], crowd.p[one], rtol=1e-4, atol=1e-6)
    shuffled = torch.randperm(60)
    np.testing.assert_allclose(
        reader.bank(trainer.data[shuffled], chunk=7).z,
        crowd.z[shuffled.numpy()],
        rtol=1e-4,
        atol=1e-5,
    )


def test_two_views_of_every_item_are_banked_in_order() -> None:
    trainer = small_trainer()
    reader = Reader.of(trainer.network, trainer.data, trainer.views.plain, CPU, peers=19, seed=0)
    views = reader.views_bank(trainer.data, trainer.views, lambda out: out.z, seed=1, chunk=16)
    assert views.shape == (2, 60, 8) and not np.allclose(views[0], views[1])
    own = (views[0] * views[1]).sum(axis=1).mean()
    others = (views[0] * np.roll(views[1], 1, axis=0)).sum(axis=1).mean()
    assert own > others


def test_an_unknown_optimiser_is_refused() -> None:
    with pytest.raises(InputError, match="adam, adam-l2 or sgd"):
        small_trainer(optimiser="magic")


def test_a_part_of_the_network_may_have_a_rate_of_its_own() -> None:
    trainer = small_trainer(optimiser="sgd", factors=(("cluster.", 10.0),), schedule="cosine")
    trainer.one_step(SchedulePoint(5.0, 10.0))
    rates = {id(p): g["lr"] for g in trainer.optimiser.param_groups for p in g["params"]}
    network = trainer.network
    assert len(rates) == len(list(network.parameters()))
    plain = rates[id(network.instance.layers[0].weight)]
    assert 0 < plain < 3e-3 and plain == rates[id(network.instance.layers[0].bias)]
    assert rates[id(network.cluster.layers[0].weight)] == pytest.approx(10 * plain)
    assert rates[id(network.cluster.layers[0].bias)] == pytest.approx(10 * plain)


def test_what_is_fixed_is_not_trained() -> None:
    trainer = small_trainer()
    trainer.network.instance.requires_grad_(False)
    trainer.renew()
    before = trainer.network.instance.layers[0].weight.clone()
    trainer.run(1)
    assert torch.equal(before, trainer.network.instance.layers[0].weight)
    count = sum(len(group["params"]) for group in trainer.optimiser.param_groups)
    assert count == sum(p.requires_grad for p in trainer.network.parameters())


def test_no_links_are_the_same_whether_looked_up_or_known_to_be_none() -> None:
    short, long = small_trainer(), small_trainer()
    long.guesses = Guesses(np.full(60, -1), np.ones((60, 2), dtype=np.float32))  # guesses nothing
    items = short.batches.items(0)
    quick, looked_up = short._batch(items)[1], long._batch(items)[1]
    assert torch.equal(quick, looked_up) and not quick.any()
    assert quick.shape == (3, 20, 20)


def test_another_loss_takes_over_with_the_same_optimiser() -> None:
    trainer = small_trainer(CCLoss(), compile="record")
    trainer.run(1)
    optimiser, recorded = trainer.optimiser, trainer._recorded
    trainer.change(ItemContrast())
    assert trainer.one_step(SchedulePoint(1, 2)).keys() == {"instance"}
    assert trainer.optimiser is optimiser and trainer._recorded is not recorded
    assert trainer.step == 4
