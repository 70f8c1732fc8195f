"""Memory of a whole session over very many vectors, which stay in a file (memory-mapped)."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from kinds import write_kinds
from report import arguments, emit, table

STATUS = Path("/proc/self/status")


def main() -> None:
    """Write vectors, open them as a person would, answer questions, report the peak."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--kinds", type=int, default=20)
    parser.add_argument("--questions", type=int, default=30)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        truth = write_kinds(path, chosen.items, chosen.width, chosen.kinds, chosen.seed)
        row = measure(path, truth, chosen.questions, chosen.seed)
    row = {"benchmark": "scale", "seed": chosen.seed, "kinds": chosen.kinds, **row}
    show(row)
    emit(row, chosen.json)


def measure(path: Path, truth: Any, questions: int, seed: int) -> dict[str, Any]:
    """One session over the vectors in `path`; memory before it, at its peak, and what it took."""
    from samekind.encoders import default_encoder, encode
    from samekind.evaluation import Scores
    from samekind.ledger.sql import SqlStore
    from samekind.session import Session
    from samekind.simulation.loop import run
    from samekind.simulation.people import Truth
    from samekind.sources import open_source

    warm_up()
    before = memory()
    started = time.perf_counter()
    collection = open_source(path)
    encoded = encode(collection, default_encoder(collection)[0])
    opened = time.perf_counter() - started
    store = SqlStore(path.with_suffix(".samekind"))
    started = time.perf_counter()
    session = Session(collection, encoded.X, store=store, seed=seed)
    begun = time.perf_counter() - started
    log = run(session, Truth(truth), questions)
    after = memory()
    vectors = encoded.X.nbytes / 2**20
    store.close()
    return {
        "items": len(encoded.X),
        "width": encoded.X.shape[1],
        "questions": log.n_answers,
        "vectors_mb": round(vectors, 1),
        "baseline_mb": before["VmRSS"],
        "peak_over_baseline_mb": round(after["VmHWM"] - before["VmRSS"], 1),
        "peak_over_vectors": round((after["VmHWM"] - before["VmRSS"]) / vectors, 2),
        "own_at_end_mb": round(after["RssAnon"] - before["RssAnon"], 1),
        "open_and_encode_seconds": round(opened, 1),
        "first_groups_seconds": round(begun, 1),
        "refit_seconds": round(float(np.median(log.refit_seconds)), 1),
        "ask_p95_ms": round(float(np.percentile(log.ask_seconds, 95)) * 1000, 1),
        "tell_p95_ms": round(float(np.percentile(log.tell_seconds, 95)) * 1000, 1),
        "ari": round(Scores.of(truth, session.clustering.labels).row()["ari"], 3),
    }


def warm_up() -> None:
    """Load every library on the way, so that the baseline holds what does not grow with items."""
    from samekind.session import Session
    from samekind.simulation.loop import run
    from samekind.simulation.people import Truth
    from samekind.sources.files.rows import RowCollection, Rows

    rng = np.random.default_rng(0)
    X, kinds = rng.normal(size=(300, 8)).astype(np.float32), rng.integers(0, 3, 300)
    run(Session(RowCollection("warm-up", Rows(X), ready=True), X), Truth(kinds), 10)


def memory() -> dict[str, float]:
    """Megabytes: now (VmRSS), at most so far (VmHWM), and not backed by a file (RssAnon)."""
    found = re.findall(r"^(VmRSS|VmHWM|RssAnon):\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    return {name: round(int(kilobytes) / 1024, 1) for name, kilobytes in found}


def show(row: dict[str, Any]) -> None:
    """The table for people."""
    table(
        [
            ("vectors", f"{row['items']:,} x {row['width']}", f"{row['vectors_mb']:,.0f} MB"),
            ("peak over baseline", "", f"{row['peak_over_baseline_mb']:,.0f} MB"),
            ("... as a multiple of the vectors", "", f"{row['peak_over_vectors']:.2f}"),
            ("... of it not backed by the file, at the end", "", f"{row['own_at_end_mb']:,.0f} MB"),
            ("opening and encoding", "", f"{row['open_and_encode_seconds']:.1f} s"),
            ("first groups", "", f"{row['first_groups_seconds']:.1f} s"),
            ("a refit (median)", "", f"{row['refit_seconds']:.1f} s"),
            ("ask, tell (95th percentile)", "", f"{row['ask_p95_ms']}, {row['tell_p95_ms']} ms"),
            (f"ARI after {row['questions']} questions", "", f"{row['ari']:.3f}"),
        ]
    )


if __name__ == "__main__":
    main()
