"""One run of a suite: a simulated person, a session, a curve on train and test items."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from suite_format import METRICS, Run, Settings
from torch import Tensor, nn

from samekind.compute import best_device
from samekind.errors import InputError
from samekind.evaluation import score
from samekind.items import Collection
from samekind.oracles import Matched, Noisy, Truth, Unsure
from samekind.protocols import Oracle
from samekind.registry import find
from samekind.session import Session
from samekind.simulate import run as simulate
from samekind.sources import LabelledSet
from samekind.sources.cifar import CIFAR_SETS, open_cifar
from samekind.sources.named import open_set

EVERY = 5
"""Of a set without a test part every fifth item is held out."""


@dataclass(frozen=True, eq=False)
class Material:
    """What a run learns from (X), and held-out items that it is scored on (apart).

    Labels go to the oracle and to the scores only.
    """

    labelled: LabelledSet
    X: NDArray[Any]
    apart: NDArray[Any] | None

    def truth(self, orientation: str) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
        return self.labelled.truth(orientation)


class Limit:
    """The time at which all runs have to come to an end; between refits they look at it."""

    def __init__(self, until: float | None, clock: Callable[[], float] = time.time) -> None:
        self.until, self._clock = until, clock

    def forbids(self, seconds: float = 0.0) -> bool:
        """Whether something that takes so long would end too late."""
        return self.until is not None and self._clock() + seconds >= self.until


class Without(nn.Module):
    """A loss with some of its parts left out (OCC, Table 3)."""

    def __init__(self, loss: nn.Module, parts: tuple[str, ...]) -> None:
        super().__init__()
        self.loss, self.parts = loss, parts

    def forward(self, out: Any, links: Any, moment: Any) -> dict[str, Tensor]:
        found: dict[str, Tensor] = self.loss(out, links, moment)
        missing = set(self.parts) - set(found)
        if missing:
            raise InputError(
                f"The loss has no part {sorted(missing)[0]!r} to leave out. "
                f"Its parts: {', '.join(found)}."
            )
        return {name: part for name, part in found.items() if name not in self.parts}


class Diary:
    """Scores a session after refits, and tells who looks on."""

    def __init__(self, run: Run, material: Material, began: float) -> None:
        self.truth, self.test_truth = material.truth(run.orientation)
        self.truth = self.truth[: run.settings.items or None]
        self.run, self.test, self.began = run, material.apart, began
        self.curve: list[dict[str, float]] = []

    def note(self, session: Session, told: int) -> None:
        """Add a row to the curve, unless there is one of this state."""
        refits = session.clustering.snapshot
        if self.curve and self.curve[-1]["refits"] == refits:
            return
        row: dict[str, float] = {"questions": told, "refits": refits}
        if self.test is not None and self.test_truth is not None:
            row |= _scores("test", self.test_truth, session.predict(self.test))
        labels, asked = session.clustering.labels, session.constraints.touched
        row |= _scores("train", self.truth, labels)
        rest = np.setdiff1d(np.arange(len(labels)), asked)  # not put right by the answers as such
        if len(asked) and len(rest):
            row |= _scores("unasked", self.truth[rest], labels[rest])
        row["seconds"] = round(time.monotonic() - self.began, 1)
        self.curve.append(row)
        shown = {k: v for k, v in row.items() if k.endswith(("acc", "questions", "seconds"))}
        print(self.run.name, shown, flush=True)


def run_one(run: Run, data: str | None, limit: Limit, notes: Mapping[str, Any]) -> dict[str, Any]:
    """Do one run and return its row; cut short, the row has the curve so far.

    Parameters
    ----------
    data : folder of the pictures. notes : what else the row should say, such as the commit.
    """
    began = time.monotonic()
    settings = run.settings
    material = opened(run.set, data, settings.held_out)
    diary = Diary(run, material, began)
    X = material.X[: settings.items or None]
    first = settings.rounds[0] if settings.rounds else 1
    session = Session(
        material.labelled.collection.take(range(len(X))),
        X,
        clusterer=model_of(settings, len(set(diary.truth.tolist()))),
        strategy=find("strategy", settings.strategy)(**settings.strategy_with),
        seed=run.seed,
        refit_every=first,
        ahead=first,
        budget=settings.questions,
    )
    diary.note(session, 0)
    oracle = person(settings, diary.truth, session.clustering.labels, run.seed)
    told, complete = carry_out(session, oracle, settings, diary, limit)
    diary.note(session, told)
    kept = asdict(settings)
    return {
        "run": run.name,
        "suite": run.suite,
        "set": run.set,
        "variant": run.variant,
        "orientation": run.orientation,
        "seed": run.seed,
        "method": kept.pop("method"),
        "strategy": kept.pop("strategy"),
        "questions": kept.pop("questions"),
        "parameters": kept.pop("parameters"),
        "protocol": kept,
        "complete": complete,
        "told": told,
        "choices": session.progress()["choices"],
        "items": len(X),
        "curve": diary.curve,
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(settings.parameters.get("device")),
        "when": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()),
        **notes,
    }


def carry_out(
    session: Session, oracle: Oracle, settings: Settings, diary: Diary, limit: Limit
) -> tuple[int, bool]:
    """Ask and learn round by round. Returns the answers told, and whether it came to its end."""
    told, longest = 0, 0.0
    todo = [None] * settings.first_refits + [*settings.rounds]
    todo += [None] * max(0, settings.refits - len(todo))
    for until in todo:
        if limit.forbids(longest):
            return told, False
        started = time.monotonic()
        if until is None:
            session.refit()
        else:
            told = answered(session, oracle, told, until)
        longest = max(longest, time.monotonic() - started)
        if session.clustering.snapshot % settings.score_every == 0:
            diary.note(session, told)
    return told, True


def answered(session: Session, oracle: Oracle, told: int, until: int) -> int:
    """Answer up to `until` questions with as few refits as the strategy allows."""
    while told < until:
        session.refit_every = session.ahead = until - told
        got = simulate(session, oracle, until - told).told
        told += got
        if told < until:  # the strategy had no more questions for this snapshot
            session.refit()
        if not got:
            break
    return told


def person(settings: Settings, truth: Any, groups: Any, seed: int) -> Oracle:
    """Who answers: from the items shown, or as IDC was published; perhaps wrong, perhaps unsure."""
    oracle: Oracle = Matched(truth, groups) if settings.person == "matched" else Truth(truth)
    oracle = Noisy(oracle, settings.noise, seed) if settings.noise else oracle
    return Unsure(oracle, settings.unsure, seed) if settings.unsure else oracle


def model_of(settings: Settings, n_groups: int) -> Any:
    """The method with its parameters; the number of groups is given, as in the papers."""
    model = find("method", settings.method)(**{"n_clusters": n_groups, **settings.parameters})
    if settings.without and not hasattr(model, "published_objective"):
        raise InputError(
            f"The loss of {settings.method!r} has no parts that `without` could leave out. "
            "Say which losses are used with the method's own parameters."
        )
    if settings.without:
        model.set_params(objective=Without(model.published_objective(), settings.without))
    return model


@lru_cache(maxsize=4)
def opened(name: str, folder: str | None, held_out: bool) -> Material:
    """A set as arrays; kept, because one process does many runs."""
    if not held_out:
        return _joined(opened(name, folder, True))
    if name in CIFAR_SETS:
        pile = open_cifar(name, folder)
        return Material(pile.labelled, pile.images, pile.held_out_images)
    return _small(open_set(name))


def machine(device: str | None = None) -> str:
    """Where it was computed, in words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    name = best_device(device).reason.partition(",")[0]
    return f"{name}; {cores} cores; torch {torch.__version__}"


def _joined(whole: Material) -> Material:
    """Both parts as one: what OCC learns from, asks about and is scored on."""
    labelled = whole.labelled
    if labelled.held_out is None or whole.apart is None:
        return whole
    both = LabelledSet(
        labelled.name,
        Collection(labelled.name, [*labelled.collection, *labelled.held_out]),
        {
            column: np.concatenate([values, labelled.held_out_orientations[column]])
            for column, values in labelled.orientations.items()
        },
    )
    return Material(both, np.concatenate([whole.X, whole.apart]), None)


def _small(labelled: LabelledSet) -> Material:
    """Tiles as pictures, digits as the vectors that they are; a test part where there is none."""
    if labelled.held_out is None:
        n = len(labelled.collection)
        apart = np.arange(n) % EVERY == EVERY - 1
        inside, outside = np.flatnonzero(~apart), np.flatnonzero(apart)
        columns = labelled.orientations
        labelled = LabelledSet(
            labelled.name,
            labelled.collection.take(inside.tolist()),
            {name: values[inside] for name, values in columns.items()},
            labelled.collection.take(outside.tolist()),
            {name: values[outside] for name, values in columns.items()},
        )
    assert labelled.held_out is not None
    return Material(labelled, _array(labelled.collection), _array(labelled.held_out))


def _array(collection: Collection) -> NDArray[Any]:
    loaded = np.stack([np.asarray(item.load()) for item in collection])
    return np.ascontiguousarray(np.moveaxis(loaded, 3, 1)) if loaded.ndim == 4 else loaded


def _scores(part: str, truth: Any, labels: Any) -> dict[str, float]:
    found = score(truth, labels)
    return {f"{part}_{name}": round(float(found[name]), 5) for name in METRICS}
