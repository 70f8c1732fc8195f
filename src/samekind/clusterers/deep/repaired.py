"""The profile ``repaired`` of PCL and OCC: their own loss plus the likelihood of the answers."""

from __future__ import annotations

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from samekind.clusterers.deep.base import Learner
from samekind.clusterers.deep.fast import agreement, split_answers
from samekind.clusterers.deep.pair_start import PairStart, closed_for_two, start_from_pairs
from samekind.clusterers.deep.pretraining import guess_groups, planned_epochs, pretraining_steps
from samekind.clusterers.deep.settings import Setting
from samekind.constraints import Constraints
from samekind.objectives.links import LinkMasks
from samekind.objectives.pair_likelihood import PairLikelihood
from samekind.training.answered import Answered, Guesses, to_device
from samekind.training.attention import CrossAttention
from samekind.training.bank import Bank, Reader, in_use
from samekind.training.batches import LinkedBatches
from samekind.training.heads import fit_head
from samekind.training.loop import Objective, Plan, Trainer
from samekind.training.network import Network, Output
from samekind.training.simclr import simclr_plan
from samekind.training.steps import SchedulePoint, autocast

Ints = NDArray[np.intp]
MAX_STEPS = 200
"""Steps of a fit on plain vectors when no epochs are given."""
PIECE = 50
"""Steps between two looks at whether the groups still change."""
STILL = 0.002
"""Share of items that change groups in a piece below which training on vectors ends."""
LOOKED_AT = 2000
"""Items of which it is seen whether they change groups."""
STRUCTURE = 20.0
"""Answers that weigh as much as the published loss does."""
GUESSED_SHARE = 0.25
"""Share of each group, its most certain items, that guesses are made about."""
EPOCHS = 60
"""Epochs of training on the answers, on pictures, when neither epochs nor seconds are given."""
BACKBONE_FACTOR = 0.1
"""Learning rate of the backbone over that of the heads: a larger one destroys its features."""
DECAY = 1e-2
"""Weight decay of the training on pictures."""


class RepairedLoss(nn.Module):
    """The loss of a method plus the likelihood of the answers.

    Parameters
    ----------
    own : the loss of the method; its parts are kept as they are. If it has an attribute `sizes`,
        :meth:`aim_at` sets the sizes of groups that its balance aims at.
    """

    def __init__(self, own: Any) -> None:
        super().__init__()
        self.own = own
        self.likelihood = PairLikelihood()

    def forward(self, out: Output, links: LinkMasks, point: SchedulePoint) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        return {**self.own(out, links, point), "pairs": self.likelihood(out.p, links)}

    def aim_at(self, sizes: Tensor, n_answers: int) -> None:
        """Let the balance aim at these shares of the groups (K,), and weigh so many answers.

        The mean over few answers is as large as that over many: it would let a single one bend
        the groups.
        """
        if hasattr(self.own, "sizes"):
            self.own.sizes = sizes
        self.likelihood.weight = max(1, n_answers) / (max(1, n_answers) + STRUCTURE)


@dataclass(frozen=True)
class PairBatches(LinkedBatches):
    """Batches of which a share are answered items with their partners, however few there are.

    In :class:`LinkedBatches` partners come to answered items that were drawn among all: with 100
    answers about 50,000 items, most batches then hold no pair.

    >>> batches = PairBatches(1000, 8, share=0.5)
    >>> known = Answered.from_constraints(Constraints.from_links(1000, [(3, 5, True)]))
    >>> items = batches.items(0, known)
    >>> len(items), {3, 5} <= set(items.tolist())
    (8, True)
    """

    def items(self, step: int, known: Answered | None = None) -> Ints:
        """The items of a step (counted from the beginning of training), each once."""
        drawn = super().items(step)
        if known is None or not known.any or self.size == self.n:
            return drawn
        rng = np.random.default_rng((self.seed, *divmod(step, self.steps), 1))
        wanted = max(2, int(self.share * self.size))
        answered = np.flatnonzero(known.touched)
        if len(answered) > wanted:
            answered = rng.permutation(answered)[: wanted // 2]
            partners = known.partners(answered, wanted - len(answered), rng)
            answered = np.concatenate([answered, partners])
        others = drawn[~np.isin(drawn, answered)]
        return np.concatenate([answered, others])[: self.size].astype(np.intp)


class RepairedLearner(Learner):
    """Trains with the loss of a method and the likelihood of the answers. Not as published:

    1. **Likelihood**: ``-log p_i.p_j`` of pairs answered "same" and ``-log(1 - p_i.p_j)`` of those
       answered "different" is added to the published loss
       (:class:`~samekind.objectives.pair_likelihood.PairLikelihood`), with the weight
       ``n / (n + 20)`` for n answers.
    2. **Beginning**: on pictures, features that SimCLR learnt without answers, or those of `start`.
       The cluster head begins from groups that fit the pairs and the structure of the items
       (:mod:`~samekind.clusterers.deep.pair_start`).
    3. **Balance**: aims at the sizes of these groups. The published one aims at equal sizes.
    4. **Two kinds**: different from different is the same, if there are two groups.
    5. **Batches** hold answered items with their partners, however few answers there are.
    6. **No attention, no extension** unless they are given. Fresh attention has no residual path:
       it replaces the features by others.
    7. **Steps**: on vectors, until the groups change no more, at most 200. On pictures, the whole
       network is trained on answers from `tune_from` answers on, its backbone at a tenth of the
       learning rate. It is used only if it agrees better than the head on frozen features with
       answers held out.
    """

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int, loss: Objective) -> None:
        super().__init__(setting, data, seed)
        self.loss = RepairedLoss(loss)
        if not self._pictures:
            self.objective = self.loss
        self._tuned: Network | None = None
        self._tuned_at = 0
        self.scores: dict[str, float] = {}
        """Agreement with the answers held out, of the head and of the trained network."""
        self.begun: PairStart | None = None
        """The groups that the latest fit began from."""

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Group the items by these answers."""
        with ExitStack() as stack:
            bank = self._fit_pictures(stack, known, k) if self._pictures else None
            if bank is None:
                bank = self._fit_rows(stack, known, k)
        self._fits += 1
        return bank

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Group by a head on the features as they are; the next fit pre-trains further."""
        trainer, unfinished = self._trainer, self._frozen is None
        if trainer is None or not self._pictures:
            return super().stopped(known, k)
        self._frozen = self._frozen or self._reading(trainer)
        bank = self._by_head(trainer, known, k)
        if unfinished:
            self._trainer = self._frozen = None
        return bank

    def _network(self, k: int) -> Network:
        """Pictures are pre-trained without attention."""
        attended = self.setting
        if self._pictures:
            self.setting = replace(attended, attention=False)
        try:
            return super()._network(k)
        finally:
            self.setting = attended

    def _plan(self) -> Plan:
        plan = super()._plan()
        if self._pictures:
            return simclr_plan(plan, batch=self.setting.batch_size)
        return replace(plan, schedule="cosine")

    def _bar_steps(self, trainer: Trainer) -> int | None:
        if self._pictures:
            return pretraining_steps(trainer, self.setting)
        epochs = self.setting.epochs
        return MAX_STEPS if epochs is None else round(epochs * trainer.batches.steps)

    # -- vectors -----------------------------------------------------------------------------------

    def _fit_rows(self, stack: ExitStack, known: Constraints, k: int | None) -> Bank:
        trainer = self._trainer = self._begin(known, k)
        trainer.monitor = self._monitor(stack, trainer)
        known = self._closed(known, trainer.network.k)
        plain = trainer.views.plain(trainer.data)
        self._begin_head(trainer, plain, known)
        self._learn(trainer, known, self.setting.epochs)
        self._reader = None
        return self._reading(trainer)

    def _learn(self, trainer: Trainer, known: Constraints, epochs: float | None) -> None:
        """Train with the answers for so many epochs; None: until the groups stay."""
        trainer.batches = _pair_batches(trainer)
        trainer.learn_from(known)
        per_epoch = trainer.batches.steps
        total = MAX_STEPS / per_epoch if epochs is None else epochs
        begun, piece = total * (1 - self.setting.extension), PIECE / per_epoch
        done, groups = 0.0, None
        while done < total:
            if self.setting.extension > 0 and done >= begun:
                trainer.guesses = self._guesses(trainer)
            ends = [total, begun if done < begun else total]
            until = min(*ends, done + piece) if epochs is None else min(ends)
            trainer.run(until - done, before=done, horizon=total)
            self.epochs_done += until - done
            done = until
            if epochs is None:
                before, groups = groups, _groups_now(trainer)
                if before is not None and float((before != groups).float().mean()) < STILL:
                    break

    def _guesses(self, trainer: Trainer) -> Guesses:
        bank, certain = self._reading(trainer), self.setting.certain
        most = max(1, trainer.batches.size // 4)
        if certain is not None:
            return Guesses.above(bank.z, bank.p, certain=certain, most=most)
        return Guesses.most_certain(bank.z, bank.p, share=GUESSED_SHARE, most=most)

    # -- pictures ----------------------------------------------------------------------------------

    def _fit_pictures(self, stack: ExitStack, known: Constraints, k: int | None) -> Bank:
        trainer = self._with_features(stack, known, k)
        bank = self._by_head(trainer, known, k)
        groups = trainer.network.k
        if len(known.answers) >= self.setting.tune_from and groups > 1:
            best = self._tune_if_better(trainer, known, groups)
            reader = self._read_by(best, trainer)
            if best is not trainer.network:
                bank = reader.bank(trainer.data)
        return bank

    def _by_head(self, trainer: Trainer, known: Constraints, k: int | None) -> Bank:
        """Group by a head on frozen features."""
        assert self._frozen is not None
        features = self._features(trainer)
        k = k or max(2, guess_groups(self._frozen.h, self.seed))
        trainer.network.regroup(k)
        self._begin_head(trainer, features, self._closed(known, k))
        self._read_by(trainer.network, trainer)
        with torch.no_grad():
            p = torch.cat([trainer.network.cluster(x) for x in torch.split(features, 4096)])
        return replace(self._frozen, p=p.float().cpu().numpy())

    def _tune_if_better(self, trainer: Trainer, known: Constraints, k: int) -> Network:
        """Return the frozen network, or one trained on most answers if the rest prefer it."""
        learnt, kept = split_answers(known, np.random.default_rng((self.seed, 3)))
        learnt = self._closed(learnt, k)
        frozen = self._copy_with_head(trainer, learnt, k)
        if self._tuned is None or len(known.answers) >= 1.5 * self._tuned_at:
            self._tuned = self._tune(trainer, frozen, learnt)
            self._tuned_at = len(known.answers)
        self.scores = {
            name: agreement(self._reader_of(one, trainer), trainer, kept)
            for name, one in (("frozen", frozen), ("tuned", self._tuned))
        }
        better = self.scores["tuned"] > self.scores["frozen"] and self._tuned.k == k
        return self._tuned if better else trainer.network

    def _copy_with_head(self, trainer: Trainer, known: Constraints, k: int) -> Network:
        """The frozen network with a head that begins from these answers."""
        kept = trainer.network
        trainer.network = deepcopy(kept)
        trainer.network.regroup(k)
        try:
            self._begin_head(trainer, self._features(trainer), known)
            return trainer.network
        finally:
            trainer.network = kept

    def _tune(self, trainer: Trainer, frozen: Network, known: Constraints) -> Network:
        """Train a copy of the network with the loss of the method and the likelihood."""
        setting, network = self.setting, deepcopy(frozen)
        plan = replace(
            super()._plan(),
            schedule="cosine",
            weight_decay=DECAY,
            factors=(("backbone.", BACKBONE_FACTOR),),
        )
        if setting.attention:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self.seed)
                network.attention = CrossAttention(network.width).to(trainer.device)
        tuner = Trainer(
            network,
            self.loss,
            trainer.data,
            trainer.views,
            plan,
            compute=trainer.compute,
            monitor=trainer.monitor,
        )
        if setting.attention:
            self._begin_head(tuner, self._features(trainer), known)
        tuner.batches = _pair_batches(tuner)
        tuner.learn_from(known)
        epochs: float = EPOCHS if setting.epochs is None else setting.epochs
        if setting.tune_seconds is not None:
            epochs = planned_epochs(tuner, replace(setting, seconds=setting.tune_seconds))
        self._learn(tuner, known, epochs)
        return network

    def _features(self, trainer: Trainer) -> Tensor:
        assert self._frozen is not None
        return torch.from_numpy(self._frozen.h).to(trainer.device)

    def _read_by(self, network: Network, trainer: Trainer) -> Reader:
        self._reader = self._reader_of(network, trainer)
        return self._reader

    def _reader_of(self, network: Network, trainer: Trainer) -> Reader:
        peers, prepare = trainer.batches.size - 1, trainer.views.plain
        return Reader.of(
            network, trainer.data, prepare, trainer.compute, peers=peers, seed=self.seed
        )

    # -- both --------------------------------------------------------------------------------------

    def _closed(self, known: Constraints, k: int) -> Constraints:
        return closed_for_two(known) if k == 2 else known

    def _begin_head(self, trainer: Trainer, features: Tensor, known: Constraints) -> None:
        """Begin the cluster head of a network from groups that fit the answers.

        Parameters
        ----------
        features : (n, width) what neighbours and groups are looked for in.
        """
        network = trainer.network
        self.begun = begun = start_from_pairs(features, known, network.k, self.seed)
        self.loss.aim_at(begun.sizes, len(known.links().a))
        chosen = to_device(begun.rows.astype(np.int64), trainer.device)
        with torch.no_grad(), in_use(network), autocast(trainer.compute):
            x = features[chosen]
            if not self._pictures:  # the features of pictures are those of the backbone
                x = network.backbone(x)
            if network.attention is not None:
                x = network.attention(x, x[:256])
        fit_head(network.cluster, x.float(), begun.p)


def _pair_batches(trainer: Trainer) -> PairBatches:
    plan = trainer.plan
    return PairBatches(
        len(trainer.data), plan.batch_size, plan.seed, plan.linked_share, trainer.world.size
    )


@torch.no_grad()
def _groups_now(trainer: Trainer) -> Tensor:
    """Groups of some items by the network as it is; with attention, among each other."""
    with in_use(trainer.network), autocast(trainer.compute):
        rows = trainer.views.plain(trainer.data[:LOOKED_AT])
        groups: Tensor = trainer.network(rows, views=1).p.argmax(dim=1)
    return groups
