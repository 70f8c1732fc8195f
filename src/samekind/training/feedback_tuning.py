"""IDC's training on answers: chosen groups attract, refused ones repel, the rest stays (Eq. 11).

Each step takes some asked items and a larger batch of any items. All strong views go through the
network together, so that its batch norms never see a handful of items alone. Guesses come from the
plain views and are remembered over the whole set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.compute import Compute
from samekind.errors import InputError
from samekind.objectives.feedback import negative_loss, one_of, positive_loss, regularisation
from samekind.training.answered import sent
from samekind.training.network import Network
from samekind.training.progress import Monitor
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.steps import Plan, autocast
from samekind.training.tuning import FineTuning

Ints = NDArray[np.intp]
LOSSES = ("pos", "neg", "reg")


@dataclass(frozen=True, eq=False)
class Feedback:
    """What the answers say of items, in columns of the memberships.

    Parameters
    ----------
    items : (m,) positions, ascending.
    chosen : (m,) the column of an item that is known to belong to a group; -1: not known.
    refused : (m, k) columns that an item without a group is known not to belong to.
    """

    items: Ints
    chosen: Ints
    refused: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.items)


class Sights(NamedTuple):
    """How items are shown to the network: much changed by chance, and as they are."""

    strong: Callable[[Tensor, torch.Generator], Tensor]
    plain: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class FeedbackTuning:
    """How the network is trained on answers. The defaults are those of IDC.

    Parameters
    ----------
    asked, company : asked items, and any items, per step.
    epochs : over the asked items; steps, seconds : of training, in place of them.
    warm_up : part of the training without guesses, for a fresh head, which knows no measure; None:
        no such part.
    sure : membership from which a guess is remembered. share : see :class:`PseudoLabels`.
    average : weight of the past in the averaged network; 0: the network of the last step.
    profile : ``program`` as published: a guess is kept while the network is sure, even of another
        group, and shares above 1 - 1e-5 in a refused group are cut off. ``repaired`` mends both,
        and an answer goes before any guess about the same item.
    refused : one refused group, drawn anew each time, or all of them.
    losses : those that are added up: ``pos``, ``neg``, ``reg``.
    """

    learning_rate: float = 1e-4
    weight_decay: float = 1e-4
    asked: int = 100
    company: int = 500
    epochs: float = 100
    steps: int | None = None
    seconds: float | None = None
    warm_up: float | None = None
    sure: float = 0.99
    share: float = 0.2
    average: float = 0.0
    profile: Literal["program", "repaired"] = "repaired"
    refused: Literal["one", "all"] = "one"
    losses: tuple[str, ...] = LOSSES

    def __post_init__(self) -> None:
        allowed: dict[str, tuple[str, ...]] = {
            "profile": ("program", "repaired"),
            "refused": ("one", "all"),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise InputError(
                    f"{name} cannot be {getattr(self, name)!r}. Choose one of: {', '.join(values)}."
                )
        odd = [name for name in self.losses if name not in LOSSES]
        if odd or not self.losses:
            raise InputError(
                f"losses is some of {', '.join(LOSSES)}; {', '.join(odd) or 'nothing'} came."
            )


class FeedbackTuner(FineTuning):
    """Trains a copy of a network on feedback; :meth:`run` returns it.

    Parameters
    ----------
    feedback : what is known of the asked items; at least one.
    sights : views of items as they lie in `data`.
    """

    def __init__(
        self,
        network: Network,
        data: Tensor,
        feedback: Feedback,
        sights: Sights,
        tuning: FeedbackTuning,
        *,
        compute: Compute,
        seed: int,
        compiled: str = "",
        watch: Monitor | None = None,
    ) -> None:
        self.asked = min(tuning.asked, len(feedback))
        rate, decay = tuning.learning_rate, tuning.weight_decay
        per_epoch = math.ceil(len(feedback) / self.asked)
        super().__init__(
            network,
            data,
            Plan(self.asked, rate, decay, "adam", clip=None),
            company=min(tuning.company, len(data)),
            steps=max(1, tuning.steps or round(tuning.epochs * per_epoch)),
            seconds=tuning.seconds,
            average=tuning.average,
            compute=compute,
            seed=seed,
            compiled=compiled,
            watch=watch,
        )
        self.tuning, self.sights = tuning, sights
        device = data.device
        self.items = torch.from_numpy(feedback.items.astype(np.int64)).to(device)
        self.chosen = torch.from_numpy(feedback.chosen.astype(np.int64)).to(device)
        self.refused = torch.from_numpy(feedback.refused).to(device)
        self.place_of = torch.full((len(data),), -1, dtype=torch.long, device=device)
        self.place_of[self.items] = torch.arange(len(feedback), device=device)
        repaired = tuning.profile == "repaired"
        self.memory = PseudoLabels(
            len(data), network.k, share=tuning.share, threshold=tuning.sure, repaired=repaired
        ).to(device)
        self._asked_order: Any = np.empty(0, dtype=np.int64)
        self._company_order: Any = np.empty(0, dtype=np.int64)

    def _numbers(self, done: float, step: int) -> list[float]:
        """Constant rate; guesses count only after the warm-up."""
        guesses = done >= (self.tuning.warm_up or 0.0)
        return [self.plan.learning_rate, self._past(step), float(guesses)]

    def _batch(self) -> tuple[Tensor, ...]:
        """Places of asked items, and positions of any items: each set goes round and round."""
        asked, self._asked_order = self._next(self._asked_order, len(self.items), self.asked)
        company, self._company_order = self._next(self._company_order, len(self.data), self.company)
        return sent(asked, self.data.device), sent(company, self.data.device)

    def _next(self, order: Any, n: int, size: int) -> tuple[Any, Any]:
        """The next `size` of n in a random order, all different, and what is left of it."""
        if len(order) < size:  # a few of this round are left over: late in the next one
            fresh = self.rng.permutation(n).astype(np.int64)
            late = np.isin(fresh, order)
            order = np.concatenate([order, fresh[~late], fresh[late]])
        return order[:size], order[size:]

    def _parts(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
        places, company = batch
        tuning, items = self.tuning, self.items[places]
        shown = torch.cat([items, company])
        x = self.sights.strong(self.data[shown], self.chance)
        labels = self._guessed(company, numbers[2])
        with autocast(self.compute):
            p = self._student(x, views=1).p
        told, others = p[: len(items)], p[len(items) :]
        refused = self.refused[places]
        if tuning.refused == "one":
            chances = torch.rand(len(items), generator=self.chance, device=p.device)
            refused = one_of(refused, chances)
        profile = tuning.profile
        parts: dict[str, Callable[[], Tensor]] = {
            "pos": lambda: positive_loss(told, self.chosen[places], profile=profile),
            "neg": lambda: negative_loss(told, refused, profile=profile),
            "reg": lambda: regularisation(others, labels, profile=profile),
        }
        return {name: parts[name]() for name in LOSSES if name in tuning.losses}

    @torch.no_grad()
    def _guessed(self, items: Tensor, count: Tensor) -> Tensor:
        """Remembered guesses about items; none while `count` is 0. An answer goes before."""
        with autocast(self.compute):
            p = self._teacher(self.sights.plain(self.data[items]), views=1).p
        # Without any share in any group nothing is sure, so nothing is remembered.
        labels = self.memory.update(items, p.float() * count)
        if self.tuning.profile == "program":
            return labels
        place = self.place_of[items]
        asked, place = (place >= 0) & (count > 0), place.clamp_min(0)
        denied = asked & self.refused[place, labels.clamp_min(0)]
        chosen = torch.where(asked, self.chosen[place], -1)
        return torch.where(chosen >= 0, chosen, torch.where(denied, -1, labels))
