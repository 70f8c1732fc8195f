"""IDC: interactive deep clustering via value mining."""

from __future__ import annotations

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.base import Learner, NetworkClusterer
from samekind.clusterers.deep.idc_feedback import (
    LOSSES,
    Feedback,
    FeedbackTuner,
    FeedbackTuning,
    Profile,
    Sights,
    answered_temperature,
    feedback_of,
    stated_feedback,
    voted,
)
from samekind.clusterers.deep.pretraining import (
    fit_frozen_head,
    guess_groups,
    placed,
    pretraining_steps,
)
from samekind.clusterers.deep.settings import Setting
from samekind.constraints import Constraints
from samekind.errors import UnknownName
from samekind.training.augment import Views
from samekind.training.backbone_file import backbone_facts
from samekind.training.bank import Bank
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.finetune import OneNoisyRow, OneView
from samekind.training.heads import ClusterHead, fit_head, soften
from samekind.training.loop import Objective, Plan, Trainer
from samekind.training.network import Network
from samekind.training.rows import NoisyRows
from samekind.training.simclr import simclr_loss, simclr_plan
from samekind.training.strong import TCL, Strong, StrongFamily

ROWS_STEPS, ROWS_RATE = 100, 3e-3
"""Training on plain vectors: a second or less."""
WARM_UP = 0.5
"""Part of the training of a fresh head in which guesses do not count."""
RESTARTS = 5
"""Starts of the k-means that a fresh head is fitted to."""
VIEWS = ("strong", "own")
LEARNERS = {
    "program": "IDC",
    "paper": "IDC, as printed",
    "repaired": "IDC, repaired",
    "calibrated": "IDC, calibrated",
}
"""Names of the profiles in rows and tables; only the program's is the paper's."""


class FeedbackLearner(Learner):
    """Features are learnt once; every fit begins from them and depends on the answers alone.

    Parameters
    ----------
    given : whether the number of groups was given. If so, they are those of the features alone,
        and questions can speak of them from the beginning. If not, the answers have a say.
    """

    alone: NDArray[Any] | None = None
    """Memberships (n, k) by the network alone, answered items included, after the latest fit."""

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int, *, given: bool) -> None:
        super().__init__(replace(setting, attention=False), data, seed)
        self.objective: Objective = simclr_loss()
        self.given = given

    def _plan(self) -> Plan:
        return simclr_plan(super()._plan())

    def _bar_steps(self, trainer: Trainer) -> int | None:
        return pretraining_steps(trainer, self.setting)

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Groups from these answers."""
        with ExitStack() as stack:
            trainer = self._ready(stack, known, k)
            network, fresh = self._with_head(trainer, known, k)
            bank = self._reading(trainer, network)
            feedback = self._feedback(bank.p, known)
            if len(feedback) and network.k > 1:
                tuned = self._taught(trainer, network, feedback, fresh)
                if tuned is not network:
                    bank = self._reading(trainer, tuned)
        self._fits += 1
        self.alone = bank.p
        return replace(bank, p=voted(bank.p, known))

    def _feedback(self, p: NDArray[Any], known: Constraints) -> Feedback:
        """Answers as columns: by links, or each by itself as published."""
        profile = getattr(self.setting.tuning, "loss_profile", "repaired")  # FixMatch has none
        return feedback_of(p, known) if profile == "repaired" else stated_feedback(p, known)

    def _taught(
        self, trainer: Trainer, network: Network, feedback: Feedback, fresh: bool
    ) -> Network:
        """The network after training on feedback."""
        tuning: FeedbackTuning = self.setting.tuning
        if not tuning.epochs > 0:
            return network
        if fresh and tuning.warm_up is None:
            tuning = replace(tuning, warm_up=WARM_UP)
        if tuning.profile == "calibrated":
            network = deepcopy(network)
            p = self._reading(trainer, network).p
            soften(network.cluster, answered_temperature(p, feedback))
        return FeedbackTuner(
            network,
            trainer.data,
            feedback,
            self._sights(trainer),
            tuning,
            compute=trainer.compute,
            seed=self.seed,
            compiled=self.setting.compile,
            monitor=trainer.monitor,
        ).run()

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Groups by a head on the features as far as they are; the next fit trains them on."""
        trainer, unfinished = self._trainer, self._frozen is None
        if trainer is None:
            return None
        self._frozen = self._frozen or self._reading(trainer)
        bank = self._reading(trainer, self._with_head(trainer, known, k)[0])
        if unfinished:
            self._trainer = self._frozen = None
        self.alone = bank.p
        return replace(bank, p=voted(bank.p, known))

    def _ready(self, stack: ExitStack, known: Constraints, k: int | None) -> Trainer:
        heard = Constraints(known.n_items) if self.given else known
        return self._with_features(stack, heard, k)

    def _with_head(
        self, trainer: Trainer, known: Constraints, k: int | None
    ) -> tuple[Network, bool]:
        """The network with a head for the groups, and whether this head is fresh."""
        network = deepcopy(trainer.network)
        if not self._pictures:
            return network, True  # begun at the groups of k-means
        assert self._frozen is not None
        there = self._start.groups
        if isinstance(there, ClusterHead) and k in (None, there.k):
            network.cluster = deepcopy(there).to(trainer.device)
            return network, False
        features = torch.from_numpy(self._frozen.h).to(trainer.device)
        rows, labels = self._first_groups(features, known, k)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            head = ClusterHead(network.width, max(k or 1, int(labels.max()) + 1))
        network.cluster = head.to(trainer.device)
        fit_head(network.cluster, features[rows], labels)
        return network, True

    def _first_groups(
        self, features: torch.Tensor, known: Constraints, k: int | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Some items, and the groups that a fresh head is fitted to."""
        everything = torch.arange(len(features), device=features.device)
        there = self._start.groups
        if there is not None:  # ProPos: nearness to centres is no head, but tells the groups
            with torch.no_grad():
                p = deepcopy(there).to(features.device).eval()(features)
            if k in (None, p.shape[1]):
                return everything, p.argmax(dim=1)
        if k is None:
            k = max(2, guess_groups(features.cpu().numpy(), self.seed))
        if not self.given and len(known.touched):  # a linear head learns them from the answers
            head = fit_frozen_head(features, known, k, self.seed)
            return everything, placed(head, features, known)
        centred = features - features.mean(dim=0)
        return everything, cosine_kmeans(centred, k, seed=self.seed, n_init=RESTARTS).labels

    def _sights(self, trainer: Trainer) -> Sights:
        """How items are shown in training: as the features were learnt, if nobody says else."""
        views = trainer.views
        if isinstance(views, NoisyRows):
            return Sights(OneNoisyRow(views), views.plain)
        wanted = self.setting.views or ("strong" if self._start.method == "tcl" else "own")
        if wanted not in VIEWS:
            raise UnknownName("kind of views", wanted, VIEWS)
        compiled, dtype, family = self._compiles, self._dtype, self.setting.view_family()
        if wanted == "own":
            made = Views(family, dtype=dtype).to(trainer.device)
            return Sights(OneView(made, compiled), views.plain)
        strong = StrongFamily(family.size, mean=family.mean, std=family.std)
        return Sights(
            Strong(strong, dtype=dtype, compiled=compiled).to(trainer.device), views.plain
        )


@dataclass(eq=False, repr=False, kw_only=True)
class IDC(NetworkClusterer):
    """IDC: self-supervised groups that a few hundred answers about hard items put right.

    Begins from features that were learnt without labels, and from their groups. Each fit turns the
    answers into chosen groups (Eq. 12) and refused groups (Eq. 13) and trains the whole network on
    them, while items that it is sure of stay where they are (Eq. 14). It always begins from the
    features, so the result depends on the answers, not on how often it was fitted. Questions by
    the strategy ``value``.

    Parameters
    ----------
    n_clusters : groups; None: those of `start`, or as many as the answers have told apart, before
        that a guess.
    start : file of ``save_features`` or of ``samekind learn`` with the features to begin from,
        and with groups where its method has them. None learns features here (SimCLR).
    profile : ``program``, ``paper``, ``repaired``, ``calibrated``: see the notes below.
    epochs : over the asked items; None: 100 as published, for plain vectors a hundred
        steps; 0 leaves the network as it is and only corrects the answered items.
    tune_seconds : time for training on the answers, in place of `epochs`.
    learning_rate : of it; None: 1e-4 as published, more for plain vectors.
    asked, unlabelled : asked items, and any items, per step.
    refused : ``one`` refused group drawn in each step, or ``all`` of them.
    sure : membership from which the network's own guess is followed.
    warm_up : part of the training before guesses count; None: half for a fresh head, else nothing.
    average : weight of the past in an average of the network over the steps; 0: its last state.
    losses : those that are used, of ``pos``, ``neg``, ``reg``.
    views : of pictures in this training: ``strong`` (RandAugment and a hole) or ``own``, those
        that the features were learnt with; None: as published for the method of `start`.
    first_epochs, seconds : of the self-supervised training, 40 epochs if both are None.
    batch_size : of the self-supervised training.
    checkpoint : file that keeps the self-supervised training.

    Other parameters and the attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`. Without a `start` the network is a
    ResNet-18 with a 3x3 stem and 64 channels at 32 pixels.

    Notes
    -----
    The released program differs from the printed equations. The profiles are:

    - ``program`` ("IDC"): groups count alike in Eq. 12 and 14, and Eq. 14 is a mean over the items
      with a guess. Guesses are remembered over the whole set: of a batch only the surest 20 % of
      each group enter, and one stays while the network is sure, even of another group. Shares above
      1 - 1e-5 in a refused group are cut off. An answer says which column the item alone belongs
      to, or which it does not (:func:`~samekind.clusterers.deep.idc_feedback.stated_feedback`).
    - ``paper`` ("IDC, as printed"): plain means over the chosen items, over the refusing items and
      over all items of the batch (Eq. 12, 13, 14); the guess is the strongest group of this moment
      if it is above `sure`, without a memory; answers as in ``program``.
    - ``repaired`` ("IDC, repaired", ours): as ``program``, but a guess is forgotten when the
      network is sure of another group, nothing is cut off, an answer goes before any guess about
      the same item, and answers are links: items of one kind, representatives among them, vote
      together for a column and all learn it. The default.
    - ``calibrated`` ("IDC, calibrated", ours): as ``repaired``, but the head begins as sure as the
      answers allow. A head that was fitted to groups is sure of nearly all items, right or wrong,
      and at the published rate the answers move it too slowly (docs/lab-notes.md, 2026-11-16).

    In all of them, ``program`` too, guesses do not count in the first half of the training of a
    fresh head: for features of ProPos, for plain vectors, for another number of groups than `start`
    has, or without a `start`. This is the paper's rule for ProPos. The program has no such part: it
    begins from TCL and its head, which has no warm-up here either. ``warm_up=0`` turns it off.

    In all of them, other than in the program or the paper: all views of a step go through the
    network together (the program sends three parts, so its batch norms see a handful of items);
    a part of the loss without items is 0 (there: not a number); the loss of Eq. 14 looks at the
    strong view and its guess at the plain one, as in the program (printed: both at the same, which
    makes the loss almost 0); AdamW leaves biases and batch norms undecayed (the program has Adam
    with decay inside the gradient); of 20 neighbours none is the item itself (the program counts
    it); logarithms are clipped where their argument is negative; features are centred before
    `value` compares them. `labels_` honour every answer; `predicted_labels_` are those of the
    network, which is what the paper scores. The paper has ResNet-34 at 224 pixels.

    References
    ----------
    Interactive Deep Clustering via Value Mining, NeurIPS 2024.
    """

    strategy: ClassVar[str] = "value"

    profile: Profile = "repaired"
    epochs: float | None = None
    tune_seconds: float | None = None
    learning_rate: float | None = None
    asked: int = 100
    unlabelled: int = 500
    refused: Literal["one", "all"] = "one"
    sure: float = 0.99
    warm_up: float | None = None
    average: float = 0.0
    losses: tuple[str, ...] = LOSSES
    views: str | None = None
    first_epochs: int | None = None
    seconds: float | None = None
    batch_size: int | None = None
    checkpoint: str | None = None

    @property
    def learner_name(self) -> str:
        """Name of what learns: the published program, or a variant of it, and what it left out.

        >>> IDC().learner_name, IDC(profile="program", losses=("pos", "reg")).learner_name
        ('IDC, repaired', 'IDC without neg')
        """
        left_out = [name for name in LOSSES if name not in self.losses]
        name = LEARNERS.get(self.profile, f"IDC, {self.profile}")
        return name + (f" without {' and '.join(left_out)}" if left_out else "")

    def _install(self, learner: Learner, bank: Bank, known: Constraints) -> Self:
        super()._install(learner, bank, known)
        alone = learner.alone if isinstance(learner, FeedbackLearner) else None
        if alone is not None:
            self.predicted_labels_ = self._settled.predict(alone)
        return self

    def _setting(self, data: NDArray[Any], **more: Any) -> Setting:
        """Own views are those that the features of the start were learnt with."""
        method = backbone_facts(self.start).get("method") if data.ndim == 4 else None
        if method == "tcl" and self.family is None:
            more["family"] = TCL
        return super()._setting(data, **more)

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        given = self.n_clusters is not None
        return FeedbackLearner(self._setting(data), data, seed, given=given)

    def _schedule(self) -> dict[str, Any]:
        rows = not self._pictures
        tuning = FeedbackTuning(
            learning_rate=self.learning_rate or (ROWS_RATE if rows else 1e-4),
            asked=self.asked,
            unlabelled=self.unlabelled,
            epochs=100 if self.epochs is None else self.epochs,
            steps=ROWS_STEPS if rows and self.epochs is None else None,
            seconds=self.tune_seconds,
            warm_up=self.warm_up,
            sure=self.sure,
            average=self.average,
            profile=self.profile,
            refused=self.refused,
            losses=tuple(self.losses),
        )
        times = {"first_epochs": self.first_epochs, "seconds": self.seconds}
        return {"tuning": tuning, "views": self.views, **times}
