"""Ray clusters for tests: one at a time on a machine."""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def only_cluster() -> Iterator[pytest.MonkeyPatch]:
    """Wait until no other test has a cluster, and set the environment that its workers inherit.

    The servers for clients of two clusters would share a port (23000), and Linux would hand the
    clients of one to the other.
    """
    with open(Path(tempfile.gettempdir()) / f"samekind-ray-{os.getuid()}.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
            patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
            yield patch
