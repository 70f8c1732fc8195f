"""IDC's learner: features without answers, a head for the groups, then training on feedback."""

from __future__ import annotations

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.fast import FastLearner
from samekind.clusterers.deep.idc_answers import feedback_of, voted
from samekind.clusterers.deep.learner import fit_head
from samekind.clusterers.deep.settings import Setting
from samekind.compute import COMPILE_MODES
from samekind.constraints import Constraints
from samekind.errors import UnknownName
from samekind.training.augment import Views, family_named
from samekind.training.bank import Bank
from samekind.training.device_kmeans import cosine_kmeans
from samekind.training.feedback_tuning import Feedback, FeedbackTuner, Sights
from samekind.training.finetune import OneNoisyRow, OneView
from samekind.training.heads import ClusterHead
from samekind.training.loop import Trainer
from samekind.training.losses import ItemContrast
from samekind.training.network import Network
from samekind.training.rows import NoisyRows
from samekind.training.strong import Strong, StrongFamily

WARM_UP = 0.5
"""Part of the training of a fresh head in which guesses do not count."""
RESTARTS = 5
"""Starts of the k-means that a fresh head is fitted to."""
VIEWS = ("strong", "own")


class FeedbackLearner(FastLearner):
    """Features are learnt once; every fit begins from them and depends on the answers alone.

    Parameters
    ----------
    given : whether the number of groups was given. If so, they are those of the features alone,
        and questions can speak of them from the beginning. If not, the answers have a say.
    """

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int, *, given: bool) -> None:
        super().__init__(setting, ItemContrast(temperature=0.2), data, seed)
        self.given = given

    @property
    def _learns_features(self) -> bool:
        return self.setting.start is None and self._pictures

    @property
    def _pictures(self) -> bool:
        return self._data is not None and self._data.ndim == 4

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Groups from these answers."""
        with ExitStack() as stack:
            trainer = self._ready(stack, known, k)
            network, fresh = self._with_head(trainer, known, k)
            bank = self._reading(trainer, network)
            feedback = feedback_of(bank.p, known)
            if len(feedback) and network.k > 1:
                tuned = self._taught(trainer, network, feedback, fresh)
                if tuned is not network:
                    bank = self._reading(trainer, tuned)
        self._fits += 1
        return replace(bank, p=voted(bank.p, known))

    def _taught(
        self, trainer: Trainer, network: Network, feedback: Feedback, fresh: bool
    ) -> Network:
        """The network after training on feedback."""
        tuning = self.setting.feedback
        if not tuning.epochs > 0:
            return network
        if fresh and tuning.warm_up is None:
            tuning = replace(tuning, warm_up=WARM_UP)
        return FeedbackTuner(
            network,
            trainer.data,
            feedback,
            self._sights(trainer),
            tuning,
            compute=trainer.compute,
            seed=self.seed,
            compiled=self.setting.compile,
            watch=trainer.watch,
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
        return replace(bank, p=voted(bank.p, known))

    def _begun(self, known: Constraints, k: int | None) -> Trainer:
        return super()._begun(Constraints(known.n_items) if self.given else known, k)

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
        rows, labels = self._first_groups(network, features, known, k)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            head = ClusterHead(network.width, max(k or 1, int(labels.max()) + 1))
        network.cluster = head.to(trainer.device)
        fit_head(network.cluster, features[rows], labels)
        return network, True

    def _first_groups(
        self, network: Network, features: torch.Tensor, known: Constraints, k: int | None
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
            k = self._guess_k(features.cpu().numpy())
        if not self.given and len(known.touched):  # a linear head learns them from the answers
            self._fit_frozen(network, features, known, k)
            head: Any = network.cluster
            return everything, self._placed(head, features, known)
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
        compiled = self.setting.compile in COMPILE_MODES
        dtype = torch.bfloat16 if trainer.compute.dtype == "bfloat16" else torch.float32
        family = family_named(self.setting.family).at(self.setting.size)
        if wanted == "own":
            made = Views(family, dtype=dtype).to(trainer.device)
            return Sights(OneView(made, compiled), views.plain)
        strong = StrongFamily(family.size, mean=family.mean, std=family.std)
        return Sights(
            Strong(strong, dtype=dtype, compiled=compiled).to(trainer.device), views.plain
        )
