"""The table of unseen kinds of pictures, for :mod:`benchmarks.results.ncp`."""

from __future__ import annotations

from benchmarks.ncp.summaries import FILE_OF, Row, read_rows
from benchmarks.results.ncp_probabilities import newest, sources
from benchmarks.results.own import NOT_YET
from benchmarks.results.rows import short
from samekind.reports.markdown import pipe_table

METHODS = {
    "ncp": "`NCP`, told nothing",
    "k-means, features, true K": "k-means on the same features, told K",
    "k-means, points, true K": "k-means on what the weights make of them, told K",
}


def images_table() -> str:
    """AMI and ARI of the process and of k-means that is told K, by set, size and weights."""
    rows = newest(read_rows(FILE_OF["images"]), "weights")
    if not rows:
        return NOT_YET
    cells = list(dict.fromkeys((r["weights"], r["set"], r["N"], r["K"]) for r in rows))
    by = {(r["weights"], r["set"], r["N"], r["K"], r["method"]): r for r in rows}
    lines = [
        [f"`{cell[0]}`: {cell[1]}, {cell[2]} of {cell[3]} kinds",
         *(_scores(by.get((*cell, method))) for method in METHODS)]
        for cell in cells
    ]  # fmt: skip
    counts = ", ".join(map(str, sorted({row["episodes"] for row in rows})))
    table = pipe_table(["pictures of unseen kinds", *METHODS.values()], lines, 1)
    return (
        f"{table}\n\nMean AMI / ARI ± half of its 95 % interval over {counts} draws (mean error of "
        f"the number of groups). {sources('images', rows)}"
    )


def _scores(row: Row | None) -> str:
    if row is None:
        return ""
    bias = f" ({row['K - true']:+.1f})" if row["method"] == "ncp" else ""
    return f"{short(row['AMI'])} / {short(row['ARI'])} ± {short(row['ARI +-'])}{bias}"
