"""Polish: the groups of the live learner, carried on by a network that learns from all pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from samekind.clusterers.fixmatch import FixMatch, LabelLearner
from samekind.clusterers.live import Live
from samekind.constraints import Constraints
from samekind.training.network import Network


class PolishLearner(LabelLearner):
    """As that of FixMatch, but it begins where the live learner has got to."""

    takes_over = False

    def _first_groups(
        self, network: Network, features: torch.Tensor, known: Constraints, k: int | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        unit = torch.nn.functional.normalize(features).cpu().numpy()
        live = Live(k if self.given else None, random_state=self.seed)
        labels = live.fit(unit, constraints=known).labels_.astype(np.int64)
        everything = torch.arange(len(features), device=features.device)
        return everything, torch.from_numpy(labels).to(features.device)


class Polish(FixMatch):
    """A network that begins with the groups of `live` and goes on from all pictures.

    `live` reads fixed vectors. Here the network that made them is trained too: on the answered
    items, and on its own sure guesses about all others under strong changes of the picture, while
    every group keeps the size that `live` gave it. It wants a GPU and minutes; answers are obeyed
    as everywhere.

    Parameters
    ----------
    n_clusters : groups; None: those of `live`.
    start : file with features (`samekind learn`); they decide how good the result can be.
    epochs, tune_seconds, learning_rate, labelled, company, sure, average, views, align, backbone,
    stem, channels, size, family, image_shape, warm_start, device, compile, watch, random_state,
    verbose : as in :class:`~samekind.clusterers.fixmatch.FixMatch`.

    Attributes
    ----------
    labels_ : (n,) group of each item. membership_ : (n, k). space_ : (n, d) learnt features.
    """

    _learner_kind = PolishLearner

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        start: str | None = None,
        epochs: float | None = None,
        tune_seconds: float | None = None,
        learning_rate: float = 0.03,
        labelled: int = 64,
        company: int = 448,
        sure: float = 0.95,
        average: float = 0.999,
        views: str | None = "strong",
        align: bool = True,
        backbone: str | None = None,
        stem: str | None = None,
        channels: int | None = None,
        size: int | None = None,
        family: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        warm_start: bool = True,
        device: str | None = None,
        compile: str = "",
        watch: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_clusters,
            start=start,
            epochs=epochs,
            tune_seconds=tune_seconds,
            learning_rate=learning_rate,
            labelled=labelled,
            company=company,
            sure=sure,
            average=average,
            views=views,
            align=align,
            backbone=backbone,
            stem=stem,
            channels=channels,
            size=size,
            family=family,
            image_shape=image_shape,
            warm_start=warm_start,
            device=device,
            compile=compile,
            watch=watch,
            random_state=random_state,
            verbose=verbose,
        )
