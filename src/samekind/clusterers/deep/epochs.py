"""Base of PCL, OCC and CC: a network that is trained for some epochs at every refit."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.base import Floats, Learner, NetworkClusterer
from samekind.clusterers.deep.pretraining import (
    fit_frozen_head,
    guess_groups,
    placed,
    pretraining_steps,
    resume,
    save_state,
)
from samekind.clusterers.deep.settings import FAST, Setting
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.training.answered import Answered, Guesses, to_device
from samekind.training.bank import Bank, Reader
from samekind.training.checkpoints import load_checkpoint
from samekind.training.finetune import Tuner, Tuning
from samekind.training.heads import ClusterHead, fit_head
from samekind.training.loop import Objective, Plan, Trainer
from samekind.training.network import Network
from samekind.training.simclr import simclr_loss, simclr_plan

STEPS_PER_FIT = 60
"""Steps of a fit on plain vectors when no epochs are given."""
VALIDATION_SHARE = 0.15
"""Share of the answers that decide between the frozen head and the tuned network."""
TUNING_EPOCHS = 20
"""Epochs of tuning on the answers in the fast profile when none are given."""


@dataclass(eq=False, repr=False, kw_only=True)
class EpochClusterer(NetworkClusterer):
    """A method that trains for some epochs at each fit; see PCL, OCC and CC.

    Parameters
    ----------
    profile : ``paper`` trains from scratch as published. ``fast`` (pictures only) pre-trains
        without answers, fits groups to the answers on frozen features, and trains the whole
        network on them only where that agrees better with answers held out.
    epochs : per fit; None: one for pictures, some sixty steps for plain vectors.
    first_epochs : of the first fit, before the first answers; None: like `epochs`.
    horizon : epochs over all fits that schedules run over; None: those of each fit.
    seconds : for ``fast``, the time for pre-training; None: `first_epochs`, or 40.
    tune_seconds : for ``fast``, the time for training on the answers; None: `epochs`, or 20.
    tune_from : for ``fast``, number of answers from which the whole network is trained on them.
    batch_size, learning_rate : None: as published.
    attention : whether items of a batch attend to each other; None: as published.
    extension : last share of the horizon in which confident guesses count as links; None: as
        published. certain : how confident.
    linked_share : share of each batch that may be partners of its answered items.
    keep_views : also keep vectors of two random views of each item, ``views_``, for strategies.
    objective : a loss in place of the published one.
    checkpoint : file that is written after each epoch and resumed from if it exists. In the
        profile ``fast`` it keeps the pre-training.

    Other parameters and the attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`.
    """

    profile: Literal["paper", "fast"] = "paper"
    epochs: int | None = None
    first_epochs: int | None = None
    horizon: int | None = None
    seconds: float | None = None
    tune_seconds: float | None = None
    tune_from: int = 2000
    batch_size: int | None = None
    learning_rate: float | None = None
    attention: bool | None = None
    extension: float | None = None
    certain: float = 0.9999
    linked_share: float = 0.25
    keep_views: bool = False
    objective: Any = None
    checkpoint: str | None = None

    space: ClassVar[Literal["z", "h"]] = "z"
    """Vectors that strategies look at: projections z or features h."""

    @abstractmethod
    def published_objective(self) -> Any:
        """Make the loss of the method, from the output for a batch to its parts."""

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        setting = self._setting(data)
        if setting.profile == "fast":
            return FastLearner(setting, data, seed)
        learner = EpochLearner(setting, data, seed)
        learner.objective = self.published_objective() if self.objective is None else self.objective
        return learner

    def _install(self, learner: Learner, bank: Bank, known: Constraints) -> Self:
        super()._install(learner, bank, known)
        if self.keep_views:
            self.views_ = two_views(learner, self.space)
        return self

    def _space(self, bank: Bank) -> Floats:
        return bank.h if self.space == "h" else bank.z

    def _setting(self, data: NDArray[Any], **more: Any) -> Setting:
        if self.profile not in ("paper", "fast"):
            raise InputError(
                f"Expected the profile 'paper' or 'fast', got {self.profile!r}. Choose one of them."
            )
        own = ("batch_size", "learning_rate", "backbone", "stem", "channels", "size", "family")
        names = (*own, "attention", "extension", "certain", "linked_share", "device", "compile")
        wanted = {name: getattr(self, name) for name in (*names, "checkpoint", "start")}
        given = {name: value for name, value in wanted.items() if value is not None}
        if data.ndim == 2:
            return Setting(**{"extension": self.published.get("extension", 0.0), **given})
        return Setting(**{**self.published, **(FAST if self.profile == "fast" else {}), **given})

    def _schedule(self) -> dict[str, Any]:
        names = ("epochs", "first_epochs", "horizon", "seconds", "tune_seconds", "tune_from")
        return {name: getattr(self, name) for name in names}


def two_views(learner: Learner, space: str) -> Floats:
    """Compute vectors (2, n, d) of two random views of each item."""
    trainer, reader = learner._trainer, learner._reader
    assert reader is not None and trainer is not None
    pick = lambda out: getattr(out, space)  # noqa: E731
    return reader.views_bank(trainer.data, trainer.views, pick, seed=learner.seed)


class EpochLearner(Learner):
    """Trains the network on views and answers, a few epochs more at every fit."""

    _epochs_done = 0
    _resumed = 0
    """Epochs of this fit that were done before an interruption."""

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Train for the epochs of one fit on these answers."""
        trainer = self._trainer
        if trainer is None:
            trainer = self._trainer = self._begin(known, k)
            if not self._pictures:
                plain = trainer.views.plain(trainer.data).cpu().numpy()
                self._start_head(trainer, plain, known)
            self._resume(trainer, known)
        elif k is not None and k != trainer.network.k:
            trainer.network.regroup(k)
            self._start_head(trainer, self._reading(trainer).h, known)
            trainer.renew()
        with ExitStack() as stack:
            trainer.monitor = self._monitor(stack, trainer)
            self._train(trainer, known)
        self._fits += 1
        self._reader = None
        return self._reading(trainer)

    def _train(self, trainer: Trainer, known: Constraints) -> None:
        """Run the epochs of one fit, in pieces where something has to be done between them."""
        setting = self.setting
        epochs = self._epochs(trainer)
        trainer.learn_from(known)
        done, self._resumed = self._resumed, 0
        stepwise = setting.checkpoint is not None or self._pictures
        while done < epochs:
            before = done if setting.horizon is None else self._epochs_done
            span = epochs if setting.horizon is None else setting.horizon
            start = span - setting.extension * span
            if setting.extension > 0 and before >= start:
                trainer.guesses = self._guesses(trainer)
            until = min(epochs, done + 1) if stepwise else epochs
            if not stepwise and setting.extension > 0 and before < start:
                until = min(until, done + math.ceil(start - before))
            trainer.run(until - done, before=before, horizon=span)
            self._epochs_done += until - done
            done = until
            counts = {"fits": self._fits, "done": done, "epochs_done": self._epochs_done}
            save_state(trainer, setting, answers=_digest(known), seed=self.seed, **counts)

    def _epochs(self, trainer: Trainer) -> int:
        setting = self.setting
        usual = 1 if self._pictures else math.ceil(STEPS_PER_FIT / trainer.batches.steps)
        epochs = usual if setting.epochs is None else setting.epochs
        first = setting.first_epochs
        return first if first is not None and self._fits == 0 else epochs

    def _guesses(self, trainer: Trainer) -> Guesses:
        bank = self._reading(trainer)
        most = max(1, trainer.batches.size // 4)
        return Guesses.of(bank.z, bank.p, certain=self.setting.certain, most=most)

    def _bar_steps(self, trainer: Trainer) -> int | None:
        return (self._epochs(trainer) - self._resumed) * trainer.batches.steps

    def _resume(self, trainer: Trainer, known: Constraints) -> None:
        """Continue a training that was interrupted, or one that finished on other answers."""
        path = self.setting.checkpoint
        if path is None or not Path(path).exists():
            return
        expected = {"architecture": self.setting.architecture, "items": len(trainer.data)}
        checkpoint = load_checkpoint(path, expected=expected)
        resume(trainer, checkpoint)
        facts = checkpoint.facts
        self.seed, self._epochs_done = int(facts["seed"]), int(facts["epochs_done"])
        self._fits = int(facts["fits"])
        if facts["answers"] == _digest(known):
            self._resumed = int(facts["done"])


class FastLearner(Learner):
    """Pre-trained features; at each refit a linear head on them; a tuned network if better.

    1. On the first fit the backbone learns from views alone (SimCLR).
    2. At each fit a linear head on the frozen features learns the groups from the answers.
    3. From ``tune_from`` answers on, a copy of the whole network is trained on them. It replaces
       the frozen one only if it agrees better with answers held out: with few answers it is
       usually worse.
    """

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int) -> None:
        setting = replace(setting, attention=False)  # items are grouped one by one here
        super().__init__(setting, data, seed)
        self.objective: Objective = simclr_loss()
        self._tuned: Network | None = None
        self._tuned_at = 0
        self.scores: dict[str, float] = {}
        """Agreement with the answers held out, of the head and of the tuned network."""

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Group the items by these answers."""
        with ExitStack() as stack:
            trainer = self._with_features(stack, known, k)
            bank, features = self._by_head(trainer, known, k)
            groups = trainer.network.k
            if len(known.answers) >= self.setting.tune_from and groups > 1:
                best = self._tune_if_better(trainer, features, known, groups)
                if best is not trainer.network:
                    bank = self._read_by(best, trainer).bank(trainer.data)
        self._fits += 1
        return bank

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Group by a head on the features as they are; the next fit pre-trains further."""
        trainer, unfinished = self._trainer, self._frozen is None
        if trainer is None:
            return None
        self._frozen = self._frozen or self._reading(trainer)
        bank, _ = self._by_head(trainer, known, k)
        if unfinished:
            self._trainer = self._frozen = None
        return bank

    def _plan(self) -> Plan:
        return simclr_plan(super()._plan())

    def _bar_steps(self, trainer: Trainer) -> int | None:
        return pretraining_steps(trainer, self.setting)

    def _by_head(
        self, trainer: Trainer, known: Constraints, k: int | None
    ) -> tuple[Bank, torch.Tensor]:
        """Group by a head on frozen features; also return these features on the device."""
        assert self._frozen is not None
        features = torch.from_numpy(self._frozen.h).to(trainer.device)
        k = k or max(2, guess_groups(self._frozen.h, self.seed))
        head: Any = fit_frozen_head(features, known, k, self.seed)
        trainer.network.cluster = head
        self._read_by(trainer.network, trainer)
        with torch.no_grad():
            p = head(features).float().cpu().numpy()
        return replace(self._frozen, p=p), features

    def _read_by(self, network: Network, trainer: Trainer) -> Reader:
        self._reader = Reader.of(
            network, trainer.data, trainer.views.plain, trainer.compute, peers=0, seed=self.seed
        )
        return self._reader

    def _tune_if_better(
        self, trainer: Trainer, features: torch.Tensor, known: Constraints, k: int
    ) -> Network:
        """Return the frozen network, or one tuned on most of the answers if the rest prefer it."""
        learnt, kept = _split(known, np.random.default_rng((self.seed, 3)))
        if self._tuned is None or len(known.answers) >= 1.5 * self._tuned_at:
            self._tuned = self._tune(trainer, features, learnt, k)
            self._tuned_at = len(known.answers)
        frozen = deepcopy(trainer.network)
        head: Any = fit_frozen_head(features, learnt, k, self.seed)
        frozen.cluster = head
        self.scores = {
            "frozen": _agreement(frozen, trainer, kept),
            "tuned": _agreement(self._tuned, trainer, kept),
        }
        better = self.scores["tuned"] > self.scores["frozen"] and self._tuned.k == k
        return self._tuned if better else trainer.network

    def _tune(
        self, trainer: Trainer, features: torch.Tensor, known: Constraints, k: int
    ) -> Network:
        setting, network = self.setting, deepcopy(trainer.network)
        labels = placed(fit_frozen_head(features, known, k, self.seed), features, known)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network.cluster = ClusterHead(network.width, k).to(trainer.device)
        fit_head(network.cluster, features, labels)
        tuning = Tuning(
            answered=min(256, setting.batch_size),
            unlabelled=setting.batch_size,
            seconds=setting.tune_seconds,
            epochs=TUNING_EPOCHS if setting.epochs is None else setting.epochs,
        )
        rows = known.touched
        return Tuner(
            network,
            trainer.data,
            rows,
            labels.cpu().numpy()[rows].astype(np.intp),
            Answered.from_constraints(known),
            setting.view_family(),
            tuning,
            compute=trainer.compute,
            seed=self.seed,
            compiled=setting.compile,
            monitor=trainer.monitor,
        ).run()


def _split(known: Constraints, rng: np.random.Generator) -> tuple[Constraints, Any]:
    """Hold out the links of some items that few answers mention; return the rest and these."""
    links = known.links()
    n_links = np.bincount(np.concatenate([links.a, links.b]), minlength=known.n_items)
    few = np.flatnonzero((n_links > 0) & (n_links <= np.median(n_links[n_links > 0])))
    aside = np.zeros(known.n_items, dtype=bool)
    aside[rng.permutation(few)[: int(VALIDATION_SHARE * len(known.touched))]] = True
    out = aside[links.a] | aside[links.b]
    rest = zip(links.a[~out], links.b[~out], links.same[~out], strict=True)
    learnt = Constraints.from_links(known.n_items, [(int(a), int(b), bool(s)) for a, b, s in rest])
    return learnt, (links.a[out], links.b[out], links.same[out])


def _agreement(network: Network, trainer: Trainer, kept: Any) -> float:
    """Share of links that the groups of a network agree with, same and different weighted alike."""
    a, b, same = kept
    items, index = np.unique(np.concatenate([a, b]), return_inverse=True)
    if not len(items):
        return 0.0
    reader = Reader(network, trainer.views.plain, trainer.compute)
    chosen = trainer.data[to_device(items.astype(np.int64), trainer.device)]
    group = reader.bank(chosen).p.argmax(axis=1)[index]
    right = (group[: len(a)] == group[len(a) :]) == same
    shares = [right[part].mean() for part in (same, ~same) if part.any()]
    return float(np.mean(shares))


def _digest(known: Constraints) -> str:
    links = known.links()
    raw = np.stack([links.a, links.b, links.same], axis=1).astype(np.int64)
    return hashlib.sha256(raw.tobytes()).hexdigest()[:16]
