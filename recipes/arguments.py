"""Command-line arguments of the recipes, and what the recipes do with them."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from live_grid import grid_arguments
from numpy.typing import NDArray

from samekind.clusterers.deep.idc_feedback import TRAININGS
from samekind.protocols import Oracle, QueryStrategy
from samekind.registry import find
from samekind.reports.plots import Snapshots
from samekind.session import Session
from samekind.simulation.people import Matched, Noisy, Truth, Unsure
from samekind.simulation.provenance import command_line, provenance
from samekind.sources import CIFAR_SETS
from samekind.training.progress import Monitor, tensorboard_log

ROUNDS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
"""Answers after which the fast profile learns again."""
GRIDS = ("table2", "table3", "table4", "figure4", "all")
"""What of IDC can be measured in one command."""
FROZEN = {"cifar10-frozen": "class", "cifar20-frozen": "coarse"}
"""Sets of vectors for a grid in small, and the orientation that IDC is published for."""
DRAWN = 3000
"""Items that are kept for pictures."""


def arguments(
    about: str, *, questions: int, strategy: str, epochs: int, means: Sequence[str] = ()
) -> argparse.Namespace:
    """The command line of PCL and OCC; their published settings are the defaults.

    Parameters
    ----------
    means : names of the means that the loss can take, the published one first.
    """
    parser = _parser(about, "cifar10-2", "personalized", questions, strategy)
    add = parser.add_argument
    add("--profile", default="paper", choices=("paper", "repaired", "fast"))
    add("--epochs", type=int, default=epochs, help="of the paper profile")
    add("--first-epochs", type=int, default=None, help="paper: before the first question")
    add("--per-epoch", type=int, default=None, help="paper: questions between two epochs")
    add("--seconds", type=float, default=None, help="stop (paper) or plan (others) by this time")
    add("--rounds", type=int, nargs="*", default=ROUNDS, help="not paper: answers between refits")
    add("--tune-from", type=int, default=2000, help="not paper: answers from which all is trained")
    add("--tune-seconds", type=float, default=None, help="not paper: of each such training")
    add("--attention", default="auto", choices=("auto", "on", "off"))
    add("--extension", type=float, default=None, help="last part of the epochs with guessed links")
    add("--certain", type=float, default=None, help="of a guessed link, as .9999 in PCL's program")
    if means:
        add("--mean", default=means[0], choices=means, help="of the loss, as published by default")
    add("--random-first", type=int, default=0, help="random questions at the beginning (Q1)")
    add("--score-every", type=int, default=10, help="paper: epochs between two scores")
    add("--ledger", default=None, help="file of events (.jsonl) that a run goes on from")
    add("--save-training", default=None, help="compact checkpoint, in parts, to go on elsewhere")
    wanted = _checked(parser)
    if wanted.certain is not None and not wanted.extension:
        parser.error("--certain is for links guessed in an --extension. Give one, or omit it.")
    if wanted.random_first and not _begins_at_random(wanted.strategy):
        parser.error(
            f"Expected a strategy that can begin with random questions, such as pcl, got "
            f"{wanted.strategy}. Choose another one, or omit --random-first."
        )
    return wanted


def idc_arguments(about: str, *, polish: bool = False) -> argparse.Namespace:
    """The command line of IDC, of what it is compared with, and of polishing."""
    parser = _parser(about, "cifar10", "default", 500, "value")
    add = parser.add_argument
    own = "polish" if polish else "idc"
    add("--method", default=own, choices=("idc", "fixmatch", "polish", "corrected"))
    if polish:
        grid_arguments(parser)
    add("--person", default="shown", choices=("shown", "matched"), help="matched: as published")
    add("--noise", type=float, default=0.0, help="share of wrong answers")
    add("--unsure", type=float, default=0.0, help="share of questions left open")
    profiles = (*TRAININGS, "gentle")
    add("--profile", default=None, choices=profiles, help="idc, fixmatch; None: their own")
    add("--offered", type=int, default=5, help="groups that a question of `value` shows (T)")
    add("--refused", default="one", choices=("one", "all"), help="idc: refused groups per step")
    add("--losses", default="pos,neg,reg", help="idc: those that are used")
    add("--views", default=None, choices=("strong", "own"), help="idc: None: as in the start")
    add("--average", type=float, default=None, help="weight of the past; None: as published")
    add("--warm-up", type=float, default=None, help="idc: part before guesses count; else: of rise")
    add("--backbone-rate", type=float, default=None, help="fixmatch gentle, polish: of the rate")
    add("--sure", type=float, default=None, help="membership of a guess; None: as published")
    add("--epochs", type=float, default=None, help="None: 100 over the asked items (fixmatch: 20)")
    add("--unlabelled", type=int, default=None, help="items without answers in a step")
    add("--first-epochs", type=int, default=None, help="of learning features, without a start")
    add("--seconds", type=float, default=None, help="for learning features, without a start")
    add("--tune-seconds", type=float, default=None, help="for learning from answers")
    if not polish:
        _grid_arguments(parser)
    wanted = _checked(parser)
    if getattr(wanted, "vectors", None):
        if not wanted.grid:
            parser.error("--vectors is for a --grid. Name one, or omit --vectors.")
        wanted.orientation = FROZEN[wanted.vectors]
    return wanted


def _grid_arguments(parser: argparse.ArgumentParser) -> None:
    """Many trainings of IDC in one command; see recipes/idc_grid.py."""
    add = parser.add_argument
    add("--grid", default=None, choices=GRIDS, help="train everything for it in one command")
    add("--people", nargs="+", default=["matched", "shown"], choices=("shown", "matched"))
    add("--profiles", nargs="+", default=["program"], choices=TRAININGS)
    add("--seeds", type=int, nargs="+", default=[0])
    add("--step", type=int, default=100, help="questions between two points of a curve")
    add("--limit", type=float, default=None, help="seconds after which no training begins")
    add("--vectors", default=None, choices=tuple(FROZEN), help="instead of pictures, in small")


def _parser(
    about: str, name: str, orientation: str, questions: int, strategy: str
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    add = parser.add_argument
    add("--set", default=name, choices=CIFAR_SETS)
    add("--orientation", default=orientation, choices=("default", "personalized"))
    add("--questions", type=int, default=questions)
    add("--strategy", default=strategy, help="any of `samekind list`")
    add("--data", default=None, help="folder with the pictures (or SAMEKIND_DATA)")
    add("--start", default=None, help="weights to begin from: --save-features, `samekind learn`")
    add("--save-features", default=None, help="file for the backbone's weights at the end")
    add("--items", type=int, default=None, help="only the first so many pictures")
    add("--batch-size", type=int, default=None)
    add("--learning-rate", type=float, default=None, help="None: as published")
    add("--size", type=int, default=None, help="pixels a side")
    add("--stem", default=None, choices=("7x7", "3x3"))
    add("--backbone", default=None, choices=("resnet18", "resnet34"))
    add("--channels", type=int, default=None)
    add("--compile", default="", choices=("", "record", "plain", "tuned", "graphs"))
    add("--checkpoint", default=None)
    add("--seed", type=int, default=0)
    add("--commit", default="", help="noted in the result")
    add("--json", default=None, help="file for the result")
    add("--tensorboard", default=None, help="folder for the curves of the training")
    add("--snapshots", default=None, help="file for `samekind plot evolution --from`")
    add("--verbose", action="store_true")
    return parser


def _begins_at_random(strategy: str) -> bool:
    return "random_first" in inspect.signature(find("strategy", strategy)).parameters


def _checked(parser: argparse.ArgumentParser) -> argparse.Namespace:
    wanted = parser.parse_args()
    if wanted.snapshots and Path(wanted.snapshots).exists():
        parser.error(f"{wanted.snapshots} exists already. Choose another name.")
    return wanted


def monitor_of(wanted: argparse.Namespace) -> Monitor | None:
    """Curves for TensorBoard, if a folder was named."""
    return Monitor(log=tensorboard_log(wanted.tensorboard)) if wanted.tensorboard else None


def strategy_of(wanted: argparse.Namespace) -> QueryStrategy | str:
    """The strategy of PCL and OCC, after random questions if some are wanted."""
    if not wanted.random_first:
        return str(wanted.strategy)
    made: QueryStrategy = find("strategy", wanted.strategy)(random_first=wanted.random_first)
    return made


def model_settings(wanted: argparse.Namespace) -> dict[str, Any]:
    """Parameters of the estimator that PCL and OCC pass on."""
    fast = wanted.profile != "paper"
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
        "channels": wanted.channels or 64,
        "attention": None if wanted.attention == "auto" else wanted.attention == "on",
        "extension": wanted.extension,
        "certain": wanted.certain,
        "compile": wanted.compile,
        "checkpoint": wanted.checkpoint,
        "monitor": monitor_of(wanted),
        "verbose": wanted.verbose,
        "random_state": wanted.seed,
    }


def idc_settings(wanted: argparse.Namespace, takes: Sequence[str]) -> dict[str, Any]:
    """Parameters that were told, of those that the estimator takes."""
    told = {name: value for name, value in vars(wanted).items() if value is not None}
    told |= {"losses": tuple(wanted.losses.split(",")), "random_state": wanted.seed}
    told["monitor"] = monitor_of(wanted)
    return {name: value for name, value in told.items() if name in takes}


def person(wanted: argparse.Namespace, truth: NDArray[np.intp], groups: NDArray[np.intp]) -> Oracle:
    """Who answers. Only the published protocol looks at more than the items shown."""
    oracle: Oracle = Matched(truth, groups) if wanted.person == "matched" else Truth(truth)
    oracle = Noisy(oracle, wanted.noise, wanted.seed) if wanted.noise else oracle
    return Unsure(oracle, wanted.unsure, wanted.seed) if wanted.unsure else oracle


def rounds_until(wanted: argparse.Namespace) -> list[int]:
    """Numbers of answers after which the fast profile learns again."""
    return [*(r for r in wanted.rounds if r < wanted.questions), wanted.questions]


def over(began: float, seconds: float | None) -> bool:
    """Whether the time is up."""
    return seconds is not None and time.monotonic() - began > seconds


class Album:
    """The learnt space before and after, for a picture; empty unless a file was named."""

    def __init__(
        self, wanted: argparse.Namespace, method: str, truths: Mapping[str, NDArray[Any]]
    ) -> None:
        self.wanted = wanted
        note = f"Method {method}, strategy {wanted.strategy}, seed {wanted.seed}"
        self.moments = Snapshots(truths, name=wanted.set, note=note)

    def add(self, session: Session, told: int) -> None:
        """Remember this moment."""
        if self.wanted.snapshots:
            asked = self.wanted.orientation if told else ""
            title = f"After {told:,} answers" if told else "Before any answer"
            self.moments = self.moments.with_moment(title, session.clustering, told, asked=asked)

    def save(self) -> None:
        """Write the file, if one was named."""
        if self.wanted.snapshots:
            self.moments.sampled(DRAWN).save(self.wanted.snapshots)


def write(
    wanted: argparse.Namespace, method: str, curve: Sequence[Mapping[str, float]], **more: Any
) -> None:
    """The result as JSON, if a file was named."""
    if wanted.json:
        result = {**run_facts(wanted), "method": method, "curve": curve, **curve[-1], **more}
        Path(wanted.json).write_text(json.dumps(result, default=str, indent=1))


def run_facts(wanted: argparse.Namespace) -> dict[str, Any]:
    """The settings of a run, its command and its machine; of files and folders only the name."""
    recipe = Path(sys.argv[0])
    command = command_line(f"python recipes/{recipe.name}", sys.argv[1:])
    given = {name: _without_folder(value) for name, value in vars(wanted).items()}
    return given | provenance(command, wanted.commit)


def _without_folder(value: object) -> object:
    return Path(value).name if isinstance(value, str) and Path(value).is_absolute() else value
