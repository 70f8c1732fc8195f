"""IDC: interactive deep clustering via value mining."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import NDArray

from samekind.clusterers.deep.idc_learning import FeedbackLearner
from samekind.clusterers.deep.learner import Learner
from samekind.clusterers.deep.networked import NetworkClusterer
from samekind.clusterers.deep.settings import Setting
from samekind.clusterers.deep.starting import PICTURE_SETTINGS, setting_from
from samekind.training.feedback_tuning import LOSSES, FeedbackTuning

ROWS_STEPS, ROWS_RATE = 100, 3e-3
"""Training on plain vectors: a second or less."""


class IDC(NetworkClusterer):
    """IDC: self-supervised groups that a few hundred answers about hard items put right.

    Begins from features that were learnt without labels, and from their groups. Each fit turns the
    answers into chosen groups (Eq. 12) and refused groups (Eq. 13) and trains the whole network on
    them, while items that it is sure of stay where they are (Eq. 14). It always begins from the
    features, so the result depends on the answers, not on how often it was fitted. Questions by
    the strategy ``value``.

    Parameters
    ----------
    n_clusters : groups; None: those of `start`, or as many as the answers have told apart, before
        that a guess.
    start : file of ``save_features`` or of ``samekind learn`` with the features to begin from,
        and with groups where its method has them. None learns features here (SimCLR).
    profile : ``repaired``, or ``program`` as published; see
        :class:`~samekind.training.feedback_tuning.FeedbackTuning`.
    epochs : over the asked items; None: 100 as published, for plain vectors a hundred
        steps; 0 leaves the network as it is and only corrects the answered items.
    tune_seconds : time for training on the answers, in place of `epochs`.
    learning_rate : of it; None: 1e-4 as published, more for plain vectors.
    asked, company : asked items, and any items, per step.
    refused : ``one`` refused group drawn in each step, or ``all`` of them.
    sure : membership from which the network's own guess is followed.
    warm_up : part of the training before guesses count; None: half for a fresh head, else nothing.
    average : weight of the past in an average of the network over the steps; 0: its last state.
    losses : those that are used, of ``pos``, ``neg``, ``reg``.
    views : of pictures in this training: ``strong`` (RandAugment and a hole) or ``own``, those
        that the features were learnt with; None: as published for the method of `start`.
    first_epochs, seconds : of the self-supervised training, 40 epochs if both are None.
    batch_size : of the self-supervised training.
    backbone, stem, channels, size : of the network; None: as in `start`, else ResNet-18 with a 3x3
        stem and 64 channels at 32 pixels.
    family : of views and of pixel values that the features were learnt with.
    image_shape : (channels, height, width) of pictures that come as rows.
    warm_start : fitted again on the same pictures with answers, keep the features.
    device, compile, checkpoint, watch, random_state, verbose : as in
        :class:`~samekind.clusterers.deep.pcl.PCL`; the checkpoint keeps the self-supervised
        training.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.

    References
    ----------
    Interactive Deep Clustering via Value Mining, NeurIPS 2024.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        start: str | None = None,
        profile: Literal["repaired", "program"] = "repaired",
        epochs: float | None = None,
        tune_seconds: float | None = None,
        learning_rate: float | None = None,
        asked: int = 100,
        company: int = 500,
        refused: Literal["one", "all"] = "one",
        sure: float = 0.99,
        warm_up: float | None = None,
        average: float = 0.0,
        losses: tuple[str, ...] = LOSSES,
        views: str | None = None,
        first_epochs: int | None = None,
        seconds: float | None = None,
        batch_size: int | None = None,
        backbone: str | None = None,
        stem: str | None = None,
        channels: int | None = None,
        size: int | None = None,
        family: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        warm_start: bool = True,
        device: str | None = None,
        compile: str = "",
        checkpoint: str | None = None,
        watch: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.start = start
        self.profile = profile
        self.epochs = epochs
        self.tune_seconds = tune_seconds
        self.learning_rate = learning_rate
        self.asked = asked
        self.company = company
        self.refused = refused
        self.sure = sure
        self.warm_up = warm_up
        self.average = average
        self.losses = losses
        self.views = views
        self.first_epochs = first_epochs
        self.seconds = seconds
        self.batch_size = batch_size
        self.backbone = backbone
        self.stem = stem
        self.channels = channels
        self.size = size
        self.family = family
        self.image_shape = image_shape
        self.warm_start = warm_start
        self.device = device
        self.compile = compile
        self.checkpoint = checkpoint
        self.watch = watch
        self.random_state = random_state
        self.verbose = verbose

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        wanted = {name: getattr(self, name) for name in PICTURE_SETTINGS}
        setting = Setting(device=self.device)
        if data.ndim == 4:
            setting = setting_from(self.start, wanted)
        return FeedbackLearner(setting, data, seed, given=self.n_clusters is not None)

    def _schedule(self) -> dict[str, Any]:
        rows = not self._pictures
        feedback = FeedbackTuning(
            learning_rate=self.learning_rate or (ROWS_RATE if rows else 1e-4),
            asked=self.asked,
            company=self.company,
            epochs=100 if self.epochs is None else self.epochs,
            steps=ROWS_STEPS if rows and self.epochs is None else None,
            seconds=self.tune_seconds,
            warm_up=self.warm_up,
            sure=self.sure,
            average=self.average,
            profile=self.profile,
            refused=self.refused,
            losses=tuple(self.losses),
        )
        return {
            "feedback": feedback,
            "views": self.views,
            "first_epochs": self.first_epochs,
            "seconds": self.seconds,
            "watch": self.watch,
            "verbose": self.verbose,
        }
