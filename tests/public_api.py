"""The public API as a list: names, and the parameters of what can be called.

``python tests/public_api.py`` writes the list again; docs/versions.md says what may change.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import samekind

FILE = Path(__file__).with_suffix(".json")


def parameters(value: Any) -> list[str]:
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    return [f"{p.name}{'' if p.default is p.empty else '='}" for p in found if p.name != "self"]


def members(value: type) -> dict[str, list[str]]:
    """Public methods and properties of a class, also those that it inherits from samekind."""
    owners = [each for each in value.__mro__ if each.__module__.startswith("samekind")]
    names = {name for owner in owners for name in vars(owner) if not name.startswith("_")}
    return {name: parameters(getattr(value, name)) for name in sorted(names)}


def public_api() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in sorted(set(samekind.__all__) - {"__version__"}):
        value = getattr(samekind, name)
        found[name] = {"parameters": parameters(value)}
        if inspect.isclass(value) and not issubclass(value, Exception):
            found[name]["members"] = members(value)
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(public_api(), indent=1) + "\n")
