"""SelfLearner: learn features, and groups where the method has them, without any answer.

>>> import numpy as np
>>> from samekind.training.selflearn import SelfLearner, SelfSetting
>>> pictures = np.random.default_rng(0).integers(0, 256, (8, 3, 8, 8), dtype=np.uint8)
>>> setting = SelfSetting("simclr", channels=2, size=8, batch_size=4, device="cpu")
>>> learner = SelfLearner(setting, pictures)
>>> learner.run(1)
>>> learner.epochs_done, learner.features().shape
(1.0, (8, 16))
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.compute import Recorded, best_device, fits_on
from samekind.errors import InputError
from samekind.training.backbone_file import load_backbone
from samekind.training.batches import BalancedBatches, LinkedBatches
from samekind.training.checkpoints import (
    Checkpoint,
    checkpoint_exists,
    load_checkpoint,
    save_checkpoint,
)
from samekind.training.compact import save_compact
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.distributed import World
from samekind.training.loop import SchedulePoint, Trainer
from samekind.training.momentum import Momentum
from samekind.training.progress import Cancelled, Monitor
from samekind.training.selflearn_file import LearntNetwork, facts_of, read
from samekind.training.selflearn_methods import method_of
from samekind.training.selflearn_parts import (
    PATIENCE,
    Timing,
    check_pictures,
    clocked,
    copied,
    digest_of,
    over,
)
from samekind.training.selflearn_setting import METHODS, SelfSetting, average_over
from samekind.training.steps import mixed_seed

__all__ = ["METHODS", "LearntNetwork", "SelfLearner", "SelfSetting"]

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
KIND = "self-supervised training"
SAVE_SECONDS = 60.0
"""Training time between two checkpoints."""
TOGETHER = 3
"""Steps that are timed where several processes train together."""
PIECE = 50
"""Steps between two looks at the clock."""
RISE_STEPS, RISE_SHARE = 200, 0.02
"""An optimiser that begins anew in the middle of a training finds a rate that rises over so many
steps, at most this share of them all."""


class SelfLearner:
    """Trains a network on pictures alone; see :class:`SelfSetting` for the methods.

    Parameters
    ----------
    setting : what to train, and how.
    data : (n, 3, height, width) all pictures. They may be in a mapped file; if they do not fit on
        the device, only batches of them are moved there.
    monitor : who is told, and who may stop it.
    checkpoint : file to go on from, if it is there, and to write to: every minute, when training
        is stopped, and at the end. For a training that moves to another machine there are
        :meth:`save_training` and :meth:`resume`.
    start : file of :meth:`save` whose features are where a new training begins: another method, or
        the same one for longer. A checkpoint that is there goes before.
    """

    def __init__(
        self,
        setting: SelfSetting,
        data: Bytes,
        *,
        monitor: Monitor | None = None,
        checkpoint: str | None = None,
        start: str | None = None,
    ) -> None:
        check_pictures(data, setting)
        self.setting, self.checkpoint = setting, checkpoint
        self.planned: float | None = None
        """Epochs of the training that the checkpoint belongs to; None: nothing was planned yet."""
        self.notes: dict[str, Any] = {}
        """Kept in checkpoints: what the caller wants to find again, as plain JSON."""
        self._digest = digest_of(data)
        compute = best_device(setting.device)
        self._method = method_of(setting, len(data), compute)
        if start is not None:
            facts = {name: getattr(setting, name) for name in ("backbone", "stem", "channels")}
            own: Any = self._method.network
            load_backbone(start, facts, own.backbone, self._method.backbone)
        tensor = torch.from_numpy(
            np.ascontiguousarray(data if data.flags.writeable else data.copy())
        )
        network: Any = self._method.network
        self._trainer = Trainer(
            network,
            self._method.loss,
            tensor,
            self._method.views,
            setting.plan(len(data)),
            compute=compute,
            monitor=monitor,
            stays=not fits_on(compute.device, data.nbytes),
        )
        for part in (self._method.loss, self._method.last):
            if part is not None:
                part.to(self._trainer.device)
        self._labelled = -1  # the beginning of the piece for which labels were made last
        self._learnt: tuple[int, LearntNetwork] | None = None
        self._saved = time.monotonic()
        if checkpoint is not None and checkpoint_exists(checkpoint):
            self.resume(checkpoint)
        self._check_together()

    @property
    def world(self) -> World:
        """The processes that train together."""
        return self._trainer.world

    @property
    def epochs_done(self) -> float:
        """Epochs trained so far, those before a resumption included."""
        return self._trainer.step / self._trainer.batches.steps

    @property
    def reason(self) -> str:
        """Where it is trained, and why there, in words for a person."""
        return self._trainer.compute.reason

    def run(
        self, epochs: float, *, until: float | None = None, seconds: float | None = None
    ) -> None:
        """Train until `epochs` are done in all, those before a resumption included.

        Schedules run over all of them. With the same number, a training that was stopped and taken
        up goes on as if nothing had happened; with a larger one it is prolonged, and the rate rises
        again to where the longer schedule has it. The whole network goes on, with the parts that
        only training needs.

        Parameters
        ----------
        epochs : of the whole training.
        until : stop here, in the middle of the schedules, and go on with the next call.
        seconds : stop after about so many; `epochs_done` then counts the epochs so far.
        """
        if not epochs > 0:
            raise InputError(f"Expected more than 0 epochs of training, got {epochs}.")
        trainer = self._trainer
        per_epoch = trainer.batches.steps
        last = max(1, round(epochs * per_epoch))
        end = last if until is None else min(last, round(until * per_epoch))
        self.planned, self._saved = epochs, time.monotonic()
        self._plan_for(epochs)
        begun, started = trainer.step, time.monotonic()
        try:
            while trainer.step < end and not over(started, seconds):
                trainer.run_until(min(end, self._prepared(last)), self._moments(last))
                if time.monotonic() - self._saved > SAVE_SECONDS and trainer.step < end:
                    self.save_checkpoint()
        except Cancelled:
            self.save_checkpoint()
            raise
        if trainer.step > begun:
            self.save_checkpoint()

    def seconds_per_epoch(self) -> float:
        """How long an epoch takes here, measured over some steps, which are undone afterwards."""
        step, labels = self.timing()
        return step * self._trainer.batches.steps + labels * (1 - self._method.starts)

    def timing(self) -> Timing:
        """Measure a step and a labelling of all items; both are undone afterwards."""
        trainer, device = self._trainer, self._trainer.compute.device
        kept, labelled = copied(self._state()), self._labelled
        quick = trainer.device.type != "cpu"
        warm, most = (Recorded.WARM_UP_CALLS + 3, 40) if quick else (1, 10)
        point = SchedulePoint(0.0, 1e6)  # the very beginning of a rise: nearly no rate
        trainer.network.train()
        try:
            for _ in range(warm):
                trainer.one_step(point)
            alone = trainer.world.size == 1  # together all take the same number of steps
            most, patience = (most, PATIENCE) if alone else (TOGETHER, math.inf)
            step = clocked(lambda: trainer.one_step(point), most, device, patience)
            labels = self._seconds_per_labelling() if self._method.memory is not None else 0.0
        finally:
            self._load(kept)
            self._labelled = labelled
        found = torch.tensor([step, labels], dtype=torch.float64, device=trainer.device)
        trainer.world.agree(found)
        return Timing(*found.tolist())

    def features(self, images: Bytes | None = None) -> Floats:
        """Features (n, width) of pictures, or of those that it is trained on, without chance.

        BYOL and ProPos give those of their slow copy.
        """
        return self.learnt().features(self._trainer.data if images is None else images)

    def membership(self, images: Bytes | None = None) -> Floats | None:
        """Shares (n, k) in groups: of the cluster head (cc, tcl) or by k-means (propos).

        None for methods without groups.
        """
        return self.learnt().membership(self._trainer.data if images is None else images)

    def save(self, path: str | Path, *, compact: bool = False) -> None:
        """Write the network as it is; :meth:`LearntNetwork.load` needs nothing else.

        Parameters
        ----------
        compact : see :meth:`LearntNetwork.save`.
        """
        self.learnt().save(path, compact=compact)

    def save_training(self, path: str | Path) -> list[Path]:
        """Write the state of the training in compact parts, to continue it on another machine.

        The whole network with its slow copy, the labels of the items, the place in the schedules
        and the notes; not the moments of the optimiser. Returns the files.
        """
        tensors, facts = self._state()
        network: Any = self._trainer.network
        following = network.followers() if isinstance(network, Momentum) else {}
        followers = {f"network.{slow}": f"network.{own}" for slow, own in following.items()}
        state = Checkpoint(tensors, {**facts, **self._kept_facts()})
        return save_compact(path, state, followers=followers)

    def save_checkpoint(self) -> None:
        """Write the checkpoint now, if there is one; training does so every minute."""
        self._saved = time.monotonic()
        if self.checkpoint is None or self._trainer.world.rank:
            return
        tensors, facts = self._state()
        save_checkpoint(self.checkpoint, Checkpoint(tensors, {**facts, **self._kept_facts()}))

    def resume(self, path: str | Path) -> None:
        """Go on from a checkpoint, or from the compact parts of :meth:`save_training`.

        After compact parts the optimiser begins anew, with a rate that rises over a few steps.
        """
        found = load_checkpoint(path, expected=self._facts())
        self._load(found)
        self._labelled = int(found.facts["labelled"])
        self.planned = found.facts["planned"]
        self.notes = dict(found.facts.get("notes", {}))
        rise = found.facts.get("rise")
        if not any(name.startswith("optimiser.") for name in found.tensors):
            steps = (self.planned or 0) * self._trainer.batches.steps
            rise = self._trainer.step, min(RISE_STEPS, round(RISE_SHARE * steps))
        self._trainer.rise = None if rise is None else (int(rise[0]), int(rise[1]))

    def learnt(self) -> LearntNetwork:
        """The network in use. It is the same one: more training changes it."""
        step = self._trainer.step
        if self._learnt is None or self._learnt[0] != step:
            groups = self._method.groups(self._read, mixed_seed(self.setting.seed, step, 1))
            facts, compute = facts_of(self.setting), self._trainer.compute
            self._learnt = step, LearntNetwork(self._method.backbone, groups, facts, compute)
        return self._learnt[1]

    def _check_together(self) -> None:
        """Raise if processes would go on from different steps."""
        step = torch.tensor(self._trainer.step, device=self._trainer.device)
        self._trainer.world.agree(step)
        if int(step) != self._trainer.step:
            raise InputError(
                f"Expected to go on from step {int(step)}, as the first process does, got step "
                f"{self._trainer.step} here. Let all machines see the same checkpoint: set "
                "SAMEKIND_HOME to a folder that they share."
            )

    def _moments(self, last: int) -> Callable[[int], SchedulePoint]:
        # Of the step alone, so that it does not matter where a training was interrupted.
        per_epoch = self._trainer.batches.steps
        return lambda step: SchedulePoint(step / per_epoch, last / per_epoch)

    def _plan_for(self, epochs: float) -> None:
        """Take the rate, and the memory of a slow copy, of a training of so many epochs."""
        trainer = self._trainer
        network: Any = trainer.network
        trainer.plan = self.setting.plan(len(trainer.data), epochs)
        if isinstance(network, Momentum) and self.setting.average is None:
            average = average_over(epochs)
            if network.average != average:
                network.average = average
                trainer.change(trainer.objective)  # recorded with the one before

    def _prepared(self, last: int) -> int:
        """Make ready for the present step; return the step up to which nothing has to be done."""
        trainer, method = self._trainer, self._method
        per_epoch = trainer.batches.steps
        turn = round(method.starts * last)  # the first step of the second part
        late = trainer.step >= turn
        loss = method.last if late and method.last is not None else method.loss
        if trainer.objective is not loss:
            trainer.change(loss)
        epoch = trainer.step - trainer.step % per_epoch
        here = max(epoch, turn) if late else epoch
        if late and method.memory is not None and self._labelled < here:
            self._relabel(here)
        ends = [last, epoch + per_epoch, trainer.step + PIECE, *([] if late else [turn])]
        return min(end for end in ends if end > trainer.step)

    def _relabel(self, here: int) -> None:
        trainer, seed = self._trainer, mixed_seed(self.setting.seed, here, 2)
        chance = np.random.default_rng(seed)
        order = torch.from_numpy(chance.permutation(len(trainer.data))).to(trainer.device)
        self._method.relabel(self._read, order, trainer.batches.size, seed)
        memory = self._method.memory
        assert memory is not None
        trainer.world.agree(memory.labels)
        self._labelled = here
        self._balance()

    def _balance(self) -> None:
        """Draw items by their groups from now on, if that is wanted and there are groups."""
        memory, trainer = self._method.memory, self._trainer
        if not self.setting.resample or memory is None:
            return
        labels, plan = memory.labels.cpu().numpy(), trainer.plan
        common = (
            len(trainer.data),
            plan.batch_size,
            plan.seed,
            plan.linked_share,
            trainer.world.size,
        )
        trainer.batches = (
            BalancedBatches(*common, labels=labels) if labels.min() >= 0 else LinkedBatches(*common)
        )

    def _read(self, run: Callable[[Tensor], Tensor], width: int, parts: list[nn.Module]) -> Tensor:
        trainer = self._trainer
        return read(trainer.data, run, width, parts, self.setting.size, trainer.compute)

    def _seconds_per_labelling(self) -> float:
        """Measured; on a CPU, where all items may take minutes, estimated from some of them."""
        trainer, method = self._trainer, self._method
        if trainer.device.type != "cpu":
            self._relabel(0)
            return clocked(lambda: self._relabel(0), 2, trainer.compute.device)
        n = len(trainer.data)
        some = trainer.data[: min(n, 8 * trainer.batches.size)]

        width = 8 * self.setting.channels

        def look() -> None:
            parts = [method.network]
            h = read(some, method.backbone, width, parts, self.setting.size, trainer.compute)
            if self.setting.method == "propos":
                cosine_kmeans(h, min(len(h), self.setting.groups or 1))

        look()
        return clocked(look, 2, trainer.compute.device) * n / len(some)

    def _state(self) -> Checkpoint:
        tensors, facts = self._trainer.state()
        memory = self._method.memory
        if memory is not None:
            tensors = {**tensors, "labels": memory.labels}
        return Checkpoint(tensors, facts)

    def _load(self, checkpoint: Checkpoint) -> None:
        self._trainer.load(checkpoint)
        if self._method.memory is not None:
            self._method.memory.labels.copy_(checkpoint.tensors["labels"])
            self._balance()

    def _facts(self) -> dict[str, Any]:
        """Facts in which a checkpoint must agree."""
        return {"kind": KIND, "items": self._digest, "setting": self.setting.identity}

    def _kept_facts(self) -> dict[str, Any]:
        """What a checkpoint holds besides tensors and step."""
        kept = {"labelled": self._labelled, "planned": self.planned, "notes": self.notes}
        return {**self._facts(), **kept, "rise": self._trainer.rise}
