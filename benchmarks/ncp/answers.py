"""What answers are worth when nobody knows the number of groups: the clustering process and `live`.

    python -m benchmarks.ncp.answers --json                  # what is missing in answers.jsonl
    python -m benchmarks.ncp.answers --table                 # the table of the kept rows
    samekind plot curves benchmarks/ncp/answers.jsonl --metric ari --by system --out answers.png

A simulated person, who sees only the items shown, answers up to 20 questions, by the same ask and
tell for all. A system is a method and a strategy: ``ncp`` takes answers into its posterior, whose
strategy is ``posterior`` (largest expected gain of information); ``live`` is the default learner
with its own strategy; ``placement`` asks both where items belong. Sets: 2-D mixtures with clear and
with overlapping groups (quality.py), and scikit-learn's digits (64 pixels). The number of groups is
never given. All systems see the same items.

    python -m benchmarks.ncp.answers --sets exact --weights weights-clear.safetensors

compares averages given answers with the exact posterior given the same answers, by enumeration
(N = 5, 6, 7). Its weights must be trained on the world ``clear`` (`recipes/ncp.py` does that).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measuring import arguments as common_arguments
from benchmarks.measuring import provenance, table
from benchmarks.ncp.exact import DirichletGaussians
from benchmarks.ncp.quality import WORLDS
from benchmarks.ncp.quality import drawn as draw_mixtures
from benchmarks.ncp.summaries import FILE_OF, digest, half_interval, read_rows
from samekind.clusterers.ncp.amortized.conditioning import Answers
from samekind.clusterers.ncp.amortized.network import NCPNetwork
from samekind.clusterers.ncp.amortized.sampler import Sampler
from samekind.clusterers.ncp.amortized.weights import load
from samekind.clusterers.ncp.weights import shipped
from samekind.constraints import Constraints
from samekind.evaluation import ari
from samekind.items import Collection
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run
from samekind.simulation.people import Truth
from samekind.simulation.rows import append_row
from samekind.sources import open_labelled, vectors_collection

AT = (0, 5, 10, 20)
SYSTEMS = ("ncp+posterior", "ncp+placement", "live+live", "live+placement")
SETS = ("clear", "overlapping", "digits", "exact")
FRESH = 300
"""First seed of the kept rows: no settings were chosen on these sets."""
EXACT = DirichletGaussians(alpha=0.7, scale=1.0, spread=10.0)
Row = dict[str, Any]


class Pile(NamedTuple):
    """What a session gets, and what only the simulated person and the score get."""

    name: str
    collection: Collection
    X: NDArray[np.float32]
    truth: NDArray[np.intp]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = common_arguments(__doc__ or "", FILE_OF["answers"])
    parser.set_defaults(seed=FRESH)
    add = parser.add_argument
    add("--sets", nargs="+", default=list(SETS[:2]), choices=SETS)
    add("--systems", nargs="+", default=list(SYSTEMS), help="METHOD+STRATEGY")
    add("--runs", type=int, default=20, help="per set: other mixtures, other digits")
    add("--points", type=int, default=100, help="of a mixture")
    add("--digits", type=int, default=300, help="that are drawn from the 1,797")
    add("--at", type=int, nargs="+", default=list(AT), help="numbers of answers")
    add("--refit-every", type=int, default=5)
    add("--weights", default=None, help="of ncp; None: those of the package")
    add("--exact-draws", type=int, default=200, help="data sets per number of points")
    add("--table", action="store_true", help="run nothing, print the table of the kept rows")
    wanted = parser.parse_args(arguments)
    rows = read_rows(wanted.json or FILE_OF["answers"]) if wanted.json or wanted.table else []
    done = {key_of(row) for row in rows}
    for name in [] if wanted.table else wanted.sets:
        if name == "exact":
            rows += against_enumeration(wanted)
            continue
        for seed in range(wanted.seed, wanted.seed + wanted.runs):
            for system in wanted.systems:
                sha = sha_of(name, wanted.weights) if system.startswith("ncp") else None
                if (name, system, seed, sha, max(wanted.at)) in done:
                    continue
                pile = drawn(name, seed, wanted.points, wanted.digits)
                rows.append({**asked(pile, system, seed, wanted), "sha256": sha})
                print(line(rows[-1]), flush=True)
                if wanted.json:  # after each run, so that a stopped benchmark continues
                    append_row(wanted.json, rows[-1])
    for name in dict.fromkeys(row["set"] for row in rows if "curve" in row):
        show(name, rows)


def sha_of(name: str, weights: str | None) -> str:
    """The digest of the weights that `ncp` takes for a set."""
    return digest(str(weights or shipped(columns=2 if name in WORLDS else None)))


def key_of(row: Row) -> tuple[Any, ...]:
    """What tells runs apart."""
    names = ("set", "system", "seed", "sha256", "budget")
    return tuple(row.get(name) for name in names)


def drawn(name: str, seed: int, points: int, digits: int) -> Pile:
    """One pile: a mixture, or a sample of the digits."""
    if name in WORLDS:
        x, truth = draw_mixtures(WORLDS[name], points, 1, seed)
        X = x[0].astype(np.float32)
        return Pile(name, vectors_collection(f"mixture {seed}", X, name), X, truth[0])
    labelled = open_labelled("digits")
    truth, _ = labelled.truth("digit")
    some = np.sort(np.random.default_rng(seed).permutation(len(truth))[:digits])
    matrix = np.asarray(labelled.collection.matrix, dtype=np.float32)  # type: ignore[attr-defined]
    return Pile(name, labelled.collection.take(some.tolist()), matrix[some], truth[some])


def asked(pile: Pile, system: str, seed: int, wanted: argparse.Namespace) -> Row:
    """One person and one system: ARI at each number of answers."""
    method, _, strategy = system.partition("+")
    weights = wanted.weights if method == "ncp" else None
    model = find("method", method)(**({"weights": weights} if weights else {}))
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
        "set": pile.name, "orientation": "kind", "system": system, "method": method,
        "strategy": strategy, "seed": seed, "budget": max(wanted.at),
        "groups_given": None,
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
    prob, errors = listed.prob, []
    links: list[tuple[int, int, bool]] = []
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
        f"{row['set']} seed {row['seed']} {row['system']:>15}  {values}  "
        f"K {row['curve'][-1]['groups']} (true {row['true_groups']}), "
        f"{row['questions']} answers {row['kinds']}, "
        f"refit {row['refit_seconds']:.2f} s, ask {1000 * row['ask_seconds']:.0f} ms"
    )


def show(name: str, rows: Sequence[Row]) -> None:
    """Mean ARI with its 95 % interval by system and number of answers."""
    mine = [row for row in rows if row["set"] == name]
    at = [point["questions"] for point in mine[0]["curve"]]
    print(f"\n{name}: ARI by number of answers")
    lines = [("system", "weights", "runs", *(str(count) for count in at))]
    for system, sha in dict.fromkeys((row["system"], row["sha256"]) for row in mine):
        some = [row for row in mine if (row["system"], row["sha256"]) == (system, sha)]
        scores = np.array([[point["ari"] for point in row["curve"]] for row in some])
        cells = [f"{col.mean():.3f} +- {half_interval(col.tolist()):.3f}" for col in scores.T]
        lines.append((system, sha or "", str(len(some)), *cells))
    table(lines)


if __name__ == "__main__":
    main()
