"""Constraints: the closure of the answers, and the answers that contradict it."""

from __future__ import annotations

from samekind.constraints.constraints import Conflict, Constraints, Links, as_links

__all__ = ["Conflict", "Constraints", "Links", "as_links"]
