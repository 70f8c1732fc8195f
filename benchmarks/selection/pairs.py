"""Seconds that it takes to propose the pairs of one epoch, with many answers there.

Vectors are random and of unit length, and answers are about random pairs. Seconds are those of the
processor: of the first proposal after a refit, which draws the candidates, and of the next one.
Telling is measured too: milliseconds to take in one more answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import arguments, emit, percentiles, table
from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.protocols import View
from samekind.questions import Answer, SamePair
from samekind.registry import find

Kinds = NDArray[np.intp]
RESULTS = Path(__file__).with_name("pairs.jsonl")
TELLS = 200
"""Answers that are told one by one after all others."""


def main(words: Sequence[str] | None = None) -> None:
    """Measure each strategy on a snapshot of its own."""
    parser = arguments(__doc__ or "", RESULTS)
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--kinds", type=int, default=2)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=390)
    parser.add_argument("--views", action="store_true", help="with two views of each item")
    parser.add_argument("--strategies", nargs="+", default=["pcl", "pcl-reference", "csd"])
    chosen = parser.parse_args(words)
    size = {key: getattr(chosen, key) for key in ("items", "width", "kinds", "answers", "seed")}
    kinds = np.random.default_rng(chosen.seed).integers(0, chosen.kinds, chosen.items)
    known = Constraints.from_answers(chosen.items, random_answers(kinds, chosen.answers))
    rows: list[dict[str, Any]] = []
    for name in chosen.strategies:
        view = random_view(kinds, known, chosen.width, views=chosen.views, seed=chosen.seed)
        rows.append({"strategy": name, **measure_proposals(view, name, chosen.questions)})
        emit({"benchmark": "pairs", **rows[-1], "views": chosen.views, **size}, chosen.json)
    telling = {"tell_ms": measure_telling(kinds, known)}
    emit({"benchmark": "pairs", **telling, **size}, chosen.json)
    times = [[f"{row[f'{which}_seconds']:.3f} s" for which in ("first", "next")] for row in rows]
    names = [row["strategy"] for row in rows]
    table([("strategy", "first", "next"), *([n, *t] for n, t in zip(names, times, strict=True))])
    print(f"One more answer: {telling['tell_ms']['p50']} ms")


def measure_proposals(view: View, name: str, n: int) -> dict[str, Any]:
    """Seconds of the first proposal from a snapshot, and of the next one."""
    strategy = find("strategy", name)()
    first, seconds = processor_time(lambda: strategy.propose(view, n))
    again = replace(view, rng=np.random.default_rng(2))
    _, later = processor_time(lambda: strategy.propose(again, n))
    return {"questions": len(first), "first_seconds": seconds, "next_seconds": later}


def measure_telling(kinds: Kinds, known: Constraints) -> dict[str, float]:
    """Milliseconds to take in one more answer, by percentiles."""
    seconds = []
    for answer in random_answers(kinds, TELLS, seed=1, begun=known.n_answers):
        begun = time.process_time()
        known = known.with_answer(answer)
        seconds.append(time.process_time() - begun)
    return percentiles(seconds)


def random_view(kinds: Kinds, known: Constraints, width: int, *, views: bool, seed: int) -> View:
    """Two snapshots of random unit vectors, so that CSD has something to compare."""
    rng = np.random.default_rng(seed)

    def unit() -> NDArray[np.float32]:
        z = rng.standard_normal((len(kinds), width), dtype=np.float32)
        return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))

    membership = rng.dirichlet(np.ones(len(np.unique(kinds))) / 2, len(kinds))
    before = Clustering.first(kinds, unit(), membership)
    two = np.stack([unit(), unit()]) if views else None
    now = before.followed_by(kinds, unit(), membership, two)
    spent = known.n_answers
    return View(now, known, np.random.default_rng(1), before, spent, 2 * spent or None, seed=seed)


def random_answers(kinds: Kinds, count: int, *, seed: int = 0, begun: int = 0) -> list[Answer]:
    """Truthful answers about random pairs."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, len(kinds), count)
    b = (a + rng.integers(1, len(kinds), count)) % len(kinds)
    pairs = zip(a.tolist(), b.tolist(), (kinds[a] == kinds[b]).tolist(), strict=True)
    return [
        Answer(begun + k + 1, SamePair(i, j), "same" if same else "different")
        for k, (i, j, same) in enumerate(pairs)
    ]


def processor_time(call: Callable[[], Any]) -> tuple[Any, float]:
    """The result of a call, and the seconds of the processor that it took."""
    begun = time.process_time()
    found = call()
    return found, round(time.process_time() - begun, 4)


if __name__ == "__main__":
    main()
