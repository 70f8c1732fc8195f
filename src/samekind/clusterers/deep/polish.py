"""Polish: the groups of the live learner, carried on by a network that learns from all pictures."""

from __future__ import annotations

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.fixmatch import LabelClusterer, train_on_labels
from samekind.clusterers.deep.idc import FeedbackLearner
from samekind.clusterers.deep.idc_feedback import Feedback, feedback_of, voted
from samekind.clusterers.live.estimator import Live
from samekind.constraints import Constraints
from samekind.training.bank import Bank
from samekind.training.heads import ClusterHead, fit_head
from samekind.training.loop import Trainer
from samekind.training.network import Network


class PolishLearner(FeedbackLearner):
    """Rounds of two: `live` on the features gives shares, the network goes on from these.

    A network that follows its own guesses grows sure of its mistakes. `live` holds the guesses
    against the answers in every round, so that the sure ones are mostly right.
    """

    pretrains: ClassVar[bool] = False
    rounds = 1

    def _taught(
        self, trainer: Trainer, network: Network, feedback: Feedback, fresh: bool
    ) -> Network:
        return train_on_labels(self, trainer, network, feedback)

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


@dataclass(eq=False, repr=False, kw_only=True)
class Polish(LabelClusterer):
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

    The training is that of the profile ``gentle`` of
    :class:`~samekind.clusterers.deep.fixmatch.FixMatch` with a rate of .01 for the whole network,
    without warm-up, and without links: the groups of `live` follow the answers already, and wrong
    links cost more than the others brought. Other parameters: see
    :class:`~samekind.clusterers.deep.fixmatch.LabelClusterer`.
    """

    rounds: int = 3

    gentle: ClassVar[dict[str, Any]] = {
        "learning_rate": 0.01, "align": True, "backbone_rate": 1.0, "warm_up": 0.0,
    }  # fmt: skip

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        self._n_items = len(data)
        given = self.n_clusters is not None
        learner = PolishLearner(self._setting(data), data, seed, given=given)
        learner.rounds = max(1, self.rounds)
        return learner
