"""Learning: one training of one encoder on one pile, measured, run, taken up again, kept."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, Self

import numpy as np

from samekind.encoders.learned.piles import TrainingPile, pile_of
from samekind.encoders.learned.plan import FEWEST, Choice, choose, forecast
from samekind.encoders.learned.weights import Kept, Shelf, learnt_folder, writing
from samekind.errors import InputError
from samekind.items import Collection, Skipped
from samekind.protocols import Progress
from samekind.training.progress import Cancelled, Flag, Monitor


@dataclass(frozen=True)
class Target:
    """Length of a training.

    Parameters
    ----------
    begun : epochs that are done. epochs : in all, when it is finished.
    resumed : whether an unfinished training is taken up.
    """

    begun: float
    epochs: float
    resumed: bool = False

    @property
    def left(self) -> float:
        """Epochs that are still to be learnt."""
        return max(0.0, self.epochs - self.begun)


class Learning:
    """A training that has been set up but not begun. Make one with :meth:`of`.

    Parameters
    ----------
    learner : does the work (:class:`samekind.training.selflearn.SelfLearner`).
    choice : settings, with reasons.
    pile : the pictures. skipped : those that could not be read.
    shelf : where its files are.
    gently : whoever sets this stops the learner after its step, with its state on disk.
    """

    def __init__(
        self,
        learner: Any,
        choice: Choice,
        pile: TrainingPile,
        shelf: Shelf,
        gently: Event,
        skipped: tuple[Skipped, ...] = (),
    ) -> None:
        self.learner, self.choice, self.pile = learner, choice, pile
        self.shelf, self.skipped, self._gently = shelf, skipped, gently
        self.n_pictures = len(pile) - len(skipped)
        self._seconds: float | None = None

    @classmethod
    def of(
        cls,
        encoder: str,
        pictures: Collection | TrainingPile,
        *,
        groups: int | None = None,
        size: int | None = None,
        device: str | None = None,
        seed: int = 0,
        monitor: Monitor | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Choose settings, read the pictures, and make ready; see :meth:`Learnt.learn`."""
        pile = pile_of(pictures)
        choice = choose(encoder, pile, groups=groups, size=size, device=device, seed=seed)
        return cls.chosen(choice, pile, monitor=monitor, progress=progress)

    @classmethod
    def chosen(
        cls,
        choice: Choice,
        pictures: Collection | TrainingPile,
        *,
        monitor: Monitor | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Read the pictures and make ready, with settings that were chosen before."""
        from samekind.training.selflearn import SelfLearner, SelfSetting

        with writing():  # fails early, before any long work
            pass
        pile = pile_of(pictures)
        pixels, skipped = pile.pictures(choice.size, progress)
        if len(pixels) < FEWEST:
            raise InputError(
                f"Only {len(pixels)} of the {len(pile)} pictures of {pile.name!r} can "
                f"be read; at least {FEWEST} are needed. The first that cannot, "
                f"{skipped[0].id!r}: {skipped[0].reason}"
            )
        setting = SelfSetting(
            method=choice.encoder,
            groups=choice.groups,
            size=choice.size,
            stem=choice.stem,
            channels=choice.channels,
            batch_size=min(choice.batch_size, len(pixels)),
            compile="" if choice.device in ("cpu", "mps") else "record",
            device=choice.device,
            seed=choice.seed,
        )
        shelf = Shelf.of(choice.encoder, choice.settings(), pile.fingerprint)
        gently, monitor = Event(), monitor or Monitor()
        monitor = replace(monitor, stop=Either(gently, monitor.stop))
        try:
            learner = SelfLearner(
                setting, pixels, monitor=monitor, checkpoint=str(shelf.checkpoint)
            )
        except InputError as problem:
            if not shelf.checkpoint.exists():
                raise
            raise InputError(f"{problem} Or delete that file, to begin anew.") from problem
        return cls(learner, choice, pile, shelf, gently, skipped)

    @property
    def begun(self) -> float:
        """Epochs that an earlier run has done."""
        return float(self.learner.epochs_done)

    def seconds_per_epoch(self) -> float:
        """Measured on some steps, once."""
        if self._seconds is None:
            self._seconds = float(self.learner.seconds_per_epoch())
        return self._seconds

    def target(self, *, minutes: float | None = None, epochs: float | None = None) -> Target:
        """How far to learn: a training that was stopped is finished; otherwise so long from here.

        Parameters
        ----------
        minutes : to learn from now on. epochs : to have learnt in all, however long it takes.
        """
        if (minutes is None) == (epochs is None):
            raise InputError("Say how long to learn: minutes or epochs, one of the two.")
        if not (minutes or epochs or 0) > 0:
            raise InputError(f"{minutes or epochs or 0} is no time to learn. Give more than 0.")
        begun, aim = self.begun, float(self.learner.planned or 0.0)
        if epochs is not None:
            total, resumed = float(epochs), 0 < begun < float(epochs)
        elif 0 < begun < aim:
            total, resumed = aim, True
        else:
            total, resumed = begun + 60 * (minutes or 0) / self.seconds_per_epoch(), False
        return Target(begun, total, resumed)

    def forecast(self, target: Target) -> str:
        """Describe the cost and the expected result in words."""
        return forecast(
            self.n_pictures,
            target.epochs,
            target.epochs * self.seconds_per_epoch() / 60,
            self.seconds_per_epoch(),
            self.choice.device_reason,
        )

    def run(self, target: Target) -> Kept:
        """Learn until then and keep the network.

        Ctrl-C, or the monitor's own stop, ends it after a step; what was learnt is on disk, and a
        new training of the same pile and settings takes it up. Of several processes that train
        together the first one writes, and the others read what it has written.
        """
        before, start = self.shelf.seconds(), time.monotonic()
        try:
            if target.left:
                with writing(), interruptible(self._gently):
                    self.learner.run(target.epochs)
        finally:
            spent = time.monotonic() - start
            if not self.learner.world.rank:
                self.shelf.note_seconds(before + spent)
        if not self.learner.world.rank:
            self._keep(before + spent)
        self.learner.world.wait()
        kept = self.shelf.kept()
        if kept is None:
            raise InputError(
                f"The network is on the machine of the first process and not in {learnt_folder()}. "
                "Set SAMEKIND_HOME to a folder that all machines share."
            )
        return kept

    def _keep(self, seconds: float) -> None:
        width = int(self.learner.features(self._one_picture()).shape[1])
        self.shelf.keep(
            self.learner.save,
            {
                "encoder": self.choice.encoder,
                "place": self.pile.place,
                "pile": self.pile.fingerprint,
                "pictures": self.n_pictures,
                "size": self.choice.size,
                "width": width,
                "epochs": round(float(self.learner.epochs_done), 3),
                "seconds": round(seconds, 1),
                "settings": self.choice.settings(),
            },
        )

    def _one_picture(self) -> Any:
        return np.zeros((1, 3, self.choice.size, self.choice.size), dtype=np.uint8)


@dataclass(frozen=True)
class Either:
    """Raised when one of two flags is."""

    one: Flag
    other: Flag | None

    def is_set(self) -> bool:
        """Whether somebody wants training to stop."""
        return self.one.is_set() or (self.other is not None and self.other.is_set())


@contextmanager
def interruptible(gently: Event) -> Iterator[None]:
    """Turn the first Ctrl-C into a wish to stop, heard after the step; a second one is not polite.

    In other threads than the first Python gives no such choice; there nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    gently.clear()
    before = signal.getsignal(signal.SIGINT)

    def heard(number: int, frame: Any) -> None:
        gently.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, heard)
    try:
        yield
    except Cancelled:
        if not gently.is_set():
            raise
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, before)
