"""The mixed law of graphs: each of its kinds is what it says."""

from __future__ import annotations

import pytest
import torch

from samekind.clusterers.ncp.amortized.generators import Episode
from samekind.clusterers.ncp.amortized.graph_laws import (
    Communities,
    EitherPrior,
    MixedGraphs,
    NearestNeighbours,
)
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.priors import CRP, MFM

ONLY = {"plain": (1.0, 0.0, 0.0), "communities": (0.0, 1.0, 0.0), "nearest": (0.0, 0.0, 1.0)}


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def draw(law: MixedGraphs, batch: int = 40, points: tuple[int, int] = (30, 60)) -> Episode:
    return law.draw(batch, chance(), points)


def inside(episode: Episode) -> torch.Tensor:
    """Share of the edges of each graph that are within groups."""
    same = episode.labels[..., None] == episode.labels[:, None]
    table = episode.x.adjacency
    return (table * same).sum((1, 2)) / table.sum((1, 2)).clamp_min(1e-9)


@pytest.mark.parametrize("law", [*ONLY, "any"])
def test_each_law_gives_symmetric_padded_graphs(law: str) -> None:
    x, labels, mask = draw(MixedGraphs(shares=ONLY.get(law, (0.0, 0.0, 0.0))))
    assert torch.equal(x.adjacency, x.adjacency.mT)
    assert not x.adjacency.diagonal(dim1=1, dim2=2).any() and not x.adjacency[~mask].any()
    assert torch.equal(relabel(labels, mask), labels)
    assert all(bool(torch.isfinite(part).all()) for part in x)
    edges = (x.adjacency > 0).sum((1, 2)).float()
    assert float((edges[mask.any(1)] > 0).float().mean()) == 1.0


def test_communities_are_as_dense_as_wanted_and_denser_within() -> None:
    law = Communities(degree=(6.0, 6.0), closure=0.0, disassortative=0.0, weighted=0.0)
    episode = draw(MixedGraphs(shares=ONLY["communities"], communities=law), batch=200)
    there = episode.mask.any(1)
    degree = episode.x.adjacency.sum((1, 2))[there] / episode.mask.sum(1)[there]
    assert 4.0 < float(degree.mean()) <= 6.1  # hubs cannot have two edges to one node
    turned = Communities(contrast=law.contrast, disassortative=1.0)
    other = draw(MixedGraphs(shares=ONLY["communities"], communities=turned), batch=200)
    several = (episode.labels.amax(1) > 0) & there
    assert float(inside(episode)[several].mean()) > 0.7
    assert float(inside(other)[(other.labels.amax(1) > 0) & other.mask.any(1)].mean()) < 0.3


def test_hubs_triangles_and_weights_can_be_had_apart() -> None:
    plain = Communities(unequal=(0.0, 0.0), hubs=0.0, closure=0.0, weighted=0.0)
    kinds = {
        "plain": plain,
        "hubs": Communities(unequal=(0.0, 0.0), hubs=0.1, closure=0.0, weighted=0.0),
        "closed": Communities(unequal=(0.0, 0.0), hubs=0.0, closure=0.9, weighted=0.0),
        "weighted": Communities(unequal=(0.0, 0.0), hubs=0.0, closure=0.0, weighted=1.0),
    }
    tables = {
        name: draw(MixedGraphs(shares=ONLY["communities"], communities=law), 100).x.adjacency
        for name, law in kinds.items()
    }
    largest = {name: float((t > 0).sum(2).amax(1).float().mean()) for name, t in tables.items()}
    assert largest["hubs"] > 1.15 * largest["plain"]
    triangles = {name: float(((t @ t) * t).sum()) for name, t in tables.items()}
    assert triangles["closed"] > 2 * triangles["plain"]
    assert set(tables["plain"].unique().tolist()) == {0.0, 1.0}
    edges = tables["weighted"][tables["weighted"] > 0]
    assert float(edges.std()) > 0.1 and float(edges.mean()) == pytest.approx(1.0, abs=0.02)


def test_nearest_neighbours_are_linked() -> None:
    law = NearestNeighbours(neighbours=(5, 5))
    episode = draw(MixedGraphs(shares=ONLY["nearest"], nearest=law))
    degree = episode.x.adjacency.sum(2)[episode.mask]
    assert float(degree.min()) >= 5 and float(degree.mean()) < 10


def test_both_priors_are_drawn_from() -> None:
    one, many = CRP(1e-6), MFM(rate=8.0, gamma=50.0)
    drawn = EitherPrior(one, many, 0.3).draw(400, 40, chance())
    share = (drawn.amax(1) == 0).float().mean()
    assert float(share) == pytest.approx(0.3, abs=0.08)
