"""Notices about a pile, in words: what was skipped, and what has changed since the last time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from samekind.questions.wording import plural

if TYPE_CHECKING:
    from samekind.items import Skipped
    from samekind.session import Session

MAX_NAMED_SKIPPED = 5
"""Skipped files that are named; the others are only counted."""


def skipped_notices(skipped: Sequence[Skipped]) -> Iterator[str]:
    """Say which files were skipped, and why."""
    for file in skipped[:MAX_NAMED_SKIPPED]:
        yield f"Skipped {file.id}: {file.reason}"
    if len(skipped) > MAX_NAMED_SKIPPED:
        yield f"... and {len(skipped) - MAX_NAMED_SKIPPED:,} more were skipped."


def change_notices(session: Session) -> Iterator[str]:
    """Say how many items with answers have been renamed or are missing."""
    progress = session.progress()
    if renamed := len(progress["renamed"]):
        items = plural(renamed, "item was", "items were")
        yield f"{items} renamed since the last time; the answers still apply."
    if gone := len(progress["gone"]):
        items = plural(gone, "item with answers is", "items with answers are")
        yield f"{items} missing; the answers are kept, and what follows from them still holds."
