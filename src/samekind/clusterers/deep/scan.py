"""SCAN: semantic clustering by adopting nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.scan_losses import NeighbourLoss, SelfLabelLoss
from samekind.clusterers.deep.scan_network import ScanNetwork
from samekind.clusterers.deep.scan_training import NeighbourTrainer, ScanSetting, ScanTraining
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.stages import Stage, StagedClusterer, StagedLearner, change_plan
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.neighbours import nearest_by_cosine
from samekind.training.augment import Family
from samekind.training.bank import Bank, predict_all
from samekind.training.loop import Plan, Trainer, TwoViews
from samekind.training.network import Network
from samekind.training.simclr import ItemContrast, simclr_plan

NEIGHBOURS_SHARE, LABELS_SHARE = 0.25, 0.15
"""Of all steps; the rest learns features. Published for CIFAR-10: 62 %, 25 % and 13 % of 78,000."""
RATE, RATE_BATCH = 1e-4, 128
"""The published rate of Adam, and the batch size that it was published for."""
HEAD_FACTOR = 10.0
"""Learning rate of the fresh head relative to that of the pre-trained features."""
ENTROPY = 5.0
"""Weight of the entropy that stays on in the third stage of the profile ``short``."""
PROGRAM: dict[str, Any] = {
    "batch_size": 512,
    "learning_rate": 0.4,
    "family": Family(32, scale=(0.2, 1.0)),
}
"""SimCLR as SCAN's program has it; the rate is that for batches of 512."""
PROGRAM_TEMPERATURE, PROGRAM_DECAY = 0.1, 1e-4
PROGRAM_EPOCHS = (500.0, 50.0, 200.0)
"""Epochs of the three stages for CIFAR-10."""


class SCANLearner(StagedLearner):
    """Features, then neighbours, then labels of its own."""

    head_starts_first: ClassVar[bool] = False
    neighbours = 20

    def _plan(self) -> Plan:
        assert self._data is not None
        plan = super()._plan()
        return simclr_plan(plan, batch=self._batch(len(self._data))) if self._pictures else plan

    def _trainer_of(self, network: Network, data: Tensor, views: TwoViews) -> Trainer:
        plan = self._plan()
        return NeighbourTrainer(network, self.objective, data, views, plan, compute=self.compute)

    def _stages(self, trainer: Trainer) -> Sequence[Stage]:
        single, pairs = self._strong_views(trainer), self._strong_views(trainer, mild=True)
        return self._simclr_first(
            [
                Stage(NeighbourLoss(), NEIGHBOURS_SHARE, single, self._find_neighbours),
                Stage(SelfLabelLoss(entropy=ENTROPY), LABELS_SHARE, pairs, self._leave_neighbours),
            ]
        )

    def _find_neighbours(self, trainer: Trainer) -> None:
        assert isinstance(trainer, NeighbourTrainer)
        network, n = trainer.network, len(trainer.data)
        h = predict_all(trainer, network.backbone)
        # The vectors that were contrasted; those of a file come without a head for them.
        x = h if self.setting.start is not None else network.instance(h).detach()
        most = max(1, n // (2 * network.k))  # in a small set 20 would reach into other groups
        trainer.table = nearest_by_cosine(x, min(self.neighbours, most, n - 1))
        self._start_head_at(trainer, h)
        rate, factors = self.rate, (("cluster.", HEAD_FACTOR),) if self._pictures else ()
        if rate is None:
            scaled = RATE * max(1.0, trainer.batches.size / RATE_BATCH)
            rate = scaled if self._pictures else self.setting.learning_rate
        change_plan(
            trainer, optimiser="adam", learning_rate=rate, weight_decay=1e-4, factors=factors
        )

    def _leave_neighbours(self, trainer: Trainer) -> None:
        assert isinstance(trainer, NeighbourTrainer)
        trainer.table = None
        trainer.renew()


class ProgramLearner(Learner):
    """The three trainings of the program, each with batches and an optimiser of its own."""

    neighbours = 20
    epochs: tuple[float, float, float] = PROGRAM_EPOCHS
    rate: float | None = None
    _k_given: int | None = None

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Group the items; the caller honours the answers afterwards."""
        trainer = self._trainer
        if trainer is None or k not in (None, self._k_given):
            self._k_given = k
            with ExitStack() as stack:
                trainer = self._trained(stack, known, k)
        self._fits += 1
        return self._reading(trainer)

    def _trained(self, stack: ExitStack, known: Constraints, k: int | None) -> Trainer:
        self.objective = ItemContrast(temperature=PROGRAM_TEMPERATURE)
        trainer = self._trainer = self._begin(known, k)
        monitor = trainer.monitor = self._monitor(stack, trainer)
        network, data, setting = trainer.network, self._data, self.setting
        assert isinstance(network, ScanNetwork) and data is not None
        if setting.start is None:
            trainer.run(self.epochs[0])
        training = ScanTraining(
            self._stages(),
            network,
            data,
            projected=setting.start is None,
            monitor=monitor,
        )
        self._trainer = training.trainer
        training.run(self.epochs[1])
        training.begin_labels()
        self._trainer = training.trainer
        training.run(self.epochs[2])
        return training.trainer

    def _stages(self) -> ScanSetting:
        assert self._data is not None
        setting = self.setting
        return ScanSetting(
            neighbours=min(self.neighbours, len(self._data) - 1),
            learning_rate=RATE if self.rate is None else self.rate,
            size=setting.size,
            seed=self.seed % 2**31,
            device=setting.device,
            compile=setting.compile,
        )

    def _network(self, k: int) -> Network:
        return ScanNetwork(self.setting.resnet(), k=k)

    def _plan(self) -> Plan:
        assert self._data is not None
        size = min(self.setting.batch_size, len(self._data))
        rate = PROGRAM["learning_rate"] * size / PROGRAM["batch_size"]
        plan = replace(super()._plan(), learning_rate=rate, linked_share=0.0)
        return replace(simclr_plan(plan), weight_decay=PROGRAM_DECAY)


@dataclass(eq=False, repr=False, kw_only=True)
class SCAN(StagedClusterer):
    """SCAN: learn features, then let items agree with their neighbours, then self-label.

    Features are learnt by SimCLR, then neighbours are looked up once, exactly, by cosine among the
    contrasted vectors (with a `start`: among its features), and the whole network learns groups
    from them, then from its confident memberships (above .99).

    Published, for CIFAR-10 at 32 pixels: ResNet-18; SimCLR for 500 epochs, batches of 512, SGD at
    .4 with a cosine, temperature .1; 50 epochs of batches of 128 and 200 of batches of 1000 with
    Adam at 1e-4, constant, and decay 1e-4; twenty neighbours, entropy weight 5, strong views of
    four operations and a hole of up to half the side, plain views decide which items are confident;
    trained on the training pictures, scored on the test pictures, .816 after the second stage and
    .883 after the third. ``recipes/scan.py`` does this in pieces.

    The profile ``program`` has these settings and the passes of the program (see
    :class:`~samekind.clusterers.deep.scan_training.ScanTraining`). It still differs in this:
    pictures are not normalised, and the hole is gray instead of the mean colour; the rate of SimCLR
    rises over the first 5 % of its epochs and falls to nothing (published: from .4 to .0004 without
    a rise), its momentum is Nesterov's, and both views are anchors instead of the first alone;
    batch norms and biases are not decayed; numbers are rounded to 16 bits on a GPU; if no item of a
    batch is confident the loss is 0, where the program stops. The estimator uses the last epoch of
    the second stage. The program takes the one with the lowest loss on the test pictures, without
    labels, and so does the recipe.

    The profile ``short``, which is ours, spends `steps` on all stages: 60 % on features, 25 % on
    groups from neighbours, 15 % on confident memberships (published 62, 25 and 13 %); with a
    `start` the other two share all steps, 5 : 3. It differs further: one batch size for all stages,
    by which the rate of Adam is scaled; rates that fall within each stage; a head of two layers
    instead of one, which learns ten times faster than the features; SimCLR with rate .25 and
    temperature .2, on crops from 8 % on; neighbours at most half of an even group; decoupled decay;
    all rows of a step pass the batch norms together; the entropy stays on in the third stage, times
    the share of confident items, because otherwise the only group with confident items can absorb
    the others (seen in short trainings). On plain vectors: noisy rows, and a head that starts at
    k-means.

    Parameters
    ----------
    neighbours : of each item. More connect more of a group, and more errors.
    learning_rate : of the second and the third stage.
    profile : ``short`` spends `steps`; ``program`` (pictures only) trains as published, for
        `epochs`.
    epochs : of the three stages in ``program``.

    Other parameters: see :class:`~samekind.clusterers.deep.stages.StagedClusterer`.

    References
    ----------
    Van Gansbeke et al., SCAN: Learning to Classify Images without Labels, ECCV 2020,
    arXiv 2005.12320.
    """

    neighbours: int = 20
    profile: Literal["short", "program"] = "short"
    epochs: tuple[float, ...] = PROGRAM_EPOCHS

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        if self.neighbours < 1:
            raise InputError(
                f"Expected at least 1 of the neighbours of an item, got {self.neighbours}. Try 20."
            )
        learner: SCANLearner | ProgramLearner
        if self.profile == "program":
            learner = ProgramLearner(self._program_setting(data), data, seed)
            first, second, third = self.epochs
            learner.epochs = (first, second, third)
        else:
            learner = SCANLearner(self._setting(data), data, seed)
        learner.neighbours, learner.rate = self.neighbours, self.learning_rate
        return learner

    def _program_setting(self, data: NDArray[Any]) -> Setting:
        if data.ndim != 4:
            raise InputError(
                "Expected pictures for the profile 'program', got plain vectors. Use the profile "
                "'short'."
            )
        if len(self.epochs) != 3 or min(self.epochs) <= 0:
            raise InputError(
                f"Expected the epochs of three stages, above 0, got {self.epochs}. Published are "
                "500, 50 and 200."
            )
        usual = {**PROGRAM, "batch_size": self.batch_size, "family": self.family}
        given = {name: value for name, value in usual.items() if value is not None}
        return replace(super()._setting(data), **{**PROGRAM, **given})
