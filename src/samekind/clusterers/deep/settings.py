"""Setting: everything that a deep method was asked for, with published values where it was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from samekind.errors import UnknownName
from samekind.training.augment import Family, family_named
from samekind.training.backbone_file import backbone_facts
from samekind.training.progress import Monitor
from samekind.training.resnet import ResNet

DEPTHS = {"resnet18": 18, "resnet34": 34}
PICTURE_SETTINGS = (
    "batch_size", "backbone", "stem", "channels", "size", "family", "device", "compile",
    "checkpoint",
)  # fmt: skip
"""Parameters of estimators that become settings for pictures, where an estimator has them."""
FAST: dict[str, Any] = {
    "profile": "fast",
    "backbone": "resnet18",
    "stem": "3x3",
    "size": 32,
    "family": "cc-small",
    "attention": False,
    "batch_size": 512,
    "learning_rate": 0.25,
}
"""Self-supervised training that takes minutes, on small pictures."""
REPAIRED: dict[str, Any] = {**FAST, "profile": "repaired", "learning_rate": 1e-3}
"""The same network and batches; the rate is that of training on the answers."""
REPAIRED_ROWS: dict[str, Any] = {"profile": "repaired", "learning_rate": 1e-3}
"""What differs on plain vectors in the profile ``repaired``."""


@dataclass(frozen=True)
class Setting:
    """Resolved parameters of a deep method; the defaults are those for plain vectors.

    See the estimators for their meaning. `tuning` says how to train on answers, for the methods
    that do so in a loop of their own.
    """

    batch_size: int = 256
    learning_rate: float = 3e-3
    backbone: str = "rows"
    stem: str = "7x7"
    channels: int = 64
    size: int = 128
    family: str | Family = "pcl"
    attention: bool = False
    extension: float = 0.0
    certain: float | None = None
    linked_share: float = 0.25
    epochs: int | None = None
    steps: int | None = None
    first_epochs: int | None = None
    horizon: int | None = None
    seconds: float | None = None
    tune_seconds: float | None = None
    tune_from: int = 2000
    profile: Literal["paper", "repaired", "fast"] = "paper"
    device: str | None = None
    compile: str = ""
    checkpoint: str | None = None
    start: str | None = None
    monitor: Monitor | None = None
    verbose: bool = False
    tuning: Any = None
    views: str | None = None
    linear: bool | None = None

    @classmethod
    def for_pictures(cls, start: str | None, wanted: Mapping[str, Any]) -> Setting:
        """Settings for pictures: those wanted, else those of the file, else quick ones.

        Parameters
        ----------
        start : file with a backbone to begin from, or None.
        wanted : settings by name; None: not given.
        """
        names = ("backbone", "stem", "channels", "size", "linear")
        in_file = {name: value for name, value in backbone_facts(start).items() if name in names}
        given = {name: value for name, value in wanted.items() if value is not None}
        return cls(start=start, **{**FAST, **in_file, **given})

    @property
    def architecture(self) -> dict[str, Any]:
        """Facts in which a checkpoint must agree to be resumed from."""
        names = ("backbone", "stem", "channels", "size", "attention", "profile")
        return {name: getattr(self, name) for name in names}

    @property
    def features(self) -> dict[str, Any]:
        """Facts in which the weights of a backbone must agree to be loaded."""
        facts = {name: getattr(self, name) for name in ("backbone", "stem", "channels")}
        return {**facts, "linear": True} if self.linear else facts

    def resnet(self) -> ResNet:
        """A fresh backbone for pictures."""
        if self.backbone not in DEPTHS:
            raise UnknownName("backbone", self.backbone, DEPTHS)
        stem: Any = self.stem
        linear = bool(self.linear)
        return ResNet(DEPTHS[self.backbone], stem=stem, base=self.channels, linear=linear)

    def view_family(self) -> Family:
        """The family of random views, at the size of the network's input."""
        family = self.family if isinstance(self.family, Family) else family_named(self.family)
        return family.at(self.size)
