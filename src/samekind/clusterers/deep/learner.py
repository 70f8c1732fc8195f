"""Learner: the network of a deep clusterer, with all that it takes to train and to use it."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import nll_loss

from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.starting import Start, load_start
from samekind.clusterers.group_count import guessed_count
from samekind.clusterers.kmeans.centres import Blocks
from samekind.clusterers.kmeans.constrained import KMeans
from samekind.clusterers.live.seeds import restricted
from samekind.compute import COMPILE_MODES, best_device
from samekind.constraints import Constraints
from samekind.errors import UnknownName
from samekind.training.answered import Guesses
from samekind.training.augment import Views, family_named
from samekind.training.bank import Bank, Reader, in_use
from samekind.training.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from samekind.training.loop import Objective, Plan, Trainer
from samekind.training.network import Network
from samekind.training.progress import Monitor, bar
from samekind.training.resnet import ResNet
from samekind.training.rows import NoisyRows, RowBackbone
from samekind.training.steps import autocast

Floats = NDArray[np.float32]
STEPS_PER_FIT = 60
"""For plain vectors, when nobody says how many epochs."""
_START_SAMPLE = 3000
"""Items on which a fresh cluster head is begun."""


class Learner:
    """A network in training. Fitted again, it goes on where it was; pickled, it keeps its weights.

    Parameters
    ----------
    setting : what was asked for.
    objective : the loss.
    data : uint8 (n, 3, height, width) or float32 (n, d).
    seed : of everything.
    """

    def __init__(
        self, setting: Setting, objective: Objective, data: NDArray[Any], seed: int
    ) -> None:
        self.setting, self.objective, self.seed = setting, objective, seed
        self.compute = best_device(setting.device)
        self._data: NDArray[Any] | None = data
        self._fits = 0
        self._epochs_done = 0
        self._resumed = 0  # epochs of this fit that were done before an interruption
        self._trainer: Trainer | None = None
        self._reader: Reader | None = None
        self._start = Start()

    def same_data(self, data: NDArray[Any]) -> bool:
        """Whether these are the items that it was trained on."""
        mine = self._data
        return mine is not None and (
            mine is data or (mine.shape == data.shape and np.array_equal(mine, data))
        )

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Train for the epochs of one fit on these answers."""
        trainer = self._trainer
        if trainer is None:
            trainer = self._trainer = self._begun(known, k)
            self._resume(trainer, known)
        elif k is not None and k != trainer.network.k:
            trainer.network.regroup(k)
            self._start_head(trainer, self._reading(trainer).h, known)
            trainer.renew()
        with ExitStack() as stack:
            trainer.watch = self._watch(stack, trainer)
            self._train(trainer, known)
        self._fits += 1
        self._reader = None
        return self._reading(trainer)

    @property
    def backbone(self) -> torch.nn.Module:
        """The part of the network that makes features."""
        assert self._reader is not None
        return self._reader.network.backbone

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """What the network says after its training was stopped; None if it had not begun."""
        return None if self._trainer is None else self._reading(self._trainer)

    def read(self, data: NDArray[Any]) -> Bank:
        """What the network says of any items."""
        assert self._reader is not None
        return self._reader.bank(_tensor(data))

    def two_views(self, space: str) -> Floats:
        """(2, n, d) vectors of two random views of each item."""
        assert self._reader is not None and self._trainer is not None
        trainer, reader = self._trainer, self._reader
        return reader.views_bank(
            trainer.data, trainer.views, lambda out: getattr(out, space), seed=self.seed
        )

    def __getstate__(self) -> dict[str, Any]:
        """Weights and settings; the items and the optimiser stay behind."""
        return {**self.__dict__, "_data": None, "_trainer": None}

    def _begun(self, known: Constraints, k: int | None) -> Trainer:
        assert self._data is not None
        setting, data = self.setting, _tensor(self._data)
        rng = np.random.default_rng((self.seed, 1))
        views: Views | NoisyRows
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            if data.ndim == 4:
                k = guess(coarse(self._data), rng, known) if k is None else k
                views = self._views()
                network = Network(resnet(setting), k=k, attention=setting.attention)
                if setting.start is not None:
                    self._start = load_start(setting.start, setting.features, network.backbone)
            else:
                views = NoisyRows(data)
                k = guess(views.plain(data).numpy(), rng, known) if k is None else k
                backbone = RowBackbone(data.shape[1])
                network = Network(backbone, k=k, out=64, attention=setting.attention)
        plan = self._plan()
        trainer = Trainer(network, self.objective, data, views, plan, compute=self.compute)
        if data.ndim == 2:
            self._start_head(trainer, trainer.views.plain(trainer.data).cpu().numpy(), known)
        return trainer

    def _views(self) -> Views:
        reduced = self.compute.dtype == "bfloat16"
        family = family_named(self.setting.family).at(self.setting.size)
        dtype = torch.bfloat16 if reduced else torch.float32
        return Views(family, dtype=dtype, compiled=self.setting.compile in COMPILE_MODES)

    def _plan(self) -> Plan:
        setting = self.setting
        return Plan(
            batch_size=setting.batch_size,
            learning_rate=setting.learning_rate,
            linked_share=setting.linked_share,
            seed=self.seed,
            compile=setting.compile,  # type: ignore[arg-type]
        )

    def _train(self, trainer: Trainer, known: Constraints) -> None:
        """The epochs of one fit, in pieces where something has to be done between them."""
        setting = self.setting
        epochs = self._epochs(trainer)
        trainer.learn_from(known)
        done, self._resumed = self._resumed, 0
        stepwise = setting.checkpoint is not None or trainer.data.ndim == 4
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
            self._save(trainer, known, done)

    def _epochs(self, trainer: Trainer) -> int:
        setting = self.setting
        usual = 1 if trainer.data.ndim == 4 else math.ceil(STEPS_PER_FIT / trainer.batches.steps)
        epochs = usual if setting.epochs is None else setting.epochs
        first = setting.first_epochs
        return first if first is not None and self._fits == 0 else epochs

    def _guesses(self, trainer: Trainer) -> Guesses:
        bank = self._reading(trainer)
        most = max(1, trainer.batches.size // 4)
        return Guesses.of(bank.z, bank.p, certain=self.setting.certain, most=most)

    def _reading(self, trainer: Trainer, network: Network | None = None) -> Bank:
        """What a network, by default the one in training, says of all items; it is used now."""
        network, views = network or trainer.network, trainer.views
        prepare: Callable[[torch.Tensor], torch.Tensor] = views.plain
        if isinstance(views, NoisyRows) and trainer.device.type != "mps":
            network, prepare = deepcopy(network).double(), views.exact
        self._reader = Reader.of(
            network,
            trainer.data,
            prepare,
            trainer.compute,
            peers=trainer.batches.size - 1,
            seed=self.seed,
            compiled=trainer.compiled if network is trainer.network else None,
        )
        bank = self._reader.bank(trainer.data)
        # A last digit that differs would make processes ask different questions.
        parts = [torch.from_numpy(part).to(trainer.device) for part in (bank.h, bank.z, bank.p)]
        trainer.world.agree(*parts)
        return Bank(*(part.cpu().numpy() for part in parts))

    def _start_head(self, trainer: Trainer, features: Any, known: Constraints) -> None:
        """Begin a fresh cluster head at the groups of k-means, which honour the answers."""
        n, k = len(features), trainer.network.k
        rng = np.random.default_rng((self.seed, 2, k))
        rows = np.union1d(known.touched, rng.permutation(n)[:_START_SAMPLE]).astype(np.intp)
        begin = KMeans(k, n_init=3, random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # answers that k-means cannot honour are no news here
            labels = begin.fit(features[rows], constraints=restricted(known, rows)).labels_
        chosen = trainer.data[torch.from_numpy(rows).to(trainer.device)]
        target = torch.from_numpy(labels.astype(np.int64)).to(trainer.device)
        network = trainer.network
        with torch.no_grad(), in_use(network), autocast(trainer.compute):
            h = torch.cat(
                [network.backbone(trainer.views.plain(p)) for p in torch.split(chosen, 512)]
            )
            x = h if network.attention is None else network.attention(h, h[:256])
        fit_head(network.cluster, x.float(), target)

    def _watch(self, stack: ExitStack, trainer: Trainer) -> Monitor:
        watch = self.setting.watch or Monitor()
        if self.setting.verbose and watch.report is None:
            steps = self._bar_steps(trainer)
            shown = stack.enter_context(bar("Training", steps, begun=trainer.step))
            watch = replace(watch, report=shown, every=min(watch.every, 10))
        return watch

    def _bar_steps(self, trainer: Trainer) -> int | None:
        """Steps of this fit, for a progress bar."""
        return (self._epochs(trainer) - self._resumed) * trainer.batches.steps

    def _resume(self, trainer: Trainer, known: Constraints) -> None:
        """Take up a training that was interrupted, or one that was finished on other answers."""
        path = self.setting.checkpoint
        if path is None or not Path(path).exists():
            return
        expected = {"architecture": self.setting.architecture, "items": len(trainer.data)}
        checkpoint = load_checkpoint(path, expected=expected)
        facts = checkpoint.facts
        if facts["groups"] != trainer.network.k:
            trainer.network.regroup(int(facts["groups"]))
            trainer.renew()
        trainer.load(checkpoint)
        self.seed, self._epochs_done = int(facts["seed"]), int(facts["epochs_done"])
        self._fits = int(facts["fits"])
        if facts["answers"] == _digest(known):
            self._resumed = int(facts["done"])

    def _save(self, trainer: Trainer, known: Constraints, done: int) -> None:
        path = self.setting.checkpoint
        if path is None or trainer.world.rank:
            return
        tensors, facts = trainer.state()
        facts |= {
            "architecture": self.setting.architecture,
            "items": len(trainer.data),
            "groups": trainer.network.k,
            "answers": _digest(known),
            "seed": self.seed,
            "fits": self._fits,
            "done": done,
            "epochs_done": self._epochs_done,
        }
        save_checkpoint(path, Checkpoint(tensors, facts))


def fit_head(head: torch.nn.Module, x: torch.Tensor, target: torch.Tensor, steps: int = 80) -> None:
    """Fit a head that gives shares to groups that are known, on fixed features x (n, width).

    The target is a group for each item (n,), or shares in the groups (n, k).
    """
    optimiser = torch.optim.Adam(head.parameters(), lr=1e-2)
    with torch.enable_grad():
        for _ in range(steps):
            found = head(x).clamp_min(1e-9).log()
            if target.ndim == 2:
                loss = -(target * found).sum(dim=1).mean()
            else:
                loss = nll_loss(found, target)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
    for parameter in head.parameters():
        parameter.grad = None


def resnet(setting: Setting) -> ResNet:
    """The backbone for pictures."""
    depths = {"resnet18": 18, "resnet34": 34}
    if setting.backbone not in depths:
        raise UnknownName("backbone", setting.backbone, depths)
    return ResNet(depths[setting.backbone], stem=setting.stem, base=setting.channels)  # type: ignore[arg-type]


def _tensor(data: NDArray[Any]) -> torch.Tensor:
    writable = data if data.flags.writeable else data.copy()
    return torch.from_numpy(np.ascontiguousarray(writable))


def coarse(images: NDArray[np.uint8]) -> Floats:
    """Colours on a grid of at most 4 x 4, for a first guess at the number of groups."""
    step = [max(1, side // 4) for side in images.shape[2:]]
    small = images[:, :, :: step[0], :: step[1]].reshape(len(images), -1)
    return np.asarray(small, dtype=np.float32)


def guess(X: Floats, rng: np.random.Generator, known: Constraints | None = None) -> int:
    """A number of groups when nobody has said anything."""
    return max(1, guessed_count(X, Blocks.from_constraints(X, known), rng))


def _digest(known: Constraints) -> str:
    links = known.links()
    raw = np.stack([links.a, links.b, links.same], axis=1).astype(np.int64)
    return hashlib.sha256(raw.tobytes()).hexdigest()[:16]
