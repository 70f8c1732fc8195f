"""IDC's feedback: answers turned into chosen and refused groups, and the training on them (Eq. 11).

Each step takes some asked items and a larger batch of any items. All strong views go through the
network together, so that its batch norms never see a handful of items alone. Guesses come from the
plain views and are remembered over the whole set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from samekind.clusterers.kmeans.centres import sums_by
from samekind.clusterers.live.settling import settled
from samekind.compute import Compute
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.objectives.feedback import (
    FeedbackProfile,
    confident,
    negative_loss,
    one_of,
    positive_loss,
    regularisation,
)
from samekind.questions import WhichGroup
from samekind.training.answered import to_device
from samekind.training.network import Network
from samekind.training.progress import Monitor
from samekind.training.pseudo_labels import PseudoLabels
from samekind.training.steps import Plan, autocast
from samekind.training.tuning import FineTuning

Floats = NDArray[Any]
Ints = NDArray[np.intp]
LOSSES = ("pos", "neg", "reg")
Profile = Literal["program", "paper", "repaired", "calibrated"]
TRAININGS: tuple[Profile, ...] = get_args(Profile)
"""Profiles of the training: those of the losses, and one that begins differently."""
LEAST = 1e-9
"""Memberships below this count no more against a column."""
SMALLEST = 1e-38
"""Memberships below this are nothing in single precision."""
TEMPERATURES = np.geomspace(1, 16, 33).tolist()
LIKELY = 0.5
"""Membership from which an item without a known partner represents its column."""


@dataclass(frozen=True, eq=False)
class Feedback:
    """Answers about items, expressed in columns of the memberships.

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


def voted(p: Floats, known: Constraints) -> Floats:
    """Give items known to be of one kind the same row of memberships p (n, k): their joint vote.

    An item has as many votes as answers mention it. That favours the item that represented a group
    while others were compared with it: a hard item, which was asked about because the network may
    be wrong about it, must not move the whole group to another column.

    >>> p = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9], [0.3, 0.7]])
    >>> known = Constraints.from_links(4, [(0, 1, True), (0, 2, True)])
    >>> voted(p, known).argmax(axis=1).tolist()
    [0, 0, 0, 1]
    """
    links = known.links()
    ends = np.concatenate([links.a[links.same], links.b[links.same]])
    if not len(ends):
        return p
    voices = np.bincount(ends, minlength=known.n_items).astype(np.float64)
    items = known.touched
    home, of = np.unique(known.components[items], return_inverse=True)
    many = np.bincount(of) > 1
    # Items that are tied only through others that left the collection have one vote each.
    weight = np.maximum(voices[items], 1.0)
    total = sums_by(of, np.log(p[items] + LEAST) * weight[:, None], len(home))
    mean = total / np.bincount(of, weights=weight)[:, None]
    shares = np.exp(mean - mean.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    result = p.copy()
    tied = items[many[of]]
    result[tied] = shares[of[many[of]]]
    return result


def feedback_of(p: Floats, known: Constraints) -> Feedback:
    """Translate the answers into columns of the memberships p (n, k).

    Items known to be like another item are *chosen* for the column of their kind, which all of
    them vote for, kinds known to be different apart from each other. Items that are only known to
    differ from others have *refused* the columns of those, where these are more than a guess. A
    kind for which no column is left has no feedback.

    >>> p = np.array([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1]])
    >>> known = Constraints.from_links(4, [(0, 1, True), (3, 2, False), (3, 0, False)])
    >>> found = feedback_of(p, known)
    >>> found.items.tolist(), found.chosen.tolist(), found.refused[2].tolist()
    ([0, 1, 3], [0, 0, -1], [True, True, False])
    """
    k = p.shape[1]
    items = known.touched
    votes = voted(p, known)
    result = settled(votes, known)
    group = result.labels[items]
    column = np.full(len(items), -1, dtype=np.intp)
    inside = group < len(result.columns)
    column[inside] = result.columns[group[inside]]
    home, first, of = np.unique(known.components[items], return_index=True, return_inverse=True)
    sizes = np.bincount(of, minlength=len(home))
    chosen = np.where(sizes[of] > 1, column, -1)
    sure = (sizes[of] > 1) | (votes[items, column] >= LIKELY)
    stands = np.where(sure, column, -1)[first]  # (components,) the column that it stands for
    refused = np.zeros((len(home), k + 1), dtype=bool)  # the last column: for those without one
    pairs = np.searchsorted(home, known.component_links())
    for a, b in (pairs.T, pairs.T[::-1]):
        refused[a, stands[b]] = True
    table = refused[of, :k] & (sizes[of] == 1)[:, None]
    table &= ~table.all(axis=1, keepdims=True)  # nothing is left for these
    used = (chosen >= 0) | table.any(axis=1)
    return Feedback(items[used], chosen[used], table[used])


def stated_feedback(p: Floats, known: Constraints) -> Feedback:
    """Translate the answers as IDC's program does: a group is the column of its representative.

    Of each question "which of these groups?" the item alone learns: the column in which the chosen
    representative is largest, or, after "none", the refused ones. Nothing follows from other
    answers, and the last one about an item counts. Answers of other kinds, which IDC does not have,
    are used only if there is no such question; then :func:`feedback_of` translates them.

    >>> from samekind.questions import Answer, WhichGroup
    >>> p = np.array([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1]])
    >>> one, none = WhichGroup(2, ((0,), (1,))), WhichGroup(3, ((0,), (1,)))
    >>> known = Constraints.from_answers(4, [Answer(1, one, "1"), Answer(2, none, "none")])
    >>> found = stated_feedback(p, known)
    >>> found.items.tolist(), found.chosen.tolist(), found.refused[1].tolist()
    ([2, 3], [0, -1], [True, True, False])
    """
    column = p.argmax(axis=1)
    said: dict[int, tuple[int, list[int]]] = {}
    for answer in known.answers:
        question = answer.question
        if not isinstance(question, WhichGroup) or not answer.links:
            continue
        if max(question.item, *(group[0] for group in question.groups)) >= len(p):
            continue  # about an item that has left the collection
        chosen = question.exemplars(answer.choice)
        offered = [int(column[group[0]]) for group in question.groups]
        said[question.item] = (int(column[chosen[0]]), []) if chosen else (-1, offered)
    if not said:
        return feedback_of(p, known)
    items = np.array(sorted(said), dtype=np.intp)
    chosen_columns = np.array([said[item][0] for item in items.tolist()], dtype=np.intp)
    refused = np.zeros((len(items), p.shape[1]), dtype=bool)
    for row, item in enumerate(items.tolist()):
        refused[row, said[item][1]] = True
    return Feedback(items, chosen_columns, refused)


def answered_temperature(p: Floats, feedback: Feedback) -> float:
    """How much less sure memberships p (n, k) should be, by the columns that the answers chose.

    The temperature from 1 to 16 under which the chosen columns are most probable (temperature
    scaling). Asked items are hard ones, so this errs towards less sure.

    >>> p = np.array([[0.99, 0.01], [0.99, 0.01], [0.01, 0.99]])
    >>> right, half = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> none = np.zeros((3, 2), dtype=bool)
    >>> answered_temperature(p, Feedback(np.arange(3), right, none))
    1.0
    >>> answered_temperature(p, Feedback(np.arange(3), half, none)) > 5
    True
    """
    told = feedback.chosen >= 0
    if not told.any():
        return 1.0
    logs = np.log(np.maximum(p[feedback.items[told]].astype(np.float64), SMALLEST))  # (m, k)
    row, column = np.arange(len(logs)), feedback.chosen[told]

    def surprise(temperature: float) -> float:
        z = logs / temperature
        z -= z.max(axis=1, keepdims=True)
        return float(np.mean(np.log(np.exp(z).sum(axis=1)) - z[row, column]))

    return float(min(TEMPERATURES, key=surprise))


class Sights(NamedTuple):
    """Two ways to show items to the network: strongly augmented, and plain."""

    strong: Callable[[Tensor, torch.Generator], Tensor]
    plain: Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class FeedbackTuning:
    """Settings of the training on answers. The defaults are those of IDC.

    Parameters
    ----------
    asked, unlabelled : asked items, and any items, per step.
    epochs : over the asked items; steps, seconds : of training, in place of them.
    warm_up : part of the training without guesses, for a fresh head, which knows no measure; None:
        no such part.
    sure : membership from which a guess is remembered. share : see :class:`PseudoLabels`.
    average : weight of the past in the averaged network; 0: the network of the last step.
    profile : see :class:`~samekind.clusterers.deep.idc.IDC`.
    refused : one refused group, drawn anew each time, or all of them.
    losses : those that are added up: ``pos``, ``neg``, ``reg``.
    """

    learning_rate: float = 1e-4
    weight_decay: float = 1e-4
    asked: int = 100
    unlabelled: int = 500
    epochs: float = 100
    steps: int | None = None
    seconds: float | None = None
    warm_up: float | None = None
    sure: float = 0.99
    share: float = 0.2
    average: float = 0.0
    profile: Profile = "repaired"
    refused: Literal["one", "all"] = "one"
    losses: tuple[str, ...] = LOSSES

    @property
    def loss_profile(self) -> FeedbackProfile:
        """The profile of the losses."""
        return "repaired" if self.profile == "calibrated" else self.profile

    def __post_init__(self) -> None:
        allowed: dict[str, tuple[str, ...]] = {
            "profile": TRAININGS,
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
                f"Expected losses out of {', '.join(LOSSES)}, got {', '.join(odd) or 'none'}. "
                "Name at least one."
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
        monitor: Monitor | None = None,
    ) -> None:
        self.asked = min(tuning.asked, len(feedback))
        rate, decay = tuning.learning_rate, tuning.weight_decay
        per_epoch = math.ceil(len(feedback) / self.asked)
        super().__init__(
            network,
            data,
            Plan(self.asked, rate, decay, "adam", clip=None),
            unlabelled=min(tuning.unlabelled, len(data)),
            steps=max(1, tuning.steps or round(tuning.epochs * per_epoch)),
            seconds=tuning.seconds,
            average=tuning.average,
            compute=compute,
            seed=seed,
            compiled=compiled,
            monitor=monitor,
        )
        self.tuning, self.sights = tuning, sights
        device = data.device
        self.items = torch.from_numpy(feedback.items.astype(np.int64)).to(device)
        self.chosen = torch.from_numpy(feedback.chosen.astype(np.int64)).to(device)
        self.refused = torch.from_numpy(feedback.refused).to(device)
        self.place_of = torch.full((len(data),), -1, dtype=torch.long, device=device)
        self.place_of[self.items] = torch.arange(len(feedback), device=device)
        repaired = tuning.loss_profile == "repaired"
        self.memory = PseudoLabels(
            len(data), network.k, share=tuning.share, threshold=tuning.sure, repaired=repaired
        ).to(device)
        self._asked_order: Any = np.empty(0, dtype=np.int64)
        self._unlabelled_order: Any = np.empty(0, dtype=np.int64)

    def _numbers(self, done: float, step: int) -> list[float]:
        """Constant rate; guesses count only after the warm-up."""
        guesses = done >= (self.tuning.warm_up or 0.0)
        return [self.plan.learning_rate, self._past(step), float(guesses)]

    def _batch(self) -> tuple[Tensor, ...]:
        """Places of asked items, and positions of any items: each set goes round and round."""
        asked, self._asked_order = self._next(self._asked_order, len(self.items), self.asked)
        unlabelled, self._unlabelled_order = self._next(
            self._unlabelled_order, len(self.data), self.unlabelled
        )
        return to_device(asked, self.data.device), to_device(unlabelled, self.data.device)

    def _next(self, order: Any, n: int, size: int) -> tuple[Any, Any]:
        """The next `size` of n in a random order, all different, and what is left of it."""
        if len(order) < size:  # a few of this round are left over: late in the next one
            fresh = self.rng.permutation(n).astype(np.int64)
            late = np.isin(fresh, order)
            order = np.concatenate([order, fresh[~late], fresh[late]])
        return order[:size], order[size:]

    def _parts(self, numbers: Tensor, *batch: Tensor) -> Mapping[str, Tensor]:
        places, unlabelled = batch
        tuning, items = self.tuning, self.items[places]
        shown = torch.cat([items, unlabelled])
        x = self.sights.strong(self.data[shown], self.chance)
        labels = self._guessed(unlabelled, numbers[2])
        with autocast(self.compute):
            p = self._student(x, views=1).p
        told, others = p[: len(items)], p[len(items) :]
        refused = self.refused[places]
        if tuning.refused == "one":
            chances = torch.rand(len(items), generator=self.chance, device=p.device)
            refused = one_of(refused, chances)
        profile = tuning.loss_profile
        parts: dict[str, Callable[[], Tensor]] = {
            "pos": lambda: positive_loss(told, self.chosen[places], profile=profile),
            "neg": lambda: negative_loss(told, refused, profile=profile),
            "reg": lambda: regularisation(others, labels, profile=profile),
        }
        return {name: parts[name]() for name in LOSSES if name in tuning.losses}

    @torch.no_grad()
    def _guessed(self, items: Tensor, count: Tensor) -> Tensor:
        """Guesses about items by their plain views; none while `count` is 0.

        Those of this moment as printed, remembered ones otherwise. Repaired, an answer goes before.
        """
        with autocast(self.compute):
            p = self._teacher(self.sights.plain(self.data[items]), views=1).p
        p = p.float() * count  # without any share in any group nothing is sure
        if self.tuning.profile == "paper":
            return confident(p, self.tuning.sure)
        labels = self.memory.update(items, p)
        if self.tuning.profile == "program":
            return labels
        place = self.place_of[items]
        asked, place = (place >= 0) & (count > 0), place.clamp_min(0)
        denied = asked & self.refused[place, labels.clamp_min(0)]
        chosen = torch.where(asked, self.chosen[place], -1)
        return torch.where(chosen >= 0, chosen, torch.where(denied, -1, labels))
