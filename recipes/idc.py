"""IDC on one page: the experiment of NeurIPS 2024 on CIFAR-10 and CIFAR-20 (20 coarse classes).

    python recipes/idc.py --set cifar10 --data FOLDER --start features.safetensors --noise .05

As in the paper, training and test pictures are one pile of 60,000: they are asked about, trained
on and scored. 500 questions are chosen at once, the network is trained on the answers once, and all
items are scored before and after. The person looks at the item and at the exemplars shown, and at
nothing else; ``--person matched`` gives the published answers, which no person could give. Features
come from ``recipes/learn.py`` or from another recipe's ``--save-features``; without a ``--start``
they are learnt here (SimCLR). FOLDER holds the lossless pictures: samekind/sources/sets/cifar.py.
``--grid`` trains everything for a table or for Figure 4 in one command; see recipes/idc_grid.py.
"""

from __future__ import annotations

import argparse
import inspect
import time
from typing import Any

import numpy as np
from arguments import Album, idc_arguments, idc_settings, person, write
from idc_grid import Grid
from numpy.typing import NDArray

from samekind.evaluation import score
from samekind.items import Collection
from samekind.protocols import QueryStrategy
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run_in_one_go
from samekind.sources import open_cifar, open_set


def main() -> None:
    wanted = idc_arguments(__doc__ or "")
    began = time.monotonic()
    images, collection, truth, n_groups = opened(wanted)
    images, truth = images[: wanted.items], truth[: wanted.items]
    print(f"{wanted.vectors or wanted.set}, {wanted.orientation}: {len(images)} items", flush=True)
    method = find("method", wanted.method)
    takes = list(inspect.signature(method).parameters)
    settings = {"n_clusters": n_groups, **idc_settings(wanted, takes)}
    collection = collection.take(range(len(images)))
    if wanted.grid:
        varied = ("random_state", "profile", "losses")
        given = {name: value for name, value in settings.items() if name not in varied}
        Grid(wanted, given, images, collection, truth).execute()
        return
    session = Session(
        collection,
        images,
        clusterer=method(**settings),
        strategy=asking(wanted),
        seed=wanted.seed,
        refit_every=wanted.questions,
        ahead=wanted.questions,
        budget=wanted.questions,
    )
    album = Album(wanted, wanted.method, {wanted.orientation: truth})
    curve: list[dict[str, float]] = []

    def note(told: int) -> None:
        labels, asked = session.clustering.labels, session.constraints.touched
        rest = np.setdiff1d(np.arange(len(truth)), asked)  # not put right by the answers themselves
        row = {"questions": told, **score(truth, labels)}
        row |= {
            f"unasked_{name}": value for name, value in score(truth[rest], labels[rest]).items()
        }
        alone = getattr(session.model, "predicted_labels_", labels)
        row |= {f"network_{name}": value for name, value in score(truth, alone).items()}
        curve.append({**row, "seconds": round(time.monotonic() - began, 1)})
        print({name: round(value, 4) for name, value in curve[-1].items()}, flush=True)
        album.add(session, told)

    note(0)
    oracle = person(wanted, truth, session.clustering.labels)
    told = run_in_one_go(session, oracle, 0, wanted.questions)
    note(told)
    print(session.progress()["choices"], flush=True)
    if wanted.save_features:
        session.model.save_features(wanted.save_features)
    album.save()
    learner = getattr(session.model, "learner_name", wanted.method)
    write(wanted, wanted.method, curve, learner=learner)


def opened(wanted: argparse.Namespace) -> tuple[NDArray[Any], Collection, NDArray[np.intp], int]:
    """Pictures, or the vectors of a grid in small; items, kinds and the number of kinds."""
    if wanted.vectors:
        known: Any = open_set(wanted.vectors)
        kinds, truth = np.unique(known.orientations[wanted.orientation], return_inverse=True)
        return known.collection.matrix, known.collection, truth.astype(np.intp), len(kinds)
    pile = open_cifar(wanted.set, wanted.data)
    return *pile.whole(wanted.orientation), pile.n_groups


def asking(wanted: argparse.Namespace) -> QueryStrategy:
    """The strategy; those of IDC show as many groups as wanted."""
    strategy = find("strategy", wanted.strategy)
    offers = wanted.strategy.startswith("value")
    made: QueryStrategy = strategy(shown=wanted.offered) if offers else strategy()
    return made


if __name__ == "__main__":
    main()
