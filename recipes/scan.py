"""SCAN on CIFAR-10 on one page, as published: 500 + 50 + 200 epochs, scored on the test pictures.

    python recipes/learn.py --set cifar10 --data FOLDER --items 50000 --method simclr \\
        --epochs 500 --learning-rate .4 --temperature .1 --weight-decay 1e-4 --crop .2 \\
        --checkpoint features.safetensors --seconds 540
    python recipes/scan.py --data FOLDER --features features.safetensors \\
        --checkpoint scan.safetensors --seconds 540 --json scan.json

The first command learns features of the 50,000 training pictures; repeat it until its 500 epochs
are done. The second one learns groups from neighbours and then from labels of its own; repeat it
until it says that it is done. Labels are used for scores alone. As in the program, the epoch that
the last stage begins from is chosen by its loss on the test pictures, without their labels; its row
is marked ``chosen``. Published are .816 after the neighbours and .883 after the labels.
``--checkpoint`` goes on exactly, on one machine; ``--save-training`` leaves compact parts that the
next run, anywhere, goes on from.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from arguments import over, run_facts
from numpy.typing import NDArray

from samekind.clusterers.deep.scan_network import load_scan_network
from samekind.clusterers.deep.scan_training import ScanSetting, ScanTraining
from samekind.evaluation import score
from samekind.sources import CIFAR_SETS, open_cifar
from samekind.training.checkpoints import checkpoint_exists
from samekind.training.progress import Monitor, TrainingReport

Ints = NDArray[np.intp]
Bytes = NDArray[np.uint8]
SAVE_SECONDS = 120
"""Time between two checkpoints."""


def main() -> None:
    wanted, began = arguments(), time.monotonic()
    pile = open_cifar(wanted.set, wanted.data)
    images, test = pile.images[: wanted.items], pile.held_out_images
    truth = pile.labelled.truth("default")[1]
    assert truth is not None
    network, projected, size = load_scan_network(wanted.features, pile.n_groups, seed=wanted.seed)
    by = "projections" if projected else "features"
    print(f"{wanted.set}: {len(images)} + {len(test)} pictures, neighbours by {by}", flush=True)
    setting = ScanSetting(
        neighbours=wanted.neighbours,
        entropy=wanted.entropy,
        learning_rate=wanted.learning_rate,
        batch_sizes=tuple(wanted.batch_sizes),
        size=size,
        seed=wanted.seed,
        device=wanted.device,
        compile=wanted.compile,
    )
    exact = wanted.checkpoint and checkpoint_exists(wanted.checkpoint)
    training = ScanTraining(
        setting,
        network,
        images,
        projected=projected,
        watched=test,
        monitor=Monitor(report=shown, every=wanted.tell_every),
        checkpoint=wanted.checkpoint if exact else wanted.save_training or wanted.checkpoint,
    )
    training.checkpoint = wanted.checkpoint
    run = Run(wanted, training, test, truth, began)
    run.learn()
    run.finish()


class Run:
    """Both stages, as far as the time allows, with a curve that earlier runs have begun."""

    def __init__(
        self,
        wanted: argparse.Namespace,
        training: ScanTraining,
        test: Bytes,
        truth: Ints,
        began: float,
    ) -> None:
        self.wanted, self.training, self.test, self.truth = wanted, training, test, truth
        self.began, self.saved, self.trained = began, time.monotonic(), False
        self.earlier = float(training.notes.get("seconds", 0.0))
        self.curve: list[dict[str, Any]] = list(training.notes.get("curve", ()))

    def learn(self) -> None:
        """Train and score until both stages are done, or the time is over."""
        wanted, training = self.wanted, self.training
        first, last = wanted.epochs
        while training.stage == "neighbours" and not self._over():
            if training.epochs_done >= first:
                training.begin_labels()
                self.note(chosen=True)
                break
            self._one_epoch(first)
            loss = training.keep_if_lowest()
            if self._due(first):
                self.note(loss=round(loss, 4))
        while training.stage == "labels" and training.epochs_done < last and not self._over():
            self._one_epoch(last)
            if self._due(last):
                self.note()

    @property
    def done(self) -> bool:
        return (
            self.training.stage == "labels" and self.training.epochs_done >= self.wanted.epochs[1]
        )

    def note(self, **more: Any) -> None:
        """Score the test pictures; keep the row and print it."""
        training = self.training
        p = training.membership(self.test)
        row: dict[str, Any] = {"stage": training.stage, "epochs": round(training.epochs_done, 2)}
        row |= {
            f"test_{name}": value for name, value in score(self.truth, p.argmax(axis=1)).items()
        }
        row |= {
            "groups": len(np.unique(p.argmax(axis=1))),
            "sure": float((p.max(axis=1) > training.setting.sure).mean()),
            "seconds": self._seconds(),
            **more,
        }
        self.curve.append(row)
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True)
        self._write()
        if time.monotonic() - self.saved > SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write the checkpoints, with the curve so far."""
        self.training.notes = {"curve": self.curve, "seconds": self._seconds()}
        self.training.save(compact=self.wanted.save_training)
        self.saved = time.monotonic()

    def finish(self) -> None:
        """Write what the command line asked for, and say what is left to do."""
        if not self.curve or self.curve[-1]["epochs"] != round(self.training.epochs_done, 2):
            self.note()
        self.save()
        self._write()
        left = "done" if self.done else f"stopped in stage {self.training.stage!r}, run it again"
        print(left, flush=True)

    def _one_epoch(self, last: float) -> None:
        self.training.run(min(last, self.training.epochs_done + 1))
        self.trained = True

    def _due(self, last: float) -> bool:
        done, every = self.training.epochs_done, self.wanted.score_every
        return done >= last or round(done) % every == 0

    def _over(self) -> bool:
        return self.trained and over(self.began, self.wanted.seconds)

    def _seconds(self) -> float:
        return round(self.earlier + time.monotonic() - self.began, 1)

    def _write(self) -> None:
        if self.wanted.json:
            done = {"method": "scan", "learner": "SCAN", "done": self.done}
            result = {**run_facts(self.wanted), **done, "curve": self.curve, **self.curve[-1]}
            result["epochs_planned"] = self.wanted.epochs
            Path(self.wanted.json).write_text(json.dumps(result, default=str, indent=1))


def shown(report: TrainingReport) -> None:
    print(f"step {report.step}", {k: round(v, 4) for k, v in report.parts.items()}, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--set", default="cifar10", choices=[name for name in CIFAR_SETS if "-" not in name])
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--features", required=True, help="--checkpoint, --save-training or --out of learn.py")
    add("--epochs", type=float, nargs=2, default=(50.0, 200.0), help="of the two stages")
    add("--batch-sizes", type=int, nargs=2, default=(128, 1000), help="of the two stages")
    add("--neighbours", type=int, default=20)
    add("--entropy", type=float, default=5.0, help="weight of the sizes of the groups")
    add("--learning-rate", type=float, default=1e-4)
    add("--items", type=int, default=None, help="only the first so many training pictures")
    add("--seconds", type=float, default=None, help="stop after this time")
    add("--score-every", type=int, default=5, help="epochs between two scores")
    add("--compile", default="", choices=("", "record", "plain", "tuned", "graphs"))
    add("--device", default=None)
    add("--seed", type=int, default=0)
    add("--tell-every", type=int, default=1000, help="steps between two lines")
    add("--checkpoint", default=None, help="file to go on from exactly")
    add("--save-training", default=None, help="compact checkpoint, in parts, to go on elsewhere")
    add("--commit", default="", help="noted in the result")
    add("--json", default=None, help="file for the result")
    return parser.parse_args()


if __name__ == "__main__":
    main()
