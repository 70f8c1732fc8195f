"""World: the processes that train together, under ``torchrun`` or alone, with the same code."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from samekind.compute import Compute, distributed_backend, local_device


@dataclass(frozen=True)
class World:
    """Which of how many processes this is."""

    rank: int = 0
    size: int = 1

    @classmethod
    def here(cls) -> World:
        """The processes that are connected now; this one alone if none are."""
        import torch.distributed as dist

        if dist.is_available() and dist.is_initialized():
            return cls(dist.get_rank(), dist.get_world_size())
        return cls()

    @classmethod
    def expected(cls) -> World:
        """The processes that ``torchrun`` has started, whether or not they are connected yet."""
        return cls(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))

    @classmethod
    def joined(cls, compute: Compute) -> tuple[World, Compute]:
        """Join the processes that ``torchrun`` started, each with a device of its own."""
        import torch.distributed as dist

        if cls.expected().size > 1 and dist.is_available() and not dist.is_initialized():
            dist.init_process_group(distributed_backend(compute.device))
        world = cls.here()
        if world.size > 1:
            compute = local_device(compute, int(os.environ.get("LOCAL_RANK", world.rank)))
        return world, compute

    def any(self, here: bool, device: torch.device) -> bool:
        """Whether something holds in any of the processes."""
        if self.size == 1:
            return here
        import torch.distributed as dist

        found = torch.tensor(int(here), device=device)
        dist.all_reduce(found, dist.ReduceOp.MAX)
        return bool(found)

    def wait(self) -> None:
        """Wait until all processes are here."""
        import torch.distributed as dist

        if self.size > 1:
            dist.barrier()

    def gather(self, rows: Tensor) -> Tensor:
        """Rows of all processes, in the order of one process that had the whole batch.

        Every process brings (2 B, D), view a on view b; the result is (2 B size, D), likewise.
        Gradients flow back to the process that a row came from.
        """
        if self.size == 1:
            return rows
        parts: Tensor = _Gathered.apply(  # (size, 2 B, D)
            rows, self.rank, self.size
        )  # type: ignore[no-untyped-call]
        views = parts.view(self.size, 2, -1, rows.shape[1]).transpose(0, 1)  # (2, size, B, D)
        return views.flatten(0, 2)

    @torch.no_grad()
    def agree(self, *tensors: Tensor) -> None:
        """Give all processes, in place, what the first one has."""
        import torch.distributed as dist

        for tensor in tensors if self.size > 1 else ():
            dist.broadcast(tensor, 0)

    def wrapped(self, network: nn.Module) -> nn.Module:
        """The network such that gradients are averaged over all processes."""
        if self.size == 1:
            return network
        device = next(network.parameters()).device
        if device.type != "cpu":  # there is no synchronous batch norm on the CPU
            network = nn.SyncBatchNorm.convert_sync_batchnorm(network)  # type: ignore[no-untyped-call]
        places: list[Any] | None = None if device.type == "cpu" else [device]
        return nn.parallel.DistributedDataParallel(
            network, device_ids=places, find_unused_parameters=True
        )


class _Gathered(Function):
    """All-gather whose backward pass needs no talk between processes.

    All processes compute the same loss of the same gathered rows, so each already knows the
    gradient of its own rows. It is multiplied by the number of processes because the gradients of
    the weights are averaged over them afterwards, where the one-process gradient is their sum.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, rank: int, size: int) -> Tensor:
        import torch.distributed as dist

        ctx.rank, ctx.size = rank, size
        parts = [torch.empty_like(rows) for _ in range(size)]
        dist.all_gather(parts, rows.contiguous())
        return torch.stack(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return grads[0][ctx.rank] * ctx.size, None, None
