"""Base of PCL, OCC and CC: a network that is trained for some epochs at every refit."""

from __future__ import annotations

import hashlib
import math
import time
from abc import abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from samekind.clusterers.deep.base import Floats, Learner, NetworkClusterer
from samekind.clusterers.deep.fast import FAST_LEARNER, FastLearner
from samekind.clusterers.deep.pretraining import resume, save_state, state_of
from samekind.clusterers.deep.repaired import RepairedLearner
from samekind.clusterers.deep.settings import FAST, REPAIRED, REPAIRED_ROWS, Setting
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.training.answered import Guesses
from samekind.training.bank import Bank
from samekind.training.checkpoints import checkpoint_exists, load_checkpoint
from samekind.training.compact import save_compact
from samekind.training.loop import Trainer

STEPS_PER_FIT = 60
"""Steps of a fit on plain vectors when no epochs are given."""
GUESSED_SHARE = 0.5
"""Share of each group, its most certain items, that guesses are made about at the end."""
QUICK_SAVING, SAVING_SHARE = 0.2, 0.05
"""Seconds of writing a checkpoint that are always spent after an epoch, else the largest share."""


@dataclass(eq=False, repr=False, kw_only=True)
class EpochClusterer(NetworkClusterer):
    """A method that trains for some epochs at each fit; see PCL, OCC and CC.

    Parameters
    ----------
    profile : ``paper`` trains from scratch as published. ``repaired`` (PCL and OCC), which is ours,
        adds the likelihood of the answers to the published loss and begins from learnt features
        and from groups that fit the answers; see
        :class:`~samekind.clusterers.deep.repaired.RepairedLearner`. ``fast`` (pictures only) is
        another learner, SimCLR + head + FixMatch, without the loss or the attention of the method:
        it pre-trains without answers, fits groups to the answers on frozen features, and trains
        the whole network on them only where that agrees better with answers held out.
    epochs : per fit; None: one for pictures, some sixty steps for plain vectors. In ``repaired``
        and ``fast``, of the training of the whole network on answers: None: 60 and 20, and for
        plain vectors in ``repaired`` until the groups stay.
    first_epochs : of the first fit, before the first answers; None: like `epochs`.
    horizon : for ``paper``, epochs over all fits that schedules run over; None: those of each fit.
    seconds : for ``repaired`` and ``fast`` on pictures, the time for pre-training; None:
        `first_epochs`, or 40.
    tune_seconds : likewise for training on the answers; None: `epochs`.
    tune_from : likewise, number of answers from which the whole network is trained on them.
    batch_size, learning_rate : None: as published; in ``repaired`` 512 and 1e-3, on plain vectors
        256 and 1e-3.
    attention : whether items of a batch attend to each other; None: as published, but not on plain
        vectors and not in ``repaired``. Not with ``fast``.
    extension : last share of the horizon in which confident guesses count as links; None: as
        published, in ``repaired`` none. Not with ``fast``.
    certain : least membership and cosine of a guess, such as .9999 in PCL's program; None: the most
        certain items of each group, a share that grows up to half of it. See
        :class:`~samekind.training.answered.Guesses`.
    linked_share : share of each batch that may be partners of its answered items, and in
        ``repaired`` answered items with their partners.
    keep_views : also keep vectors of two random views of each item, ``views_``, for strategies.
    objective : a loss in place of the published one; ``repaired`` adds the likelihood to it. Not
        with ``fast``.
    checkpoint : file that is resumed from if it exists, also in the parts of
        :meth:`save_training`, and written after each epoch; a large one less often, so that it
        takes at most a twentieth of the time. In the profiles ``repaired``
        and ``fast`` it keeps the pre-training.

    Attributes
    ----------
    n_epochs_ : epochs of training so far, over all fits.

    Other parameters and attributes are those of
    :class:`~samekind.clusterers.deep.base.NetworkClusterer`.
    """

    profile: Literal["paper", "repaired", "fast"] = "paper"
    epochs: float | None = None
    first_epochs: int | None = None
    horizon: int | None = None
    seconds: float | None = None
    tune_seconds: float | None = None
    tune_from: int = 2000
    batch_size: int | None = None
    learning_rate: float | None = None
    attention: bool | None = None
    extension: float | None = None
    certain: float | None = None
    linked_share: float = 0.25
    keep_views: bool = False
    objective: Any = None
    checkpoint: str | None = None

    profiles: ClassVar[tuple[str, ...]] = ("paper", "fast")
    """Profiles that the method has."""
    usual_first_epochs: ClassVar[int] = 1
    """Epochs of the first fit on pictures if none are given; later fits take one."""
    space: ClassVar[Literal["z", "h"]] = "z"
    """Vectors that strategies look at: projections z or features h."""

    @property
    def _variant(self) -> str:
        """What a parameter changes in the loss of the method, for the name of the learner."""
        return ""

    @abstractmethod
    def published_objective(self) -> Any:
        """Make the loss of the method, from the output for a batch to its parts."""

    @property
    def learner_name(self) -> str:
        """Name of what really learns: the method by its own loss, or what stands in for it.

        Before a fit it follows `profile`; after it, the learner that was used: on plain vectors
        ``fast`` trains as ``paper`` does.

        >>> from samekind.clusterers.deep.occ import OCC
        >>> OCC().learner_name, OCC(profile="fast").learner_name
        ('OCC', 'SimCLR + head + FixMatch')
        """
        learner: Learner | None = getattr(self, "_learner", None)
        fast = self.profile == "fast" if learner is None else isinstance(learner, FastLearner)
        if fast:
            return FAST_LEARNER
        own = type(self).__name__
        given = self.objective
        loss = self._variant if given is None else f" with {type(given).__name__}"
        if self.profile == "repaired":
            return f"{own}{loss}, repaired"
        return own + loss + (", from learnt features" if self.start is not None else "")

    def _new_learner(self, data: NDArray[Any], seed: int) -> Learner:
        setting = self._setting(data)
        if setting.profile == "fast":
            return FastLearner(setting, data, seed)
        loss = self.published_objective() if self.objective is None else self.objective
        if setting.profile == "repaired":
            return RepairedLearner(setting, data, seed, loss)
        learner = EpochLearner(setting, data, seed)
        learner.objective, learner.usual_first_epochs = loss, self.usual_first_epochs
        return learner

    def _install(self, learner: Learner, bank: Bank, known: Constraints) -> Self:
        super()._install(learner, bank, known)
        self.n_epochs_ = learner.epochs_done
        if self.keep_views:
            self.views_ = two_views(learner, self.space)
        return self

    def save_training(self, path: str | Path) -> list[Path]:
        """Write the state of the training in compact parts, to continue it on another machine.

        Give the same path as `checkpoint` there. Returns the files.
        """
        check_is_fitted(self)
        if not isinstance(self._learner, EpochLearner):
            raise InputError(
                f"Expected a training that can be continued elsewhere, got {self.learner_name!r}. "
                "Use another profile, or save_features."
            )
        return self._learner.save_compact(path)

    def _space(self, bank: Bank) -> Floats:
        return bank.h if self.space == "h" else bank.z

    def _setting(self, data: NDArray[Any], **more: Any) -> Setting:
        if self.profile not in self.profiles:
            raise InputError(
                f"Expected a profile of {type(self).__name__}, got {self.profile!r}. Choose one "
                f"of: {', '.join(self.profiles)}."
            )
        if self.profile == "fast":
            self._check_fast()
        own = ("batch_size", "learning_rate", "backbone", "stem", "channels", "size", "family")
        names = (*own, "attention", "extension", "certain", "linked_share", "device", "compile")
        wanted = {name: getattr(self, name) for name in (*names, "checkpoint", "start")}
        given = {name: value for name, value in wanted.items() if value is not None}
        repaired = self.profile == "repaired"
        if data.ndim == 2:
            extension = {"extension": self.published.get("extension", 0.0)}
            return Setting(**{**(REPAIRED_ROWS if repaired else extension), **given})
        if repaired:
            return Setting(**{**REPAIRED, **given})
        return Setting(**{**self.published, **(FAST if self.profile == "fast" else {}), **given})

    def _check_fast(self) -> None:
        """Refuse what the profile ``fast`` would drop."""
        given = {
            "objective=...": self.objective is not None,
            "attention=True": bool(self.attention),
            f"extension={self.extension}": bool(self.extension),
            f"certain={self.certain}": self.certain is not None,
        }
        for words, is_given in given.items():
            if is_given:
                raise InputError(
                    "Expected no objective, attention or extension with the profile 'fast', got "
                    f"{words}: 'fast' is {FAST_LEARNER} and uses none of them. Omit it, or choose "
                    "the profile 'paper' or 'repaired'."
                )

    def _schedule(self) -> dict[str, Any]:
        names = ("epochs", "first_epochs", "horizon", "seconds", "tune_seconds", "tune_from")
        return {name: getattr(self, name) for name in names}


def two_views(learner: Learner, space: str) -> Floats:
    """Compute vectors (2, n, d) of two random views of each item."""
    trainer, reader = learner._trainer, learner._reader
    assert reader is not None and trainer is not None
    pick = lambda out: getattr(out, space)  # noqa: E731
    return reader.views_bank(trainer.data, trainer.views, pick, seed=learner.seed)


class EpochLearner(Learner):
    """Trains the network on views and answers, a few epochs more at every fit."""

    usual_first_epochs = 1
    """Epochs of the first fit on pictures if none are given."""
    _resumed = 0
    """Epochs of this fit that were done before an interruption."""
    _known: Constraints | None = None
    """The answers of the latest fit."""
    _done = 0
    """Epochs of the latest fit."""
    _saved_at, _saving_took = -math.inf, 0.0

    def fit(self, known: Constraints, k: int | None) -> Bank:
        """Train for the epochs of one fit on these answers."""
        trainer = self._trainer
        if trainer is None:
            trainer = self._trainer = self._begin(known, k)
            if not self._pictures:
                plain = trainer.views.plain(trainer.data).cpu().numpy()
                self._start_head(trainer, plain, known)
            self._resume(trainer, known)
        elif k is not None and k != trainer.network.k:
            trainer.network.regroup(k)
            self._start_head(trainer, self._reading(trainer).h, known)
            trainer.renew()
        with ExitStack() as stack:
            trainer.monitor = self._monitor(stack, trainer)
            self._train(trainer, known)
        self._fits += 1
        self._reader = None
        return self._reading(trainer)

    def _train(self, trainer: Trainer, known: Constraints) -> None:
        """Run the epochs of one fit, in pieces where something has to be done between them."""
        setting = self.setting
        epochs = self._epochs(trainer)
        trainer.learn_from(known)
        done, self._resumed = self._resumed, 0
        stepwise = setting.checkpoint is not None or self._pictures
        self._known = known
        while done < epochs:
            before = done if setting.horizon is None else self.epochs_done
            span = epochs if setting.horizon is None else setting.horizon
            start = span - setting.extension * span
            extends = setting.extension > 0 and before >= start
            if extends:
                grown = (min(before + 1, span) - start) / (span - start)
                trainer.guesses = self._guesses(trainer, grown)
            until = min(epochs, done + 1) if stepwise or extends else epochs
            if not stepwise and setting.extension > 0 and before < start:
                until = min(until, done + math.ceil(start - before))
            trainer.run(until - done, before=before, horizon=span)
            self.epochs_done += until - done
            done = self._done = until
            self._save_if_quick(trainer)

    def _save_if_quick(self, trainer: Trainer) -> None:
        """Write the checkpoint, unless that would take more than a share of the time."""
        begun = time.monotonic()
        if self.setting.checkpoint is None:
            return
        slow = self._saving_took > QUICK_SAVING
        if slow and begun - self._saved_at < self._saving_took / SAVING_SHARE:
            return
        save_state(trainer, self.setting, **self._facts())
        self._saved_at = time.monotonic()
        self._saving_took = self._saved_at - begun

    def save_compact(self, path: str | Path) -> list[Path]:
        """Write weights and facts in parts; see :mod:`samekind.training.compact`."""
        assert self._trainer is not None
        return save_compact(path, state_of(self._trainer, self.setting, **self._facts()))

    def _facts(self) -> dict[str, Any]:
        assert self._known is not None
        counts = {"fits": self._fits, "done": self._done, "epochs_done": self.epochs_done}
        return {"answers": _digest(self._known), "seed": self.seed, **counts}

    def _epochs(self, trainer: Trainer) -> int:
        setting = self.setting
        usual = self.usual_first_epochs if self._fits == 0 else 1
        if not self._pictures:
            usual = math.ceil(STEPS_PER_FIT / trainer.batches.steps)
        epochs = usual if setting.epochs is None else setting.epochs
        first = setting.first_epochs
        return first if first is not None and self._fits == 0 else epochs

    def _guesses(self, trainer: Trainer, grown: float) -> Guesses:
        """Guess with the network as it is; `grown` is the part of the extension up to now."""
        bank, certain = self._reading(trainer), self.setting.certain
        most = max(1, trainer.batches.size // 4)
        if certain is not None:
            return Guesses.above(bank.z, bank.p, certain=certain, most=most)
        return Guesses.most_certain(bank.z, bank.p, share=GUESSED_SHARE * grown, most=most)

    def _bar_steps(self, trainer: Trainer) -> int | None:
        return (self._epochs(trainer) - self._resumed) * trainer.batches.steps

    def _resume(self, trainer: Trainer, known: Constraints) -> None:
        """Continue a training that was interrupted, or one that finished on other answers."""
        path = self.setting.checkpoint
        if path is None or not checkpoint_exists(path):
            return
        expected = {"architecture": self.setting.architecture, "items": len(trainer.data)}
        checkpoint = load_checkpoint(path, expected=expected)
        resume(trainer, checkpoint)
        facts = checkpoint.facts
        self.seed, self.epochs_done = int(facts["seed"]), int(facts["epochs_done"])
        self._fits = int(facts["fits"])
        if facts["answers"] == _digest(known):
            self._resumed = self._done = int(facts["done"])
            self._known = known


def _digest(known: Constraints) -> str:
    links = known.links()
    raw = np.stack([links.a, links.b, links.same], axis=1).astype(np.int64)
    return hashlib.sha256(raw.tobytes()).hexdigest()[:16]
