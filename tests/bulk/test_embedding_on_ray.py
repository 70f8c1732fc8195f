"""Embedding on a real Ray cluster of two nodes on this machine: nodes and drivers may be killed."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drawn_sources import write_pictures
from ray_clusters import only_cluster
from samekind.bulk import embedding
from samekind.bulk.embedding import Work, embed
from samekind.bulk.vector_store import VectorStore
from samekind.errors import InputError

pytest.importorskip("ray", reason="needs the extra cluster: pip install 'samekind[cluster]'")
pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")
SLOW = "bulk.slow_encoder:Slow"
NODE = {"num_cpus": 1, "object_store_memory": 100_000_000}
N = 640
HAS_CLIENT = find_spec("grpc") is not None


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head and a second node with one core each, whose workers encode slowly."""
    with only_cluster() as patch:
        patch.setenv("SLOW_ENCODER_SECONDS", "0.15")
        from ray.cluster_utils import Cluster

        port = free_port() if HAS_CLIENT else None
        # Ray believes that there is a GPU; the encoder finds none and computes on the core.
        head = {**NODE, "num_gpus": 1, "include_dashboard": False, "ray_client_server_port": port}
        made = Cluster(initialize_head=True, head_node_args=head)
        made.client_port = port
        patch.delenv("SLOW_ENCODER_SECONDS")
        try:
            yield made
        finally:
            made.shutdown()


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pictures(tmp_path_factory.mktemp("pile") / "photos", N)


@pytest.fixture(scope="module")
def expected(photos: Path) -> dict[str, np.ndarray]:
    out = photos.parent / "local.lance"
    embed(str(photos), out, Work(SLOW, sample=64))
    return stored(out)


def stored(path: str | Path) -> dict[str, np.ndarray]:
    store = VectorStore.open(path)
    rows = np.arange(len(store))
    ids = store.texts(rows)
    assert len(set(ids)) == len(ids), "an item occurs twice"
    return dict(zip(ids, store.vectors(rows), strict=True))


def assert_equal(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    scale = max(np.abs(x).max() for x in expected.values())
    for id, vector in expected.items():
        np.testing.assert_allclose(found[id], vector, atol=1e-6 * scale)


@pytest.mark.slow
def test_a_node_is_lost_and_another_joins(
    cluster: Any, photos: Path, expected: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "SECONDS_BETWEEN_COMMITS", 0.5)
    second = [cluster.add_node(**NODE)]
    cluster.wait_for_nodes()
    out, changes = photos.parent / "nodes.lance", []

    def change_nodes(doing: str, done: int, total: int | None) -> None:
        if doing == "Embedding" and done > 150 and not changes:
            changes.append(done)
            cluster.remove_node(second.pop(), allow_graceful=False)
            second.append(cluster.add_node(**NODE))

    try:
        outcome = embed(
            str(photos),
            out,
            Work(SLOW, on=cluster.address, sample=64, workers=2),
            progress=change_nodes,
        )
    finally:
        for node in second:
            cluster.remove_node(node)
    assert changes and changes[0] < N - 64
    assert (outcome.n_added, outcome.broken) == (N, ())
    assert_equal(stored(out), expected)


@pytest.mark.slow
def test_a_killed_driver_goes_on_where_it_was(
    cluster: Any, photos: Path, expected: dict[str, np.ndarray]
) -> None:
    out = photos.parent / "driver.lance"
    work = Work(SLOW, on=cluster.address, sample=64)
    code = (
        "from samekind.bulk import embedding\n"
        "embedding.SECONDS_BETWEEN_COMMITS = 0.0\n"
        f"embedding.embed({str(photos)!r}, {str(out)!r}, embedding.{work!r})"
    )
    running = subprocess.Popen([sys.executable, "-c", code])
    limit = time.monotonic() + 300
    while not (VectorStore.exists(out) and len(VectorStore.open(out)) > 64):
        assert running.poll() is None and time.monotonic() < limit
        time.sleep(0.05)
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = stored(out)
    assert 64 < len(before) < N
    outcome = embed(str(photos), out, work)
    assert (outcome.n_before, outcome.n_added) == (len(before), N - len(before))
    assert_equal(stored(out), expected)


@pytest.mark.slow
def test_workers_may_share_a_gpu(cluster: Any, photos: Path, tmp_path: Path) -> None:
    work = Work(SLOW, on=cluster.address, sample=600, gpus=0.5)
    assert embed(str(photos), tmp_path / "v.lance", work).n_added == N
    with pytest.raises(InputError, match="has 1 GPU, got workers with 2 each"):
        embed(str(photos), tmp_path / "w.lance", Work(SLOW, on=cluster.address, sample=600, gpus=2))


@pytest.mark.skipif(not HAS_CLIENT, reason="needs the client: pip install 'ray[client]'")
@pytest.mark.slow
def test_a_client_from_outside_gets_the_same(
    cluster: Any, photos: Path, expected: dict[str, np.ndarray]
) -> None:
    work = Work(SLOW, on=f"ray://127.0.0.1:{cluster.client_port}", sample=64)
    outcome = embed(str(photos), photos.parent / "client.lance", work)
    assert outcome.n_added == N
    assert_equal(stored(outcome.path), expected)


def test_a_cluster_that_does_not_exist_is_a_clear_error_at_once(
    photos: Path, tmp_path: Path
) -> None:
    for address, words in (
        ("127.0.0.1:1", "There is no Ray cluster at '127.0.0.1:1'"),
        ("nowhere", "Expected local, ray, auto or an address"),
    ):
        with pytest.raises(InputError, match=words):
            embed(str(photos), tmp_path / "v.lance", Work("pixels", sample=64, on=address))
    assert not (tmp_path / "v.lance").exists(), "nothing was done before"
