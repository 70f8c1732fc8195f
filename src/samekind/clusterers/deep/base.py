"""What PCL, OCC and CC share: a network that is trained a little further at every refit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from samekind.clusterers.deep.fast import FastLearner
from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.networked import NetworkClusterer
from samekind.clusterers.deep.settings import Recipe, Setting
from samekind.constraints import Constraints
from samekind.training.bank import Bank

Floats = NDArray[np.float32]


class DeepClusterer(NetworkClusterer):
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

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        setting = self._setting(data)
        make = FastLearner if setting.profile == "fast" else Learner
        return make(setting, self._objective(), data, seed)

    def _install(self, learner: Learner, bank: Bank, known: Constraints) -> Self:
        super()._install(learner, bank, known)
        if self.keep_views:
            self.views_ = learner.two_views(self.recipe.space)
        return self

    def _space(self, bank: Bank) -> Floats:
        return bank.h if self.recipe.space == "h" else bank.z

    def _objective(self) -> Any:
        return self.published_objective() if self.objective is None else self.objective

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
