"""Graphs drawn ahead by other processes are the same graphs, in other orders."""

from __future__ import annotations

import queue
from typing import Any

import numpy as np
import pytest
import torch

from samekind.clusterers.ncp.amortized import graph_pool
from samekind.clusterers.ncp.amortized.graph_encoder import GraphSizes, graph_network
from samekind.clusterers.ncp.amortized.graph_laws import MixedGraphs
from samekind.clusterers.ncp.amortized.graph_pool import (
    KEPT,
    GraphPool,
    Packed,
    PooledTraining,
    draw_ahead,
)
from samekind.clusterers.ncp.amortized.likelihood import relabel
from samekind.clusterers.ncp.amortized.network import Sizes
from samekind.errors import SamekindError

LAW = MixedGraphs(points=(8, 14), n_vectors=6)
RANGES = [(8, 10), (11, 14)]


def chance(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pool() -> GraphPool:
    return GraphPool(LAW, RANGES, batch=3, workers=1, device="cpu")


def test_a_packed_batch_is_the_same_in_another_order() -> None:
    drawn = LAW.draw(12, chance())
    again = Packed.of(drawn).on(torch.device("cpu")).episode(chance(1))
    assert torch.equal(again.mask, drawn.mask)
    assert torch.equal(relabel(again.labels, again.mask), again.labels)
    moved = 0
    for b in drawn.mask.any(1).nonzero()[:, 0].tolist():
        n = int(drawn.mask[b].sum())
        old, new = drawn.x.adjacency[b, :n, :n], again.x.adjacency[b, :n, :n]
        torch.testing.assert_close(new.sum(), old.sum(), rtol=0.02, atol=0.05)
        torch.testing.assert_close(
            torch.linalg.eigvalsh(new), torch.linalg.eigvalsh(old), rtol=0.02, atol=0.1
        )
        # Labels, edges and eigenvectors have moved together.
        for table, labels, vectors in (
            (old, drawn.labels[b, :n], drawn.x.vectors[b, :n]),
            (new, again.labels[b, :n], again.x.vectors[b, :n]),
        ):
            same = (labels[:, None] == labels).float()
            moved_edges = float((table * same).sum())
            projected = vectors.T @ same @ vectors
            if table is old:
                expected = moved_edges, projected.diagonal()
        assert moved_edges == pytest.approx(expected[0], rel=0.02, abs=0.05)
        torch.testing.assert_close(projected.diagonal(), expected[1], rtol=0.02, atol=0.1)
        moved += int(not torch.equal(old, new))
    assert moved > 6


def test_batches_arrive_from_another_process_and_a_network_learns_from_them() -> None:
    few = Sizes(width=8, h_outputs=8, g_outputs=8, g_layers=1, f_layers=1)
    network = graph_network(GraphSizes("sage", 8, 1, 6), few)
    before = [value.clone() for value in network.parameters()]
    with pool() as drawn:
        training = PooledTraining(
            network, drawn, 1, batch=3, lr=1e-2, weight_decay=0.0, clip=1.0, ranges=RANGES,
            device="cpu",
        )  # fmt: skip
        history = training.run(4, None, "constant", 0)
        training.records = True  # as on a GPU, where a recorded step has room for so many choices
        training._prepare(RANGES[1])
    few_rows = 3 * 14 * 2
    assert few_rows < training.capacity[RANGES[1]] <= 3 * 14 * 15 and training.generator is drawn
    assert history.steps == [4] and sum(drawn.taken.values()) >= 1
    assert any(not torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))
    assert not any(process.is_alive() for process in drawn.processes)


def test_old_batches_make_room_and_steps_read_the_same_memory() -> None:
    drawn, packed = pool(), Packed.of(LAW.draw(3, chance(), (8, 10)))
    for number in range(KEPT + 2):
        drawn._take((8, 10), packed._replace(values=packed.values + number))
    assert len(drawn.kept[8, 10]) == KEPT and drawn.taken[8, 10] == KEPT + 2
    assert float(drawn.kept[8, 10][1].values[0, 0]) == pytest.approx(
        float(packed.values[0, 0]) + KEPT + 1
    )
    drawn.choose((8, 10))
    place = drawn.current[8, 10].values.data_ptr()
    drawn.choose((8, 10))
    assert drawn.current[8, 10].values.data_ptr() == place
    assert drawn.points == (8, 14) and drawn.max_groups == LAW.max_groups


def test_without_any_batch_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_pool, "PATIENCE", 0.0)

    class Nothing:
        def get_nowait(self) -> Any:
            raise queue.Empty

        def get(self, timeout: float) -> Any:
            raise queue.Empty

    drawn = pool()
    drawn.queue = Nothing()
    with pytest.raises(SamekindError, match="no workers"):
        drawn.choose((8, 10))


def test_processes_draw_all_ranges_in_turn_and_each_its_own_graphs() -> None:
    class Enough(Exception):
        pass

    class Out(list[Any]):
        def put(self, item: Any) -> None:
            if len(self) == 3:
                raise Enough
            self.append(item)

    found = []
    for number in (0, 1):
        out = Out()
        with pytest.raises(Enough):
            draw_ahead(LAW, RANGES, 2, (0, number), out)
        found.append(out)
    assert [points for points, _ in found[0]] == [RANGES[0], RANGES[1], RANGES[0]]
    assert [points for points, _ in found[1]] == [RANGES[1], RANGES[0], RANGES[1]]
    assert not np.array_equal(found[0][1][1].vectors, found[1][0][1].vectors)
