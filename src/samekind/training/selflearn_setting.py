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
AVERAGE_SHORT, AVERAGE_LONG = 0.99, 0.996
"""Weight of the past in the slow copy of BYOL and ProPos: of short trainings and of long ones."""
LONG_EPOCHS = 500
"""A training of so many epochs is a long one."""
SMALLEST_CROP = 0.08
"""Smallest share of the area that a random crop keeps, as CC's views have it."""


def average_over(epochs: float) -> float:
    """Weight of the past in the slow copy for a training of so many epochs.

    BYOL's program has .99 for 100 and 300 epochs and .996 for 1000; ProPos' has .996 for 1000.

    >>> average_over(200), average_over(800)
    (0.99, 0.996)
    """
    return AVERAGE_LONG if epochs >= LONG_EPOCHS else AVERAGE_SHORT


class Own(NamedTuple):
    """Default settings of a method; the rate is that for batches of 512.

    `short` times that rate is used in trainings below :data:`LONG_EPOCHS` epochs.
    """

    optimiser: Literal["adam", "sgd"]
    learning_rate: float
    weight_decay: float
    temperature: float
    factors: tuple[tuple[str, float], ...] = ()
    short: float = 1.0


_PREDICTOR = (("predictor.", 10.0),)
OWN: dict[str, Own] = {
    "simclr": Own("sgd", simclr.RATE, simclr.DECAY, simclr.TEMPERATURE),
    "byol": Own("sgd", 0.1, 5e-4, 1.0, _PREDICTOR, 2.0),
    "cc": Own("adam", 1e-3, 0.0, 0.5),
    "tcl": Own("adam", 1e-3, 1e-4, 0.5),
    "propos": Own("sgd", 0.1, 5e-4, 0.5, _PREDICTOR, 2.0),
}


@dataclass(frozen=True)
class SelfSetting:
    """How to learn features, and groups where the method has them, without any answer.

    All methods follow a rate that rises over the first 5 % of the epochs and then falls to nothing
    like a cosine. SGD has Nesterov's momentum. Batch norms and biases are not decayed. Both views
    of a batch go through the network in one pass, on one device, so batch norms see them together.
    Pictures are not normalised. The programs differ in this:

    - simclr: rate .4, decay 1e-4, temperature .1 and crops from .2 on (SCAN's program), or rate 1.0
      and temperature .5 with LARS; here .25, 5e-4, .2 and crops from .08 on.
    - propos: as published for CIFAR at 1000 epochs are the network (ResNet-18 with a 3x3 stem and
      no pooling, 32 pixels), batches of 512 (CIFAR-20: 256), ten times the rate for the predictor,
      its first weights N(0, .01), decay 5e-4, temperature .5, the scattering's weight .1, noise
      .001, alignment alone and without noise while the rate rises (50 of 1000 epochs), k-means at
      every epoch, the scale of both losses (the mean of both directions), and from 500 epochs on
      the rate of .05 x batch / 256 and the past's weight of .996. Not as published: twice that rate
      and .99 below 500 epochs; on CIFAR-20 the program lets that weight rise to 1
      (``rising=True``) and draws items by group (``resample=True``; here not before there is
      scattering); its SGD has plain momentum and decays everything; its batch norms see 128 rows
      of one view on each of four devices, those of the slow copy in shuffled order (on CIFAR-20
      both views in one pass, as here); the slow copy follows before the step instead of after it;
      float32 instead of bfloat16; pictures normalised.
    - byol: settings and scale of ProPos' program, which runs it without noise and scattering, with
      a past's weight that rises to 1 (``rising=True``; not the default here). BYOL's paper adds
      both directions under LARS, whose steps do not depend on the scale of a loss.
    - cc: Adam at 3e-4, constant; here 1e-3 that falls.
    - tcl: Adam at 1e-4, constant, with 200 epochs of boosting after 1000 (the same share, `boost`);
      here 1e-3 that falls. The backbone ends with a linear layer (`linear`) and heads begin with a
      ReLU, as in the program; its batch norms in the heads are left out, as in IDC's program.
      Labels for the boosting are refreshed at the beginning of each epoch instead of in each step.
      The program has ResNet-34 at 224 pixels with a 7x7 stem.

    Parameters
    ----------
    method : one of :data:`METHODS`.
    groups : how many groups there are, for cc, tcl and propos.
    backbone, stem, channels, size : of the network and its pictures; 3x3 and 32 for small pictures,
        7x7 for those of 96 pixels and more.
    batch_size : items per step. The rate of SGD grows with it.
    learning_rate, weight_decay, temperature : None takes the method's own. That rate is doubled for
        byol and propos in trainings below 500 epochs, as BYOL's program has .45 and .3 for 100 and
        300 epochs where it has .2 for 1000.
    compile : as in :class:`~samekind.training.steps.Plan`.
    device : None takes the best there is.
    seed : of everything.
    boost : share of the epochs that TCL spends on boosting.
    sure : membership from which TCL takes its own label for granted.
    average, rising : weight of the past in BYOL's and ProPos' slow copy, and whether it rises to 1.
        None takes .99 for trainings below 500 epochs and .996 for longer ones
        (:func:`average_over`).
    hidden : width of their projector and predictor.
    noise, scatter, warm : ProPos' noise, the weight of its scattering, and the share of the epochs
        before both.
    linear : whether the backbone ends with a linear layer, whose output are the features. None:
        only for tcl.
    resample : whether propos draws items with replacement and each of its groups equally often.
    crop : smallest share of the area that random crops keep; TCL has views of its own.
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
    average: float | None = None
    rising: bool = False
    hidden: int = 4096
    noise: float = 0.001
    scatter: float = 0.1
    warm: float = 0.05
    linear: bool | None = None
    resample: bool = False
    crop: float = SMALLEST_CROP

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
        if self.resample and self.method != "propos":
            raise InputError(
                f"Only propos draws items by its groups, got resample for {self.method!r}. Omit it."
            )
        if not 0 <= self.boost < 1 or not 0 <= self.warm < 1:
            raise InputError(
                "Expected boost and warm, shares of the epochs, from 0 to below 1, got "
                f"{self.boost} and {self.warm}."
            )
        if not 0 < self.crop <= 1:
            raise InputError(f"Expected a share of the area above 0, up to 1, got {self.crop}.")

    @property
    def own_temperature(self) -> float:
        """The temperature that was asked for, or the method's own."""
        return OWN[self.method].temperature if self.temperature is None else self.temperature

    @property
    def own_linear(self) -> bool:
        """Whether the backbone ends with a linear layer."""
        return self.method == "tcl" if self.linear is None else self.linear

    def plan(self, items: int, epochs: float = 0.0) -> Plan:
        """How the training core is to train on so many items for so many epochs."""
        own = OWN[self.method]
        rate = self.learning_rate
        if rate is None:
            size = min(self.batch_size, items)
            rate = own.learning_rate * (size / 512 if own.optimiser == "sgd" else 1.0)
            rate *= own.short if epochs < LONG_EPOCHS else 1.0
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
        passing = ("device", "compile", *(["crop"] if self.crop == SMALLEST_CROP else []))
        return {name: facts[name] for name in facts if name not in passing}
