"""FastLearner: SimCLR, a linear head on its features, and FixMatch where that is better.

It stands in for PCL, OCC and CC under the profile ``fast`` and uses neither their losses nor their
attention.
"""

from __future__ import annotations

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.pretraining import (
    fit_frozen_head,
    guess_groups,
    placed,
    pretraining_steps,
)
from samekind.clusterers.deep.settings import Setting
from samekind.constraints import Constraints
from samekind.training.answered import Answered, to_device
from samekind.training.bank import Bank, Reader
from samekind.training.finetune import Tuner, Tuning
from samekind.training.heads import ClusterHead, fit_head
from samekind.training.loop import Objective, Plan, Trainer
from samekind.training.network import Network
from samekind.training.simclr import simclr_loss, simclr_plan

FAST_LEARNER = "SimCLR + head + FixMatch"
"""What the profile ``fast`` of every method is."""
VALIDATION_SHARE = 0.15
"""Share of the answers that decide between the frozen head and the tuned network."""
TUNING_EPOCHS = 20
"""Epochs of tuning on the answers when none are given."""


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
        learnt, kept = split_answers(known, np.random.default_rng((self.seed, 3)))
        if self._tuned is None or len(known.answers) >= 1.5 * self._tuned_at:
            self._tuned = self._tune(trainer, features, learnt, k)
            self._tuned_at = len(known.answers)
        frozen = deepcopy(trainer.network)
        head: Any = fit_frozen_head(features, learnt, k, self.seed)
        frozen.cluster = head
        self.scores = {
            name: agreement(Reader(one, trainer.views.plain, trainer.compute), trainer, kept)
            for name, one in (("frozen", frozen), ("tuned", self._tuned))
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


def split_answers(known: Constraints, rng: np.random.Generator) -> tuple[Constraints, Any]:
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


def agreement(reader: Reader, trainer: Trainer, kept: Any) -> float:
    """Share of links that the groups of a network agree with, same and different weighted alike."""
    a, b, same = kept
    items, index = np.unique(np.concatenate([a, b]), return_inverse=True)
    if not len(items):
        return 0.0
    chosen = trainer.data[to_device(items.astype(np.int64), trainer.device)]
    group = reader.bank(chosen).p.argmax(axis=1)[index]
    right = (group[: len(a)] == group[len(a) :]) == same
    shares = [right[part].mean() for part in (same, ~same) if part.any()]
    return float(np.mean(shares))
