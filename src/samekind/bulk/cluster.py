"""Connection to a Ray cluster, or to one that is started on this machine for the time of a job."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from samekind.errors import InputError, MissingExtra

LOCAL = "local"
"""Where work runs without Ray: in this process."""
HERE = "ray"
"""A cluster that is started on this machine and stopped afterwards."""

QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}


@contextmanager
def connected(on: str) -> Iterator[Any]:
    """Connect to Ray and return its package; a connection that exists already is used.

    Parameters
    ----------
    on : an address such as ``ray://host:10001``, "auto" for the cluster that this machine belongs
        to, or "ray" to start one here.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data
    except ImportError as missing:
        raise MissingExtra("Work on a cluster (--on)", "cluster") from missing
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    if ray.is_initialized():
        yield ray
        return
    try:
        if on == HERE:
            ray.init(address="local", include_dashboard=False, **QUIET)
        else:
            ray.init(address=on, **QUIET)
    except (ConnectionError, ValueError) as error:
        raise InputError(
            f"There is no Ray cluster at {on!r} ({error}). Give its address, such as "
            f"ray://host:10001, or use --on {HERE} or --on {LOCAL}."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()
