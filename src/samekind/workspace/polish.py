"""Polishing: a network learns from pictures and answers, and is compared before it counts.

Some answers are kept aside and never shown to the network, so the comparison is honest: random
checks where there are enough of them, else a part of the answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.clustering import Clustering
from samekind.constraints import Constraints
from samekind.errors import InputError
from samekind.session.quality import (
    MIN_CHECKS,
    Quality,
    constraints_without,
    interval,
    random_checks,
)
from samekind.session.refit import FittedGroups, answered_weight, fit_clusterer

if TYPE_CHECKING:
    from samekind.items import Collection
    from samekind.questions import Answer
    from samekind.session import Session
    from samekind.workspace.jobs import JobContext

ASIDE = 0.15
"""Part of the answers that is kept aside where there are too few random checks."""
FEATURES = 0.6
"""Part of the time in which features are learnt from the pictures alone."""
FEWEST_ANSWERS = 10
MOST_MOVED = 24
"""Items that are shown as examples of those that change their group."""
SMALL_STEPS = {"labelled": 32, "asked": 32, "unlabelled": 96}
"""Pictures per step without a GPU: with those of the papers a step takes seconds there."""
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Aside:
    """Answers that the network never sees, and what is left to learn from."""

    words: str
    learnt: Constraints
    score: Callable[[Ints], tuple[int, int, float, float] | None]


def kept_aside(session: Session, known: Constraints) -> Aside:
    """Keep random checks aside, or where these are too few a part of all answers."""
    n = len(session.collection)
    there = [answer for answer in known.answers if max(answer.question.items()) < n]
    gone = [int(i) for i in known.touched if i >= n]
    checks = random_checks(there)
    if len(checks) >= MIN_CHECKS:
        items = [answer.question.items()[0] for answer in checks]

        def by_checks(labels: Ints) -> tuple[int, int, float, float] | None:
            found = Quality.of(checks, labels)
            return None if found is None else (found.agreed, found.checks, found.low, found.high)

        words = f"{len(checks)} random checks"
        return Aside(words, constraints_without(known, [*items, *gone]), by_checks)
    saying = [answer for answer in there if answer.links]
    rng = np.random.default_rng((session.seed, 7))
    aside = [saying[int(i)] for i in rng.permutation(len(saying))[: int(ASIDE * len(saying))]]
    items = sorted({answer.question.items()[0] for answer in aside})

    def by_answers(labels: Ints) -> tuple[int, int, float, float] | None:
        agreed = sum(_honoured(answer, labels) for answer in aside)
        return (agreed, len(aside), *interval(agreed, len(aside))) if aside else None

    words = f"{len(aside)} answers kept aside"
    return Aside(words, constraints_without(known, [*items, *gone]), by_answers)


def _honoured(answer: Answer, labels: Ints) -> bool:
    """Whether groups say of an answer's items what the person said."""
    return all((labels[link.a] == labels[link.b]) == link.same for link in answer.links)


def polish(
    session: Session, collection: Collection, method: str, minutes: float, context: JobContext
) -> tuple[NDArray[np.float32], dict[str, Any]]:
    """Vectors of the trained network for every item, and the comparison as plain JSON."""
    begun = time.monotonic()
    known, before = session.constraints, session.clustering
    aside = kept_aside(session, known)
    start, size = features(collection, FEATURES * minutes, context, end=FEATURES * 0.9)
    pictures = _pictures(collection, size, context)
    tune = max(1.0, 60 * minutes * (1 - FEATURES))
    model = _network(method, start, tune, session.seed, context)
    context.tell(0.6, "Training on your answers …")
    model.fit(pictures, constraints=aside.learnt)
    context.tell(0.93, "Comparing with the groups of now …")
    vectors = _unit(model.space_)
    own = fit_clusterer(session.clusterer, session.X, aside.learnt, session.seed).labels_
    new = fit_clusterer(session.clusterer, vectors, aside.learnt, session.seed).labels_
    context.tell(0.96, "Grouping all items …")
    groups = FittedGroups.of(
        fit_clusterer(session.clusterer, vectors, known, session.seed), vectors
    )
    after = before.followed_by(*groups, weight=answered_weight(known))
    facts = {
        "method": method,
        "answers": len(known.answers),
        "seconds": round(time.monotonic() - begun, 1),
        "kept_aside": aside.words,
        "before": aside.score(own),
        "after": aside.score(new),
        **compared(before, after, collection, session.seed),
    }
    return vectors, facts


def compared(
    before: Clustering, after: Clustering, collection: Collection, seed: int
) -> dict[str, Any]:
    """What would change, as plain JSON: counts by pair of groups, and some items."""
    changed = np.flatnonzero(before.labels != after.labels)
    pairs, counts = np.unique(
        np.stack([before.labels, after.labels]), axis=1, return_counts=True
    )  # (2, m)
    flows = [[int(a), int(b), int(c)] for (a, b), c in zip(pairs.T, counts, strict=True)]
    some = np.random.default_rng(seed).permutation(changed)[:MOST_MOVED]
    return {
        "changed": len(changed),
        "items": len(before.labels),
        "groups_before": _groups(before),
        "groups_after": _groups(after),
        "flows": sorted(flows, key=lambda flow: -flow[2]),
        "moved": [
            [collection.id(int(i)), int(before.labels[i]), int(after.labels[i])] for i in some
        ],
    }


def _groups(clustering: Clustering) -> list[list[Any]]:
    sizes = clustering.sizes()
    order = sorted(sizes, key=lambda number: -sizes[number])
    return [[number, clustering.name(number), sizes[number]] for number in order]


def features(
    collection: Collection, minutes: float, context: JobContext, *, end: float
) -> tuple[str, int]:
    """A network that has learnt from these pictures, kept from before or learnt now; its size."""
    from samekind.encoders.learned.weights import find_kept
    from samekind.workspace.inspection import learn_encoder

    kept = find_kept("simclr", collection)
    if kept is None or kept.pile != collection.fingerprint:
        kept = learn_encoder("simclr", collection, minutes, context, end=end)
    return str(kept.path), int(kept.size)


def _pictures(collection: Collection, size: int, context: JobContext) -> NDArray[np.uint8]:
    from samekind.encoders import encode
    from samekind.encoders.pixels import Images
    from samekind.workspace.pile import cache_folder

    progress = context.progress("Read", "pictures", begin=0.55, end=0.6)
    read = encode(collection, Images(size=size), cache=cache_folder(), progress=progress)
    if read.failed:
        first = read.failed[0]
        raise InputError(
            f"{len(read.failed)} pictures cannot be read any more (the first: {first.id!r}: "
            f"{first.reason}). Open the pile again, then polish."
        )
    pictures: Any = read.X
    return np.asarray(pictures, dtype=np.uint8).reshape(-1, 3, size, size)


def _network(method: str, start: str, seconds: float, seed: int, context: JobContext) -> Any:
    """The method, set up for so much time; it begins from the features."""
    from samekind.compute import best_device
    from samekind.registry import find
    from samekind.training.checkpoints import load_checkpoint
    from samekind.training.progress import Monitor, TrainingReport

    begun = time.monotonic()

    def report(told: TrainingReport) -> None:
        passed = time.monotonic() - begun
        share = told.share if told.share is not None else passed / (passed + seconds)
        context.tell(0.6 + 0.33 * min(1.0, share), f"Training on your answers, step {told.step:,}")

    facts = load_checkpoint(start).facts
    shape: tuple[str, ...] = ("backbone", "stem", "channels", "size")
    there = {name: facts[name] for name in shape if name in facts}
    device = best_device().device
    wanted: dict[str, Any] = {
        "start": start,
        "tune_seconds": seconds,
        "profile": "fast" if method == "pcl" else None,
        "random_state": seed,
        "warm_start": False,
        "monitor": Monitor(report=report, stop=context.stop, every=2 if device == "cpu" else 50),
        "compile": "" if device in ("cpu", "mps") else "record",
        **(there if method == "pcl" else {}),
        **(SMALL_STEPS if device == "cpu" else {}),
    }
    kind = find("method", method)
    names = signature(kind).parameters
    return kind(**{k: v for k, v in wanted.items() if k in names and v is not None})


def _unit(space: NDArray[Any]) -> NDArray[np.float32]:
    vectors = np.asarray(space, dtype=np.float32)
    vectors = vectors - vectors.mean(axis=0)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-9), dtype=np.float32)


def verdict(before: tuple[int, int] | None, after: tuple[int, int] | None) -> str:
    """What the comparison says, in one sentence that does not promise more than it knows.

    >>> verdict((17, 20), (16, 20))
    'The groups of now agree better with what was kept aside: better leave them as they are.'
    """
    if before is None or after is None or before[1] < MIN_CHECKS:
        return "There are too few answers to tell which is better; look at what would change."
    old, new, of = before[0], after[0], before[1]
    if new < old:
        return (
            "The groups of now agree better with what was kept aside: "
            "better leave them as they are."
        )
    if new == old:
        return "Both agree equally well with what was kept aside; look at what would change."
    if interval(new, of)[0] > old / of:
        return "The polished groups agree clearly better with what was kept aside."
    return (
        "The polished groups agree somewhat better with what was kept aside, "
        "but that may be chance."
    )
