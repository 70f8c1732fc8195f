"""How far the loss with the answers so far is from the loss with every pair answered.

PCL's Theorems 3.2 and 3.3 and OCC's Theorems 1 and 2 are about this gap and about the scores that
are to close it (docs/explanation/theory.md). Here it is measured with the library's own losses and
scores. Features are held fixed, so there is no session: strategies are asked with a View as a
session would make it, and a truthful person answers. The last part fits the features anew after
each answer instead.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.measuring import arguments, provenance, table
from benchmarks.theory.figure import draw
from benchmarks.theory.gaps import (
    LAM,
    OBJECTIVES,
    STRATEGIES,
    Gap,
    Labels,
    Loss,
    Stage,
    asked,
    everything,
    links_of,
    next_pair,
    relations,
    told,
)
from samekind.constraints import Constraints
from samekind.encoders import default_encoder, encode
from samekind.objectives import BatchLinks
from samekind.sources import open_labelled

STAGES = {"untrained": 0, "partly trained": 2, "trained": 40}
"""Epochs before the features are held fixed."""


class Data(NamedTuple):
    """Standardised vectors (n, d) and the kind of each."""

    X: Tensor
    labels: Labels

    def views(self, items: Labels, chance: torch.Generator) -> Tensor:
        """(2m, d) items twice, each time with noise and a fifth of the numbers missing."""
        x = self.X[torch.from_numpy(items)].repeat(2, 1)
        kept = torch.rand(x.shape, generator=chance) < 0.8
        return (x + 0.3 * torch.randn(x.shape, generator=chance)) * kept


def trained_stages(data: Data, batch: Labels, loss: Loss, seed: int) -> dict[str, Stage]:
    """Features of a batch from a small network, trained on answers about other items.

    An epoch is five batches of 64 out of 300 items with 900 random answers.
    """
    torch.manual_seed(seed)
    chance, rng = torch.Generator().manual_seed(seed), np.random.default_rng((seed, 1))
    others = rng.permutation(np.setdiff1d(np.arange(len(data.labels)), batch))[:300]
    net = nn.Sequential(nn.Linear(data.X.shape[1], 64), nn.ReLU(), nn.Linear(64, 16))
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)
    known = Constraints(len(others))
    for a, b in rng.integers(0, len(others), (900, 2)).tolist():
        if a != b and known.same(a, b) is None:
            known = told(known, a, b, data.labels[others])
    fixed = data.views(batch, chance)

    def features() -> NDArray[np.float32]:
        with torch.inference_mode():
            z = nn.functional.normalize(net(fixed), dim=1)
        return z.numpy().reshape(2, len(batch), -1)

    bank = [features()]
    for _ in range(max(STAGES.values())):
        for _ in range(5):
            some = np.sort(rng.choice(len(others), 64, replace=False))
            optimiser.zero_grad()
            loss(net(data.views(others[some], chance)), links_of(known, some)).backward()
            optimiser.step()
        bank.append(features())
    return {name: Stage(bank[e], bank[e - 1] if e else None) for name, e in STAGES.items()}


def refitted(
    data: Data, batch: Labels, loss: Loss, name: str, answers: int, seed: int
) -> dict[str, list[float]]:
    """Theorem 3.2 as it stands: the features are a minimiser after each answer.

    The features are a linear map to 8 numbers, fitted to the one batch by L-BFGS from one and the
    same start. Returns ``|L_q(f_q) - L_Q(f_Q)|`` and ``L_Q(f_q) - L_Q(f_Q)`` for q = 0, 1, ...
    """
    chance = torch.Generator().manual_seed(seed)
    x, labels = data.views(batch, chance), data.labels[batch]
    start = torch.randn(x.shape[1], 8, generator=chance) / x.shape[1] ** 0.5

    def fit(links: BatchLinks) -> tuple[Tensor, float]:
        weights = start.clone().requires_grad_()
        search = torch.optim.LBFGS([weights], max_iter=80, line_search_fn="strong_wolfe")

        def closure() -> Tensor:
            search.zero_grad()
            value = loss(x @ weights, links)
            value.backward()
            return value

        search.step(closure)
        z = nn.functional.normalize((x @ weights).detach(), dim=1)
        return z, float(loss(z, links))

    complete = links_of(everything(labels))
    best = fit(complete)[1]
    known, before = Constraints(len(batch)), None
    row: dict[str, list[float]] = {"gap": [], "excess": []}
    for _ in range(answers + 1):
        z, value = fit(links_of(known))
        row["gap"].append(abs(value - best))
        row["excess"].append(float(loss(z, complete)) - best)
        now = z.numpy().reshape(2, len(batch), -1)
        pair = next_pair(Gap(loss, z, labels), Stage(now, before), name, known, seed, answers)
        before = now
        if pair is not None:
            known = told(known, *pair, labels)
    return row


def interval(values: Sequence[float], draws: int = 2000) -> list[float] | None:
    """Mean, and 95 % bootstrap interval over the batches; None when nothing was measured."""
    known = np.asarray([value for value in values if np.isfinite(value)])
    if not len(known):
        return None
    means = np.random.default_rng(0).choice(known, (draws, len(known))).mean(axis=1)
    return [round(float(v), 4) for v in (known.mean(), *np.percentile(means, [2.5, 97.5]))]


def together(rows: Sequence[dict[str, float]]) -> dict[str, list[float] | None]:
    """Means and intervals of what was measured on each batch."""
    return {key: interval([row[key] for row in rows]) for key in rows[0]}


def fixed_features(data: Data, chosen: Any) -> Iterator[dict[str, Any]]:
    """For each loss and each stage: relations after 0 and some answers, and curves of the gap."""
    for name, loss in OBJECTIVES.items():
        runs = []
        for seed in range(chosen.seed, chosen.seed + chosen.batches):
            batch = batch_of(data, chosen.items, seed)
            runs.append((seed, batch, trained_stages(data, batch, loss, seed)))
        for stage_name in STAGES:
            at: dict[int, list[dict[str, float]]] = {0: [], chosen.items // 4: []}
            curves: dict[str, list[list[float]]] = {k: [] for k in (*STRATEGIES, "greedy")}
            for seed, batch, stages in runs:
                stage = stages[stage_name]
                z = torch.from_numpy(stage.now.reshape(-1, stage.now.shape[2]))
                gap = Gap(loss, z, data.labels[batch])
                for answers, rows in at.items():
                    rows.append(relations(gap, stage, answers, seed, chosen.answers))
                for strategy in curves:
                    signed = asked(gap, stage, strategy, chosen.answers, seed, chosen.answers)[1]
                    curves[strategy].append(signed)
            yield {
                "objective": name,
                "stage": stage_name,
                "relations": {answers: together(rows) for answers, rows in at.items()},
                "curves": {
                    k: summed_up(v)
                    for k, v in curves.items()
                    if k != "csd" or stage.before is not None
                },
            }


def summed_up(signed: list[list[float]]) -> dict[str, Any]:
    """Curves of one strategy over the batches.

    ``signed`` is ``L_q - L_Q``, ``mean gap`` the mean of its size over the curve, and ``grew`` the
    share of answers after which that size, the gap, was larger.
    """
    curves = np.asarray(signed)
    gaps = np.abs(curves)
    return {
        "signed": [interval(column) for column in curves.T.tolist()],
        "mean gap": interval(gaps.mean(axis=1).tolist()),
        "grew": round(float((np.diff(gaps, axis=1) > 1e-6).mean()), 4),
    }


def batch_of(data: Data, items: int, seed: int) -> Labels:
    """A random batch."""
    return np.sort(np.random.default_rng(seed).choice(len(data.labels), items, replace=False))


def fitted_features(data: Data, chosen: Any) -> Iterator[dict[str, Any]]:
    """The gap, and the excess in the full loss, when features are fitted after each answer."""
    for name, loss in OBJECTIVES.items():
        for strategy in ("random", "S_up", "csd"):
            rows = [
                refitted(data, batch_of(data, chosen.items, s), loss, strategy, chosen.refits, s)
                for s in range(chosen.seed, chosen.seed + chosen.fitted)
            ]
            gaps = np.asarray([row["gap"] for row in rows])
            yield {
                "objective": name,
                "strategy": strategy,
                "grew": round(float((np.diff(gaps, axis=1) > 1e-3).mean()), 4),
                "gap": [interval(column) for column in gaps.T.tolist()],
                "excess": [interval(c) for c in np.asarray([r["excess"] for r in rows]).T.tolist()],
            }


def opened(name: str, orientation: str) -> Data:
    """A labelled set as standardised vectors, items of unknown kind left out."""
    labelled = open_labelled(name)
    labels = labelled.truth(orientation)[0]
    X = np.asarray(encode(labelled.collection, default_encoder(labelled.collection)[0]).X)
    X, labels = X[labels >= 0].astype(np.float32), labels[labels >= 0]
    scale = np.maximum(X.std(axis=0), 0.1 * X.std())  # a pixel that hardly varies stays small
    return Data(torch.from_numpy((X - X.mean(axis=0)) / scale), labels)


def show(row: dict[str, Any]) -> None:
    """The relations of one loss at one stage, as a table."""
    lines = [[f"{row['objective']}, {row['stage']}", "mean", "from", "to"]]
    for answers, found in row["relations"].items():
        for key, value in found.items():
            cells = [f"{v:.3f}" for v in value] if value else ["", "", ""]
            lines.append([f"  after {answers}: {key}", *cells])
    for name, curve in row["curves"].items():
        lines.append([f"  mean gap, {name}", *(f"{v:.3f}" for v in curve["mean gap"])])
        lines.append([f"  gap grew, {name}", f"{curve['grew']:.3f}", "", ""])
    table(lines)


RESULTS = Path(__file__).with_name("loss-gap.json")


def main() -> None:
    """Measure, print a table, write the figures of the page."""
    parser = arguments(__doc__ or "", RESULTS)
    parser.add_argument("--set", default="digits", help="a named set, or a file with labels")
    parser.add_argument("--orientation", default="parity")
    parser.add_argument("--items", type=int, default=48, help="items in a batch")
    parser.add_argument("--batches", type=int, default=6, help="batches, each with its own seed")
    parser.add_argument("--answers", type=int, default=30, help="answers in a curve")
    parser.add_argument("--fitted", type=int, default=3, help="batches with features fitted anew")
    parser.add_argument("--refits", type=int, default=10, help="answers with features fitted anew")
    parser.add_argument(
        "--out",
        type=Path,
        default=RESULTS,
        help="each set and orientation has its own entry",
    )
    parser.add_argument("--figure", type=Path, help="draw here, e.g. docs/pictures/loss-gap.png")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    started = time.perf_counter()
    data = opened(chosen.set, chosen.orientation)
    settings = {k: v for k, v in vars(chosen).items() if isinstance(v, int | str)}
    result: dict[str, Any] = {**settings, "set": Path(chosen.set).name, "lam": LAM, "fixed": []}
    for row in fixed_features(data, chosen):
        result["fixed"].append(row)
        show(row)
    result["fitted"] = list(fitted_features(data, chosen))
    result |= {"seconds": round(time.perf_counter() - started), **provenance()}
    result["command"] = result["command"].replace(chosen.set, result["set"])
    kept = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    run = f"{result['set']}, {chosen.orientation}"
    kept[run] = result
    chosen.out.write_text(json.dumps(kept, ensure_ascii=False) + "\n")
    if chosen.figure:
        draw(kept, chosen.figure, run)


if __name__ == "__main__":
    main()
