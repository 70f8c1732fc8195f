"""Which questions, and which method, make the most of 500 answers about frozen vectors.

    python benchmarks/idc_vectors.py --vectors FILE --strategy value value-hard value-random --json
    python benchmarks/idc_vectors.py --vectors FILE --method corrected --asked-by idc --json
    python benchmarks/idc_vectors.py --vectors FILE --method live --strategy live --refit-every 25
    python benchmarks/idc_vectors.py --tabulate

The ablation of IDC (its Table 3) without the training of a network: features are learnt once,
without labels, and stay as they are. FILE (.npz) holds ``label`` (n,) and ``X`` (n, d), or ``q``
and ``scale`` with X = q * scale. As in ``recipes/idc.py`` all questions are asked in one go and
learnt from once, unless ``--refit-every`` lets them come in turns. Labels are known to the
simulated person, who sees only the items shown, and to the score. The number of groups is given, as
published, but not to ``live``. With ``--asked-by`` all methods learn from the same answers: from
the ledger of a session of that method. Rows are appended to ``idc-vectors.json``; the table tells
mean and standard deviation over seeds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from report import HERE, surroundings, table

from samekind.errors import Infeasible
from samekind.evaluation import score
from samekind.items import Collection
from samekind.ledger.store import MemoryStore
from samekind.protocols import Oracle, Store
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run, run_in_one_go
from samekind.simulation.people import Matched, Noisy, Truth, Unsure
from samekind.sources.files.arrays import vectors_collection

RESULTS = HERE / "idc-vectors.json"
METHODS = ("idc", "fixmatch", "corrected", "copkmeans", "live")
STRATEGIES = ("value", "value-hard", "value-hard-rep", "value-random", "placement", "live")
SETTING = (
    "set", "unit", "person", "method", "asked_by", "strategy", "refit_every", "questions", "noise",
    "unsure",
)  # fmt: skip
"""What tells one line of the table from another; all else of a run is its seed."""
Row = dict[str, Any]


class Pile(NamedTuple):
    """What a session gets, and what only the simulated person and the score get."""

    name: str
    collection: Collection
    X: NDArray[np.float32]
    truth: NDArray[np.intp]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every method with every strategy and seed, one after the other; then the table."""
    wanted = _parsed(arguments)
    if wanted.tabulate:
        show(json.loads((wanted.json or RESULTS).read_text(encoding="utf-8")))
        return
    pile = opened(wanted.vectors, unit=wanted.unit)
    rows: list[Row] = []
    for method in wanted.method:
        for strategy in wanted.strategy:
            for seed in wanted.seeds:
                rows.append(asked(pile, method, strategy, seed, wanted))
                print(line(rows[-1]), flush=True)
                if wanted.json:  # after each run, so that a stopped benchmark keeps its rows
                    keep({**rows[-1], **surroundings()}, wanted.json)
    show(rows)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--vectors", type=Path, default=None, help="a .npz file")
    add("--unit", action="store_true", help="scale every vector to length 1 first")
    add("--method", nargs="+", default=["idc"], choices=METHODS)
    add("--asked-by", default=None, choices=METHODS, help="learn from the answers asked by this")
    add("--strategy", nargs="+", default=["value"], choices=STRATEGIES)
    add("--refit-every", type=int, default=None, help="answers between refits; None: in one go")
    add("--seeds", type=int, nargs="+", default=[0, 1, 2])
    add("--questions", type=int, default=500)
    add("--groups", type=int, default=None, help="None: as many as there are kinds")
    add("--noise", type=float, default=0.0, help="share of wrong answers")
    add("--unsure", type=float, default=0.0, help="share of questions left open")
    add("--person", default="shown", choices=("shown", "matched"), help="matched: as published")
    add("--json", type=Path, nargs="?", const=RESULTS, default=None, help="append rows to this")
    add("--tabulate", action="store_true", help="run nothing; the table of the rows in --json")
    wanted = parser.parse_args(arguments)
    if wanted.vectors is None and not wanted.tabulate:
        parser.error("--vectors FILE is needed: a .npz file with label and X, or q and scale.")
    return wanted


def opened(file: Path, *, unit: bool = False) -> Pile:
    """The vectors of a file and the kinds of its items."""
    with np.load(file, allow_pickle=False) as kept:
        raw = kept["X"] if "X" in kept else kept["q"].astype(np.float32) * float(kept["scale"])
        truth = kept["label"].astype(np.intp)
    X = np.asarray(raw, dtype=np.float32)
    if unit:
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return Pile(file.stem, vectors_collection(file.stem, X, file.name), X, truth)


def person(pile: Pile, groups: NDArray[np.intp], seed: int, wanted: argparse.Namespace) -> Oracle:
    """Who answers. Only the published protocol looks at more than the items shown."""
    oracle: Oracle = Truth(pile.truth)
    if wanted.person == "matched":
        oracle = Matched(pile.truth, groups)
    oracle = Noisy(oracle, wanted.noise, seed) if wanted.noise else oracle
    return Unsure(oracle, wanted.unsure, seed) if wanted.unsure else oracle


def asked(pile: Pile, method: str, strategy: str, seed: int, wanted: argparse.Namespace) -> Row:
    """One person, one strategy, one method: scores before and after all answers."""
    began, store, asker = time.perf_counter(), MemoryStore(), wanted.asked_by or method
    session = begun(pile, asker, strategy, seed, wanted, store)
    before = scores(pile, session)
    oracle = person(pile, session.clustering.labels, seed, wanted)
    if wanted.refit_every:
        told = run(session, oracle, wanted.questions).n_answers
        if session.progress()["until_refit"] < session.refit_every:  # the last answers
            session.refit()
    else:
        told = run_in_one_go(session, oracle, 0, wanted.questions)
    row: Row = {
        "benchmark": "idc-vectors", "set": pile.name, "unit": wanted.unit, "method": method,
        "asked_by": asker, "strategy": strategy, "refit_every": wanted.refit_every, "seed": seed,
        "questions": wanted.questions, "person": wanted.person, "noise": wanted.noise,
        "unsure": wanted.unsure, "groups_given": count_given(pile, method, wanted),
        "items": len(pile.truth), "told": told, **said(pile, session), "before": before,
    }  # fmt: skip
    if method != asker:
        first = begun(pile, method, "value-random", seed, wanted, MemoryStore())
        row |= {"before": scores(pile, first), "before_of_asker": before}
        try:  # taking up the ledger fits this method to the answers in it
            session = begun(pile, method, strategy, seed, wanted, store)
        except Infeasible as problem:
            return {**row, "after": None, "failed": str(problem), **took(began)}
    return {**row, "after": scores(pile, session), **took(began)}


def begun(
    pile: Pile, method: str, strategy: str, seed: int, wanted: argparse.Namespace, store: Store
) -> Session:
    """A session of this method over the ledger in the store."""
    return Session(
        pile.collection, pile.X, store=store, clusterer=estimator(pile, method, wanted),
        strategy=strategy, seed=seed, refit_every=wanted.refit_every or wanted.questions,
        ahead=1 if wanted.refit_every else wanted.questions, budget=wanted.questions,
    )  # fmt: skip


def estimator(pile: Pile, method: str, wanted: argparse.Namespace) -> Any:
    """The method with its own settings; chance comes from the session's seed."""
    return find("method", method)(n_clusters=count_given(pile, method, wanted))


def count_given(pile: Pile, method: str, wanted: argparse.Namespace) -> int | None:
    """The number of groups that the method is told."""
    if method == "live":
        return None
    return wanted.groups or len(np.unique(pile.truth))


def scores(pile: Pile, session: Session) -> dict[str, float]:
    """ACC, NMI and ARI of all items, and ACC of those that no answer put right by itself."""
    labels, truth = session.clustering.labels, pile.truth
    rest = np.setdiff1d(np.arange(len(truth)), session.constraints.touched)
    found = {name: score(truth, labels)[name] for name in ("acc", "nmi", "ari")}
    found["unasked_acc"] = score(truth[rest], labels[rest])["acc"]
    rounded = {name: round(value, 4) for name, value in found.items()}
    return {**rounded, "groups": session.clustering.n_groups}


def said(pile: Pile, session: Session) -> Row:
    """What the person answered, and of how many kinds the items that stood for groups were."""
    standing: set[int] = set()
    for answer in session.answers:
        shown = map(answer.question.exemplars, answer.question.choices())
        standing |= {some[0] for some in shown if some}
    progress = session.progress()
    return {
        "choices": progress["choices"],
        "conflicts": progress["conflicts"],
        "kinds_shown": len(np.unique(pile.truth[sorted(standing)])),
    }


def took(began: float) -> dict[str, float]:
    """Seconds of the whole run, choosing and scoring included."""
    return {"seconds": round(time.perf_counter() - began, 1)}


def keep(row: Mapping[str, Any], file: Path) -> None:
    """Add the row to the list in the file."""
    rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    text = ",\n".join(json.dumps(one, ensure_ascii=False) for one in [*rows, row])
    file.write_text(f"[\n{text}\n]\n", encoding="utf-8")


def line(row: Row) -> str:
    """One run, in words."""
    after = f"{row['after']['acc']:.4f}" if row["after"] else f"failed: {row['failed']}"
    return (
        f"{row['set']} {row['method']} {row['strategy']} seed {row['seed']}: ACC "
        f"{row['before']['acc']:.4f} -> {after}, {row['told']} told {row['choices']}, "
        f"{row['kinds_shown']} kinds shown, {row['seconds']:.0f} s"
    )


def show(rows: Sequence[Row]) -> None:
    """Mean and standard deviation over seeds, by setting; failed runs are counted, not averaged."""
    lines: list[tuple[str, ...]] = [
        ("setting", "seeds", "failed", "none", "before", "ACC", "sd", "unasked", "NMI", "ARI")
    ]
    for setting in dict.fromkeys(tuple(row[name] for name in SETTING) for row in rows):
        mine = [row for row in rows if tuple(row[name] for name in SETTING) == setting]
        lines.append((named(dict(zip(SETTING, setting, strict=True))), *summary(mine)))
    table(lines)


def summary(rows: Sequence[Row]) -> tuple[str, ...]:
    """The cells of one line after its name; the sample standard deviation, if there are two."""
    good = [row for row in rows if row["after"]]
    none = np.mean([row["choices"].get("none", 0) for row in rows])
    before = np.mean([row["before"]["acc"] for row in rows])
    first = (str(len(rows)), str(len(rows) - len(good)), f"{none:.0f}", f"{before:.3f}")
    if not good:
        return (*first, "-", "-", "-", "-", "-")
    acc, unasked, nmi, ari = (
        np.array([row["after"][name] for row in good])
        for name in ("acc", "unasked_acc", "nmi", "ari")
    )
    sd = f"{acc.std(ddof=1):.3f}" if len(good) > 1 else "-"
    return (*first, f"{acc.mean():.3f}", sd, *(f"{v.mean():.3f}" for v in (unasked, nmi, ari)))


def named(setting: Mapping[str, Any]) -> str:
    """A setting in words, what is ordinary left out."""
    parts = [setting["set"], setting["method"], setting["strategy"]]
    if setting["asked_by"] != setting["method"]:
        parts.append(f"asked by {setting['asked_by']}")
    if setting["refit_every"]:
        parts.append(f"every {setting['refit_every']}")
    if setting["questions"] != 500:
        parts.append(f"{setting['questions']} questions")
    parts += [f"{100 * setting[what]:g} % {what}" for what in ("noise", "unsure") if setting[what]]
    if setting["unit"]:
        parts.append("unit")
    if setting["person"] != "shown":
        parts.append(setting["person"])
    return ", ".join(parts)


if __name__ == "__main__":
    main()
