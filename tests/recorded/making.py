"""Recorded runs: small simulations whose questions, choices and labels must never change.

The rows in ``rows.jsonl`` were made at commit 3e4e0db (version 0.1). They must not be made again
when a refactoring changes them: a difference is a change of behaviour, and the refactoring is wrong.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from threadpoolctl import threadpool_limits

from samekind.cli.main import main
from samekind.encoders import encode, make_encoder
from samekind.items import Collection
from samekind.protocols import Oracle
from samekind.questions import Question
from samekind.registry import find
from samekind.session import Session
from samekind.simulation.loop import run as simulate
from samekind.simulation.people import person_named
from samekind.sources import open_set

HERE = Path(__file__).parent
ROWS = HERE / "rows.jsonl"
COMMANDS = HERE / "commands.json"
FINGERPRINT = HERE / "arithmetic.json"
SUITE = HERE / "files" / "tiny.toml"
PASSING = {
    "ask_seconds", "tell_seconds", "refit_seconds", "seconds", "peak_memory_mb", "memory_mib",
    "command", "commit", "when", "machine", "versions",
}  # fmt: skip
"""Fields of rows that are never the same twice."""
QUESTIONS = 12
QUESTIONS_PER_REFIT = 5
SPELLED_OUT = 3
"""Questions of each run that a row spells out, so that a difference can be read."""
SEEDS = (0, 1)


@dataclass(frozen=True)
class Problem:
    """A set with the kinds that a simulated person has in mind."""

    set: str
    orientation: str
    encoder: str
    items: int = 120
    noise: float = 0.0


@dataclass(frozen=True)
class System:
    """A method with the strategy that it is paired with in the suites of the package."""

    method: str
    strategy: str
    parameters: dict[str, Any] = field(default_factory=dict)
    groups_given: bool = True
    ahead: int = 1
    first_refits: int = 0
    items: int | None = None
    """Fewer than the problem has, for a method that takes long."""


PROBLEMS: dict[str, Problem] = {
    "tiles-colour": Problem("tiles", "colour", "pixels"),
    "tiles-shape": Problem("tiles", "shape", "pixels"),
    "tiles-pattern": Problem("tiles", "pattern", "pixels"),
    "tiles-count": Problem("tiles", "count", "pixels"),
    "digits": Problem("digits", "digit", "vectors"),
    "digits-wrong-10": Problem("digits", "digit", "vectors", noise=0.1),
    "penguins": Problem("penguins", "species", "rows"),
    "small-talk": Problem("small-talk", "language", "tfidf"),
    "cifar10-frozen": Problem("cifar10-frozen", "personalized", "vectors"),
}
SYSTEMS: dict[str, System] = {
    "live": System("live", "live", groups_given=False),
    "placement": System("propagation", "placement", groups_given=False),
    "cobras": System("cobras", "cobras", groups_given=False),
    "mpckmeans": System("mpckmeans", "minmax"),
    "pcl": System("pcl", "pcl", {"epochs": 1}, ahead=5),
    "occ": System("occ", "csd", {"epochs": 1}, ahead=5, first_refits=1),
    "idc": System("idc", "value", {"epochs": 1, "first_epochs": 1}, ahead=5),
    "ncp": System("ncp", "posterior", {"n_samples": 8, "orders": 2}, groups_given=False, items=50),
}
PICTURES = Problem("tiles", "shape", "images", items=48)
"""For methods that learn from pixels."""
NETWORK: dict[str, Any] = {
    "size": 16, "backbone": "resnet18", "stem": "3x3", "channels": 4, "batch_size": 16,
    "first_epochs": 1, "epochs": 1,
}  # fmt: skip
ON_PICTURES: dict[str, System] = {
    "pcl": System("pcl", "pcl", NETWORK, ahead=5),
    "occ": System("occ", "csd", NETWORK, ahead=5, first_refits=1),
    "idc": System("idc", "value", NETWORK, ahead=5),
    **{name: System(name, "random", NETWORK, ahead=5) for name in ("cc", "fixmatch", "polish")},
    **{
        name: System(name, "random", NETWORK | {"steps": 2}, ahead=5)
        for name in (
            "simclr", "byol", "tcl", "propos", "scan", "spice", "pica", "idfd", "gcc", "mice",
        )
    },
}  # fmt: skip
ON_ROWS: dict[str, System] = {
    **{name: System(name, "random", {"epochs": 1}) for name in ("cc", "fixmatch", "polish")},
    **{
        name: System(name, "random", {"steps": 2})
        for name in (
            "simclr", "byol", "tcl", "propos", "scan", "spice", "pica", "idfd", "gcc", "mice",
        )
    },
    **{
        name: System(name, "random", {"steps": 4})
        for name in ("dec", "idec", "sdec", "dcc", "dc-gmm")
    },
}  # fmt: skip
"""The other deep methods: once each, with hardly any training."""
OTHERS: dict[str, System] = {
    "margin": System("logistic", "margin"),
    "item-entropy": System("logistic", "item-entropy"),
    "cobra": System("cobra", "cobra", groups_given=False),
    "kmeans": System("kmeans", "random"),
    "copkmeans": System("copkmeans", "minmax"),
    "pckmeans": System("pckmeans", "npu"),
    "mpckmeans-npu": System("mpckmeans", "npu"),
    "seeded": System("seeded", "minmax"),
    "constrained-seeded": System("constrained-seeded", "minmax"),
    "corrected": System("corrected", "placement"),
    **{
        name: System("live", name, groups_given=False)
        for name in (
            "planner", "pcl-reference", "uncertainty", "hardness", "entropy", "value-hard",
            "value-hard-rep", "value-random",
        )
    },
}  # fmt: skip
"""The other members of the quick suite, and the other strategies: once each, on digits."""


@dataclass(frozen=True)
class Recording:
    """One run that is recorded."""

    name: str
    problem: Problem
    system: System
    seed: int


def recordings() -> dict[str, Recording]:
    """Every run by its name, such as ``tiles-colour-live-0``."""
    found = [
        Recording(f"{about}-{how}-{seed}", problem, system, seed)
        for about, problem in PROBLEMS.items()
        for how, system in SYSTEMS.items()
        for seed in SEEDS
    ]
    found += [
        Recording(f"pictures-{how}-{seed}", PICTURES, system, seed)
        for how, system in ON_PICTURES.items()
        for seed in SEEDS
        if how in SYSTEMS or not seed
    ]
    found += [
        Recording(f"penguins-{how}-0", PROBLEMS["penguins"], system, 0)
        for how, system in ON_ROWS.items()
    ]
    found += [
        Recording(f"digits-{how}-0", PROBLEMS["digits"], system, 0)
        for how, system in OTHERS.items()
    ]
    return {recording.name: recording for recording in found}


@contextmanager
def one_core() -> Iterator[None]:
    """One thread for every library and no GPU, so that sums are always taken in one order."""
    threads, device = torch.get_num_threads(), os.environ.get("SAMEKIND_DEVICE")
    torch.set_num_threads(1)
    os.environ["SAMEKIND_DEVICE"] = "cpu"
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)
        if device is None:
            del os.environ["SAMEKIND_DEVICE"]
        else:
            os.environ["SAMEKIND_DEVICE"] = device


@lru_cache(maxsize=16)
def arrays(name: str, encoder: str, items: int) -> tuple[Collection, Any, dict[str, Any]]:
    """Items spread evenly over a set, their vectors, and their kinds by orientation."""
    labelled = open_set(name)
    chosen = np.linspace(0, len(labelled.collection) - 1, items).astype(int)
    collection = labelled.collection.take(chosen.tolist())
    encoded = encode(collection, make_encoder(encoder))
    assert not encoded.failed
    kinds = {of: labelled.truth(of)[0][chosen] for of in labelled.orientations}
    return collection, encoded.X, kinds


class Listener:
    """A person whose questions and choices are written down."""

    def __init__(self, person: Oracle, collection: Collection) -> None:
        self.person, self.collection = person, collection
        self.questions: list[dict[str, Any]] = []
        self.choices: list[str] = []

    def answer(self, question: Question) -> str:
        choice = self.person.answer(question)
        self.questions.append(as_json(question, self.collection))
        self.choices.append(choice)
        return choice


def as_json(question: Question, collection: Collection) -> dict[str, Any]:
    """A question without its sentence for the person and without what the groups implied."""
    form = question.to_json(collection.id)
    return {key: value for key, value in form.items() if key not in ("why", "expected")}


def make_row(recording: Recording) -> dict[str, Any]:
    """Simulate a run and return its row."""
    problem, system = recording.problem, recording.system
    collection, X, kinds = arrays(problem.set, problem.encoder, system.items or problem.items)
    truth = kinds[problem.orientation]
    method = find("method", system.method)
    known = signature(method).parameters
    parameters = {name: value for name, value in system.parameters.items() if name in known}
    if system.groups_given and "n_clusters" in known:
        parameters["n_clusters"] = len(np.unique(truth))
    session = Session(
        collection,
        X,
        clusterer=method(**parameters),
        strategy=system.strategy,
        seed=recording.seed,
        refit_every=QUESTIONS_PER_REFIT,
        ahead=system.ahead,
        budget=QUESTIONS,
    )
    person = person_named("shown", truth, seed=recording.seed, X=X, noise=problem.noise)
    listener = Listener(person, collection)
    labels = [[0, digest(session.clustering.labels.tolist())]]

    def note(session: Session, told: int) -> None:
        labels.append([told, digest(session.clustering.labels.tolist())])

    for _ in range(system.first_refits):
        session.refit()
        note(session, 0)
    simulate(session, listener, QUESTIONS, on_refit=note)
    return {
        "run": recording.name,
        "questions": digest(listener.questions),
        "first": listener.questions[:SPELLED_OUT],
        "choices": " ".join(listener.choices),
        "labels": labels,
        "final": " ".join(map(str, session.clustering.labels.tolist())),
    }


def digest(value: Any) -> str:
    """The SHA-256 of plain JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def arithmetic() -> dict[str, str]:
    """What the last bit of a result depends on: libraries, and how this machine computes."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(150, 70)), rng.normal(size=(70, 130))
    sums = hashlib.sha256()
    for dtype in (np.float32, np.float64):
        left, right = a.astype(dtype), b.astype(dtype)
        one, two = torch.from_numpy(left), torch.from_numpy(right)
        square = left.T @ left
        results = [
            left @ right, np.exp(left), np.log1p(np.abs(left)), left.sum(axis=0),
            np.linalg.eigvalsh(square), np.linalg.svd(left, full_matrices=False)[1],
            np.linalg.solve(square, right),
            (one @ two).numpy(), one.exp().numpy(), one.softmax(1).numpy(), one.sum(0).numpy(),
        ]  # fmt: skip
        picture = torch.from_numpy(rng.normal(size=(8, 3, 16, 16)).astype(dtype))
        kernel = torch.from_numpy(rng.normal(size=(4, 3, 3, 3)).astype(dtype)).requires_grad_()
        convolved = torch.nn.functional.conv2d(picture, kernel, padding=1)
        convolved.square().sum().backward()
        assert kernel.grad is not None
        results += [convolved.detach().numpy(), kernel.grad.numpy()]
        for result in results:
            sums.update(np.ascontiguousarray(result).tobytes())
    return {
        "numpy": np.__version__,
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "results": sums.hexdigest(),
    }


def read_rows() -> dict[str, dict[str, Any]]:
    """The recorded rows by their names."""
    rows = (json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines())
    return {row["run"]: row for row in rows}


@contextmanager
def private_home() -> Iterator[Path]:
    """A folder of its own for ledgers and caches, for use outside of tests."""
    before = os.environ.get("SAMEKIND_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SAMEKIND_HOME"] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["SAMEKIND_HOME"]
            else:
                os.environ["SAMEKIND_HOME"] = before


def command_rows() -> dict[str, Any]:
    """What ``samekind simulate --json`` and ``samekind bench`` report of one small run each."""
    words = "simulate digits --orientation digit --noise 0.1 --questions 12 --seed 3 --json"
    simulated = json.loads(printed(words.split()))
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        printed(["bench", str(SUITE), "--rows", str(rows)])
        lines = rows.read_text(encoding="utf-8").splitlines()
    return {"simulate": lasting(simulated), "bench": [lasting(json.loads(line)) for line in lines]}


def printed(words: list[str]) -> str:
    """What a command prints; it must end well."""
    out = io.StringIO()
    with redirect_stdout(out):
        try:
            main(words)
        except SystemExit as done:
            assert not done.code, words
    return out.getvalue()


def lasting(row: dict[str, Any]) -> dict[str, Any]:
    """A row without clock, memory, machine and commit, and without sentences."""
    kept = {key: value for key, value in row.items() if key not in PASSING}
    kept["curve"] = [
        {key: value for key, value in point.items() if key not in PASSING} for point in row["curve"]
    ]
    if "protocol" in kept:
        kept["protocol"] = {k: v for k, v in kept["protocol"].items() if k != "encoder_reason"}
    return kept
