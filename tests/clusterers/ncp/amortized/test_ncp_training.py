"""Training lowers the loss towards the floor; weights and checkpoints come back as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from benchmarks.ncp.exact import DirichletGaussians
from closed_form import small_network
from samekind.clusterers.ncp.amortized import training_loop
from samekind.clusterers.ncp.amortized.generators import Episode, GaussianMixtures
from samekind.clusterers.ncp.amortized.labelled_episodes import LabelledEpisodes
from samekind.clusterers.ncp.amortized.likelihood import log_joint
from samekind.clusterers.ncp.amortized.network import NCPNetwork, Sizes
from samekind.clusterers.ncp.amortized.priors import CRP
from samekind.clusterers.ncp.amortized.training import negative_log_likelihood, train
from samekind.clusterers.ncp.amortized.training_loop import rate_at, size_ranges
from samekind.clusterers.ncp.amortized.weights import load, save, write_tensors
from samekind.errors import InputError, SamekindError

SMALL = Sizes(features=32, width=32, h_outputs=32, g_outputs=32)
DATA = GaussianMixtures(points=(3, 6), max_groups=6)


def fresh(seed: int = 0, sizes: Sizes = SMALL) -> NCPNetwork:
    torch.manual_seed(seed)
    return NCPNetwork(sizes)


def test_a_short_training_comes_near_the_exact_posterior() -> None:
    network = fresh()
    history = train(network, DATA, steps=400, batch=64, lr=4e-3, device="cpu")
    assert history.steps[-1] == 400 and len(history.nll_per_point) == 8
    x, labels = DirichletGaussians().draw(500, 5, np.random.default_rng(0))
    floor = -DirichletGaussians().posterior(x).log_prob_of(labels).mean()
    given = torch.from_numpy(x).float(), torch.from_numpy(labels)
    with torch.no_grad():
        nll = -float(log_joint(network, *given).mean())
        before = -float(log_joint(fresh(), *given).mean())
    assert floor - 0.02 < nll < floor + 0.25 < before
    assert not network.training


def test_training_follows_the_seed() -> None:
    def trained(seed: int) -> Tensor:
        network = fresh()
        train(network, DATA, steps=3, batch=4, device="cpu", seed=seed)
        return torch.cat([p.detach().flatten() for p in network.parameters()])

    assert torch.equal(trained(1), trained(1)) and not torch.equal(trained(1), trained(2))


def test_an_interrupted_training_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(step: int, done: float, loss: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(training_loop, "SAVE_EVERY", 5)
    monkeypatch.setattr(training_loop, "REPORT_EVERY", 8)
    file, settings = (
        tmp_path / "state.safetensors",
        dict(steps=12, batch=4, device="cpu", average=0.9),
    )
    whole, parts, other = fresh(), fresh(), fresh(5)
    train(whole, DATA, **settings)
    with pytest.raises(KeyboardInterrupt):  # at step 8; the file is that of step 5
        train(parts, DATA, **settings, checkpoint=file, progress=stop)
    train(other, DATA, **settings, checkpoint=file)
    for a, b in zip(whole.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
    with pytest.raises(InputError, match="another network"):
        train(NCPNetwork(Sizes(width=8)), DATA, **settings, checkpoint=file)


def test_averaged_weights_lie_between_those_of_the_last_steps() -> None:
    def trained(steps: int, average: float) -> Tensor:
        network = fresh()
        train(
            network, DATA, steps=steps, batch=4, device="cpu", average=average, schedule="constant"
        )
        return torch.cat([p.detach().flatten() for p in network.parameters()])

    begin = torch.cat([p.detach().flatten() for p in fresh().parameters()])
    steps = [trained(n, 0.0) for n in (1, 2, 3)]
    mean = begin
    for step, weights in enumerate(steps):  # the memory is short at first
        memory = min(0.9, step / (step + 10.0))
        mean = memory * mean + (1 - memory) * weights
    assert torch.allclose(trained(3, 0.9), mean, atol=1e-6)
    assert not torch.allclose(trained(3, 0.9), steps[-1], atol=1e-6)


def test_permutations_score_the_same_data_in_other_orders() -> None:
    network = small_network()
    episode = DATA.draw(5, torch.Generator().manual_seed(0))
    episode = episode._replace(x=episode.x.double())
    chance = torch.Generator().manual_seed(1)
    found = negative_log_likelihood(network, episode, permutations=3, generator=chance)
    alone = negative_log_likelihood(network, episode)
    padded = negative_log_likelihood(network, episode, n_groups=6)
    assert (
        found.shape == (15,) and torch.allclose(found[:5], alone) and torch.allclose(padded, alone)
    )
    assert not torch.allclose(found[5:10], alone) and not torch.allclose(found[10:], found[5:10])


def test_weights_come_back_with_their_sizes_and_facts(tmp_path: Path) -> None:
    file, network = tmp_path / "ncp.safetensors", fresh(sizes=Sizes(feed_point=True))
    save(file, network, {"trained": "a little"})
    again, facts = load(file)
    assert again.sizes == network.sizes and facts == {"trained": "a little"}
    x, labels = torch.randn(1, 4, 2), torch.tensor([[0, 1, 0, 2]])
    assert torch.equal(log_joint(network, x, labels), log_joint(again, x, labels))
    assert file.stat().st_size < 3_000_000


def test_files_that_do_not_fit_are_refused_with_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "odd.safetensors"
    with pytest.raises(InputError, match="cannot be read"):
        load(file)
    file.write_bytes(b"not weights at all")
    with pytest.raises(InputError, match="cannot be read"):
        load(file)
    write_tensors(file, {"a": torch.zeros(2)}, {"sizes": Sizes().as_json()})
    with pytest.raises(InputError, match="another network"):
        load(file)
    write_tensors(file, {"a": torch.zeros(2)}, {"sizes": {"hands": 4}})
    with pytest.raises(InputError, match="hands"):
        load(file)


class Doubled(nn.Module):
    """An encoder of one's own, which looks at the whole data set."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 6)

    def forward(self, x: dict[str, Tensor], mask: Tensor | None = None) -> Tensor:
        found: Tensor = self.layer(x["points"] - x["points"].mean(1, keepdim=True))
        return found


def test_an_encoder_of_ones_own_reads_whatever_it_likes(tmp_path: Path) -> None:
    network = NCPNetwork(Sizes(encoder="given", inputs=6), Doubled())
    x, labels = {"points": torch.randn(2, 5, 2)}, torch.tensor([[0, 0, 1, 1, 2], [0, 1, 2, 2, 0]])
    before = log_joint(network, x, labels)
    assert torch.allclose(
        before, log_joint(network, {"points": x["points"] + 3}, labels), atol=1e-4
    )
    save(tmp_path / "own.safetensors", network)
    again = load(tmp_path / "own.safetensors", encoder=Doubled()).network
    assert torch.equal(before, log_joint(again, x, labels))
    with pytest.raises(InputError, match="given"):
        NCPNetwork(Sizes(), Doubled())
    with pytest.raises(InputError, match="given"):
        load(tmp_path / "own.safetensors")


def test_images_are_learnt_through_a_convolutional_encoder() -> None:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 60, (60, 1, 8, 8)).astype(np.uint8)
    classes = np.repeat(np.arange(3), 20)
    for k in range(3):
        images[classes == k, :, 2 * k : 2 * k + 3] += 150
    network = fresh(
        sizes=Sizes(encoder="images", inputs=1, features=16, width=16, h_outputs=16, g_outputs=16)
    )
    episodes = LabelledEpisodes(images, classes, points=(4, 6))
    history = train(network, episodes, steps=60, batch=8, lr=5e-3, device="cpu", ranges=1)
    assert history.nll_per_point[-1] < history.nll_per_point[0] < 1
    assert (
        sum(p.numel() for p in NCPNetwork(Sizes(encoder="images", inputs=3)).parameters()) < 500_000
    )


def test_the_reference_has_the_published_number_of_parameters() -> None:
    def count(*parts: nn.Module | None) -> int:
        return sum(p.numel() for part in parts if part is not None for p in part.parameters())

    network = NCPNetwork(Sizes.reference())
    assert count(network.h_net) == count(network.u_net) == 82_948
    assert count(network.g_net) == 164_997 and count(network) == 495_506
    assert count(network.f_choice, network.f_context, network.f_net) == 164_613
    assert count(NCPNetwork()) < 500_000


def test_a_training_that_breaks_down_says_so() -> None:
    network = fresh()
    network.f_choice.weight.data.fill_(torch.nan)
    with pytest.raises(SamekindError, match="not a finite number"):
        train(network, DATA, steps=2, batch=4, device="cpu")


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="either steps or seconds"):
        train(fresh(), DATA)
    with pytest.raises(InputError, match="schedule"):
        train(fresh(), DATA, steps=1, batch=2, device="cpu", schedule="stairs")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="activation"):
        NCPNetwork(Sizes(activation="sine"))


def test_size_ranges_cover_every_size_once() -> None:
    for points, n in (((5, 99), 4), ((4, 8), 2), ((7, 7), 4), ((1, 3), 10)):
        sizes = [k for low, high in size_ranges(points, n) for k in range(low, high + 1)]
        assert sizes == list(range(points[0], points[1] + 1))
    assert rate_at(0.02, "cosine") == 1 and rate_at(1.0, "cosine") == pytest.approx(0)


def test_quick_training_reduces_the_precision_only_while_it_runs() -> None:
    seen: list[str] = []

    class Watched(GaussianMixtures):
        def draw(self, *given: Any, **named: Any) -> Episode:
            seen.append(torch.get_float32_matmul_precision())
            return super().draw(*given, **named)

    for quick in (False, True):
        network = NCPNetwork(Sizes(width=8, features=8, h_outputs=8, g_outputs=8))
        train(network, Watched(points=(4, 6)), steps=2, batch=2, device="cpu", quick=quick)
        assert torch.get_float32_matmul_precision() == "highest"
    assert seen == ["highest"] * 2 + ["medium"] * 2


def test_a_batch_whose_data_sets_are_all_blanked_changes_nothing_much() -> None:
    crowded = GaussianMixtures(points=(12, 12), max_groups=1, prior=CRP(50.0))
    network = fresh()
    before = [value.clone() for value in network.parameters()]
    history = train(network, crowded, steps=3, batch=2, weight_decay=0.0, device="cpu")
    assert history.nll_per_point == [0.0]
    for old, new in zip(before, network.parameters(), strict=True):
        assert torch.equal(old, new)
