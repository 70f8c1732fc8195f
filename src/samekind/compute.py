"""Device, number format and threads, each with a reason. The only file that knows devices."""

from __future__ import annotations

import os
from dataclasses import dataclass


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
    "graphs": "reduce-overhead",
}
"""Ways to compile: as usual; with kernels chosen by trying; with launches recorded once."""


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
