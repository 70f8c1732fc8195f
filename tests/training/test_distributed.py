"""Two processes give the loss and the gradients of one.

Batch norms are left out here: there is no batch norm over processes on the CPU (on GPUs it is
SyncBatchNorm). Views are without chance, because each process draws its own.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import torch
import torch.multiprocessing as mp

from process_groups import leave_group
from samekind.clusterers.deep.pcl import PCLLoss
from samekind.compute import Compute
from samekind.constraints import Constraints
from samekind.training.loop import Plan, SchedulePoint, Trainer
from samekind.training.network import Network
from samekind.training.rows import RowBackbone


class Shifted:
    """Two views that differ, without any chance."""

    def __call__(self, items: torch.Tensor, generator: Any = None) -> torch.Tensor:
        return torch.cat([items, items + 0.1 * items.roll(1, dims=1)])

    def plain(self, items: torch.Tensor) -> torch.Tensor:
        return items


def one_step(folder: str, name: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = torch.randn(24, 6)
    network = Network(RowBackbone(6, width=16), k=3, out=8, attention=True)
    plan = Plan(batch_size=12, learning_rate=1e-2, seed=4)
    trainer = Trainer(
        network, PCLLoss(), data, Shifted(), plan, compute=Compute("cpu", "float32", "for a test")
    )
    trainer.learn_from(Constraints.from_links(24, [(0, 1, True), (1, 2, False), (5, 9, True)]))
    parts = trainer.one_step(SchedulePoint(0, 1))
    found = {f"loss.{key}": part.detach() for key, part in parts.items()}
    found |= {f"grad.{key}": p.grad for key, p in network.named_parameters() if p.grad is not None}
    trainer.run(1)
    found |= {f"weight.{key}": p.detach() for key, p in network.named_parameters()}
    torch.save(found, Path(folder) / f"{name}.pt")


def worker(rank: int, port: int, folder: str) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    one_step(folder, f"rank{rank}")
    leave_group()


def test_two_processes_give_the_loss_and_gradients_of_one(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(worker, args=(port, str(tmp_path)), nprocs=2)
    one_step(str(tmp_path), "alone")
    alone = torch.load(tmp_path / "alone.pt", weights_only=True)
    for rank in range(2):
        found = torch.load(tmp_path / f"rank{rank}.pt", weights_only=True)
        assert found.keys() == alone.keys()
        for name, tensor in alone.items():
            # Adam turns rounding of gradients near zero into visible steps of the weights.
            tolerance = 1e-3 if name.startswith("weight") else 1e-5
            torch.testing.assert_close(found[name], tensor, rtol=tolerance, atol=tolerance)
