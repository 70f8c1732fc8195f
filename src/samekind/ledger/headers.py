"""Headers: what a session was opened with, checked, because a stranger may have written it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SETTINGS: dict[str, type | tuple[type, ...]] = {
    "encoder": str,
    "method": str,
    "strategy": str,
    "groups": int,
    "parameters": dict,
    "strategy_parameters": dict,
    "polish": str,
    "bursts": (bool, int),
}
"""Types of the settings that samekind itself uses; others belong to whoever gave them."""
MAX_SEED = 1 << 64


def checked_header(data: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the data of an ``opened`` event; TypeError or ValueError if it cannot be used.

    >>> checked_header({"seed": 3, "settings": {"method": "kmeans", "groups": None}})["seed"]
    3
    """
    header = dict(data)
    settings = header.get("settings", {})
    if not isinstance(settings, dict):
        raise TypeError(f"expected an object as 'settings', got {settings!r:.40}")
    for name, expected in SETTINGS.items():
        value = settings.get(name)
        if value is not None and not isinstance(value, expected):
            raise TypeError(f"expected another type of value for {name!r}, got {value!r:.40}")
    seed = header.get("seed", 0)
    if not isinstance(seed, int) or not 0 <= seed < MAX_SEED:
        raise ValueError(f"expected a whole number from 0 as 'seed', got {seed!r:.40}")
    return header
