"""PCL on one page: the experiment of arXiv 2412.13690 on CIFAR10-2 and CIFAR100-4.

    python recipes/pcl.py --set cifar10-2 --orientation personalized --data FOLDER --profile fast

Pictures of the training part are asked about and trained on, those of the test part are scored
through ``predict``. ``paper`` asks one pair per batch and epoch from the eleventh epoch on, until
the questions are spent, and trains on to the last epoch; ``fast`` begins with self-supervised
training and asks in rounds. FOLDER holds the lossless pictures; see samekind/sources/cifar.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from arguments import Album, arguments, model_settings, over, rounds_until, write

from samekind.clusterers.deep.pcl import PCL
from samekind.evaluation import score
from samekind.session import Session
from samekind.simulation.loop import run, run_in_one_go
from samekind.simulation.people import Truth
from samekind.sources import open_cifar

SHOWN = ("questions", "refits", "seconds", "test_acc", "test_nmi", "test_ari", "train_acc")
Note = Callable[[Session, int], Any]


def main() -> None:
    wanted = arguments(__doc__ or "", questions=10_000, strategy="pcl", epochs=501)
    began = time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images, test = pile.images[: wanted.items], pile.held_out_images
    truth, test_truth = pile.labelled.truth(wanted.orientation)
    collection = pile.labelled.collection.take(range(len(images)))
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} + {len(test)} pictures", flush=True)
    fast = wanted.profile == "fast"
    first = min(10, wanted.epochs) if wanted.first_epochs is None else wanted.first_epochs
    model = PCL(
        n_clusters=pile.n_groups,
        first_epochs=None if fast else first,
        keep_views=wanted.strategy == "pcl-reference",
        **model_settings(wanted),
    )
    quota = wanted.per_epoch or max(1, len(images) // (wanted.batch_size or 128))
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
    album = Album(wanted, "pcl", {wanted.orientation: truth[: len(images)]})
    album.add(session, 0)
    oracle = Truth(truth)
    if fast:
        told = 0
        for until in rounds_until(wanted):
            told = run_in_one_go(session, oracle, told, until)
            note(session, told)
    else:
        log = run(session, oracle, wanted.questions, on_refit=every(wanted.score_every, note))
        while session.clustering.snapshot + first < wanted.epochs + 1:
            if over(began, wanted.seconds):
                break
            session.refit()
            every(wanted.score_every, note)(session, log.n_answers)
        note(session, log.n_answers)
    if wanted.save_features:
        session.model.save_features(wanted.save_features)
    album.add(session, int(curve[-1]["questions"]))
    album.save()
    write(wanted, "pcl", curve)


def every(n: int, note: Note) -> Note:
    """Score only at each n-th refit: scoring costs as much as a fifth of an epoch."""
    return lambda session, told: session.clustering.snapshot % n or note(session, told)


if __name__ == "__main__":
    main()
