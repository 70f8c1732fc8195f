"""What answers are worth to the clustering process when nobody knows the number of groups.

    python -m benchmarks.ncp.answers --json ncp_answers.json
    samekind plot curves ncp_answers.json --metric ari --by strategy --out ncp_answers.png

A simulated person, who sees only the items shown, answers up to 80 questions. The method ``ncp``
takes the answers into its posterior; three strategies choose the questions: ``posterior`` (largest
expected gain of information under posterior samples), ``random`` and ``placement``. Sets: 2-D
mixtures whose groups overlap (ncp_quality.py, world ``overlapping``), and scikit-learn's digits
(64 pixels; the method reduces them by PCA). The number of groups is never given. All strategies
see the same items and begin with the same groups, since the seed is the same.

    python -m benchmarks.ncp.answers --sets exact --weights weights-clear.safetensors

compares averages given answers with the exact posterior given the same answers, by enumeration
(N = 5, 6, 7). Its weights must be trained on the world ``clear`` of ncp_quality.py.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats

from benchmarks.measuring import provenance, table
from benchmarks.ncp.exact import DirichletGaussians
from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.clusterers.ncp.amortized.network import NCPNetwork
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.weights import load
from samekind.constraints import Constraints
from samekind.evaluation import ari
from samekind.items import Collection
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.sources import open_labelled, vectors_collection

AT = (0, 5, 10, 20, 40, 80)
STRATEGIES = ("posterior", "random", "placement")
SETS = ("mixtures", "digits", "exact")
EXACT = DirichletGaussians(alpha=0.7, scale=1.0, spread=10.0)
Row = dict[str, Any]


class Pile(NamedTuple):
    """What a session gets, and what only the simulated person and the score get."""

    name: str
    collection: Collection
    X: NDArray[np.float32]
    truth: NDArray[np.intp]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--sets", nargs="+", default=list(SETS[:2]), choices=SETS)
    add("--strategies", nargs="+", default=list(STRATEGIES))
    add("--runs", type=int, default=10, help="per set: other mixtures, other digits")
    add("--points", type=int, default=200, help="of a mixture")
    add("--digits", type=int, default=300, help="that are drawn from the 1,797")
    add("--at", type=int, nargs="+", default=list(AT), help="numbers of answers")
    add("--refit-every", type=int, default=5)
    add("--weights", default=None, help="for mixtures and exact; None: those of the package")
    add("--digits-weights", default=None, help="for digits; None: those of the package")
    add("--exact-draws", type=int, default=200, help="data sets per number of points")
    add("--seed", type=int, default=0, help="of the first run; the others follow")
    add("--json", type=Path, default=None, help="one row per run")
    wanted = parser.parse_args(arguments)
    rows: list[Row] = []
    for name in wanted.sets:
        if name == "exact":
            rows += against_enumeration(wanted)
            continue
        for seed in range(wanted.seed, wanted.seed + wanted.runs):
            pile = drawn(name, seed, wanted.points, wanted.digits)
            for strategy in wanted.strategies:
                rows.append(asked(pile, strategy, seed, wanted))
                print(line(rows[-1]), flush=True)
                if wanted.json:  # after each run, so that a stopped benchmark keeps its rows
                    wanted.json.write_text(json.dumps(rows, indent=1))
        show(name, rows, wanted.at)
    if wanted.json:
        wanted.json.write_text(json.dumps(rows, indent=1))


def drawn(name: str, seed: int, points: int, digits: int) -> Pile:
    """One pile: a mixture, or a sample of the digits."""
    if name == "mixtures":
        from benchmarks.ncp.quality import WORLDS
        from benchmarks.ncp.quality import drawn as draw_mixtures

        x, truth = draw_mixtures(WORLDS["overlapping"], points, 1, 100 + seed)
        X = x[0].astype(np.float32)
        return Pile(name, vectors_collection(f"mixture {seed}", X, name), X, truth[0])
    labelled = open_labelled("digits")
    truth, _ = labelled.truth("digit")
    some = np.sort(np.random.default_rng(seed).permutation(len(truth))[:digits])
    matrix = np.asarray(labelled.collection.matrix, dtype=np.float32)  # type: ignore[attr-defined]
    return Pile(name, labelled.collection.take(some.tolist()), matrix[some], truth[some])


def asked(pile: Pile, strategy: str, seed: int, wanted: argparse.Namespace) -> Row:
    """One person and one strategy: ARI at each number of answers."""
    weights = wanted.weights if pile.name == "mixtures" else wanted.digits_weights
    model = find("method", "ncp")(weights=weights)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = Session(
            pile.collection, pile.X, clusterer=model, strategy=strategy, seed=seed,
            refit_every=wanted.refit_every, budget=max(wanted.at),
        )  # fmt: skip
        first = time.perf_counter() - began
        curve = {0: score(session, pile)}

        def record(session: Session, n_answers: int) -> None:
            curve[n_answers] = score(session, pile)

        log = run(session, Truth(pile.truth), max(wanted.at), on_refit=record)
        if log.n_answers not in curve:
            session.refit()
            record(session, log.n_answers)
    kinds = Counter(answer.question.kind for answer in session.answers)
    known = session.constraints
    return {
        "set": pile.name, "orientation": "kind", "method": "ncp", "strategy": strategy,
        "weights": Path(weights).name if weights else "package", "seed": seed,
        "items": len(pile.truth), "true_groups": len(np.unique(pile.truth)),
        "whole_draws": getattr(session.clustering, "draws", None) is not None,
        "questions": log.n_answers, "kinds": dict(kinds), "conflicts": len(known.conflicts),
        "links": len(known.links().a), "curve": list(at_counts(curve, wanted.at)),
        "first_fit_seconds": round(first, 3),
        "refit_seconds": round(float(np.mean(log.refit_seconds or [0.0])), 3),
        "ask_seconds": round(float(np.median(log.ask_seconds or [0.0])), 4),
        **provenance(),
    }  # fmt: skip


def score(session: Session, pile: Pile) -> Row:
    labels = session.clustering.labels
    return {"ari": round(ari(pile.truth, labels), 4), "groups": session.clustering.n_groups}


def at_counts(curve: dict[int, Row], at: Sequence[int]) -> Iterator[Row]:
    """The last refit at or before each number of answers; where a run ended early, it stays."""
    for count in at:
        last = max(n for n in curve if n <= count)
        yield {"questions": count, **curve[last], "refitted_at": last}


def against_enumeration(wanted: argparse.Namespace) -> list[Row]:
    """Mean absolute error of p(same group), by number of points and of answers."""
    if not wanted.weights:
        raise SystemExit("The set exact needs --weights of a network for the world clear.")
    rng, rows = np.random.default_rng(wanted.seed), []
    network = load(wanted.weights).network
    chance = torch.Generator().manual_seed(wanted.seed)
    for n in (5, 6, 7):
        x, truth = EXACT.draw(wanted.exact_draws, n, rng)
        errors = [exact_errors(network, x[b], truth[b], chance) for b in range(len(x))]
        mean = np.mean(errors, axis=0).round(4).tolist()
        rows.append({"set": "exact", "N": n, "draws": len(x), "error": mean, **provenance()})
    print("\nmean absolute error of p(same group) against enumeration, by number of answers")
    lines = [[f"N = {row['N']}", *(f"{e:.4f}" for e in row["error"])] for row in rows]
    table([["", *(str(count) for count in range(len(rows[0]["error"])))], *lines])
    return rows


def exact_errors(
    network: NCPNetwork, x: NDArray[np.float64], truth: NDArray[np.intp], chance: torch.Generator
) -> list[float]:
    """The error before any answer, and after a true answer about the most doubtful pair, twice."""
    listed, n = EXACT.posterior(x), len(x)
    prob, links, errors = listed.prob, [], []
    upper = np.triu_indices(n, 1)
    given = torch.from_numpy(x[None]).float()
    for _ in range(3):
        same = listed.partitions[:, upper[0]] == listed.partitions[:, upper[1]]  # (P, pairs)
        exact = prob @ same
        answers = Answers(Constraints.from_links(n, links))
        (found,) = Sampler(network).sample(
            given, 2000, order=answers.order(8, chance), orders=8, allowed=answers, generator=chance
        )
        errors.append(float(np.abs(found.co_membership().numpy()[upper] - exact).mean()))
        pair = int(np.abs(exact - 0.5).argmin())
        a, b = int(upper[0][pair]), int(upper[1][pair])
        links.append((a, b, bool(truth[a] == truth[b])))
        prob = prob * (same[:, pair] == links[-1][2])
        prob = prob / prob.sum()
    return errors


def line(row: Row) -> str:
    values = " ".join(f"{point['questions']}:{point['ari']:.3f}" for point in row["curve"])
    return (
        f"{row['set']} seed {row['seed']} {row['strategy']:>10}  {values}  "
        f"K {row['curve'][-1]['groups']} (true {row['true_groups']}), "
        f"{row['questions']} answers {row['kinds']}, "
        f"refit {row['refit_seconds']:.2f} s, ask {1000 * row['ask_seconds']:.0f} ms"
    )


def show(name: str, rows: Sequence[Row], at: Sequence[int]) -> None:
    """Mean ARI with its 95 % interval (Student) by strategy and number of answers."""
    print(f"\n{name}: ARI by number of answers")
    lines = [("strategy", *(str(count) for count in at))]
    for strategy in dict.fromkeys(row["strategy"] for row in rows):
        mine = [row for row in rows if (row["set"], row["strategy"]) == (name, strategy)]
        scores = np.array([[point["ari"] for point in row["curve"]] for row in mine])
        half = np.zeros(len(at))
        if len(mine) > 1:
            half = stats.t.ppf(0.975, len(mine) - 1) * stats.sem(scores, axis=0)
        cells = [f"{m:.3f} +- {h:.3f}" for m, h in zip(scores.mean(axis=0), half, strict=True)]
        lines.append((strategy, *cells))
    table(lines)


if __name__ == "__main__":
    main()
