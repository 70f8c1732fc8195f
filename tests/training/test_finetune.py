"""Training the whole network on answers when something goes wrong."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch

from samekind.compute import Compute
from samekind.constraints import Constraints
from samekind.errors import SamekindError
from samekind.objectives import BatchLinks
from samekind.training import tuning
from samekind.training.answered import Answered
from samekind.training.augment import FAMILIES
from samekind.training.finetune import Tuner, Tuning, linked_loss
from samekind.training.frozen import pair_loss
from samekind.training.network import Network
from samekind.training.progress import Cancelled, Monitor, TrainingReport
from samekind.training.resnet import ResNet


class BreaksLater(Tuner):
    """The loss is not a number from some step on."""

    breaks_at, steps = 0, 0

    def _loss(self, *batch: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        loss = super()._loss(*batch)
        return loss * float("nan") if self.steps > self.breaks_at else loss


class LacksMemory(Tuner):
    error: Exception = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    def _loss(self, *batch: torch.Tensor) -> torch.Tensor:
        raise self.error


def tuner(kind: type[Tuner] = Tuner, *, monitor: Monitor | None = None, **wanted: Any) -> Tuner:
    rng = np.random.default_rng(0)
    data = torch.from_numpy(rng.integers(0, 256, (32, 3, 8, 8)).astype(np.uint8))
    torch.manual_seed(0)
    network = Network(ResNet(18, stem="3x3", base=4), k=2, attention=False)
    known = Answered.from_constraints(Constraints.from_links(32, [(0, 1, False), (2, 3, True)]))
    settings: dict[str, Any] = {"answered": 8, "unlabelled": 16, "epochs": 5, **wanted}
    return kind(
        network,
        data,
        np.arange(16),
        np.arange(16) % 2,
        known,
        FAMILIES["cc-small"].at(8),
        Tuning(**settings),
        compute=Compute("cpu", "float32", "for a test"),
        seed=0,
        monitor=monitor,
    )


def weights(network: Network) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


@pytest.mark.parametrize("seconds", [None, 0.2])
def test_a_loss_that_is_not_a_number_falls_back_to_the_network_it_began_with(
    seconds: float | None,
) -> None:
    broken = tuner(BreaksLater, seconds=seconds)
    begun = weights(broken.averaged)
    with pytest.warns(RuntimeWarning, match="between steps 0 and .*network of step 0 is kept"):
        kept = broken.run()
    assert all(torch.equal(begun[name], value) for name, value in kept.state_dict().items())


def test_the_last_good_network_is_kept_and_training_ends_there(monkeypatch: Any) -> None:
    monkeypatch.setattr(tuning, "EVERY", 4)
    seen: dict[int, dict[str, torch.Tensor]] = {}

    def note(told: TrainingReport) -> None:
        seen[told.step] = weights(whole.averaged)

    whole = tuner(epochs=10.0, monitor=Monitor(report=note, every=4))
    whole.run()
    broken = tuner(BreaksLater, epochs=10.0)
    broken.breaks_at = 5  # type: ignore[attr-defined]
    with pytest.warns(RuntimeWarning, match="between steps 4 and 8"):
        kept = broken.run()
    assert broken.steps == 8, "it stops at the next look"  # type: ignore[attr-defined]
    assert all(torch.equal(seen[4][name], value) for name, value in kept.state_dict().items())
    assert not all(torch.equal(seen[8][n], v) for n, v in kept.state_dict().items())


def test_a_break_in_the_very_last_step_is_noticed() -> None:
    broken = tuner(BreaksLater, epochs=1.5)  # three steps
    broken.breaks_at = 2  # type: ignore[attr-defined]
    with pytest.warns(RuntimeWarning, match="between steps 0 and 3"):
        kept = broken.run()
    assert all(torch.isfinite(value.float()).all() for value in kept.state_dict().values())


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        MemoryError(),
    ],
)
def test_lack_of_memory_names_the_batch_size_to_try(error: Exception) -> None:
    lacking = tuner(LacksMemory)
    lacking.error = error  # type: ignore[attr-defined]
    with pytest.raises(SamekindError, match=r"batches of 16 items.*batch_size=8") as found:
        lacking.run()
    assert found.value.__cause__ is error


def test_other_errors_are_not_taken_for_lack_of_memory() -> None:
    wrong = tuner(LacksMemory)
    wrong.error = RuntimeError("shapes do not match")  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="shapes"):
        wrong.run()


def test_reports_say_how_much_is_done_and_an_event_stops_it() -> None:
    told: list[TrainingReport] = []
    stop = threading.Event()

    def report(one: TrainingReport) -> None:
        told.append(one)
        if one.step == 4:
            stop.set()

    with pytest.raises(Cancelled):
        tuner(monitor=Monitor(report=report, stop=stop, every=2)).run()  # ten steps
    assert [(one.step, one.phase, one.share) for one in told] == [
        (2, "tuning", 0.2),
        (4, "tuning", 0.4),
    ]
    assert all(np.isfinite(one.parts["loss"]) for one in told)


def test_links_as_matrices_cost_what_the_same_links_cost_as_pairs() -> None:
    p = torch.rand(6, 3, generator=torch.Generator().manual_seed(0)).softmax(dim=1)
    links = BatchLinks.from_pairs(same=[(0, 1), (2, 3)], different=[(1, 4)])
    masks = torch.stack(links.masks(6)[:2])
    expected = pair_loss(p, links.same, links.different)
    torch.testing.assert_close(linked_loss(p, masks), expected)
    assert linked_loss(p, torch.zeros_like(masks)) == 0


def test_aligned_guesses_keep_groups_at_the_size_that_they_began_with() -> None:
    one = tuner(align=True)
    wanted = one._wanted_shares
    assert wanted is not None and one._guessed_shares is not None
    torch.testing.assert_close(wanted.sum(), torch.tensor(1.0))
    lopsided = torch.tensor([[0.9, 0.1]]).repeat(16, 1)
    for _ in range(600):  # a group that takes over is held back ...
        aligned = one._aligned(lopsided)
    torch.testing.assert_close(aligned[0], wanted, atol=0.02, rtol=0)
    assert torch.equal(tuner()._aligned(lopsided), lopsided)  # ... only where that is wanted


def test_without_answers_about_sizes_training_with_alignment_ends_well() -> None:
    network = tuner(align=True).run()
    assert all(bool(torch.isfinite(value).all()) for value in network.state_dict().values())


def test_the_rate_rises_and_the_backbone_follows_at_its_share() -> None:
    one = tuner(warm_up=0.5, backbone_rate=0.1, learning_rate=1.0)
    rates = [one._numbers(done, 0)[0] for done in (0.0, 0.25, 0.5, 1.0)]
    cosine = [np.cos(7 * np.pi * done / 16) for done in (0.0, 0.25, 0.5, 1.0)]
    np.testing.assert_allclose(rates, np.array(cosine) * [2e-4, 0.5, 1, 1])
    assert tuner()._numbers(0.0, 0)[0] == Tuning().learning_rate
    one.run()
    factors = {
        group["factor"]: round(group["lr"] / one._numbers(0.9, 0)[0], 6)
        for group in one.optimiser.param_groups
        if group["params"]
    }
    assert factors == {0.1: 0.1, 1.0: 1.0}
