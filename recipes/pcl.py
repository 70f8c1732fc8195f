"""PCL on one page: the experiment of arXiv 2412.13690 on CIFAR10-2 and CIFAR100-4.

    python recipes/pcl.py --set cifar10-2 --orientation personalized --data FOLDER --profile fast

Pictures of the training part are asked about and trained on, those of the test part are scored
through ``predict``. ``paper`` asks one pair per batch and epoch from the eleventh epoch on, until
the questions are spent, and trains on to the last epoch; ``fast`` begins with self-supervised
training and asks in rounds. FOLDER holds the lossless pictures; see samekind/sources/cifar.py.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from samekind.clusterers.pcl import PCL
from samekind.evaluation import score
from samekind.oracles import Truth
from samekind.session import Session
from samekind.simulate import run
from samekind.sources.cifar import open_cifar

ROUNDS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Answers after which the fast profile learns again."""
SHOWN = ("questions", "refits", "seconds", "test_acc", "test_nmi", "test_ari", "train_acc")
Note = Callable[[Session, int], Any]


def main() -> None:
    wanted = arguments()
    began = time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images, test = pile.images[: wanted.items], pile.held_out_images
    truth, test_truth = pile.labelled.truth(wanted.orientation)
    collection = pile.labelled.collection.take(range(len(images)))
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} + {len(test)} pictures", flush=True)
    fast = wanted.profile == "fast"
    model = PCL(
        n_clusters=pile.n_groups,
        profile=wanted.profile,
        first_epochs=None if fast else min(10, wanted.epochs),
        epochs=None if fast else 1,
        horizon=wanted.epochs,
        seconds=wanted.seconds * 0.4 if fast and wanted.seconds else None,
        tune_seconds=wanted.seconds * 0.45 if fast and wanted.seconds else None,
        tune_from=min(wanted.tune_from, wanted.questions),
        batch_size=wanted.batch_size,
        learning_rate=wanted.learning_rate,
        size=wanted.size,
        backbone=wanted.backbone,
        channels=wanted.channels,
        attention=None if wanted.attention == "auto" else wanted.attention == "on",
        compile=wanted.compile,
        keep_views=wanted.strategy == "pcl-reference",
        checkpoint=wanted.checkpoint,
        verbose=wanted.verbose,
    )
    quota = max(1, len(images) // (wanted.batch_size or 128))
    session = Session(
        collection,
        images,
        clusterer=model,
        strategy=wanted.strategy,
        seed=wanted.seed,
        refit_every=quota,
        ahead=quota,
        budget=wanted.questions,
    )
    curve: list[dict[str, float]] = []

    def note(session: Session, told: int) -> None:
        row = {f"test_{k}": v for k, v in score(test_truth, session.predict(test)).items()}
        found = score(truth[: len(images)], session.clustering.labels)
        row |= {f"train_{k}": v for k, v in found.items()}
        row |= {"questions": told, "refits": session.clustering.snapshot}
        curve.append({**row, "seconds": round(time.monotonic() - began, 1)})
        print({k: round(v, 4) for k, v in curve[-1].items() if k in SHOWN}, flush=True)

    note(session, 0)
    oracle = Truth(truth)
    if fast:
        told = 0
        for until in (*(r for r in ROUNDS if r < wanted.questions), wanted.questions):
            told = in_one_go(session, oracle, told, until)
            note(session, told)
    else:
        log = run(session, oracle, wanted.questions, on_refit=every(wanted.score_every, note))
        while session.clustering.snapshot + 10 < wanted.epochs and not over(began, wanted.seconds):
            session.refit()
            every(wanted.score_every, note)(session, log.told)
        note(session, log.told)
    if wanted.json:
        result = {**vars(wanted), "curve": curve, **curve[-1]}
        Path(wanted.json).write_text(json.dumps(result, default=str, indent=1))


def every(n: int, note: Note) -> Note:
    """Score only at each n-th refit: scoring costs as much as a fifth of an epoch."""
    return lambda session, told: session.clustering.snapshot % n or note(session, told)


def in_one_go(session: Session, oracle: Truth, told: int, until: int) -> int:
    """Answer up to `until` questions with as few refits as the strategy allows."""
    while told < until:
        session.refit_every = session.ahead = until - told
        got = run(session, oracle, until - told).told
        told += got
        if told < until:  # the strategy had no more questions for this snapshot
            session.refit()
        if not got:
            break
    return told


def over(began: float, seconds: float | None) -> bool:
    return seconds is not None and time.monotonic() - began > seconds


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--set", default="cifar10-2", choices=("cifar10-2", "cifar100-4"))
    add("--orientation", default="personalized", choices=("default", "personalized"))
    add("--questions", type=int, default=10_000)
    add("--strategy", default="pcl", help="any of `samekind list`; pcl-reference is the program's")
    add("--profile", default="paper", choices=("paper", "fast"))
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--epochs", type=int, default=501, help="of the paper profile")
    add("--seconds", type=float, default=None, help="stop (paper) or plan (fast) by this time")
    add("--tune-from", type=int, default=2000, help="fast: answers from which all is trained")
    add("--items", type=int, default=None, help="only the first so many training pictures")
    add("--batch-size", type=int, default=None)
    add("--learning-rate", type=float, default=None, help="None: as published")
    add("--size", type=int, default=None, help="pixels a side")
    add("--backbone", default=None, choices=("resnet18", "resnet34"))
    add("--channels", type=int, default=64)
    add("--attention", default="auto", choices=("auto", "on", "off"))
    add("--compile", default="", choices=("", "plain", "tuned", "graphs"))
    add("--checkpoint", default=None)
    add("--score-every", type=int, default=10)
    add("--seed", type=int, default=0)
    add("--commit", default="", help="noted in the result")
    add("--json", default=None, help="file for the result")
    add("--verbose", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
