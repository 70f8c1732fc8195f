"""Self-supervised features on one page: what there is to see in CIFAR-10 before any question.

    python recipes/learn.py --set cifar10 --data FOLDER --method simclr --epochs 150 --out FILE

As in IDC, training and test pictures are one pile of 60,000. Methods: simclr, byol, cc, tcl and
propos; the last three are told the number of groups. Groups are those of the method itself, and
those of k-means on the features. The file is what the other recipes take as ``--start``.

A long training in pieces, also on different machines: each run of

    python recipes/learn.py --method propos --epochs 800 --seconds 540 --score-every 100 \\
        --save-training run.safetensors --json run.json

stops by time and leaves compact parts (``run-1-of-4.safetensors`` and so on), from which the next
run goes on with the same cosine cycle and the same curve. With more epochs a training is prolonged,
projector included. ``--checkpoint`` is one large file from which a training goes on exactly, on the
same machine; ``--start`` begins a new training from the features of another.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from arguments import run_facts
from numpy.typing import NDArray
from torch.nn.functional import normalize

from samekind.compute import best_device
from samekind.evaluation import score
from samekind.simulation.provenance import commit
from samekind.sources import CIFAR_SETS, open_cifar
from samekind.training.checkpoints import checkpoint_exists
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.progress import Monitor, TrainingReport
from samekind.training.selflearn import METHODS, SelfLearner, SelfSetting
from samekind.training.selflearn_setting import GROUPING, SMALLEST_CROP

Floats = NDArray[np.float32]
Ints = NDArray[np.intp]
NEAREST = 20
"""Neighbours that vote in the nearest-neighbour accuracy."""


def main() -> None:
    wanted = arguments()
    began = time.monotonic()
    wanted.commit = wanted.commit or commit()
    pile = open_cifar(wanted.set, wanted.data)
    images, _, truth = pile.whole(wanted.orientation)
    images, truth = images[: wanted.items], truth[: wanted.items]
    groups = pile.n_groups if wanted.method in GROUPING else None
    print(f"{wanted.set}: {len(images)} pictures, {wanted.method}", flush=True)
    learner = SelfLearner(
        setting_of(wanted, groups),
        images,
        monitor=Monitor(report=shown, every=wanted.tell_every),
        checkpoint=wanted.checkpoint,
        start=wanted.start,
    )
    kept = wanted.save_training
    parts = wanted.resume or (kept if kept and checkpoint_exists(kept) else None)
    if parts and not learner.epochs_done:
        learner.resume(parts)
        print(f"goes on at epoch {learner.epochs_done:.2f} of {learner.planned}", flush=True)
    run = Run(wanted, learner, truth, pile.n_groups, began)
    run.train()
    run.finish()


def setting_of(wanted: argparse.Namespace, groups: int | None) -> SelfSetting:
    names = (
        "backbone", "channels", "size", "seed", "batch_size", "compile", "device",
        "learning_rate", "temperature", "weight_decay", "average", "rising", "crop", "resample",
    )  # fmt: skip
    return SelfSetting(wanted.method, groups, **{name: getattr(wanted, name) for name in names})


class Run:
    """One piece of a training: its curve and the files that it leaves.

    The curve and the pieces so far travel in the checkpoint.

    Parameters
    ----------
    wanted : the command line. truth, k : kinds of the items, only for scores. began : the moment
        from which ``--seconds`` count.
    """

    def __init__(
        self, wanted: argparse.Namespace, learner: SelfLearner, truth: Ints, k: int, began: float
    ) -> None:
        self.wanted, self.learner, self.truth, self.k = wanted, learner, truth, k
        self.began, self.first = began, learner.epochs_done
        self.curve: list[dict[str, float]] = list(learner.notes.get("curve", ()))
        self.pieces: list[dict[str, Any]] = list(learner.notes.get("pieces", ()))
        self.before = sum(piece["seconds"] for piece in self.pieces)
        self.spent = 0.0

    def train(self) -> None:
        """Train to the end or until the time is over, with scores at every n-th epoch."""
        wanted, learner = self.wanted, self.learner
        while learner.epochs_done < wanted.epochs and self._left() > 0:
            started = time.monotonic()
            until = self._next_score()
            learner.run(wanted.epochs, until=until, seconds=self._left())
            self.spent += time.monotonic() - started
            self._save()  # a score may fail, and hours are dear
            if learner.epochs_done >= until:
                self._note()

    def finish(self) -> None:
        """Score where it stopped, and write what the command line asked for."""
        wanted, learner = self.wanted, self.learner
        if not self.curve or self.curve[-1]["epochs"] != learner.epochs_done:
            self._note()
        if wanted.out:
            learner.save(wanted.out, compact=wanted.compact)
        if wanted.vectors:
            keep_vectors(wanted.vectors, learner.features())
        self._write()
        if learner.epochs_done < wanted.epochs:
            print(f"stopped at epoch {learner.epochs_done:.2f} of {wanted.epochs}", flush=True)

    def _left(self) -> float:
        seconds = self.wanted.seconds
        return np.inf if seconds is None else seconds - (time.monotonic() - self.began)

    def _next_score(self) -> float:
        """The epoch at which to score next: a multiple of ``--score-every``, or the last one."""
        every, epochs = self.wanted.score_every, self.wanted.epochs
        if not every:
            return float(epochs)
        return float(min(epochs, every * (np.floor(self.learner.epochs_done / every + 1e-9) + 1)))

    def _note(self) -> None:
        """Score the features and the groups; keep the row and print it."""
        wanted, learner = self.wanted, self.learner
        row: dict[str, float] = {
            "epochs": learner.epochs_done,
            "training_seconds": round(self.before + self.spent, 1),
            **scores(learner.features(), self.truth, self.k, wanted.seed, wanted.device),
        }
        own = learner.membership()
        if own is not None:
            row |= {f"own_{k}": v for k, v in score(self.truth, own.argmax(axis=1)).items()}
        self.curve.append(row)
        print({k: round(v, 4) for k, v in row.items()}, flush=True)
        self._save()
        self._write()

    def _save(self) -> None:
        """Write the compact parts, if they are wanted, with the curve and the pieces so far."""
        learner = self.learner
        learner.notes = {"curve": self.curve, "pieces": [*self.pieces, self._piece()]}
        learner.save_checkpoint()
        if self.wanted.save_training:
            learner.save_training(self.wanted.save_training)

    def _piece(self) -> dict[str, Any]:
        """Where and when this piece was trained."""
        facts, learner = run_facts(self.wanted), self.learner
        done = learner.epochs_done - self.first
        return {
            "from": self.first,
            "to": learner.epochs_done,
            "seconds": round(self.spent, 1),
            "items_per_second": round(len(self.truth) * done / self.spent) if self.spent else 0,
            **{name: facts[name] for name in ("command", "commit", "when", "machine")},
        }

    def _write(self) -> None:
        """The result as JSON, if a file was named."""
        if self.wanted.json:
            piece = self._piece()
            result = {
                **run_facts(self.wanted),
                **self.curve[-1],
                "epochs_planned": self.wanted.epochs,
                "seconds": round(time.monotonic() - self.began, 1),
                "minutes": round((self.before + self.spent) / 60, 1),
                "items_per_second": piece["items_per_second"],
                "curve": self.curve,
                "pieces": [*self.pieces, piece],
            }
            Path(self.wanted.json).write_text(json.dumps(result, default=str, indent=1))


def scores(h: Floats, truth: Ints, k: int, seed: int, device: str | None) -> dict[str, float]:
    """Groups of k-means, and how often the neighbours of an item are of its kind."""
    x = normalize(torch.from_numpy(h - h.mean(axis=0))).to(best_device(device).device)
    found = cosine_kmeans(x, k, seed=seed, n_init=10).labels.cpu().numpy()
    labels = torch.from_numpy(truth.astype(np.int64)).to(x.device)
    right = 0
    for part in torch.split(torch.arange(len(x), device=x.device), 4096):
        likeness = x[part] @ x.T
        likeness[torch.arange(len(part), device=x.device), part] = -1  # not itself
        near = labels[likeness.topk(min(NEAREST, len(x) - 1), dim=1).indices]
        right += int((near.mode(dim=1).values == labels[part]).sum())
    return {**score(truth, found), "nearest_acc": right / len(x)}


def keep_vectors(path: str, h: Floats, width: int = 128) -> None:
    """Principal components in 8 bits: small enough to take along, 1 % error."""
    x = h - h.mean(axis=0)
    _, turn = np.linalg.eigh(np.cov(x.T))
    x = x @ turn[:, ::-1][:, :width]
    scale = float(np.abs(x).max() / 127)
    np.savez_compressed(path, q=np.round(x / scale).astype(np.int8), scale=scale)


def shown(told: TrainingReport) -> None:
    print(f"epoch {told.epoch}", {k: round(v, 4) for k, v in told.parts.items()}, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--set", default="cifar10", choices=CIFAR_SETS)
    add("--orientation", default="default")
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--method", default="simclr", choices=METHODS)
    add("--epochs", type=float, default=150)
    add("--items", type=int, default=None, help="only the first so many pictures")
    add("--batch-size", type=int, default=512)
    add("--learning-rate", type=float, default=None)
    add("--weight-decay", type=float, default=None)
    add("--temperature", type=float, default=None)
    add("--crop", type=float, default=SMALLEST_CROP, help="smallest share of a picture in a view")
    add("--backbone", default="resnet18", choices=("resnet18", "resnet34"))
    add("--channels", type=int, default=64)
    add("--size", type=int, default=32)
    add("--compile", default="", choices=("", "record", "plain", "tuned", "graphs"))
    add("--device", default=None)
    add("--seed", type=int, default=0)
    add("--tell-every", type=int, default=1000, help="steps between two lines")
    add("--average", type=float, default=None, help="weight of the slow copy's past")
    add("--rising", action="store_true", help="let that weight rise to 1")
    add("--resample", action="store_true", help="propos: draw each of its groups equally often")
    add("--seconds", type=float, default=None, help="stop after so many, and save")
    add("--score-every", type=float, default=0, help="epochs between two scores; 0: at the end")
    add("--checkpoint", default=None, help="file to go on from exactly, and to write every minute")
    add("--save-training", default=None, help="compact checkpoint, in parts, to go on elsewhere")
    add("--resume", default=None, help="compact checkpoint to go on from, if not --save-training")
    add("--start", default=None, help="features to begin from: the --out of an earlier run")
    add("--out", default=None, help="file for the network: --start of the other recipes")
    add("--compact", action="store_true", help="write --out in 16 bits, in parts of 15 MB")
    add("--vectors", default=None, help=".npz file for 128 principal components of the features")
    add("--commit", default="", help="noted in the result; default: what is checked out")
    add("--json", default=None, help="file for the result")
    return parser.parse_args()


if __name__ == "__main__":
    main()
