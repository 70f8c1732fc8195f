"""Choose device, number format and threads. The only file that knows about devices."""

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
    """The device, the number format, and the reason in words for a person."""

    device: str
    dtype: str
    reason: str


def check_torch(what: str) -> None:
    """Fail with what to install, if torch is missing; `what` needs it."""
    from samekind.errors import MissingExtra

    try:
        import torch  # noqa: F401
    except ImportError as missing:
        raise MissingExtra(what, "train") from missing


def best_device(wanted: str | None = None) -> Compute:
    """The device to compute on: `wanted`, else SAMEKIND_DEVICE, else the fastest available."""
    try:
        import torch
    except ImportError:
        return Compute("cpu", "float32", f"CPU ({n_threads()} threads), because torch is missing")
    wanted = wanted or os.environ.get("SAMEKIND_DEVICE")
    if wanted:
        return Compute(wanted, _dtype(wanted), f"{wanted}, as requested")
    if torch.cuda.is_available():
        name = torch.cuda.get_device_name(0)
        return Compute("cuda", _dtype("cuda"), f"{name}, the fastest device here")
    if torch.backends.mps.is_available():
        return Compute("mps", "float32", "Apple's GPU, the fastest device here")
    return Compute("cpu", "float32", f"CPU ({n_threads()} threads), because there is no GPU")


def distributed_backend(device: str) -> str:
    """The backend for communication between processes: NCCL on NVIDIA GPUs, gloo elsewhere."""
    return "nccl" if device.startswith("cuda") else "gloo"


def local_device(compute: Compute, rank: int) -> Compute:
    """The device of one of several processes on this machine: one GPU each."""
    if not compute.device.startswith("cuda"):
        return compute
    import torch

    torch.cuda.set_device(rank)
    return Compute(f"cuda:{rank}", compute.dtype, f"{compute.reason}; number {rank} of them")


def fits_on(device: str, n_bytes: int) -> bool:
    """Whether data of this size leave half of a device's free memory for other things."""
    import torch

    if not device.startswith("cuda"):
        return True  # the same memory
    free, _ = torch.cuda.mem_get_info(torch.device(device))
    return n_bytes <= free // 2


COMPILE_MODES: dict[str, str | None] = {
    "plain": None,
    "tuned": "max-autotune-no-cudagraphs",
    "graphs": None,
}
"""How to compile: as usual; with autotuned kernels; with recorded launches in addition."""
RECORDING = ("record", "graphs")
"""Modes that record the launches of a whole step, without and with compiling."""


def compiled(work: Callable[..., Any], mode: str) -> Callable[..., Any]:
    """`work` compiled for each input shape, or unchanged if the mode does not compile."""
    import torch

    if mode not in COMPILE_MODES:
        return work
    return torch.compile(work, dynamic=False, mode=COMPILE_MODES[mode])


class Recorded:
    """A function whose launches on a GPU are recorded once and then replayed (a CUDA graph).

    Several times faster where launching costs more than computing (small networks, a busy host).
    The function must not wait for the device, its parameters must stay in place, and every call
    returns the same memory: copy what has to outlive the next call. On other devices the function
    is just called.

    Parameters
    ----------
    work : maps tensors to tensors.
    chances : the generators that it draws from.
    """

    WARM_UP_CALLS = 3
    """Calls before the recording, in which kernels are compiled and selected."""

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
        if self._calls <= self.WARM_UP_CALLS:
            return self._warm_up(torch)
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            for chance in self.chances:
                self._graph.register_generator_state(chance)
            with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
                self._result = self.work(*self._inputs)
        self._graph.replay()
        return self._result

    def _warm_up(self, torch: Any) -> Any:
        """Call the function on a side stream, as recording will."""
        side, main = torch.cuda.Stream(), torch.cuda.current_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side):
            result = self.work(*self._inputs)
        main.wait_stream(side)
        return result


@contextmanager
def quick_kernels() -> Iterator[None]:
    """Let a GPU benchmark which kernels are fastest for the input shapes; for training."""
    import torch

    with torch.backends.cudnn.flags(enabled=True, benchmark=True, allow_tf32=True):
        yield


@contextmanager
def matmul_precision(wanted: str) -> Iterator[None]:
    """Within this context float32 products have this precision.

    "highest", "high" (TF32 on a GPU), or "medium" (on a CPU that can: factors in bfloat16).
    """
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(wanted)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Limit torch to one thread within this context, if `wanted`."""
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
    """Wait until the device has finished all work; for measuring time."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    elif device.startswith("mps"):
        torch.mps.synchronize()


def n_threads() -> int:
    """The number of cores that this process may use; ``SAMEKIND_THREADS`` can lower it."""
    if os.environ.get("SAMEKIND_THREADS", "").isdecimal():
        return max(1, int(os.environ["SAMEKIND_THREADS"]))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _dtype(device: str) -> str:
    import torch

    if device.startswith("cuda") and torch.cuda.is_available() and torch.cuda.is_bf16_supported():
        return "bfloat16"
    return "float32"
