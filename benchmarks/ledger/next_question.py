"""Milliseconds between an answer and the next question, by the number of answers there are.

The processor's time of what a page asks for after every answer: tell, progress, ask. Progress
states how well the groups fit; the refit, which runs in the background, is left out.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.gaussians import gaussian_kinds
from benchmarks.measuring import arguments, emit, percentiles, table
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.ledger.store import MemoryStore
from samekind.protocols import Event
from samekind.questions import Expectation, Question, WhichGroup
from samekind.session import Session
from samekind.simulation.people import Truth
from samekind.sources import RowCollection, Rows

Ints = NDArray[np.intp]
ACTS = ("tell", "progress", "ask")


def main() -> None:
    """Measure sessions with few and with many answers."""
    parser = arguments(__doc__ or "", Path(__file__).with_name("next_question.jsonl"))
    parser.add_argument("--answers", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--kinds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=40)
    chosen = parser.parse_args()
    X, kinds = gaussian_kinds(chosen.items, 16, chosen.kinds, chosen.seed)
    rows = []
    for answers in chosen.answers:
        row = measure(X, kinds, answers, chosen.questions, chosen.seed)
        rows.append({"answers": answers, **row})
        size = {key: getattr(chosen, key) for key in ("items", "kinds", "questions", "seed")}
        emit({"benchmark": "next question", **rows[-1], **size}, chosen.json)
    cells = [
        (f"{row['answers']:,}", *(f"{row[act]['p50']} {row[act]['p95']}" for act in ACTS))
        for row in rows
    ]
    table([("answers, ms (p50 p95)", *ACTS), *cells])


def measure(
    X: NDArray[np.float32], kinds: Ints, answers: int, questions: int, seed: int
) -> dict[str, Any]:
    """Milliseconds of the processor for each act, with so many answers in force."""
    collection = RowCollection("benchmark", Rows(X), ready=True)
    groups = KMeans(int(kinds.max()) + 1, n_init=1)
    session = Session(
        collection, X, store=answered(collection, kinds, answers, seed), seed=seed,
        clusterer=groups, strategy="placement", refit_every=10**9,
    )  # fmt: skip
    seconds: dict[str, list[float]] = {act: [] for act in ACTS}

    def timed(act: str, call: Any) -> Any:
        begun = time.process_time()
        found = call()
        seconds[act].append(time.process_time() - begun)
        return found

    person, asked = Truth(kinds), session.ask()
    for _ in range(questions):
        if asked is None:
            break
        number, choice = asked.number, person.answer(asked.question)
        timed("tell", lambda number=number, choice=choice: session.tell(number, choice))
        timed("progress", session.progress)
        asked = timed("ask", session.ask)
    return {act: percentiles(taken) for act, taken in seconds.items()}


def answered(collection: RowCollection, kinds: Ints, n: int, seed: int) -> MemoryStore:
    """A ledger with so many placements, an eighth of them random checks, nine in ten as implied."""
    rng = np.random.default_rng((seed, 1))
    heads = [int(np.flatnonzero(kinds == kind)[0]) for kind in np.unique(kinds)]
    others = np.setdiff1d(np.arange(len(kinds)), heads)
    person, store = Truth(kinds), MemoryStore()
    for number, item in enumerate(rng.permutation(others)[:n].tolist(), start=1):
        groups = tuple((head,) for head in rng.permutation(heads).tolist())
        choice = person.answer(WhichGroup(item, groups))
        implied = choice if rng.random() < 0.9 else "1"
        expected = Expectation(implied, round(float(rng.random()), 4))
        question: Question = WhichGroup(
            item, groups, why="A check.", at_random=number % 8 == 0, expected=expected
        )
        form = question.to_json(collection.id)
        store.append("main", Event("proposed", {"snapshot": 0, "questions": [form], "stamps": {}}))
        told = {"number": number, "choice": choice, "by": "me", "seconds": 1.0}
        store.append("main", Event("told", told))
    return store


if __name__ == "__main__":
    main()
