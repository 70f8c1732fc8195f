"""What the recipes can be told: one list of arguments for all of them."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROUNDS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Answers after which the fast profile learns again."""


def arguments(about: str, *, questions: int, strategy: str, epochs: int) -> argparse.Namespace:
    """The command line of a recipe; its published settings are the defaults."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    add = parser.add_argument
    add("--set", default="cifar10-2", choices=("cifar10-2", "cifar100-4"))
    add("--orientation", default="personalized", choices=("default", "personalized"))
    add("--questions", type=int, default=questions)
    add("--strategy", default=strategy, help="any of `samekind list`")
    add("--profile", default="paper", choices=("paper", "fast"))
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--epochs", type=int, default=epochs, help="of the paper profile")
    add("--first-epochs", type=int, default=None, help="paper: before the first question")
    add("--per-epoch", type=int, default=None, help="paper: questions between two epochs")
    add("--seconds", type=float, default=None, help="stop (paper) or plan (fast) by this time")
    add("--rounds", type=int, nargs="*", default=ROUNDS, help="fast: answers between refits")
    add("--tune-from", type=int, default=2000, help="fast: answers from which all is trained")
    add("--tune-seconds", type=float, default=None, help="fast: of each such training")
    add("--start", default=None, help="backbone weights to begin from")
    add("--save-features", default=None, help="file for the backbone's weights at the end")
    add("--items", type=int, default=None, help="only the first so many pictures")
    add("--batch-size", type=int, default=None)
    add("--learning-rate", type=float, default=None, help="None: as published")
    add("--size", type=int, default=None, help="pixels a side")
    add("--stem", default=None, choices=("7x7", "3x3"))
    add("--backbone", default=None, choices=("resnet18", "resnet34"))
    add("--channels", type=int, default=64)
    add("--attention", default="auto", choices=("auto", "on", "off"))
    add("--extension", type=float, default=None, help="last part of the epochs with guessed links")
    add("--compile", default="", choices=("", "record", "plain", "tuned", "graphs"))
    add("--checkpoint", default=None)
    add("--score-every", type=int, default=10, help="paper: epochs between two scores")
    add("--seed", type=int, default=0)
    add("--commit", default="", help="noted in the result")
    add("--json", default=None, help="file for the result")
    add("--verbose", action="store_true")
    return parser.parse_args()


def model_settings(wanted: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the estimator that all recipes pass on."""
    fast = wanted.profile == "fast"
    planned = wanted.seconds if fast else None
    return {
        "profile": wanted.profile,
        "epochs": None if fast else 1,
        "horizon": wanted.epochs,
        "seconds": planned and planned * 0.4,
        "tune_seconds": wanted.tune_seconds or (planned and planned * 0.45),
        "tune_from": min(wanted.tune_from, wanted.questions or wanted.tune_from),
        "start": wanted.start,
        "batch_size": wanted.batch_size,
        "learning_rate": wanted.learning_rate,
        "size": wanted.size,
        "stem": wanted.stem,
        "backbone": wanted.backbone,
        "channels": wanted.channels,
        "attention": None if wanted.attention == "auto" else wanted.attention == "on",
        "extension": wanted.extension,
        "compile": wanted.compile,
        "checkpoint": wanted.checkpoint,
        "verbose": wanted.verbose,
        "random_state": wanted.seed,
    }


def rounds_until(wanted: argparse.Namespace) -> list[int]:
    """Numbers of answers after which the fast profile learns again."""
    return [*(r for r in wanted.rounds if r < wanted.questions), wanted.questions]


def over(began: float, seconds: float | None) -> bool:
    """Whether the time is up."""
    return seconds is not None and time.monotonic() - began > seconds


def write(wanted: argparse.Namespace, curve: Sequence[Mapping[str, float]]) -> None:
    """The result as JSON, if a file was named."""
    if wanted.json:
        result = {**vars(wanted), "curve": curve, **curve[-1]}
        Path(wanted.json).write_text(json.dumps(result, default=str, indent=1))
