"""The estimator and the learner that all deep methods are built on.

An estimator (:class:`NetworkClusterer`) holds parameters and results; a :class:`Learner` holds the
network and trains it. A method writes one of each, in one file, next to its loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.deep.pictures import coarse, pictures_of
from samekind.clusterers.deep.pretraining import fit_head_to_kmeans, guess_groups, pretrain
from samekind.clusterers.deep.settings import PICTURE_SETTINGS, Setting
from samekind.clusterers.group_count import Known, Pairs, checked_constraints, told_count
from samekind.clusterers.live.settling import settled
from samekind.compute import COMPILE_MODES, best_device
from samekind.constraints import Constraints
from samekind.errors import InputError, SamekindError, VectorError
from samekind.training.augment import Views
from samekind.training.backbone_file import Start, load_backbone, save_backbone
from samekind.training.bank import Bank, Reader
from samekind.training.loop import Objective, Plan, Trainer, TwoViews
from samekind.training.network import Network
from samekind.training.progress import Monitor, bar
from samekind.training.rows import NoisyRows, RowBackbone
from samekind.training.simclr import simclr_loss

Ints = NDArray[np.intp]
Floats = NDArray[np.float32]


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkClusterer(ClusterMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator around a :class:`Learner`, with the parameters that all deep methods have.

    Parameters
    ----------
    n_clusters : number of groups; None: the number of kinds that the answers tell apart, or an
        estimate before there are answers.
    start : file of :meth:`save_features` or of ``samekind learn`` with a trained backbone; stages
        that only learn features are then skipped.
    backbone : ``resnet18`` or ``resnet34``. stem : ``7x7``, or ``3x3`` for small pictures.
        channels : width of the first stage; 64 is published, fewer are faster. None: as in
        `start`, else the default of the method.
    size : pixels per side that pictures are resized to. family : named family of random views.
        None: the default of the method.
    image_shape : (channels, height, width) of pictures given as rows.
    warm_start : when fitted again on the same pictures with answers, continue from the last fit.
        Every fit without ``constraints``, and every fit on plain vectors, starts from scratch.
    device : such as ``cpu``; None: the fastest available. compile : see
        :class:`~samekind.training.steps.Plan`.
    monitor : a :class:`~samekind.training.progress.Monitor` that gets reports and may stop it.
    random_state : a seed makes results reproducible on one machine.
    verbose : show a progress bar.

    Attributes
    ----------
    labels_ : (n,) group of each item, with every answer honoured. membership_ : (n, k).
    predicted_labels_ : (n,) group of each item by the network alone: what it has learnt, where
        `labels_` also shows obedience.
    space_ : (n, d) learnt vectors.
    """

    n_clusters: int | None = field(default=None, kw_only=False)
    start: str | None = None
    backbone: str | None = None
    stem: str | None = None
    channels: int | None = None
    size: int | None = None
    family: str | None = None
    image_shape: tuple[int, ...] | None = None
    warm_start: bool = True
    device: str | None = None
    compile: str = ""
    monitor: Any = None
    random_state: Any = None
    verbose: bool = False

    published: ClassVar[dict[str, Any]] = {}
    """Settings for pictures that the method was published with."""

    @abstractmethod
    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        """Make an untrained learner for these items."""

    @abstractmethod
    def _schedule(self) -> dict[str, Any]:
        """Settings that may change from one fit to the next, besides monitor and verbose."""

    def _space(self, bank: Bank) -> Floats:
        """Vectors that strategies look at: features of the backbone."""
        return bank.h

    def _setting(self, data: NDArray[Any], **more: Any) -> Setting:
        """Resolve the parameters; `more` are those that not every method has."""
        wanted = {name: getattr(self, name, None) for name in PICTURE_SETTINGS} | more
        given = {name: value for name, value in wanted.items() if value is not None}
        if data.ndim == 4:
            return Setting.for_pictures(self.start, {**self.published, **given})
        rows = ("batch_size", "learning_rate", "device")
        return Setting(**{name: given[name] for name in rows if name in given})

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        constraints: Known = None,
        must_link: Pairs = None,
        cannot_link: Pairs = None,
    ) -> Self:
        """Train on pictures (n, 3, height, width), uint8, or on vectors (n, d). `y` is ignored."""
        data = self._read(X, reset=True)
        constraints = checked_constraints(constraints, len(data), must_link, cannot_link)
        known = constraints or Constraints(len(data))
        learner: Learner | None = getattr(self, "_learner", None)
        resume = self.warm_start and constraints is not None and data.ndim == 4
        if learner is None or not resume or not learner.same_data(data):
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            learner = self._new_learner(data, seed)
        common = {"monitor": self.monitor, "verbose": self.verbose}
        learner.setting = replace(learner.setting, **common, **self._schedule())
        k = self._count(known)
        try:
            bank = learner.fit(known, k)
        except BaseException:  # also Ctrl-C: keep the state reached so far
            with suppress(SamekindError):  # for example out of memory again
                kept = learner.stopped(known, k)
                if kept is not None:
                    self._install(learner, kept, known)
            raise
        return self._install(learner, bank, known)

    def _install(self, learner: Learner, bank: Bank, known: Constraints) -> Self:
        self._learner = learner
        self._settled = settled(bank.p, known)
        self.labels_, self.membership_ = self._settled.labels, self._settled.membership
        self.predicted_labels_ = self._settled.predict(bank.p)
        self.space_ = self._space(bank)
        self.n_clusters_ = self.membership_.shape[1]
        return self

    def predict(self, X: Any) -> Ints:
        """Predict the groups of other items, each independently of the others."""
        check_is_fitted(self)
        return self._settled.predict(self._learner.read(self._read(X)).p)

    def transform(self, X: Any) -> Floats:
        """Compute the learnt vectors (n, d) of other items."""
        check_is_fitted(self)
        return self._space(self._learner.read(self._read(X)))

    def save_features(self, path: str | Path) -> None:
        """Write the backbone's weights, for the parameter `start` of this or another method."""
        check_is_fitted(self)
        save_backbone(path, self._learner.setting.features, self._learner.backbone)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def _read(self, X: Any, *, reset: bool = False) -> NDArray[Any]:
        """Return pictures as bytes with channels first, or vectors as float32."""
        pictures = pictures_of(X, self.image_shape, side=self.size or 128)
        if not reset and (pictures is not None) != (
            on_pictures := bool(getattr(self, "_pictures", False))
        ):
            trained, given = ("uint8 pictures", "vectors")[:: 1 if on_pictures else -1]
            raise VectorError(f"The model was trained on {trained}, got {given}. Give {trained}.")
        if pictures is None:
            found: NDArray[Any] = validate_data(
                self, X, dtype=np.float32, reset=reset, ensure_min_samples=1
            )
        else:
            found = pictures
        if reset:
            self._pictures = pictures is not None
            if pictures is not None:
                self.n_features_in_ = int(np.prod(pictures.shape[1:]))
            if len(found) < 2:
                raise VectorError(
                    f"Expected at least two items to group, got n_samples={len(found)}. Add more."
                )
        return found

    def _count(self, known: Constraints) -> int | None:
        """Return the number of groups: as given, else as told apart, else None for an estimate."""
        n = known.n_items
        if self.n_clusters is None:
            return told_count(known)
        if isinstance(self.n_clusters, bool) or not 1 <= self.n_clusters <= n:
            raise InputError(
                f"{self.n_clusters} groups cannot be made of {n} items (n_samples={n}). "
                f"Ask for 1 to {n} groups, or for None."
            )
        return int(self.n_clusters)


class Learner(ABC):
    """A network and its training. Pickled, it keeps the weights but not the items.

    A method overrides :meth:`fit` and what its network (:meth:`_network`), views and plan are.

    Parameters
    ----------
    setting : resolved parameters.
    data : uint8 (n, 3, height, width) or float32 (n, d).
    seed : of all randomness.
    """

    epochs_done: float = 0
    """Epochs over all fits, where a method counts them."""
    pretrains: ClassVar[bool] = True
    """Whether :meth:`_with_features` learns features by SimCLR where no file gives them."""

    def __init__(self, setting: Setting, data: NDArray[Any], seed: int) -> None:
        self.setting, self.seed = setting, seed
        self.objective: Objective = simclr_loss()
        self.compute = best_device(setting.device)
        self._data: NDArray[Any] | None = data
        self._pictures = data.ndim == 4
        self._fits = 0
        self._trainer: Trainer | None = None
        self._reader: Reader | None = None
        self._start = Start()
        self._frozen: Bank | None = None

    @abstractmethod
    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Train on these answers; return what the network says of all items."""

    def stopped(self, known: Constraints, k: int | None) -> Bank | None:
        """Read the network after its training was stopped; None if it had not begun."""
        return None if self._trainer is None else self._reading(self._trainer)

    def same_data(self, data: NDArray[Any]) -> bool:
        """Whether these are the items that it was trained on."""
        mine = self._data
        return mine is not None and (
            mine is data or (mine.shape == data.shape and np.array_equal(mine, data))
        )

    @property
    def backbone(self) -> torch.nn.Module:
        """The part of the network that computes features."""
        assert self._reader is not None
        return self._reader.network.backbone

    def read(self, data: NDArray[Any]) -> Bank:
        """Read any items with the trained network."""
        assert self._reader is not None
        return self._reader.bank(tensor_of(data))

    def __getstate__(self) -> dict[str, Any]:
        """Weights and settings, without the items and the optimiser."""
        return {**self.__dict__, "_data": None, "_trainer": None}

    @property
    def _dtype(self) -> torch.dtype:
        """Number format of views."""
        return torch.bfloat16 if self.compute.dtype == "bfloat16" else torch.float32

    @property
    def _compiles(self) -> bool:
        return self.setting.compile in COMPILE_MODES

    def _begin(self, known: Constraints, k: int | None) -> Trainer:
        """Make a fresh network, or one that starts from a file, and its trainer."""
        assert self._data is not None
        data = tensor_of(self._data)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            views: TwoViews = self._views() if self._pictures else NoisyRows(data)
            network = self._network(self._group_count(known, k))
            if self.setting.start is not None and self._pictures:
                features = self.setting.features
                self._start = load_backbone(self.setting.start, features, network.backbone)
        return self._trainer_of(network, data, views)

    def _with_features(self, stack: ExitStack, known: Constraints, k: int | None) -> Trainer:
        """Return the trainer; before the first fit, learn features or take those of a file."""
        trainer = self._trainer
        if trainer is not None:
            trainer.monitor = self._monitor(stack, trainer)
            return trainer
        trainer = self._trainer = self._begin(known, (k or 2) if self._pictures else k)
        if not self._pictures:
            plain = trainer.views.plain(trainer.data).cpu().numpy()
            self._start_head(trainer, plain, known)
        trainer.monitor = self._monitor(stack, trainer)
        if self.pretrains and self._pictures and self.setting.start is None:
            self.seed = pretrain(trainer, self.setting, self.seed)
        self._frozen = self._reading(trainer)
        return trainer

    def _trainer_of(self, network: Network, data: torch.Tensor, views: TwoViews) -> Trainer:
        return Trainer(network, self.objective, data, views, self._plan(), compute=self.compute)

    def _network(self, k: int) -> Network:
        """Make a fresh network for k groups; torch is seeded."""
        assert self._data is not None
        attention = self.setting.attention
        if self._pictures:
            return Network(self.setting.resnet(), k=k, attention=attention)
        return Network(RowBackbone(self._data.shape[1]), k=k, out=64, attention=attention)

    def _views(self) -> Views:
        """Random views of pictures."""
        return Views(self.setting.view_family(), dtype=self._dtype, compiled=self._compiles)

    def _plan(self) -> Plan:
        setting = self.setting
        return Plan(
            batch_size=setting.batch_size,
            learning_rate=setting.learning_rate,
            linked_share=setting.linked_share,
            seed=self.seed,
            compile=setting.compile,  # type: ignore[arg-type]
        )

    def _group_count(self, known: Constraints, k: int | None) -> int:
        """Return k, or an estimate of the number of groups where it is None."""
        if k is not None:
            return k
        assert self._data is not None
        X = coarse(self._data) if self._pictures else None
        if X is None:
            rows = tensor_of(self._data)
            X = NoisyRows(rows).plain(rows).numpy()
        return guess_groups(X, self.seed, known)

    def _start_head(self, trainer: Trainer, features: Any, known: Constraints) -> None:
        """Fit a fresh cluster head to the groups of k-means, which honour the answers."""
        fit_head_to_kmeans(trainer, features, known, self.seed)

    def _reading(self, trainer: Trainer, network: Network | None = None) -> Bank:
        """Read all items with a network, by default the one in training; use it from now on."""
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
            recorded=trainer.recorded_network if network is trainer.network else None,
        )
        bank = self._reader.bank(trainer.data)
        # A last digit that differs would make processes ask different questions.
        parts = [torch.from_numpy(part).to(trainer.device) for part in (bank.h, bank.z, bank.p)]
        trainer.world.agree(*parts)
        return Bank(*(part.cpu().numpy() for part in parts))

    def _monitor(self, stack: ExitStack, trainer: Trainer) -> Monitor:
        """Return the monitor of this fit, with a progress bar if one is wanted."""
        monitor = self.setting.monitor or Monitor()
        if self.setting.verbose and monitor.report is None:
            steps = self._bar_steps(trainer)
            shown = stack.enter_context(bar("Training", steps, begun=trainer.step))
            monitor = replace(monitor, report=shown, every=min(monitor.every, 10))
        return monitor

    def _bar_steps(self, trainer: Trainer) -> int | None:
        """Steps of this fit, for a progress bar; None: unknown."""
        return self.setting.steps


def tensor_of(data: NDArray[Any]) -> torch.Tensor:
    """A tensor of the same numbers, in memory that torch may write to."""
    writable = data if data.flags.writeable else data.copy()
    return torch.from_numpy(np.ascontiguousarray(writable))
