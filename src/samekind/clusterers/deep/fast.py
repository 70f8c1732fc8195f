"""The fast profile: features without answers first, then groups, then only what pays off."""

from __future__ import annotations

import time
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from samekind.clusterers.deep.learner import Learner, fit_head, guess
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.live.seeds import restricted
from samekind.clusterers.live.settling import settled
from samekind.compute import synchronise
from samekind.constraints import Constraints
from samekind.training.answered import Answered, sent
from samekind.training.augment import family_named
from samekind.training.bank import Bank, Reader
from samekind.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from samekind.training.finetune import Tuner, Tuning
from samekind.training.frozen import LinearHead, fit_labels, fit_pairs
from samekind.training.heads import ClusterHead
from samekind.training.loop import Objective, Plan, Trainer
from samekind.training.losses import ItemContrast
from samekind.training.network import Network

Ints = NDArray[np.intp]
ROUNDS = 4
"""Times that items without a sure group are placed and the head is fitted again."""
SAMPLE = 10_000
"""Items that k-means looks at when there are no answers."""
PIECES = 20
"""Times that self-supervised training is written to its checkpoint."""
KEPT_ASIDE = 0.15
"""Part of the answers that decide between the frozen head and the trained network."""


class FastLearner(Learner):
    """Self-supervised features once; at each refit a head on them; a trained network if better.

    1. On the first fit the backbone learns from views alone (SimCLR: contrast of items).
    2. At each fit a linear head on the frozen features learns the groups from the answers, within
       seconds.
    3. From ``tune_from`` answers on, a copy of the whole network is trained on them. It replaces
       the frozen one only if it agrees better with answers that were kept aside: with few answers
       it is usually worse.
    """

    def __init__(
        self, setting: Setting, objective: Objective, data: NDArray[Any], seed: int
    ) -> None:
        setting = replace(setting, attention=False)  # groups are read off single items here
        super().__init__(setting, ItemContrast(temperature=0.2), data, seed)
        self._frozen: Bank | None = None
        self._tuned: Network | None = None
        self._tuned_at = 0
        self.scores: dict[str, float] = {}
        """Agreement with the answers kept aside, of the head and of the trained network."""

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Groups from these answers."""
        with ExitStack() as stack:
            trainer = self._ready(stack, known, k)
            bank, features = self._by_head(trainer, known, k)
            groups = trainer.network.k
            if len(known.answers) >= self.setting.tune_from and groups > 1:
                best = self._tune_if_better(trainer, features, known, groups)
                if best is not trainer.network:
                    self._read_by(best, trainer)
                    assert self._reader is not None
                    bank = self._reader.bank(trainer.data)
        self._fits += 1
        return bank

    def _ready(self, stack: ExitStack, known: Constraints, k: int | None) -> Trainer:
        """The trainer; before the first fit features are learnt, unless there are some to use."""
        trainer = self._trainer
        if trainer is not None:
            trainer.watch = self._watch(stack, trainer)
            return trainer
        rows = self._data is not None and self._data.ndim == 2
        trainer = self._trainer = self._begun(known, k if rows else k or 2)
        trainer.watch = self._watch(stack, trainer)
        if self._learns_features:
            self._pretrain(trainer)
        self._frozen = self._reading(trainer)
        return trainer

    @property
    def _learns_features(self) -> bool:
        """Whether there is self-supervised training."""
        return self.setting.start is None

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Groups by a head on the features as far as they are; the next fit trains them on."""
        trainer, unfinished = self._trainer, self._frozen is None
        if trainer is None:
            return None
        self._frozen = self._frozen or self._reading(trainer)
        bank, _ = self._by_head(trainer, known, k)
        if unfinished:
            self._trainer = self._frozen = None
        return bank

    def _by_head(
        self, trainer: Trainer, known: Constraints, k: int | None
    ) -> tuple[Bank, torch.Tensor]:
        """Groups by a head on frozen features, and these features on the device."""
        assert self._frozen is not None
        features = torch.from_numpy(self._frozen.h).to(trainer.device)
        self._fit_frozen(trainer.network, features, known, k or self._guess_k(self._frozen.h))
        self._read_by(trainer.network, trainer)
        with torch.no_grad():
            p = trainer.network.cluster(features).float().cpu().numpy()
        return replace(self._frozen, p=p), features

    def _read_by(self, network: Network, trainer: Trainer) -> None:
        self._reader = Reader.of(
            network, trainer.data, trainer.views.plain, trainer.compute, peers=0, seed=self.seed
        )

    def _bar_steps(self, trainer: Trainer) -> int | None:
        """Of the features; those of the tuning are told by the share that is done."""
        epochs = 40 if self.setting.first_epochs is None else self.setting.first_epochs
        return None if self.setting.seconds is not None else epochs * trainer.batches.steps

    def _plan(self) -> Plan:
        return replace(
            super()._plan(), optimiser="sgd", schedule="cosine", weight_decay=5e-4, clip=None
        )

    def _pretrain(self, trainer: Trainer) -> None:
        """Learn features from views alone, for the time or the epochs that were asked for."""
        done, epochs = self._taken_up(trainer)
        if epochs is None:
            epochs = self._planned(trainer)
        piece = max(1.0, epochs / PIECES)
        while done < epochs:
            until = min(epochs, done + piece)
            trainer.run(until - done, before=done, horizon=epochs)
            done = until
            self._keep_features(trainer, done, epochs)

    def _planned(self, trainer: Trainer) -> float:
        """How many epochs there is time for; trains a few steps to find out."""
        setting, per_epoch = self.setting, trainer.batches.steps
        if setting.seconds is None:
            return 40 if setting.first_epochs is None else setting.first_epochs
        begun = time.monotonic()
        trainer.run(10 / per_epoch, horizon=1e4)  # slow first steps, at nearly no rate
        synchronise(trainer.compute.device)
        middle = time.monotonic()
        trainer.run(20 / per_epoch, horizon=1e4)
        synchronise(trainer.compute.device)
        left = setting.seconds - (time.monotonic() - begun)
        epochs = max(1.0, left / ((time.monotonic() - middle) / 20 * per_epoch))
        agreed = torch.tensor(epochs, dtype=torch.float32, device=trainer.device)
        trainer.world.agree(agreed)  # clocks differ
        return float(agreed)

    def _taken_up(self, trainer: Trainer) -> tuple[float, float | None]:
        """Epochs done and planned by a training that was interrupted; (0, None): there is none."""
        path = self.setting.checkpoint
        if path is None or not Path(path).exists():
            return 0.0, None
        expected = {"architecture": self.setting.architecture, "items": len(trainer.data)}
        checkpoint = load_checkpoint(path, expected=expected)
        if checkpoint.facts["groups"] != trainer.network.k:
            trainer.network.regroup(int(checkpoint.facts["groups"]))
            trainer.renew()
        trainer.load(checkpoint)
        self.seed = int(checkpoint.facts["seed"])
        return float(checkpoint.facts["done"]), float(checkpoint.facts["epochs"])

    def _keep_features(self, trainer: Trainer, done: float, epochs: float) -> None:
        path = self.setting.checkpoint
        if path is None or trainer.world.rank:
            return
        tensors, facts = trainer.state()
        facts |= {
            "architecture": self.setting.architecture,
            "items": len(trainer.data),
            "groups": trainer.network.k,
            "seed": self.seed,
            "done": done,
            "epochs": epochs,
        }
        save_checkpoint(path, Checkpoint(tensors, facts))

    def _guess_k(self, h: Any) -> int:
        return max(2, guess(h, np.random.default_rng((self.seed, 1))))

    def _fit_frozen(
        self, network: Network, features: torch.Tensor, known: Constraints, k: int
    ) -> None:
        """Fit a linear head to all answers, and to k-means where there are none."""
        head = LinearHead(features, k)
        links = known.links()
        if len(known.kinds) >= min(k, 2) and (~links.same).any() and k > 1:
            rows, labels = self._begin_groups(head, features, known, k)
            for _ in range(ROUNDS):
                fit_labels(head, features[rows], labels, decay=_decay(len(rows)))
                again = self._placed(head, features, known)[rows]
                if torch.equal(again, labels):
                    break
                labels = again
        else:
            rows, labels = self._by_kmeans(features, known, k)
            fit_labels(head, features[rows], labels)
        network.cluster = head  # type: ignore[assignment]

    def _begin_groups(
        self, head: LinearHead, features: torch.Tensor, known: Constraints, k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Answered items with a first group: by the kinds told apart, or else by bare pairs."""
        touched = known.touched
        kinds = known.kinds
        rows = sent(touched.astype(np.int64), features.device)
        if len(kinds) >= k and sum(map(len, kinds)) >= 0.5 * len(touched):
            seeds = np.concatenate(kinds[:k])
            labels = np.repeat(np.arange(k), [len(kind) for kind in kinds[:k]])
            at, to = (sent(a.astype(np.int64), features.device) for a in (seeds, labels))
            fit_labels(head, features[at], to, decay=_decay(len(seeds)))
        else:
            links = known.links()
            a, b = (np.searchsorted(touched, side) for side in (links.a, links.b))
            pairs = sent(np.stack([a, b], axis=1).astype(np.int64), features.device)
            same = torch.from_numpy(links.same).to(features.device)
            fit_pairs(
                head,
                features[rows],
                pairs[same],
                pairs[~same],
                decay=_decay(len(rows)),
                seed=self.seed,
            )
        return rows, self._placed(head, features, known)[rows]

    def _placed(self, head: LinearHead, features: torch.Tensor, known: Constraints) -> torch.Tensor:
        """(n,) the column of each item, answers honoured as far as there are columns."""
        with torch.no_grad():
            p = head(features).cpu().numpy()
        result = settled(p, known)
        spare = np.arange(len(np.unique(result.labels)))
        spare[: len(result.columns)] = result.columns
        columns = np.where(result.labels < len(result.columns), spare[result.labels], p.argmax(1))
        return torch.from_numpy(columns.astype(np.int64)).to(features.device)

    def _by_kmeans(
        self, features: torch.Tensor, known: Constraints, k: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Groups of some items by likeness alone, honouring what answers there are."""
        drawn = np.random.default_rng((self.seed, 4)).permutation(len(features))[:SAMPLE]
        rows = np.union1d(known.touched, drawn).astype(np.intp)
        at = sent(rows.astype(np.int64), features.device)
        unit = torch.nn.functional.normalize(features[at] - features.mean(dim=0)).cpu().numpy()
        start = KMeans(k, n_init=4, random_state=self.seed)
        labels = start.fit(unit, constraints=restricted(known, rows)).labels_
        return at, sent(labels.astype(np.int64), features.device)

    def _tune_if_better(
        self, trainer: Trainer, features: torch.Tensor, known: Constraints, k: int
    ) -> Network:
        """The frozen network, or one trained on most of the answers if the rest prefer it."""
        learnt, kept = _split(known, np.random.default_rng((self.seed, 3)))
        if self._tuned is None or len(known.answers) >= 1.5 * self._tuned_at:
            self._tuned = self._tune(trainer, features, learnt, k)
            self._tuned_at = len(known.answers)
        frozen = deepcopy(trainer.network)
        self._fit_frozen(frozen, features, learnt, k)
        self.scores = {
            "frozen": _agreement(frozen, trainer, kept),
            "tuned": _agreement(self._tuned, trainer, kept),
        }
        better = self.scores["tuned"] > self.scores["frozen"] and self._tuned.k == k
        return self._tuned if better else trainer.network

    def _tune(
        self, trainer: Trainer, features: torch.Tensor, known: Constraints, k: int
    ) -> Network:
        network = deepcopy(trainer.network)
        self._fit_frozen(network, features, known, k)
        head: Any = network.cluster
        labels = self._placed(head, features, known)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network.cluster = ClusterHead(network.width, k).to(trainer.device)
        fit_head(network.cluster, features, labels)
        setting = self.setting
        tuning = Tuning(
            answered=min(256, setting.batch_size),
            company=setting.batch_size,
            seconds=setting.tune_seconds,
            epochs=20 if setting.epochs is None else setting.epochs,
        )
        rows = known.touched
        return Tuner(
            network,
            trainer.data,
            rows,
            labels.cpu().numpy()[rows].astype(np.intp),
            Answered.from_constraints(known),
            family_named(setting.family).at(setting.size),
            tuning,
            compute=trainer.compute,
            seed=self.seed,
            compiled=setting.compile,
            watch=trainer.watch,
        ).run()


def _split(known: Constraints, rng: np.random.Generator) -> tuple[Constraints, Any]:
    """Most answers, and the links of the others: those of some items that few answers speak of."""
    links = known.links()
    n_links = np.bincount(np.concatenate([links.a, links.b]), minlength=known.n_items)
    few = np.flatnonzero((n_links > 0) & (n_links <= np.median(n_links[n_links > 0])))
    aside = np.zeros(known.n_items, dtype=bool)
    aside[rng.permutation(few)[: int(KEPT_ASIDE * len(known.touched))]] = True
    out = aside[links.a] | aside[links.b]
    rest = zip(links.a[~out], links.b[~out], links.same[~out], strict=True)
    learnt = Constraints.from_links(known.n_items, [(int(a), int(b), bool(s)) for a, b, s in rest])
    return learnt, (links.a[out], links.b[out], links.same[out])


def _agreement(network: Network, trainer: Trainer, kept: Any) -> float:
    """Share of links that the groups of the network agree with, same and different alike."""
    a, b, same = kept
    items, index = np.unique(np.concatenate([a, b]), return_inverse=True)
    if not len(items):
        return 0.0
    reader = Reader(network, trainer.views.plain, trainer.compute)
    chosen = trainer.data[sent(items.astype(np.int64), trainer.device)]
    group = reader.bank(chosen).p.argmax(axis=1)[index]
    right = (group[: len(a)] == group[len(a) :]) == same
    shares = [right[part].mean() for part in (same, ~same) if part.any()]
    return float(np.mean(shares))


def _decay(n_rows: int) -> float:
    """Weaker penalty with more answers; chosen on frozen CIFAR-10 vectors (100 to 10,000)."""
    return float(np.clip(10 / max(n_rows, 1), 1e-3, 3e-2))
