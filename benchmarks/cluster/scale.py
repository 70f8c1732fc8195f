"""Cost of a sampled session and of a prediction against the number of vectors in a store.

    python -m benchmarks.cluster.scale --items 100000 1000000 10000000 --json
    python -m benchmarks.cluster.scale --report --json

Each step (write, session, predict here, predict on Ray, check) runs in a process of its own,
because peak memory never falls within a process. The vectors are drawn with two planted
orientations: the plain groups show one, and the simulated person means the other. The store, a
SQLite ledger and the labels are in a temporary folder (10 million x 128: 6 GB), deleted at the end.

Seconds are by the clock, without the start of Python; CPU seconds beside them do not depend on what
else runs. ``first_question_seconds`` is all that a person waits for after `samekind ask
vectors.lance`: choice of the reference items, first groups and first question. ``peak_mb`` is VmHWM
of the process, ``worker_peak_mb`` that of the largest worker of Ray.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import arguments, provenance, table
from samekind.simulation.rows import append_row, read_rows
from samekind.simulation.runner import latency

Row = dict[str, Any]
NAME = "cluster-scale"
FRAGMENT_ROWS = 1 << 17
PLAIN_KINDS, KINDS = 12, 8
"""Kinds that the plain groups show, and kinds that the person means."""
PLAIN_SPREAD, SPREAD = 1.0, 0.6
"""Standard deviation of the kinds' centres, in that of the items around them."""
EXTRAPOLATED = 100_000_000
MAX_COVERED = 100_000
"""Items up to which many checks are made."""
WORKERS = b"ray::MapWorker(MapBatches(Worker))"
"""How the processes are called that predict."""
TICKS = os.sysconf("SC_CLK_TCK")
HERE = Path(__file__)


def main(words: Sequence[str] | None = None) -> None:
    """Measure each number of vectors, step by step; then the table."""
    wanted = _parsed(words)
    if wanted.step:
        print(json.dumps(STEPS[wanted.step](wanted.items[0], wanted.folder, wanted)))
        return
    rows: list[Row] = []
    if wanted.report:
        kept = read_rows(wanted.json).rows
        rows = [row for row in kept if row["benchmark"] == NAME]
    for items in [] if wanted.report else wanted.items:
        with tempfile.TemporaryDirectory(dir=wanted.folder) as folder:
            row: Row = {"benchmark": NAME, "items": items, "width": wanted.width,
                        "questions": wanted.questions, "seed": wanted.seed}  # fmt: skip
            for step in STEPS:
                row[step] = _in_a_process(step, items, folder, wanted)
                print(f"{items:,} {step}: {json.dumps(row[step])}", file=sys.stderr, flush=True)
        rows.append({**row, **provenance()})
        if wanted.json:
            append_row(wanted.json, rows[-1])
    latest = {row["items"]: row for row in sorted(rows, key=lambda row: row["items"])}
    show(list(latest.values()))


def _parsed(words: Sequence[str] | None) -> argparse.Namespace:
    parser = arguments(__doc__ or "", HERE.with_suffix(".jsonl"))
    add = parser.add_argument
    add("--items", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    add("--width", type=int, default=128)
    add("--questions", type=int, default=100)
    add("--checked", type=int, default=200, help="items of the random check")
    add("--checks", type=int, default=100, help="random checks whose intervals are counted")
    add("--workers", type=int, default=2, help="processes of Ray")
    add("--folder", type=Path, help="where the temporary folder is made")
    add("--report", action="store_true", help="measure nothing; table of --json")
    add("--step", choices=list(STEPS), help=argparse.SUPPRESS)
    return parser.parse_args(words)


def _in_a_process(step: str, items: int, folder: str, wanted: argparse.Namespace) -> Row:
    words = ["--step", step, "--items", str(items), "--folder", folder]
    for name in ("width", "questions", "checked", "checks", "workers", "seed"):
        words += [f"--{name}", str(getattr(wanted, name))]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cluster.scale", *words],
        stdout=subprocess.PIPE, text=True, check=True, cwd=HERE.parents[2],
    )  # fmt: skip
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def write(items: int, folder: Path, wanted: argparse.Namespace) -> Row:
    """Draw vectors and write them as a store, a fragment at a time."""
    from samekind.bulk.manifest import Manifest
    from samekind.bulk.vector_store import VectorStore
    from samekind.encoders.simple import Ready

    rng = np.random.default_rng(wanted.seed)
    half = wanted.width // 2
    plain = PLAIN_SPREAD * rng.standard_normal((PLAIN_KINDS, half), dtype=np.float32)
    meant = SPREAD * rng.standard_normal((KINDS, wanted.width - half), dtype=np.float32)
    state = {"n_columns": wanted.width}
    manifest = Manifest(
        "drawn", "row", Ready.name, Ready().fingerprint, wanted.width, encoder_state=state
    )
    store = VectorStore.create(folder / "vectors.lance", manifest)
    truth = np.empty(items, dtype=np.int8)
    clock = Clock()
    for start in range(0, items, FRAGMENT_ROWS):
        n = min(FRAGMENT_ROWS, items - start)
        X = rng.standard_normal((n, wanted.width), dtype=np.float32)
        X[:, :half] += plain[rng.integers(0, PLAIN_KINDS, n)]
        truth[start : start + n] = rng.integers(0, KINDS, n)
        X[:, half:] += meant[truth[start : start + n]]
        ids = [f"row-{i}" for i in range(start, start + n)]
        with clock:
            store.commit(store.write_fragment(ids, [f"drawn#{id}" for id in ids], ["1"] * n, X))
    np.save(folder / "truth.npy", truth)
    size = sum(file.stat().st_size for file in Path(store.path).rglob("*") if file.is_file())
    return {**clock.rate(items), "bytes_per_item": round(size / items, 1), "peak_mb": peak()}


def session(items: int, folder: Path, wanted: argparse.Namespace) -> Row:
    """Open a sampled session, answer, and export the orientation."""
    from samekind.ledger.sql import SqlStore
    from samekind.session import Session
    from samekind.simulation.loop import run
    from samekind.simulation.people import Truth
    from samekind.workspace.orientation import orientation_of
    from samekind.workspace.pile import open_pile

    before = peak()
    began, cpu = time.perf_counter(), time.process_time()
    pile = open_pile(str(folder / "vectors.lance"))
    chosen = time.perf_counter() - began
    store = SqlStore(folder / "answers.samekind")
    here = Session(pile.collection, pile.X, store=store, seed=wanted.seed, refit_every=10)
    here.ask()
    first, first_cpu = time.perf_counter() - began, time.process_time() - cpu
    rows: NDArray[np.int64] = pile.collection.rows  # type: ignore[attr-defined]
    truth = np.load(folder / "truth.npy", mmap_mode="r")[rows].astype(np.intp)
    log = run(here, Truth(truth), wanted.questions)
    here.refit()
    orientation_of(pile, here).save(folder / "mine.orientation")
    return {
        "reference_items": len(rows), "choose_seconds": round(chosen, 2),
        "first_question_seconds": round(first, 2), "first_question_cpu": round(first_cpu, 2),
        "ask_seconds": latency(log.ask_seconds),
        "tell_seconds": latency(log.tell_seconds), "refit_seconds": latency(log.refit_seconds),
        "before_mb": before, "peak_mb": peak(),
    }  # fmt: skip


def predict_here(items: int, folder: Path, wanted: argparse.Namespace) -> Row:
    """Predict all rows in this process, as Parquet."""
    return _predicted(items, folder, "labels.parquet", "local", None)


def predict_ray(items: int, folder: Path, wanted: argparse.Namespace) -> Row:
    """Predict all rows on Ray, as Lance."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    ray.init(
        address="local", num_cpus=wanted.workers, include_dashboard=False, log_to_driver=False,
        object_store_memory=200_000_000,
    )  # fmt: skip
    with Watched() as workers:
        found = _predicted(items, folder, "labels.lance", "auto", wanted.workers)
    ray.shutdown()
    cpu = round(sum(workers.cpu.values()), 2)
    return {**found, "workers": wanted.workers, "worker_peak_mb": workers.peak, "worker_cpu": cpu}


def _predicted(items: int, folder: Path, out: str, on: str, workers: int | None) -> Row:
    from samekind.exports.orientation_file import OrientationFile
    from samekind.workspace.predict import place_store

    file = OrientationFile.load(folder / "mine.orientation")
    with Clock() as clock:
        done = place_store(
            file, str(folder / "vectors.lance"), str(folder / out), on=on, workers=workers
        )
    assert done.added == items == len(done.labels)
    size = sum(f.stat().st_size for f in Path(done.labels.path).rglob("*") if f.is_file())
    return {**clock.rate(items), "bytes_per_item": round(size / items, 1), "peak_mb": peak()}


def check(items: int, folder: Path, wanted: argparse.Namespace) -> Row:
    """Check random samples of all rows, and compare their intervals with the truth."""
    from samekind.bulk.reference import reference_of
    from samekind.bulk.vector_store import VectorStore
    from samekind.simulation.loop import run
    from samekind.simulation.people import Truth
    from samekind.workspace.check import Share, open_check

    truth = np.load(folder / "truth.npy")

    def checked(seed: int) -> tuple[Any, Share, float]:
        began = time.perf_counter()
        found = open_check(folder / "labels.parquet", items=wanted.checked, seed=seed)
        opened = time.perf_counter() - began
        run(found.session, Truth(truth[found.rows].astype(np.intp)))
        return found.labels, found.result().all, opened

    labels, share, opened = checked(wanted.seed)
    before = peak()
    kind_of, right = matched_kinds(labels, truth)
    held = []
    for seed in range(wanted.checks if items <= MAX_COVERED else 0):
        low, high = checked(seed)[1].bounds
        held.append(low <= right <= high)
    rows = reference_of(VectorStore.open(folder / "vectors.lance")).rows
    placed = kind_of[labels.take(rows, ["group"]).column("group").to_numpy()]
    low, high = share.bounds
    return {
        "open_seconds": round(opened, 2), "judged": share.judged, "right": share.right,
        "low": round(low, 4), "high": round(high, 4), "truth": round(right, 4),
        "truth_of_reference_items": round(float(np.mean(placed == truth[rows])), 4),
        "checks": len(held), "held": sum(held), "peak_mb": before,
    }  # fmt: skip


def matched_kinds(labels: Any, truth: NDArray[np.int8]) -> tuple[NDArray[np.intp], float]:
    """(groups,) the kind that most items of each group have, and the share of such items."""
    counts = np.zeros((max(labels.names()) + 1, KINDS), dtype=np.int64)
    start = 0
    for batch in labels.scan(("group",)):
        group = batch.column("group").to_numpy()
        pairs = group.astype(np.int64) * KINDS + truth[start : start + len(group)]
        counts += np.bincount(pairs, minlength=counts.size).reshape(counts.shape)
        start += len(group)
    return counts.argmax(axis=1), float(counts.max(axis=1).sum() / start)


class Watched:
    """Watches the peak memory and the CPU seconds of Ray's workers while they live."""

    def __init__(self) -> None:
        self.peak = 0.0
        self.cpu: dict[str, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if (process / "cmdline").read_bytes().startswith(WORKERS):
                        self.peak = max(self.peak, peak(process.name))
                        ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
                        self.cpu[process.name] = sum(map(int, ticks)) / TICKS
                except OSError:  # it has ended
                    continue


def peak(process: str = "self") -> float:
    """MiB that a process has used at most."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return round(int(found[1]) / 1024, 1) if found else 0.0


class Clock:
    """Adds up the seconds of blocks, by the clock and of the processor."""

    def __init__(self) -> None:
        self.seconds = self.cpu = 0.0

    def __enter__(self) -> Clock:
        self._began = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *problem: object) -> None:
        self.seconds += time.perf_counter() - self._began[0]
        self.cpu += time.process_time() - self._began[1]

    def rate(self, items: int) -> Row:
        """Seconds in all and items per second."""
        rate, cpu = round(items / self.seconds), round(self.cpu, 2)
        return {"seconds": round(self.seconds, 2), "cpu_seconds": cpu, "items_per_second": rate}


def show(rows: Sequence[Row]) -> None:
    """The table for people, and what 100 million would take at the rates of the largest."""
    lines: list[tuple[str, ...]] = [
        ("items", "write", "choose", "first question", "ask p95", "tell p95", "refit p95",
         "peak", "predict", "per CPU s", "peak", "on Ray", "per CPU s", "worker", "check opens",
         "peak", "interval", "truth"),
    ]  # fmt: skip
    for row in rows:
        session, here, ray, check = (
            row[step] for step in ("session", "predict_here", "predict_ray", "check")
        )
        p95 = {what: session[f"{what}_seconds"]["p95"] for what in ("ask", "tell", "refit")}
        lines.append(
            (
                f"{row['items']:,}", f"{row['write']['items_per_second']:,}/s",
                f"{session['choose_seconds']:.1f} s", f"{session['first_question_seconds']:.1f} s",
                f"{1000 * p95['ask']:.1f} ms", f"{1000 * p95['tell']:.1f} ms",
                f"{p95['refit']:.2f} s", f"{session['peak_mb']:.0f} MB",
                f"{here['items_per_second']:,}/s", f"{row['items'] / here['cpu_seconds']:,.0f}",
                f"{here['peak_mb']:.0f} MB", f"{ray['items_per_second']:,}/s",
                f"{row['items'] / ray['worker_cpu']:,.0f}", f"{ray['worker_peak_mb']:.0f} MB",
                f"{check['open_seconds']:.1f} s", f"{check['peak_mb']:.0f} MB",
                f"{check['low']:.3f}-{check['high']:.3f}", f"{check['truth']:.3f}",
            )
        )  # fmt: skip
    table(lines)
    if rows:
        last = rows[-1]
        hours = {
            step: EXTRAPOLATED / last[step]["items_per_second"] / 3600
            for step in ("write", "predict_here", "predict_ray")
        }
        words = ", ".join(f"{step} {value:.2f} h" for step, value in hours.items())
        print(f"{EXTRAPOLATED:,} at the rates of {last['items']:,}: {words}")


STEPS: dict[str, Callable[[int, Path, argparse.Namespace], Row]] = {
    "write": write,
    "session": session,
    "predict_here": predict_here,
    "predict_ray": predict_ray,
    "check": check,
}


if __name__ == "__main__":
    main()
