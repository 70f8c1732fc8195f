"""The session: ask, tell, undo, refit, and what follows from the answers."""

from __future__ import annotations

from samekind.session.session import Session

__all__ = ["Session"]
