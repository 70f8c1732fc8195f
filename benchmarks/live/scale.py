"""Seconds and memory of a session against the number of items, up to a million.

    python -m benchmarks.live.scale --items 10000 60000 200000 1000000 --width 128 \
        --json benchmarks/live/scale.jsonl --figure docs/pictures/live-scale.png
    python -m benchmarks.live.scale --report --json benchmarks/live/scale.jsonl

Each number of items is measured in a process of its own, because peak memory never falls within a
process. The vectors (ten Gaussian kinds) are in a .npy file and the ledger in a SQLite file. The
person is simulated. Beside wall-clock seconds stand CPU seconds, which other work does not change.

A refit is measured until the new groups are in place. At every other question the next one is
prefetched for each choice, so that an ask is measured with and without prefetching.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gaussians import write_kinds
from benchmarks.measuring import provenance, table
from samekind.clustering import Clustering
from samekind.session import Session
from samekind.simulation.rows import append_row, read_rows
from samekind.simulation.runner import latency

Row = dict[str, Any]
NAME = "live-scale"
BARS = {60_000: (1.0, 0.050), 1_000_000: (10.0, 0.100)}
"""What a refit and an ask may take, in seconds, at the 95th percentile."""
MEMORY = 3.0
"""How many times the vectors a session may take."""
TIMED = ("refit", "refit_cpu", "ask", "ask_cpu", "ask_prefetched", "prefetch", "tell")


def main(words: Sequence[str] | None = None) -> None:
    """Measure each number of items in a process of its own; then the table and the picture."""
    wanted = _parsed(words)
    if wanted.one:
        print(json.dumps(measured(wanted.one, wanted)))
        return
    rows: list[Row] = []
    if wanted.report:
        kept = read_rows(wanted.json).rows if wanted.json else []
        rows = [row for row in kept if row["benchmark"] == NAME]
    for items in [] if wanted.report else wanted.items:
        rows.append({**_in_a_process(items, wanted), **provenance()})
        if wanted.json:
            append_row(wanted.json, rows[-1])
        print(f"{items:,} items: {rows[-1]['seconds']:.0f} s in all", file=sys.stderr, flush=True)
    rows = list({row["items"]: row for row in sorted(rows, key=lambda row: row["items"])}.values())
    show(rows)
    if wanted.figure and rows:
        draw(rows, wanted.figure)


def _parsed(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--items", type=int, nargs="+", default=[10_000, 60_000, 200_000, 1_000_000])
    add("--width", type=int, default=128)
    add("--kinds", type=int, default=10)
    add("--method", default="live")
    add("--strategy", default="live")
    add("--questions", type=int, default=150)
    add("--refit-every", type=int, default=10)
    add("--seed", type=int, default=0)
    add("--json", type=Path, help="append the rows to this file")
    add("--figure", type=Path, help="draw cost against the number of items into this file")
    add("--report", action="store_true", help="measure nothing; table and picture of --json")
    add("--one", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def _in_a_process(items: int, wanted: argparse.Namespace) -> Row:
    names = ("width", "kinds", "method", "strategy", "questions", "refit_every", "seed")
    options = [
        word
        for name in names
        for word in (f"--{name.replace('_', '-')}", str(getattr(wanted, name)))
    ]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.live.scale", "--one", str(items), *options],
        stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


class Timed(Session):
    """A session that notes the seconds of all that it does, by the clock and of the processor."""

    def __init__(self, *things: Any, **settings: Any) -> None:
        self.took: dict[str, list[float]] = {}
        self.cpu: dict[str, list[float]] = {}
        self._prefetched = False
        super().__init__(*things, **settings)

    def ask(self, **more: Any) -> Any:
        """As a session asks."""
        with self._timed("ask_prefetched" if self._prefetched else "ask"):
            return super().ask(**more)

    def tell(self, number: int, *things: Any, **more: Any) -> None:
        """As a session is told; for every other question the next one is prefetched."""
        self._prefetched = number % 2 == 0
        if self._prefetched:
            with self._timed("prefetch"):
                self.prefetch()
        with self._timed("tell"):
            super().tell(number, *things, **more)

    def refit(self) -> Clustering:
        """As a session learns; what was prefetched is gone."""
        self._prefetched = False
        with self._timed("refit"):
            return super().refit()

    def percentiles(self) -> Row:
        """Of everything timed."""
        found = {}
        for what in TIMED:
            kept = self.cpu if what.endswith("_cpu") else self.took
            found[f"{what}_seconds"] = latency(kept.get(what.removesuffix("_cpu"), ()))
        return found

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        clock, processor = time.perf_counter(), time.process_time()
        yield
        self.took.setdefault(what, []).append(time.perf_counter() - clock)
        self.cpu.setdefault(what, []).append(time.process_time() - processor)


def measured(items: int, wanted: argparse.Namespace) -> Row:
    """One session over so many items, in this process."""
    from samekind.encoders import default_encoder, encode
    from samekind.evaluation import ari
    from samekind.ledger.sql import SqlStore
    from samekind.simulation.loop import run
    from samekind.simulation.people import Truth
    from samekind.sources import open_source

    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        truth = write_kinds(path, items, wanted.width, wanted.kinds, wanted.seed)
        warm_up()
        before = memory()
        collection = open_source(path)
        X = encode(collection, default_encoder(collection)[0]).X
        store = SqlStore(path.with_suffix(".samekind"))
        started = time.perf_counter()
        session = Timed(
            collection, X, store=store, clusterer=wanted.method, strategy=wanted.strategy,
            seed=wanted.seed, refit_every=wanted.refit_every, budget=wanted.questions,
        )  # fmt: skip
        first = time.perf_counter() - started
        log = run(session, Truth(truth.astype(np.intp)), wanted.questions)
        after = memory()
        store.close()
    vectors = X.nbytes / 2**20
    over = after["VmHWM"] - before["VmRSS"]
    return {
        "benchmark": NAME, "items": items, "width": wanted.width, "kinds": wanted.kinds,
        "method": wanted.method, "strategy": wanted.strategy,
        "seed": wanted.seed, "questions": log.n_answers, "refit_every": wanted.refit_every,
        "refits": len(log.refit_seconds), "first_groups_seconds": round(first, 2),
        **session.percentiles(), "vectors_mb": round(vectors, 1),
        "baseline_mb": before["VmRSS"], "peak_over_baseline_mb": round(over, 1),
        "peak_over_vectors": round(over / vectors, 2),
        "own_at_end_mb": round(after["RssAnon"] - before["RssAnon"], 1),
        "ari": round(ari(truth, session.clustering.labels), 4),
        "seconds": round(time.perf_counter() - began, 1),
    }  # fmt: skip


def warm_up() -> None:
    """Load every library on the way, so that the baseline holds what does not grow with items."""
    from samekind.simulation.loop import run
    from samekind.simulation.people import Truth
    from samekind.sources import RowCollection, Rows

    rng = np.random.default_rng(0)
    X, kinds = rng.normal(size=(300, 8)).astype(np.float32), rng.integers(0, 3, 300)
    small = RowCollection("warm-up", Rows(X), ready=True)
    run(Session(small, X, clusterer="live", strategy="live"), Truth(kinds), 10)


def memory() -> dict[str, float]:
    """MiB in use (VmRSS), the peak so far (VmHWM), and not backed by a file (RssAnon)."""
    status = Path("/proc/self/status").read_text()
    found = re.findall(r"^(VmRSS|VmHWM|RssAnon):\s+(\d+) kB", status, re.MULTILINE)
    return {name: round(int(kilobytes) / 1024, 1) for name, kilobytes in found}


def show(rows: Sequence[Row]) -> None:
    """The table for people; what is above its bar is marked."""
    lines: list[tuple[str, ...]] = [
        ("items", "first groups", "refit p50", "p95", "(cpu p95)", "ask p95", "(cpu p95)",
         "prefetched", "prefetching", "tell p95", "peak / vectors", "ARI"),
    ]  # fmt: skip
    for row in rows:
        refit, ask = BARS.get(row["items"], (np.inf, np.inf))
        p95 = {what: row.get(f"{what}_seconds", {"p95": np.nan})["p95"] for what in TIMED}
        cells = (
            f"{row['items']:,}", f"{row['first_groups_seconds']:.1f} s",
            f"{row['refit_seconds']['p50']:.2f} s", _marked(p95["refit"], refit, "s"),
            f"{p95['refit_cpu']:.2f} s", _marked(p95["ask"], ask, "ms"),
            *(f"{1000 * p95[w]:.1f} ms" for w in ("ask_cpu", "ask_prefetched", "prefetch", "tell")),
            _marked(row["peak_over_vectors"], MEMORY, ""), f"{row['ari']:.3f}",
        )  # fmt: skip
        lines.append(cells)
    table(lines)


def _marked(value: float, bar: float, unit: str) -> str:
    text = {"s": f"{value:.2f} s", "ms": f"{1000 * value:.1f} ms"}.get(unit, f"{value:.2f}")
    return f"{text} !" if value > bar else text


def draw(rows: Sequence[Row], file: Path) -> None:
    """Seconds and memory against the number of items; an earlier file is replaced."""
    from samekind.reports.plots.canvas import INK, PALETTES, new_figure, style_panel, write_picture

    figure = new_figure(9.6, 3.9)
    left, right = figure.subplots(1, 2)
    n = [row["items"] for row in rows]
    for ink, what in zip(PALETTES[0], ("refit", "ask", "tell"), strict=False):
        left.plot(n, [row[f"{what}_seconds"]["p95"] for row in rows], "o-", color=ink, label=what)
        bars = [(items, pair[what == "ask"]) for items, pair in BARS.items() if what != "tell"]
        left.plot([items for items, _ in bars], [bar for _, bar in bars], "_", color=ink,
                  markersize=16, markeredgewidth=2)  # fmt: skip
    left.set_yscale("log")
    left.set_title("seconds, 95th percentile; bars: aims", loc="left", fontsize=10, color=INK)
    left.legend(frameon=False, fontsize=9, labelcolor=INK)
    right.plot(n, [row["peak_over_vectors"] for row in rows], "o-", color=PALETTES[0][0])
    right.axhline(MEMORY, color=INK, linewidth=1, linestyle="--")
    right.set_ylim(bottom=0)
    right.set_title("peak memory / vectors; dashed: aim", loc="left", fontsize=10, color=INK)
    for axes in (left, right):
        style_panel(axes)
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xlabel(f"items ({rows[0]['width']} numbers each)", color=INK, fontsize=9.5)
    figure.tight_layout()
    file.unlink(missing_ok=True)
    write_picture(figure, file)


if __name__ == "__main__":
    main()
