"""OCC on one page: the experiment of arXiv 2211.00409 on CIFAR-10 and CIFAR-100.

    python recipes/occ.py --set cifar10-2 --orientation personalized --data FOLDER --epochs 100

As in the paper, training and test pictures are one pile of 60,000: they are asked about, trained
on and scored. Two pairs per batch and epoch are asked, from the second epoch on, until the
questions are spent. The published run has 1000 epochs at 224 x 224 pixels; ``--size`` and
``--epochs`` shorten it. FOLDER holds the lossless pictures; see samekind/sources/cifar.py.
"""

from __future__ import annotations

import time

from arguments import Album, arguments, model_settings, over, rounds_until, write

from samekind.clusterers.deep.occ import OCC
from samekind.evaluation import score
from samekind.session import Session
from samekind.simulation.loop import run, run_in_one_go
from samekind.simulation.people import Truth
from samekind.sources import open_cifar


def main() -> None:
    wanted = arguments(__doc__ or "", questions=50_000, strategy="csd", epochs=1000)
    began = time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images, collection, truth = pile.whole(wanted.orientation)
    images, truth = images[: wanted.items], truth[: wanted.items]
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} pictures", flush=True)
    fast = wanted.profile == "fast"
    model = OCC(
        n_clusters=pile.n_groups, first_epochs=wanted.first_epochs, **model_settings(wanted)
    )
    quota = wanted.per_epoch or 2 * max(1, len(images) // (wanted.batch_size or 256))
    session = Session(
        collection.take(range(len(images))),
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
    album = Album(wanted, "occ", {wanted.orientation: truth})
    album.add(session, 0)
    oracle = Truth(truth)
    if fast:
        told = 0
        for until in rounds_until(wanted):
            told = run_in_one_go(session, oracle, told, until)
            note(session, told)
    else:
        session.refit()  # the score compares two epochs: the first one asks nothing
        log = run(session, oracle, wanted.questions, on_refit=note)
        while session.clustering.snapshot + 1 < wanted.epochs and not over(began, wanted.seconds):
            session.refit()
            note(session, log.n_answers)
    if wanted.save_features:
        session.model.save_features(wanted.save_features)
    album.add(session, int(curve[-1]["questions"]))
    album.save()
    write(wanted, "occ", curve)


if __name__ == "__main__":
    main()
