"""IDC on one page: the experiment of NeurIPS 2024 on CIFAR-10 and CIFAR-20 (20 coarse classes).

    python recipes/idc.py --set cifar10 --data FOLDER --start features.safetensors --noise .05

As in the paper, training and test pictures are one pile of 60,000: they are asked about, trained
on and scored. 500 questions are chosen at once, the network is trained on the answers once, and all
items are scored before and after. The person looks at the item and at the exemplars shown, and at
nothing else; ``--person matched`` gives the published answers, which no person could give. Features
come from ``recipes/learn.py`` or from another recipe's ``--save-features``; without a ``--start``
they are learnt here (SimCLR). FOLDER holds the lossless pictures; see samekind/sources/cifar.py.
"""

from __future__ import annotations

import inspect
import time

import numpy as np
from arguments import Album, idc_arguments, idc_settings, person, write

from samekind.evaluation import score
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run_in_one_go
from samekind.sources import open_cifar


def main() -> None:
    wanted = idc_arguments(__doc__ or "")
    began = time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images, collection, truth = pile.whole(wanted.orientation)
    images, truth = images[: wanted.items], truth[: wanted.items]
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} pictures", flush=True)
    method = find("method", wanted.method)
    takes = list(inspect.signature(method).parameters)
    model = method(n_clusters=pile.n_groups, **idc_settings(wanted, takes))
    session = Session(
        collection.take(range(len(images))),
        images,
        clusterer=model,
        strategy=wanted.strategy,
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
    write(wanted, wanted.method, curve)


if __name__ == "__main__":
    main()
