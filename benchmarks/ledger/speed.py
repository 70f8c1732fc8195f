"""Speed of the ledger: folding many answers, and asking and telling over very many items."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.gaussians import gaussian_kinds
from benchmarks.measuring import arguments, emit, percentiles, table
from samekind.constraints import Constraints
from samekind.ledger.sql import SqlStore
from samekind.protocols import Event
from samekind.questions import Answer, Question, SamePair, WhichGroup
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources import RowCollection, Rows

Ints = NDArray[np.intp]
T = TypeVar("T")


def main() -> None:
    """Both halves, one after the other."""
    parser = arguments(__doc__ or "", Path(__file__).with_name("speed.jsonl"))
    parser.add_argument("--items", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--kinds", type=int, default=20)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument(
        "--strategies", nargs="+", help="instead: ask and tell of these, with all answers there"
    )
    parser.add_argument("--pairs", action="store_true", help="with --strategies: pair answers only")
    chosen = parser.parse_args()
    size = {key: getattr(chosen, key) for key in ("items", "width", "kinds", "seed")}
    X, kinds = gaussian_kinds(chosen.items, chosen.width, chosen.kinds, chosen.seed)
    rows: list[dict[str, Any]] = []
    if chosen.strategies:
        answers = simulated_answers(kinds, chosen.answers, 0.0, chosen.seed, pairs=chosen.pairs)
        for name in chosen.strategies:
            row = measure_asking(X, kinds, answers, name, chosen.questions, chosen.seed)
            rows.append({**row, "pairs_only": chosen.pairs})
            emit({"benchmark": "ledger", **rows[-1], **size}, chosen.json)
        show_asking(rows)
        return
    for wrong in (0.0, 0.05):
        rows.append(measure_fold(X, kinds, chosen.answers, wrong, chosen.seed))
    rows.append(measure_session(X, kinds, chosen.questions, chosen.seed))
    show(rows)
    for row in rows:
        emit({"benchmark": "ledger", **row, **size}, chosen.json)


def measure_fold(
    X: NDArray[np.float32], kinds: Ints, n_answers: int, wrong: float, seed: int
) -> dict[str, Any]:
    """Seconds to fold answers at once, one by one, and out of a ledger file."""
    answers = simulated_answers(kinds, n_answers, wrong, seed)
    known, at_once = timed(lambda: Constraints.from_answers(len(kinds), answers))
    tells: list[float] = []
    grown = Constraints(len(kinds))
    for answer in answers:
        grown, seconds = timed(lambda answer=answer, before=grown: before.with_answer(answer))
        tells.append(seconds)
    with tempfile.TemporaryDirectory() as folder, SqlStore(f"{folder}/me.samekind") as store:
        collection = RowCollection("benchmark", Rows(X), ready=True)
        session = Session(collection, X, store=store, seed=seed)
        write_ledger(store, session, answers)
        _, reading = timed(session.ask)  # the first act takes in what another process has written
        asked = session.ask()
        asks = [timed(session.ask)[1] for _ in range(3)]
        telling = 0.0
        if asked is not None:
            choice = Truth(kinds).answer(asked.question)
            _, telling = timed(partial(session.tell, asked.number, choice))
            asks.append(timed(session.ask)[1])
    return {
        "part": "fold",
        "answers": n_answers,
        "contradictory": wrong,
        "kept_aside": len(known.conflicts),
        "fold_seconds": round(at_once, 3),
        "one_by_one_ms": percentiles(tells),
        "from_file_seconds": round(reading, 3),
        "ask_with_all_answers_ms": round(max(asks) * 1000, 2),
        "tell_with_all_answers_ms": round(telling * 1000, 2),
    }


def measure_asking(
    X: NDArray[np.float32],
    kinds: Ints,
    answers: list[Answer],
    strategy: str,
    questions: int,
    seed: int,
) -> dict[str, Any]:
    """Latency of ask and tell of one strategy when many answers are in force.

    Every ask has to propose, as each tell adds an answer. No refit comes in between. Seconds of the
    processor are given beside those on the clock: other work on the machine does not change them.
    """
    from samekind.clusterers.kmeans.constrained import KMeans

    groups = KMeans(int(kinds.max()) + 1, n_init=1)  # its space is that of the vectors: the widest
    collection = RowCollection("benchmark", Rows(X), ready=True)
    clock: dict[str, list[float]] = {"ask": [], "tell": [], "ask_cpu": [], "tell_cpu": []}
    with tempfile.TemporaryDirectory() as folder, SqlStore(f"{folder}/me.samekind") as store:
        session = Session(
            collection, X, store=store, seed=seed, clusterer=groups, strategy=strategy
        )
        write_ledger(store, session, answers)
        session.ask()  # takes in what another process has written
        session.refit()
        for _ in range(questions):
            begun = time.process_time()
            asked, seconds = timed(session.ask)
            clock["ask_cpu"].append(time.process_time() - begun)
            clock["ask"].append(seconds)
            if asked is None:
                break
            choice = Truth(kinds).answer(asked.question)
            begun = time.process_time()
            _, seconds = timed(partial(session.tell, asked.number, choice))
            clock["tell_cpu"].append(time.process_time() - begun)
            clock["tell"].append(seconds)
    return {
        "part": "asking",
        "strategy": strategy,
        "answers": len(answers),
        "questions": len(clock["tell"]),
        **{f"{act}_ms": percentiles(seconds) for act, seconds in clock.items()},
    }


def simulated_answers(
    kinds: Ints, n: int, wrong: float, seed: int, *, pairs: bool = False
) -> list[Answer]:
    """Half placements beside up to five known groups, half pairs; a share contradicts the rest."""
    rng = np.random.default_rng((seed, 1))
    truth = Truth(kinds)
    known: dict[int, int] = {}
    placed: list[tuple[int, int]] = []
    answers = []
    for number in range(1, n + 1):
        a, b = (int(i) for i in rng.choice(len(kinds), size=2, replace=False))
        if placed and rng.random() < wrong:
            again = SamePair(*placed[rng.integers(len(placed))])
            answers.append(Answer(number, again, "different"))
            continue
        groups = [g for g in rng.permutation(list(known.values()))[:5].tolist() if g != a]
        question: Question = SamePair(a, b)
        if number % 2 and groups and not pairs:
            question = WhichGroup(a, tuple((g,) for g in groups))
        choice = truth.answer(question)
        answers.append(Answer(number, question, choice))
        placed.extend((link.a, link.b) for link in answers[-1].links if link.same)
        known.setdefault(int(kinds[a]), a)
    return answers


def write_ledger(store: SqlStore, session: Session, answers: list[Answer]) -> None:
    """The answers as another process would have written them; without waiting for the disk."""
    name = session.positions.name
    events = []
    for answer in answers:
        form = answer.question.to_json(name)
        events.append(Event("proposed", {"snapshot": 0, "questions": [form], "stamps": {}}))
        told = {"number": answer.number, "choice": answer.choice, "by": "me", "seconds": 1.0}
        events.append(Event("told", told))
    store.extend(session.name, (replace(e, at=float(i)) for i, e in enumerate(events)))


def measure_session(
    X: NDArray[np.float32], kinds: Ints, questions: int, seed: int
) -> dict[str, Any]:
    """Latency of ask and tell in a session as a person has it, with its refits apart."""
    from samekind.evaluation import Scores

    collection = RowCollection("benchmark", Rows(X), ready=True)
    with tempfile.TemporaryDirectory() as folder, SqlStore(Path(folder) / "me.samekind") as store:
        session, opening = timed(lambda: Session(collection, X, store=store, seed=seed))
        log = run(session, Truth(kinds), questions)
        session.refit()
        _, reopening = timed(lambda: Session(collection, X, store=store))
    return {
        "part": "session",
        "questions": log.n_answers,
        "open_seconds": round(opening, 2),
        "reopen_seconds": round(reopening, 2),
        "ask_ms": percentiles(log.ask_seconds),
        "tell_ms": percentiles(log.tell_seconds),
        "refit_ms": percentiles(log.refit_seconds),
        "ari": round(Scores.of(kinds, session.clustering.labels).row()["ari"], 3),
    }


def timed(act: Callable[[], T]) -> tuple[T, float]:
    """What an act returns, and how many seconds it took."""
    started = time.perf_counter()
    result = act()
    return result, time.perf_counter() - started


def show_asking(rows: list[dict[str, Any]]) -> None:
    """Clock and processor, median and 95th percentile."""
    acts = ("ask", "ask_cpu", "tell", "tell_cpu")
    cells = [
        (row["strategy"], *(f"{row[f'{act}_ms']['p50']} {row[f'{act}_ms']['p95']}" for act in acts))
        for row in rows
    ]
    table([("ms (p50 p95)", *acts), *cells])


def show(rows: list[dict[str, Any]]) -> None:
    """The tables for people."""
    for row in (row for row in rows if row["part"] == "fold"):
        each = row["one_by_one_ms"]
        print(f"{row['answers']:,} answers, {row['contradictory']:.0%} contradictory")
        table(
            [
                ("kept aside as contradictions", f"{row['kept_aside']:,}"),
                ("fold at once", f"{row['fold_seconds']:.2f} s"),
                ("fold one by one, each (p50, p95)", f"{each['p50']}, {each['p95']} ms"),
                ("fold out of a SQLite file", f"{row['from_file_seconds']:.2f} s"),
                ("ask, with all of them there", f"{row['ask_with_all_answers_ms']} ms"),
                ("tell, with all of them there", f"{row['tell_with_all_answers_ms']} ms"),
            ]
        )
    session = rows[-1]
    print(f"\n{session['questions']} questions over a SQLite file; opened in "
          f"{session['open_seconds']} s, reopened in {session['reopen_seconds']} s; "
          f"ARI {session['ari']}")  # fmt: skip
    heading = ("ms", "p50", "p95", "max")
    cells = [(act, *(f"{v:.1f}" for v in session[f"{act}_ms"].values())) for act in
             ("ask", "tell", "refit")]  # fmt: skip
    table([heading, *cells])


if __name__ == "__main__":
    main()
