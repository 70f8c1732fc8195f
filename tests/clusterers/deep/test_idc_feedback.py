"""IDC's training on feedback: what one step does, and what it does without answers of a kind."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from places import VECTORS
from samekind.clusterers.deep.idc_feedback import (
    TRAININGS,
    Feedback,
    FeedbackTuner,
    FeedbackTuning,
    Sights,
)
from samekind.compute import Compute
from samekind.errors import InputError
from samekind.objectives.feedback import negative_loss, positive_loss
from samekind.training.network import Network, Output

CPU = Compute("cpu", "float32", "for a test")
N, K = 30, 3


class Plain(nn.Module):
    """A backbone that notes what it was shown."""

    width = 4

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.seen: list[tuple[int, bool]] = []

    def forward(self, rows: Tensor) -> Tensor:
        self.seen.append((len(rows), self.training))
        found: Tensor = self.layer(rows)
        return found


def tuner(feedback: Feedback, **wanted: Any) -> FeedbackTuner:
    torch.manual_seed(0)
    data = torch.randn(N, 4)
    network = Network(Plain(), k=K, out=4, attention=False)
    sights = Sights(lambda rows, chance: rows + 0.1, lambda rows: rows)
    settings = {"asked": 4, "unlabelled": 12, "steps": 3, **wanted}
    return FeedbackTuner(
        network, data, feedback, sights, FeedbackTuning(**settings), compute=CPU, seed=0
    )


def chosen_only(n: int = 6) -> Feedback:
    return Feedback(np.arange(n), np.arange(n) % K, np.zeros((n, K), dtype=bool))


def refused_only(n: int = 6) -> Feedback:
    refused = np.zeros((n, K), dtype=bool)
    refused[:, 0] = refused[:, 1] = True
    return Feedback(np.arange(n), np.full(n, -1), refused)


def parts_of(one: FeedbackTuner, guesses: float = 1.0) -> dict[str, float]:
    one.network.train()
    numbers = torch.tensor([1e-3, 0.0, guesses])
    return {n: float(part.detach()) for n, part in one._parts(numbers, *one._batch()).items()}


def test_all_strong_views_go_through_the_network_in_one_pass() -> None:
    one = tuner(chosen_only())
    backbone: Any = one.network.backbone
    plain: Any = one.averaged.backbone
    parts_of(one)
    assert backbone.seen == [(4 + 12, True)], "asked and other items together, in training mode"
    assert plain.seen == [(12, False)], "guesses from plain views, as in use"


def test_a_step_adds_up_the_losses_of_what_was_told() -> None:
    told = Feedback(
        np.array([0, 5, 9]),
        np.array([2, -1, 0]),
        np.array([[False] * K, [True, True, False], [False] * K]),
    )
    one = tuner(told, asked=3, refused="all")
    with torch.no_grad():
        found = parts_of(one)
        one = tuner(told, asked=3, refused="all")
        places, unlabelled = one._batch()
        one.network.train()
        shown = torch.cat([one.items[places], unlabelled])
        p = one.network(one.data[shown] + 0.1, views=1).p[:3]
    expected = positive_loss(p, torch.from_numpy(told.chosen)[places])
    assert found["pos"] == pytest.approx(float(expected), rel=1e-4)
    expected = negative_loss(p, torch.from_numpy(told.refused)[places])
    assert found["neg"] == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize("profile", TRAININGS)
@pytest.mark.parametrize("refused", ["one", "all"])
def test_a_kind_of_feedback_that_nobody_gave_costs_nothing(profile: str, refused: str) -> None:
    only = parts_of(tuner(chosen_only(), profile=profile, refused=refused, sure=0.999999))
    assert only["neg"] == 0 and only["pos"] > 0
    repaired = profile in ("repaired", "calibrated")
    assert only["reg"] == 0 or repaired, "the network is sure of nothing"
    only = parts_of(tuner(refused_only(), profile=profile, refused=refused))
    assert only["pos"] == 0 and only["neg"] > 0
    assert all(np.isfinite(value) for value in only.values())


def test_losses_can_be_left_out() -> None:
    assert set(parts_of(tuner(chosen_only(), losses=("pos", "reg")))) == {"pos", "reg"}
    with pytest.raises(InputError, match="got none"):
        FeedbackTuning(losses=())
    with pytest.raises(InputError, match=r"'most'.*one, all"):
        FeedbackTuning(refused="most")  # type: ignore[arg-type]


def made_sure(one: FeedbackTuner, group: int = 1) -> None:
    """Let the network say `group` of everything, with near certainty."""
    for network in (one.network, one.averaged):
        head: Any = network.cluster
        with torch.no_grad():
            head.layers[2].weight.zero_()
            head.layers[2].bias.copy_(20.0 * torch.eye(K)[group])


def test_guesses_do_not_count_in_the_warm_up_and_are_not_remembered() -> None:
    one = tuner(refused_only(), warm_up=0.5, share=1.0)
    made_sure(one, group=2)
    _, unlabelled = one._batch()
    assert (one._guessed(unlabelled, torch.tensor(0.0)) == -1).all()
    assert (one.memory.labels == -1).all()
    assert (one._guessed(unlabelled, torch.tensor(1.0)) == 2).any()
    assert [one._numbers(done, 0)[2] for done in (0.0, 0.4, 0.5, 0.9)] == [0, 0, 1, 1]


def test_an_answer_goes_before_a_guess_and_a_refused_guess_is_none() -> None:
    everything = torch.arange(N)
    for profile, told in (("repaired", True), ("program", False)):
        one = tuner(chosen_only(), profile=profile, share=1.0)
        made_sure(one, group=1)
        labels = one._guessed(everything, torch.tensor(1.0))
        expected = np.arange(6) % K if told else np.ones(6)
        assert labels[:6].tolist() == expected.tolist()
        one = tuner(refused_only(), profile=profile, share=1.0)
        made_sure(one, group=1)
        labels = one._guessed(everything, torch.tensor(1.0))
        assert (labels[:6] == (-1 if told else 1)).all() and (labels[6:] == 1).any()


def test_as_printed_a_guess_is_that_of_the_moment_and_no_group_has_a_quota() -> None:
    one = tuner(refused_only(), profile="paper", share=0.01)
    everything, now = torch.arange(N), torch.tensor(1.0)
    made_sure(one, group=1)
    assert (one._guessed(everything, now) == 1).all(), "answered items too, and all of a group"
    made_sure(one, group=0)
    assert (one._guessed(everything, now) == 0).all(), "nothing is remembered"
    assert (one._guessed(everything, torch.tensor(0.0)) == -1).all(), "none in the warm-up"


class Given(nn.Module):
    """A network whose memberships are the softmax of what it is shown."""

    k = 3

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, logits: Tensor, views: int = 1) -> Output:
        return Output(logits, logits, (self.scale * logits).softmax(dim=1))


BALANCED = ("L_pos_class_balanced", "L_reg_reference_balanced_over_kept", "total_reference")


@pytest.mark.parametrize(
    ("profile", "pos", "reg", "total"),
    [
        ("paper", "L_pos", "L_reg_eq14_strong_view_over_all", "total_eq11"),
        ("program", *BALANCED),
        ("repaired", *BALANCED),
        ("calibrated", *BALANCED),
    ],
)
def test_a_step_of_each_profile_has_the_losses_of_the_oracle(
    profile: str, pos: str, reg: str, total: str
) -> None:
    """Three chosen, two refusing and four other items, in their plain and their strong views."""
    oracle = json.loads((VECTORS / "idc.json").read_text())["losses"]
    asked = oracle["logit_pos"] + oracle["logit_neg"]
    plain = torch.tensor(asked + oracle["logit_reg_plain"])
    strong = torch.tensor(asked + oracle["logit_reg_strong"])
    refused = np.zeros((5, 3), dtype=bool)
    refused[[3, 4], oracle["drawn"]] = True  # one each: there is no choice
    one = FeedbackTuner(
        cast(Network, Given()),
        torch.arange(9),
        Feedback(np.arange(5), np.array([*oracle["y_pos"], -1, -1]), refused),
        Sights(lambda items, chance: strong[items], lambda items: plain[items]),
        FeedbackTuning(share=1.0, profile=cast(Any, profile)),
        compute=CPU,
        seed=0,
    )
    found = one._parts(torch.tensor([1e-4, 0.0, 1.0]), torch.arange(5), torch.arange(5, 9))
    values = {name: part.item() for name, part in found.items()}
    wanted = {"pos": oracle[pos], "neg": oracle["L_neg_one_drawn"], "reg": oracle[reg]}
    assert values == pytest.approx(wanted, abs=1e-6)
    assert sum(values.values()) == pytest.approx(oracle[total], abs=1e-6)
    one._step(torch.tensor([0.0, 0.0, 1.0]), torch.arange(5), torch.arange(5, 9))
    scale = cast(Any, one.network).scale
    exact = torch.autograd.grad(torch.stack(list(found.values())).sum(), scale)[0]
    torch.testing.assert_close(scale.grad, exact), "each part has the weight 1"


def test_training_puts_items_where_they_were_told_to_be() -> None:
    one = tuner(chosen_only(9), steps=150, learning_rate=3e-2, asked=9)
    tuned = one.run().eval()
    p = tuned(one.data[:9], views=1).p
    assert p.argmax(dim=1).tolist() == (np.arange(9) % K).tolist()
    one = tuner(refused_only(9), steps=150, learning_rate=3e-2, asked=9, refused="one")
    tuned = one.run().eval()
    out: Output = tuned(one.data[:9], views=1)
    assert (out.p[:, 2] > 0.5).all(), "what remains when both others are refused"


def test_every_asked_item_has_its_turn_before_any_comes_again() -> None:
    one = tuner(chosen_only(10), asked=4)
    turns = torch.cat([one._batch()[0] for _ in range(5)]).tolist()
    assert all(turns[:10].count(place) == 1 for place in range(10))
    assert all(turns.count(place) == 2 for place in range(10))
    assert all(len(set(turns[at : at + 4])) == 4 for at in range(0, 20, 4))


def test_without_a_past_the_averaged_network_is_the_last_one() -> None:
    one = tuner(chosen_only())
    result = one.run().state_dict()
    for name, value in one.network.state_dict().items():
        if value.is_floating_point():
            torch.testing.assert_close(result[name], value)
