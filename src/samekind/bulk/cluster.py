"""Connection to a Ray cluster, or to one that is started on this machine for the time of a job."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from samekind.errors import InputError, MissingExtra

LOCAL = "local"
"""Where work runs without Ray: in this process."""
HERE = "ray"
"""A cluster that is started on this machine and stopped afterwards."""

AUTO = "auto"
"""The cluster that this machine belongs to."""
CLIENT = "ray://"
"""Addresses of clusters that this machine does not belong to."""
SECONDS_TO_CONNECT = 10.0
ATTEMPTS = 3
SECONDS_BETWEEN_ATTEMPTS = 2.0

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
    ray = _ray()
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    if ray.is_initialized():
        yield ray
        return
    check_reachable(on)
    try:
        _connect(ray, on)
    except (ConnectionError, ValueError) as error:
        raise _unreachable(on, error) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _connect(ray: Any, on: str) -> None:
    """Connect; a cluster that fails to start its server for this client is asked again."""
    if on == HERE:
        ray.init(address="local", include_dashboard=False, **QUIET)
        return
    for attempt in range(1, ATTEMPTS + 1):
        try:
            ray.init(address=on, **QUIET)
            return
        except ConnectionAbortedError:
            if attempt == ATTEMPTS:
                raise
            ray.shutdown()
            time.sleep(SECONDS_BETWEEN_ATTEMPTS)


def check_reachable(on: str) -> None:
    """Raise at once if nothing listens at an address: Ray itself would try for minutes."""
    if on == LOCAL:
        return
    _ray()
    if on in (HERE, AUTO):
        return
    host, _, port = on.removeprefix(CLIENT).rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(
            f"Expected {LOCAL}, {HERE}, {AUTO} or an address such as ray://host:10001 or "
            f"host:6379, got {on!r}."
        )
    if on.startswith(CLIENT) and find_spec("grpc") is None:
        raise InputError(
            f"An address from outside of the cluster ({on!r}) needs the client of Ray. Run: "
            f"pip install 'ray[client]'. Or run this on a machine of the cluster with --on {AUTO}."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS_TO_CONNECT).close()
    except OSError as error:
        raise _unreachable(on, error) from error


def _ray() -> Any:
    """Return the package, or say what to install."""
    try:
        import ray
        import ray.data
    except ImportError as missing:
        raise MissingExtra("Work on a cluster (--on)", "cluster") from missing
    return ray


def _unreachable(on: str, error: Exception) -> InputError:
    return InputError(
        f"There is no Ray cluster at {on!r} ({error}). Give its address, such as "
        f"ray://host:10001, or use --on {HERE} or --on {LOCAL}."
    )
