"""Base of the methods that train in stages: a budget of steps, spent stage by stage.

They come from papers without answers. Training looks at the items alone, and the result still
honours every answer. Budgets are counted in steps, so that methods compare at equal cost.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.deep.base import Learner, NetworkClusterer
from samekind.clusterers.deep.epochs import STEPS_PER_FIT
from samekind.clusterers.deep.settings import Setting
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.training.bank import Bank
from samekind.training.loop import Objective, Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.network import Network
from samekind.training.perturbed import Perturbed
from samekind.training.rows import MildStrongRows, SingleRows
from samekind.training.simclr import simclr_loss
from samekind.training.strong import StrongFamily, StrongOnly

EPOCHS = 20
"""Epochs over all pictures when no steps are given. Published are hundreds: see each method."""
CUTOUT = 0.5
"""Largest side of the hole in strong views: 16 of 32 pixels, as in SCAN."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A part of the training.

    Parameters
    ----------
    objective : the loss.
    share : of all steps.
    views : replace those of the stage before.
    prepare : called with the trainer before the first step, and again after every `every` epochs:
        to look up neighbours or to make groups.
    every : 0: only once.
    """

    objective: Objective
    share: float = 1.0
    views: TwoViews | None = None
    prepare: Callable[[Trainer], None] | None = None
    every: float = 0.0


@dataclass(eq=False, repr=False, kw_only=True)
class StagedClusterer(NetworkClusterer):
    """A method whose cost is counted in steps; see the classes below it.

    Parameters
    ----------
    steps : of the optimiser, in all stages together; None: twenty epochs over pictures, sixty
        steps for plain vectors. Published are hundreds of epochs.
    batch_size, learning_rate : None: as published.

    Other parameters and the attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`. With `warm_start`, a model that is
    fitted again on the same pictures with more answers does not train again.
    """

    steps: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None

    def _setting(self, data: NDArray[Any], **more: Any) -> Setting:
        check_steps(self.steps)
        return super()._setting(data, learning_rate=self.learning_rate, **more)

    def _schedule(self) -> dict[str, Any]:
        return {"steps": self.steps}


class StagedLearner(Learner):
    """Trains once, stage after stage (:meth:`_stages`), and then only reads.

    The network that is used in the end is that of :meth:`_finished`.
    """

    single_process: ClassVar[bool] = False
    """Whether several processes cannot share its batches."""
    head_starts_first: ClassVar[bool] = True
    """On plain vectors, whether the head starts at k-means before the first stage."""
    rate: float | None = None
    """Learning rate that was given for the stages after SimCLR; None: the default."""
    _used_views: TwoViews
    _known: Constraints

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int) -> None:
        super().__init__(setting, data, seed)
        self._used: Network | None = None
        self._k_given: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        """As of any learner, without views, which may be compiled."""
        return {**super().__getstate__(), "_used_views": None}

    @abstractmethod
    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        """Return the parts of the training in order; their shares add up to 1."""

    @property
    def steps(self) -> int:
        """Steps of the optimiser in all stages."""
        assert self._data is not None
        return steps_of(self.setting, self._data)

    def _batch(self, n: int) -> int:
        return min(self.setting.batch_size, n)

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Group the items; the caller honours the answers afterwards."""
        trainer = self._trainer
        if trainer is None or self._used is None or k not in (None, self._k_given):
            self._used, self._k_given, self._known = None, k, known
            trainer = self._trainer = self._begin(known, k)
            self._check_alone(trainer)
            self._used_views = trainer.views
            with ExitStack() as stack:
                trainer.monitor = self._monitor(stack, trainer)
                self._train(trainer)
            self._used = self._finished(trainer)
        self._fits += 1
        return self._reading(trainer, self._used)

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Read the network after its training was stopped; None if it had not begun."""
        trainer = self._trainer
        return None if trainer is None else self._reading(trainer, self._finished(trainer))

    def _finished(self, trainer: Trainer) -> Network:
        """Return the network to use: by default the one that was trained."""
        trainer.views = self._used_views
        return trainer.network

    def _train(self, trainer: Trainer) -> None:
        if not self._pictures and self.head_starts_first:
            self._start_head_at(trainer, trainer.views.plain(trainer.data))
        done = 0.0
        for stage in self._stages(trainer):
            done += stage.share
            self._run(stage, trainer, round(min(done, 1.0) * self.steps))

    def _run(self, stage: Stage, trainer: Trainer, last: int) -> None:
        """Train one stage up to the step `last`."""
        points = self._schedule_points(trainer.step, last, trainer.batches.steps)
        run_stage(stage, trainer, last, points)

    def _schedule_points(
        self, first: int, last: int, per_epoch: int
    ) -> Callable[[int], SchedulePoint]:
        """Place the steps from `first` to `last` in schedules, by default those of the stage."""
        return points_between(first, last, per_epoch)

    def _plan(self) -> Plan:
        return replace(super()._plan(), schedule="cosine", clip=None, linked_share=0.0)

    def _start_head_at(self, trainer: Trainer, features: Tensor) -> None:
        """On plain vectors, start the head at k-means: few steps do not teach a fresh one."""
        if not self._pictures:
            self._start_head(trainer, features.cpu().numpy(), self._known)

    def _check_alone(self, trainer: Trainer) -> None:
        if self.single_process and trainer.world.size > 1:
            raise InputError(
                f"Expected one process for this method, got {trainer.world.size}. "
                "Start it without torchrun."
            )

    def _perturbed(self, *, copies: int = 1, first_plain: bool = False) -> Perturbed:
        """Make any number of views per item, of the family that is used in the end."""
        views: Any = self._used_views
        return Perturbed(views, copies=copies, first_plain=first_plain)

    def _bar_steps(self, trainer: Trainer) -> int | None:
        return self.steps

    def _simclr_first(self, stages: Sequence[Stage]) -> list[Stage]:
        """Put SimCLR before these stages, for the share they leave; skip it if a file is given."""
        left = 1 - sum(stage.share for stage in stages)
        if self.setting.start is not None:
            return [replace(stage, share=stage.share / (1 - left)) for stage in stages]
        return [Stage(simclr_loss(pictures=self._pictures), left), *stages]

    def _strong_views(self, trainer: Trainer, *, mild: bool = False) -> TwoViews:
        """Make one strong view of each item; with `mild`, a plain one before it."""
        if not self._pictures:
            return MildStrongRows(trainer.data) if mild else SingleRows(trainer.data)
        family = self.setting.view_family()
        strong = StrongFamily(family.size, cutout=CUTOUT, mean=family.mean, std=family.std)
        return StrongOnly(family, strong, mild=mild, dtype=self._dtype, compiled=self._compiles)


def check_steps(steps: int | None) -> None:
    """Raise if a number of steps is not positive."""
    if steps is not None and steps < 1:
        raise InputError(f"Expected at least one step of training, got steps={steps}. Try 60.")


def steps_of(setting: Setting, data: NDArray[Any], rows_steps: int = STEPS_PER_FIT) -> int:
    """Return the steps that were asked for, or the default for these items."""
    if setting.steps is not None:
        return setting.steps
    batch = min(setting.batch_size, len(data))
    return rows_steps if data.ndim == 2 else EPOCHS * max(1, len(data) // batch)


def points_between(first: int, last: int, per_epoch: int) -> Callable[[int], SchedulePoint]:
    """Return the schedule that runs from the step `first` to the step `last`."""
    span = (last - first) / per_epoch
    return lambda step: SchedulePoint((step - first) / per_epoch, span)


def run_stage(
    stage: Stage, trainer: Trainer, last: int, point_at: Callable[[int], SchedulePoint]
) -> None:
    """Train one stage up to the step `last`."""
    first, per_epoch = trainer.step, trainer.batches.steps
    if last <= first:
        return
    trainer.change(stage.objective, stage.views)
    if isinstance(stage.objective, torch.nn.Module):
        stage.objective.to(trainer.device)
    piece = max(1, round(stage.every * per_epoch)) if stage.every else last - first
    while trainer.step < last:
        if stage.prepare is not None:
            stage.prepare(trainer)
        trainer.run_until(min(last, trainer.step + piece), point_at)


def change_plan(trainer: Trainer, **changes: Any) -> None:
    """Continue with another plan and a fresh optimiser."""
    trainer.plan = replace(trainer.plan, **changes)
    trainer.renew()
