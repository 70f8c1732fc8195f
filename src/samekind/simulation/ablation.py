"""Losses without some of their parts, for ablations."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from samekind.errors import InputError


class Without(nn.Module):
    """A loss without some of its parts (OCC, Table 3)."""

    def __init__(self, loss: nn.Module, parts: tuple[str, ...]) -> None:
        super().__init__()
        self.loss, self.parts = loss, parts

    def forward(self, out: Any, links: Any, moment: Any) -> dict[str, Tensor]:
        """The remaining parts."""
        found: dict[str, Tensor] = self.loss(out, links, moment)
        missing = set(self.parts) - set(found)
        if missing:
            raise InputError(
                f"The loss has no part {sorted(missing)[0]!r} to leave out. "
                f"Its parts: {', '.join(found)}."
            )
        return {name: part for name, part in found.items() if name not in self.parts}
