"""Groups on frozen features, and training the whole network on answers."""

from __future__ import annotations

import numpy as np
import torch

from samekind.compute import Compute
from samekind.constraints import Constraints
from samekind.training.answered import Answered
from samekind.training.augment import FAMILIES
from samekind.training.finetune import Tuner, Tuning
from samekind.training.frozen import LinearHead, fit_labels, fit_pairs, pair_loss
from samekind.training.network import Network
from samekind.training.resnet import ResNet


def clouds(n: int = 200) -> tuple[torch.Tensor, torch.Tensor]:
    chance = torch.Generator().manual_seed(0)
    kind = torch.arange(n) % 2
    x = torch.randn(n, 10, generator=chance)
    x[:, 0] += 3.0 * kind
    x[:, 1] += 8.0 * (torch.arange(n) // 2 % 2)  # a louder difference that nobody asked for
    return x, kind


def right(p: torch.Tensor, kind: torch.Tensor) -> float:
    hits = float((p.argmax(dim=1) == kind).float().mean())
    return max(hits, 1 - hits)


def test_a_head_fitted_to_few_labels_places_the_others() -> None:
    x, kind = clouds()
    head = LinearHead(x, 2)
    fit_labels(head, x[:40], kind[:40], decay=1e-2)
    assert right(head(x[40:]).detach(), kind[40:]) > 0.85
    assert torch.allclose(head(x).sum(dim=1), torch.ones(len(x)))


def test_bare_pairs_are_enough_to_find_the_groups() -> None:
    x, kind = clouds()
    pairs = torch.randint(200, (150, 2), generator=torch.Generator().manual_seed(1))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = kind[pairs[:, 0]] == kind[pairs[:, 1]]
    head = LinearHead(x, 2)
    fit_pairs(head, x, pairs[same], pairs[~same], decay=1e-2)
    assert right(head(x).detach(), kind) > 0.85


def test_the_likelihood_of_pairs_is_that_of_a_slow_loop_and_fillers_count_nothing() -> None:
    p = torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    same, different = torch.tensor([[0, 2], [0, 0]]), torch.tensor([[0, 1], [1, 1]])
    slow = -(np.log(0.9 * 0.5 + 0.1 * 0.5) + np.log(1 - (0.9 * 0.2 + 0.1 * 0.8))) / 2
    assert np.isclose(float(pair_loss(p, same, different)), slow)
    nothing = torch.empty(0, 2, dtype=torch.long)
    assert float(pair_loss(p, nothing, nothing)) == 0.0


def test_tuning_learns_the_answers_and_leaves_the_network_that_it_began_with() -> None:
    rng = np.random.default_rng(0)
    kind = np.arange(64) % 2
    images = rng.integers(0, 80, (64, 3, 8, 8))
    images[:, 0] += 120 * kind[:, None, None]
    data = torch.from_numpy(images.astype(np.uint8))
    torch.manual_seed(0)
    network = Network(ResNet(18, stem="3x3", base=4), k=2, attention=False)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    rows = np.arange(32)
    links = [(int(i), int(i + 1), False) for i in range(31)]
    tuned = Tuner(
        network,
        data,
        rows,
        kind[:32],
        Answered.from_constraints(Constraints.from_links(64, links)),
        FAMILIES["cc-small"].at(8),
        Tuning(answered=16, unlabelled=16, epochs=15, average=0.9),
        compute=Compute("cpu", "float32", "for a test"),
        seed=0,
    ).run()
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    tuned.eval()
    with torch.no_grad():
        p = tuned(data.float() / 255, views=1).p
    assert (p.argmax(dim=1).numpy() == kind)[32:].mean() > 0.8
