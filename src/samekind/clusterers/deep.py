"""What PCL, OCC and CC share: a network that is trained a little further at every refit."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from samekind.clusterers.deep_settings import Recipe, Setting
from samekind.clusterers.deep_training import Learner
from samekind.clusterers.fast import FastLearner
from samekind.clusterers.group_count import checked_constraints, told_count
from samekind.clusterers.pictures import pictures_of
from samekind.clusterers.settling import settled
from samekind.constraints import Constraints
from samekind.errors import InputError, SamekindError, VectorError
from samekind.training.backbone_file import save_backbone
from samekind.training.bank import Bank

Ints = NDArray[np.intp]
Floats = NDArray[np.float32]


class DeepClusterer(ClusterMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer that learns its own features. See PCL, OCC and CC for what they aim at.

    Parameters
    ----------
    n_clusters : groups; None: as many as the answers have told apart, before that a guess.
    profile : ``paper`` trains from scratch as published. ``fast`` (pictures only) begins with
        self-supervised training, then fits groups to the answers on frozen features, and trains
        the whole network on them only where that is better on answers kept aside.
    epochs : per fit; None: one for pictures, for plain vectors enough for some sixty steps.
    first_epochs : of the first fit, before the first answers; None: like `epochs`.
    horizon : epochs over all fits that schedules run over; None: those of each fit.
    seconds : for ``fast``, the time for self-supervised training; None: `first_epochs`, or 40.
    tune_seconds : for ``fast``, the time for training on the answers; None: `epochs`, or 20.
    tune_from : for ``fast``, answers from which the whole network is trained on them.
    batch_size, learning_rate : None: as published.
    backbone : ``resnet18`` or ``resnet34``; stem : ``7x7`` or ``3x3`` (small pictures); channels :
        of the first stage, 64 as published, fewer are quicker. None: by profile.
    image_shape : (channels, height, width) of pictures that come as rows.
    size : pixels a side that pictures are brought to. family : of views. None: by profile.
    attention : whether items of a batch look at each other; None: as published.
    extension : last part of the horizon in which confident guesses count as links; None: as
        published. certain : how confident.
    linked_share : part of each batch that may be partners of its answered items.
    keep_views : also keep vectors of two random views of each item, ``views_``, for strategies.
    objective : the loss in place of the published one.
    warm_start : fitted again on the same pictures with answers, go on from the last fit. False
        begins anew each time, as does every fit without ``constraints``, and every fit on plain
        vectors: it takes a second, and what the first few answers suggested leaves no trace.
    device : such as ``cpu``; None: the fastest. compile : see
        :class:`~samekind.training.steps.Plan`.
    checkpoint : file that is written after each epoch and resumed from if it is there. In the
        profile ``fast`` it keeps the self-supervised training.
    start : file of :meth:`save_features` whose backbone training begins with; ``fast`` then needs
        no self-supervised training.
    watch : a :class:`~samekind.training.progress.Watch` that is told and may stop it.
    random_state : a seed makes the result the same every time on one machine.
    verbose : show a progress bar.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt vectors.
    """

    recipe: ClassVar[Recipe]

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        profile: Literal["paper", "fast"] = "paper",
        epochs: int | None = None,
        first_epochs: int | None = None,
        horizon: int | None = None,
        seconds: float | None = None,
        tune_seconds: float | None = None,
        tune_from: int = 2000,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        backbone: str | None = None,
        stem: str | None = None,
        channels: int = 64,
        image_shape: tuple[int, ...] | None = None,
        size: int | None = None,
        family: str | None = None,
        attention: bool | None = None,
        extension: float | None = None,
        certain: float = 0.9999,
        linked_share: float = 0.25,
        keep_views: bool = False,
        objective: Any = None,
        warm_start: bool = True,
        device: str | None = None,
        compile: str = "",
        checkpoint: str | None = None,
        start: str | None = None,
        watch: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.profile = profile
        self.epochs = epochs
        self.first_epochs = first_epochs
        self.horizon = horizon
        self.seconds = seconds
        self.tune_seconds = tune_seconds
        self.tune_from = tune_from
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.backbone = backbone
        self.stem = stem
        self.channels = channels
        self.image_shape = image_shape
        self.size = size
        self.family = family
        self.attention = attention
        self.extension = extension
        self.certain = certain
        self.linked_share = linked_share
        self.keep_views = keep_views
        self.objective = objective
        self.warm_start = warm_start
        self.device = device
        self.compile = compile
        self.checkpoint = checkpoint
        self.start = start
        self.watch = watch
        self.random_state = random_state
        self.verbose = verbose

    @abstractmethod
    def published_objective(self) -> Any:
        """The loss of the method, from what the network says of a batch to its parts."""

    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None) -> Self:
        """Train on pictures (n, 3, height, width), uint8, or on vectors (n, d). `y` is ignored."""
        data = self._read(X, reset=True)
        known = checked_constraints(constraints, len(data)) or Constraints(len(data))
        learner: Learner | None = getattr(self, "_learner", None)
        goes_on = self.warm_start and constraints is not None and data.ndim == 4
        if learner is None or not goes_on or not learner.same_data(data):
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            setting = self._setting(data)
            make = FastLearner if setting.profile == "fast" else Learner
            learner = make(setting, self._objective(), data, seed)
        learner.setting = replace(learner.setting, **self._schedule())
        count = self._count(known)
        try:
            bank = learner.fit(known, count)
        except BaseException:  # also Ctrl-C: be what was learnt until then, and tell it
            with suppress(SamekindError):  # such as no memory for this either
                kept = learner.stopped(known, count)
                if kept is not None:
                    self._install(learner, kept, known)
            raise
        return self._install(learner, bank, known)

    def _install(self, learner: Learner, bank: Bank, known: Constraints) -> Self:
        self._learner = learner
        self._settled = settled(bank.p, known)
        self.labels_, self.membership_ = self._settled.labels, self._settled.membership
        self.space_ = bank.h if self.recipe.space == "h" else bank.z
        self.n_clusters_ = self.membership_.shape[1]
        if self.keep_views:
            self.views_ = learner.two_views(self.recipe.space)
        return self

    def predict(self, X: Any) -> Ints:
        """The groups of other items; the group of one item does not depend on the others."""
        check_is_fitted(self)
        return self._settled.predict(self._learner.read(self._read(X)).p)

    def transform(self, X: Any) -> Floats:
        """The learnt vectors of other items, (n, d)."""
        check_is_fitted(self)
        bank = self._learner.read(self._read(X))
        return bank.h if self.recipe.space == "h" else bank.z

    def save_features(self, path: str | Path) -> None:
        """Write the backbone's weights, for the parameter `start` of this or another method."""
        check_is_fitted(self)
        save_backbone(path, self._learner.setting.features, self._learner.backbone)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def _objective(self) -> Any:
        return self.published_objective() if self.objective is None else self.objective

    def _read(self, X: Any, *, reset: bool = False) -> NDArray[Any]:
        """Pictures as bytes with channels in front, or vectors as float32."""
        pictures = pictures_of(X, self.image_shape, side=self.size or 128)
        if pictures is None:
            if not reset and getattr(self, "_pictures", False):
                raise VectorError(
                    "The model was trained on pictures, but vectors came. Give uint8 pictures."
                )
            rows = validate_data(self, X, dtype=np.float32, reset=reset, ensure_min_samples=1)
            if reset:
                self._pictures = False
            found: NDArray[Any] = rows
        elif reset:
            self._pictures = True
            self.n_features_in_ = int(np.prod(pictures.shape[1:]))
            found = pictures
        elif not self._pictures:
            raise VectorError("The model was trained on vectors, but pictures came. Give vectors.")
        else:
            found = pictures
        if reset and len(found) < 2:
            raise VectorError(
                f"There is nothing to group in n_samples={len(found)} items. Bring at least two."
            )
        return found

    def _count(self, known: Constraints) -> int | None:
        """The number of groups: as asked for, as told apart, or None for a guess."""
        n = known.n_items
        if self.n_clusters is None:
            return told_count(known)
        if isinstance(self.n_clusters, bool) or not 1 <= self.n_clusters <= n:
            raise InputError(
                f"{self.n_clusters} groups cannot be made of {n} items (n_samples={n}). "
                f"Ask for 1 to {n} groups, or for None."
            )
        return int(self.n_clusters)

    def _setting(self, data: NDArray[Any]) -> Setting:
        """What the parameters ask for, and the method's own choice where they are silent."""
        recipe = self.recipe
        setting = recipe.for_pictures(self.profile) if data.ndim == 4 else recipe.for_rows()
        wanted: dict[str, Any] = {
            "batch_size": self.batch_size,
            "learning_rate": self.learning_rate,
            "backbone": self.backbone,
            "stem": self.stem,
            "size": self.size,
            "family": self.family,
            "attention": self.attention,
            "extension": self.extension,
        }
        return replace(
            setting,
            channels=self.channels,
            certain=self.certain,
            linked_share=self.linked_share,
            device=self.device,
            compile=self.compile,
            checkpoint=self.checkpoint,
            start=self.start,
            **{name: value for name, value in wanted.items() if value is not None},
        )

    def _schedule(self) -> dict[str, Any]:
        """What may change from one fit to the next."""
        return {
            "epochs": self.epochs,
            "first_epochs": self.first_epochs,
            "horizon": self.horizon,
            "seconds": self.seconds,
            "tune_seconds": self.tune_seconds,
            "tune_from": self.tune_from,
            "watch": self.watch,
            "verbose": self.verbose,
        }
