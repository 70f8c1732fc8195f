"""Progress reports of a training, and how to stop it.

A curve for TensorBoard, with a model that may be stopped from another thread::

    with tensorboard_log("runs/first") as log:
        PCL(monitor=Monitor(log=log, stop=event)).fit(images)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

from samekind.errors import MissingExtra, SamekindError


class TrainingReport(NamedTuple):
    """One report: where training is, and the parts of the loss.

    Parameters
    ----------
    phase : empty in the main training; a name where another one has steps of its own.
    share : how much of this run is done, 0 to 1, where that is known; None: count the steps.
    """

    epoch: int
    step: int
    parts: Mapping[str, float]
    phase: str = ""
    share: float | None = None


STOPPED = "Training was stopped. What has been learnt so far is kept."

Log = Callable[[int, Mapping[str, float]], None]
"""Takes a step and some numbers by name, such as ``{"loss": 0.3}``."""


class Flag(Protocol):
    """Something that can be raised from another thread: a ``threading.Event``."""

    def is_set(self) -> bool: ...


class Cancelled(SamekindError):
    """Training was stopped from outside; the model keeps what it has learnt until then."""

    exit_code = 130


@dataclass(frozen=True)
class Monitor:
    """Who is told about the progress of a training, and who may stop it.

    Parameters
    ----------
    report : called with a :class:`TrainingReport` at each report; may raise to cancel.
    log : takes numbers, for a curve; those of a phase are named like ``tuning/loss``.
    stop : training ends with :class:`Cancelled` after the step in which this is raised.
    every : steps between two reports. Each one waits for the device, so rather few.
    """

    report: Callable[[TrainingReport], None] | None = None
    log: Log | None = None
    stop: Flag | None = None
    every: int = 50

    def __copy__(self) -> Monitor:
        return self  # copies of a model are watched, and stopped, by the same people

    def __deepcopy__(self, memo: dict[int, Any]) -> Monitor:
        return self

    def __reduce__(self) -> tuple[type[Monitor], tuple[None, None, None, int]]:
        # Open files, bars and events do not go into a pickle; a model that is read back has nobody.
        return Monitor, (None, None, None, self.every)

    def tell(self, told: TrainingReport) -> None:
        """Report, and log the same numbers."""
        if self.log is not None:
            before = f"{told.phase}/" if told.phase else ""
            self.log(told.step, {f"{before}{name}": value for name, value in told.parts.items()})
        if self.report is not None:
            self.report(told)

    def check(self) -> None:
        """Raise :class:`Cancelled` if somebody wants training to stop."""
        if self.stop is not None and self.stop.is_set():
            raise Cancelled(STOPPED)


@contextmanager
def bar(
    title: str, steps: int | None = None, *, begun: int | None = None
) -> Iterator[Callable[[TrainingReport], None]]:
    """A progress bar on the terminal; yields a report to give to a :class:`Monitor`.

    Parameters
    ----------
    steps : of the whole run; None: not known, so the bar only shows that something goes on.
    begun : the step before the first; None: that of the first report.
    """
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(title, total=steps)
        phases: dict[str, Any] = {"": task}
        first = begun

        def report(told: TrainingReport) -> None:
            nonlocal first
            if told.phase not in phases:
                phases[told.phase] = shown.add_task(told.phase.capitalize(), total=None)
            loss = told.parts.get("loss", float("nan"))
            name = told.phase.capitalize() or title
            text = f"{name}, epoch {told.epoch}, loss {loss:.4f}"
            if told.share is not None:
                shown.update(phases[told.phase], total=1, completed=told.share, description=text)
                return
            first = told.step if first is None else first
            shown.update(phases[told.phase], completed=told.step - first, description=text)

        yield report


class TensorBoardLog:
    """A log that TensorBoard draws. Close it, or use it in a ``with``, when training is over.

    Parameters
    ----------
    folder : of the curves: ``tensorboard --logdir FOLDER``. Give every run one of its own.
    """

    def __init__(self, folder: str) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise MissingExtra("Writing logs for TensorBoard", "tensorboard") from error
        writer: Any = SummaryWriter  # without annotations in torch
        self._writer = writer(folder)

    def __call__(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()  # a training that is killed leaves its curve behind

    def close(self) -> None:
        """Write what is left, and let go of the file."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


def tensorboard_log(folder: str) -> TensorBoardLog:
    """A log for :class:`Monitor` that TensorBoard can draw. Needs the package ``tensorboard``."""
    return TensorBoardLog(folder)
