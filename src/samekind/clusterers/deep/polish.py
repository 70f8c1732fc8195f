"""Polish: the groups of the live learner, carried on by a network that learns from all pictures."""

from __future__ import annotations

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.fixmatch import FixMatch, LabelLearner
from samekind.clusterers.deep.idc_answers import feedback_of, voted
from samekind.clusterers.deep.learner import Learner, fit_head
from samekind.clusterers.live.estimator import Live
from samekind.constraints import Constraints
from samekind.training.bank import Bank
from samekind.training.heads import ClusterHead
from samekind.training.loop import Trainer
from samekind.training.network import Network


class PolishLearner(LabelLearner):
    """Rounds of two: `live` on the features gives shares, the network goes on from these.

    A network that follows its own guesses grows sure of its mistakes. `live` holds the guesses
    against the answers in every round, so that the sure ones are mostly right.
    """

    rounds = 1

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Groups from these answers."""
        if not self._pictures:
            return super().fit(known, k)
        with ExitStack() as stack:
            trainer = self._ready(stack, known, k)
            assert self._frozen is not None
            network, bank = deepcopy(trainer.network), self._frozen
            whole = self.setting
            part = replace(whole.tuning, epochs=whole.tuning.epochs / self.rounds)
            if part.seconds is not None:
                part = replace(part, seconds=part.seconds / self.rounds)
            self.setting = replace(whole, tuning=part)
            for _ in range(self.rounds):
                network.cluster = self._live_head(network, bank, trainer, known, k)
                bank = self._reading(trainer, network)
                feedback = feedback_of(bank.p, known)
                tuned = network
                if len(feedback) and network.k > 1:
                    tuned = self._taught(trainer, network, feedback, fresh=True)
                if tuned is network:
                    break
                network, bank = tuned, self._reading(trainer, tuned)
            self.setting = whole
        self._fits += 1
        return replace(bank, p=voted(bank.p, known))

    def _live_head(
        self, network: Network, bank: Bank, trainer: Trainer, known: Constraints, k: int | None
    ) -> ClusterHead:
        """A head with the shares that `live` finds on these features."""
        unit = bank.h / np.maximum(np.linalg.norm(bank.h, axis=1, keepdims=True), 1e-12)
        live = Live(k if self.given else None, random_state=self.seed).fit(unit, constraints=known)
        shares = torch.from_numpy(live.membership_.astype(np.float32)).to(trainer.device)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            head = ClusterHead(network.width, live.n_clusters_).to(trainer.device)
        fit_head(head, torch.from_numpy(bank.h).to(trainer.device), shares)
        return head


class Polish(FixMatch):
    """A network that begins with the groups of `live` and goes on from all pictures.

    `live` reads fixed vectors. Here the network that made them is trained too: on the answered
    items, and on its own sure guesses about all others under strong changes of the picture, while
    every group keeps the size that `live` gave it. It wants a GPU and minutes; answers are obeyed
    as everywhere.

    Parameters
    ----------
    n_clusters : groups; None: those of `live`.
    rounds : how often `live` puts the guesses right; each has its part of the training.
    start : file with features (`samekind learn`); they decide how good the result can be.
    epochs, tune_seconds, learning_rate, labelled, company, sure, average, views, align, backbone,
    stem, channels, size, family, image_shape, warm_start, device, compile, watch, random_state,
    verbose : as in :class:`~samekind.clusterers.deep.fixmatch.FixMatch`.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.
    """

    _learner_kind = PolishLearner

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        rounds: int = 3,
        start: str | None = None,
        epochs: float | None = None,
        tune_seconds: float | None = None,
        learning_rate: float = 0.01,
        labelled: int = 64,
        company: int = 448,
        sure: float = 0.95,
        average: float = 0.999,
        views: str | None = "strong",
        align: bool = True,
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
        super().__init__(
            n_clusters,
            start=start,
            epochs=epochs,
            tune_seconds=tune_seconds,
            learning_rate=learning_rate,
            labelled=labelled,
            company=company,
            sure=sure,
            average=average,
            views=views,
            align=align,
            backbone=backbone,
            stem=stem,
            channels=channels,
            size=size,
            family=family,
            image_shape=image_shape,
            warm_start=warm_start,
            device=device,
            compile=compile,
            watch=watch,
            random_state=random_state,
            verbose=verbose,
        )
        self.rounds = rounds

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        learner = super()._new_learner(data, seed)
        assert isinstance(learner, PolishLearner)
        learner.rounds = max(1, self.rounds)
        return learner
