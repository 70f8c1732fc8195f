"""Settings of self-supervised training, and the defaults of each method."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from samekind.errors import InputError, UnknownName
from samekind.training import simclr
from samekind.training.steps import Plan

METHODS = ("simclr", "byol", "cc", "tcl", "propos")
GROUPING = ("cc", "tcl", "propos")
"""Methods that must be told a number of groups."""
DEPTHS = {"resnet18": 18, "resnet34": 34}


class Own(NamedTuple):
    """Default settings of a method; the rate is that for batches of 512."""

    optimiser: Literal["adam", "sgd"]
    learning_rate: float
    weight_decay: float
    temperature: float
    factors: tuple[tuple[str, float], ...] = ()


_PREDICTOR = (("predictor.", 10.0),)
OWN: dict[str, Own] = {
    "simclr": Own("sgd", simclr.RATE, simclr.DECAY, simclr.TEMPERATURE),
    "byol": Own("sgd", 0.1, 5e-4, 1.0, _PREDICTOR),
    "cc": Own("adam", 1e-3, 0.0, 0.5),
    "tcl": Own("adam", 1e-3, 1e-4, 0.5),
    "propos": Own("sgd", 0.1, 5e-4, 0.5, _PREDICTOR),
}


@dataclass(frozen=True)
class SelfSetting:
    """How to learn features, and groups where the method has them, without any answer.

    All methods follow a rate that rises over the first 5 % of the epochs and then falls to nothing
    like a cosine. Their other settings are made for runs of minutes (some 100 epochs); the
    published ones, for 1000 epochs, differ in this:

    - simclr: rate .25 and temperature .2 with SGD; published are .4 and .1 (SCAN's program), or 1.0
      and .5 with LARS.
    - byol, propos: rate .05 x batch / 256, predictor x 10, decay 5e-4 as published by ProPos; the
      past weighs .99 instead of .996 (`average`); both views go through the network in one pass,
      so batch norms see them together; batch norms and biases are not decayed.
    - cc: Adam at 1e-3 that falls; published 3e-4, constant.
    - tcl: Adam at 1e-3 that falls, heads without batch norms (as in IDC's program), labels for the
      boosting refreshed at the beginning of each epoch instead of in each step. Published: 1e-4,
      constant, then 200 epochs of boosting after 1000 (the same share, `boost`).
    - propos: alignment alone, without noise, in the first 5 % (50 of 1000) of the epochs, as
      published; no resampling by group.

    Parameters
    ----------
    method : one of :data:`METHODS`.
    groups : how many groups there are, for cc, tcl and propos.
    backbone, stem, channels, size : of the network and its pictures; 3x3 and 32 for small pictures,
        7x7 for those of 96 pixels and more.
    batch_size : items per step. The rate of SGD grows with it.
    learning_rate, weight_decay, temperature : None takes the method's own.
    compile : as in :class:`~samekind.training.steps.Plan`.
    device : None takes the best there is.
    seed : of everything.
    boost : share of the epochs that TCL spends on boosting.
    sure : membership from which TCL takes its own label for granted.
    average, rising : weight of the past in BYOL's and ProPos' slow copy, and whether it rises to 1.
    hidden : width of their projector and predictor.
    noise, scatter, warm : ProPos' noise, the weight of its scattering, and the share of the epochs
        before both.
    """

    method: str
    groups: int | None = None
    backbone: str = "resnet18"
    stem: str = "3x3"
    channels: int = 64
    size: int = 32
    batch_size: int = 512
    learning_rate: float | None = None
    weight_decay: float | None = None
    temperature: float | None = None
    compile: str = ""
    device: str | None = None
    seed: int = 0
    boost: float = 1 / 6
    sure: float = 0.99
    average: float = 0.99
    rising: bool = False
    hidden: int = 4096
    noise: float = 0.001
    scatter: float = 0.1
    warm: float = 0.05

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UnknownName("method", self.method, METHODS)
        if self.backbone not in DEPTHS:
            raise UnknownName("backbone", self.backbone, DEPTHS)
        if self.method in GROUPING and (self.groups is None or self.groups < 2):
            raise InputError(
                f"{self.method} expects a number of groups of at least 2, got {self.groups}. "
                "Give groups=..., or choose simclr or byol, which need none."
            )
        if not 0 <= self.boost < 1 or not 0 <= self.warm < 1:
            raise InputError(
                "Expected boost and warm, shares of the epochs, from 0 to below 1, got "
                f"{self.boost} and {self.warm}."
            )

    @property
    def own_temperature(self) -> float:
        """The temperature that was asked for, or the method's own."""
        return OWN[self.method].temperature if self.temperature is None else self.temperature

    def plan(self, items: int) -> Plan:
        """How the training core is to train on so many items."""
        own = OWN[self.method]
        rate = self.learning_rate
        if rate is None:
            size = min(self.batch_size, items)
            rate = own.learning_rate * (size / 512 if own.optimiser == "sgd" else 1.0)
        return Plan(
            batch_size=self.batch_size,
            learning_rate=rate,
            weight_decay=own.weight_decay if self.weight_decay is None else self.weight_decay,
            optimiser=own.optimiser,
            schedule="cosine",
            clip=None,
            linked_share=0.0,
            seed=self.seed,
            compile=self.compile,  # type: ignore[arg-type]
            factors=own.factors,
        )

    @property
    def identity(self) -> dict[str, Any]:
        """Facts in which a checkpoint must agree: all but the device and the mode of compiling."""
        facts = asdict(self)
        return {name: facts[name] for name in facts if name not in ("device", "compile")}
