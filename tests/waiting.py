"""Waiting on conditions, with limits of minutes: a busy machine must not fail a test."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 300.0
"""Seconds after which something counts as broken, not slow."""


def until(condition: Callable[[], object], pause: Callable[[float], object] = time.sleep) -> None:
    """Wait until a condition holds; `pause` is called with the seconds between two looks."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "The condition did not become true in time."
        pause(0.05)
