"""Grid answers of people who overlook items: what the constraints make of them, and how fast."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import arguments, emit, percentiles, table
from samekind.constraints import Constraints
from samekind.questions import AllLike, Answer, Link, OddOnes, Question, WhichGroup
from samekind.simulation.people import Overlooking, Truth

Ints = NDArray[np.intp]
N_SHOWN = 24
ODD_SHARE = 0.1
"""Share of the items of a review that do not belong, and of a search that do."""


@dataclass(frozen=True, slots=True)
class WholeOddOnes(OddOnes):
    """A review in which what is not named counts as much as what is."""

    def omitted(self, choice: str) -> tuple[Link, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class WholeAllLike(AllLike):
    """A search in which what is not named counts as much as what is."""

    def omitted(self, choice: str) -> tuple[Link, ...]:
        return ()


def main() -> None:
    """Measure both rules for several shares of overlooked items."""
    parser = arguments(__doc__ or "", Path(__file__).with_name("grids.jsonl"))
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--kinds", type=int, default=10)
    parser.add_argument("--grids", type=int, default=100)
    chosen = parser.parse_args()
    size = {key: getattr(chosen, key) for key in ("items", "kinds", "grids", "seed")}
    rows = []
    for overlooked in (0.0, 0.07, 0.16):
        for rule in ("omissions give way", "all counts alike"):
            rows.append(measure(overlooked, rule == "all counts alike", **size))
            rows[-1] = {"overlooked": overlooked, "rule": rule, **rows[-1]}
            emit({"benchmark": "grids", **rows[-1], **size}, chosen.json)
    columns = ("overlooked", "rule", "set_aside", "placed", "wrong", "overruled")
    table([columns, *(tuple(str(row[name]) for name in columns) for row in rows)])


def measure(
    overlooked: float, alike: bool, *, items: int, kinds: int, grids: int, seed: int
) -> dict[str, Any]:
    """Fold the answers of one person: reviews and searches, then placements of items shown."""
    truth = np.random.default_rng((seed, 1)).integers(kinds, size=items)
    answers = simulated_answers(truth, grids, overlooked, seed, alike=alike)
    known, seconds = Constraints(items), []
    for answer in answers:
        began = time.process_time()
        known = known.with_answer(answer)
        seconds.append(time.process_time() - began)
    began = time.process_time()
    again = Constraints.from_answers(items, answers)
    assert again.components.tolist() == known.components.tolist(), "one by one is as all at once"
    heads = {int(truth[kind[0]]): int(kind[0]) for kind in known.kinds}
    placed = [(i, h) for i in known.touched.tolist() for h in heads.values() if known.same(i, h)]
    return {
        "answers": len(answers),
        "set_aside": len(known.conflicts),
        "placed": len(placed),
        "wrong": sum(int(truth[i] != truth[h]) for i, h in placed),
        "overruled": len(known.overruled),
        "unconfirmed": len(known.unconfirmed),
        "each_ms": percentiles(seconds),
        "fold_seconds": round(time.process_time() - began, 3),
    }


def simulated_answers(
    truth: Ints, grids: int, overlooked: float, seed: int, *, alike: bool
) -> list[Answer]:
    """One placement per kind, grids, and after each grid the placement of one of its items."""
    rng = np.random.default_rng((seed, 2))
    person, exact = Overlooking(Truth(truth), overlooked, seed), Truth(truth)
    review, search = (WholeOddOnes, WholeAllLike) if alike else (OddOnes, AllLike)
    heads = [int(np.flatnonzero(truth == kind)[0]) for kind in np.unique(truth)]
    groups = tuple((head,) for head in heads)
    asked: list[tuple[Question, str]] = [
        (WhichGroup(head, groups[:k]), "none") for k, head in enumerate(heads) if k
    ]
    others = np.setdiff1d(np.arange(len(truth)), heads)
    for k in range(grids):
        head = heads[int(rng.integers(len(heads)))]
        own = others[truth[others] == truth[head]]
        rest = others[truth[others] != truth[head]]
        n_own = round(N_SHOWN * (ODD_SHARE if k % 2 else 1 - ODD_SHARE))
        shown = [*rng.choice(own, n_own, replace=False)]
        shown += [*rng.choice(rest, N_SHOWN - n_own, replace=False)]
        grid = (search if k % 2 else review)((head,), tuple(int(i) for i in rng.permutation(shown)))
        asked.append((grid, person.answer(grid)))
        placement = WhichGroup(int(rng.choice(grid.shown)), groups)
        asked.append((placement, exact.answer(placement)))
    return [Answer(n, question, choice) for n, (question, choice) in enumerate(asked, start=1)]


if __name__ == "__main__":
    main()
