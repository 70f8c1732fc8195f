"""Device, number format and threads, each with a reason. The only file that knows devices."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


@dataclass(frozen=True)
class Compute:
    """Where to compute, in which number format, and why, in words for a person."""

    device: str
    dtype: str
    reason: str


def best_device(wanted: str | None = None) -> Compute:
    """The device to compute on: `wanted`, else SAMEKIND_DEVICE, else the fastest that is there."""
    import torch

    wanted = wanted or os.environ.get("SAMEKIND_DEVICE")
    if wanted:
        return Compute(wanted, _dtype(wanted), f"{wanted}, because it was asked for")
    if torch.cuda.is_available():
        name = torch.cuda.get_device_name(0)
        return Compute("cuda", _dtype("cuda"), f"{name}, because there is one")
    if torch.backends.mps.is_available():
        return Compute("mps", "float32", "Apple's GPU, because there is one")
    return Compute("cpu", "float32", f"CPU ({n_threads()} threads), because there is no GPU")


def distributed_backend(device: str) -> str:
    """How processes talk to each other: NCCL between NVIDIA GPUs, gloo elsewhere."""
    return "nccl" if device.startswith("cuda") else "gloo"


def local_device(compute: Compute, rank: int) -> Compute:
    """The device of one of several processes on this machine: each GPU serves one of them."""
    if not compute.device.startswith("cuda"):
        return compute
    import torch

    torch.cuda.set_device(rank)
    return Compute(f"cuda:{rank}", compute.dtype, f"{compute.reason}; number {rank} of them")


COMPILE_MODES: dict[str, str | None] = {
    "plain": None,
    "tuned": "max-autotune-no-cudagraphs",
    "graphs": None,
}
"""Ways to compile: as usual; with kernels chosen by trying; with launches recorded besides."""
RECORDING = ("record", "graphs")
"""Ways in which the launches of a whole step are recorded: without and with compiling."""


def compiled(work: Callable[..., Any], mode: str) -> Callable[..., Any]:
    """`work` compiled for each shape that comes, or as it is where the mode does not compile."""
    import torch

    if mode not in COMPILE_MODES:
        return work
    return torch.compile(work, dynamic=False, mode=COMPILE_MODES[mode])


class Recorded:
    """Work whose launches on a GPU are recorded once and then repeated as one.

    Where launching costs more than computing (small networks, a busy host), this is several times
    faster. The work must not wait for the device, must find its parameters where they were, and
    gives its results in the same place each time: copy what has to outlive the next call. On other
    devices it is just called.

    Parameters
    ----------
    work : from tensors to tensors.
    chances : generators that it draws from.
    """

    WARM = 3
    """Calls before the recording, in which kernels are compiled and chosen."""

    def __init__(self, work: Callable[..., Any], chances: Sequence[Any] = ()) -> None:
        self.work, self.chances = work, chances
        self._inputs: list[Any] = []
        self._calls = 0
        self._graph: Any = None
        self._result: Any = None

    def __call__(self, *inputs: Any) -> Any:
        """The result for inputs of the same shapes as before."""
        import torch

        if inputs[0].device.type != "cuda":
            return self.work(*inputs)
        if not self._inputs:
            self._inputs = [value.clone() for value in inputs]
        for mine, value in zip(self._inputs, inputs, strict=True):
            mine.copy_(value, non_blocking=True)
        self._calls += 1
        if self._calls <= self.WARM:
            return self._beside(torch)
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            for chance in self.chances:
                self._graph.register_generator_state(chance)
            with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
                self._result = self.work(*self._inputs)
        self._graph.replay()
        return self._result

    def _beside(self, torch: Any) -> Any:
        """Warm up on a stream of its own, as recording will."""
        aside, here = torch.cuda.Stream(), torch.cuda.current_stream()
        aside.wait_stream(here)
        with torch.cuda.stream(aside):
            result = self.work(*self._inputs)
        here.wait_stream(aside)
        return result


@contextmanager
def quick_kernels() -> Iterator[None]:
    """Let a GPU try which kernels are fastest for the shapes that come; for training."""
    import torch

    with torch.backends.cudnn.flags(enabled=True, benchmark=True, allow_tf32=True):
        yield


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Within this context torch keeps to one thread, where that is wanted."""
    import torch

    before = torch.get_num_threads()
    try:
        if wanted:
            torch.set_num_threads(1)
        yield
    finally:
        torch.set_num_threads(before)


def as_tensor(rows: NDArray[Any], device: str | None = None) -> Tensor:
    """Rows as a tensor on the device, without a copy if possible; half precision becomes single."""
    import numpy as np
    import torch

    rows = np.asarray(rows)
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float32)
    if not rows.flags.writeable:  # torch warns about memory that it must not write to
        rows = rows.copy()
    where = best_device(device).device
    if where.startswith("mps"):  # it has no double precision
        rows = rows.astype(np.float32, copy=False)
    return torch.from_numpy(np.ascontiguousarray(rows)).to(where)


def synchronise(device: str) -> None:
    """Wait until the device has done all that it was told; for measuring time."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    elif device.startswith("mps"):
        torch.mps.synchronize()


def n_threads() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _dtype(device: str) -> str:
    import torch

    if device.startswith("cuda") and torch.cuda.is_available() and torch.cuda.is_bf16_supported():
        return "bfloat16"
    return "float32"
