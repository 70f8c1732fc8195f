"""Where a deep method starts: features learnt without answers, and groups on top of them.

:func:`pretrain` runs SimCLR for a time or a number of epochs. :func:`fit_frozen_head` fits a linear
head to answers on frozen features; :func:`fit_head_to_kmeans` starts a cluster head at k-means.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.group_count import guessed_count
from samekind.clusterers.kmeans.centres import Blocks
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.live.seeds import restricted
from samekind.clusterers.live.settling import settled
from samekind.compute import synchronise
from samekind.constraints import Constraints
from samekind.training.answered import to_device
from samekind.training.bank import in_use
from samekind.training.checkpoints import (
    Checkpoint,
    checkpoint_exists,
    load_checkpoint,
    save_checkpoint,
)
from samekind.training.frozen import LinearHead, fit_labels, fit_pairs
from samekind.training.heads import fit_head
from samekind.training.loop import Trainer
from samekind.training.steps import autocast

DEFAULT_EPOCHS = 40
"""Epochs of pre-training when neither epochs nor seconds are given."""
CHECKPOINTS = 20
"""Number of times that pre-training is written to its checkpoint."""
MAX_ROUNDS = 4
"""Times that items are placed in groups and the linear head is fitted again."""
MAX_KMEANS_ITEMS = 10_000
"""Items that k-means looks at when there are no answers."""
MAX_START_ITEMS = 3000
"""Items on which a fresh cluster head is started."""


def guess_groups(X: Any, seed: int, known: Constraints | None = None) -> int:
    """Estimate the number of groups of vectors (n, d) when nobody has given it."""
    blocks = Blocks.from_constraints(X, known)
    return max(1, guessed_count(X, blocks, np.random.default_rng((seed, 1))))


# -- features -------------------------------------------------------------------------------------


def pretrain(trainer: Trainer, setting: Setting, seed: int) -> int:
    """Train on views alone for the time or epochs of the setting; resume from its checkpoint.

    Returns the seed: that of the training which was resumed.
    """
    done, epochs = 0.0, None
    path = setting.checkpoint
    if path is not None and checkpoint_exists(path):
        expected = {"architecture": setting.architecture, "items": len(trainer.data)}
        checkpoint = load_checkpoint(path, expected=expected)
        facts = checkpoint.facts
        resume(trainer, checkpoint)
        seed, done, epochs = int(facts["seed"]), float(facts["done"]), float(facts["epochs"])
    if epochs is None:
        epochs = planned_epochs(trainer, setting)
    piece = max(1.0, epochs / CHECKPOINTS)
    while done < epochs:
        until = min(epochs, done + piece)
        trainer.run(until - done, before=done, horizon=epochs)
        done = until
        save_state(trainer, setting, seed=seed, done=done, epochs=epochs)
    return seed


def pretraining_steps(trainer: Trainer, setting: Setting) -> int | None:
    """Steps of pre-training, for a progress bar; None if it is limited by time."""
    epochs = DEFAULT_EPOCHS if setting.first_epochs is None else setting.first_epochs
    return None if setting.seconds is not None else epochs * trainer.batches.steps


def planned_epochs(trainer: Trainer, setting: Setting) -> float:
    """Return how many epochs there is time for; trains a few steps to find out."""
    if setting.seconds is None:
        return DEFAULT_EPOCHS if setting.first_epochs is None else setting.first_epochs
    per_epoch, begun = trainer.batches.steps, time.monotonic()
    trainer.run(10 / per_epoch, horizon=1e4)  # slow first steps, at a rate near zero
    synchronise(trainer.compute.device)
    middle = time.monotonic()
    trainer.run(20 / per_epoch, horizon=1e4)
    synchronise(trainer.compute.device)
    left = setting.seconds - (time.monotonic() - begun)
    epochs = max(1.0, left / ((time.monotonic() - middle) / 20 * per_epoch))
    agreed = torch.tensor(epochs, dtype=torch.float32, device=trainer.device)
    trainer.world.agree(agreed)  # clocks differ between processes
    return float(agreed)


def resume(trainer: Trainer, checkpoint: Checkpoint) -> None:
    """Continue from a checkpoint, with its number of groups."""
    if checkpoint.facts["groups"] != trainer.network.k:
        trainer.network.regroup(int(checkpoint.facts["groups"]))
        trainer.renew()
    trainer.load(checkpoint)


def save_state(trainer: Trainer, setting: Setting, **facts: Any) -> None:
    """Write the state of a training to the checkpoint of the setting, if it has one."""
    if setting.checkpoint is not None and not trainer.world.rank:
        save_checkpoint(setting.checkpoint, state_of(trainer, setting, **facts))


def state_of(trainer: Trainer, setting: Setting, **facts: Any) -> Checkpoint:
    """The state of a training, with the facts by which it is recognised."""
    tensors, state = trainer.state()
    state |= {
        "architecture": setting.architecture,
        "items": len(trainer.data),
        "groups": trainer.network.k,
        **facts,
    }
    return Checkpoint(tensors, state)


# -- groups ---------------------------------------------------------------------------------------


def fit_head_to_kmeans(trainer: Trainer, features: Any, known: Constraints, seed: int) -> None:
    """Fit the cluster head of a network to k-means on `features` (n, d), honouring the answers."""
    n, network = len(features), trainer.network
    rng = np.random.default_rng((seed, 2, network.k))
    rows = np.union1d(known.touched, rng.permutation(n)[:MAX_START_ITEMS]).astype(np.intp)
    kmeans = KMeans(network.k, n_init=3, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # answers that k-means cannot honour do not matter here
        labels = kmeans.fit(features[rows], constraints=restricted(known, rows)).labels_
    chosen = trainer.data[torch.from_numpy(rows).to(trainer.device)]
    target = torch.from_numpy(labels.astype(np.int64)).to(trainer.device)
    with torch.no_grad(), in_use(network), autocast(trainer.compute):
        h = torch.cat([network.backbone(trainer.views.plain(p)) for p in torch.split(chosen, 512)])
        x = h if network.attention is None else network.attention(h, h[:256])
    fit_head(network.cluster, x.float(), target)


def fit_frozen_head(features: Tensor, known: Constraints, k: int, seed: int) -> LinearHead:
    """Fit a linear head to all answers, or to k-means where there are too few."""
    head = LinearHead(features, k)
    links = known.links()
    if len(known.kinds) >= min(k, 2) and (~links.same).any() and k > 1:
        rows, labels = _first_groups(head, features, known, seed)
        for _ in range(MAX_ROUNDS):
            fit_labels(head, features[rows], labels, decay=_decay(len(rows)))
            again = placed(head, features, known)[rows]
            if torch.equal(again, labels):
                break
            labels = again
    else:
        rows, labels = _kmeans_groups(features, known, k, seed)
        fit_labels(head, features[rows], labels)
    return head


def placed(head: LinearHead, features: Tensor, known: Constraints) -> Tensor:
    """Return the column (n,) of each item; answers are honoured as far as there are columns."""
    with torch.no_grad():
        p = head(features).cpu().numpy()
    result = settled(p, known)
    spare = np.arange(len(np.unique(result.labels)))
    spare[: len(result.columns)] = result.columns
    columns = np.where(result.labels < len(result.columns), spare[result.labels], p.argmax(1))
    return torch.from_numpy(columns.astype(np.int64)).to(features.device)


def _first_groups(
    head: LinearHead, features: Tensor, known: Constraints, seed: int
) -> tuple[Tensor, Tensor]:
    """Answered items and their first groups: by the kinds told apart, else by bare pairs."""
    touched, kinds, k = known.touched, known.kinds, head.k
    rows = _there(touched, features)
    if len(kinds) >= k and sum(map(len, kinds)) >= 0.5 * len(touched):
        seeds = np.concatenate(kinds[:k])
        labels = np.repeat(np.arange(k), [len(kind) for kind in kinds[:k]])
        at, to = _there(seeds, features), _there(labels, features)
        fit_labels(head, features[at], to, decay=_decay(len(seeds)))
    else:
        links = known.links()
        a, b = (np.searchsorted(touched, side) for side in (links.a, links.b))
        pairs = _there(np.stack([a, b], axis=1), features)
        same = torch.from_numpy(links.same).to(features.device)
        decay = _decay(len(rows))
        fit_pairs(head, features[rows], pairs[same], pairs[~same], decay=decay, seed=seed)
    return rows, placed(head, features, known)[rows]


def _kmeans_groups(
    features: Tensor, known: Constraints, k: int, seed: int
) -> tuple[Tensor, Tensor]:
    """Some items and their groups by k-means, which honours what answers there are."""
    drawn = np.random.default_rng((seed, 4)).permutation(len(features))[:MAX_KMEANS_ITEMS]
    rows = np.union1d(known.touched, drawn).astype(np.intp)
    at = _there(rows, features)
    unit = torch.nn.functional.normalize(features[at] - features.mean(dim=0)).cpu().numpy()
    kmeans = KMeans(k, n_init=4, random_state=seed)
    labels = kmeans.fit(unit, constraints=restricted(known, rows)).labels_
    return at, _there(labels, features)


def _there(array: NDArray[Any], features: Tensor) -> Tensor:
    return to_device(array.astype(np.int64), features.device)


def _decay(n_rows: int) -> float:
    """Weaker penalty with more answers; chosen on frozen CIFAR-10 vectors (100 to 10,000)."""
    return float(np.clip(10 / max(n_rows, 1), 1e-3, 3e-2))
