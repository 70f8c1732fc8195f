"""The figure of docs/explanation/theory.md, from what loss_gap.py has measured.

To draw again without measuring: ``python gap_figure.py loss-gap.json FIGURE "digits, parity"``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

INK, FAINT = "#22221f", "#8a8a86"
LINES = {  # colours after Okabe and Ito; dashes say the same without colour
    "random": (FAINT, "-"),
    "S_up": ("#0072b2", "-"),
    "S_hp": ("#e69f00", "--"),
    "joint": ("#009e73", "-."),
    "csd": ("#d55e00", (0, (4, 1, 1, 1, 1, 1))),
    "greedy": (INK, ":"),
}
STAGES = {"untrained": ("o", "#ffffff"), "partly trained": ("s", "#9a9a96"), "trained": ("D", INK)}
TITLES = {
    "pcl-paper": "PCL, as printed",
    "pcl-reference": "PCL, as the program computes it",
    "occ": "OCC",
}
SCORES = ("similarity", "S_up", "S_hp", "joint", "csd")


def draw(kept: dict[str, Any], path: Path, run: str) -> None:
    """Above: the loss on its way to the fully answered one. Below: scores against closing."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    result = kept[run]
    figure = Figure(figsize=(10.5, 6.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 3, gridspec_kw={"height_ratios": (1.25, 1)})
    for column, (objective, title) in enumerate(TITLES.items()):
        rows = {row["stage"]: row for row in result["fixed"] if row["objective"] == objective}
        curves(axes[0, column], rows["trained"]["curves"])
        relations(axes[1, column], {stage: row["relations"] for stage, row in rows.items()})
        axes[0, column].set_title(title, fontsize=10.5, color=INK, loc="left")
        for panel in axes[:, column]:
            panel.spines[["top", "right"]].set_visible(False)
            panel.tick_params(labelsize=8.5, colors=INK)
    axes[0, 0].set_ylabel("loss minus fully answered loss", fontsize=9)
    handles, names = axes[0, 1].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside upper left", ncols=6, fontsize=9, frameon=False, handlelength=3
    )
    axes[1, 0].legend(
        fontsize=8.5,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(0, 1.17),
        ncols=3,
        handletextpad=0.1,
        columnspacing=0.8,
    )
    figure.savefig(path, dpi=160)


def curves(panel: Any, found: dict[str, Any]) -> None:
    """Mean over the batches; the interval is drawn for random questions, as a yardstick."""
    panel.axhline(0, color=INK, linewidth=0.8, zorder=1)
    for name, (colour, dash) in LINES.items():
        if name not in found:
            continue
        mean, low, high = zip(*found[name]["signed"], strict=True)
        panel.plot(mean, color=colour, linestyle=dash, linewidth=1.7, label=name)
        if name == "random":
            panel.fill_between(range(len(mean)), low, high, color=colour, alpha=0.22, linewidth=0)
    panel.set_xlabel("answers (features trained, then fixed)", fontsize=9)
    panel.margins(x=0)


def relations(panel: Any, found: dict[str, Any]) -> None:
    """Spearman's correlation of each score with the closing of the gap, by stage."""
    panel.axvline(0, color=INK, linewidth=0.8)
    for place, (stage, (marker, fill)) in enumerate(STAGES.items()):
        after = found[stage][max(found[stage], key=int)]
        for height, score in enumerate(SCORES):
            value = after.get(f"closes {score}")
            if value is None:
                continue
            y = -height + 0.24 * (1 - place)
            panel.plot(value[1:], [y, y], color=INK, linewidth=1.1)
            panel.plot(
                value[0],
                y,
                marker,
                color=INK,
                markerfacecolor=fill,
                markersize=5.5,
                label=stage if height == 0 else None,
            )
    panel.set_yticks([-k for k in range(len(SCORES))], SCORES)
    panel.set_xlim(-1, 1)
    panel.set_ylim(-len(SCORES) + 0.4, 0.6)
    panel.grid(axis="x", color="#e4e4e0", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.set_xlabel("rank correlation with the closing of the gap", fontsize=9)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]), sys.argv[3])
