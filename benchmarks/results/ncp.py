"""Tables of the clustering processes: for docs/results.md, and kept up to date in other documents.

    python -m benchmarks.results.ncp            # write the tables into the documents
    python -m benchmarks.results.ncp --check    # exit 1 when a table there is not what rows say

Rows are in ``benchmarks/ncp``. Each names the digest of the weights that were measured. A table has
the newest rows of each variant, and earlier weights in a line of their own where they are compared.
In a document a table stands between ``<!-- table NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.ncp.summaries import FILE_OF, Quality, Row, half_interval, read_rows, summary
from benchmarks.results.ncp_images import images_table
from benchmarks.results.ncp_probabilities import PROBABILITIES, newest, sources
from benchmarks.results.own import NOT_YET
from benchmarks.results.rows import short
from samekind.reports.markdown import pipe_table

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENTS = (
    DOCS / "explanation" / "ncp.md",
    DOCS / "how-to" / "own-process.md",
    DOCS / "how-to" / "graphs.md",
)
PLACE = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
WORLDS = ("clear", "overlapping")
RIVALS = ("gibbs", "gibbs central", "dp-gmm spherical", "dp-gmm full", "k-means silhouette",
          "hdbscan")  # fmt: skip
SPELLED = {
    "gibbs": "collapsed Gibbs, told the true model: most probable grouping",
    "gibbs central": "the same: central grouping",
    "dp-gmm spherical": "Dirichlet-process mixture, spherical",
    "dp-gmm full": "the same, full",
    "k-means silhouette": "k-means, number by silhouette",
    "hdbscan": "HDBSCAN",
    "ncp pointwise": "`NCP()`, pointwise",
    "ncp clusterwise": '`NCP(variant="clusterwise")`',
    "ncp acp": '`NCP(variant="acp")`',
    "ncp acp-s": '`NCP(variant="acp-s")`',
}


def quality_table() -> str:
    """ARI and error of K by world, method and size, and differences to Gibbs."""
    kept = read_rows(FILE_OF["quality"])
    if not kept:
        return NOT_YET
    rows = newest(kept, "method")
    found = {(q.world, q.name, q.n): q for q in summary(rows)}
    sizes = sorted({n for _, _, n in found})
    names = [*sorted({name for _, name, _ in found if name not in RIVALS}, key=_variant), *RIVALS]
    out = []
    for world in WORLDS:
        lines = [
            [SPELLED.get(name, name), *(_quality(found.get((world, name, n))) for n in sizes)]
            for name in names
            if any((world, name, n) in found for n in sizes)
        ]
        head = [f"{world} groups", *(f"{n} points" for n in sizes)]
        out += [pipe_table(head, lines, 1), ""]
    lines = [
        [f"{SPELLED.get(name, name)}, {world}",
         *(_behind(found.get((world, name, n)), found.get((world, "gibbs", n))) for n in sizes)]
        for name in names if name not in RIVALS for world in WORLDS
    ]  # fmt: skip
    if lines:
        out += [pipe_table(["difference to Gibbs", *(f"{n} points" for n in sizes)], lines, 1), ""]
    counts = ", ".join(map(str, sorted({q.sets for q in found.values()})))
    out.append(f"Mean ARI ± half of its 95 % interval over {counts} data sets "
               "(mean error of the number of groups). " + sources("quality", rows))  # fmt: skip
    return "\n".join(out)


def _variant(name: str) -> int:
    order = [key for key in SPELLED if key.startswith("ncp")]
    return order.index(name) if name in order else len(order)


def _quality(q: Quality | None) -> str:
    return "" if q is None else f"{short(q.ari)} ± {short(q.half)} ({q.k_bias:+.1f})"


def _behind(ours: Quality | None, gibbs: Quality | None) -> str:
    if ours is None or gibbs is None or ours.sets > gibbs.sets:
        return ""
    gap = np.subtract(ours.each, gibbs.each[: ours.sets])
    sign = "-" if gap.mean() < 0 else "+"
    return f"{sign}{short(abs(gap.mean()))} ± {short(half_interval(gap.tolist()))}"


def answers_table() -> str:
    """ARI over answers by system."""
    kept = [row for row in read_rows(FILE_OF["answers"]) if "curve" in row]
    if not kept:
        return NOT_YET
    rows = newest(kept, "system")
    at = [point["questions"] for point in rows[0]["curve"]]
    lines = []
    for name in WORLDS:
        for system in sorted({row["system"] for row in rows}, key=lambda s: (s[:4] != "ncp+", s)):
            some = [row for row in rows if (row["set"], row["system"]) == (name, system)]
            if some:
                scores = np.array([[p["ari"] for p in row["curve"]] for row in some])
                cells = [f"{short(c.mean())} ± {short(half_interval(c.tolist()))}"
                         for c in scores.T]  # fmt: skip
                method, _, strategy = system.partition("+")
                title = f"{name}: `{method}` with `{strategy}`"
                lines.append([title, str(len(some)), *cells])
    table = pipe_table(["ARI after answers", "runs", *map(str, at)], lines, 1)
    return f"{table}\n\n{_seedless(sources('answers', rows), rows)}"


def _seedless(text: str, rows: Iterable[Row]) -> str:
    seeds = sorted({row["seed"] for row in rows})
    return re.sub(r"seed [\d, ]+,", f"seeds {seeds[0]} to {seeds[-1]},", text)


def sampling_table() -> str:
    """Seconds for 5,000 groupings."""
    rows = newest(read_rows(FILE_OF["speed"]))
    if not rows:
        return NOT_YET
    lines = [
        [row["variant"], row["world"], f"{row['different']:,.0f}", f"{row['seconds']:.2f}",
         f"{row['processor_seconds']:.2f}"]
        for row in rows
    ]  # fmt: skip
    n, samples = rows[0]["N"], rows[0]["samples"]
    head = ["variant", f"{n} points, groups", f"different of {samples:,} groupings", "seconds",
            "processor seconds"]  # fmt: skip
    return f"{pipe_table(head, lines, 2)}\n\n{sources('speed', rows)}"


def spikes_table() -> str:
    """Spike sorting: ARI and error of the number of units."""
    rows = newest(read_rows(FILE_OF["spikes"]), "method")
    if not rows:
        return NOT_YET
    sizes = sorted({row["spikes"] for row in rows})
    lines = []
    for name in dict.fromkeys(row["method"] for row in rows):
        cells = []
        for n in sizes:
            some = [row for row in rows if (row["method"], row["spikes"]) == (name, n)]
            if not some:
                cells.append("")
                continue
            row = some[-1]
            excess = np.subtract(row["units"], row["true_units"])
            score = f"{short(float(np.mean(row['ari'])))} ± {short(half_interval(row['ari']))}"
            cells.append(f"{score} ({excess.mean():+.1f}, right in {(excess == 0).mean():.0%})")
        lines.append([name, *cells])
    table = pipe_table(["method", *(f"{n} spikes" for n in sizes)], lines, 1)
    count = len(rows[-1]["ari"])
    return f"{table}\n\nMean ARI over {count} recordings (error of the number of units). " + (
        sources("spikes", rows)
    )


def estimates_table() -> str:
    """The central and the most probable grouping of real sets."""
    rows = newest(read_rows(FILE_OF["estimates"]))
    if not rows:
        return NOT_YET
    by = {(row["set"], row["scale"], row["estimate"]): row for row in rows}
    names = dict.fromkeys((row["set"], row["scale"]) for row in rows)
    lines = []
    for name, scale in names:
        true = by[name, scale, "central"]["true_groups"]
        cells = [_estimate(by[name, scale, estimate]) for estimate in ("central", "probable")]
        lines.append([f"{name}, {scale}", str(true), *cells])
    runs = len(rows[0]["ari"])
    head = ["data", "true groups", "`central` (default)", "`probable`"]
    said = f"Mean ARI of {runs} fits (mean number of groups). "
    listed = [{**row, "seed": seed} for row in rows for seed in row["seed"]]
    return (
        f"{pipe_table(head, lines, 1)}\n\n{said}{_seedless(sources('estimates', listed), listed)}"
    )


def large_table() -> str:
    """Variants on many items."""
    rows = newest(read_rows(FILE_OF["large"]), "method")
    if not rows:
        return NOT_YET
    names = list(dict.fromkeys(row["method"] for row in rows))
    by = {(row["d"], row["N"], row["method"]): row for row in rows}
    lines = []
    for d, n in dict.fromkeys((row["d"], row["N"]) for row in rows):
        cells = [_large(by.get((d, n, name))) for name in names]
        lines.append([f"{d} dimensions, {n:,} items", *cells])
    said = "Mean ARI (mean error of the number of groups), median processor seconds. "
    listed = [{**row, "seed": seed} for row in rows for seed in row["seed"]]
    table = pipe_table(["", *names], lines, 1)
    return f"{table}\n\n{said}{_seedless(sources('large', listed), listed)}"


def _large(row: Row | None) -> str:
    if row is None:
        return ""
    wrong = np.abs(np.subtract(row["groups"], row["true_groups"])).mean()
    seconds = float(np.median(row["processor_seconds"]))
    return f"{short(float(np.mean(row['ari'])))} ({wrong:.1f}), {seconds:.1f} s"


def _estimate(row: Row) -> str:
    return f"{short(float(np.mean(row['ari'])))} ({np.mean(row['groups']):.1f})"


def graphs_table() -> str:
    """Groups of nodes: ARI and error of K by world and size, and on graphs of the real world."""
    kept = read_rows(FILE_OF["graphs"])
    if not kept:
        return NOT_YET
    rows = newest(kept, "method")
    names = sorted({row["method"] for row in rows}, key=lambda name: (name[:3] != "ncp", name))
    drawn = [row for row in rows if ":" not in row["world"]]
    found = {(q.world, q.name, q.n): q for q in summary(drawn)}
    sizes = sorted({n for _, _, n in found})
    lines = []
    for world in dict.fromkeys(row["world"] for row in drawn):
        lines += [[f"{world}: {name}", *(_quality(found.get((world, name, n))) for n in sizes)]
                  for name in names]  # fmt: skip
        gaps = [_behind(found.get((world, "ncp-graph", n)), found.get((world, "gibbs", n)))
                for n in sizes]  # fmt: skip
        lines.append([f"{world}: `ncp-graph` minus gibbs", *gaps])
    known = {(row["world"], row["method"]): row for row in rows if ":" in row["world"]}
    graphs = list(dict.fromkeys(world for world, _ in known))
    scores = [[name, *(_known(known.get((graph, name))) for graph in graphs)] for name in names]
    said = ("Mean ARI ± half of its 95 % interval (mean error of the number of groups); below, of "
            "one graph each: ARI, AMI and number of groups.")  # fmt: skip
    head = ["world: method", *(f"{n} nodes" for n in sizes)]
    parts = [pipe_table(head, lines, 1), pipe_table(["method", *graphs], scores, 1)]
    return "\n\n".join([*parts, f"{said} {sources('graphs', rows)}"])


def _known(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{short(row['ari'][0])}, {short(row['ami'][0])}, {row['groups'][0]}"


TABLES: dict[str, Callable[[], str]] = {
    "quality": quality_table, **PROBABILITIES, "answers": answers_table,
    "sampling": sampling_table, "spikes": spikes_table,
    "estimates": estimates_table, "large": large_table, "graphs": graphs_table,
    "images": images_table,
}  # fmt: skip


def ncp_table(name: str, rows: Sequence[Row] = ()) -> str:
    """A table by its name."""
    if name not in TABLES:
        raise SystemExit(f"{name!r} is no table of NCP. Use one of: {', '.join(TABLES)}.")
    return TABLES[name]()


def filled(text: str) -> str:
    """The text with all its tables as the rows say."""
    return PLACE.sub(lambda found: f"{found[1]}{ncp_table(found[2])}\n{found[3]}", text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on a change")
    parser.add_argument("--documents", type=Path, nargs="+", default=DOCUMENTS)
    wanted = parser.parse_args(arguments)
    texts = {path: path.read_text(encoding="utf-8") for path in wanted.documents}
    old = [path for path, text in texts.items() if filled(text) != text]
    for path in old:
        if wanted.check:
            told = f"Old tables in {path.name}. Run: python -m benchmarks.results.ncp\n"
            sys.stderr.write(told)
        else:
            path.write_text(filled(texts[path]), encoding="utf-8")
    return int(wanted.check and bool(old))


if __name__ == "__main__":
    sys.exit(main())
