"""Training from shards: the same network as from memory, alone, with two processes, and on Ray."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from safetensors.torch import load_file

from drawn_sources import write_pictures, write_tar
from process_groups import leave_group
from ray_clusters import only_cluster
from samekind.bulk.pictures import ShardPile
from samekind.bulk.training import TrainingJob, is_sharded, open_training_pile, train_on_ray
from samekind.encoders.learned import plan
from samekind.encoders.learned.piles import CollectionPile, Pictures
from samekind.encoders.learned.plan import choose
from samekind.encoders.learned.training import Learning
from samekind.encoders.learned.weights import Kept
from samekind.errors import InputError
from samekind.sources import open_source

JOB = TrainingJob("", "simclr", epochs=2, size=16, device="cpu", seed=3)


def shard(folder: Path, shards: Path, per_shard: int = 10) -> None:
    """Write the pictures of a folder into archives, in their order."""
    ids = list(open_source(folder).ids())
    for k in range(0, len(ids), per_shard):
        files = {id: (folder / id).read_bytes() for id in ids[k : k + per_shard]}
        write_tar(shards / f"{k:03}.tar", files)


@pytest.fixture
def pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(plan, "SMALL", 4)
    shard(write_pictures(tmp_path / "loose", 24), tmp_path / "shards")
    return tmp_path


class Held(CollectionPile):
    """Pictures of a folder as a plain array in memory."""

    def pictures(self, size: int, progress: Any = None) -> Pictures:
        found = super().pictures(size)
        return Pictures(np.array(found.pixels), found.skipped)


def train_from_memory(folder: Path) -> Kept:
    pile = Held(open_source(folder))
    choice = choose(JOB.encoder, pile, size=JOB.size, device="cpu", seed=JOB.seed)
    learning = Learning.chosen(choice, pile)
    return learning.run(learning.target(epochs=JOB.epochs))


def assert_same_network(one: Kept, other: Kept, tolerance: float = 0.0) -> None:
    first, second = load_file(one.path), load_file(other.path)
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        torch.testing.assert_close(tensor, second[name], rtol=tolerance, atol=tolerance)


def test_shards_teach_the_same_as_pictures_in_memory(pictures: Path) -> None:
    from_shards = replace(JOB, source=str(pictures / "shards")).run()
    from_memory = train_from_memory(pictures / "loose")
    assert from_shards.pictures == from_memory.pictures == 24
    assert from_shards.epochs == 2
    assert_same_network(from_shards, from_memory)
    other = replace(JOB, source=str(pictures / "shards"), seed=4).run()
    with pytest.raises(AssertionError):
        assert_same_network(other, from_memory)


def worker(rank: int, port: int, folder: str, told: Any) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    torch.set_num_threads(1)
    plan.SMALL = 4
    job = replace(JOB, source=str(Path(folder) / "shards"))
    from_shards, from_memory = job.run(), train_from_memory(Path(folder) / "loose")
    assert dist.get_world_size() == 2
    assert_same_network(from_shards, from_memory)
    # Minutes become epochs by the clock of the first process: else they would part.
    longer = replace(job, epochs=None, minutes=0.002).run()
    told.put((rank, from_shards, longer))
    leave_group()


def test_two_processes_learn_from_shards_what_they_learn_from_memory(pictures: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = mp.get_context("spawn").SimpleQueue()
    mp.spawn(worker, args=(port, str(pictures), told), nprocs=2)
    found = sorted(told.get() for _ in range(2))
    assert [rank for rank, *_ in found] == [0, 1]
    assert found[0][1:] == found[1][1:]
    assert found[0][2].epochs > found[0][1].epochs == 2


def test_sources_that_are_read_in_bulk_are_recognised(pictures: Path) -> None:
    assert is_sharded(str(pictures / "shards"))
    assert is_sharded(str(pictures / "shards" / "000.tar"))
    assert is_sharded(str(pictures / "shards" / "*.tar"))
    assert is_sharded("s3://bucket/photos")
    assert not is_sharded(str(pictures / "loose"))
    assert not is_sharded("tiles")
    assert not is_sharded(str(pictures / "nowhere"))
    assert isinstance(open_training_pile(str(pictures / "shards")), ShardPile)
    assert isinstance(open_training_pile(str(pictures / "loose")), CollectionPile)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    ray = pytest.importorskip(
        "ray", reason="needs the extra cluster: pip install 'samekind[cluster]'"
    )
    with only_cluster():
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=100_000_000,
        )
        yield "ray"
        ray.shutdown()


def test_two_workers_of_ray_learn_from_shards(pictures: Path, cluster: str) -> None:
    kept = train_on_ray(replace(JOB, source=str(pictures / "shards")), cluster, 2)
    assert (kept.pictures, kept.epochs, kept.size) == (24, 2, 16)
    assert kept.path.is_file()
    assert not list(kept.path.parent.glob("ray-*"))  # nothing else is left behind


def test_at_least_one_worker_is_needed() -> None:
    with pytest.raises(InputError, match="at least 1 worker, got 0"):
        train_on_ray(JOB, "ray", 0)


def test_what_was_learnt_from_shards_embeds_them_here_and_elsewhere(
    pictures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lance", reason="needs the extra cluster: pip install 'samekind[cluster]'")
    from samekind.bulk.embedding import Work, embed
    from samekind.bulk.encoders import encoder_of
    from samekind.bulk.vector_store import VectorStore

    shards = str(pictures / "shards")
    with pytest.raises(InputError, match=r"has learnt nothing from .*samekind learn .*shards"):
        embed(shards, pictures / "v.lance", Work("simclr"))
    kept = replace(JOB, source=shards).run()
    assert embed(shards, pictures / "v.lance", Work("simclr")).n_added == 24
    monkeypatch.setenv("SAMEKIND_HOME", str(pictures / "another machine"))
    store = VectorStore.open(pictures / "v.lance")
    encoder: Any = encoder_of(store.manifest)
    assert encoder.kept.digest == kept.digest
    assert encoder.kept.path.is_relative_to(pictures / "another machine")
    assert str(pictures) not in str(encoder.state()["kept"])
    whole = open_source(pictures / "loose")
    found = dict(zip(store.texts(range(24)), store.vectors(range(24)), strict=True))
    vectors = encoder.transform(encoder.read(list(whole)))
    expected = {id: vector for id, vector in zip(whole.ids(), vectors, strict=True)}
    for id, vector in found.items():  # those of shards begin with the name of the archive
        np.testing.assert_allclose(vector, expected[id.partition("/")[2]], atol=1e-4)
