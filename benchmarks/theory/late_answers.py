"""What answers do to PCL's and OCC's own losses when the groups have settled before they come.

    python -m benchmarks.theory.late_answers --json            # the whole grid, 25 minutes
    python -m benchmarks.theory.late_answers --losses occ --rates 3e-4 --waits 22 --seeds 0

A network of two layers on frozen vectors, its head begun at random, trained by the loss of a method
without attention: first without answers, then with truthful answers about random pairs, all at
once. *Way* is rate times steps, in thousandths: what makes trainings at several rates comparable,
because Adam moves a weight by about the rate in a step. Scored is what the network alone says of
all items, as OCC was published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measuring import arguments, emit
from samekind.clusterers.deep.occ import OCCLoss
from samekind.clusterers.deep.pcl import PCLLoss
from samekind.compute import best_device
from samekind.constraints import Constraints
from samekind.encoders import default_encoder, encode
from samekind.evaluation import acc
from samekind.objectives import ActiveContrast, ConstrainedContrast
from samekind.sources import open_labelled
from samekind.training.bank import Reader
from samekind.training.loop import Plan, Trainer
from samekind.training.network import Network
from samekind.training.rows import NoisyRows, RowBackbone

RESULTS = Path(__file__).with_name("late-answers.jsonl")
BATCH = 256
SETS = {"cifar10-2": "cifar10-frozen", "cifar100-4": "cifar20-frozen"}
PAIRS_PER_ITEM = 0.83
"""As in OCC's table: 50,000 answers about 60,000 pictures."""
AFTER = 130
"""Way with the answers; each third of it is scored."""


LOSSES: dict[str, Callable[[], Any]] = {
    "pcl": PCLLoss,
    "pcl, as printed": lambda: PCLLoss(ConstrainedContrast(profile="paper")),
    "occ": OCCLoss,
    "occ, over pairs": lambda: OCCLoss(ActiveContrast(mean="pairs")),
}


def opened(name: str, items: int, seed: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Frozen vectors of random items, and their personal groups."""
    labelled = open_labelled(SETS[name])
    X = np.asarray(encode(labelled.collection, default_encoder(labelled.collection)[0]).X)
    labels = labelled.truth("personalized")[0]
    some = np.random.default_rng(seed).permutation(np.flatnonzero(labels >= 0))[:items]
    return X[some].astype(np.float32), labels[some]


def answered(labels: NDArray[Any], seed: int) -> Constraints:
    """Truthful answers about random pairs."""
    rng, n = np.random.default_rng((seed, 1)), len(labels)
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < round(PAIRS_PER_ITEM * n):
        a, b = sorted(rng.choice(n, 2, replace=False).tolist())
        pairs.add((a, b))
    links = ((a, b, bool(labels[a] == labels[b])) for a, b in sorted(pairs))
    return Constraints.from_links(n, links)


def trained(
    loss: str, rate: float, wait: float, seed: int, data: tuple[NDArray[np.float32], NDArray[Any]]
) -> dict[str, Any]:
    """Train without answers for the way `wait`, then with them; returns the row."""
    X, labels = data
    torch.manual_seed(seed)
    rows = torch.from_numpy(X)
    network = Network(RowBackbone(X.shape[1]), k=len(np.unique(labels)), out=64)
    plan = Plan(batch_size=BATCH, learning_rate=rate, seed=seed)
    views, cpu = NoisyRows(rows), best_device("cpu")
    trainer = Trainer(network, LOSSES[loss](), rows, views, plan, compute=cpu)

    def read() -> NDArray[np.float32]:
        return Reader(network, views.plain, cpu).bank(rows).p

    def epochs(way: float) -> float:
        return way / 1000 / rate / trainer.batches.steps

    span = epochs(wait + AFTER)
    if wait:
        trainer.run(epochs(wait), horizon=span)
    before = read()
    trainer.learn_from(answered(labels, seed))
    scores = [acc(labels, before.argmax(axis=1))]
    for third in range(3):
        trainer.run(epochs(AFTER / 3), before=epochs(wait + third * AFTER / 3), horizon=span)
        scores.append(acc(labels, read().argmax(axis=1)))
    return {
        "loss": loss,
        "rate": rate,
        "wait": wait,
        "seed": seed,
        "items": len(X),
        "largest_membership": round(float(np.median(before.max(axis=1))), 5),
        "acc": [round(score, 4) for score in scores],
        "steps": trainer.step,
    }


def grid(chosen: Any) -> Iterator[dict[str, Any]]:
    """The rows of all that was asked for, one seed after the other."""
    for seed in chosen.seeds:
        data = opened(chosen.set, chosen.items, seed)
        for loss in chosen.losses:
            for rate in chosen.rates:
                for wait in chosen.waits:
                    yield {"set": chosen.set, **trained(loss, rate, wait, seed, data)}


def main() -> None:
    """Measure."""
    parser = arguments(__doc__ or "", RESULTS)
    parser.add_argument("--set", choices=list(SETS), default="cifar10-2")
    parser.add_argument("--losses", nargs="+", choices=list(LOSSES), default=list(LOSSES))
    parser.add_argument("--rates", nargs="+", type=float, default=[1e-3, 3e-4, 1e-4])
    parser.add_argument("--waits", nargs="+", type=float, default=[0, 22, 110])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--items", type=int, default=3000)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    for row in grid(chosen):
        emit(row, chosen.json)


if __name__ == "__main__":
    main()
