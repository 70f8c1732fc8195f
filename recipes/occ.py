"""OCC on one page: the experiment of arXiv 2211.00409 on CIFAR-10 and CIFAR-100.

    python recipes/occ.py --set cifar10-2 --orientation personalized --data FOLDER --epochs 100

As in the paper, training and test pictures are one pile of 60,000: they are asked about, trained
on and scored. Our groups honour every answer; ``network_acc`` is that of the network alone, as the
paper scores. Two pairs per batch and epoch are asked, from the third epoch on, until the questions
are spent: the score compares two epochs. The published run has 1000 epochs at 224 x 224 pixels;
``--size`` and ``--epochs`` shorten it, and the weight of answers falls to zero at the last epoch.
``--strategy random --first-epochs 0 --per-epoch 50000`` asks everything before the first epoch,
because later answers hardly change what was learnt without any. ``--mean pairs`` mends that
by a change of ours to the loss (docs/explanation/theory.md).
In the second half of ``paper`` links are guessed, between the most certain items, whose share
grows; ``--extension .5 --certain .9999`` guesses by the rule of PCL's program.
FOLDER holds the lossless pictures; see samekind/sources/sets/cifar.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from arguments import arguments, model_settings
from experiment import Experiment

from samekind.clusterers.deep.occ import OCC
from samekind.evaluation import score
from samekind.session import Session
from samekind.sources import open_cifar


def main() -> None:
    means = ("rows", "pairs")
    wanted = arguments(__doc__ or "", questions=50_000, strategy="csd", epochs=1000, means=means)
    pile = open_cifar(wanted.set, wanted.data)
    images, collection, truth = pile.whole(wanted.orientation)
    images, truth = images[: wanted.items], truth[: wanted.items]
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} pictures", flush=True)
    settings = model_settings(wanted) | {"first_epochs": wanted.first_epochs}
    model = OCC(n_clusters=pile.n_groups, mean=wanted.mean, **settings)

    def scores(session: Session) -> Mapping[str, float]:
        alone = score(truth, session.model.predicted_labels_)
        found = score(truth, session.clustering.labels)
        return found | {f"network_{name}": value for name, value in alone.items()}

    quota = wanted.per_epoch or 2 * max(1, len(images) // (wanted.batch_size or 256))
    collection = collection.take(range(len(images)))
    experiment = Experiment(wanted, model, collection, images, truth, scores, quota=quota)
    if wanted.profile == "paper":
        if not experiment.session.answers and wanted.strategy == "csd":
            experiment.session.refit()  # the score compares two epochs
        experiment.by_epochs()
    else:
        experiment.by_rounds()
    experiment.finish()


if __name__ == "__main__":
    main()
