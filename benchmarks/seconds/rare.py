"""How many seconds it takes to find a rare kind from a few examples of it.

    python -m benchmarks.seconds.rare --json

Of each set all but one percent of the items of one kind are left out. A person marks some examples
and asks for more like them; the search goes on as long as its grids hold enough of the kind. Then
the learner groups all items. Recall is counted over the items tapped, and over the group of the
examples after 30 modelled seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import arguments, emit, table
from samekind.questions import AllLike
from samekind.questions.seconds import expected_seconds
from samekind.session import Session
from samekind.session.search import find_like
from samekind.simulation.people import Truth
from samekind.sources import open_set, vectors_collection

SETS = (
    ("digits", "digit"), ("fashion-frozen", "class"), ("cifar20-frozen", "coarse"),
    ("fruits-frozen", "species"), ("faces-frozen", "identity"),
)  # fmt: skip
SHARE, MIN_RARE, MAX_ITEMS = 0.01, 8, 2000
LIMIT = 30.0


def rare(X: np.ndarray, kinds: np.ndarray, kind: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The vectors with one percent of one kind left, and whether each item is of it."""
    rng = np.random.default_rng((seed, kind))
    own, rest = np.flatnonzero(kinds == kind), np.flatnonzero(kinds != kind)
    rest = np.sort(rng.permutation(rest)[:MAX_ITEMS])
    count = min(len(own), max(MIN_RARE, round(SHARE * len(rest) / (1 - SHARE))))
    kept = np.sort(np.concatenate([rng.choice(own, count, replace=False), rest]))
    return X[kept], (kinds[kept] == kind).astype(np.intp)


def search(X: np.ndarray, wanted: np.ndarray, examples: int, seed: int) -> dict[str, float]:
    """Search from some examples; recall within the limit, and of the group afterwards."""
    session = Session(vectors_collection("vectors", X, "vectors"), X, seed=seed)
    person, rng = Truth(wanted), np.random.default_rng(seed)
    chosen = rng.choice(np.flatnonzero(wanted), examples, replace=False)
    find_like(session, chosen.tolist())
    seconds, in_time = 0.0, examples
    while (asked := session.ask()) is not None and isinstance(asked.question, AllLike):
        choice = person.answer(asked.question)
        seconds += expected_seconds(asked.question, choice)
        if seconds > LIMIT:
            break
        session.tell(asked.number, choice)
        in_time = len(session.constraints.component(int(chosen[0])))
        session.refit()
    session.refit()
    labels = session.clustering.labels
    group = labels == labels[chosen[0]]
    return {
        "tapped": float(in_time / wanted.sum()),
        "recall": float((group & (wanted == 1)).sum() / wanted.sum()),
        "precision": float((group & (wanted == 1)).sum() / group.sum()),
    }


def main() -> None:
    parser = arguments(__doc__ or "", Path(__file__).with_name("rare.jsonl"))
    parser.add_argument("--kinds", type=int, default=4, help="kinds of each set")
    given = parser.parse_args()
    rows = [["set, examples", "tapped", "recall", "precision", "recall >= .9"]]
    for name, column in SETS:
        opened = open_set(name)
        X, (kinds, _) = np.asarray(opened.collection.matrix, np.float32), opened.truth(column)
        for examples in (1, 3):
            found: list[dict[str, Any]] = []
            for kind in np.unique(kinds)[: given.kinds]:
                part, wanted = rare(X, kinds, int(kind), given.seed)
                found.append(search(part, wanted, examples, given.seed))
            means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
            reached = sum(bool(one["tapped"] >= 0.9) for one in found)
            row = {"set": name, "examples": examples, "kinds": len(found), **means}
            emit({**row, "reached": reached, "seed": given.seed}, given.json)
            cells = [f"{means[key]:.2f}" for key in ("tapped", "recall", "precision")]
            rows.append([f"{name}, {examples}", *cells, f"{reached} of {len(found)}"])
    table(rows)


if __name__ == "__main__":
    main()
