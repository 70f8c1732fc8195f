"""Settings of the deep clusterers: what was asked for, and what was published."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from samekind.errors import InputError
from samekind.training.feedback_tuning import FeedbackTuning
from samekind.training.finetune import Tuning
from samekind.training.progress import Monitor


@dataclass(frozen=True)
class Setting:
    """Everything that a deep clusterer was asked for, resolved. See its parameters."""

    batch_size: int = 256
    learning_rate: float = 3e-3
    backbone: str = "rows"
    stem: str = "7x7"
    channels: int = 64
    size: int = 128
    family: str = "pcl"
    attention: bool = False
    extension: float = 0.0
    certain: float = 0.9999
    linked_share: float = 0.25
    epochs: int | None = None
    steps: int | None = None
    first_epochs: int | None = None
    horizon: int | None = None
    seconds: float | None = None
    tune_seconds: float | None = None
    tune_from: int = 2000
    profile: Literal["paper", "fast"] = "paper"
    device: str | None = None
    compile: str = ""
    checkpoint: str | None = None
    start: str | None = None
    watch: Monitor | None = None
    verbose: bool = False
    feedback: FeedbackTuning = field(default_factory=FeedbackTuning)
    tuning: Tuning = field(default_factory=Tuning)
    views: str | None = None

    @property
    def architecture(self) -> dict[str, Any]:
        """What weights must agree in to be of use."""
        names = ("backbone", "stem", "channels", "size", "attention", "profile")
        return {name: getattr(self, name) for name in names}

    @property
    def features(self) -> dict[str, Any]:
        """What the weights of a backbone must agree in to be of use."""
        return {name: getattr(self, name) for name in ("backbone", "stem", "channels")}


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
"""Self-supervised training of minutes, on small pictures."""


@dataclass(frozen=True)
class Recipe:
    """The settings that a method was published with, and where its strategies look (z or h)."""

    paper: Setting
    space: Literal["z", "h"] = "z"

    def for_pictures(self, profile: str) -> Setting:
        """The settings for pictures in a profile."""
        if profile == "paper":
            return self.paper
        if profile != "fast":
            raise InputError(f"{profile!r} is not a profile. Choose one of: paper, fast.")
        return replace(self.paper, **FAST)

    def for_rows(self) -> Setting:
        """The settings for plain vectors: small, quick, the same loss."""
        return Setting(extension=self.paper.extension)
