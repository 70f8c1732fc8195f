"""Provenance of a row: command, commit, machine, versions and memory."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import samekind

PACKAGE = Path(samekind.__file__)
LIBRARIES = ("samekind", "numpy", "scipy", "scikit-learn")


def provenance(command: str, commit: str, device: str | None = None) -> dict[str, Any]:
    """The part of a row that says how, where and when it was made.

    Parameters
    ----------
    device : the device that was requested; reported only where torch was in use.
    """
    libraries = (*LIBRARIES, "torch") if "torch" in sys.modules else LIBRARIES
    return {
        "command": command,
        "commit": commit,
        "when": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
        "machine": {
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
            "threads": os.environ.get("OMP_NUM_THREADS", "not set"),
            "cpu": _first("/proc/cpuinfo", "model name") or platform.processor(),
            "memory": _memory(),
            "load": [round(load, 1) for load in os.getloadavg()],
            **({"device": _device(device)} if "torch" in sys.modules else {}),
        },
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in libraries},
    }


def command_line(program: str, words: Sequence[str]) -> str:
    """A command line with absolute paths shortened to their last part.

    >>> command_line("samekind", ["bench", "quick", "--data", "/home/me/data"])
    'samekind bench quick --data data'
    """
    return " ".join([program, *(Path(w).name if Path(w).is_absolute() else w for w in words)])


def commit() -> str:
    """The commit that the package runs from, and whether there are local changes."""
    try:
        _git("ls-files", "--error-unmatch", PACKAGE.name)  # not a copy inside another project
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", ":/src")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head} + local changes" if changed else head


class PeakMemory:
    """The peak memory of this process from now on, where the system can reset the mark."""

    def __init__(self) -> None:
        with suppress(OSError):  # resets the mark to the memory in use
            Path("/proc/self/clear_refs").write_text("5")

    def mib(self) -> float:
        """The peak in MiB; where the mark cannot be reset, since the process began."""
        marked = _first("/proc/self/status", "VmHWM").split()
        return round(int(marked[0]) / 1024, 1) if marked else peak_memory_mib()


def peak_memory_mib() -> float:
    """The peak memory of this process since it began, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)


def _device(wanted: str | None) -> str:
    from samekind.compute import best_device

    return best_device(wanted).reason.partition(",")[0]


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _first(path: str, key: str) -> str:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def _memory() -> str:
    kilobytes = _first("/proc/meminfo", "MemTotal").split()
    return f"{int(kilobytes[0]) / 2**20:.0f} GiB" if kilobytes else "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
