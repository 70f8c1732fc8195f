"""Say when the answers make a difference that the vectors do not hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def unseen_summary(model: Any) -> dict[str, Any] | None:
    """What a model knows about a difference that it cannot see, as plain JSON; None: it can."""
    found = getattr(model, "visibility_", None)
    if found is None or found.is_seen:
        return None
    guessed = round(found.guessed * found.judged)
    return {"judged": found.judged, "right": found.right, "guessed": guessed}


def describe_unseen(progress: Mapping[str, Any]) -> str:
    """Say that a difference cannot be seen, and by what that is known; empty if it can.

    >>> describe_unseen({"unseen": {"judged": 41, "right": 12, "guessed": 14}})
    'I cannot see this difference yet: your answers let me place 12 of 41 answered items, guessing
     would place 14.'
    """
    found = progress.get("unseen")
    if not found:
        return ""
    return (
        f"I cannot see this difference yet: your answers let me place {found['right']} of "
        f"{found['judged']} answered items, guessing would place {found['guessed']}."
    )


WHAT_HELPS = (
    "What could help: another encoder (--encoder NAME, see samekind list), polishing on the page, "
    "which trains a network on your answers, or sorting by hand on the page."
)
"""For the terminal; the page links to each of them."""
