"""OCC on one page: the experiment of arXiv 2211.00409 on CIFAR-10 and CIFAR-100.

    python recipes/occ.py --set cifar10-2 --orientation personalized --data FOLDER --epochs 100

As in the paper, training and test pictures are one pile of 60,000: they are asked about, trained
on and scored. Two pairs per batch and epoch are asked, from the second epoch on, until the
questions are spent. The published run has 1000 epochs at 224 x 224 pixels; ``--size`` and
``--epochs`` shorten it. FOLDER holds the lossless pictures; see samekind/sources/cifar.py.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from samekind.clusterers.occ import OCC
from samekind.evaluation import score
from samekind.items import Collection
from samekind.oracles import Truth
from samekind.session import Session
from samekind.simulate import run
from samekind.sources.cifar import open_cifar

ROUNDS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Answers after which the fast profile learns again."""


def main() -> None:
    wanted = arguments()
    began = time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images = np.concatenate([pile.images, pile.held_out_images])[: wanted.items]
    truth = np.concatenate(pile.labelled.truth(wanted.orientation))[: wanted.items]
    items = [*pile.labelled.collection, *(pile.labelled.held_out or ())][: wanted.items]
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} pictures", flush=True)
    fast = wanted.profile == "fast"
    model = OCC(
        n_clusters=pile.n_groups,
        profile=wanted.profile,
        epochs=None if fast else 1,
        horizon=wanted.epochs,
        seconds=wanted.seconds * 0.4 if fast and wanted.seconds else None,
        tune_seconds=wanted.seconds * 0.45 if fast and wanted.seconds else None,
        tune_from=min(wanted.tune_from, wanted.questions),
        batch_size=wanted.batch_size,
        learning_rate=wanted.learning_rate,
        size=wanted.size,
        stem=wanted.stem,
        backbone=wanted.backbone,
        channels=wanted.channels,
        extension=wanted.extension,
        compile=wanted.compile,
        checkpoint=wanted.checkpoint,
        verbose=wanted.verbose,
    )
    quota = 2 * max(1, len(images) // (wanted.batch_size or 256))
    session = Session(
        Collection(wanted.set, items),
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
        row = {**score(truth, session.clustering.labels), "questions": told}
        row |= {
            "refits": session.clustering.snapshot,
            "seconds": round(time.monotonic() - began, 1),
        }
        curve.append(row)
        print({name: round(value, 4) for name, value in row.items()}, flush=True)

    note(session, 0)
    oracle = Truth(truth)
    if fast:
        told = 0
        for until in (*(r for r in ROUNDS if r < wanted.questions), wanted.questions):
            told = in_one_go(session, oracle, told, until)
            note(session, told)
    else:
        session.refit()  # the score compares two epochs: the first one asks nothing
        log = run(session, oracle, wanted.questions, on_refit=note)
        while session.clustering.snapshot + 1 < wanted.epochs and not over(began, wanted.seconds):
            session.refit()
            note(session, log.told)
    if wanted.json:
        result = {**vars(wanted), "curve": curve, **curve[-1]}
        Path(wanted.json).write_text(json.dumps(result, default=str, indent=1))


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
    add("--questions", type=int, default=50_000)
    add("--strategy", default="csd", help="any of `samekind list`; entropy is the comparison")
    add("--profile", default="paper", choices=("paper", "fast"))
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--epochs", type=int, default=1000, help="of the paper profile")
    add("--seconds", type=float, default=None, help="stop (paper) or plan (fast) by this time")
    add("--tune-from", type=int, default=2000, help="fast: answers from which all is trained")
    add("--items", type=int, default=None, help="only the first so many pictures")
    add("--batch-size", type=int, default=None)
    add("--learning-rate", type=float, default=None, help="None: as published")
    add("--size", type=int, default=None, help="pixels a side")
    add("--stem", default=None, choices=("7x7", "3x3"))
    add("--backbone", default=None, choices=("resnet18", "resnet34"))
    add("--channels", type=int, default=64)
    add("--extension", type=float, default=None, help="last part of the epochs with guessed links")
    add("--compile", default="", choices=("", "plain", "tuned", "graphs"))
    add("--checkpoint", default=None)
    add("--seed", type=int, default=0)
    add("--commit", default="", help="noted in the result")
    add("--json", default=None, help="file for the result")
    add("--verbose", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
