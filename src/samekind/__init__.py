"""samekind: bring a pile, answer a few questions, get the grouping that you had in mind."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from samekind.clustering import Clustering
    from samekind.constraints import Conflict, Constraints
    from samekind.errors import SamekindError
    from samekind.items import Collection, Item, Preview
    from samekind.questions import (
        Answer,
        Link,
        OddOnes,
        Question,
        SameGroups,
        SamePair,
        WhichGroup,
    )
    from samekind.session import Session

_HOME = {
    "Answer": "questions",
    "Clustering": "clustering",
    "Collection": "items",
    "Conflict": "constraints",
    "Constraints": "constraints",
    "Item": "items",
    "Link": "questions",
    "OddOnes": "questions",
    "Preview": "items",
    "Question": "questions",
    "SameGroups": "questions",
    "SamePair": "questions",
    "SamekindError": "errors",
    "Session": "session",
    "WhichGroup": "questions",
}

__all__ = [
    "Answer",
    "Clustering",
    "Collection",
    "Conflict",
    "Constraints",
    "Item",
    "Link",
    "OddOnes",
    "Preview",
    "Question",
    "SameGroups",
    "SamePair",
    "SamekindError",
    "Session",
    "WhichGroup",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that ``import samekind`` is instant."""
    if name not in _HOME:
        raise AttributeError(f"module 'samekind' has no attribute {name!r}")
    return getattr(import_module(f"samekind.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
