"""What a long training tells while it runs, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from samekind.errors import MissingExtra, SamekindError


class Told(NamedTuple):
    """One report: where training is, and the parts of the loss."""

    epoch: int
    step: int
    parts: Mapping[str, float]


Log = Callable[[int, Mapping[str, float]], None]
"""Takes a step and some numbers by name, such as ``{"loss": 0.3}``."""


class Flag(Protocol):
    """Something that can be raised from another thread: a ``threading.Event``."""

    def is_set(self) -> bool: ...


class Cancelled(SamekindError):
    """Training was stopped from outside; the model keeps what it has learnt until then."""

    exit_code = 130


@dataclass(frozen=True)
class Watch:
    """Who is told about the progress of a training, and who may stop it.

    Parameters
    ----------
    report : called with a :class:`Told` at each report; may raise to cancel.
    log : takes numbers, for a curve.
    stop : training ends with :class:`Cancelled` after the step in which this is raised.
    every : steps between two reports. Each one waits for the device, so rather few.
    """

    report: Callable[[Told], None] | None = None
    log: Log | None = None
    stop: Flag | None = None
    every: int = 50

    def __deepcopy__(self, memo: dict[int, Any]) -> Watch:
        return self  # copies of a model are watched, and stopped, by the same people

    def tell(self, told: Told) -> None:
        """Report, and log the same numbers."""
        if self.log is not None:
            self.log(told.step, told.parts)
        if self.report is not None:
            self.report(told)

    def check(self) -> None:
        """Raise :class:`Cancelled` if somebody wants training to stop."""
        if self.stop is not None and self.stop.is_set():
            raise Cancelled("Training was stopped. What has been learnt so far is kept.")


@contextmanager
def bar(title: str, steps: int) -> Iterator[Callable[[Told], None]]:
    """A progress bar on the terminal; yields a report to give to a :class:`Watch`."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(title, total=steps)
        begun: list[int] = []

        def report(told: Told) -> None:
            begun.append(told.step)
            loss = told.parts.get("loss", float("nan"))
            text = f"{title}, epoch {told.epoch}, loss {loss:.4f}"
            shown.update(task, completed=told.step - begun[0], description=text)

        yield report


def tensorboard_log(folder: str) -> Log:
    """A log that TensorBoard can draw. Needs the package ``tensorboard``."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtra("Writing logs for TensorBoard", "tensorboard") from error
    writer: Any = SummaryWriter(folder)

    def log(step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, step)
        writer.flush()

    return log
