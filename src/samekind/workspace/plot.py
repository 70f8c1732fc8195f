"""Draw the groups of a session as coloured points; matplotlib is optional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from samekind.errors import MissingExtra
from samekind.workspace.layout import sketch

if TYPE_CHECKING:
    from samekind.session import Session

MAX_NAMED = 20
"""Groups in the legend: more would be longer than the picture."""
MAX_POINTS = 20_000


def draw(session: Session, ax: Any = None) -> Any:
    """Draw the items along the two main axes of the space in which they are grouped."""
    try:
        from matplotlib import pyplot
    except ImportError as problem:
        raise MissingExtra("A picture of the groups", "plots") from problem
    if ax is None:
        ax = pyplot.subplots(figsize=(7, 6), layout="constrained")[1]
    found = session.clustering
    plane = sketch(found.space)
    step = max(1, len(plane) // MAX_POINTS)
    colours = pyplot.get_cmap("tab20")
    for number in found.numbers:
        mine = found.members(number)[::step]
        name = f"{found.name(number)} ({len(found.members(number)):,})"
        ax.scatter(
            plane[mine, 0], plane[mine, 1], s=14, color=colours((number - 1) % 20), label=name
        )
    known = session.constraints.touched
    if len(known):
        ax.scatter(
            plane[known, 0], plane[known, 1], s=42, facecolors="none", edgecolors="black",
            linewidths=0.8, label="answered",
        )  # fmt: skip
    ax.set(xticks=[], yticks=[], title=f"{session.collection.name}: {session.name}")
    if found.n_groups <= MAX_NAMED:
        ax.legend(loc="best", fontsize="small", frameon=False)
    return ax
