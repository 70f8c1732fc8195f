"""What to ask next. One file each; a new one is a file and a line here."""

from __future__ import annotations

STRATEGIES: dict[str, str] = {
    "placement": "samekind.strategies.placement:Placement",
    "uncertainty": "samekind.strategies.uncertainty:Uncertainty",
    "random": "samekind.strategies.random:Random",
}
DEFAULT = "placement"
