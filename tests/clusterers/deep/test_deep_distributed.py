"""A session under several processes: all must see the same groups and ask the same questions."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import numpy as np
import torch
import torch.multiprocessing as mp

from process_groups import leave_group
from samekind.clusterers.deep.pcl import PCL
from samekind.constraints import Constraints


def worker(rank: int, port: int, folder: str) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    torch.set_num_threads(1)
    images = np.random.default_rng(0).integers(0, 256, (24, 3, 8, 8)).astype(np.uint8)
    model = PCL(
        2, epochs=2, backbone="resnet18", stem="3x3", channels=4, size=8, batch_size=8,
        device="cpu", random_state=0,
    )  # fmt: skip
    model.fit(images, constraints=Constraints.from_links(24, [(0, 1, True), (1, 2, False)]))
    np.savez(
        Path(folder) / f"{rank}.npz",
        space=model.space_,
        labels=model.labels_,
        placed=model.transform(images[:5]),
    )
    leave_group()


def test_all_processes_have_the_same_groups_vectors_and_predictions(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(worker, args=(port, str(tmp_path)), nprocs=2)
    first, second = (np.load(tmp_path / f"{rank}.npz") for rank in range(2))
    for name in ("space", "labels", "placed"):
        np.testing.assert_array_equal(first[name], second[name])
