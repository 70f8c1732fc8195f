"""What the compared deep methods share: so many steps in stages, then the groups.

They come from papers that ask nobody anything. Training looks at the items alone (methods that take
answers say so), and the result still honours every answer. Budgets are counted in steps, so that
methods can be compared at equal cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.learner import STEPS_PER_FIT, Learner, coarse, guess, resnet
from samekind.clusterers.deep.networked import NetworkClusterer
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.starting import PICTURE_SETTINGS, load_start, setting_from
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.training.bank import Bank
from samekind.training.loop import Objective, Plan, SchedulePoint, Trainer, TwoViews
from samekind.training.losses import ItemContrast
from samekind.training.network import Network
from samekind.training.rows import NoisyRows, RowBackbone

EPOCHS = 20
"""Over all pictures, when nobody says how many steps. Published are hundreds: see each method."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A part of the training.

    Parameters
    ----------
    objective : the loss.
    share : of all steps.
    views : in place of those of the stage before.
    prepare : called before the first step, and again after every `every` epochs, with the trainer:
        neighbours are looked up, groups are made.
    every : 0: only once.
    """

    objective: Objective
    share: float = 1.0
    views: TwoViews | None = None
    prepare: Callable[[Trainer], None] | None = None
    every: float = 0.0


class SteppedLearner(Learner):
    """A :class:`Learner` whose cost is counted in steps, and which may train stage by stage.

    A method says what its network is (:meth:`_network`) and how it is trained (:meth:`_plan`).
    """

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int) -> None:
        super().__init__(setting, ItemContrast(), data, seed)

    @property
    def steps(self) -> int:
        """Steps of the optimiser in all."""
        assert self._data is not None
        n, asked = len(self._data), self.setting.steps
        if asked is not None:
            return asked
        return STEPS_PER_FIT if self._data.ndim == 2 else EPOCHS * max(1, n // self._batch(n))

    def _batch(self, n: int) -> int:
        return min(self.setting.batch_size, n)

    def _count(self, known: Constraints, k: int | None) -> int:
        """The number of groups; a guess where nobody has said it."""
        assert self._data is not None
        if k is not None:
            return k
        rng = np.random.default_rng((self.seed, 1))
        if self._data.ndim == 4:
            return guess(coarse(self._data), rng, known)
        rows = torch.from_numpy(np.ascontiguousarray(self._data).copy())
        return guess(NoisyRows(rows).plain(rows).numpy(), rng, known)

    def _begun(self, known: Constraints, k: int | None) -> Trainer:
        assert self._data is not None
        data = torch.from_numpy(np.ascontiguousarray(self._data).copy())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            views: TwoViews = self._views() if data.ndim == 4 else NoisyRows(data)
            network = self._network(self._count(known, k))
            if self.setting.start is not None and data.ndim == 4:
                features = self.setting.features
                self._start = load_start(self.setting.start, features, network.backbone)
        return self._trainer_of(network, data, views)

    def _trainer_of(self, network: Network, data: torch.Tensor, views: TwoViews) -> Trainer:
        return Trainer(network, self.objective, data, views, self._plan(), compute=self.compute)

    def _network(self, k: int) -> Network:
        """A fresh network for k groups; chance is seeded."""
        assert self._data is not None
        if self._data.ndim == 4:
            return Network(resnet(self.setting), k=k, attention=False)
        return Network(RowBackbone(self._data.shape[1]), k=k, out=64, attention=False)

    def _plan(self) -> Plan:
        return replace(super()._plan(), schedule="cosine", clip=None, linked_share=0.0)

    def _run(self, stage: Stage, trainer: Trainer, last: int) -> None:
        """One stage, up to the step `last`. Its schedules run over itself."""
        first, per_epoch = trainer.step, trainer.batches.steps
        if last <= first:
            return
        trainer.change(stage.objective, stage.views)
        if isinstance(stage.objective, torch.nn.Module):
            stage.objective.to(trainer.device)
        moment_of = self._moments(first, last, per_epoch)
        piece = max(1, round(stage.every * per_epoch)) if stage.every else last - first
        while trainer.step < last:
            if stage.prepare is not None:
                stage.prepare(trainer)
            until = min(last, trainer.step + piece)
            trainer.run_until(until, moment_of)

    def _moments(self, first: int, last: int, per_epoch: int) -> Callable[[int], SchedulePoint]:
        """Where a step of the stage from `first` to `last` is in its schedules."""
        span = (last - first) / per_epoch
        return lambda step: SchedulePoint((step - first) / per_epoch, span)

    def _bar_steps(self, trainer: Trainer) -> int | None:
        return self.steps


class StagedLearner(SteppedLearner, ABC):
    """Trains once, stage after stage (:meth:`_stages`), and then only reads.

    What is used in the end is said by :meth:`_finished`.
    """

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int) -> None:
        super().__init__(setting, data, seed)
        self._used: Network | None = None
        self._asked_for: int | None = None

    @abstractmethod
    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        """The parts of the training, in order; their shares add up to 1."""

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Groups of the items; answers are honoured afterwards, by who calls this."""
        trainer = self._trainer
        if trainer is None or self._used is None or k not in (None, self._asked_for):
            self._used, self._asked_for = None, k
            trainer = self._trainer = self._begun(known, k)
            with ExitStack() as stack:
                trainer.watch = self._watch(stack, trainer)
                self._train(trainer, known)
            self._used = self._finished(trainer)
        self._fits += 1
        return self._reading(trainer, self._used)

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """What the network says after its training was stopped; None if it had not begun."""
        trainer = self._trainer
        return None if trainer is None else self._reading(trainer, self._finished(trainer))

    def _finished(self, trainer: Trainer) -> Network:
        """The network that is used: by default the one that was trained."""
        return trainer.network

    def _train(self, trainer: Trainer, known: Constraints) -> None:
        if trainer.data.ndim == 2:
            plain = trainer.views.plain(trainer.data).cpu().numpy()
            self._start_head(trainer, plain, known)
        total, done = self.steps, 0.0
        for stage in self._stages(trainer):
            done += stage.share
            self._run(stage, trainer, round(min(done, 1.0) * total))


class StagedClusterer(NetworkClusterer):
    """A deep method that is compared with; see the classes below it for what each one does.

    Parameters
    ----------
    n_clusters : groups; None: as many as the answers have told apart, before that a guess.
    steps : of the optimiser, in all stages together; None: twenty epochs over pictures, sixty
        steps for plain vectors. Published are hundreds of epochs.
    batch_size, learning_rate : None: as published.
    start : file of :meth:`save_features` or of ``samekind learn`` whose backbone training begins
        with; stages that only learn features are then left out.
    backbone, stem, channels, size, family : of the network and its views, None: small and quick.
    image_shape : (channels, height, width) of pictures that come as rows.
    warm_start : fitted again on the same pictures with more answers, do not train again.
    device : such as ``cpu``; None: the fastest. compile : see
        :class:`~samekind.training.steps.Plan`.
    watch : a :class:`~samekind.training.progress.Watch` that is told and may stop it.
    random_state : a seed makes the result the same every time on one machine.
    verbose : show a progress bar.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.
    """

    learner: ClassVar[type[SteppedLearner]]
    published: ClassVar[dict[str, Any]]
    """Batch size and learning rate of the paper."""

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        steps: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        start: str | None = None,
        backbone: str | None = None,
        stem: str | None = None,
        channels: int | None = None,
        size: int | None = None,
        family: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        warm_start: bool = True,
        device: str | None = None,
        compile: str = "",
        watch: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.steps = steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.start = start
        self.backbone = backbone
        self.stem = stem
        self.channels = channels
        self.size = size
        self.family = family
        self.image_shape = image_shape
        self.warm_start = warm_start
        self.device = device
        self.compile = compile
        self.watch = watch
        self.random_state = random_state
        self.verbose = verbose

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if self.steps is not None and self.steps < 1:
            raise InputError(f"Training needs at least one step; steps={self.steps} came.")
        wanted = {name: getattr(self, name, None) for name in PICTURE_SETTINGS}
        wanted |= {"learning_rate": self.learning_rate}
        told = {name: value for name, value in wanted.items() if value is not None}
        if data.ndim == 4:
            return self.learner(setting_from(self.start, {**self.published, **told}), data, seed)
        rows = {
            name: told[name] for name in ("batch_size", "learning_rate", "device") if name in told
        }
        return self.learner(Setting(**rows), data, seed)

    def _schedule(self) -> dict[str, Any]:
        return {"steps": self.steps, "watch": self.watch, "verbose": self.verbose}
