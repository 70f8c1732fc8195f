"""The networks that polishing can train: which are offered, their parameters, their set-up."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from samekind.errors import InputError
from samekind.parameters import Parameter, parameters_of, read_parameters
from samekind.registry import find, registered

if TYPE_CHECKING:
    from samekind.constraints import Constraints
    from samekind.training.progress import Flag, TrainingReport

    Report = Callable[[TrainingReport], None]

FEWEST_ANSWERS = 10
"""Answers with which there is something to learn from."""
SMALL_STEPS = {"labelled": 32, "asked": 32, "unlabelled": 96, "batch_size": 128}
"""Pictures per step without a GPU, where a step of the papers takes seconds."""
PAPER_EPOCHS = 500
"""Epochs of the profile ``paper`` when none are given; the time for training ends it earlier."""
SHAPE = ("backbone", "stem", "channels", "size")
"""Parameters that have to be those of the features."""
SET_HERE = {
    *("start", *SHAPE, "first_epochs", "seconds"),  # of the features
    *("tune_seconds", "warm_start", "keep_views", "image_shape", "checkpoint"),
    *("device", "compile", "verbose"),
}
"""Parameters that polishing sets itself, or that would read or write files."""

LINES = {"epochs": "times that it sees each picture; none: as many as the minutes allow."}
"""Descriptions of parameters that mean something else when there is a time for training."""


@dataclass(frozen=True)
class Offer:
    """A network that can be trained on pictures and answers.

    Parameters
    ----------
    parameters : those that differ from the defaults of the method.
    learner : name of what learns; empty: as the method says, which may depend on parameters.
    untimed : the profile that trains by epochs and does not keep the time itself.
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    learner: str = ""
    untimed: str = ""


OFFERS: dict[str, Offer] = {
    offer.method: offer
    for offer in (
        Offer("polish", learner="live, then gentle FixMatch"),
        Offer("fixmatch", {"profile": "gentle"}),
        Offer("idc"),
        Offer("pcl", {"profile": "repaired", "tune_from": FEWEST_ANSWERS}, untimed="paper"),
        Offer("occ", {"profile": "repaired", "tune_from": FEWEST_ANSWERS}, untimed="paper"),
    )
}
"""In the order in which they are offered. `tune_from`: with fewer answers than that, PCL and OCC
only fit a head to features that the answers do not change."""


def offers() -> dict[str, Offer]:
    """Return the offers whose methods are installed."""
    return {name: offer for name, offer in OFFERS.items() if name in registered("method")}


@dataclass(frozen=True)
class Training:
    """A network to train: a method, and the parameters that a person has chosen."""

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, method: str, given: Mapping[str, Any] | None = None) -> Training:
        """Check the choice of a person; raise if the method or a parameter is not offered."""
        if method not in offers():
            known = ", ".join(offers())
            raise InputError(f"There is no method {method!r} here. Known: {known}.")
        for name in given or {}:
            if name in SET_HERE:
                raise InputError(
                    f"Expected parameters that can be chosen here, got {name!r}, which is set "
                    f"when the network is trained. Choose among: {', '.join(choices_of(method))}."
                )
        return cls(method, read_parameters(method, given or {}))

    @property
    def learner(self) -> str:
        """The name of what learns.

        >>> [Training.of("pcl", {"profile": name}).learner for name in ("repaired", "paper")]
        ['PCL, repaired', 'PCL, from learnt features']
        """
        offer = OFFERS[self.method]
        if offer.learner:
            return offer.learner
        chosen = {**offer.parameters, **self.parameters, "start": "features of the pile"}
        return str(find("method", self.method)(**chosen).learner_name)

    def network(self, start: str, seconds: float, seed: int, report: Report, stop: Flag) -> Any:
        """Set up the method for this much time, starting from the features in a file.

        A method that does not keep the time itself is stopped by the report that comes too late.
        """
        from samekind.compute import best_device
        from samekind.training.checkpoints import load_checkpoint
        from samekind.training.progress import Cancelled, Monitor

        kind, device = find("method", self.method), best_device().device
        facts = load_checkpoint(start).facts
        offer = OFFERS[self.method]
        chosen = {**offer.parameters, **self.parameters}
        by_epochs = bool(offer.untimed) and chosen.get("profile") == offer.untimed
        timed = not by_epochs and chosen.get("epochs") is None
        if not timed:
            chosen.setdefault("epochs", PAPER_EPOCHS)
        ends = time.monotonic() + seconds

        def tell(told: TrainingReport) -> None:
            report(told)
            if not timed and time.monotonic() > ends:
                raise Cancelled("The time for training is over.")

        wanted: dict[str, Any] = {
            "start": start,
            "tune_seconds": seconds if timed else None,
            "random_state": seed,
            "warm_start": False,
            "monitor": Monitor(report=tell, stop=stop, every=2 if device == "cpu" else 50),
            "compile": "" if device in ("cpu", "mps") else "record",
            **{name: facts[name] for name in SHAPE if name in facts},
            **(SMALL_STEPS if device == "cpu" else {}),
            **chosen,
        }
        names = signature(kind).parameters
        return kind(**{k: v for k, v in wanted.items() if k in names and v is not None})


def fit_in_time(model: Any, pictures: Any, known: Constraints, stop: Flag) -> None:
    """Train; when the time is over, what has been learnt until then is kept."""
    from samekind.training.progress import Cancelled

    try:
        model.fit(pictures, constraints=known)
    except Cancelled:
        if stop.is_set() or not hasattr(model, "space_"):
            raise


def choices_of(method: str) -> dict[str, Parameter]:
    """Return the parameters that a person may choose, with the defaults that are used here."""
    from samekind.compute import best_device

    small = SMALL_STEPS if best_device().device == "cpu" else {}
    other = {**small, **OFFERS[method].parameters}
    return {
        name: replace(
            parameter,
            default=other.get(name, parameter.default),
            line=LINES.get(name, parameter.line),
        )
        for name, parameter in parameters_of("method", method).items()
        if name not in SET_HERE
    }
