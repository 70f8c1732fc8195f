"""PCL on one page: the experiment of arXiv 2412.13690 on CIFAR10-2 and CIFAR100-4.

    python recipes/pcl.py --set cifar10-2 --orientation personalized --data FOLDER

Pictures of the training part are asked about and trained on, those of the test part are scored
through ``predict``. ``paper`` asks one pair per batch and epoch from the eleventh epoch on, until
the questions are spent, and trains on to the last epoch. ``repaired`` (ours) and ``fast`` (SimCLR,
a head and FixMatch: not PCL's loss) begin with self-supervised training and ask in rounds.
``--random-first`` asks about random pairs first (Q1 of Algorithm 1), and ``--extension .5 --certain
.9999`` guesses links by the rule of the published program, which does neither by default. FOLDER
holds the lossless pictures; see samekind/sources/sets/cifar.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from arguments import arguments, model_settings
from experiment import Experiment

from samekind.clusterers.deep.pcl import PCL
from samekind.evaluation import score
from samekind.session import Session
from samekind.sources import open_cifar


def main() -> None:
    wanted = arguments(__doc__ or "", questions=10_000, strategy="pcl", epochs=501)
    pile = open_cifar(wanted.set, wanted.data)
    images, test = pile.images[: wanted.items], pile.held_out_images
    truth, test_truth = pile.labelled.truth(wanted.orientation)
    truth = truth[: len(images)]
    print(f"{wanted.set}, {wanted.orientation}: {len(images)} + {len(test)} pictures", flush=True)
    first = min(10, wanted.epochs) if wanted.first_epochs is None else wanted.first_epochs
    model = PCL(
        n_clusters=pile.n_groups,
        first_epochs=first if wanted.profile == "paper" else wanted.first_epochs,
        keep_views=wanted.strategy == "pcl-reference",
        **model_settings(wanted),
    )

    def scores(session: Session) -> Mapping[str, float]:
        unseen, seen = session.predict(test), session.clustering.labels
        found = {f"test_{name}": value for name, value in score(test_truth, unseen).items()}
        return found | {f"train_{name}": value for name, value in score(truth, seen).items()}

    quota = wanted.per_epoch or max(1, len(images) // (wanted.batch_size or 128))
    collection = pile.labelled.collection.take(range(len(images)))
    experiment = Experiment(wanted, model, collection, images, truth, scores, quota=quota)
    if wanted.profile == "paper":
        experiment.by_epochs()
    else:
        experiment.by_rounds()
    experiment.finish()


if __name__ == "__main__":
    main()
