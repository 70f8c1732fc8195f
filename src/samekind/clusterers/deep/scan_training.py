"""SCAN's second and third stage, epoch by epoch: groups from neighbours, then from own labels.

:class:`ScanTraining` trains as the published program does. The estimator
:class:`~samekind.clusterers.deep.scan.SCAN` uses it for its profile ``program``; a recipe uses it
directly, to score between epochs and to go on from a checkpoint.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.deep.scan_losses import NeighbourLoss, SelfLabelLoss
from samekind.clusterers.deep.scan_network import ScanNetwork, tensors_of
from samekind.compute import COMPILE_MODES, best_device
from samekind.errors import InputError
from samekind.neighbours import nearest_by_cosine
from samekind.objectives.scan import NeighbourAgreement
from samekind.training.augment import Family
from samekind.training.checkpoints import (
    Checkpoint,
    checkpoint_exists,
    load_checkpoint,
    save_checkpoint,
)
from samekind.training.compact import save_compact
from samekind.training.loop import Plan, SchedulePoint, Trainer
from samekind.training.progress import Monitor
from samekind.training.selflearn_file import read
from samekind.training.strong import StrongFamily, StrongOnly

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Stage = Literal["neighbours", "labels"]
CUTOUT = 0.5
"""Largest side of the hole in strong views: 16 of 32 pixels, as in SCAN."""
HOLE_LEVEL = 0.47
"""Level of the hole: the mean of CIFAR-10, which is 0 in the normalised pictures of the program."""
WATCHED_NEIGHBOURS = 5
"""Neighbours of each watched picture over which the loss of an epoch is compared, as published."""
KIND = "SCAN training"


class NeighbourTrainer(Trainer):
    """A :class:`Trainer` that appends one random neighbour of each item to a batch.

    Once `table` is set, views get 2B items, a batch and then its neighbours, and make one view of
    each. Set it before the first step of a stage.
    """

    table: Tensor | None = None
    """(n, k) neighbours of each item; None: batches as usual."""

    def _mine(self, items: Tensor) -> Tensor:
        mine = super()._mine(items)
        if self.table is None:
            return mine
        # Drawn on the device: a recorded step draws again each time.
        column = torch.randint(
            self.table.shape[1], mine.shape, generator=self._chance, device=self.device
        )
        return torch.cat([mine, self.table[mine, column]])


@dataclass(frozen=True)
class ScanSetting:
    """Settings of both stages; the defaults are those of the program for CIFAR-10.

    Parameters
    ----------
    neighbours : of each item, itself not counted.
    entropy : weight of the entropy of the sizes in the second stage.
    sure : membership above which an item teaches in the third stage.
    learning_rate, weight_decay : of Adam, constant, in both stages; the decay is added to the
        gradient.
    batch_sizes : of the second and the third stage.
    size : side of the pictures that the network takes.
    seed, device, compile : as in :class:`~samekind.training.selflearn_setting.SelfSetting`.
    """

    neighbours: int = 20
    entropy: float = 5.0
    sure: float = 0.99
    learning_rate: float = 1e-4
    weight_decay: float = 1e-4
    batch_sizes: tuple[int, int] = (128, 1000)
    size: int = 32
    seed: int = 0
    device: str | None = None
    compile: str = ""

    @property
    def identity(self) -> dict[str, Any]:
        """Facts in which a checkpoint must agree: all but the device and the mode of compiling."""
        facts = {**asdict(self), "batch_sizes": list(self.batch_sizes)}
        return {name: facts[name] for name in facts if name not in ("device", "compile")}


class ScanTraining:
    """Trains the groups of SCAN on pictures, from features that were learnt before.

    As published: the item itself is one of its neighbours; items and neighbours, and plain and
    strong views, pass the batch norms one after the other; the third stage begins from the epoch
    of the second whose loss on the watched pictures, by their own five neighbours and with the
    entropy weighed once, is the lowest.

    Parameters
    ----------
    network : with a trained backbone, and a trained projector where `projected`.
    images : (n, 3, height, width) the training pictures.
    projected : look for neighbours by projections, as published; False: by features.
    watched : pictures without labels by which the epoch is chosen (published: the test pictures);
        None: the last epoch is taken.
    checkpoint : file to go on from, if it is there, and that :meth:`save` writes.
    """

    def __init__(
        self,
        setting: ScanSetting,
        network: ScanNetwork,
        images: Bytes,
        *,
        projected: bool = True,
        watched: Bytes | None = None,
        monitor: Monitor | None = None,
        checkpoint: str | None = None,
    ) -> None:
        if not 1 <= setting.neighbours < len(images):
            raise InputError(
                f"Expected 1 to {len(images) - 1} neighbours among {len(images)} pictures, got "
                f"{setting.neighbours}. Give fewer neighbours, or more pictures."
            )
        self.setting, self.network, self.checkpoint = setting, network, checkpoint
        self.stage: Stage = "neighbours"
        self.lowest = math.inf
        """Lowest loss on the watched pictures after an epoch of the second stage."""
        self.notes: dict[str, Any] = {}
        """Plain JSON of the caller that goes into the checkpoint, such as a curve."""
        self._best: dict[str, Tensor] = {}
        self._images, self._watched, self._monitor = images, watched, monitor
        self._compute = best_device(setting.device)
        network.to(self._compute.device).instance.requires_grad_(False)
        found = None
        if checkpoint is not None and checkpoint_exists(checkpoint):
            found = load_checkpoint(checkpoint, expected=self._facts())
        self._tables = self._looked_up(projected) if found is None else _tables_of(found)
        if found is not None:
            self.stage, self.lowest = found.facts["stage"], float(found.facts["lowest"])
            self._best, self.notes = tensors_of(found, "best."), found.facts.get("notes", {})
        self.trainer = self._trainer()
        if found is not None:
            self.trainer.load(found)

    @property
    def epochs_done(self) -> float:
        """Epochs of the present stage."""
        return self.trainer.step / self.trainer.batches.steps

    def run(self, epochs: float) -> None:
        """Train until so many epochs of the present stage are done."""
        trainer = self.trainer
        per_epoch = trainer.batches.steps
        last = round(epochs * per_epoch)
        trainer.run_until(last, lambda step: SchedulePoint(step / per_epoch, epochs))

    def keep_if_lowest(self) -> float:
        """Compute the loss on the watched pictures; keep the weights if it is the lowest so far."""
        if self._watched is None:
            raise InputError("Expected watched pictures to compare epochs by, got none.")
        p = torch.from_numpy(self.membership(self._watched))
        table = self._tables["watched"].cpu().long()  # (n, 1 + k)
        pairs = torch.cat([p.repeat_interleave(table.shape[1], dim=0), p[table.flatten()]])
        loss = float(NeighbourAgreement(weight=1.0)(pairs))
        if loss < self.lowest:
            self.lowest = loss
            self._best = {name: t.clone() for name, t in self.network.state_dict().items()}
        return loss

    def begin_labels(self) -> None:
        """Begin the third stage, from the epoch of the lowest loss if there is one."""
        if self.stage == "labels":
            raise InputError("Expected the stage 'neighbours', got 'labels': it has begun already.")
        if self._best:
            self.network.load_state_dict(self._best)
        self.stage, self._best = "labels", {}
        self.trainer = self._trainer()

    def membership(self, images: Bytes | Tensor) -> Floats:
        """Shares (n, k) of pictures in the groups, each by itself."""
        network, k = self.network, self.network.k
        run = lambda rows: network.cluster(network.backbone(rows))  # noqa: E731
        found: Floats = self._read(images, run, k).cpu().numpy()
        return found

    def save(self, *, compact: str | None = None) -> None:
        """Write the checkpoint, if there is a name for it, and a compact one to carry along."""
        tensors, facts = self.trainer.state()
        tensors = tensors | {f"best.{name}": t for name, t in self._best.items()}
        tensors |= {f"table.{name}": t.int() for name, t in self._tables.items()}
        facts |= {**self._facts(), "stage": self.stage, "lowest": self.lowest, "notes": self.notes}
        if self.checkpoint is not None:
            save_checkpoint(self.checkpoint, Checkpoint(tensors, facts))
        if compact is not None:
            save_compact(compact, Checkpoint(tensors, facts))

    def _trainer(self) -> NeighbourTrainer:
        """A fresh trainer for the present stage."""
        setting, labels = self.setting, self.stage == "labels"
        self.network.passes = "teaching" if labels else "separate"
        plan = Plan(
            batch_size=setting.batch_sizes[labels],
            learning_rate=setting.learning_rate,
            weight_decay=setting.weight_decay,
            optimiser="adam-l2",
            clip=None,
            linked_share=0.0,
            seed=setting.seed + labels,
            compile=setting.compile,  # type: ignore[arg-type]
        )
        loss = (
            SelfLabelLoss(sure=setting.sure) if labels else NeighbourLoss(entropy=setting.entropy)
        )
        family = Family(setting.size)
        dtype = torch.bfloat16 if self._compute.dtype == "bfloat16" else torch.float32
        strong, compiled = (
            StrongFamily(setting.size, cutout=CUTOUT, hole_level=HOLE_LEVEL),
            setting.compile in COMPILE_MODES,
        )
        views = StrongOnly(family, strong, mild=labels, dtype=dtype, compiled=compiled)
        trainer = NeighbourTrainer(
            self.network, loss, _tensor(self._images), views, plan,
            compute=self._compute, monitor=self._monitor,
        )  # fmt: skip
        trainer.table = None if labels else self._tables["items"].to(trainer.device).long()
        return trainer

    def _looked_up(self, projected: bool) -> dict[str, Tensor]:
        """Look up neighbours, the item itself first: of all items, and of watched pictures."""
        network = self.network
        out = network.instance.layers[-1].out_features if projected else network.width
        assert isinstance(out, int)
        run = (lambda rows: network.instance(network.backbone(rows))) if projected else (
            network.backbone
        )  # fmt: skip
        wanted = {"items": (self._images, self.setting.neighbours)}
        if self._watched is not None:
            wanted["watched"] = self._watched, min(WATCHED_NEIGHBOURS, len(self._watched) - 1)
        found = {}
        for name, (images, k) in wanted.items():
            near = nearest_by_cosine(self._read(images, run, out), k)
            own = torch.arange(len(images), device=near.device)[:, None]
            found[name] = torch.cat([own, near], dim=1)
        return found

    def _read(self, images: Bytes | Tensor, run: Callable[[Tensor], Tensor], out: int) -> Tensor:
        return read(images, run, out, [self.network], self.setting.size, self._compute)

    def _facts(self) -> dict[str, Any]:
        """Facts in which a checkpoint must agree."""
        some = np.ascontiguousarray(self._images[:: max(1, len(self._images) // 1000)])
        digest = f"{len(self._images)} {hashlib.sha256(some.tobytes()).hexdigest()[:16]}"
        groups = {
            "groups": self.network.k,
            "watched": 0 if self._watched is None else len(self._watched),
        }
        return {"kind": KIND, "items": digest, "setting": self.setting.identity, **groups}


def _tables_of(checkpoint: Checkpoint) -> dict[str, Tensor]:
    return {name: table.long() for name, table in tensors_of(checkpoint, "table.").items()}


def _tensor(images: Bytes) -> Tensor:
    return torch.from_numpy(
        np.ascontiguousarray(images if images.flags.writeable else images.copy())
    )
